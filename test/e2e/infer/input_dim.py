#!/usr/bin/python3
"""usage: input_dim.py MRVLC WORK

`--input-dim SYMBOL=N`: an open dimension by its name, in all inputs at once; a range; unknown names, conflicts, mrvlc.json, the manifest, and the hint
where a dimension is open. WORK is emptied first."""

import json
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper

MRVLC, WORK = (pathlib.Path(a).absolute() for a in sys.argv[1:])


def run(*command, status=0):
    done = subprocess.run([str(MRVLC), *map(str, command)], capture_output=True, text=True, cwd=WORK)
    assert done.returncode == status, f"{command}: {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout + done.stderr


def compiled(*options, status=0):
    shutil.rmtree(WORK / "out", ignore_errors=True)
    return run("compile", "m.onnx", "-o", "out", "--target", "host", "--no-probe", *options, status=status)


def shapes():
    manifest = json.loads((WORK / "out" / "manifest.json").read_text())
    return [p["shape"] for p in manifest["inputs"]], manifest["options"]


def main():
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)
    info = lambda n, s: helper.make_tensor_value_info(n, TensorProto.FLOAT, s)  # noqa: E731
    nodes = [helper.make_node("Add", ["a", "b"], ["s"]), helper.make_node("MatMul", ["s", "c"], ["y"])]
    graph = helper.make_graph(nodes, "g", [info("a", ["batch", "time", 4]), info("b", ["batch", "time", 4]), info("c", ["batch", 4, "width"])], [info("y", None)])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), str(WORK / "m.onnx"))

    text = compiled("--input-dim", "batch=2", "--input-dim", "time=5", "--input-dim", "width=3")
    assert "MRV0134" not in text, text
    assert shapes()[0] == [[2, 5, 4], [2, 5, 4], [2, 4, 3]]
    assert shapes()[1]["input_dim"] == {"batch": "2", "time": "5", "width": "3"}
    # The rest as ever: by --input-shape, and the leading one as the batch.
    text = compiled("--input-dim", "time=5", "--input-shape", "c=1x4x6")
    assert shapes()[0] == [[1, 5, 4], [1, 5, 4], [1, 4, 6]], text
    compiled("--input-dim", "time=1..5", "--input-dim", "width=3")
    manifest = json.loads((WORK / "out" / "manifest.json").read_text())
    assert [p.get("open") for p in manifest["inputs"]] == [[1], [1], None] and manifest["options"]["input_dim"]["time"] == "1..5"
    # Of data the rest is taken.
    (WORK / "data" / "set").mkdir(parents=True)
    for name, value in (("input_0", np.ones([2, 5, 4])), ("input_1", np.ones([2, 5, 4])), ("input_2", np.ones([2, 4, 3])), ("output_0", np.full([2, 5, 3], 8))):
        np.save(WORK / "data" / "set" / f"{name}.npy", value.astype(np.float32))
    for time in ("5", "1..8"):
        run("verify", "m.onnx", "--data", "data/set", "--input-dim", f"time={time}", "--target", "host")

    text = compiled("--input-dim", "tiem=5", status=2)
    assert "MRV0150" in text and "'tiem'; did you mean 'time'?" in text and "'batch', 'time', 'width'" in text, text
    for given, said in (("a=1x6x4", "6 in input 'a'"), ("b=1x1..5x4", "up to 5 in input 'b'")):
        text = compiled("--input-dim", "time=5", "--input-dim", "width=3", "--input-shape", given, status=2)
        assert "MRV0151" in text and f"is 5 by --input-dim, but {said} by --input-shape" in text, text
    compiled("--input-dim", "time=5", "--input-dim", "width=3", "--input-shape", "a=1x5x4")
    for wrong in ("time", "time=", "=3", "time=2x3", "time=scalar", "time=4*2"):
        assert "--input-dim" in compiled("--input-dim", wrong, status=2)
    assert "--input-dim is given twice for 'time'" in compiled("--input-dim", "time=3", "--input-dim", "time=4", status=2)
    assert "--input-dim, or the model, fixes" in compiled(*(a for d in ("batch=2", "time=5", "width=3") for a in ("--input-dim", d)), "--batch", "3")

    text = run("inspect", "m.onnx", status=1)
    assert "--input-shape a=1x128x4, or --input-dim time=128" in text and "input  a : [batch,time,4]" in text, text
    assert "input  a : f32[1,5,4]" in run("inspect", "m.onnx", "--input-dim", "time=5", "--input-dim", "width=3")
    (WORK / "mrvlc.json").write_text('{"compile": {"input-dim": ["time=7", "width=2"]}}')
    compiled()
    assert shapes()[0] == [[1, 7, 4], [1, 7, 4], [1, 4, 2]]


if __name__ == "__main__":
    main()
