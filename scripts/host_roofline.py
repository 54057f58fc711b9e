#!/usr/bin/python3
"""Host code layer by layer beside the machine's peak (bench.sh --layers).

    host_roofline.py --mrvlc BIN [-n RUNS] [--least PERCENT] MODEL.onnx... [-- OPTION...]

For each model a table of its steps, the least time of RUNS (50) of each: GFLOP/s of the products that the network defines, the share
of the peak, MiB of operands, weights and results, and the share of the time that the step would need at least, by products at the peak or by bytes
at the bandwidth of memory ("roof": beyond 100 % where caches hold them, or Winograd's algorithm makes fewer products). Steps of less than PERCENT (1) of the whole are
one row. Then sums by kind; "done" counts the products that are made. The peak is that of multiply-adds in registers, and the bandwidth
that of a copy of 64 MiB, both measured before and after, with the same compiler and flags. $CC and $CFLAGS as in bench.sh: with -march=haswell the peak is that of AVX2.
OPTIONs go to mrvlc compile. One thread.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from math import prod
from pathlib import Path

from performance_tables import markdown, run_script

CC, CFLAGS = os.environ.get("CC", "gcc"), os.environ.get("CFLAGS", "-O3 -march=native")
BYTES = {"f64": 8, "f32": 4, "f16": 2, "bf16": 2, "i64": 8, "u64": 8, "i32": 4, "u32": 4, "i16": 2, "u16": 2}

# Prints GFLOP/s and GB/s. Twelve sums hide the latency of two units; what is read and written counts.
MACHINE = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#if defined(__AVX512F__)
#define WIDTH 16
#elif defined(__AVX__)
#define WIDTH 8
#else
#define WIDTH 4
#endif
typedef float vec __attribute__((vector_size(4 * WIDTH)));
static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
int main(void) {
  enum { TURNS = 1000000, BYTES = 64 << 20 };
  double least = 1e9, copy = 1e9;
  volatile float one = 1.0f, tiny = 1e-9f;
  for (int round = 0; round < 20; ++round) {
    const vec a = (vec){0} + one, b = (vec){0} + tiny;
    vec s[12];
    for (int k = 0; k < 12; ++k) s[k] = b * (float)k;
    const double begin = now();
    for (int i = 0; i < TURNS; ++i) {
#define ADD(k) s[k] = s[k] * a + b; __asm__ volatile("" : "+x"(s[k]))
      ADD(0); ADD(1); ADD(2); ADD(3); ADD(4); ADD(5); ADD(6); ADD(7); ADD(8); ADD(9); ADD(10); ADD(11);
    }
    const double took = now() - begin;
    if (took < least) least = took;
    volatile float sink = 0;
    for (int k = 0; k < 12; ++k) sink += s[k][0];
  }
  char *from = malloc(BYTES), *to = malloc(BYTES);
  memset(from, 1, BYTES), memset(to, 2, BYTES);
  for (int round = 0; round < 8; ++round) {
    const double begin = now();
    memcpy(to, from, BYTES);
    __asm__ volatile("" : : "r"(to) : "memory");
    const double took = now() - begin;
    if (took < copy) copy = took;
  }
  printf("%.3f %.3f\n", 2e-9 * 12 * WIDTH * TURNS / least, 2e-9 * BYTES / copy);
  return 0;
}
"""


def call(*command):
    return subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True).stdout


def arguments():
    split = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    own, options = sys.argv[1:split], sys.argv[split + 1:]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mrvlc", required=True, metavar="BIN")
    parser.add_argument("-n", "--runs", type=int, default=50, metavar="RUNS")
    parser.add_argument("--least", type=float, default=1, metavar="PERCENT")
    parser.add_argument("models", nargs="+", metavar="MODEL.onnx")
    args = parser.parse_args(own)
    args.options = options
    return args


class Machine:
    def __init__(self, work):
        self.program = Path(work, "machine")
        Path(work, "machine.c").write_text(MACHINE, encoding="utf-8")
        call(CC, *CFLAGS.split(), "-o", self.program, Path(work, "machine.c"))
        self.gflops = self.gbytes = 0.0
        self.measure()

    def measure(self):
        gflops, gbytes = map(float, call(self.program).split())
        self.gflops, self.gbytes = max(self.gflops, gflops), max(self.gbytes, gbytes)


def bytes_of(text):
    """of a type as graph.json has it, f32[1,3,224,224]; 0 where it is none of numbers in fixed shapes"""
    name, _, dims = text.partition("[")
    try:
        return BYTES.get(name, 1) * prod(int(d) for d in dims.rstrip("]").split(",") if d)
    except ValueError:
        return 0


class Layers:
    """What a program's steps compute: products and bytes by expression."""

    def __init__(self, out):
        graph = json.loads(Path(out, "graph.json").read_text(encoding="utf-8"))["graphs"][0]
        idmap = json.loads(Path(out, "idmap.json").read_text(encoding="utf-8"))
        report = json.loads(Path(out, "report.json").read_text(encoding="utf-8"))
        self.items = {i["expr_id"]: i for i in graph["items"] if "expr_id" in i}
        self.fused = defaultdict(set)
        for function in idmap["host_functions"]:
            self.fused[function["expr_id"]].update(function["fused"])
        self.rates = {n["expr_id"]: n["rate"] for n in report["host"]["nodes"]}
        self.tiles = {w["expr_id"]: w["tile"] for w in report["host"]["winograd"]}
        self.edges = [(*(graph["items"][e[end]].get("expr_id") for end in ("from", "to")), e["value"]) for e in graph["edges"]]
        self.bytes = [bytes_of(value["type"]) for value in graph["values"]]

    def of(self, expr):
        """(multiply-adds, those that are made, bytes, kind)"""
        inside = {expr} | self.fused[expr]
        items = [self.items[e] for e in inside if e in self.items]
        macs = sum(i.get("macs", 0) for i in items)
        crossing = {value for source, to, value in self.edges if (source in inside) != (to in inside)}
        moved = sum(i.get("weights_bytes", 0) for i in items) + sum(self.bytes[value] for value in crossing)
        tile = self.tiles.get(expr)
        done = macs * (tile + 2)**2 / (9 * tile**2) if tile else macs
        kind = self.rates.get(expr, "other")
        return macs, done, moved, "Conv by Winograd" if tile else kind


def measure(args, model, out):
    """[(label, seconds, multiply-adds, done, bytes, kind)]"""
    call(args.mrvlc, "-q", "compile", model, "--target", "host", "-o", out, *args.options)
    measured = json.loads(call(args.mrvlc, "-q", "profile", out, "--measure", "--bench", args.runs, "--cc", CC, "--cflags", CFLAGS, "--json"))
    layers = Layers(out)
    return [(s["label"], 1e-3 * s["least_ms"], *layers.of(s["expr_id"])) for s in measured["measured"]["steps"]]


def row(machine, total, label, seconds, macs, done, moved):
    roof = max(2e-9 * macs / machine.gflops, 1e-9 * moved / machine.gbytes)
    share = 100 / machine.gflops / seconds if seconds else 0
    return [label, f"{1e3 * seconds:.3f}", f"{100 * seconds / total:.1f} %", f"{2e-9 * macs / seconds:.1f}", f"{2e-9 * macs * share:.0f} %",
            f"{2e-9 * done * share:.0f} %", f"{moved / 2**20:.2f}", f"{100 * roof / seconds:.0f} %"]


def sum_up(label, steps):
    return label, *(sum(s[k] for s in steps) for k in range(1, 5))


def tables(args, machine, steps):
    total = sum(s[1] for s in steps)
    large = [s for s in steps if s[1] >= 0.01 * args.least * total]
    rest = [s for s in steps if s[1] < 0.01 * args.least * total]
    header = ["", "ms", "of the whole", "GFLOP/s", "of the peak", "done", "MiB", "roof"]
    rows = [row(machine, total, *s[:5]) for s in large]
    if rest:
        rows.append(row(machine, total, *sum_up(f"{len(rest)} others", rest)))
    kinds = defaultdict(list)
    for step in steps:
        kinds[step[5]].append(step)
    sums = [row(machine, total, *sum_up(f"{kind} ({len(of)})", of))
            for kind, of in sorted(kinds.items(), key=lambda k: -sum(s[1] for s in k[1]))]
    convolutions = [s for s in steps if s[5].startswith("Conv") and "depthwise" not in s[5]]
    if convolutions:
        sums.append(row(machine, total, *sum_up("convolutions but depthwise", convolutions)))
    sums.append(row(machine, total, *sum_up("all", steps)))
    return markdown(["step", *header[1:]], rows) + "\n\n" + markdown(["kind", *header[1:]], sums)


def main():
    args = arguments()
    with tempfile.TemporaryDirectory() as work:
        machine = Machine(work)
        for k, model in enumerate(args.models):
            steps = measure(args, model, Path(work, str(k)))
            machine.measure()
            print(f"{model}: peak {machine.gflops:.1f} GFLOP/s, copy {machine.gbytes:.1f} GB/s, {CC} {CFLAGS}\n")
            print(tables(args, machine, steps), end="\n\n", flush=True)
    return 0


if __name__ == "__main__":
    run_script("host_roofline", main)
