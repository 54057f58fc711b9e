#!/usr/bin/python3
"""Usage: bodies.py MRVLC WORK N [SEED]

Random networks with control flow: branches of If, bodies of Loop and Scan, one in another, with convolutions and what lies
between them, some of it read from the graph around. Each is compiled for the accelerator under several options and run with
either value of its condition; results are compared with those of the host alone, and placement.json and idmap.json with each
other. Then its device fails in every region and the CPU takes its place.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

MRVLC, WORK, COUNT = pathlib.Path(sys.argv[1]).absolute(), pathlib.Path(sys.argv[2]), int(sys.argv[3])
FIRST = int(sys.argv[4]) if len(sys.argv) > 4 else 1
TOLERANCE = 1e-2  # of |a-b| / (1+|b|), and as much as inputs that are off by a rounding of fp16 make of it
ROUNDS = 3


class Network:
    """`around`: kinds of control flow that a node lies in, "if" and "rounds"."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.channels, size = int(self.rng.integers(2, 9)), int(self.rng.integers(4, 9))
        self.shape = [1, self.channels, size, size]
        self.count, self.products = 0, {}
        nodes, constants, outer = [], [], ["x"]
        for kind in self.rng.permutation(["branch", "rounds", "layer", "scan"])[: int(self.rng.integers(2, 5))]:
            outer.append(getattr(self, kind)(outer, nodes, constants, ()))
        if not any("if" in around for around in self.products.values()):
            outer.append(self.branch(outer, nodes, constants, ()))
        self.graph = helper.make_graph(
            nodes, "g", [self.value("x"), helper.make_tensor_value_info("flag", TensorProto.BOOL, [])],
            [self.value(outer[-1])], constants)

    def value(self, name, shape=None):
        return helper.make_tensor_value_info(name, TensorProto.FLOAT, self.shape if shape is None else shape)

    def name(self, op):
        self.count += 1
        return f"{op}{self.count}"

    def constant(self, values, constants):
        constants.append(numpy_helper.from_array(np.asarray(values), self.name("c")))
        return constants[-1].name

    def node(self, op, inputs, nodes, outputs=1, **attributes):
        name = self.name(op.lower())
        out = [f"{name}_out{i}" for i in range(outputs)]
        nodes.append(helper.make_node(op, inputs, out, name, **attributes))
        return out[0] if outputs == 1 else out

    def layer(self, values, nodes, constants, around):
        """A convolution of the last value, or of another one, and what follows it."""
        x = values[-1] if self.rng.random() < 0.7 else str(self.rng.choice(values))
        w = self.rng.standard_normal((self.channels, self.channels, 3, 3)) / (3 * np.sqrt(self.channels))
        y = self.node("Conv", [x, self.constant(w.astype(np.float32), constants)], nodes, pads=[1] * 4)
        self.products[nodes[-1].name] = around
        if self.rng.random() < 0.5:
            y = self.node(str(self.rng.choice(["Relu", "Sigmoid", "Sin"])), [y], nodes)  # no rule takes Sin
        if self.rng.random() < 0.5:
            y = self.node("Add", [y, str(self.rng.choice(values))], nodes)
        return y

    def body(self, values, around, deep=True):
        """Nodes and constants of a body that reads `values`, and its result."""
        nodes, constants = [], []
        inner = list(values)
        for _ in range(int(self.rng.integers(1, 3))):
            kind = str(self.rng.choice(["layer", "layer", "branch", "rounds"])) if deep else "layer"
            if kind == "layer":
                inner.append(self.layer(inner, nodes, constants, around))
            else:
                inner.append(getattr(self, kind)(inner, nodes, constants, around, deep=False))
        return nodes, constants, inner[-1]

    def branch(self, values, nodes, constants, around, deep=True):
        graphs = []
        for part in ("then", "else"):
            inner, held, result = self.body(values, (*around, "if"), deep)
            graphs.append(helper.make_graph(inner, self.name(part), [], [self.value(result)], held))
        return self.node("If", ["flag"], nodes, then_branch=graphs[0], else_branch=graphs[1])

    def rounds(self, values, nodes, constants, around, deep=True):
        i, go, state = self.name("i"), self.name("go"), self.name("state")
        inner, held, result = self.body([*values, state], (*around, "rounds"), deep)
        on = self.node("Identity", [go], inner)
        body = helper.make_graph(
            inner, self.name("loop"),
            [helper.make_tensor_value_info(i, TensorProto.INT64, []), helper.make_tensor_value_info(go, TensorProto.BOOL, []),
             self.value(state)],
            [helper.make_tensor_value_info(on, TensorProto.BOOL, []), self.value(result)], held)
        trips = self.constant(np.array(ROUNDS, np.int64), constants)
        return self.node("Loop", [trips, "", values[-1]], nodes, body=body)

    def scan(self, values, nodes, constants, around):
        """Over slices along a new axis: the same value twice."""
        state, piece = self.name("state"), self.name("piece")
        inner, held, result = self.body([*values, state, piece], (*around, "rounds"), deep=False)
        copy = self.node("Identity", [result], inner)
        body = helper.make_graph(inner, self.name("scan"), [self.value(state), self.value(piece)],
                                 [self.value(result), self.value(copy)], held)
        axes = self.constant(np.array([0], np.int64), constants)
        twice = self.node("Concat", [self.node("Unsqueeze", [values[-1], axes], nodes)] * 2, nodes, axis=0)
        return self.node("Scan", [values[-1], twice], nodes, outputs=2, body=body, num_scan_inputs=1)[0]

    def write(self, folder):
        model = helper.make_model(self.graph, opset_imports=[helper.make_opsetid("", 17)])
        model.ir_version = 8
        onnx.save(model, folder / "m.onnx")
        x = self.rng.standard_normal(self.shape)
        np.save(folder / "x.npy", x.astype(np.float32))
        np.save(folder / "rounded.npy", (x * (1 + self.rng.uniform(-(2**-10), 2**-10, self.shape))).astype(np.float32))
        for flag in (False, True):
            np.save(folder / f"flag{flag:d}.npy", np.array(flag))


def mrvlc(*arguments, **environment):
    done = subprocess.run([str(MRVLC), "-q", *map(str, arguments)], capture_output=True, text=True,
                          env={**os.environ, **environment}, check=False)
    assert done.returncode == 0, f"{arguments}: {done.stderr}"


def results(folder, out, inputs="x", **environment):
    """By value of the condition."""
    values = []
    for flag in (0, 1):
        there = folder / "results"
        shutil.rmtree(there, ignore_errors=True)
        mrvlc("run", out, "--input", f"x={folder}/{inputs}.npy", "--input", f"flag={folder}/flag{flag}.npy", "--output-dir", there,
              "--cflags=-O1", **environment)
        values.append(np.load(next(there.glob("*.npy"))))
    return values


def difference(a, b):
    return max(float(np.max(np.abs(p - q) / (1 + np.abs(q)))) for p, q in zip(a, b, strict=True))


def placed(out):
    """Where each named node runs; that the ID map says the same is asserted on the way."""
    ids, placement = (json.loads((out / f"{name}.json").read_text()) for name in ("idmap", "placement"))
    expressions = {e["expr_id"]: e["sources"] for e in ids["expressions"]}
    on_layers = {s for layer in ids["layers"] for e in layer["exprs"] for s in expressions[e]}
    coded = {(i["region"], i["layer"]) for i in ids["instructions"]}
    where = {}
    for node in placement["nodes"]:
        where[node["name"]] = node["where"]
        if node["where"] in ("accelerator", "both"):
            assert node["id"] in on_layers, f"{node['id']} is in no layer"
            if node["where"] == "both":  # what is told is why a part is on the CPU
                continue
            assert node["id"] in expressions[node["expr_id"]], f"{node['id']}: expression {node['expr_id']} is of another node"
            assert any(region == node["region"] for region, _ in coded), f"region {node['region']} has no code"
    fates = {s["name"]: s["fate"].replace("removed", "folded") for s in ids["sources"]}
    assert fates == where, "placement.json and idmap.json differ"
    return where


def check(seed, folder):
    network = Network(seed)
    network.write(folder)
    model = folder / "m.onnx"
    mrvlc("compile", model, "-o", folder / "host", "--target", "host")
    expected = results(folder, folder / "host")
    tolerance = TOLERANCE + 3 * difference(results(folder, folder / "host", "rounded"), expected)
    in_rounds = [n for n, around in network.products.items() if "rounds" in around]
    once = [n for n, around in network.products.items() if "rounds" not in around]
    wishes = {"default": [], "cost": ["--partition", "cost"], "cpu": ["--cpu", once[0]] if once else None,
              "accel": ["--accel", in_rounds[0]] if in_rounds else None,
              "fallback": ["--on-device-error", "cpu"]}
    for name, options in wishes.items():
        if options is None:
            continue
        out = folder / name
        mrvlc("compile", model, "-o", out, *options)
        where = placed(out)
        if name == "default":
            assert all(where[n] in ("accelerator", "folded") for n in once), f"not on the accelerator: {where}"
            assert all(where[n] in ("cpu", "folded") for n in in_rounds), f"launched in rounds: {where}"
        if name == "cpu":
            assert where[once[0]] in ("cpu", "folded"), "--cpu is ignored"
        if name == "accel":
            assert where[in_rounds[0]] in ("accelerator", "folded"), "--accel is ignored"
        error = difference(results(folder, out), expected)
        assert error < tolerance, f"{name}: off by {error}, {tolerance} is expected"
        if name == "fallback":
            failing = difference(results(folder, out, MRVL_SIMULATOR_FAULT="load"), expected)
            assert failing < 1e-4, f"the CPU in the place of the device: off by {failing}"
    return len(once), len(in_rounds)


def main():
    shutil.rmtree(WORK, ignore_errors=True)
    bad, once, in_rounds = 0, 0, 0
    for seed in range(FIRST, FIRST + COUNT):
        folder = WORK / str(seed)
        folder.mkdir(parents=True)
        try:
            counts = check(seed, folder)
            once, in_rounds = once + counts[0], in_rounds + counts[1]
            shutil.rmtree(folder)
        except AssertionError as e:
            bad += 1
            print(f"seed {seed}: {e}")
    print(f"{COUNT} networks, {once} convolutions in branches or outside, {in_rounds} in rounds: {bad} wrong")
    sys.exit(bad != 0 or once == 0 or in_rounds == 0)


main()
