#!/usr/bin/python3
"""Usage: precision.py MRVLC MODELS/DIGITS WORK

`mrvlc compile --precision int8|auto --data DIR`: the same as `mrvlc quantize` and then `compile`; a choice by layer that
keeps what it was asked for; reports, files that were read, mistakes.
"""
import json
import pathlib
import shutil
import subprocess
import sys

import numpy as np

MRVLC, DIGITS, WORK = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
MODEL = DIGITS / "digits.onnx"
problems = []


def check(condition, what):
    if not condition:
        problems.append(what)


def mrvlc(*arguments, code=0, says=""):
    ran = subprocess.run([MRVLC, *map(str, arguments)], capture_output=True, text=True, check=False)
    shown = f"mrvlc {' '.join(map(str, arguments))}"
    check(ran.returncode == code, f"{shown}: exit {ran.returncode}, not {code}: {ran.stderr}")
    check(says in ran.stdout + ran.stderr, f"{shown}: does not say '{says}': {ran.stdout + ran.stderr}")
    return ran.stdout


def compiled(name, *options, model=MODEL, code=0, says=""):
    mrvlc("compile", model, "-o", WORK / name, "--name", "digits", *options, code=code, says=says)
    return WORK / name


def report(out):
    return json.loads((out / "report.json").read_text())


def cycles(out):
    return sum(r["cycles"] for r in report(out)["regions"])


def binaries(out):
    return {f.name: f.read_bytes() for f in sorted(out.glob("*.mrvl")) + sorted(out.glob("*.c")) + sorted(out.glob("*.bin"))}


def same_as_two_steps():
    mrvlc("quantize", MODEL, "--data", WORK / "data", "-o", WORK / "int8.onnx", "--report", WORK / "int8.json")
    two, one = compiled("two", model=WORK / "int8.onnx"), compiled("int8", "--precision", "int8", "--data", WORK / "data")
    check(any(f.endswith(".mrvl") for f in binaries(two)), "nothing was compiled")
    check(binaries(one) == binaries(two), "other bytes than by two steps")
    check((one / "digits.quantized.onnx").read_bytes() == (WORK / "int8.onnx").read_bytes(), "another model than quantize's")
    ours, theirs = json.loads((one / "quantization.json").read_text()), json.loads((WORK / "int8.json").read_text())
    check(ours["layers"] == theirs["layers"] or [l["node"] for l in ours["layers"]] == [l["node"] for l in theirs["layers"]],
          "other layers than quantize's")
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


def same_again():
    options = ("--precision", "auto", "--data", WORK / "data", "--accuracy", report(WORK / "auto")["quantization"]["choice"]["asked"])
    out = compiled("again", *options, "-j", 1)
    files = {f.name: f.read_bytes() for f in out.iterdir()}
    check(files == {f.name: f.read_bytes() for f in (WORK / "auto").iterdir()}, "other bytes with one thread")


def is_a_prerequisite():
    compiled("deps", "--precision", "int8", "--data", WORK / "data", "-MF", WORK / "deps.d")
    check("data/image.npy" in (WORK / "deps.d").read_text(), "samples are no prerequisite")


def mistakes():
    out = ("compile", MODEL, "-o", WORK / "no")
    mrvlc(*out, "--precision", "int8", code=2, says="--data DIR")
    mrvlc(*out, "--precision", "fp16", "--data", WORK / "data", code=2, says="--precision int8 or auto")
    mrvlc(*out, "--precision", "int8", "--data", WORK / "nope", code=3, says="nope")
    mrvlc(*out, "--precision", "int8", "--data", WORK / "data", "--target", "nowhere", code=2, says="nowhere")
    mrvlc("compile", WORK / "int8.onnx", "-o", WORK / "no", "--precision", "int8", "--data", WORK / "data", code=1, says="MRV0914")
    mrvlc(*out, "--precision", "int8", "--data", WORK / "data", "--accuracy", "1e-9", code=5, says="MRV0913")
    check(not (WORK / "no").exists(), "a refused compile left a folder")


def main():
    shutil.rmtree(WORK, ignore_errors=True)
    (WORK / "data").mkdir(parents=True)
    np.save(WORK / "data" / "image.npy", np.load(DIGITS / "test_x.npy")[:60])
    for step in (same_as_two_steps, runs_on_the_host_alone, chooses_by_layer, same_again, is_a_prerequisite, mistakes):
        step()
    for problem in problems:
        print(f"precision: {problem}", file=sys.stderr)
    sys.exit(1 if problems else 0)


main()
