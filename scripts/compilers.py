#!/usr/bin/python3
"""Generated C with every compiler, machine and set of flags there is here (compilers.sh).

    compilers.py --mrvlc BIN [--write FILE] [--models] [--only TEXT] [--verify] MODEL.onnx...

Each model is compiled once for the host, as one file of C (with the words of MODEL.options, where there is such a file). Each compiler
with each set of flags makes one program of all, which runs them on the same data, baked in: here, by qemu where it is another machine or a board without operating system, by Node.js where it is WebAssembly. Outputs are compared with those of
gcc -O2 here. "same": the same bytes; "close": floats within 1e-5 of the largest number of the output, 1e-4 of networks of more than
16 operators (contraction of products and sums, another libm); "refused": the text's own #error; "no build": another error of the compiler, which is shown; anything else is
wrong, and the exit code 1. --models: a line a model too. --only: configurations whose name contains TEXT. --verify: what gcc -O2 makes
is compared with the reference interpreter first (mrvlc verify). --write replaces the table between the markers
`<!-- begin compilers -->` and `<!-- end compilers -->` of FILE. Models with shapes known at run time only are left out."""

import argparse
import collections
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from compilers_boards import BOARDS, WASM
from performance_tables import markdown, replace_table

FLAGS = ("-O2", "-Os", "-O3", "-O3 -march=native", "-Ofast", "-Ofast -march=native", "-O2 -ffast-math",
         "-O2 -funsafe-math-optimizations", "-O2 -freciprocal-math", "-O2 -ffinite-math-only")
# Compiler, flags, what runs its programs.
HERE = [(cc, flags, "") for cc in ("gcc", "clang") for flags in FLAGS]
HERE += [("musl-gcc", "-O2", ""), ("tcc", "", ""), ("gcc", "-O2 -DMRVL_NO_VECTORS", "")]
HERE += [("gcc -m32", f"{flags} -msse2 -mfpmath=sse", "") for flags in FLAGS if "native" not in flags]
HERE += [("gcc -m32", "-O2", ""), ("gcc -m32", "-Ofast", ""), ("clang -m32", "-O2", ""), ("clang -m32", "-O2 -msse2 -mfpmath=sse", "")]
ELSEWHERE = [(f"{triple}-gcc", flags, qemu) for triple, qemu in (("arm-linux-gnueabihf", "qemu-arm"), ("aarch64-linux-gnu", "qemu-aarch64"),
             ("riscv64-linux-gnu", "qemu-riscv64")) for flags in ("-O2 -static", "-Ofast -static")]
RIGHT = ("gcc", "-O2", "")
TYPES = {"f32": np.float32, "f64": np.float64, "f16": np.float16, "i8": np.int8, "u8": np.uint8, "i16": np.int16, "u16": np.uint16,
         "i32": np.int32, "u32": np.uint32, "i64": np.int64, "u64": np.uint64, "bool": np.bool_}
SPECIAL = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.5, 3e38, -3e38, 2.5]
FINE = ("same", "close", "refused", "no build")


def data_for(model, port, seed):
    """Numbers around 0, some of them large, as the type has them; indices stay small."""
    kind, shape = TYPES[port["type"]], port["shape"]
    random = np.random.default_rng(seed)
    if kind == np.bool_:
        return random.integers(0, 2, shape).astype(kind)
    if np.issubdtype(kind, np.floating):
        values = random.standard_normal(shape) * random.choice([1e-3, 1, 1, 1, 10], shape)
        if model.stem.startswith("nan_"):
            values = np.where(random.random(shape) < 0.5, values, random.choice(SPECIAL, shape))
        with np.errstate(all="ignore"):
            return values.astype(kind)
    bits = np.iinfo(kind)
    return random.integers(max(bits.min, -128), min(bits.max, 127) if bits.bits == 8 else 2, shape, endpoint=True).astype(kind)


class Network:
    """A model's file of C, its data and outputs."""

    def __init__(self, mrvlc, model, folder, number):
        self.model, self.name = model, f"n{number}"
        self.out = folder / self.name
        options = model.with_suffix(".options")
        self.options = options.read_text().split() if options.exists() else []
        subprocess.run([mrvlc, "compile", "-q", str(model), "-o", str(self.out), "--name", self.name, "--target", "host", "--emit", "single",
                        *self.options], check=True)
        manifest = json.loads((self.out / "manifest.json").read_text())
        nodes = json.loads((self.out / "report.json").read_text())["placement"]["onnx_nodes"]
        self.tolerance = 1e-5 if nodes <= 16 else 1e-4
        self.ports = manifest["outputs"]
        self.fixed = not any("open" in port or "wrapper" in port for port in manifest["inputs"] + self.ports)
        self.inputs = [data_for(model, port, seed) for seed, port in enumerate(manifest["inputs"])] if self.fixed else []

    def outputs(self, data):
        """From the bytes that the program prints."""
        found, at = [], 0
        for port in self.ports:
            kind = np.dtype(TYPES[port["type"]])
            count = int(np.prod(port["shape"], dtype=np.int64))
            found.append(np.frombuffer(data, kind, count, at))
            at += count * kind.itemsize
        return found if at == len(data) else f"WRONG: {len(data)} bytes of outputs"


HARNESS = """#include <stdio.h>
#include <stdint.h>
static union { uint64_t align[ARENA / 8 + 9]; unsigned char bytes[8]; } arena, io[PORTS];
static void print(const void* data, unsigned long bytes) {
  const unsigned char* const b = (const unsigned char*)data;
  for (unsigned long i = 0; i < bytes; ++i) putchar("0123456789abcdef"[b[i] >> 4]), putchar("0123456789abcdef"[b[i] & 15]);
}
int main(void) {
  void* const room = arena.bytes + (64 - (uintptr_t)arena.bytes % 64) % 64;
CALLS  return 0;
}
"""


def words_of(array):
    data = array.tobytes()
    data += bytes(-len(data) % 8)
    return ", ".join(f"{w:#x}u" for w in np.frombuffer(data, "<u8")) or "0"


def harness(networks):
    """The program: static memory, hex digits of the outputs on a line a network."""
    declarations, calls, most, ports = "", "", 64, 1
    for n in networks:
        header = (n.out / f"{n.name}.h").read_text()
        most = max([most] + [int(b) for b in re.findall(r"_(?:ARENA_BYTES|(?:IN|OUT)PUT\d+_BYTES) (\d+)\n", header)])
        ports = max(ports, len(n.ports))
        declarations += f'#include "{n.out}/{n.name}.h"\n'
        arguments = []
        for k, array in enumerate(n.inputs):
            declarations += f"static uint64_t {n.name}_x{k}[] = {{{words_of(array)}}};\n"
            arguments.append(f"(void*){n.name}_x{k}")
        arguments += [f"(void*)io[{k}].bytes" for k in range(len(n.ports))]
        calls += f'  printf("{n.name} %d ", {n.name}_infer({", ".join(arguments)}, room));\n'
        calls += "".join(f"  print(io[{k}].bytes, {n.name}_OUTPUT{k}_BYTES);\n" for k in range(len(n.ports))) + '  printf("\\n");\n'
    text = HARNESS.replace("ARENA", str(most)).replace("PORTS", str(ports)).replace("CALLS", calls)
    return text.replace("static union", declarations + "static union", 1)


def refuses(words, n):
    """The text's own #error: the preprocessor is enough to see it."""
    seen = subprocess.run([*words, "-E", str(n.out / f"{n.name}.c")], capture_output=True, text=True)
    return seen.returncode != 0 and ("#error" in seen.stderr or "error: \"" in seen.stderr)


def objects_of(networks, words, folder):
    """Of each network why there is no object file, or None; and the object files. All in one where that is possible: it is faster."""
    (folder / "all.c").write_text("".join(f'#include "{n.out}/{n.name}.c"\n' for n in networks))
    together = folder / "all.o"
    if compiled(words, folder / "all.c", together) is None:
        return {n.name: None for n in networks}, [str(together)]
    found = {n.name: "refused" if refuses(words, n) else compiled(words, n.out / f"{n.name}.c", folder / f"{n.name}.o") for n in networks}
    return found, [str(folder / f"{name}.o") for name, why in found.items() if why is None]


def compiled(words, source, target):
    """Why there is no object file, or nothing."""
    built = subprocess.run([*words, "-c", "-o", str(target), str(source)], capture_output=True, text=True)
    if built.returncode == 0:
        return None
    own = [line for line in built.stderr.splitlines() if "#error" in line or "error: \"" in line]
    return "refused" if own else "no build: " + built.stderr.strip().splitlines()[0][:160]


def run(networks, config, folder):
    """Of each network the outputs, or why there are none."""
    compiler, flags, emulator = config
    board = BOARDS.get(emulator) or (WASM if emulator == "wasm" else None)
    # Of compilers that say -ffast-math in calls, warnings would be many.
    words = [*compiler.split(), "-std=c99", "-w", *flags.split()]
    found, objects = objects_of(networks, words, folder)
    there = [n for n in networks if found[n.name] is None]
    if not there:
        return found
    (folder / "harness.c").write_text(harness(there))
    # The program itself may be slow; only its networks are of interest.
    why = compiled([*words, "-O0"], folder / "harness.c", folder / "harness.o")
    program = folder / "program"
    if why is None:
        extra = board.link(folder, words, config) if board else []
        linked = subprocess.run([*words, "-o", str(program), str(folder / "harness.o"), *objects, *extra, "-lm"], capture_output=True, text=True)
        why = None if linked.returncode == 0 else "no build: " + linked.stderr.strip()[-300:]
    if why is not None:
        return {**found, **{n.name: why for n in there}}
    command = board.command(folder, program) if board else [*emulator.split(), str(program)]
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    lines = {line.split()[0]: line.split()[1:] for line in done.stdout.splitlines() if line.startswith("n")}
    for n in there:
        code, *digits = lines.get(n.name, [f"program ended with {done.returncode} {done.stderr[-160:]}"])
        found[n.name] = n.outputs(bytes.fromhex("".join(digits))) if code == "0" else f"ended with {code}"
    return found


def verdict(got, right, tolerance):
    if isinstance(got, str):
        return got
    if all(g.tobytes() == r.tobytes() for g, r in zip(got, right)):
        return "same"
    for k, (found, expected) in enumerate(zip(got, right)):
        if not np.issubdtype(expected.dtype, np.floating):
            if not np.array_equal(found, expected):
                return f"WRONG: output {k}, {np.count_nonzero(found != expected)} of {found.size} elements"
            continue
        finite = np.isfinite(expected)
        if not np.array_equal(found[~finite], expected[~finite], equal_nan=True):
            return f"WRONG: NaN or infinities of output {k}"
        with np.errstate(all="ignore"):
            largest = np.abs(expected[finite].astype(np.float64)).max(initial=0)
            error = np.abs(found[finite].astype(np.float64) - expected[finite]).max(initial=0)
        if not error <= tolerance * largest:
            return f"WRONG: output {k} off by {error / max(largest, 1e-300):.2g} of the largest"
    return "close"


def have(config):
    board = BOARDS.get(config[2]) or (WASM if config[2] == "wasm" else None)
    tools = [config[0].split()[0]] + (board.tools if board else config[2].split())
    return all(shutil.which(t) for t in tools) and (board is None or board.there())


def verify(mrvlc, networks):
    """By the reference interpreter: how many it refuses."""
    bad = 0
    for n in networks:
        # Weights of 16 bits differ from the reference's by what they are rounded, which large inputs multiply.
        sets = ["--sets", "uniform,normal"] if "fp16" in n.options else []
        done = subprocess.run([mrvlc, "verify", "-q", str(n.model), "--target", "host", *n.options, *sets], capture_output=True, text=True)
        if done.returncode != 0:
            print(f"verify: {n.model.name}: exit {done.returncode}: {done.stderr.strip()[:300]}", flush=True)
            bad += 1
    print(f"{len(networks) - bad} of {len(networks)} models agree with the reference interpreter", flush=True)
    return bad


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mrvlc", required=True, metavar="BIN")
    parser.add_argument("--write", metavar="FILE")
    parser.add_argument("--models", action="store_true")
    parser.add_argument("--verify", action="store_true")
    parser.add_argument("--only", default="", metavar="TEXT")
    parser.add_argument("model", nargs="+", type=Path)
    a = parser.parse_args()
    everything = HERE + ELSEWHERE + [c for b in BOARDS.values() for c in b.configs] + WASM.configs
    configs = [c for c in everything if a.only in f"{c[0]} {c[1]} {c[2]}" and have(c)]
    counts, notes, wrong = {c: collections.Counter() for c in configs}, {}, 0
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        networks = [n for k, model in enumerate(a.model) if (n := Network(a.mrvlc, model, folder, k)).fixed]
        wrong += verify(a.mrvlc, networks) if a.verify else 0
        right = run(networks, RIGHT, folder)
        for n in networks:
            if isinstance(right[n.name], str):
                sys.exit(f"compilers: {n.model.name}: {right[n.name]}")
        for config in configs:
            found = run(networks, config, folder)
            for n in networks:
                text = verdict(found[n.name], right[n.name], n.tolerance)
                kind = text.split(":")[0]
                counts[config][kind] += 1
                wrong += kind not in FINE
                if kind not in FINE or ":" in text:
                    notes.setdefault(f"{config[0]} {config[1]}: {text}", n.model.name)
                if a.models:
                    print(f"{n.model.name}\t{config[0]} {config[1]}\t{text}", flush=True)
            print(f"{config[0]} {config[1]}: {dict(counts[config])}", file=sys.stderr, flush=True)
    rows = [[c[0], c[1] or "(none)", *(str(counts[c][k]) for k in FINE), str(len(networks) - sum(counts[c][k] for k in FINE))] for c in configs]
    table = markdown(["compiler", "flags", *FINE, "wrong"], rows)
    print(f"{len(networks)} models\n{table}")
    for note, model in notes.items():
        print(f"{note} ({model}, the first)")
    if a.write:
        page = Path(a.write)
        page.write_text(replace_table(page.read_text(), "compilers", table))
    return 1 if wrong else 0


if __name__ == "__main__":
    os.environ.setdefault("PYTHONDONTWRITEBYTECODE", "1")
    sys.exit(main())
