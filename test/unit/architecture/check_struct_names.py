#!/usr/bin/env python3
"""Members of the kernels' structs are set by name: in the kernels and in what emitters write, and half_pieces.cpp is gone.

check_struct_names.py ROOT
"""
import pathlib
import re
import sys

STRUCT = re.compile(r"^typedef struct (K_\w+) \{", re.M)
# Of a struct whose only member is an array, or of zeros alone.
ZEROS = r"\{?0\}?\}"
# "const {} p = {{1, 2" or "{}_view v = {{1" in a format string: what is declared so is no array.
WRITTEN = re.compile(r"\{\w*\}(?:_\w+)? [\w{}]+ = \{\{(?!\.|\{*0\}*;|\{\}\}\};)")
# A C++ struct of mrvlc/ops/kernel_structs.h with members in order.
UNNAMED = re.compile(r"\bstructs::[A-Z]\w*(?:\s+\w+)?\{(?!\s*\.)")


def lines_with(pattern, text):
    return [(text.count("\n", 0, m.start()) + 1, m[0]) for m in pattern.finditer(text)]


def main(root):
    wrong = []
    kernels = sorted(root.glob("lib/chost/kernels/*.c"))
    structs = sorted({name for k in kernels for name in STRUCT.findall(k.read_text())})
    positional = re.compile(rf"\b(?:{'|'.join(structs)}) \w+(?:\[\w*\])? = \{{(?!\s*\.|{ZEROS})")
    for path in kernels:
        wrong += [(path, *hit) for hit in lines_with(positional, path.read_text())]
    sources = [p for part in ("lib/chost", "lib/ops", "include/mrvlc") for end in ("cpp", "h") for p in root.glob(f"{part}/**/*.{end}")]
    for path in sorted(sources):
        text = path.read_text()
        wrong += [(path, *hit) for pattern in (WRITTEN, UNNAMED) for hit in lines_with(pattern, text)]
    wrong += [(p, 1, "kernels by replacement of words") for p in sources if p.name == "half_pieces.cpp"]
    for path, line, what in wrong:
        print(f"{path.relative_to(root)}:{line}: members of a kernel's struct without names: {what}")
    print(f"{len(kernels)} files of kernels, {len(structs)} structs, {len(sources)} sources, {len(wrong)} initialisers by position")
    return 1 if wrong or len(structs) < 20 else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
