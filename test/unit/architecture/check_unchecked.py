#!/usr/bin/env python3
"""usage: check_unchecked.py SOURCE_FOLDER

Code that reads models (lib/onnx) takes the first or last element of a list only where it is seen to have one: the line of
a front() or back(), or one of the four before it, asks empty() or size() of the same list, or adds to it."""
import pathlib
import re
import sys

BEFORE = 4
TAKEN = re.compile(r"((?:\w+(?:\[\w+\])?(?:\.|->))*\w+(?:\[\w+\]|\(\))?)(?:\.|->)(?:front|back)\(\)")

source = pathlib.Path(sys.argv[1])
faults = []
for path in sorted((source / "lib/onnx").rglob("*.cpp")) + sorted((source / "lib/onnx").rglob("*.h")):
    lines = path.read_text().splitlines()
    for i, line in enumerate(lines):
        for name in TAKEN.findall(line.split("//")[0]):
            near = "\n".join(lines[max(0, i - BEFORE) : i + 1])
            checks = [f"{name}{dot}{call}" for dot in (".", "->") for call in ("empty()", "size()", "push_back(", "emplace_back(")]
            if not any(check in near for check in checks):
                faults.append(f"{path.relative_to(source)}:{i + 1}: {name} may be empty: {line.strip()}")
print("\n".join(faults) if faults else "no unchecked front() or back()")
sys.exit(1 if faults else 0)
