"""usage: flights.py MRVLC INCLUDE WORK NAME=MODEL[,OPTION...] ...

Runs in flight (flights.c) of stubs: of one region and several, with every policy about devices that fail; plain, with guards in the arena,
and under the sanitizers of addresses and of threads where the compiler has them. WORK is emptied first.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).absolute().parent
STRICT = ["-std=c99", "-D_POSIX_C_SOURCE=200112L", "-Wall", "-Wextra", "-pedantic", "-Werror", "-Wno-unused-function"]
BUILDS = {"plain": ["-O2"], "guard": ["-O1", "-DMRVL_GUARD"], "address": ["-O1", "-g", "-fsanitize=address,undefined", "-DMRVL_GUARD"],
          "thread": ["-O1", "-g", "-fsanitize=thread"]}


def build(mrvlc, include, name, flags):
    library = pathlib.Path(mrvlc).parent.parent / "lib"
    manifest = json.loads(pathlib.Path(name, "manifest.json").read_text())
    source = (HERE / "flights.c").read_text()
    for kind, ports in ("IN", manifest["inputs"]), ("OUT", manifest["outputs"]):
        word = {"IN": "INPUT", "OUT": "OUTPUT"}[kind]
        source = source.replace(f"{kind}_BYTES}}", ", ".join(f"{name}_{word}{i}_BYTES" for i in range(len(ports))) + "}")
    pathlib.Path(f"flights_{name}.c").write_text(source.replace("NAME", name))
    done = subprocess.run(["gcc", *flags, *STRICT, f"-I{include}", f"-I{HERE.parent}", f"-I{name}", "-o", f"flights_{name}", f"flights_{name}.c",
                           f"{name}/{name}.c", f"{name}/{name}_weights.S", "-Xassembler", f"-I{name}", f"-L{library}", f"-Wl,-rpath,{library}",
                           "-lmrvl_simdev", "-lm", "-pthread"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def has(flags):
    """Does the compiler, on this machine, have what the build needs?"""
    program = subprocess.run(["gcc", *flags, "-x", "c", "-", "-o", "probe"], input="int main(void) { return 0; }", capture_output=True, text=True)
    return program.returncode == 0 and subprocess.run(["./probe"], capture_output=True).returncode == 0


def main():
    mrvlc, include, work, *subjects = sys.argv[1:]
    shutil.rmtree(work, ignore_errors=True)
    pathlib.Path(work).mkdir(parents=True)
    os.chdir(work)
    builds = {name: flags for name, flags in BUILDS.items() if has(flags)}
    for subject in subjects:
        name, rest = subject.split("=", 1)
        subprocess.run([mrvlc, "-q", "compile", *rest.split(","), "--name", name, "-o", name], check=True)
        for kind, flags in builds.items():
            if "-g" in flags and subject not in (subjects[0], subjects[-1]):
                continue  # sanitizers: of the first and the last
            build(mrvlc, include, name, flags)
            environment = {**os.environ, "MRVLC_JOBS": "1", "ASAN_OPTIONS": "detect_leaks=0", "TSAN_OPTIONS": "halt_on_error=1"}
            done = subprocess.run([f"./flights_{name}", name], capture_output=True, text=True, env=environment)
            assert done.returncode == 0, f"{name}, {kind}: {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-4000:]}"
    print(f"{len(subjects)} stubs, {', '.join(builds)}: the bits of runs in turn")


main()
