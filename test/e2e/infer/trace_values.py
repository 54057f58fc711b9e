#!/usr/bin/python3
"""usage: trace_values.py MRVLC PREFIX DIGITS WORK

compile --trace-values: the example program dumps every value in memory, and mrvlc compare finds each to be what the model's node makes; of dynamic
shapes, bodies, sequences, texts, values in place, names that are alike as files, regions of a device; under AddressSanitizer and with gaps between
buffers. WORK is emptied first."""

import pathlib
import shutil
import subprocess
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

MRVLC, PREFIX, DIGITS, WORK = (pathlib.Path(a).absolute() for a in sys.argv[1:])
FLAGS = "-std=c99 -Wall -Wextra -Wconversion -Wshadow -pedantic -Werror -O1 -g"


def run(*command, status=0):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, cwd=WORK)
    assert done.returncode == status, f"{command}: {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout + done.stderr


def save(name, nodes, inputs, outputs, constants=()):
    graph = helper.make_graph(nodes, "g", inputs, outputs, [numpy_helper.from_array(np.asarray(v), n) for n, v in constants])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), str(WORK / name))


def info(name, shape, kind=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


def traced(model, inputs, compared, options=(), flags=FLAGS, tolerance=()):
    """Compiles, dumps, compares; returns the names of the files."""
    for name in ("out", "dump"):
        shutil.rmtree(WORK / name, ignore_errors=True)
    (WORK / "dump").mkdir()
    run(MRVLC, "compile", model, "-o", "out", "--name", "m", "--trace-values", *(options or ["--target", "host"]))
    run("make", "-C", "out", f"CFLAGS={flags} -fsanitize=address,undefined -fno-sanitize-recover=all", f"MRVLC_PREFIX={PREFIX}")
    arguments = []
    for i, (name, value) in enumerate(inputs.items()):
        np.save(WORK / f"in{i}.npy", value)
        arguments += ["--input", f"{name}=in{i}.npy"]
    plain = run("out/m_example", *arguments, "--dir", "out", "--output-dir", "out")
    assert not list((WORK / "dump").iterdir()), plain
    run("out/m_example", *arguments, "--dir", "out", "--dump", "dump")
    text = run(MRVLC, "compare", model, "--with", "dump", *tolerance)
    assert f"{compared[0]} of {compared[1]} tensors compared" in text, text
    return sorted(f.name for f in (WORK / "dump").iterdir())


def digits():
    model = DIGITS / "digits.onnx"
    name = onnx.load(str(model)).graph.input[0].name
    x = {name: np.load(DIGITS / "test_x.npy")[:1]}
    values = len([o for n in onnx.load(str(model)).graph.node for o in n.output])
    files = traced(model, x, (DUMPED, values))
    assert f"{name}.npy" in files, files
    for options in (["--threads", "2"], ["--weights", "blob"], ["--optimize", "size"], ["--exact"]):
        assert traced(model, x, (DUMPED, values), ["--target", "host", *options]) == files
    assert traced(model, x, (DUMPED, values), flags=FLAGS + " -DMRVL_GUARD") == files
    # A file that does not hold what the node makes.
    wrong = next(f for f in sorted((WORK / "dump").iterdir()) if f.name != f"{name}.npy")
    np.save(wrong, np.load(wrong) + 1)
    run(MRVLC, "compare", model, "--with", "dump", status=5)
    run("out/m_example", "--input", f"{name}=in0.npy", "--dump", "nowhere", status=3)
    run(MRVLC, "run", "out", "--input", f"{name}=in0.npy", "--dump", "again/folder")
    assert sorted(f.name for f in (WORK / "again/folder").iterdir()) == files
    run(MRVLC, "compile", model, "-o", "plain", "--name", "m", "--target", "host")
    assert "--trace-values" in run(MRVLC, "run", "plain", "--input", f"{name}=in0.npy", "--dump", "never", status=2)
    assert not (WORK / "never").exists()
    assert "value_hook" not in (WORK / "plain/m.h").read_text() and "_tell" not in (WORK / "plain/m.c").read_text()
    # The device's values, at the borders of its regions.
    device = traced(model, x, (1, values), ["--target", "cn10ka", "--no-probe"], tolerance=["--tolerance", "2e-2"])
    assert f"{name}.npy" in device, device


# Convolutions and the like with what is fused into them, and what is a view.
DUMPED = 4


def shapes():
    """Known at run time only; one that nobody reads; the model's output in place of the arena."""
    nodes = [helper.make_node("Relu", ["x"], ["r"], name="first"), helper.make_node("NonZero", ["r"], ["z"]), helper.make_node("Transpose", ["z"], ["t"], perm=[1, 0]),
             helper.make_node("Cast", ["t"], ["y"], to=TensorProto.FLOAT), helper.make_node("Split", ["r"], ["s0", "s1"], axis=1, name="cut"),
             helper.make_node("Softmax", ["s1"], ["p"], axis=1)]  # fmt: skip
    save("shapes.onnx", nodes, [info("x", ["n", 4])], [info("y", ["k", 2]), info("p", ["n", 2])])
    x = {"x": np.array([[1, -1, 0, 2], [0, 0, 3, 4], [-5, 0, 0, 1]], np.float32)}
    files = traced("shapes.onnx", x, (7, 7), ["--target", "host", "--input-dim", "n=1..5"])
    assert np.load(WORK / "dump/z.npy").tolist() == [[0, 0, 1, 1, 2], [0, 3, 2, 3, 3]], files


def places():
    """Reshapes of an input and of a result, parts of a concatenation, and names that are alike as files."""
    nodes = [helper.make_node("Reshape", ["x", "four"], ["a/b"]), helper.make_node("Sin", ["x"], ["a_b"]), helper.make_node("Cos", ["x"], ["a b"]),
             helper.make_node("Concat", ["a_b", "a b"], ["c"], axis=0), helper.make_node("Reshape", ["c", "two"], ["d"]),
             helper.make_node("Softmax", ["d"], ["y"], axis=1), helper.make_node("Softmax", ["a/b"], ["y:0"], axis=0)]  # fmt: skip
    save("places.onnx", nodes, [info("x", [1, 4])], [info("y", [4, 2]), info("y:0", [4])], [("four", np.array([4])), ("two", np.array([4, 2]))])
    files = traced("places.onnx", {"x": np.array([[1, 2, 3, 4]], np.float32)}, (7, 7))
    assert len(files) == 8 and {"a_b.npy", "x.npy", "y_0.npy"} <= set(files), files


def bodies():
    """Values of bodies are told, without a file; so are sequences and texts, whose data .npy does not hold."""
    body = helper.make_graph(
        [helper.make_node("Add", ["acc", "x"], ["sum"], name="inner"), helper.make_node("Identity", ["go"], ["on"])], "body",
        [info("i", [], TensorProto.INT64), info("go", [], TensorProto.BOOL), info("acc", [3])], [info("on", [], TensorProto.BOOL), info("sum", [3])])  # fmt: skip
    branches = {f"{b}_branch": helper.make_graph([helper.make_node(op, ["x"], ["b"])], b, [], [info("b", [3])]) for b, op in (("then", "Sin"), ("else", "Cos"))}
    nodes = [helper.make_node("Loop", ["n", "", "x"], ["looped"], body=body), helper.make_node("If", ["c"], ["either"], **branches),
             helper.make_node("SequenceConstruct", ["looped", "either"], ["s"]), helper.make_node("SequenceAt", ["s", "zero"], ["y"]),
             helper.make_node("Where", ["c", "yes", "no"], ["w"]), helper.make_node("Identity", ["w"], ["text"])]  # fmt: skip
    save("bodies.onnx", nodes, [info("x", [3]), info("n", [], TensorProto.INT64), info("c", [], TensorProto.BOOL)], [info("y", [3]), info("text", [1], TensorProto.STRING)],
         [("zero", np.array(0)), ("yes", np.array(["yes"], object)), ("no", np.array(["no"], object))])  # fmt: skip
    inputs = {"x": np.array([1, 2, 3], np.float32), "n": np.array(3), "c": np.array(True)}
    files = traced("bodies.onnx", inputs, (3, 6))
    assert {"looped.npy", "either.npy", "y.npy"} <= set(files), files
    # A program of one's own, with a hook that prints.
    (WORK / "user.c").write_text(r"""
#include "m.h"
#include <stdio.h>
#include <string.h>
static void print(void* user, const mrvl_value* v) {
  printf("%s '%s' of '%s', type %d, rank %d%s\n", (const char*)user, v->name, v->node, v->type, v->rank, v->data ? "" : ", no data");
}
static union { double align[8]; unsigned char bytes[m_ARENA_BYTES + m_ARENA_ALIGN]; } memory;
static char texts[m_OUTPUT1_BYTES + 1000];
int main(void) {
  static const float x[3] = {1, 2, 3};
  static const int64_t n = 2;
  static const uint8_t c = 0;
  float y[3];
  m_inputs in;
  m_outputs out;
  m_device device;
  unsigned char* const arena = memory.bytes + (m_ARENA_ALIGN - (uintptr_t)memory.bytes % m_ARENA_ALIGN) % m_ARENA_ALIGN;
  memset(&device, 0, sizeof device);
  in.x = x, in.n = &n, in.c = &c, out.y = y, out.text = (void*)texts;
  if (m_run(&in, &out, arena, &device, NULL, NULL, NULL) != 0 || m_run(&in, &out, arena, NULL, NULL, NULL, NULL) != 0) return 1;
  device.value_hook = print;
  device.value_user = (void*)"value";
  return m_run(&in, &out, arena, &device, NULL, NULL, NULL);
}
""")
    run("sh", "-c", "gcc -std=c99 -Wall -Wextra -O1 -g -fsanitize=address,undefined -Iout -Wa,-Iout -o user user.c out/m.c out/m_weights.S -lm")
    told = run("./user").splitlines()
    assert told.count("value 'main/0.body/sum' of 'inner', type 1, rank 1") == 2, told
    assert [line for line in told if "/b'" in line] == ["value 'main/1.else_branch/b' of '', type 1, rank 1"], told
    assert "value 's' of '', type 0, rank 0, no data" in told and "value 'text' of '', type 8, rank 1" in told, told


shutil.rmtree(WORK, ignore_errors=True)
WORK.mkdir(parents=True)
shapes()
places()
bodies()
digits()
