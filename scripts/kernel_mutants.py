#!/usr/bin/env python3
"""Do the kernels' own tests see mistakes in kernels? Draws small mistakes in lib/chost/kernels/*.c (an operator, a comparison, a number, an
index, a hole), one at a time, and says which neither the build nor test/unit/chost/alone finds. Not part of CI.

kernel_mutants.py [--count N] [--seed S] [--file conv.c]
"""
import argparse
import collections
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "test/unit/chost"))
from kernel_source import Kernels, sets_that_run  # noqa: E402

CC = os.environ.get("CC", "cc").split()
HEADERS = "".join(f"#include <{name}.h>\n" for name in ("math", "stddef", "stdint", "string"))
KINDS = [("operator", re.compile(r" ([+*-]) "), {"+": "-", "-": "+", "*": "+"}), ("comparison", re.compile(r" (<|<=|>|>=|==|!=) "), {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}),
         ("number", re.compile(r"(?<![\w.])(\d+)(?![\w.])"), None), ("index", re.compile(r"\[(\w+)\]"), None), ("hole", re.compile(r"([$]load|[$]weight)\b"), {"$load": "K_LOAD", "$weight": "float"})]
# The machine on which a mistake may hide, and the switches.
MACHINES = [[], ["-DMRVL_NO_VECTORS"], ["-mavx2", "-mfma", "-mf16c"]]


def sites(path):
    at, inside = 0, False
    for line in path.read_text().splitlines(keepends=True):
        if line.startswith("static") and "(" in line:
            inside = True
        if line.startswith("}"):
            inside = False
        if inside and not line.startswith(("static", "#", "    const", "enum")) and not line.lstrip().startswith(("//", "/*", "#")):
            for kind, pattern, instead in KINDS:
                for m in pattern.finditer(line.split("//")[0]):
                    new = instead.get(m[1]) if instead else str(int(m[1]) + 1) if kind == "number" else m[1] + " + 1"
                    if new:
                        yield kind, path, at + m.start(1), at + m.end(1), new, line.strip()
        at += len(line)


def programs():
    for path in sorted((ROOT / "test/unit/chost/alone").glob("*.c")):
        text = path.read_text()
        found = re.search(r"switches: ([^\n]*)", text)
        yield path, text, re.search(r"kernels: ([^\n]*)", text)[1].split(), found[1].split() if found else []


def fails(kernels, program, on, flags, folder):
    path, text, names, switches = program
    defines = "".join(f"#define ON_{s} {int(s in on)}\n" for s in switches)
    command = [*CC, "-std=c99", "-w", "-O1", *flags, "-fsanitize=address", f"-I{path.parent}", "-x", "c", "-", "-o", str(folder / "x"), "-lm"]
    if subprocess.run(command, input=HEADERS + defines + kernels.source([*names, *on]) + text, capture_output=True, text=True).returncode:
        return True
    try:
        return subprocess.run([str(folder / "x")], capture_output=True, timeout=60).returncode != 0
    except subprocess.TimeoutExpired:
        return True


def found(mutant, folder):
    kind, path, begin, end, new, _ = mutant
    shutil.copytree(ROOT / "lib/chost/kernels", folder / "in", dirs_exist_ok=True)
    text = path.read_text()
    (folder / "in" / path.name).write_text(text[:begin] + new + text[end:])
    files = ";".join(str(p) for p in sorted((folder / "in").glob("*.c")))
    if subprocess.run(["cmake", f"-DFILES={files}", f"-DOUT={folder}/out", "-P", str(ROOT / "lib/chost/forms.cmake")], capture_output=True).returncode:
        return "build"
    kernels = Kernels(folder / "out")
    for program in programs():
        for on in sets_that_run(kernels, program[2], program[3]):
            if path.name not in {kernels.file[p] for p in kernels.closure([*program[2], *on])}:
                continue
            for flags in MACHINES:
                if fails(kernels, program, on, flags, folder):
                    return "tests"
    return None


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--count", type=int, default=20)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--file", default="")
    options = arguments.parse_args()
    tested = {name for _, _, names, switches in programs() for name in (*names, *switches)}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        files = ";".join(str(p) for p in sorted((ROOT / "lib/chost/kernels").glob("*.c")))
        subprocess.run(["cmake", f"-DFILES={files}", f"-DOUT={folder}/out", "-P", str(ROOT / "lib/chost/forms.cmake")], check=True)
        kernels = Kernels(folder / "out")
        used = {kernels.file[p] for p in kernels.closure(sorted(tested))}
        every = [s for p in sorted((ROOT / "lib/chost/kernels").glob("*.c")) if p.name in used and options.file in p.name for s in sites(p)]
        chosen = random.Random(options.seed).sample(every, min(options.count, len(every)))
        counts = collections.Counter()
        for mutant in chosen:
            how = found(mutant, folder)
            counts[how or "survives"] += 1
            if not how:
                print(f"SURVIVES {mutant[1].name}: {mutant[0]} '{mutant[5]}' with '{mutant[4]}'", flush=True)
    print(f"{len(chosen)} of {len(every)} mistakes: {dict(counts)}")


if __name__ == "__main__":
    main()
