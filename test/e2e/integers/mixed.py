#!/usr/bin/python3
"""Usage: mixed.py MRVLC WORK N [SEED]

Random networks of floats, quantised by mrvlc but for some layers, so that integers and fp16 lie side by side on the
accelerator: products of either read and add what the other makes. The simulator is compared with the float32 reference;
a step of 8 bits more or less is expected where fp16 is rounded to integers, bytes taken for numbers are not.
"""
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

MRVLC, WORK, COUNT = pathlib.Path(sys.argv[1]).absolute(), pathlib.Path(sys.argv[2]), int(sys.argv[3])
FIRST = int(sys.argv[4]) if len(sys.argv) > 4 else 1
TOLERANCE = 0.15  # of |a-b| / (1+|b|), with outputs near 1 and steps of up to 0.05 that normalisations enlarge


class Network:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.nodes, self.constants, self.layers = [], [], []
        self.channels = int(self.rng.integers(2, 20))
        size = int(self.rng.integers(4, 10))
        self.shape = [1, self.channels, size, size]
        value = self.conv("x")
        for _ in range(int(self.rng.integers(2, 6))):
            value = getattr(self, str(self.rng.choice(["conv", "residual", "normalised", "gated", "pool"])))(value)
        self.output = self.conv(value)

    def node(self, op, inputs, **attributes):
        name = f"{op.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [name + "_out"], name, **attributes))
        return name + "_out"

    def constant(self, values):
        self.constants.append(numpy_helper.from_array(np.asarray(values, np.float32), f"c{len(self.constants)}"))
        return self.constants[-1].name

    def conv(self, x):
        kernel = int(self.rng.choice([1, 3]))
        fan_in = self.channels * kernel * kernel
        w = self.rng.standard_normal((self.channels, self.channels, kernel, kernel)) / np.sqrt(fan_in)
        y = self.node("Conv", [x, self.constant(w), self.constant(self.rng.standard_normal(self.channels) * 0.1)],
                      pads=[kernel // 2] * 4)
        self.layers.append(self.nodes[-1].name)
        return self.node("Relu", [y]) if self.rng.random() < 0.5 else y

    def residual(self, x):
        y = self.node("Add", [self.conv(x), x] if self.rng.random() < 0.5 else [x, self.conv(x)])
        return self.node("Relu", [y]) if self.rng.random() < 0.5 else y

    def normalised(self, x):
        """Integers are added to a sum that nothing rounds."""
        y = self.node("Add", [self.conv(x), x])
        ones, zeros = self.constant(np.ones(self.channels)), self.constant(np.zeros(self.channels))
        return self.node("Add", [self.node("InstanceNormalization", [y, ones, zeros]), self.conv(x)])

    def gated(self, x):
        return self.node("Mul", [self.node("Sigmoid", [self.conv(x)]), x])

    def pool(self, x):
        return self.node(str(self.rng.choice(["MaxPool", "AveragePool"])), [x], kernel_shape=[3, 3], pads=[1] * 4)

    def write(self, folder):
        value = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, self.shape)
        graph = helper.make_graph(self.nodes, "g", [value("x")], [value(self.output)], self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
        model.ir_version = 8
        onnx.save(model, folder / "m.onnx")
        (folder / "data").mkdir()
        np.save(folder / "data" / "x.npy", self.rng.standard_normal((8, *self.shape)).astype(np.float32))

    def kept(self):
        draw = [l for l in self.layers if self.rng.random() < 0.4]
        return [o for l in draw[: len(self.layers) - 1] for o in ("--float", l)]


def problem(seed):
    folder = WORK / str(seed)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    network = Network(seed)
    network.write(folder)
    commands = [["quantize", "m.onnx", "--data", "data", "-o", "q.onnx", "--ranges", "mse", *network.kept()],
                ["verify", "q.onnx", "--sets", "normal", "--tolerance", str(TOLERANCE), "--target", "cn10ka"]]
    for command in commands:
        ran = subprocess.run([MRVLC, *command], cwd=folder, capture_output=True, text=True, check=False)
        if ran.returncode != 0:
            return f"seed {seed}: mrvlc {' '.join(command)}: exit {ran.returncode}: {ran.stdout} {ran.stderr}"
    shutil.rmtree(folder)
    return None


def main():
    problems = [p for p in map(problem, range(FIRST, FIRST + COUNT)) if p]
    print("\n".join(problems[:10]))
    print(f"{COUNT} networks of integers and floats: {len(problems)} wrong")
    sys.exit(1 if problems else 0)


main()
