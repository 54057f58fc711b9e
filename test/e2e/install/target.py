#!/usr/bin/python3
"""Usage: target.py BUILD SOURCE

The target that scripts/demo.sh builds makes every file of the build folder that an installation copies: `cmake --install build`
works after the demo alone.
"""
import pathlib
import re
import sys

BUILD, SOURCE = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
CONFIGURED = {"mrvlc.pc", "mrvlcConfigVersion.cmake"}  # written when the build is configured

target = re.search(r"--target (\w+)", (SOURCE / "scripts/demo.sh").read_text())[1]
package = (SOURCE / "apps/package/CMakeLists.txt").read_text()
parts = re.search(rf"add_dependencies\({target} ([^)]*)\)", package)[1].split()
made = {f"bin/{p}" for p in parts} | {f"lib/lib{p}.so" for p in parts}
if "mrvlc" in parts:  # its link step writes the man page and the completions
    made |= {f"shell/{f.name}" for f in (BUILD / "shell").iterdir()}
copied = set()
for script in BUILD.rglob("cmake_install.cmake"):
    for file in re.findall(r'"' + re.escape(str(BUILD)) + r'/([^"$:]+)"', script.read_text()):
        if not file.endswith("cmake_install.cmake") and pathlib.Path(file).name not in CONFIGURED:
            copied.add(file)
assert len(copied) >= 8, copied
if copied - made:
    sys.exit(f"the target {target} does not make what an installation copies: {sorted(copied - made)}")
