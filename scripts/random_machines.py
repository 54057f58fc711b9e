#!/usr/bin/env python3
"""Accelerators with 1 to 8 fields of cn10ka at their ends: each is refused when its description is read, or compiles a
small network that then gives the right results.

  scripts/random_machines.py [CASES [SEED]]        300 machines from seed 1

Crashes, wrong results and runs of more than a minute end it with exit code 1. $MRVLC: the compiler (build/bin/mrvlc).
$MODELS: networks to take in turn (models/digits/digits.onnx and a chain).
"""

import collections
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent.parent
MRVLC = os.environ.get("MRVLC", str(HERE / "build/bin/mrvlc"))
LIMIT = 60  # seconds
MULTIPLES = {"ocm_bytes": 16, "accumulator_pixels": 16}


def run(folder, *command):
    """The exit code, what was said, and the seconds it took; 124 where it took too long."""
    begin = time.monotonic()
    try:
        done = subprocess.run([MRVLC, *map(str, command), "--target-dir", "."], cwd=folder, capture_output=True, text=True, timeout=LIMIT)
        return done.returncode, done.stdout + done.stderr, time.monotonic() - begin
    except subprocess.TimeoutExpired:
        return 124, "takes more than a minute", LIMIT


def write(folder, fields):
    (folder / "odd").mkdir(exist_ok=True)
    text = {"name": "odd", "description": "of random fields", "fields": fields}
    (folder / "odd/target.json").write_text(json.dumps(text))


def bounds(folder, fields):
    """What mrvlc says a number must lie between, by field."""
    out = {}
    for name, field in fields.items():
        if not isinstance(field["value"], int):
            continue
        write(folder, {**fields, name: {**field, "value": 1 << 53}})
        said = run(folder, "targets", "show", "odd")[1]
        ends = re.search(r"between (\d+) and (\d+)", said)
        assert ends, f"{name}: {said}"
        out[name] = int(ends[1]), int(ends[2])
    return out


def odd_value(least, most, dice):
    """At an end, beside it, now and then beyond it, a power of two, or anything between them."""
    power = 1 << dice.randrange(most.bit_length())
    choices = [least, most, least + 1, most - 1, power, power - 1, dice.randint(least, most)]
    if dice.random() < 0.05:
        choices = [least - 1, most + 1]
    return dice.choice(choices)


def odd_machine(fields, ends, dice):
    out = {name: dict(field) for name, field in fields.items()}
    changed = dice.sample(sorted(ends), dice.randint(1, 8))
    for name in changed:
        value = odd_value(*ends[name], dice)
        # What is refused for its form alone shows little.
        if dice.random() < 0.95:
            value = max(ends[name][0], value - value % MULTIPLES.get(name, 1))
        if name == "ocm_alignment" and dice.random() < 0.95:
            value = 1 << dice.randint(4, 12)
        out[name]["value"] = value
    if dice.random() < 0.2:
        out["tile_counts"]["value"] = sorted(dice.sample(range(1, 9), dice.randint(1, 3)))
    return {name: out[name]["value"] for name in changed}, out


def chain(folder):
    file = folder / "chain.onnx"
    subprocess.run([HERE / "models/generators/chain.py", "residual", "10", "-o", file], check=True)
    return file


def judge(folder, model):
    """refused, right, or what is wrong."""
    code, said, taken = run(folder, "verify", model, "--target", "odd", "--sets", "uniform")
    if code == 0:
        return "right", taken
    refused = code == 1 and "MRV0351" in said
    return ("refused" if refused else f"exit code {code}: {said.strip()[-400:]}"), taken


def main():
    cases, seed = (int(a) for a in (sys.argv[1:] + ["300", "1"][len(sys.argv) - 1:])[:2])
    dice, counts, longest = random.Random(seed), collections.Counter(), (0, {})
    fields = json.loads((HERE / "lib/target/cn10ka/target.json").read_text())["fields"]
    with tempfile.TemporaryDirectory() as work:
        folder = pathlib.Path(work)
        models = os.environ.get("MODELS", "").split() or [HERE / "models/digits/digits.onnx", chain(folder)]
        ends = bounds(folder, fields)
        for case in range(cases):
            changed, machine = odd_machine(fields, ends, dice)
            write(folder, machine)
            verdict, taken = judge(folder, models[case % len(models)])
            counts[verdict if verdict in ("right", "refused") else "wrong"] += 1
            longest = max(longest, (taken, changed), key=lambda pair: pair[0])
            if verdict not in ("right", "refused"):
                print(f"machine {case} of seed {seed}: {changed}: {verdict}", flush=True)
    print(f"{cases} machines: " + ", ".join(f"{n} {what}" for what, n in sorted(counts.items())) + f"; the longest took {longest[0]:.1f} s")
    return 1 if counts["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
