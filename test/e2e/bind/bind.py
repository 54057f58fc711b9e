#!/usr/bin/python3
"""usage: bind.py MRVLC WORK

`--bind`: branches of different rank decided when the model is compiled, values as text and as files, inputs with a default value,
what `run --input` says of them, mistakes. WORK is emptied first."""

import pathlib
import shutil
import subprocess
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

MRVLC, WORK = (pathlib.Path(a).absolute() for a in sys.argv[1:])
STRICT = ["-std=c99", "-Wall", "-Wextra", "-Wconversion", "-pedantic", "-Werror"]


def run(*command, status=0):
    done = subprocess.run([str(MRVLC), *map(str, command)], capture_output=True, text=True, cwd=WORK)
    assert done.returncode == status, f"{command}: {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout + done.stderr


def info(name, shape, kind=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


def save(name, nodes, inputs, outputs, initializers):
    graph = helper.make_graph(nodes, "g", inputs, outputs, [numpy_helper.from_array(np.asarray(v), n) for n, v in initializers])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), str(WORK / name))


def branches():
    """x flat or as it is, by sr; then times gain."""
    flat = helper.make_graph([helper.make_node("Reshape", ["x", "all"], ["a"])], "t", [], [info("a", None)])
    same = helper.make_graph([helper.make_node("Identity", ["x"], ["b"])], "e", [], [info("b", None)])
    nodes = [helper.make_node("Equal", ["sr", "k"], ["c"]), helper.make_node("If", ["c"], ["m"], then_branch=flat, else_branch=same),
             helper.make_node("Mul", ["m", "gain"], ["y"])]  # fmt: skip
    save("branches.onnx", nodes, [info("x", [2, 4]), info("sr", [], TensorProto.INT64), info("gain", [1])], [info("y", None)],
         [("k", np.int64(16000)), ("all", np.array([-1], np.int64)), ("gain", np.array([3], np.float32))])  # fmt: skip


def result(options, inputs):
    shutil.rmtree(WORK / "out", ignore_errors=True)
    text = run("compile", "branches.onnx", "-o", "out", "--name", "m", "--target", "host", *options)
    for c in (WORK / "out").glob("*.c"):
        subprocess.run(["gcc", *STRICT, "-c", "-I", str(WORK / "out"), str(c), "-o", "/dev/null"], check=True)
    bound = [a for n, f in inputs.items() for a in ("--input", f"{n}={f}")]
    run("run", "out", *bound, "--output-dir", "results")
    return np.load(WORK / "results" / "y.npy"), text


def main():
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)
    branches()
    x = np.arange(8, dtype=np.float32).reshape(2, 4)
    np.save(WORK / "x.npy", x)
    np.save(WORK / "sr.npy", np.int64(8000))
    np.save(WORK / "gain.npy", np.array([0.5], np.float32))

    text = run("compile", "branches.onnx", "-o", "no", "--target", "host", status=1)
    assert "MRV0208" in text and "--bind sr=16000" in text, text
    y, text = result(["--bind", "sr=16000"], {"x": "x.npy"})
    assert y.shape == (8,) and (y == 3 * x.ravel()).all()
    assert "MRV0136" in text and "'gain'" in text and "--bind gain=3" in text, text
    y, text = result(["--bind", "sr=sr.npy", "--bind", "gain=gain.npy"], {"x": "x.npy"})
    assert y.shape == (2, 4) and (y == x / 2).all()
    assert "MRV0136" not in text, text
    said = run("run", "out", "--input", "x=x.npy", "--input", "gain=gain.npy", "--output-dir", "results", status=2)
    assert "became a constant" in said and "--bind gain=FILE.npy" in said, said
    assert '"sr": "sr.npy"' in (WORK / "out/manifest.json").read_text()

    run("inspect", "branches.onnx", "--bind", "sr=16000")
    run("verify", "branches.onnx", "--bind", "sr=16000", "--target", "host")
    for bad in ("sr", "sr=", "=1", "sr=one", "sr=1,2", "rate=1", "sr=x.npy"):
        said = run("compile", "branches.onnx", "-o", "no", "--target", "host", "--bind", bad, status=2)
        assert "--bind" in said, said
    run("compile", "branches.onnx", "-o", "no", "--bind", "sr=1", "--bind", "sr=2", status=2)
    said = run("compile", "branches.onnx", "-o", "no", "--target", "cortex-m4", status=2)
    assert "--target host (docs/tutorial-cross.md)" in said, said


main()
