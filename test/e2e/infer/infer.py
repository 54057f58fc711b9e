#!/usr/bin/python3
"""usage: infer.py MRVLC PREFIX DIGITS WORK

NAME_infer: ordinary arrays compile without a warning in C99, C23 and C++, wrong order does not, outputs are those of NAME_run; of all element types,
scalars, no elements, names that C, C++ or the stub itself has; with a device and with weights as a blob; where there is none, the header says why.
WORK is emptied first."""

import pathlib
import shutil
import subprocess
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper

MRVLC, PREFIX, DIGITS, WORK = (pathlib.Path(a).absolute() for a in sys.argv[1:])
STRICT = "-Wall -Wextra -Wconversion -Wshadow -pedantic -Werror"
LANGUAGES = [cc for cc in ("gcc -std=c99 -x c", "gcc -std=c2x -x c", "clang -std=c99 -x c", "g++ -std=c++11 -x c++", "clang++ -std=c++20 -x c++") if shutil.which(cc.split()[0])]


def run(*command, status=0):
    done = subprocess.run([str(MRVLC), *map(str, command)], capture_output=True, text=True, cwd=WORK)
    assert done.returncode == status, f"{command}: {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout + done.stderr


def shell(command, status=0):
    done = subprocess.run(command, shell=True, capture_output=True, text=True, cwd=WORK)
    assert (done.returncode != 0) == (status != 0), f"{command}: {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout + done.stderr


def program(text, name="user.c"):
    (WORK / name).write_text(text)
    return name


def clean(text, out):
    """Compiles in every language."""
    file = program(text)
    for cc in LANGUAGES:
        shell(f"{cc} {STRICT} -I{out} -c {file} -o /dev/null")


def warns(text, out):
    """A warning in C, an error in C++, by the compilers' defaults."""
    file = program(text)
    for cc in LANGUAGES:
        shell(f"{cc} {'' if '++' in cc else '-Werror'} -I{out} -c {file} -o /dev/null", status=1)


ARENA = "static union { double align[8]; unsigned char bytes[m_ARENA_BYTES + m_ARENA_ALIGN]; } memory;\n"
ALIGNED = "memory.bytes + (m_ARENA_ALIGN - (uintptr_t)memory.bytes % m_ARENA_ALIGN) % m_ARENA_ALIGN"


def digits():
    """Two lines, and the same bits as main.c's."""
    model = DIGITS / "digits.onnx"
    run("compile", model, "-o", "host", "--name", "m", "--target", "host")
    x = np.load(DIGITS / "test_x.npy")[:1]
    np.save(WORK / "x.npy", x)
    name = onnx.load(str(model)).graph.input[0].name
    run("run", "host", "--input", f"{name}=x.npy", "--output-dir", "want")
    want = np.load(next((WORK / "want").glob("*.npy")))
    words = ", ".join(f"0x{w:08x}u" for w in x.reshape(-1).view(np.uint32))
    shape = lambda s: "".join(f"[{d}]" for d in s)  # noqa: E731
    head = f'#include "m.h"\n#include <stdio.h>\n#include <string.h>\n{ARENA}static const uint32_t bits[] = {{{words}}};\n' \
           f"static float x{shape(x.shape)}, y{shape(want.shape)};\n"  # fmt: skip
    main = lambda call: f"{head}int main(void) {{\n  memcpy(x, bits, sizeof x);\n  if ({call} != 0) return 1;\n" \
                        "  return fwrite(y, sizeof y, 1, stdout) == 1 ? 0 : 2;\n}\n"  # noqa: E731 # fmt: skip
    good = main(f"m_infer(x, y, {ALIGNED})")
    clean(good, "host")
    for wrong in ("y, x, memory.bytes", "x, memory.bytes, y", "memory.bytes, x, y", "x, y"):
        warns(main(f"m_infer({wrong})"), "host")
    # With the default flags -O2 of `run`: the same code.
    shell("gcc -std=c99 -O2 -Ihost -Wa,-Ihost -o user user.c host/m.c host/m_weights.S -lm".replace("user.c", program(good)))
    got = np.frombuffer(subprocess.run([WORK / "user"], capture_output=True, check=True).stdout, np.float32)
    assert np.array_equal(got.view(np.uint32), want.reshape(-1).view(np.uint32)), (got, want)
    constant = good.replace("static float x", "static const float x").replace("memcpy(x, bits, sizeof x);", "").replace(", y[", ";\nstatic float y[")
    constant = constant.replace(shape(x.shape) + ";", shape(x.shape) + " = {{{{0}}}};", 1)
    for cc in LANGUAGES:
        if "c99" not in cc:
            shell(f"{cc} -Wall -Wextra -Werror -Wno-unused -Wno-missing-braces -Ihost -c {program(constant)} -o /dev/null")


def with_device():
    """Regions and a blob of weights come by the device."""
    for options in (["--target", "cn10ka"], ["--target", "host", "--weights", "blob"]):
        shutil.rmtree(WORK / "dev", ignore_errors=True)
        run("compile", DIGITS / "digits.onnx", "-o", "dev", "--name", "m", "--no-probe", "--emit", "bare", *options)
        header = (WORK / "dev" / "m.h").read_text()
        assert "void* arena, const m_device* device);" in header, header
        shape = header[header.index("m_infer(m_CONST float ") :].split("[", 1)[1].split(",")[0]
        text = f'#include "m.h"\n{ARENA}static float x[{shape}, y[1][10];\nint f(const m_device* d);\nint f(const m_device* d) {{ return m_infer(x, y, {ALIGNED}, d); }}\n'
        clean(text, "dev")
        shell(f"gcc -std=c99 {STRICT} -c dev/m.c -o m.o && gcc -std=c99 {STRICT} -Wno-unused-const-variable -c dev/bare.c -o bare.o")


def save(name, nodes, inputs, outputs, initializers=(), opset=21):
    graph = helper.make_graph(nodes, "g", inputs, outputs, list(initializers))
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10), str(WORK / name))


def info(name, shape, kind=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


BF16, INT4 = 16, 22  # TensorProto of today
TYPES = [(TensorProto.FLOAT, "float"), (TensorProto.DOUBLE, "double"), (TensorProto.FLOAT16, "uint16_t"), (TensorProto.BOOL, "uint8_t"), (TensorProto.INT8, "int8_t"),
         (TensorProto.UINT64, "uint64_t"), (BF16, "uint16_t"), (INT4, "int8_t")]  # fmt: skip
NAMES = ["arena", "x", "X", "int", "uint16_t", "m_run", "K_x", "device"]


def types_and_names():
    """An Identity of each type, with a name that is taken; one scalar, one vector, one without elements, one matrix each in turn."""
    shapes = [[], [3], [2, 0], [2, 3]]
    nodes, inputs, outputs, arrays, arguments = [], [], [], [], [[], []]
    for i, ((kind, c), name) in enumerate(zip(TYPES * 2, NAMES + [f"i{n}" for n in range(8)])):
        shape = shapes[i % 4 if i < 8 else (i + 1) % 4]
        # Identity alone would be one array with the input.
        nodes.append(helper.make_node("Identity", [name], [name + "_out" if i % 3 else f"o{i}"]))
        inputs.append(info(name, shape, kind))
        outputs.append(info(nodes[-1].output[0], shape, kind))
        dims = "[1]" if 0 in shape or not shape else "".join(f"[{d}]" for d in shape)
        for which in (0, 1):
            arrays.append(f"static {c} {'io'[which]}a{i}{dims};\n")
            arguments[which].append(f"{'io'[which]}a{i}")
    save("types.onnx", nodes, inputs, outputs)
    run("compile", "types.onnx", "-o", "types", "--name", "m", "--target", "host")
    call = ", ".join(arguments[0] + arguments[1])
    text = f'#include "m.h"\n{ARENA}{"".join(arrays)}int main(void) {{\n  ia1[0] = 7;\n  return m_infer({call}, {ALIGNED}) == 0 && oa1[0] == 7 ? 0 : 1;\n}}\n'
    clean(text, "types")
    for cc in ("gcc", "clang"):
        if shutil.which(cc):
            shell(f"{cc} -std=c99 {STRICT} -Itypes -Wa,-Itypes -o user {program(text)} types/m.c types/main.c types/m_weights.S -lm".replace("types/main.c ", "") + " && ./user")
            shell(f"{cc} -std=c99 -Wall -Wextra -Wconversion -pedantic -Werror -fsyntax-only types/main.c")


def prefix_of_kernels():
    """K_ is what the program's prefix replaces in texts of kernels and examples, not in names of the model."""
    save("k.onnx", [helper.make_node("Neg", ["K_x"], ["K_y"])], [info("K_x", [2])], [info("K_y", [2])])
    run("compile", "k.onnx", "-o", "k", "--name", "m", "--target", "host")
    np.save(WORK / "k.npy", np.array([1, -2], np.float32))
    run("run", "k", "--input", "K_x=k.npy", "--output-dir", "results")
    assert np.load(WORK / "results" / "K_y.npy").tolist() == [-1, 2]


def macros():
    """A port that is called as a macro of the header gets another name there; others keep theirs."""
    names = ["m_CONST", "m_ARENA_BYTES", "m_ERROR_SHAPE", "m_x", "m_1"]
    save("macros.onnx", [helper.make_node("Sum", names, ["m_INPUT0_RANK"])], [info(n, [2, 3]) for n in names], [info("m_INPUT0_RANK", [2, 3])])
    run("compile", "macros.onnx", "-o", "macros", "--name", "m", "--target", "host")
    header = (WORK / "macros" / "m.h").read_text()
    assert all(f"const float* {n};" in header for n in ("vm_CONST", "vm_ARENA_BYTES", "vm_ERROR_SHAPE", "m_x", "m_1")), header
    np.save(WORK / "m.npy", np.full((2, 3), 2, np.float32))
    run("run", "macros", *(a for n in names for a in ("--input", f"{n}=m.npy")), "--output-dir", "results")
    assert np.load(WORK / "results" / "m_INPUT0_RANK.npy").tolist() == [[10] * 3] * 2


def without():
    """Where there is none, the header says why."""
    dynamic = [helper.make_node("Relu", ["x"], ["y"])], [info("x", ["n", 3])], [info("y", ["n", 3])]
    sequence = helper.make_tensor_sequence_value_info("y", TensorProto.FLOAT, [2, 3])
    for name, graph, options, why in [
        ("dynamic", dynamic, ["--input-dim", "n=1..4"], "the shape of input x is known at run time only"),
        ("sequence", ([helper.make_node("SequenceConstruct", ["x"], ["y"])], [info("x", [2, 3])], [sequence]), [], "output y is a sequence or an optional"),
        ("text", ([helper.make_node("Identity", ["x"], ["y"])], [info("x", [2], TensorProto.STRING)], [info("y", [2], TensorProto.STRING)]), [], "input x consists of texts"),
        ("many", ([helper.make_node("Identity", [f"x{i}"], [f"y{i}"]) for i in range(61)], [info(f"x{i}", [1]) for i in range(61)], [info(f"y{i}", [1]) for i in range(61)]),
         [], "there are 122 inputs and outputs, and C99 promises 127 parameters"),
    ]:  # fmt: skip
        save("none.onnx", *graph)
        shutil.rmtree(WORK / "none", ignore_errors=True)
        run("compile", "none.onnx", "-o", "none", "--name", "m", "--target", "host", "--emit", "bare", *options)
        header = (WORK / "none" / "m.h").read_text()
        assert f"/* No m_infer: {why}. */" in header, (name, header)
        assert "m_infer(" not in header + (WORK / "none" / "m.c").read_text()
        shell("cd none && gcc -std=c99 -Wall -Wextra -Wconversion -pedantic -Werror -c m.c main.c bare.c")


def main():
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)
    digits()
    with_device()
    types_and_names()
    prefix_of_kernels()
    macros()
    without()


if __name__ == "__main__":
    main()
