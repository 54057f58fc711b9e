#!/usr/bin/python3
"""usage: single.py MRVLC DIGITS WORK

`--emit single`: one .c and one .h that need nothing but the C library; outputs are those of the usual files; with threads, texts and `--weights c`; two such
programs in one, beside one of the usual kind; what it does not go with. WORK is emptied first."""

import pathlib
import shutil
import subprocess
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper

MRVLC, DIGITS, WORK = (pathlib.Path(a).absolute() for a in sys.argv[1:])
STRICT = "-std=c99 -Wall -Wextra -Wconversion -pedantic -Werror"
COMPILERS = [cc for cc in ("gcc", "clang") if shutil.which(cc)]


def run(*command, status=0):
    done = subprocess.run([str(MRVLC), *map(str, command)], capture_output=True, text=True, cwd=WORK)
    assert done.returncode == status, f"{command}: {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout + done.stderr


def shell(command):
    done = subprocess.run(command, shell=True, capture_output=True, text=True, cwd=WORK)
    assert done.returncode == 0, f"{command}: {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout + done.stderr


def check_files(out, name):
    """Of the program there are two files; alone in a folder they compile, and include nothing of ours."""
    folder = WORK / out
    found = sorted(str(f.relative_to(folder)) for f in folder.rglob("*") if f.suffix in (".c", ".h", ".S", ".bin"))
    assert found == ["example/main.c", f"{name}.c", f"{name}.h"], found
    shutil.rmtree(WORK / "alone", ignore_errors=True)
    (WORK / "alone").mkdir()
    for end in ("c", "h"):
        shutil.copy(folder / f"{name}.{end}", WORK / "alone")
    for cc in COMPILERS:
        shell(f"cd alone && {cc} {STRICT} -c {name}.c")
    included = {line.split()[1] for end in ("c", "h") for line in (folder / f"{name}.{end}").read_text().splitlines() if line.startswith("#include")}
    assert all(i.startswith("<") or i == f'"{name}.h"' for i in included), included
    undefined = shell(f"nm -u alone/{name}.o").split()[1::2]
    assert not [u for u in undefined if u.startswith(name + "_")], undefined
    for cc in COMPILERS:
        shell(f"{cc} {STRICT} -c {out}/example/main.c -o /dev/null")


def outputs(out, inputs):
    bound = [a for n, f in inputs.items() for a in ("--input", f"{n}={f}")]
    run("run", out, *bound, "--output-dir", "results_" + out)
    return {f.name: f.read_bytes() for f in sorted((WORK / ("results_" + out)).iterdir())}


def same(model, inputs, *options):
    for kind in ("usual", "single"):
        shutil.rmtree(WORK / kind, ignore_errors=True)
        shutil.rmtree(WORK / f"results_{kind}", ignore_errors=True)
        run("compile", model, "-o", kind, "--name", "m", "--target", "host", *options, *(["--emit", "single"] if kind == "single" else []))
    check_files("single", "m")
    assert outputs("usual", inputs) == outputs("single", inputs)


def info(name, shape, kind=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


def save(name, nodes, inputs, outputs):
    graph = helper.make_graph(nodes, "g", inputs, outputs)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), str(WORK / name))


def together():
    """Two of them and one with the headers beside it in a program."""
    model = DIGITS / "digits.onnx"
    run("compile", model, "-o", "one", "--name", "one", "--target", "host", "--emit", "single")
    run("compile", model, "-o", "two", "--name", "two", "--target", "host", "--emit", "single", "--threads", "2")
    run("compile", model, "-o", "three", "--name", "three", "--target", "host", "--threads", "2")
    (WORK / "all.c").write_text('#include "one/one.h"\n#include "three/three.h"\n#include "two/two.h"\nint main(void) { return (int)sizeof(mrvl_parallel) > 0 ? 0 : 1; }\n')
    for cc in COMPILERS:
        shell(f"{cc} {STRICT} -Wa,-Ithree -o all all.c one/one.c two/two.c three/three.c three/three_weights.S -lm && ./all")


def conflicts():
    model = DIGITS / "digits.onnx"
    for how in ("linked", "blob"):
        assert f"not with --weights {how}" in run("compile", model, "-o", "no", "--target", "host", "--emit", "single", "--weights", how, status=2)
    text = run("compile", model, "-o", "no", "--emit", "single", "--no-probe", status=2)
    assert "MRV0611" in text and "--target host" in text and "a binary of its own" in text, text
    assert not (WORK / "no").exists()


def main():
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)
    model = DIGITS / "digits.onnx"
    np.save(WORK / "x.npy", np.load(DIGITS / "test_x.npy")[:1])
    image = {onnx.load(str(model)).graph.input[0].name: "x.npy"}
    same(model, image)
    same(model, image, "--weights", "c", "--threads", "3")
    # A make of the example, where it lies.
    shell("make -s -C single/example CFLAGS=-O1 && test -x single/example/m_example")
    save("texts.onnx", [helper.make_node("StringConcat", ["x", "x"], ["y"])], [info("x", [2], TensorProto.STRING)], [info("y", [2], TensorProto.STRING)])
    (WORK / "texts.json").write_text('{"type": "tensor(string)", "shape": [2], "value": ["a", "bc"]}')
    same("texts.onnx", {"x": "texts.json"})
    save("plain.onnx", [helper.make_node("Relu", ["x"], ["y"])], [info("x", [1, 2])], [info("y", [1, 2])])  # no weights
    np.save(WORK / "p.npy", np.array([[-1, 2]], np.float32))
    same("plain.onnx", {"x": "p.npy"})
    together()
    conflicts()


if __name__ == "__main__":
    main()
