#!/usr/bin/env python3
"""Prints docs/kernels.md: the kernels of generated C, from the heads of their sources (lib/chost/kernels/*.c).

kernel_table.py ROOT
"""
import pathlib
import re
import sys

PAGE = """# The kernels of generated C

Made by `scripts/update_docs.sh` from the heads of `lib/chost/kernels/*.c`. A program has the kernels
that its layers need. An engineer who changes one begins here: the operators that it computes, its
forms (what its holes are set to), the switches that other parts of a program turn on, and when a
layer takes it. See [holes and names](decisions/0089-kernels-have-holes.md) and
[parts of kernels](decisions/0057-kernels-as-far-as-used.md). Each kernel compiles and runs by itself
(`test/unit/chost/kernels_alone_test.py`).

| file | kernel | operators | forms | switches | used when |
|---|---|---|---|---|---|"""
HEAD = re.compile(r"^//@ piece ([a-z0-9_$]+)(?::[^\n]*)?\n((?://@ (?:for|hole|form)[^\n]*\n)*)", re.M)


def rows(path):
    text = path.read_text()
    heads = list(HEAD.finditer(text))
    for head, following in zip(heads, [*heads[1:], None]):
        use = re.search(r"//@ for ([^:]*): ([^\n]*)", head[2])
        if not use:
            continue
        body = text[head.end():following.start() if following else len(text)]
        forms = re.findall(r"//@ form ([^\n]*)", head[2])
        switches = sorted(set(re.findall(r"//@ (?:when|unless) ([a-z0-9_$]+)", body)))
        cells = [f"`{path.name}`", f"`K_{head[1]}`", use[1], "; ".join(f"`{form}`" for form in forms), ", ".join(f"`{s}`" for s in switches), use[2]]
        yield "| " + " | ".join(cell or "-" for cell in cells) + " |"


def main(root):
    print(PAGE)
    for path in sorted(root.glob("lib/chost/kernels/*.c")):
        for row in rows(path):
            print(row)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
