#!/usr/bin/python3
"""Usage: cortex_m.py MRVLC SOURCE WORK

The firmware of docs/examples/cortex-m runs the digits network under qemu, on a Cortex-M4 and a Cortex-M7: its outputs are those
of `mrvlc run` on this machine, up to the rounding of floats.
"""
import pathlib
import re
import shutil
import subprocess
import sys

import numpy as np

MRVLC, SOURCE, WORK = (pathlib.Path(a).absolute() for a in sys.argv[1:4])
EXAMPLE = SOURCE / "docs/examples/cortex-m"


def run(*command):
    done = subprocess.run([str(c) for c in command], cwd=WORK, capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: ended {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def on_board(model, board, *more):
    out = run("make", "-f", EXAMPLE / "Makefile", "run", f"MRVLC={MRVLC}", f"MODEL={model}", f"BOARD={board}", "INPUT=x.npy", *more)
    assert int(re.search(r"^cycles (\d+)$", out, re.M)[1]) > 1000, out
    return np.array([float(v) for v in re.search(r"^output 0 (.*)$", out, re.M)[1].split()])


def on_host(model):
    run(MRVLC, "compile", model, "-o", "host", "--target", "host", "-q")
    run(MRVLC, "run", "host", "--input", "image=x.npy", "--output-dir", "results")
    (result,) = [np.load(f) for f in (WORK / "results").iterdir()]
    return result.astype(np.float64).ravel()


shutil.rmtree(WORK, ignore_errors=True)
WORK.mkdir(parents=True)
digits = SOURCE / "models/digits/digits.onnx"
images = np.load(SOURCE / "models/digits/test_x.npy")
np.save(WORK / "x.npy", np.ascontiguousarray(images[3:4]))
expected = on_host(digits)
for board in "mps2-an386", "mps2-an500":
    found = on_board(digits, board)
    assert np.allclose(found, expected, rtol=1e-5, atol=1e-5), (board, found, expected)
print(f"{len(expected)} outputs on two processors")
