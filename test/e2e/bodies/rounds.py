#!/usr/bin/python3
"""Usage: rounds.py MRVLC WORK

-DMRVL_MAX_ROUNDS ends a Loop whose end is data, with NAME_ERROR_VALUE and the node's name; one that ends before is as it was,
and one whose rounds are known has no such check. --max-rounds writes such a limit into the C, which the macro replaces, and the
reference heeds it; a trip count as great as exporters write it for "none" is none. WORK is emptied first."""
import json
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


def save(name, trips, scans=False):
    """Adds 1 while the sum is below a limit, `trips` times at most; the sums of all rounds are a result, too, where it `scans`."""
    outputs = [info("more", TensorProto.BOOL, []), info("t", TensorProto.FLOAT, [])] + [info("t2", TensorProto.FLOAT, [])] * scans
    body = helper.make_graph([helper.make_node("Add", ["s", "one"], ["t"]), helper.make_node("Less", ["t", "limit"], ["more"]),
                              helper.make_node("Identity", ["t"], ["t2"])], "body",
                             [info("i", TensorProto.INT64, []), info("go", TensorProto.BOOL, []), info("s", TensorProto.FLOAT, [])],
                             outputs)
    constants = [helper.make_tensor("one", TensorProto.FLOAT, [], [1]), helper.make_tensor("trips", TensorProto.INT64, [], [trips or 0])]
    graph = helper.make_graph([helper.make_node("Loop", ["" if trips is None else "trips", "", "x"], ["y", "all"][:1 + scans], "counting", body=body)], "g",
                              [info("x", TensorProto.FLOAT, []), info("limit", TensorProto.FLOAT, [])], [info("y", TensorProto.FLOAT, [])] + [info("all", TensorProto.FLOAT, [None])] * scans, constants)
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
NONE = 2**63 - 1
for name, model, trips, options in (("data", "data", None, ()), ("known", "known", 5, ()), ("none", "none", NONE, ()),
                                    ("limited", "data", None, ("--max-rounds", "7")), ("known_limited", "known", 5, ("--max-rounds", "2"))):
    save(f"{model}.onnx", trips)
    done = mrvlc("compile", f"{model}.onnx", "-o", name, "--target", "host", "--name", "m", *options)
    assert done.returncode == 0, done.stderr
    assert ("--max-rounds 2 has no effect" in done.stderr) == (name == "known_limited"), done.stderr
assert result("data", 7, "-O1")[1] == 7
assert result("data", 7, "-O1 -DMRVL_MAX_ROUNDS=7")[1] == 7
done, _ = result("data", 8, "-O1 -DMRVL_MAX_ROUNDS=7")
assert done.returncode != 0 and "counting" in done.stderr + done.stdout and "not allowed" in done.stderr + done.stdout, done
assert result("known", 100, "-O1 -DMRVL_MAX_ROUNDS=2")[1] == 5
assert "MRVL_MAX_ROUNDS" not in (WORK / "known" / "m.c").read_text()

# The limit of the compile, and the macro that replaces it.
assert result("limited", 7, "-O1")[1] == 7
for out, flags, limit in (("limited", "-O1", 8), ("limited", "-O1 -DMRVL_MAX_ROUNDS=3", 4), ("none", "-O1 -DMRVL_MAX_ROUNDS=7", 8)):
    done, _ = result(out, limit, flags)
    assert done.returncode != 0 and "counting" in done.stderr + done.stdout, (out, flags, done)
assert result("limited", 20, "-O1 -DMRVL_MAX_ROUNDS=30")[1] == 20
assert result("known_limited", 100, "-O1")[1] == 5
assert json.loads((WORK / "limited" / "manifest.json").read_text())["options"]["max_rounds"] == 7

# The reference ends where the program does; results that rounds stack have room for so many.
save("scans.onnx", None, True)
for limit, code in ((6, 0), (9, 4)):
    done = mrvlc("verify", "scans.onnx", "--bind", f"limit={limit}", "--sets", "uniform", "--target", "host", "--max-rounds", "7")
    assert done.returncode == code and ("MRV0211" in done.stderr) == (code == 4), done
done = mrvlc("compile", "scans.onnx", "-o", "scans", "--target", "host", "--name", "m", "--max-rounds", "7")
assert done.returncode == 0 and "MRV0144" not in done.stderr, done
assert "m_OUTPUT1_ELEMENTS 7" in (WORK / "scans" / "m.h").read_text()
