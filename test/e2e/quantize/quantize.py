#!/usr/bin/python3
"""Usage: quantize.py MRVLC MODELS/DIGITS WORK

`mrvlc quantize` as its users meet it: the digits classifier, calibrated on images that it was trained with, judged on
those it was not; on the host and on the accelerator; as ONNX's checker sees the file; options, reports, mistakes.
"""
import json
import shutil
import sys

import numpy as np
import onnx

from harness import DIGITS, MODEL, WORK, check, mrvlc, problems


def operators(file):
    return [n.op_type for n in onnx.load(file).graph.node]


def accuracy(file, target):
    out, results = WORK / f"out_{file.stem}_{target}", WORK / f"results_{file.stem}_{target}"
    mrvlc("compile", file, "-o", out, "--target", target, "-q")
    mrvlc("run", out, "--input", f"image={DIGITS / 'test_x.npy'}", "--repeat-axis0", "--output-dir", results)
    logits = np.load(results / "logits.npy").reshape(-1, 10)
    return np.mean(logits.argmax(1) == np.load(DIGITS / "test_y.npy")), logits, out


def calibration_images():
    """Of the training part where scikit-learn is there; else of the other half of the test part."""
    try:
        from sklearn.datasets import load_digits
    except ImportError:
        return np.load(DIGITS / "test_x.npy")[::3]
    digits = load_digits()
    order = np.random.Generator(np.random.PCG64(7)).permutation(len(digits.target))  # as train.py
    return (digits.images[order] / 16).astype(np.float32)[:200, None]


def follows_floats():
    mrvlc("quantize", MODEL, "--data", WORK / "data", "-o", WORK / "int8.onnx", "--report", WORK / "int8.json",
          says="3 of 3 layers in integers")
    onnx.checker.check_graph(onnx.load(WORK / "int8.onnx").graph, checker_context())
    float_accuracy, floats, _ = accuracy(MODEL, "host")
    for target in ("host", "cn10ka"):
        got, logits, out = accuracy(WORK / "int8.onnx", target)
        print(f"{target}: {got:.4f} of held-out digits, float32 {float_accuracy:.4f}")
        check(got >= float_accuracy - 0.003, f"{target}: accuracy {got}, in floats {float_accuracy}")
        check(0 < np.abs(logits - floats).max() < 1, f"{target}: logits {np.abs(logits - floats).max()} apart")
    placement = json.loads((out / "placement.json").read_text())
    where = {n["name"]: n.get("rule") for n in placement["nodes"]}
    check(where["conv1"] == "qlinear_conv" and where["conv2"] == "qlinear_conv", f"layers by {where}")


def checker_context():
    context = onnx.checker.C.CheckerContext()
    context.ir_version, context.opset_imports = 8, {"": 17}
    return context


def report_is_whole():
    report = json.loads((WORK / "int8.json").read_text())
    check(report["schema"] == "mrvlc-quantize-1" and len(report["model"]["sha256"]) == 64, "head of the report")
    check([l["node"] for l in report["layers"]] == ["conv1", "conv2", "fc"], f"layers {report['layers']}")
    check(all(l["sqnr_db"] > 30 for l in report["layers"]), f"signal to noise {report['layers']}")
    check(report["outputs"][0]["same_top1"] > 0.99, f"outputs {report['outputs']}")
    names = {t["name"] for t in report["tensors"]}
    check({"image", "relu1_out"} <= names, f"tensors {names}")
    check(report["weight_bytes"] * 4 == report["float_weight_bytes"], "bytes of weights")


def same_again():
    first = (WORK / "int8.onnx").read_bytes()
    mrvlc("quantize", MODEL, "--data", WORK / "data", "-o", WORK / "again.onnx")
    check((WORK / "again.onnx").read_bytes() == first, "other bytes")


def options():
    data = ("quantize", MODEL, "--data", WORK / "data", "-o", WORK / "o.onnx")
    types = lambda: {t.data_type for t in onnx.load(WORK / "o.onnx").graph.initializer}
    mrvlc(*data, "--activations", "uint8", "--ranges", "minmax", "--rounding", "nearest", "--no-equalise", "--no-bias-correction")
    check(onnx.TensorProto.UINT8 in types(), "no uint8")
    mrvlc(*data, "--activations", "int16")
    check(onnx.TensorProto.INT16 in types(), "no int16")
    mrvlc(*data, "--weights", "int4", says="weights 4936 bytes")
    for method in ("percentile", "mse", "entropy"):
        mrvlc(*data, "--ranges", method)
    mrvlc(*data, "--float", "conv?", "--float", "nothing", says="--float: nothing is called 'nothing'")
    check(operators(WORK / "o.onnx").count("QuantizeLinear") == 3, f"--float: {operators(WORK / 'o.onnx')}")
    mrvlc(*data, "--float", "Conv", "--float", "Gemm", code=1, says="MRV0912")
    mrvlc(*data, "--accuracy", "1e9", says="3 of 3 layers")
    mrvlc(*data, "--accuracy", "1e-9", code=5, says="MRV0913")


def judged_by_others():
    images = calibration_images()
    (WORK / "few").mkdir()
    (WORK / "others").mkdir()
    np.save(WORK / "few" / "image.npy", images[:6])
    np.save(WORK / "others" / "image.npy", images[100:112])
    few = ("quantize", MODEL, "--data", WORK / "few", "-o", WORK / "few.onnx", "--report", WORK / "few.json")
    counts = lambda: [json.loads((WORK / "few.json").read_text())[k] for k in ("samples", "validation")]
    mrvlc(*few, says="MRV0950")
    check(counts() == [6, 0], f"few samples: {counts()}")
    mrvlc(*few, "--validate", WORK / "others", says="6 samples, errors on 12 others")
    check(counts() == [6, 12], f"--validate: {counts()}")
    mrvlc(*few, "--validate", WORK / "nope", code=3, says="nope")


def mistakes():
    out = WORK / "none.onnx"
    mrvlc("quantize", MODEL, "--data", WORK / "data", code=2, says="--output is required")
    mrvlc("quantize", MODEL, "-o", out, code=2, says="--data is required")
    mrvlc("quantize", MODEL, "--data", WORK / "nope", "-o", out, code=3, says="nope")
    mrvlc("quantize", MODEL, "--data", WORK / "data", "-o", MODEL, code=3, says="it is the model")
    mrvlc("quantize", MODEL, "--data", WORK / "data", "-o", WORK / "data" / "x.onnx", code=3, says="which is read")
    mrvlc("quantize", MODEL, "--data", WORK / "data", "-o", out, "--weights", "int3", code=2, says="int3")
    mrvlc("quantize", WORK / "int8.onnx", "--data", WORK / "data", "-o", out, code=1, says="MRV0914")
    images = calibration_images()[:4].copy()
    images[2, 0, 1, 1] = np.nan
    (WORK / "odd").mkdir()
    np.save(WORK / "odd" / "image.npy", images)
    mrvlc("quantize", MODEL, "--data", WORK / "odd", "-o", out, code=3, says="input 'image' holds a number that is not finite")
    check(not out.exists(), "a refused run left a file")
    np.save(WORK / "odd" / "image.npy", np.zeros_like(images))
    mrvlc("quantize", MODEL, "--data", WORK / "odd", "-o", WORK / "zeros.onnx", says="were zero in all samples")


def main():
    shutil.rmtree(WORK, ignore_errors=True)
    (WORK / "data").mkdir(parents=True)
    np.save(WORK / "data" / "image.npy", calibration_images())
    for step in (follows_floats, report_is_whole, same_again, options, judged_by_others, mistakes):
        step()
    for problem in problems:
        print(f"quantize: {problem}", file=sys.stderr)
    sys.exit(1 if problems else 0)


main()
