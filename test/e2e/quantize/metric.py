#!/usr/bin/python3
"""Usage: metric.py MRVLC MODELS/DIGITS WORK

`mrvlc quantize --metric`: shares of right answers with and without labels, overlap of areas, a command of the user's; layers that stay
in floats for --max-drop; mistakes.
"""
import json
import shlex
import shutil
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from harness import DIGITS, MODEL, WORK, check, mrvlc, problems

DATA = WORK / "data"
COUNT = 64
HELD = [i for i in range(COUNT) if i % 4 == 3]


def quantized(name, *options, model=MODEL, data=DATA, code=0, says=""):
    mrvlc("quantize", model, "--data", data, "-o", WORK / f"{name}.onnx", "--report", WORK / f"{name}.json", *options, code=code, says=says)
    return json.loads((WORK / f"{name}.json").read_text()) if code == 0 else None


def answers(model):
    """What the model says of each sample, by mrvlc itself on the host."""
    mrvlc("compile", model, "-o", WORK / "answers", "--name", "m", "--target", "host", "--force")
    mrvlc("run", WORK / "answers", "--input", f"image={DATA / 'image.npy'}", "--repeat-axis0", "--output-dir", WORK / "results")
    return np.load(sorted((WORK / "results").glob("*.npy"))[0]).reshape(COUNT, -1)


def counts_right_answers(labels):
    report = quantized("labelled", "--metric", "top1", "--labels", WORK / "labels.npy")["metric"]
    floats = answers(MODEL).argmax(1)
    check(report["name"] == "top1" and "max_drop" not in report, f"{report}")
    check(report["of_floats"] == np.mean(floats[HELD] == labels[HELD]), f"{report}")
    integers = answers(WORK / "labelled.onnx").argmax(1)
    check(abs(report["of_integers"] - np.mean(integers[HELD] == labels[HELD])) < 1e-9, f"{report}")
    agreement = quantized("unlabelled", "--metric", "top1")["metric"]
    check(agreement["of_floats"] == 1 and agreement["of_integers"] <= 1, f"{agreement}")


def asks_a_command():
    script = WORK / "judge.py"
    script.write_text("import pathlib, sys, numpy\nfolders = sorted(pathlib.Path(sys.argv[1]).iterdir())\n"
                      "print('judging', len(folders))\nprint(sum(float(numpy.load(f / 'output_0.npy').max()) for f in folders))\n")
    command = f"/usr/bin/python3 {shlex.quote(str(script))}"
    report = quantized("command", "--metric", command)["metric"]
    check(abs(report["of_floats"] - answers(MODEL)[HELD].max(1).sum()) < 1e-2 * abs(report["of_floats"]), f"{report}")
    quantized("wrong", "--metric", "echo no number; true", code=3, says="no number")
    quantized("wrong", "--metric", "echo broken >&2; exit 7; true", code=3, says="broken")


def weak_network():
    """A network of two branches: one of integers that ruin it, one that does not matter, with areas as its output."""
    generator = np.random.default_rng(5)
    w = generator.normal(size=(2, 2, 3, 3)).astype(np.float32)
    small = generator.normal(size=(2, 2, 1, 1)).astype(np.float32)
    small[0] *= 300  # channels of one result with ranges far apart
    last = np.array([[[[1 / 300]], [[-1]]], [[[-1 / 300]], [[1]]]], np.float32)
    nodes = [helper.make_node("Conv", ["x", "w"], ["a"], name="first", pads=[1, 1, 1, 1]), helper.make_node("Tanh", ["a"], ["b"]),
             helper.make_node("Conv", ["b", "small"], ["c"], name="second"), helper.make_node("Conv", ["c", "last"], ["y"], name="third")]
    graph = helper.make_graph(nodes, "areas", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 2, 12, 12])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 2, 12, 12])],
                              [numpy_helper.from_array(w, "w"), numpy_helper.from_array(small, "small"), numpy_helper.from_array(last, "last")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
    model.ir_version = 8
    onnx.save(model, WORK / "areas.onnx")
    (WORK / "pictures").mkdir()
    np.save(WORK / "pictures" / "x.npy", generator.normal(size=(32, 1, 2, 12, 12)).astype(np.float32))


def leaves_layers_in_floats():
    weak_network()
    plain = ("--no-equalise", "--ranges", "minmax", "--rounding", "nearest")
    common = {"model": WORK / "areas.onnx", "data": WORK / "pictures"}
    every = quantized("all", "--metric", "iou", *plain, **common)
    lost = 1 - every["metric"]["of_integers"]
    check(lost > 0.005, f"the network does not suffer: {every['metric']}")
    kept = quantized("kept", "--metric", "iou", "--max-drop", lost / 2, *plain, **common)
    check(kept["metric"]["of_integers"] >= 1 - lost / 2, f"{kept['metric']}")
    floats = [l for l in kept["layers"] if not l["integers"]]
    check(floats and all(l["why_float"] for l in floats) and len(floats) < len(kept["layers"]), f"{kept['layers']}")
    enough = quantized("enough", "--metric", "iou", "--max-drop", "100%", *plain, **common)
    check(enough["layers"] == every["layers"], "layers left integers though nothing was asked")
    quantized("wrong", "--metric", "iou", "--max-drop", "0", *plain, **common, code=5, says="MRV0951")


def mistakes(labels):
    np.save(WORK / "few.npy", labels[:5])
    np.save(WORK / "floats.npy", labels.astype(np.float32))
    for options, says, code in ((("--metric", "top1", "--labels", WORK / "few.npy"), "5 samples", 3),
                                (("--metric", "top1", "--labels", WORK / "floats.npy"), "no integers", 3),
                                (("--metric", "iou"), "no picture", 3), (("--metric", "cat", "--labels", WORK / "few.npy"), "itself", 3),
                                (("--labels", WORK / "few.npy"), "", 2), (("--max-drop", "1%"), "", 2),
                                (("--metric", "top1", "--max-drop", "x"), "no share", 2), (("--metric", "top1", "--max-drop", "7"), "7%", 2)):
        quantized("wrong", *options, code=code, says=says)
    check(not (WORK / "wrong.onnx").exists(), "a refused quantisation wrote a model")


shutil.rmtree(WORK, ignore_errors=True)
DATA.mkdir(parents=True)
np.save(DATA / "image.npy", np.load(DIGITS / "test_x.npy")[:COUNT])
right = np.load(DIGITS / "test_y.npy")[:COUNT].astype(np.int64)
np.save(WORK / "labels.npy", right)
counts_right_answers(right)
asks_a_command()
leaves_layers_in_floats()
mistakes(right)
for problem in problems:
    print(problem)
sys.exit(1 if problems else 0)
