#!/usr/bin/env python3
"""Images a second on a paced simulator: what the host's conversions cost, and what two images at once save.

usage: scripts/images.py MRVLC MODEL.onnx... [--runs N] [--work DIR]

Compiles each model for cn10ka, builds its example program with its Makefile, and runs it on the simulator that takes the time of its cycles
(MRVL_SIMULATOR_PACE=1). A line a model: images a second of the device alone (by its cycles), of NAME_run, of NAME_submit and NAME_wait with
two in flight, and the share of the device alone. The best of five measurements each. Exit code 1 where results of runs in flight differ."""

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import numpy as np

KINDS = {"f32": "<f4", "f16": "<f2", "i8": "i1", "u8": "u1", "i32": "<i4", "i64": "<i8"}


def run(command, **environment):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, env={**os.environ, **environment})
    if done.returncode != 0:
        sys.exit(f"images: {' '.join(map(str, command))}: {done.stdout}{done.stderr}")
    return done.stdout


def measure(mrvlc, model, work, runs):
    out = work / model.stem
    shutil.rmtree(out, ignore_errors=True)
    run([mrvlc, "-q", "compile", model, "-o", out, "--target", "cn10ka", "--no-probe"])
    manifest = json.loads((out / "manifest.json").read_text())
    name, report = manifest["model"]["name"], json.loads((out / "report.json").read_text())
    run(["make", "-s", "-C", out, f"MRVLC_PREFIX={mrvlc.parent.parent}"])
    draw, arguments = np.random.default_rng(3), []
    for i, port in enumerate(manifest["inputs"]):
        np.save(out / f"in{i}.npy", draw.uniform(0, 1, port["shape"]).astype(KINDS[port["type"]]))
        arguments += ["--input", f"{port['file']}={out}/in{i}.npy"]
    turn = flight = 0
    for _ in range(5):
        text = run([out / f"{name}_example", *arguments, "--dir", out, "--bench", runs, "--in-flight", 2], MRVL_SIMULATOR_PACE="1")
        turn = max(turn, 1e3 / float(re.search(r"median_ms ([\d.]+)", text)[1]))
        flight = max(flight, float(re.search(r"images_per_second ([\d.]+)", text)[1]))
    device = 1 / report["expected"]["seconds_device"]
    return [model.stem, len(report["regions"]), device, turn, flight, flight / device, report["expected"]["two_in_flight"]["bound_by"]]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mrvlc", type=pathlib.Path)
    parser.add_argument("models", type=pathlib.Path, nargs="+")
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--work", type=pathlib.Path, default=pathlib.Path("/tmp/images"))
    args = parser.parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    print("| model | regions | device alone, images/s | NAME_run | two in flight | of the device alone | expected bound |")
    print("|---|---|---|---|---|---|---|")
    for model in args.models:
        name, regions, *rates, bound = measure(args.mrvlc.absolute(), model, args.work, args.runs)
        print("| {} | {} | {:.0f} | {:.0f} | {:.0f} | {:.1%} | {} |".format(name, regions, *rates, bound), flush=True)


main()
