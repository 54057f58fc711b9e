#!/usr/bin/env python3
"""What the assumptions of the timing model cost: ResNet-50 v1 and MobileNetV2 are compiled once, on 8 tiles, and their binaries timed again
with other values (mrvlc profile --what-if). Prints the tables of docs/timing.md.

  scripts/assumptions.py [--write | --check]

--write puts them between the markers of the page; --check says, with exit code 5, whether they are current. $MRVLC: the compiler
(build/bin/mrvlc). Needs python3-onnx."""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import performance_tables
from performance_tables import number

HERE = pathlib.Path(__file__).resolve().parent.parent
MRVLC = os.environ.get("MRVLC", str(HERE / "build/bin/mrvlc"))
PAGE = HERE / "docs/timing.md"
VENDOR = performance_tables.VENDOR["cycles"]
NETWORKS = ("resnet50", "mobilenetv2")
# Assumption, what speaks against it, other values. None: the model has no field for it.
ROWS = [
    ("DDR gives all of its rate", "refreshes, page misses and turns take 10 to 30 % of any DRAM", "ddr_efficiency=85"),
    ("DDR brings 32 B a cycle", "a board with fewer or slower channels, a CPU that computes meanwhile", "ddr_bytes=16"),
    ("DDR answers after 200 cycles", "caches and bus arbiters in front of it", "ddr_latency=400"),
    ("other queues see a completion at once", "semaphores lie in memory or registers that tiles poll", "sync_latency=30"),
    ("a matrix instruction has no fill", "a chain of multiply-adds is 16 stages or more", "accumulation_fill=64"),
    ("a chain never waits for its own sums", "an instruction of few pixels has nothing else to do meanwhile", "reduction_gap=64"),
    ("the matrix unit takes any number of pixels", "a systolic array takes as many as it has columns", "pixel_block=16"),
    ("a tile reads 128 B and writes 64 B a cycle", "bank conflicts; ports of other units", "ocm_read_bytes=64,ocm_write_bytes=32"),
    ("tiles receive 64 B a cycle", "a ring or mesh shares its links", "tile_link_bytes=32"),
    ("depthwise products at a quarter of the rate", "a 16 x 16 array has one row for each of them", "depthwise_macs=16"),
    ("weights of a block load in 4 cycles", "they share the read port with pixels", "weight_block_cycles=16"),
    ("the vector unit has 32 lanes", "half as many for fp32", "pe_lanes=16"),
    ("accumulators hold 1024 pixels, two blocks of 512", "half the memory: no draining beside products", "accumulator_pixels=512"),
    ("an instruction takes 16 cycles to begin", "decoding, and setting up strided addresses", "instruction_overhead=32"),
    ("a queue holds 64 instructions", "32 queues take 2048 places", "queue_depth=16"),
    ("4 KiB of code are read ahead", "a buffer of 1 KiB is usual", "fetch_buffer=1024"),
    ("all of the conservative column", "", "conservative"),
]


def mrvlc(*command):
    return subprocess.run([MRVLC, *map(str, command)], check=True, capture_output=True, text=True).stdout


class Network:
    """A compiled network, timed on other machines."""

    def __init__(self, name, work):
        subprocess.run([HERE / "models/generators/make_models.py", name, "-o", work], check=True, stdout=subprocess.DEVNULL)
        self.out = work / f"{name}.out"
        mrvlc("-q", "compile", work / f"{name}.onnx", "-o", self.out, "--no-probe", "--tiles", "8")
        regions = json.loads((self.out / "report.json").read_text())["regions"]
        self.cycles = sum(r["cycles"] for r in regions)

    def on(self, changes):
        return json.loads(mrvlc("profile", self.out, "--json", "--what-if", changes))["what_if"]["what_if_cycles"]

    def change(self, changes):
        return f"{100 * (self.on(changes) / self.cycles - 1):+.1f} %"


def sources():
    """Where each field's value is from, as the target file says."""
    fields = json.loads(mrvlc("targets", "show", "cn10ka", "--json"))["fields"]
    return {name: field["source"] for name, field in fields.items()}


def source_of(changes, known):
    return ", ".join(sorted({known[c.split("=")[0]] for c in changes.split(",") if "=" in c}))


def assumptions(networks):
    known = sources()
    head = ["assumption", "source", "what speaks against it", "instead", *(f"{n.label}, {number(n.cycles)}" for n in networks)]
    rows = [head, ["---"] * 4 + ["---:"] * len(networks)]
    for text, against, changes in ROWS:
        rows.append([text, source_of(changes, known), against, f"`{changes}`", *(n.change(changes) for n in networks)])
    return rows


def least_rate(network):
    """The least DDR rate, in B a cycle, with which the binary takes no more cycles than the vendor's."""
    whole = next(b for b in range(1, 65) if network.on(f"ddr_bytes={b}") <= VENDOR)
    share = next(e for e in range(99, 0, -1) if network.on(f"ddr_bytes={whole},ddr_efficiency={e}") > VENDOR) + 1
    return whole * share / 100


def rate(network):
    least = least_rate(network)
    return [["ResNet-50 v1, 8 tiles", ""], ["---", "---:"],
            ["cycles, as the vendor publishes them", number(VENDOR)], ["cycles of this binary", number(network.cycles)],
            ["... in the conservative column", number(network.on("conservative"))],
            ["DDR rate below which the vendor's tool is faster, B a cycle", f"{least:.1f}"]]


def table(rows):
    return "\n".join("| " + " | ".join(r) + " |" for r in rows)


def replaced(page, name, text):
    begin, end = f"<!-- begin {name} -->", f"<!-- end {name} -->"
    assert begin in page and end in page, f"docs/timing.md has no markers of '{name}'"
    return re.sub(f"{begin}.*{end}", f"{begin}\n{text}\n{end}", page, flags=re.S)


def main():
    if sys.argv[1:] not in ([], ["--write"], ["--check"]):
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as folder:
        networks = [Network(name, pathlib.Path(folder)) for name in NETWORKS]
        for network, label in zip(networks, ("ResNet-50", "MobileNetV2")):
            network.label = label
        tables = {"assumptions": table(assumptions(networks)), "vendor rate": table(rate(networks[0]))}
    if not sys.argv[1:]:
        print("\n\n".join(tables.values()))
        return
    page = PAGE.read_text()
    for name, text in tables.items():
        page = replaced(page, name, text)
    if sys.argv[1] == "--check":
        sys.exit(0 if page == PAGE.read_text() else 5)
    PAGE.write_text(page)


if __name__ == "__main__":
    main()
