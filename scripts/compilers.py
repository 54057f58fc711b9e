#!/usr/bin/python3
"""Generated C with every compiler, machine and set of flags there is here (compilers.sh).

    compilers.py --mrvlc BIN [--write FILE] [--models] MODEL.onnx...

Each model is compiled once for the host, built by each compiler with each set of flags, run on the same data (by qemu where
it is another machine), and its outputs are compared with those of gcc -O2 here. "same": the same bytes; "close": within 1e-5
of the largest number (contraction of products and sums, another libm); "refused": the text's own #error; "no build": another
error of the compiler, which is shown; anything else is wrong, and the exit code 1. --models: a line a model too. --write
replaces the table between the markers `<!-- begin compilers -->` and `<!-- end compilers -->` of FILE."""

import argparse
import collections
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from performance_tables import markdown, replace_table

FLAGS = ("-O2", "-Os", "-O3", "-O3 -march=native", "-Ofast", "-Ofast -march=native", "-O2 -ffast-math",
         "-O2 -funsafe-math-optimizations", "-O2 -freciprocal-math", "-O2 -ffinite-math-only")
# Compiler, flags, what runs its programs.
HERE = [(cc, flags, "") for cc in ("gcc", "clang") for flags in FLAGS]
HERE += [("musl-gcc", "-O2", ""), ("tcc", "", ""), ("gcc", "-O2 -DMRVL_NO_VECTORS", ""),
         ("gcc -m32", "-O2 -msse2 -mfpmath=sse", ""), ("gcc -m32", "-Ofast -msse2 -mfpmath=sse", ""), ("gcc -m32", "-O2", ""),
         ("gcc -m32", "-Ofast", "")]
ELSEWHERE = [(f"{triple}-gcc", flags, qemu) for triple, qemu in (("arm-linux-gnueabihf", "qemu-arm"), ("aarch64-linux-gnu", "qemu-aarch64"),
             ("riscv64-linux-gnu", "qemu-riscv64")) for flags in ("-O2 -static", "-Ofast -static")]
TYPES = {"f32": np.float32, "f64": np.float64, "f16": np.float16, "i8": np.int8, "u8": np.uint8, "i16": np.int16, "u16": np.uint16,
         "i32": np.int32, "u32": np.uint32, "i64": np.int64, "u64": np.uint64, "bool": np.bool_}


def data_for(port):
    """Numbers around 0, some of them large, as the type has them; indices stay small."""
    kind, shape = TYPES[port["type"]], port["shape"]
    random = np.random.default_rng(1)
    if kind == np.bool_:
        return random.integers(0, 2, shape).astype(kind)
    if np.issubdtype(kind, np.floating):
        values = random.standard_normal(shape) * random.choice([1e-3, 1, 1, 1, 10], shape)
        return values.astype(kind)
    bits = np.iinfo(kind)
    return random.integers(max(bits.min, -128), min(bits.max, 127) if bits.bits == 8 else 2, shape, endpoint=True).astype(kind)


def prepare(mrvlc, model, folder):
    out = folder / "out"
    subprocess.run([mrvlc, "compile", "-q", str(model), "-o", str(out), "--name", "m", "--target", "host", "--weights", "c"], check=True)
    manifest = json.loads((out / "manifest.json").read_text())
    arguments = []
    for port in manifest["inputs"]:
        np.save(folder / (port["file"] + ".npy"), data_for(port))
        arguments += ["--input", f"{port['name']}={folder / (port['file'] + '.npy')}"]
    return out, arguments


def run(out, arguments, config, folder):
    """Outputs by file name, or why there are none."""
    compiler, flags, emulator = config
    program, results = folder / "program", folder / "results"
    shutil.rmtree(results, ignore_errors=True)
    results.mkdir()
    sources = [str(p) for p in sorted(out.glob("*.c"))]
    built = subprocess.run([*compiler.split(), "-std=c99", *flags.split(), f"-I{out}", "-o", str(program), *sources, "-lm"], capture_output=True, text=True)
    if built.returncode != 0:
        own = [line for line in built.stderr.splitlines() if "#error" in line or "error: \"" in line]
        return "refused" if own else "no build: " + built.stderr.strip().splitlines()[0][:160]
    done = subprocess.run([*emulator.split(), str(program), *arguments, "--output-dir", str(results)], capture_output=True, text=True)
    if done.returncode != 0:
        return f"ended with {done.returncode}: {done.stderr[:160]}"
    return {p.name: np.load(p) for p in sorted(results.glob("*.npy"))}


def verdict(got, right):
    if isinstance(got, str):
        return got
    if all(got[n].tobytes() == right[n].tobytes() for n in right):
        return "same"
    for name, expected in right.items():
        if not np.issubdtype(expected.dtype, np.floating):
            if not np.array_equal(got[name], expected):
                return f"WRONG: {name}"
            continue
        with np.errstate(all="ignore"):
            finite = np.isfinite(expected)
            if not np.array_equal(np.isnan(expected), np.isnan(got[name])):
                return f"WRONG: NaN of {name}"
            largest = np.abs(expected[finite].astype(np.float64)).max(initial=0)
            error = np.abs(got[name][finite].astype(np.float64) - expected[finite]).max(initial=0)
        if not error <= 1e-5 * largest:
            return f"WRONG: {name} off by {error / max(largest, 1e-300):.2g} of the largest"
    return "close"


def have(config):
    tools = [config[0].split()[0]] + config[2].split()
    return all(shutil.which(t) for t in tools)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mrvlc", required=True, metavar="BIN")
    parser.add_argument("--write", metavar="FILE")
    parser.add_argument("--models", action="store_true")
    parser.add_argument("model", nargs="+", type=Path)
    a = parser.parse_args()
    configs = [c for c in HERE + ELSEWHERE if have(c)]
    counts, notes, wrong = collections.defaultdict(collections.Counter), {}, 0
    for model in a.model:
        with tempfile.TemporaryDirectory() as folder:
            folder = Path(folder)
            out, arguments = prepare(a.mrvlc, model, folder)
            right = run(out, arguments, ("gcc", "-O2", ""), folder)
            if isinstance(right, str):
                sys.exit(f"compilers: {model.name}: {right}")
            for config in configs:
                found = verdict(run(out, arguments, config, folder), right)
                kind = found.split(":")[0]
                counts[config][kind] += 1
                if kind not in ("same", "close", "refused", "no build"):
                    wrong += 1
                if ":" in found:
                    notes.setdefault(f"{config[0]} {config[1]}: {found}", model.name)
                if a.models:
                    print(f"{model.name}\t{config[0]} {config[1]}\t{found}", flush=True)
    rows = [[c[0], c[1] or "(none)", *(str(counts[c][k]) for k in ("same", "close", "refused", "no build")),
             str(sum(counts[c].values()) - sum(counts[c][k] for k in ("same", "close", "refused", "no build")))] for c in configs]
    heads = ["compiler", "flags", "same", "close", "refused", "no build", "wrong"]
    table = markdown(heads, rows)
    print(table)
    for note, model in notes.items():
        print(f"{note} ({model}, the first)")
    if a.write:
        page = Path(a.write)
        page.write_text(replace_table(page.read_text(), "compilers", table))
    return 1 if wrong else 0


if __name__ == "__main__":
    os.environ.setdefault("PYTHONDONTWRITEBYTECODE", "1")
    sys.exit(main())
