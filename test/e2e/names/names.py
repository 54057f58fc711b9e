#!/usr/bin/python3
"""Usage: names.py MRVLC WORK

Inputs and outputs of models called by every identifier that the C preprocessor defines behind all standard headers and
POSIX ones, and by every keyword of C23 and C++23. The header of OUT must compile in C and in C++ behind all these headers, with
each C++ keyword as one. Then names that are files of their own: '.', '..'.
"""
import pathlib
import re
import shutil
import subprocess
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper

MRVLC, WORK = pathlib.Path(sys.argv[1]).absolute(), pathlib.Path(sys.argv[2]).absolute()

C_HEADERS = """assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal stdalign stdarg stdatomic
stdbool stddef stdint stdio stdlib stdnoreturn string tgmath threads time uchar wchar wctype""".split()
POSIX_HEADERS = "dlfcn fcntl poll pthread sched termios unistd sys/mman sys/socket sys/stat sys/wait netinet/in".split()
CXX_HEADERS = "algorithm atomic cerrno cfloat climits cmath complex csignal cstdio random thread vector".split()
KEYWORDS = """alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t char32_t class compl concept
const consteval constexpr constinit const_cast continue co_await co_return co_yield decltype default delete do double dynamic_cast else
enum explicit export extern false float for friend goto if inline int long mutable namespace new noexcept not not_eq nullptr operator or
or_eq private protected public register reinterpret_cast requires restrict return short signed sizeof static static_assert static_cast
struct switch template this thread_local throw true try typedef typeid typename typeof typeof_unqual union unsigned using virtual void
volatile wchar_t while xor xor_eq""".split()


def run(command, **options):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, **options)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: ended {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-4000:]}")
    return done.stdout


def includes(headers, ending=".h"):
    return "".join(f"#include <{h}{ending}>\n" for h in headers)


def macros():
    """Names of object-like macros: a member of a structure is never followed by a parenthesis."""
    found = set()
    for compiler, text in (["gcc", "-std=gnu11", "-xc"], includes(C_HEADERS + POSIX_HEADERS)), (
            ["g++", "-std=c++20", "-xc++"], includes(CXX_HEADERS, "")):
        for line in run([*compiler, "-dM", "-E", "-"], input=text).splitlines():
            name = line.split(" ")[1]
            if re.fullmatch(r"[A-Za-z_][A-Za-z_0-9]*", name):
                found.add(name)
    return sorted(found)


def model(names, file, as_outputs):
    """One element by each name, joined to one input or output."""
    single = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [1]) for n in names]
    whole = [helper.make_tensor_value_info("whole tensor", TensorProto.FLOAT, [len(names)])]
    if as_outputs:
        node = helper.make_node("Split", ["whole tensor"], names, axis=0, num_outputs=len(names))
        graph = helper.make_graph([node], "g", whole, single)
    else:
        graph = helper.make_graph([helper.make_node("Concat", names, ["whole tensor"], axis=0)], "g", single, whole)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8), file)


def header_compiles(out):
    device = MRVLC.parent.parent.parent / "include"
    program = includes(C_HEADERS + POSIX_HEADERS) + '#include "net.h"\nint main(void) { return sizeof(net_inputs) == 0; }\n'
    run(["gcc", "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-I", out, "-I", device, "-xc", "-"], input=program)
    program = includes(CXX_HEADERS, "") + '#include "net.h"\nint main() { return sizeof(net_inputs) == 0; }\n'
    run(["g++", "-std=c++20", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-I", out, "-I", device, "-xc++", "-"], input=program)
    run(["gcc", "-std=c99", "-Wall", "-Wextra", "-Wconversion", "-pedantic", "-Werror", "-fsyntax-only", "-I", out, "-I", device,
         out / "net.c"])


def names_of_files():
    """'.' and '..' are values like others."""
    model([".", ".."], WORK / "dots.onnx", True)
    run([MRVLC, "compile", WORK / "dots.onnx", "-o", WORK / "dots", "--name", "net", "--target", "host", "-q"])
    np.save(WORK / "x.npy", np.float32([1, 2]))
    run([MRVLC, "run", WORK / "dots", "--input", f"whole tensor={WORK / 'x.npy'}", "--output-dir", WORK / "results"])
    values = sorted(float(np.load(f)[0]) for f in (WORK / "results").iterdir())
    assert values == [1, 2], values


def main():
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)
    names_of_files()
    names = sorted({*macros(), *KEYWORDS})
    for as_outputs in False, True:
        file, out = WORK / f"names{as_outputs:d}.onnx", WORK / f"out{as_outputs:d}"
        model(names, file, as_outputs)
        run([MRVLC, "compile", file, "-o", out, "--name", "net", "--target", "host", "-q"])
        header_compiles(out)
    for word in KEYWORDS:
        assert subprocess.run([MRVLC, "compile", WORK / "dots.onnx", "-o", WORK / "w", "--name", word, "-q"],
                              capture_output=True).returncode == 2, word
    print(f"{len(names)} names")


main()
