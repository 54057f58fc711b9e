#!/usr/bin/env python3
"""usage: check_attributes.py ROOT

Attributes of ONNX's operators are read by name where operators are defined (lib/ops, lib/onnx, lib/ir) and in mrvlc/ops/attributes.h; all else
asks mrvlc/ops/attributes.h or params.h. What reads by name all the same stands below, with its reason."""

import pathlib
import re
import sys

HOME = ("lib/ops/", "lib/onnx/", "lib/ir/")
READS = re.compile(r'\b(?:int|ints|float|floats|string|strings|has|tensor|graph)_attr\(\s*"|\battr_index\(\s*"')
BY_NAME = {
    "lib/prove/constants.cpp": "the prover reads the model by a reader of its own, and shares nothing with the compiler",
    "lib/passes/explicit_padding.cpp": "sets attributes, of whichever operators have them",
}


def main(root):
    wrong, used = [], set()
    for folder in ("lib", "apps"):
        for path in sorted((root / folder).rglob("*")):
            name = path.relative_to(root).as_posix()
            if path.suffix not in (".cpp", ".h") or name.startswith(HOME):
                continue
            for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
                if READS.search(line.split("//")[0]):
                    used.add(name)
                    if name not in BY_NAME:
                        wrong.append(f"{name}:{number}: an attribute is read by name: {line.strip()}")
    wrong += [f"{name} reads no attribute by name: take it off the list of check_attributes.py" for name in BY_NAME if name not in used]
    print("\n".join(wrong) or f"{len(used)} files read attributes by name, each with a reason")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
