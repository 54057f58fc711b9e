"""usage: three_targets.py MRVLC PACKAGES WORK GRAPHS [FIRST_SEED]

Seeded random networks of layers that a library takes (nn), that an accelerator takes, and that neither does, compiled for
`nn,cn10ka,host` and `cn10ka,nn,host` in turn until GRAPHS of them use all three: run, compared with the reference interpreter, and the ID map
followed in both directions. WORK is emptied first.
"""

import collections
import concurrent.futures
import json
import os
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper

from mapping import lost

MRVLC, PACKAGES, WORK = (pathlib.Path(a).absolute() for a in sys.argv[1:4])
ORDERS = ("nn,cn10ka,host", "cn10ka,nn,host")
ATTEMPTS = 2  # networks for each that must be there; most use all three


class Network:
    """Layer by layer on one value of shape [1, channels, height, width]; earlier values of the same shape may be added."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.nodes, self.constants, self.earlier = [], [], []
        self.shape = [1, int(self.rng.integers(1, 5)) * 4, int(self.rng.integers(6, 15)), int(self.rng.integers(6, 15))]
        self.input_shape, self.value = list(self.shape), "x"

    def constant(self, array):
        name = f"c{len(self.constants)}"
        self.constants.append(helper.make_tensor(name, TensorProto.INT64 if array.dtype == np.int64 else TensorProto.FLOAT, array.shape,
                                                 array.flatten().tolist()))
        return name

    def add(self, op, *inputs, **attributes):
        out = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, list(inputs), [out], name=f"{op.lower()}_{len(self.nodes)}", **attributes))
        self.value = out

    def conv(self, group, dilation=1):
        channels = self.shape[1]
        out = int(self.rng.integers(1, 5)) * 4 if group == 1 else channels
        k = int(self.rng.choice([1, 3])) if dilation == 1 else 3
        fan_in = channels // group * k * k
        weights = self.rng.standard_normal((out, channels // group, k, k)) / np.sqrt(fan_in)
        bias = self.rng.standard_normal(out) * 0.1
        pad = dilation * (k // 2)
        self.add("Conv", self.value, self.constant(weights.astype(np.float32)), self.constant(bias.astype(np.float32)), kernel_shape=[k, k],
                 pads=[pad] * 4, group=group, dilations=[dilation] * 2)
        self.shape[1] = out
        if self.rng.random() < 0.4:
            self.add("Relu", self.value)

    def pool(self, op):
        if min(self.shape[2:]) < 4:
            return
        self.add(op, self.value, kernel_shape=[2, 2], strides=[2, 2])
        self.shape[2:] = [self.shape[2] // 2, self.shape[3] // 2]

    def sum(self):
        same = [v for v, s in self.earlier if s == self.shape and v != self.value]
        if same:
            self.add("Add", self.value, str(self.rng.choice(same)))

    def pointwise(self, op):
        self.add(op, self.value)

    def scale(self):
        self.add("Mul", self.value, self.constant(self.rng.uniform(0.5, 1.5, (1, self.shape[1], 1, 1)).astype(np.float32)))

    def gather(self):
        order = self.rng.permutation(self.shape[2])
        self.add("Gather", self.value, self.constant(order.astype(np.int64)), axis=2)

    def cumulate(self):
        self.add("CumSum", self.value, self.constant(np.array(1, np.int64)))
        self.add("Tanh", self.value)

    def build(self):
        # One of each at least: a product for the accelerator, and for the library what lies apart from every product.
        kinds = [0, 1, 2, "product", "apart"] + list(self.rng.integers(0, 3, int(self.rng.integers(1, 8))))
        for i in self.rng.permutation(len(kinds)):
            self.step(kinds[i])

    def step(self, kind):
        r = self.rng
        self.earlier.append((self.value, list(self.shape)))
        if kind == "product":
            self.conv(self.shape[1])
        elif kind == "apart":
            for op in ("Sin", "Tanh", "Sin"):
                self.pointwise(op)
        elif kind == 0:  # the library's, first or last
            r.choice([lambda: self.conv(1), lambda: self.conv(1, 5), lambda: self.pool("MaxPool"), lambda: self.pointwise("Tanh"), self.sum])()
        elif kind == 1:  # the accelerator's alone
            r.choice([lambda: self.conv(self.shape[1]), lambda: self.conv(2), lambda: self.pool("AveragePool"), self.scale,
                      lambda: self.pointwise("Relu")])()
        else:
            r.choice([lambda: self.pointwise("Sin"), lambda: self.pointwise("Atan"), self.gather, self.cumulate])()

    def finish(self):
        if self.rng.random() < 0.3:
            self.add("Softmax", self.value, axis=-1)
        graph = helper.make_graph(self.nodes, "network", [helper.make_tensor_value_info("x", TensorProto.FLOAT, self.input_shape)],
                                  [helper.make_tensor_value_info(self.value, TensorProto.FLOAT, self.shape)], self.constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def run(*command):
    return subprocess.run([str(c) for c in command], capture_output=True, text=True)


def judge(seed):
    """A word for how it ended, and what to print of it."""
    network = Network(seed)
    network.build()
    model, out = WORK / f"m{seed}.onnx", WORK / f"out{seed}"
    onnx.save(network.finish(), str(model))
    options = ["--no-probe", "--target", ORDERS[seed % 2], "--target-dir", PACKAGES]
    compiled = run(MRVLC, "compile", model, "-o", out, *options)
    if compiled.returncode != 0:
        return "wrong: does not compile", compiled.stderr
    report = json.loads((out / "report.json").read_text())["placement"]
    calls = sum(library["calls"] for library in report["libraries"])
    gaps = list(lost(out))
    if gaps:
        return "wrong: the map has gaps", "\n".join(gaps[:4])
    verified = run(MRVLC, "verify", model, *[o for o in options if o != "--no-probe"])
    shutil.rmtree(out)
    if verified.returncode != 0:
        return "wrong: other numbers", verified.stdout + verified.stderr
    model.unlink()
    return ("right, on all three" if calls > 0 and report["accelerator"] > 0 and report["cpu"] > 0 else "right, on fewer"), ""


def main():
    graphs, first = int(sys.argv[4]), int(sys.argv[5]) if len(sys.argv) > 5 else 1
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)
    tally = collections.Counter()
    seeds = iter(range(first, first + ATTEMPTS * graphs))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        while tally["right, on all three"] < graphs:
            batch = [s for _, s in zip(range(min(20, graphs)), seeds)]
            if not batch:
                break
            for seed, (verdict, text) in zip(batch, pool.map(judge, batch)):
                tally[verdict] += 1
                if verdict.startswith("wrong"):
                    print(f"seed {seed}, --target {ORDERS[seed % 2]}: {verdict}\n{text}", flush=True)
    for verdict, count in sorted(tally.items()):
        print(f"{count:6} {verdict}")
    wrong = any(v.startswith("wrong") for v in tally)
    sys.exit(1 if wrong or tally["right, on all three"] < graphs else 0)


main()
