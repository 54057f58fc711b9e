#!/usr/bin/env python3
"""What the build does with the sources of kernels: holes are filled, and each mistake in them ends it, with a message that says which.
Structs become C++ whose members can be set by name only as far as they are there, once, and all of them.

kernels_build_test.py ROOT CMAKE CXX HEADERS
"""
import pathlib
import subprocess
import sys
import tempfile

ROOT, CMAKE, CXX, HEADERS = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4]
failures = []

GOOD = """//@ piece product$form: base
//@ hole form suffix: what names end in
//@ hole weight type: an element of w
//@ hole value function: as a float
//@ hole rows number: sums
//@ form form= weight=float value= rows=2
//@ form form=_half weight=uint16_t value=K_half rows=1
static void K_product$form(const $weight* w, float* y) {
  //@ each r rows
  y[$r] = $value(w[$r * $rows]);
  //@ end each
}
"""
MADE = """//@ piece product: base
static void K_product(const float* w, float* y) {
  y[0] = (w[0 * 2]);
  y[1] = (w[1 * 2]);
}
//@ piece product_half: base
static void K_product_half(const uint16_t* w, float* y) {
  y[0] = K_half(w[0 * 1]);
}
"""
# What is wrong, how it comes about, and what the message says.
MISTAKES = [
    ("a hole that is not declared", "float* y", "$number* y", "'$number' is an unknown hole"),
    ("a hole whose name goes on", "$weight* w", "$weights* w", "hole 'weight' is unused"),
    ("a form sets what is no hole", "form= weight=float", "form= width=4 weight=float", "sets 'width', which is no hole"),
    ("a form sets a hole twice", "form= weight=float", "form= form= weight=float", "sets hole 'form' twice"),
    ("a form does not set a hole", "weight=float ", "", "does not set hole 'weight'"),
    ("a hole is declared twice", "//@ hole rows", "//@ hole form suffix: again\n//@ hole rows", "'form' is declared twice"),
    ("a hole is unused", "//@ hole rows", "//@ hole unroll number: none\n//@ hole rows", "'unroll' is unused"),
    ("a value of another kind", "rows=1", "rows=0", "'0' of hole 'rows' is no number"),
    ("a type that is none", "weight=float", "weight=floats", "'floats' of hole 'weight' is no type"),
    ("a kind that is none", "weight type", "weight sort", "unknown kind, 'sort'"),
    ("no forms", "//@ form", "// form", "has holes and no form"),
    ("a block of what is no number", "each r rows", "each r weight", "a hole that is a number"),
    ("a block whose variable is unused", "y[$r] = $value(w[$r * $rows]);", "y[0] = $value(w[$rows]);", "'r' of"),
    ("a block without an end", "//@ end each\n", "", "//@ end each"),
    ("a hole in the kernel's name alone", "product$form: base", "product: base", None),
]


def run(*command):
    return subprocess.run(command, capture_output=True, text=True)


def check(condition, what):
    if not condition:
        failures.append(what)
        print(f"FAILED: {what}")


def forms(folder, source):
    (folder / "k.c").write_text(source)
    (folder / "out" / "k.c").unlink(missing_ok=True)
    done = run(CMAKE, f"-DFILES={folder}/k.c", f"-DOUT={folder}/out", "-P", str(ROOT / "lib/chost/forms.cmake"))
    made = folder / "out" / "k.c"
    return done.returncode, " ".join(done.stderr.split()), made.read_text() if made.exists() else None


def test_forms(folder):
    code, error, made = forms(folder, GOOD)
    check(code == 0 and made == MADE, f"forms are made: {error} {made}")
    for what, text, instead, message in MISTAKES:
        check(text in GOOD, f"{what}: '{text}' is in the source")
        code, error, made = forms(folder, GOOD.replace(text, instead, 1 if text != "//@ form" else -1))
        if message is None:  # found by the names of pieces
            check(code == 0 and made.count("//@ piece product: base") == 2, f"{what}: {error}")
            embedded = run(CMAKE, f"-DFILES={folder}/out/k.c", "-DUSERS=", "-DHEADERS=", f"-DTEXT={folder}/t.cpp", f"-DNAMES={folder}/n.def",
                           "-P", str(ROOT / "lib/chost/embed.cmake"))
            code, error, message, made = embedded.returncode, " ".join(embedded.stderr.split()), "another piece 'product'", None
        check(code != 0 and made is None and message in error, f"{what}: '{message}' in '{error}'")


def compiles(folder, expression):
    (folder / "s.cpp").write_text(f'#include "mrvlc/ops/kernel_structs.h"\nauto text = mrvlc::ops::structs::initialiser(mrvlc::ops::structs::{expression});\n')
    done = run(CXX, "-std=c++20", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", f"-I{ROOT}/include", f"-I{HEADERS}", str(folder / "s.cpp"))
    return done.returncode == 0


def test_structs(folder):
    good = "RowsShape{.m = 16, .depth = 2, .x_k = 1, .x_p = 2, .y_row = \"n\", .y_p = 3u}"
    check(compiles(folder, good), "members are set by name")
    for what, text, instead in [("unset", ", .y_p = 3u", ""), ("twice", ".x_k = 1", ".x_k = 1, .x_k = 1"), ("unknown", ".x_k = 1", ".x_q = 1, .x_k = 1")]:
        check(not compiles(folder, good.replace(text, instead)), f"a member that is {what} is no C++")


def test_struct_sources(folder):
    def made(members):
        (folder / "k.c").write_text(f"typedef struct K_a_b {{\n{members}\n}} K_a_b;\n")
        done = run(CMAKE, f"-DFILES={folder}/k.c", f"-DHEADER={folder}/h.h", "-P", str(ROOT / "lib/chost/structs.cmake"))
        return done.returncode, (folder / "h.h").read_text() if done.returncode == 0 else done.stderr

    code, text = made("  // n: not p\n  ptrdiff_t n, m; /* of all; */\n  const float *x, *y;\n  int list[4];\n  void (*fn)(int a, int b, int c);\n"
                      "  //@ when half_panels\n  float* room;\n  //@ end\n  float lo;")
    check(code == 0, text)
    for member in ("struct AB {", "IntegerMember n;", "IntegerMember m;", "TextMember x;", "TextMember y;", "ListMember list;", "TextMember fn;",
                   "Optional<TextMember> room;", "TextMember lo;", "  visit(\"fn\", fn);"):
        check(member in text, f"'{member}' in {text}")
    check(text.count("visit(") == 8, f"eight members: {text}")
    for what, refused in [("a struct in a struct", "struct { int a; } b;"), ("bits", "unsigned a : 3;")]:
        check(made(refused)[0] != 0, f"{what} is no member")


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        test_forms(folder)
        test_structs(folder)
        test_struct_sources(folder)
    print(f"{len(MISTAKES)} mistakes in sources of kernels, {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
