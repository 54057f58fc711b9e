#!/usr/bin/env python3
"""Kernels by themselves. Every piece of them compiles alone, with what it needs, with each of its switches on and off, for machines with
vectors and without. Those of alone/*.c run against plain loops on drawn shapes.

kernels_alone_test.py ROOT KERNELS     KERNELS: the sources in their forms, which the build has made
"""
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from kernel_source import Kernels, sets_that_run

ROOT, FORMS = pathlib.Path(sys.argv[1]), sys.argv[2]
CC = os.environ.get("CC", "cc").split()
WARNINGS = ["-std=c99", "-Wall", "-Wextra", "-Wconversion", "-pedantic", "-Werror", "-Wno-unused-function"]
HEADERS = "".join(f"#include <{name}.h>\n" for name in ("math", "stddef", "stdint", "string"))
SHARED = '#include "mrvl/parallel.h"\n#include "mrvl/string.h"\n#define K_MAX_WORKERS 4\n'
# They include NAME.h of a program, or are part of its example.
OF_PROGRAMS = re.compile(r"^(?:device|weights|example\w*)\.c$")
SANITIZERS = ["-fsanitize=address"]
DEFAULT = "the compiler's default"


def machines():
    """Options of the compiler by name, and whether this machine runs what they make."""
    have = subprocess.run([*CC, "-march=native", "-dM", "-E", "-"], input="", capture_output=True, text=True).stdout
    here = subprocess.run([*CC, "-dM", "-E", "-"], input="", capture_output=True, text=True).stdout
    found = [("plain C", ["-DMRVL_NO_VECTORS"], True), (DEFAULT, [], True)]
    if "__x86_64__" in here:
        found.append(("AVX2", ["-mavx2", "-mfma", "-mf16c"], "__AVX2__" in have and "__F16C__" in have))
        found.append(("AVX-512", ["-march=skylake-avx512"], all(f"__AVX512{w}__" in have for w in ("F", "CD", "BW", "DQ", "VL"))))
    return found


def sets_of(switches):
    """None, each alone, all."""
    return list(dict.fromkeys([(), *((s,) for s in switches), tuple(switches)]))


def compile_alone(kernels, name, on, flags):
    source = HEADERS + SHARED + kernels.source([name, *on])
    done = subprocess.run([*CC, *WARNINGS, *flags, "-fsyntax-only", f"-I{ROOT}/include", "-x", "c", "-"], input=source, capture_output=True, text=True)
    return f"piece {name} with {on or 'no switch'}, {flags}: {done.stderr[:600]}" if done.returncode else None


def run_program(kernels, path, on, flags, folder):
    text = path.read_text()
    names = re.search(r"kernels: ([^\n]*)", text)[1].split()
    defines = "".join(f"#define ON_{s} {int(s in on)}\n" for s in switches_of(path))
    program = folder / f"{path.stem}_{abs(hash((on, tuple(flags))))}"
    command = [*CC, *WARNINGS[:3], "-Wno-unused-function", "-O1", *flags, f"-I{path.parent}", "-x", "c", "-", "-o", str(program), "-lm"]
    built = subprocess.run(command, input=HEADERS + defines + kernels.source([*names, *on]) + text, capture_output=True, text=True)
    if built.returncode:
        return f"{path.name} with {on}, {flags}: {built.stderr[:600]}"
    ran = subprocess.run([str(program)], capture_output=True, text=True)
    return f"{path.name} with {on or 'no switch'}, {flags}: {ran.stdout[:600]}{ran.stderr[:600]}" if ran.returncode else None


def switches_of(path):
    found = re.search(r"switches: ([^\n]*)", path.read_text())
    return found[1].split() if found else []


def jobs(kernels, folder):
    programs = {path: re.search(r"kernels: ([^\n]*)", path.read_text())[1].split() for path in sorted((ROOT / "test/unit/chost/alone").glob("*.c"))}
    called = {name for names in programs.values() for name in names}
    for name in kernels.text:
        if OF_PROGRAMS.match(kernels.file[name]):
            continue
        for machine, flags, _ in machines():
            if name in called or machine == DEFAULT:
                every = sets_of(kernels.switches(name))
                for on in every if machine == DEFAULT else dict.fromkeys([every[0], every[-1]]):
                    yield compile_alone, (kernels, name, on, flags)
    for path, names in programs.items():
        for machine, flags, runs in machines():
            for on in sets_that_run(kernels, names, switches_of(path)) if runs else []:
                yield run_program, (kernels, path, on, flags + (SANITIZERS if machine == DEFAULT else []), folder)


def main():
    kernels = Kernels(FORMS)
    with tempfile.TemporaryDirectory() as name, concurrent.futures.ThreadPoolExecutor(2) as pool:
        results = [(job[0], pool.submit(job[0], *job[1])) for job in jobs(kernels, pathlib.Path(name))]
        failed = [text for text in (result.result() for _, result in results) if text]
    print("\n".join(failed))
    compiled = sum(what is compile_alone for what, _ in results)
    print(f"{compiled} sources of {len(kernels.text)} pieces compiled, {len(results) - compiled} programs run, {len(failed)} failed")
    return 1 if failed or compiled < 150 else 0


if __name__ == "__main__":
    sys.exit(main())
