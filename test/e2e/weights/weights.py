#!/usr/bin/python3
"""usage: weights.py MRVLC PREFIX DIGITS WORK

`--weights`: networks with their constants linked in, as an array in C and as a blob give the same bytes, from `mrvlc run`, from the program of OUT's Makefile, with threads,
with bodies of control flow, texts, a device that fails, and on aarch64; the C is clean for gcc, clang and as C++; a section is where the macro says; a blob that is not the
model's is refused. PREFIX is a build or an installation. WORK is emptied first.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

MRVLC, PREFIX, DIGITS, WORK = (pathlib.Path(a).absolute() for a in sys.argv[1:])
ENVIRONMENT = {n: v for n, v in os.environ.items() if not n.startswith("MRVLC_") and n != "CC"}
FILES = {"linked": {".S", ".bin"}, "c": {".c"}, "blob": {".bin"}}
STRICT = ["-std=c99", "-Wall", "-Wextra", "-Wconversion", "-pedantic", "-Werror"]


def run(*command, status=0, cwd="."):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, env=ENVIRONMENT, cwd=cwd)
    assert done.returncode == status, f"{command}: {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout + done.stderr


def branches():
    """Constants read by bodies of If and Loop, in a body of a body, by a large product, and as texts."""
    rng = np.random.default_rng(7)
    shape, constants = [1, 8, 24, 24], []

    def constant(name, value):
        constants.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def value(name, kind=TensorProto.FLOAT, dims=shape):
        return helper.make_tensor_value_info(name, kind, dims)

    def conv(x, y, name):
        w = constant(f"w_{name}", (rng.standard_normal((8, 8, 3, 3)) / 9).astype(np.float32))
        return helper.make_node("Conv", [x, w, constant(f"b_{name}", rng.standard_normal(8).astype(np.float32))], [y], name, pads=[1, 1, 1, 1])

    inner = {kind: helper.make_graph([conv("state", f"{kind}_y", f"inner_{kind}")], kind, [], [value(f"{kind}_y")]) for kind in ("then", "else")}
    body = helper.make_graph(
        [helper.make_node("If", ["flag"], ["chosen"], "inner", then_branch=inner["then"], else_branch=inner["else"]),
         helper.make_node("Tanh", ["chosen"], ["next"]), helper.make_node("Identity", ["go"], ["on"])],
        "body", [value("i", TensorProto.INT64, []), value("go", TensorProto.BOOL, []), value("state")], [value("on", TensorProto.BOOL, []), value("next")])
    nodes = [
        conv("x", "first", "outer"),
        helper.make_node("PRelu", ["first", constant("slope", rng.random((8, 1, 1)).astype(np.float32))], ["bent"], "prelu"),
        helper.make_node("Loop", [constant("rounds", np.int64(3)), constant("true", np.bool_(True)), "bent"], ["turned"], "loop", body=body),
        helper.make_node("Add", ["turned", constant("plane", rng.standard_normal((1, 8, 24, 24)).astype(np.float32))], ["y"], "add"),
        helper.make_node("Gather", [constant("names", np.array([b"cat", b"a \"dog\"", b"", "h\u00e9n".encode()], dtype=object)), "which"], ["name"], "names"),
    ]
    graph = helper.make_graph(nodes, "branches", [value("x"), value("flag", TensorProto.BOOL, []), value("which", TensorProto.INT64, [2])],
                              [value("y"), value("name", TensorProto.STRING, [2])], constants)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), "branches.onnx")
    np.save("x.npy", rng.standard_normal(shape).astype(np.float32))
    np.save("flag.npy", np.bool_(True))
    np.save("which.npy", np.array([1, 3], np.int64))
    return ["--input", "x=x.npy", "--input", "flag=flag.npy", "--input", "which=which.npy"]


def no_constants():
    """Bodies, and nothing that they read."""
    x = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [4]) for n in ("x", "y", "t", "e")]
    bodies = {k: helper.make_graph([helper.make_node(op, ["x"], [v.name])], k, [], [v]) for k, op, v in (("then", "Tanh", x[2]), ("else", "Neg", x[3]))}
    node = helper.make_node("If", ["flag"], ["y"], "if", then_branch=bodies["then"], else_branch=bodies["else"])
    graph = helper.make_graph([node], "plain", [x[0], helper.make_tensor_value_info("flag", TensorProto.BOOL, [])], [x[1]])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), "plain.onnx")
    np.save("four.npy", np.arange(4, dtype=np.float32))
    return ["--input", "x=four.npy", "--input", "flag=flag.npy"]


def results(folder):
    found = {p.name: p.read_bytes() for p in pathlib.Path(folder).iterdir()}
    assert found
    return found


def same(model, name, inputs, *options, some=True):
    """Folders of OUT by how they have their weights; their programs give the same. Without `some` there are none."""
    expected, folders = None, {}
    for how in FILES:
        out = folders[how] = pathlib.Path(f"{name}_{how}")
        run(MRVLC, "compile", model, "-o", out, "--name", "net", "-q", "--weights", how, *options)
        assert {p.suffix for p in out.glob("net_weights.*")} == FILES[how], sorted(out.iterdir())
        report = json.loads((out / "report.json").read_text())
        assert report["host"]["weights"] == how and (report["host"]["weights_bytes"] > 0) == some, report["host"]
        assert json.loads((out / "manifest.json").read_text())["options"].get("weights", "linked") == how
        shutil.rmtree("results", ignore_errors=True)
        run(MRVLC, "run", out, *inputs, "--output-dir", "results")
        expected = expected or results("results")
        assert results("results") == expected, f"{name}, {how}: other bytes"
        if how != "c":
            assert (out / "net_weights.bin").stat().st_size == report["host"]["weights_bytes"]
    return folders


def by_make(folders, inputs, expected):
    for how, out in folders.items():
        run("make", "-s", "-C", out, f"MRVLC_PREFIX={PREFIX}", "CFLAGS=-O2")
        shutil.rmtree("made", ignore_errors=True)
        pathlib.Path("made").mkdir()
        run(f"./{out}/net_example", *inputs, "--dir", out, "--output-dir", "made")
        # Of texts the program writes bytes, of which mrvlc run makes JSON.
        made = results("made")
        assert {n: b for n, b in made.items() if n.endswith(".npy")} == {n: b for n, b in expected.items() if n.endswith(".npy")}, how
        assert len(made) == len(expected)


def clean(folders):
    """What a compiler says of the C: nothing. The array is C++, too."""
    for compiler in filter(shutil.which, ("gcc", "clang")):
        for out in folders.values():
            run(compiler, *STRICT, "-O1", "-fsyntax-only", *sorted(out.glob("*.c")))
    for compiler in filter(shutil.which, ("g++", "clang++")):
        run(compiler, "-std=c++17", "-Wall", "-Wextra", "-Wconversion", "-pedantic", "-Werror", "-x", "c++", "-c", folders["c"] / "net_weights.c", "-o", "array.o")
        assert " R net_weight_words" in run("nm", "array.o")


def sections(folders):
    """The weights lie in the section that the macro names, aligned, and nowhere else."""
    for prefix in filter(lambda p: shutil.which(p + "gcc"), ("", "aarch64-linux-gnu-", "arm-none-eabi-")):
        for how, end in (("linked", ".S"), ("c", ".c")):
            out = folders[how]
            size = json.loads((out / "report.json").read_text())["host"]["weights_bytes"]
            for macro, section in ((["-Dnet_WEIGHTS_SECTION=.qspi"], ".qspi"), ([], ".rodata")):
                run(prefix + "gcc", *macro, f"-Wa,-I{out}", "-c", out / f"net_weights{end}", "-o", "w.o")
                found = {m[1]: (int(m[2], 16), int(m[3])) for m in re.finditer(r"^ *\d+ (\S+) +(\w+) .* 2\*\*(\d+)$", run(prefix + "objdump", "-h", "w.o"), re.M)}
                bytes_there, alignment = found[section]
                assert size <= bytes_there < size + 9 and alignment >= 6, (prefix, how, found)
                assert all(n == section or s[0] < 64 for n, s in found.items()), found


def wrong_blobs(out, inputs):
    """Cut, changed, another model's, missing: an error, and no results."""
    blob = out / "net_weights.bin"
    good = blob.read_bytes()
    flipped = bytearray(good)
    flipped[len(good) // 2] ^= 0x10
    for bad in (good[:-1], good + b"\0", bytes(flipped), bytes(len(good)), b"", None):
        blob.unlink() if bad is None else blob.write_bytes(bad)
        shutil.rmtree("never", ignore_errors=True)
        pathlib.Path("never").mkdir()
        text = run(f"./{out}/net_example", *inputs, "--dir", out, "--output-dir", "never", status=3 if bad is None else 1)
        assert ("cannot read" if bad is None else "not the weights this program was made with") in text, text
        assert not list(pathlib.Path("never").iterdir())
        assert "net_weights.bin" in run(MRVLC, "run", out, *inputs, "--output-dir", "never", status=3)
        blob.write_bytes(good)


def aarch64(folders, inputs):
    if not (shutil.which("aarch64-linux-gnu-gcc") and shutil.which("qemu-aarch64")):
        return print("no compiler or emulator for aarch64")
    expected = None
    for how, out in folders.items():
        run("make", "-s", "-B", "-C", out, "CC=aarch64-linux-gnu-gcc", "CFLAGS=-O2 -static", f"MRVLC_PREFIX={PREFIX}")
        shutil.rmtree("arm", ignore_errors=True)
        pathlib.Path("arm").mkdir()
        run("qemu-aarch64", f"{out}/net_example", *inputs, "--dir", out, "--output-dir", "arm")
        expected = expected or results("arm")
        assert results("arm") == expected, how


def other_commands(model):
    for how in ("c", "blob"):
        run(MRVLC, "verify", model, "--weights", how)
        run(MRVLC, "verify", model, "--target", "host", "--weights", how)
        assert json.loads(run(MRVLC, "profile", f"digits_{how}", "--json"))["regions"]
        assert "conv2" in run(MRVLC, "map", f"digits_{how}", "--node", "conv2")
        run(MRVLC, "explain", f"digits_{how}")
        run(MRVLC, "bundle", model, "--weights", how, "-o", f"{how}.tar.gz")
        run(MRVLC, "batch", model, "-o", f"batch_{how}", "--weights", how, "-q")
        made = list(pathlib.Path(f"batch_{how}").rglob("digits_weights.*"))
        assert {p.suffix for p in made} == FILES[how], made
    assert "linked, c, blob" in run(MRVLC, "compile", model, "-o", "never", "--weights", "flash", status=2)


def main():
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)
    os.chdir(WORK)
    digits = DIGITS / "digits.onnx"
    np.save("images.npy", np.load(DIGITS / "test_x.npy")[:4])
    images = ["--input", "image=images.npy", "--repeat-axis0"]
    inputs = branches()
    begin = time.time()
    same(digits, "empty", images, some=False)
    same("plain.onnx", "plain", no_constants(), "--target", "host", some=False)
    same(digits, "digits", images, "--cpu", "conv2")
    host = same(digits, "digits_host", images, "--target", "host")
    by_make(host, images, results("results"))
    assert (host["linked"] / "net_weights.bin").read_bytes() == (host["blob"] / "net_weights.bin").read_bytes()
    same(digits, "digits_cpu", images, "--on-device-error", "cpu")
    threads = same("branches.onnx", "threads", inputs, "--target", "host", "--threads", "3")
    assert "_part(const void* data" in (threads["blob"] / "net.c").read_text(), "no work is shared: the test asks nothing"
    by_make(threads, inputs, results("results"))
    same("branches.onnx", "branches", inputs, "--on-device-error", "cpu")
    clean(threads)
    sections(host)
    wrong_blobs(host["blob"], images)
    aarch64(host, images)
    other_commands(digits)
    print(f"{time.time() - begin:.0f} s")
    print("the same bytes from linked weights, an array and a blob")


if __name__ == "__main__":
    main()
