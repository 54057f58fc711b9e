#!/usr/bin/python3
"""Usage: rounds.py MRVLC WORK

-DMRVL_MAX_ROUNDS ends a Loop whose end is data, with NAME_ERROR_VALUE and the node's name; one that ends before is as it was,
and one whose rounds are known has no such check. WORK is emptied first."""
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper

MRVLC, WORK = (pathlib.Path(a).absolute() for a in sys.argv[1:])


def info(name, kind, shape):
    return helper.make_tensor_value_info(name, kind, shape)


def save(name, known):
    """Adds 1 while the sum is below a limit; known: five times."""
    body = helper.make_graph([helper.make_node("Add", ["s", "one"], ["t"]), helper.make_node("Less", ["t", "limit"], ["more"])], "body",
                             [info("i", TensorProto.INT64, []), info("go", TensorProto.BOOL, []), info("s", TensorProto.FLOAT, [])],
                             [info("more", TensorProto.BOOL, []), info("t", TensorProto.FLOAT, [])])
    constants = [helper.make_tensor("one", TensorProto.FLOAT, [], [1]), helper.make_tensor("five", TensorProto.INT64, [], [5])]
    graph = helper.make_graph([helper.make_node("Loop", ["five" if known else "", "", "x"], ["y"], "counting", body=body)], "g",
                              [info("x", TensorProto.FLOAT, []), info("limit", TensorProto.FLOAT, [])], [info("y", TensorProto.FLOAT, [])], constants)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), str(WORK / name))


def mrvlc(*arguments):
    return subprocess.run([str(MRVLC), *map(str, arguments)], capture_output=True, text=True, cwd=WORK)


def result(out, limit, flags):
    np.save(WORK / "x.npy", np.float32(0))
    np.save(WORK / "limit.npy", np.float32(limit))
    shutil.rmtree(WORK / "results", ignore_errors=True)
    done = mrvlc("run", out, "--input", "x=x.npy", "--input", "limit=limit.npy", "--output-dir", "results", "--cflags", flags)
    return done, float(np.load(WORK / "results" / "y.npy")) if done.returncode == 0 else None


shutil.rmtree(WORK, ignore_errors=True)
WORK.mkdir(parents=True)
for name, known in (("data", False), ("known", True)):
    save(f"{name}.onnx", known)
    done = mrvlc("compile", "-q", f"{name}.onnx", "-o", name, "--target", "host", "--name", "m")
    assert done.returncode == 0, done.stderr
assert result("data", 7, "-O1")[1] == 7
assert result("data", 7, "-O1 -DMRVL_MAX_ROUNDS=7")[1] == 7
done, _ = result("data", 8, "-O1 -DMRVL_MAX_ROUNDS=7")
assert done.returncode != 0 and "counting" in done.stderr + done.stdout and "not allowed" in done.stderr + done.stdout, done
assert result("known", 100, "-O1 -DMRVL_MAX_ROUNDS=2")[1] == 5
assert "MRVL_MAX_ROUNDS" not in (WORK / "known" / "m.c").read_text()
