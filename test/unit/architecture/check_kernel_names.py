#!/usr/bin/env python3
"""No two files of C kernels define the same name: any of them may end up in one program, in any order.

check_kernel_names.py ROOT
"""
import pathlib
import re
import sys

DEFINED = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(K_\w+)|^(?:static|typedef)\b[^;{=]*?\b(K_\w+)(?=\s*(?:\(|\[|=|;|__attribute__))", re.M)


def main():
    files = {}
    kernels = sorted(pathlib.Path(sys.argv[1], "lib/chost/kernels").glob("*.c"))
    for kernel in kernels:
        for match in DEFINED.finditer(kernel.read_text()):
            files.setdefault(match[1] or match[2], set()).add(kernel.name)
    for name, where in sorted(files.items()):
        if len(where) > 1:
            print(f"{name} is defined in {' and '.join(sorted(where))}")
    twice = sum(len(where) > 1 for where in files.values())
    print(f"{len(kernels)} files of kernels, {len(files)} names, {twice} in more than one")
    return 1 if twice or len(files) < 100 else 0


if __name__ == "__main__":
    sys.exit(main())
