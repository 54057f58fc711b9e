#!/usr/bin/env python3
"""Whether a schedule for a machine is the best one on it: networks are compiled for each machine, and every binary is timed on all of them
(mrvlc profile --what-if). A binary that is slower on its own machine than one for another fails.

  scripts/cross_machines.py [--tolerance PERCENT] [--tiles N] [--effort 1|2] MODEL.onnx...

Without models: models/digits/digits.onnx. Prints a table a network: a row for the machine that the binary was compiled for, a column for that
it is timed on, cycles as a ratio to those of the column's own binary. --tolerance: percent below 1 that are let pass (0). $MRVLC: the
compiler (build/bin/mrvlc)."""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent.parent
MRVLC = os.environ.get("MRVLC", str(HERE / "build/bin/mrvlc"))
# Fields that differ from cn10ka; {} is cn10ka itself.
MACHINES = {
    "cn10ka": {},
    "shallow queues": {"queue_depth": 16},
    "shallowest queues": {"queue_depth": 2},
    "slow waits": {"sync_latency": 200},
    "half the DDR": {"ddr_bytes": 16},
    "late DDR": {"ddr_latency": 1000},
    "small buffer": {"fetch_buffer": 1024},
    "chained sums": {"reduction_gap": 64, "accumulation_fill": 64, "pixel_block": 16},
    "half the ports": {"ocm_read_bytes": 64, "ocm_write_bytes": 32},
}
FIELDS = sorted({field for fields in MACHINES.values() for field in fields})


def mrvlc(*command, cwd=None):
    done = subprocess.run([MRVLC, *map(str, command)], capture_output=True, text=True, cwd=cwd)
    if done.returncode != 0:
        sys.exit(f"mrvlc {' '.join(map(str, command))}: exit code {done.returncode}\n{done.stderr}")
    return done.stdout


def defaults():
    fields = json.loads(mrvlc("targets", "show", "cn10ka", "--json"))["fields"]
    return {field: int(fields[field]["value"]) for field in FIELDS}


def package(work, name, fields):
    """A target that extends cn10ka."""
    folder = work / "targets" / name
    folder.mkdir(parents=True)
    entries = {field: {"value": value, "source": "assumed", "note": "another machine"} for field, value in fields.items()}
    (folder / "target.json").write_text(json.dumps({"name": name, "description": "another machine", "extends": "cn10ka", "fields": entries}))


def cycles(model, work, base, options):
    """Of each machine's binary on each machine."""
    out = {}
    for k, own in enumerate(MACHINES):
        folder = work / f"{model.stem}.{k}"
        mrvlc("-q", "compile", model, "-o", folder, "--target", f"machine{k}", "--target-dir", work / "targets", "--no-probe", *options)
        for other, fields in MACHINES.items():
            changes = ",".join(f"{field}={value}" for field, value in {**base, **fields}.items())
            said = json.loads(mrvlc("profile", folder, "--json", "--what-if", changes, "--target-dir", work / "targets"))
            out[own, other] = said["what_if"]["what_if_cycles"]
    return out


def report(model, found, tolerance):
    """Prints the table; how many binaries are slower on their own machine than another one's."""
    print(f"{model.name}\n{'':<18}" + "".join(f"{name:>18}" for name in MACHINES))
    worse = 0
    for own in MACHINES:
        ratios = {other: found[own, other] / found[other, other] for other in MACHINES}
        print(f"{own:<18}" + "".join(f"{ratio:>18.4f}" for ratio in ratios.values()))
        worse += sum(ratio < 1 - tolerance / 100 for ratio in ratios.values())
    print(f"{'cycles':<18}" + "".join(f"{found[name, name]:>18}" for name in MACHINES))
    return worse


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", type=pathlib.Path)
    parser.add_argument("--tolerance", type=float, default=0)
    parser.add_argument("--tiles", default="8")
    parser.add_argument("--effort", default="1")
    given = parser.parse_args()
    worse = 0
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        for k, fields in enumerate(MACHINES.values()):
            package(work, f"machine{k}", fields)
        base = defaults()
        for model in given.models or [HERE / "models/digits/digits.onnx"]:
            worse += report(model, cycles(model.absolute(), work, base, ["--tiles", given.tiles, "--effort", given.effort]), given.tolerance)
    if worse > 0:
        sys.exit(f"{worse} binaries are faster on a machine than the one that was compiled for it")


if __name__ == "__main__":
    main()
