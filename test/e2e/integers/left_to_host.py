#!/usr/bin/python3
"""Usage: left_to_host.py MRVLC WORK N [SEED]

Random quantised networks whose layers no target takes: a library without a match, an accelerator behind a plug-in that
declines, and --cpu of one operator type. The host computes them in integers, as with --target host: with a target that takes
nothing the weights and the arena have the same sizes, and results are the same integers everywhere.
"""
import json
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

MRVLC, WORK, COUNT = pathlib.Path(sys.argv[1]).absolute(), pathlib.Path(sys.argv[2]).absolute(), int(sys.argv[3])
FIRST = int(sys.argv[4]) if len(sys.argv) > 4 else 1


def run(*command):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: ended {done.returncode}\n{done.stderr}")
    return done


class Network:
    """QuantizeLinear, convolutions with and without Relu, a pool, a residual sum; int8 in, int8 out."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.nodes, self.constants = [], []
        self.channels, size = int(self.rng.integers(3, 9)), int(self.rng.integers(5, 10))
        self.shape = [1, self.channels, size, size]
        q = "x"
        for _ in range(int(self.rng.integers(2, 5))):
            q = getattr(self, str(self.rng.choice(["conv", "conv", "residual", "pool"])))(q)
        info = lambda n: helper.make_tensor_value_info(n, TensorProto.INT8, self.shape)
        self.model = helper.make_model(
            helper.make_graph(self.nodes, "g", [info("x")], [info(self.conv(q))], self.constants),
            opset_imports=[helper.make_opsetid("", 13)], ir_version=8)

    def constant(self, array):
        self.constants.append(numpy_helper.from_array(np.asarray(array), f"c{len(self.constants)}"))
        return self.constants[-1].name

    def node(self, op, inputs, **attributes):
        out = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [out], out + op, **attributes))
        return out

    def floats(self, q, scale=0.05):
        return self.node("DequantizeLinear", [q, self.constant(np.float32(scale)), self.constant(np.int8(3))])

    def integers(self, v, scale=0.05):
        return self.node("QuantizeLinear", [v, self.constant(np.float32(scale)), self.constant(np.int8(3))])

    def conv(self, q):
        c = self.channels
        w = self.rng.integers(-127, 128, (c, c, 3, 3)).astype(np.int8)
        scales = (self.rng.random(c) * 0.002 + 0.0005).astype(np.float32)
        weights = self.node("DequantizeLinear", [self.constant(w), self.constant(scales), self.constant(np.zeros(c, np.int8))], axis=0)
        bias = self.rng.integers(-4000, 4000, c).astype(np.int32)
        biases = self.node("DequantizeLinear", [self.constant(bias), self.constant(np.float32(0.05) * scales),
                                                self.constant(np.zeros(c, np.int32))], axis=0)
        y = self.node("Conv", [self.floats(q), weights, biases], pads=[1] * 4)
        return self.integers(self.node("Relu", [y]) if self.rng.random() < 0.5 else y)

    def residual(self, q):
        return self.integers(self.node("Add", [self.floats(self.conv(q)), self.floats(q)]))

    def pool(self, q):
        return self.integers(self.node("AveragePool", [self.floats(q)], kernel_shape=[3, 3], pads=[1] * 4, count_include_pad=1))


def packages():
    run(MRVLC, "targets", "new", "library", "--kind", "call", "-o", WORK)
    run(MRVLC, "targets", "new", "plugin", "--kind", "plugin", "-o", WORK)
    for name, before in ("library", "Relu(%x)"), ("plugin", "Relu|Add|Mul(%x, ...)"):
        rules = WORK / name / f"{name}.rules"
        text = rules.read_text()
        assert before in text, text
        rules.write_text(text.replace(before, "Softsign(%x)"))
    include = pathlib.Path(__file__).parents[3] / "include"
    run("gcc", "-shared", "-fPIC", "-O1", "-I", include, WORK / "plugin/plugin.c", "-o", WORK / "plugin/plugin.so")


def compiled(model, x, name, options):
    out = WORK / name
    done = run(MRVLC, "compile", model, "-o", out, "--name", "net", "-q", *options)
    run(MRVLC, "run", out, "--input", f"x={x}", "--output-dir", WORK / "results", "--cflags", "-O1")
    (result,) = [np.load(f) for f in (WORK / "results").iterdir()]
    shutil.rmtree(WORK / "results")
    host = json.loads((out / "report.json").read_text())["host"]
    return (host["weights_bytes"], host["arena_bytes"]), result, done.stderr


def check(seed):
    network = Network(seed)
    onnx.save(network.model, WORK / "net.onnx")
    np.save(WORK / "x.npy", network.rng.integers(-128, 128, network.shape).astype(np.int8))
    model, x = WORK / "net.onnx", WORK / "x.npy"
    sizes, expected, _ = compiled(model, x, "of_host", ["--target", "host"])
    for target in "library", "plugin":
        found, result, _ = compiled(model, x, f"of_{target}", ["--target", f"{target},host", "--target-dir", WORK])
        assert found == sizes, f"seed {seed}, {target}: weights and arena {found}, with --target host {sizes}"
        assert np.array_equal(result, expected), f"seed {seed}, {target}: other integers"
    for pattern in sorted({n.op_type for n in network.nodes} & {"Conv", "Add", "AveragePool"}):
        _, result, said = compiled(model, x, "of_cpu", ["--cpu", pattern])
        assert np.array_equal(result, expected), f"seed {seed}, --cpu {pattern}: other integers\n{said}"


shutil.rmtree(WORK, ignore_errors=True)
WORK.mkdir(parents=True)
packages()
for number in range(FIRST, FIRST + COUNT):
    check(number)
print(f"{COUNT} networks, six placements each")
