"""usage: random_targets.py MRVLC PACKAGES WORK

Every model of WORK/models (a folder each, with model.onnx and test_data_set_K): compiled for an accelerator, the library nn and the host,
run on its data, and its ID map followed in both directions. What the compiler refuses with a code is counted by it.
"""

import collections
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

from mapping import lost

MRVLC, PACKAGES, WORK = (pathlib.Path(a) for a in sys.argv[1:])
ORDERS = ("nn,cn10ka,host", "cn10ka,nn,host")


def run(*command):
    return subprocess.run([str(c) for c in command], capture_output=True, text=True)


def judge(folder):
    number = int(folder.name)
    targets = ORDERS[number % 2]
    out = WORK / f"out_{folder.name}"
    options = ["--target", targets, "--target-dir", PACKAGES]
    compiled = run(MRVLC, "compile", folder / "model.onnx", "-o", out, "--no-probe", *options)
    if compiled.returncode == 0:
        # The models are too small for the accelerator to be worth the way: it gets what its rules take, node by node.
        nodes = json.loads((out / "placement.json").read_text())["nodes"]
        asked = [a for n in nodes if n.get("code") == "no-product" for a in ("--accel", "id:" + n["id"])]
        again = run(MRVLC, "compile", folder / "model.onnx", "-o", out, "--no-probe", *options, *asked)
        options += asked if again.returncode == 0 else []
    if compiled.returncode != 0:
        code = re.search(r"MRV\d{4}", compiled.stderr)
        return "refused " + (code.group() if code and compiled.returncode < 64 else "crash"), compiled.stderr
    places = json.loads((out / "report.json").read_text())["placement"]
    took = (places["libraries"][0]["calls"] > 0, places["accelerator"] > 0)
    gaps = list(lost(out))
    shutil.rmtree(out)
    if gaps:
        return "unmapped", "\n".join(gaps[:4])
    data = [a for s in sorted(folder.glob("test_data_set_*")) for a in ("--data", s)]
    verified = run(MRVLC, "verify", folder / "model.onnx", *options, *data)
    if "MRV0402" in verified.stderr:  # data that differ in shape: what was asked for cannot be had for them all
        verified = run(MRVLC, "verify", folder / "model.onnx", *options[:4], *data)
    if verified.returncode != 0:
        return "wrong", verified.stdout + verified.stderr
    return {(True, True): "right, on all three", (True, False): "right, with calls", (False, True): "right, with regions"}.get(took, "right, on the host"), ""


def main():
    folders = sorted((WORK / "models").iterdir())
    tally, failed = collections.Counter(), 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for folder, (verdict, text) in zip(folders, pool.map(judge, folders)):
            tally[verdict] += 1
            if verdict in ("wrong", "unmapped") or "crash" in verdict:
                failed += 1
                print(f"model {folder.name}, --target {ORDERS[int(folder.name) % 2]}: {verdict}\n{text}", flush=True)
    for verdict, count in sorted(tally.items()):
        print(f"{count:6} {verdict}")
    sys.exit(1 if failed else 0)


main()
