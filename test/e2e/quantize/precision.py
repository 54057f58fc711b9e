#!/usr/bin/python3
"""Usage: precision.py MRVLC MODELS/DIGITS WORK

`mrvlc compile --precision int8|auto --data DIR`: the same as `mrvlc quantize` and then `compile`; a choice by layer that
keeps what it was asked for; reports, files that were read, mistakes.
"""
import json
import shutil
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from harness import DIGITS, MODEL, WORK, check, mrvlc, problems


def compiled(name, *options, model=MODEL, code=0, says=""):
    # Limits of inputs are looked for with made inputs; beside data there are none.
    mrvlc("compile", model, "-o", WORK / name, "--name", "digits", "--no-input-limits", *options, code=code, says=says)
    return WORK / name


def report(out):
    return json.loads((out / "report.json").read_text())


def cycles(out):
    return sum(r["cycles"] for r in report(out)["regions"])


def binaries(out):
    return {f.name: f.read_bytes() for f in sorted(out.glob("*.mrvl")) + sorted(out.glob("*.c")) + sorted(out.glob("*.bin"))}


def bytes_of(out):
    return {f.relative_to(out): f.read_bytes() for f in out.rglob("*") if f.is_file()}


def same_as_two_steps():
    mrvlc("quantize", MODEL, "--data", WORK / "data", "-o", WORK / "int8.onnx", "--report", WORK / "int8.json")
    two, one = compiled("two", model=WORK / "int8.onnx"), compiled("int8", "--precision", "int8", "--data", WORK / "data")
    check(any(f.endswith(".mrvl") for f in binaries(two)), "nothing was compiled")
    check(binaries(one) == binaries(two), "other bytes than by two steps")
    check((one / "digits.quantized.onnx").read_bytes() == (WORK / "int8.onnx").read_bytes(), "another model than quantize's")
    ours, theirs = json.loads((one / "quantization.json").read_text()), json.loads((WORK / "int8.json").read_text())
    check(ours["layers"] == theirs["layers"], "other layers than quantize's")
    r = report(one)
    check(r["target"]["precision"] == "int8", f"precision {r['target']}")
    check(r["quantization"]["layers_in_integers"] == r["quantization"]["layers"] == 3, f"quantization {r['quantization']}")
    check("of --data" in r["accuracy"]["reason"] and 0 < r["accuracy"]["expected_error"] < 1, f"accuracy {r['accuracy']}")
    measured, of_quantize = r["accuracy"]["expected_error"], r["quantization"]["error"]
    check(of_quantize / 10 < measured < 2 * of_quantize, f"the probe's error {measured}, quantize's {of_quantize}")
    manifest = json.loads((one / "manifest.json").read_text())
    floats = json.loads((compiled("fp16") / "manifest.json").read_text())
    check(manifest["model"] == floats["model"], "the model is not the user's")
    check(any(f["kind"] == "data" and f["file"] == "image.npy" for f in manifest["read"]), f"read {manifest['read']}")


def runs_on_the_host_alone():
    mrvlc("compile", WORK / "int8.onnx", "-o", WORK / "host2", "--name", "digits", "--target", "host")
    out = compiled("host", "--precision", "int8", "--data", WORK / "data", "--target", "host")
    check(binaries(out) == binaries(WORK / "host2"), "other bytes on the host than by two steps")


def chooses_by_layer():
    fp16, int8 = cycles(compiled("fp16")), cycles(WORK / "int8")
    worst = report(WORK / "int8")["accuracy"]["expected_error"]
    every = report(compiled("loose", "--precision", "auto", "--data", WORK / "data", "--accuracy", 10 * worst))
    check(every["quantization"]["choice"]["time_of_integers"] >= every["quantization"]["choice"]["time"], "not the fastest")
    out = compiled("auto", "--precision", "auto", "--data", WORK / "data", "--accuracy", worst / 3)
    r = report(out)
    print(f"cycles: fp16 {fp16}, int8 {int8} (error {worst:.3g}), auto {cycles(out)} (error {r['accuracy']['expected_error']:.3g})")
    check(r["accuracy"]["expected_error"] <= worst / 3, f"accuracy {r['accuracy']}")
    check(cycles(out) <= fp16, f"cycles {cycles(out)}, in fp16 {fp16}")
    layers = json.loads((out / "quantization.json").read_text())["layers"]
    check(all("sensitivity" in l and "saves" in l for l in layers), f"layers {layers}")
    check(all(l["integers"] or l["why_float"] for l in layers), f"reasons {layers}")
    check("quantization: " in (out / "report.txt").read_text(), "report.txt tells nothing")
    # Nothing in integers comes that near: the model as it is.
    none = compiled("none", "--precision", "auto", "--data", WORK / "data", "--accuracy-warning", 2e-3)
    check(report(none)["quantization"]["layers_in_integers"] == 0, "layers in integers")
    check(report(none)["target"]["precision"] == "fp16", "precision of floats")
    check(binaries(none) == binaries(WORK / "fp16"), "not the model as it is")


def chain():
    """Six convolutions, and samples for them; what the fourth reads has a channel far larger than the others."""
    rng, channels, nodes, constants = np.random.default_rng(3), [8, 32, 32, 32, 32, 32, 16], [], []
    value = "x"
    for i in range(6):
        w = rng.normal(0, (2 / (9 * channels[i])) ** 0.5, (channels[i + 1], channels[i], 3, 3)).astype(np.float32)
        if i == 2:
            w[5] *= 40
        if i == 3:
            w[:, 5] /= 40
        constants += [numpy_helper.from_array(w, f"w{i}"), numpy_helper.from_array(rng.normal(0, 0.1, channels[i + 1]).astype(np.float32), f"b{i}")]
        nodes.append(helper.make_node("Conv", [value, f"w{i}", f"b{i}"], [f"c{i}"], f"conv{i}", pads=[1, 1, 1, 1]))
        nodes.append(helper.make_node("Relu", [f"c{i}"], [f"r{i}"], f"relu{i}"))
        value = f"r{i}"
    nodes.pop()
    floats = lambda name, c: helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, c, 16, 16])
    graph = helper.make_graph(nodes, "chain", [floats("x", 8)], [floats("c5", 16)], constants)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), WORK / "chain.onnx")
    (WORK / "chain").mkdir()
    np.save(WORK / "chain" / "x.npy", rng.normal(0, 1, (16, 8, 16, 16)).astype(np.float32))
    return ("--data", WORK / "chain"), WORK / "chain.onnx"


def mixes():
    data, model = chain()
    fp16 = compiled("chain_fp16", model=model)
    every = report(compiled("chain_int8", "--precision", "int8", *data, model=model))["quantization"]
    asked = 0.7 * every["error"]
    out = compiled("chain_auto", "--precision", "auto", *data, "--accuracy", asked, model=model)
    r, layers = report(out), json.loads((out / "quantization.json").read_text())["layers"]
    choice = r["quantization"]["choice"]
    print(f"chain, cycles: fp16 {cycles(fp16)}, auto {cycles(out)}, int8 {choice['time_of_integers']:.0f}; asked {asked:.3g} of {every['error']:.3g}; "
          f"integers {[l['node'] for l in layers if l['integers']]}")
    check(0 < r["quantization"]["layers_in_integers"] < 6, f"layers {layers}")
    check(r["target"]["precision"] == "mixed", f"precision {r['target']}")
    check(r["quantization"]["error"] <= asked and r["accuracy"]["expected_error"] <= asked, f"errors {r['quantization']} {r['accuracy']}")
    check(cycles(out) < cycles(fp16), f"cycles {cycles(out)} of {cycles(fp16)}")
    # What was told of trials is what the compiles say.
    unit = choice["time_of_floats"] / report(fp16)["partition"]["seconds"]
    check(choice["time"] < choice["time_of_floats"] and abs(choice["time"] / report(out)["partition"]["seconds"] / unit - 1) < 0.02, f"times {choice}")
    check(0 < choice["runs"] and choice["samples"] >= 4, f"choice {choice}")
    again = compiled("chain_again", "--precision", "auto", *data, "--accuracy", asked, "-j", 1, model=model)
    files = bytes_of(again)
    check(files == bytes_of(out), "other bytes with one thread")
    # Without a machine to ask, multiply-accumulates are what is saved.
    mrvlc("quantize", model, *data, "-o", WORK / "chain_mixed.onnx", "--accuracy", asked, "--report", WORK / "chain.json")
    alone = json.loads((WORK / "chain.json").read_text())
    check(alone["error"] <= asked and 0 < sum(l["integers"] for l in alone["layers"]) < 6, f"quantize --accuracy: {alone['layers']}")
    check("time" not in alone["choice"], "times of nothing")


def is_a_prerequisite():
    compiled("deps", "--precision", "int8", "--data", WORK / "data", "-MF", WORK / "deps.d")
    check("data/image.npy" in (WORK / "deps.d").read_text(), "samples are no prerequisite")


def floats_are_judged_by_samples():
    accuracy = report(compiled("judged", "--data", WORK / "data"))["accuracy"]
    errors = [accuracy[k] for k in ("median_error", "p95_error", "expected_error")]
    check(0 <= errors[0] <= errors[1] <= errors[2], f"errors by samples: {errors}")


def mistakes():
    out = ("compile", MODEL, "-o", WORK / "no")
    mrvlc(*out, "--precision", "int8", code=2, says="--data DIR")
    mrvlc(*out, "--precision", "int8", "--data", WORK / "nope", code=3, says="nope")
    mrvlc(*out, "--precision", "int8", "--data", WORK / "data", "--target", "nowhere", code=2, says="nowhere")
    mrvlc("compile", WORK / "int8.onnx", "-o", WORK / "no", "--precision", "int8", "--data", WORK / "data", code=1, says="MRV0914")
    mrvlc(*out, "--precision", "int8", "--data", WORK / "data", "--accuracy", "1e-9", code=5, says="MRV0913")
    check(not (WORK / "no").exists(), "a refused compile left a folder")


def main():
    shutil.rmtree(WORK, ignore_errors=True)
    (WORK / "data").mkdir(parents=True)
    np.save(WORK / "data" / "image.npy", np.load(DIGITS / "test_x.npy")[:60])
    for step in (same_as_two_steps, runs_on_the_host_alone, chooses_by_layer, mixes, is_a_prerequisite, floats_are_judged_by_samples, mistakes):
        step()
    for problem in problems:
        print(f"precision: {problem}", file=sys.stderr)
    sys.exit(1 if problems else 0)


main()
