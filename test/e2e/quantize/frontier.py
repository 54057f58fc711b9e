#!/usr/bin/python3
"""Usage: frontier.py MRVLC MODELS/DIGITS WORK

`mrvlc compile --frontier` and `--pick`: rows of which none beats another, each compiled as its row says; the page; mistakes.
"""
import json
import shutil
import sys

import numpy as np

from harness import DIGITS, MODEL, WORK, check, mrvlc, problems

DATA = WORK / "data"


def compiled(name, *options, code=0, says=""):
    printed = mrvlc("compile", MODEL, "-o", WORK / name, "--name", "digits", "--no-input-limits", *options, code=code, says=says)
    return WORK / name, printed


def frontier_of(out):
    return json.loads((out / "frontier.json").read_text())


def expected(out):
    report = json.loads((out / "report.json").read_text())
    return report["accuracy"]["expected_error"], sum(r["cycles"] for r in report["regions"]), report["partition"]["seconds"]


def near(a, b):
    return abs(a - b) <= 0.06 * max(abs(a), abs(b)) + 1e-12  # report.json rounds to two digits


def rows_are_a_frontier():
    out, table = compiled("all", "--frontier", "--data", DATA)
    found = frontier_of(out)
    rows = found["rows"]
    check(found["on_data"] and found["tried"] >= len(rows) >= 3, f"{found}")
    check([r["pick"] for r in rows] == list(range(1, len(rows) + 1)), "numbers of rows")
    for before, row in zip(rows, rows[1:]):
        check(before["seconds"] <= row["seconds"] and before["error"] > row["error"], f"{row} is beaten by {before}")
    check(any(r["layers_in_integers"] for r in rows) and any(r["layers_in_integers"] == 0 for r in rows), f"precisions {rows}")
    lines = table.strip().splitlines()
    check(len(lines) == len(rows) + 1 and lines[0].split()[0] == "--pick", f"table:\n{table}")
    page = (out / "frontier.html").read_text()
    check("<script" not in page and page.count("<circle") == len(rows), "the page")
    plain, _ = compiled("plain", "--data", DATA)
    for file in ("digits.c", "digits.region0.mrvl"):
        check((out / file).read_bytes() == (plain / file).read_bytes(), f"{file} is not what is compiled without --frontier")
    return rows


def picks_are_compiled(rows):
    for row in (rows[0], rows[len(rows) // 2], rows[-1]):
        out, _ = compiled(f"pick{row['pick']}", "--frontier", "--data", DATA, "--pick", row["pick"])
        again = frontier_of(out)["rows"]
        marked = [r["pick"] for r in again if r["compiled"]]
        check(marked == [row["pick"]], f"marked {marked}, picked {row['pick']}")
        check([{**r, "compiled": 0} for r in again] == [{**r, "compiled": 0} for r in rows], "another table")
        error, cycles, seconds = expected(out)
        check(cycles == row["cycles"], f"row {row}: cycles {cycles}")
        if cycles:
            check(near(error, row["error"]), f"row {row}: error {error}")
        check(near(seconds, row["seconds"]), f"row {row}: {seconds} s")
        if row["nodes_on_cpu"]:
            placement = (out / "placement.json").read_text()
            check(f"Row {row['pick']} of --frontier" in placement, "no reason in placement.json")


def runs_as_it_says(row):
    """What the binary computes on the samples, beside the network in floats."""
    inputs = np.load(DATA / "image.npy")
    outputs = {}
    for name, options in (("floats", ("--target", "host")), ("picked", ("--frontier", "--data", DATA, "--pick", row["pick"]))):
        out, _ = compiled(name, *options)
        mrvlc("run", out, "--input", f"image={DATA / 'image.npy'}", "--repeat-axis0", "--output-dir", WORK / f"{name}_results")
        files = sorted((WORK / f"{name}_results").glob("*.npy"))
        outputs[name] = np.load(files[0]).reshape(len(inputs), -1)
    seen = float(np.max(np.abs(outputs["picked"] - outputs["floats"]) / (1 + np.abs(outputs["floats"]))))
    check(row["error"] / 4 < seen < 4 * row["error"], f"row {row}: error {seen} on the samples")


def without_samples_or_accelerator():
    out, _ = compiled("made", "--frontier")
    rows = frontier_of(out)["rows"]
    check(len(rows) >= 2 and not any(r["layers_in_integers"] for r in rows), f"{rows}")
    out, _ = compiled("host", "--frontier", "--target", "host", "--data", DATA)
    rows = frontier_of(out)["rows"]
    check({r["precision"] for r in rows} >= {"float32"} and all(r["cycles"] == 0 for r in rows), f"{rows}")


def mistakes():
    compiled("wrong", "--pick", "1", code=2)
    compiled("wrong", "--frontier", "--pick", "0", code=2)
    compiled("wrong", "--frontier", "--pick", "99", code=2, says="rows")
    compiled("wrong", "--frontier", "--accuracy", "1e-3", code=2, says="--frontier")
    compiled("wrong", "--frontier", "--precision", "int8", "--data", DATA, code=2, says="--frontier")
    compiled("wrong", "--frontier", "--no-probe", code=2, says="--no-probe")
    compiled("wrong", "--frontier", "--target", "host", code=5, says="nothing to choose")
    check(not (WORK / "wrong").exists(), "a refused compile wrote OUT")


shutil.rmtree(WORK, ignore_errors=True)
DATA.mkdir(parents=True)
np.save(DATA / "image.npy", np.load(DIGITS / "test_x.npy")[:16])
found = rows_are_a_frontier()
picks_are_compiled(found)
runs_as_it_says(found[0])
without_samples_or_accelerator()
mistakes()
for problem in problems:
    print(problem)
sys.exit(1 if problems else 0)
