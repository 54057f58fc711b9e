#!/usr/bin/python3
"""Usage: target.py BUILD NINJA DEMO

Every file of the build folder that an installation copies is made by the target that scripts/demo.sh builds, or when the build
is configured: `cmake --install build` works after the demo alone.
"""
import pathlib
import re
import subprocess
import sys

BUILD, NINJA, DEMO = pathlib.Path(sys.argv[1]), sys.argv[2], pathlib.Path(sys.argv[3])
CONFIGURED = {"mrvlc.pc", "mrvlcConfigVersion.cmake"}

target = re.search(r"--target (\w+)", DEMO.read_text())[1]
inputs = subprocess.run([NINJA, "-C", BUILD, "-t", "inputs", target], check=True, capture_output=True, text=True).stdout
built = {BUILD / line for line in inputs.split("\n")}
# The man page and the completions are written when the compiler is linked.
if BUILD / "bin/mrvlc" in built:
    built |= set((BUILD / "shell").iterdir())
copied = set()
for script in BUILD.rglob("cmake_install.cmake"):
    copied |= {pathlib.Path(f) for f in re.findall(r'"(' + re.escape(str(BUILD)) + r'/[^"$:]+)"', script.read_text())
               if not f.endswith("cmake_install.cmake")}
copied = {f for f in copied if f.name not in CONFIGURED}
assert len(copied) >= 8, copied
missing = sorted(str(f) for f in copied - built)
if missing:
    sys.exit(f"the target {target} does not build what an installation copies: {missing}")
