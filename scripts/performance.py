#!/usr/bin/python3
"""Measures compiled networks on the simulator, timing only, and writes the tables of docs/performance.md.

    performance.py --mrvlc BIN [--data DIR] [--write FILE | --check FILE] [--seconds] [-j N]

Without --write or --check the tables go to stdout. --write replaces what stands between the markers
`<!-- begin NAME -->` and `<!-- end NAME -->` of FILE and leaves every other line alone; --check exits with 5 where the
tables of cycles would change. Cycles and bytes are the same on every machine; the table of seconds is not: it is measured, one
compile at a time, only with --seconds. DIR is the folder that holds zoo/NAME.onnx.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

from performance_runs import Machines, Runs, prepare_models
from performance_tables import TABLES, replace_table, run_script, seconds_table

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mrvlc", required=True, metavar="BIN")
    parser.add_argument("--data", metavar="DIR", help="folder with zoo/NAME.onnx; without it those rows are left out")
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--write", metavar="FILE")
    group.add_argument("--check", metavar="FILE")
    parser.add_argument("--seconds", action="store_true", help="measure and write the table of seconds too")
    parser.add_argument("-j", type=int, default=os.cpu_count() or 1, metavar="N", help="compiles at a time")
    args = parser.parse_args()
    if (args.write or args.check) and args.data is None:
        parser.error("the file has rows of every network: --data is needed")
    return args


def measure(args, work):
    """{table: its text}"""
    models, missing = prepare_models(work, args.data)
    for name in missing:
        print(f"performance: {name} is not there, its row is left out", file=sys.stderr)
    if missing and (args.write or args.check):
        sys.exit(3)
    runs = Runs(args.mrvlc, work, models, Machines(ROOT, work))
    wanted = [key for table in TABLES for key in table.keys(models)]
    with ThreadPoolExecutor(1 if args.seconds else args.j) as pool:
        list(pool.map(runs.run, dict.fromkeys(wanted)))
    texts = {table.name: table.text(runs, models) for table in TABLES}
    if args.seconds:
        texts["seconds"] = seconds_table(runs, models)
    return texts


def main():
    args = arguments()
    with tempfile.TemporaryDirectory() as work:
        texts = measure(args, work)
    path = args.write or args.check
    if path is None:
        print("\n\n".join(f"## {name}\n\n{text}" for name, text in texts.items()))
        return 0
    with open(path, encoding="utf-8") as file:
        before = after = file.read()
    for name, text in texts.items():
        after = replace_table(after, name, text)
    if args.check:
        if before != after:
            print(f"{path} is not current: run scripts/bench.sh --table --write", file=sys.stderr)
        return 5 if before != after else 0
    with open(path, "w", encoding="utf-8") as out:
        out.write(after)
    return 0


if __name__ == "__main__":
    run_script("performance", main)
