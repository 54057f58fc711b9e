#!/usr/bin/python3
"""usage: alone.py MRVLC PREFIX DIGITS WORK

OUT alone, in an empty folder, where no mrvlc is in PATH: its C finds every header in OUT or in the system, for each target, form of the weights, with threads, texts, a program
without operating system, and functions of a library; the program of its Makefile is built and gives what `mrvlc run` gives, also by a cross compiler and out of C++. PREFIX is a
build or an installation: where the simulator is, which OUT does not hold. WORK is emptied first.
"""

import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper

MRVLC, PREFIX, DIGITS, WORK = (pathlib.Path(a).absolute() for a in sys.argv[1:])
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LC_ALL": "C"}
STRICT = "-std=c99 -Wall -Wextra -Wconversion -pedantic -Werror"
HEADERS = {"device.h", "guard.h", "parallel.h", "string.h"}
PROGRAM = """#include <cstdio>
#include <cstdlib>
#include <vector>
#include "digits.h"
#include "mrvl/parallel.h"
#include "mrvl/string.h"
int main() {
  std::vector<float> image(digits_INPUT0_ELEMENTS, 0.5f), logits(digits_OUTPUT0_ELEMENTS);
  void* const arena = std::aligned_alloc(digits_ARENA_ALIGN, (digits_ARENA_BYTES / digits_ARENA_ALIGN + 1) * digits_ARENA_ALIGN);
  const digits_inputs in = {image.data()};
  digits_outputs out = {logits.data()};
  digits_device device = {};
  digits_error error;
  const int code = digits_run(&in, &out, arena, &device, nullptr, nullptr, &error);
  for (const float v : logits) std::printf("%.9g\\n", static_cast<double>(v));
  return code;
}
"""


def run(*command, cwd=".", status=0):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, env=ENVIRONMENT, cwd=cwd)
    assert done.returncode == status, f"{command} in {cwd}: {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def texts():
    """A model whose output is text: the program's own files need mrvl/string.h."""
    x, y = (helper.make_tensor_value_info(n, TensorProto.STRING, [3]) for n in "xy")
    graph = helper.make_graph([helper.make_node("StringConcat", ["x", "x"], ["y"])], "texts", [x], [y])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), "texts.onnx")
    return "texts.onnx"


def library():
    """A library whose function is in OUT, and whose header includes one of ours."""
    run(MRVLC, "targets", "new", "nn", "--kind", "call", cwd="packages")
    header = next(pathlib.Path("packages/nn").glob("*.h"))
    header.write_text(header.read_text() + '#include "mrvl/string.h"\n')


def compiled(name, model, *options):
    """OUT, moved away from where it was made; nothing else is beside it."""
    run(MRVLC, "compile", model, "-o", "made", "-q", *options)
    listed = {f["file"]: f["sha256"] for f in json.loads(pathlib.Path("made/manifest.json").read_text())["files"]}
    found = {str(p.relative_to("made")) for p in pathlib.Path("made").rglob("*") if p.is_file()}
    assert set(listed) | {"manifest.json"} == found, set(listed) ^ found
    assert {h for h in listed if h.startswith("mrvl/")} == {f"mrvl/{h}" for h in HEADERS}
    for header in HEADERS:
        assert pathlib.Path("made/mrvl", header).read_bytes() == (PREFIX / "include" / "mrvl" / header).read_bytes()
        assert listed[f"mrvl/{header}"] == hashlib.sha256(pathlib.Path("made/mrvl", header).read_bytes()).hexdigest()
    out = pathlib.Path(name, "out")
    out.parent.mkdir()
    shutil.move("made", out)
    return out


def headers_of_its_own(out):
    """Each source compiles without a word, and reads nothing but OUT and the system."""
    for source in sorted(out.glob("*.c")):
        rule = run("gcc", "-M", "-std=c99", source.name, cwd=out).replace("\\\n", " ").split()[1:]
        foreign = [f for f in rule if f.startswith(("/", "..")) and not f.startswith("/usr/")]
        assert not foreign, f"{out}/{source.name} reads {foreign}"
        run("gcc", *STRICT.split(), "-O1", "-c", source.name, "-o", "/dev/null", cwd=out)


def outputs(folder):
    return {p.name: p.read_bytes() for p in sorted(pathlib.Path(folder).iterdir())}


def program(out, name, *flags, runner=()):
    run("make", "-s", "-B", "CC=gcc", "CFLAGS=-O2", *flags, cwd=out)
    results = out.parent / "results"
    shutil.rmtree(results, ignore_errors=True)
    results.mkdir()
    run(*runner, f"./{name}_example", "--input", f"image={DIGITS}/test_x.npy", "--repeat-axis0", "--output-dir", results.absolute(), cwd=out)
    return outputs(results)


def digits_of(out, *flags):
    """The program's answers are those of `mrvlc run`, which takes nothing of an installation either."""
    run(MRVLC, "run", out, "--input", f"image={DIGITS}/test_x.npy", "--repeat-axis0", "--output-dir", "expected")
    assert program(out, "digits", *flags) == outputs("expected"), f"{out}: other bytes than mrvlc run"


def on_arm(out):
    if not shutil.which("aarch64-linux-gnu-gcc") or not shutil.which("qemu-aarch64"):
        print("no aarch64")
        return
    here = np.load("expected/logits.npy")
    program(out, "digits", "CC=aarch64-linux-gnu-gcc", "CFLAGS=-O2 -static", runner=["qemu-aarch64"])
    assert np.abs(np.load(out.parent / "results" / "logits.npy") - here).max() <= 1e-5


def out_of_cxx(out):
    folder = out.parent
    (folder / "app.cpp").write_text(PROGRAM)
    for cc, cxx in (("gcc", "g++"), ("clang", "clang++")):
        if not shutil.which(cxx):
            continue
        run(cc, "-O2", "-std=c99", "-c", "out/digits.c", "-o", "digits.o", cwd=folder)
        run(cc, "-Wa,-Iout", "-c", "out/digits_weights.S", "-o", "weights.o", cwd=folder)
        run(cxx, "-std=c++17", "-Wall", "-Wextra", "-Wconversion", "-pedantic", "-Werror", "-Iout", "app.cpp", "digits.o", "weights.o", "-o", "app", cwd=folder)
        assert len(run("./app", cwd=folder).split()) == 10


def of_an_older_version():
    """An OUT that holds no headers: they are those of the installation."""
    out = compiled("older", DIGITS / "digits.onnx", "--target", "host")
    shutil.rmtree(out / "mrvl")
    manifest = json.loads((out / "manifest.json").read_text())
    manifest["files"] = [f for f in manifest["files"] if not f["file"].startswith("mrvl/")]
    (out / "manifest.json").write_text(json.dumps(manifest))
    run(MRVLC, "run", out, "--input", f"image={DIGITS}/test_x.npy", "--repeat-axis0", "--output-dir", "older_results")
    assert outputs("older_results") == outputs("expected")


def main():
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)
    os.chdir(WORK)
    pathlib.Path("packages").mkdir()
    digits = DIGITS / "digits.onnx"
    host = compiled("host", digits, "--target", "host", "--emit", "ir")
    headers_of_its_own(host)
    digits_of(host)
    on_arm(host)
    out_of_cxx(host)
    for how in ("c", "blob"):
        out = compiled(how, digits, "--target", "host", "--weights", how, "--emit", "bare")
        headers_of_its_own(out)
        digits_of(out)
    for name, options in (("accelerator", ("--emit", "disasm", "--emit", "bare")), ("faults", ("--on-overflow", "cpu", "--on-device-error", "cpu")),
                          ("threads", ("--target", "host", "--threads", "4")), ("vendor", ("--target", "cn10ka-vendor"))):
        out = compiled(name, digits, *options)
        headers_of_its_own(out)
        if name != "vendor":
            digits_of(out, f"MRVLC_PREFIX={PREFIX}")
    headers_of_its_own(compiled("texts", texts()))
    of_an_older_version()
    library()
    headers_of_its_own(compiled("library", digits, "--target-dir", "packages", "--target", "nn,host"))
    print("passed")


main()
