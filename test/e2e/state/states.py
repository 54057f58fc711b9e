#!/usr/bin/python3
"""usage: states.py MRVLC WORK [--count N] [--seed N] [--options "..."]

compile --state: random networks whose states are appended to, shifted, scattered into, rewritten, exchanged, and read
before and behind that. Each runs some steps in one memory and in two, under AddressSanitizer: both give what numpy gives,
bit for bit. Then: what is worked on in place; messages; NAME_infer; mrvlc run. WORK is emptied first."""

import argparse
import pathlib
import shutil
import subprocess

import numpy as np
import onnx
from onnx import TensorProto, helper

import harness
import random_graphs

FLAGS = "-std=c99 -O2 -g -Wall -Wextra -Wshadow -Wconversion -Wpedantic -Werror -fsanitize=address,undefined -fno-sanitize-recover=all"
STEPS = 5


def run(command, status=0, cwd=None):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, cwd=cwd)
    assert done.returncode == status, f"{command}: {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout + done.stderr


def compiled(folder, graph, states, options=()):
    onnx.save(graph.model(), str(folder / "m.onnx"))
    words = [w for s in states for w in ("--state", s)]
    return run([MRVLC, "-v", "compile", "m.onnx", "-o", "out", "--name", "m", "--target", "host", *words, *options], cwd=folder)


def drawn(graph, seed):
    """The inputs of each step; indices lie within the rows."""
    random = np.random.default_rng(seed)
    states = [past for past, _ in graph.pairs]
    low, high = {np.float32: -4, np.int64: 0}, {np.float32: 5, np.int64: random_graphs.ROWS}
    return [{n: random.integers(low[k], high[k], s).astype(k) for n, (s, k) in graph.inputs.items() if n not in states}
            for _ in range(STEPS)]  # fmt: skip


def expected(graph, steps):
    values = {past: np.zeros(graph.inputs[past][0], np.float32) for past, _ in graph.pairs}
    out = []
    for step in steps:
        results = graph.run({**step, **values})
        out += [results[n] for n in graph.outputs]
        values = {past: results[present] for past, present in graph.pairs}
    return b"".join(r.astype(np.float32).tobytes() for r in out)


def check(folder, graph, seed, options=()):
    folder.mkdir()
    said = compiled(folder, graph, [f"{a}={b}" for a, b in graph.pairs], options)
    assert said.count("MRV0613") == len(graph.pairs), said
    (folder / "main.c").write_text(harness.program(graph, STEPS))
    sources = ["main.c", "out/m.c"] + [f for f in ("out/m_weights.S",) if (folder / f).exists()]
    run(["gcc", *FLAGS.split(), "-Iout", "-Xassembler", "-Iout", "-o", "m", *sources, "-lm"], cwd=folder)
    steps = drawn(graph, seed)
    order = [n for n in graph.inputs if n not in dict(graph.pairs)]
    (folder / "in.bin").write_bytes(b"".join(s[n].tobytes() for s in steps for n in order))
    run(["./m", "together.bin"], cwd=folder)
    run(["./m", "apart.bin", "apart"], cwd=folder)
    right = expected(graph, steps)
    assert (folder / "together.bin").read_bytes() == (folder / "apart.bin").read_bytes(), f"{folder}: one memory and two differ"
    for name in ("together", "apart"):
        got = (folder / f"{name}.bin").read_bytes()
        # -0 and 0 are told apart by nothing here.
        same = np.array_equal(np.frombuffer(got, np.float32), np.frombuffer(right, np.float32))
        assert same, f"{folder}: {name} differs from numpy"
    return said


def single(update):
    graph = random_graphs.Graph(7)
    x = graph.input("x", [1, random_graphs.COLUMNS])
    past = graph.input("past_0", [random_graphs.ROWS, random_graphs.COLUMNS])
    graph.pairs.append((past, graph.output(update(graph, past, x), [random_graphs.ROWS, random_graphs.COLUMNS], "present_0")))
    return graph


def places():
    """What is worked on in place, and what is not, and why."""
    in_place = {random_graphs.add_scatter: True, random_graphs.add_elements: True, random_graphs.add_cache: True,
                random_graphs.add_reshaped: True, random_graphs.add_shift: False, random_graphs.add_decay: False, random_graphs.add_other: True, random_graphs.add_self: False}  # fmt: skip
    for update, is_in_place in in_place.items():
        said = check(WORK / update.__name__, single(update), 3)
        assert ("bytes, in place" in said) == is_in_place, said
        assert is_in_place or "reads the input while, or after, it is written" in said, said
    changed = random_graphs.Graph(5)
    total, x = [random_graphs.ROWS, random_graphs.COLUMNS], changed.input("x", [1, random_graphs.COLUMNS])
    past = [changed.input(f"past_{i}", total) for i in range(2)]
    sums = [changed.node("Add", [p, x], np.add) for p in past]
    changed.pairs = [(past[0], changed.output(past[1], total, "present_0")), (past[1], changed.output(past[0], total, "present_1"))]
    for s in sums:
        changed.output(s, total)
    assert check(WORK / "exchanged", changed, 3).count("a copy of another value") == 2
    text = (WORK / "add_scatter/out/m.c").read_text()
    assert "if (y0 != x0)" in text, text
    other = check(WORK / "blob", single(random_graphs.add_scatter), 3, ["--threads", "2"])
    assert "in place" in other


def messages():
    folder = WORK / "messages"
    folder.mkdir()
    graph = random_graphs.Graph(1)
    x = graph.input("x", [1, 4])
    a, b = graph.input("past_a", [6, 4]), graph.input("past_b", [6, 4])
    graph.output(graph.node("Add", [a, x], np.add), [6, 4], "present_a")
    graph.output(graph.node("Add", [b, x], np.add), [6, 4], "present_b")
    onnx.save(graph.model(), str(folder / "m.onnx"))

    def said(*states, status):
        words = [w for s in states for w in ("--state", s)]
        return run([MRVLC, "-v", "compile", "m.onnx", "-o", "out", "--name", "m", "--target", "host", *words], status, folder)

    for states, part in [(["past_a"], "PAST=PRESENT"), (["pastt_a=present_a"], "did you mean 'past_a'"), (["past_a=presnt_a"], "did you mean 'present_a'"),
                         (["x=present_a"], "the input is"), (["past_a=present_a", "past_a=present_b"], "another output"),
                         (["past_a=present_a", "past_b=present_a"], "another input"), (["q_*=r_*"], "no input and output")]:  # fmt: skip
        text = said(*states, status=2)
        assert "MRV0612" in text and part in text, text
        assert not (folder / "out").exists()
    for states in (["past_*=present_*"], ["auto"], ["past_a=present_a", "auto"]):
        text = said(*states, status=0)
        assert "input 'past_a' is output 'present_a'" in text and "input 'past_b' is output 'present_b'" in text, text
    assert "m_state" not in (WORK / "plain.h").read_text()
    for (a, b), status in ((("past", "present"), 0), (("input", "output"), 2)):
        pair = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [2]) for n in (a, b)]
        alike = helper.make_graph([helper.make_node("Neg", [a], [b])], "g", pair[:1], pair[1:])
        onnx.save(helper.make_model(alike, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), str(folder / "m.onnx"))
        text = said("auto", status=status)
        assert (f"input '{a}' is output" in text) == (status == 0) and ("--state auto: no input" in text) == (status == 2), text
    open_shape = helper.make_graph([helper.make_node("Neg", ["a"], ["b"])], "g", [helper.make_tensor_value_info("a", TensorProto.FLOAT, ["n"])],
                                   [helper.make_tensor_value_info("b", TensorProto.FLOAT, ["n"])])  # fmt: skip
    onnx.save(helper.make_model(open_shape, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), str(folder / "open.onnx"))
    command = [MRVLC, "compile", "open.onnx", "-o", "open", "--target", "host", "--input-shape", "a=1..4", "--state", "a=b"]
    assert "--input-shape gives it a fixed one" in run(command, 2, folder)


def commands():
    """mrvlc run carries states from slice to slice; NAME_infer takes the struct; bare.c compiles."""
    folder = WORK / "commands"
    folder.mkdir()
    graph = single(random_graphs.add_decay)
    compiled(folder, graph, ["auto"], ["--emit", "bare"])
    xs = np.arange(12, dtype=np.float32).reshape(3, 4)
    np.save(folder / "x.npy", xs)
    run([MRVLC, "run", "out", "--input", "x=x.npy", "--repeat-axis0", "--output-dir", "results"], cwd=folder)
    state = np.zeros([6, 4], np.float32)
    for x in xs:
        state = state * np.float32(0.5) + x
    assert np.array_equal(np.load(folder / "results/present_0.npy"), state)
    np.save(folder / "begin.npy", np.ones([6, 4], np.float32))
    np.save(folder / "one.npy", xs[:1])
    run([MRVLC, "run", "out", "--input", "x=one.npy", "--input", "past_0=begin.npy", "--output-dir", "one"], cwd=folder)
    assert np.array_equal(np.load(folder / "one/present_0.npy"), np.float32(0.5) + np.broadcast_to(xs[0], [6, 4]))
    (folder / "main.c").write_text('#include "m.h"\n#include <stdio.h>\n#include <stdint.h>\nstatic m_state state;\nstatic union { uint64_t u[m_ARENA_BYTES / 8 + 9]; } room;\n'
                                   "int main(void) {\n  float x[1][4] = {{1, 2, 3, 4}};\n  unsigned char* a = (unsigned char*)room.u;\n  a += (m_ARENA_ALIGN - (uintptr_t)a % m_ARENA_ALIGN) % m_ARENA_ALIGN;\n"
                                   "  for (int i = 0; i < 2; ++i) if (m_infer(x, &state, a) != 0) return 1;\n  printf(\"%g\\n\", (double)state.past_0[5][3]);\n  return 0;\n}\n")  # fmt: skip
    run(["gcc", *FLAGS.split(), "-Iout", "-o", "m", "main.c", "out/m.c", "-Xassembler", "-Iout", "out/m_weights.S", "-lm"], cwd=folder)
    assert run(["./m"], cwd=folder) == "6\n"
    run(["make", "-C", "out", "m_bare", "CFLAGS=-Wall -Wextra -Werror"], cwd=folder)
    run([MRVLC, "verify", "m.onnx", "--target", "host", "--state", "auto"], cwd=folder)
    report = (folder / "out/report.json").read_text()
    assert '"in_place": false' in report and '"obstacle"' in report


def main():
    random = 0
    for i in range(ARGUMENTS.count):
        seed = ARGUMENTS.seed + i
        said = check(WORK / f"random_{seed}", random_graphs.random_graph(seed), seed, ARGUMENTS.options.split())
        random += said.count("bytes, in place")
        shutil.rmtree(WORK / f"random_{seed}")
    print(f"{ARGUMENTS.count} random networks, {random} states in place")
    if ARGUMENTS.count > 50:
        return
    graph = single(random_graphs.add_decay)
    (WORK / "plain").mkdir()
    compiled(WORK / "plain", graph, [])
    shutil.copy(WORK / "plain/out/m.h", WORK / "plain.h")
    places()
    messages()
    commands()


PARSER = argparse.ArgumentParser()
PARSER.add_argument("mrvlc", type=pathlib.Path)
PARSER.add_argument("work", type=pathlib.Path)
PARSER.add_argument("--count", type=int, default=8)
PARSER.add_argument("--seed", type=int, default=1)
PARSER.add_argument("--options", default="")
ARGUMENTS = PARSER.parse_args()
MRVLC, WORK = ARGUMENTS.mrvlc.absolute(), ARGUMENTS.work.absolute()
shutil.rmtree(WORK, ignore_errors=True)
WORK.mkdir(parents=True)
main()
