"""usage: vendor.py MRVLC SOURCE WORK [MODEL.onnx...]

Compiles models for the vendor's compiler and computes what was written with a reader of its own (nodes_json.py); each result of each
region is held against the same value of the ONNX model, computed by the host's code. Without models: the small ones of SOURCE, and random
chains of everything that the vendor's compiler takes. WORK is emptied first.
"""

import json
import pathlib
import random
import shutil
import subprocess
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from nodes_json import Network

MRVLC, SOURCE, WORK = (pathlib.Path(a).absolute() for a in sys.argv[1:4])
LIMIT = 1e-4  # of the larger of 1 and the value
RANDOM = 40


def run(*command):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, cwd=WORK)
    assert done.returncode == 0, f"{command}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout + done.stderr


def read(folder, name):
    return json.loads((WORK / folder / name).read_text())


def ports(model, nodes):
    """Values that enter these nodes, in order of first use, and those that leave them."""
    constants = {t.name for t in model.graph.initializer} | {n.output[0] for n in model.graph.node if n.op_type == "Constant"}
    made = {v for n in nodes for v in n.output}
    enter = []
    for n in nodes:
        enter += [v for v in n.input if v and v not in constants | made and v not in enter]
    read_outside = {v for n in model.graph.node if n not in nodes for v in n.input} | {o.name for o in model.graph.output}
    return enter, [v for n in nodes for v in n.output if v in read_outside]


def values_of(file, names, feeds):
    """The named values of the model, by the host's code."""
    model = onnx.load(str(file))
    there = {o.name for o in model.graph.output} | {i.name for i in model.graph.input}
    model.graph.output.extend(helper.make_tensor_value_info(n, TensorProto.FLOAT, None) for n in sorted(set(names) - there))
    onnx.save(model, str(WORK / "reference.onnx"))
    shutil.rmtree(WORK / "reference", ignore_errors=True)
    run(MRVLC, "compile", "reference.onnx", "--target", "host", "-o", "reference", "-q")
    bindings = []
    for i, (name, value) in enumerate(feeds.items()):
        np.save(WORK / f"in{i}.npy", value)
        bindings += ["--input", f"{name}=in{i}.npy"]
    shutil.rmtree(WORK / "results", ignore_errors=True)
    run(MRVLC, "run", "reference", *bindings, "--output-dir", "results")
    found = {p["name"]: np.load(WORK / "results" / f"{p['file']}.npy") for p in read("reference", "manifest.json")["outputs"]}
    return {**found, **feeds}


def error(got, expected):
    return float(np.max(np.abs(got - expected) / np.maximum(1, np.abs(expected)))) if got.shape == expected.shape else np.inf


def check_region(network, enter, leave, values):
    """The region's results are these values, each once: channels last where they are images."""
    given = [values[v] for v in enter]
    results = network.run(given)
    assert len(results) == len(leave), (len(results), leave)
    worst = 0.0
    left = {v: values[v].transpose(0, 2, 3, 1) if values[v].ndim == 4 else values[v] for v in leave}
    for result in results:
        best = min(left, key=lambda v: error(result.reshape(left[v].shape) if result.size == left[v].size else result, left[v]))
        off = error(result.reshape(left[best].shape), left[best])
        assert off <= LIMIT, f"'{best}' differs by {off}"
        worst = max(worst, off)
        del left[best]
    return worst


def check_model(file, seed=1):
    """Regions and layers of the model, and the largest error."""
    shutil.rmtree(WORK / "out", ignore_errors=True)
    run(MRVLC, "compile", file, "--target", "cn10ka-vendor", "--emit", "nodes-json", "-o", "out", "-q")
    model = onnx.load(str(file))
    by_id = {f"main/{i}": n for i, n in enumerate(model.graph.node)}
    placed = read("out", "placement.json")["nodes"]
    draw = np.random.default_rng(seed)
    feeds = {}
    for port in read("out", "manifest.json")["inputs"]:
        feeds[port["name"]] = draw.uniform(-1, 1, port["shape"]).astype(np.float32)
    regions, home = {}, {}
    for n in placed:
        node = by_id[n["id"]]
        # What passes its input on unchanged is with what makes that.
        r = n["region"] if n["where"] == "accelerator" else home.get(node.input[0]) if n["where"] == "folded" else None
        if r is not None:
            regions.setdefault(r, []).append(node)
            home.update((v, r) for v in node.output)
    borders = {r: ports(model, nodes) for r, nodes in regions.items()}
    values = values_of(file, [v for enter, leave in borders.values() for v in enter + leave], feeds)
    name = read("out", "manifest.json")["model"]["name"]
    worst, layers = 0.0, 0
    for r, (enter, leave) in borders.items():
        network = Network(WORK / "out" / f"{name}_region{r}-nodes.json", WORK / "out" / f"{name}_region{r}-consts.json")
        worst = max(worst, check_region(network, enter, leave, values))
        layers += sum(n["op"] == "tvm_op" for n in network.document["nodes"])
    return len(regions), layers, worst


class Chain:
    """A random network of what the vendor's compiler takes."""

    def __init__(self, seed):
        self.draw = random.Random(seed)
        self.numbers = np.random.default_rng(seed)
        self.nodes, self.constants, self.next = [], [], 0
        self.shape = [1, self.draw.choice([1, 3, 4, 8]), self.draw.randint(6, 13), self.draw.randint(6, 13)]
        self.input = helper.make_tensor_value_info("x", TensorProto.FLOAT, self.shape)
        self.value = "x"

    def name(self):
        self.next += 1
        return f"v{self.next}"

    def constant(self, *shape):
        name = self.name()
        self.constants.append(numpy_helper.from_array((self.numbers.uniform(-1, 1, shape)).astype(np.float32), name))
        return name

    def add(self, op, inputs, **attributes):
        out = self.name()
        self.nodes.append(helper.make_node(op, inputs, [out], name=f"{op.lower()}_{out}", **attributes))
        return out

    def size(self, have, kernel, stride, pads, dilation=1):
        return (have + pads[0] + pads[1] - (kernel - 1) * dilation - 1) // stride + 1

    def window(self, most_kernel, dilate):
        d = self.draw
        kernel, strides = [d.randint(1, most_kernel) for _ in "hw"], [d.choice([1, 1, 2]) for _ in "hw"]
        dilations = [d.choice([1, 2]) if dilate and k > 1 else 1 for k in kernel]
        pads = [[d.randint(0, k // 2) for _ in "be"] for k in kernel]
        out = [self.size(self.shape[2 + i], kernel[i], strides[i], pads[i], dilations[i]) for i in (0, 1)]
        return kernel, strides, dilations, pads, out

    def conv(self):
        kernel, strides, dilations, pads, out = self.window(4, True)
        if min(out) < 1:
            return
        c = self.shape[1]
        depthwise = c > 1 and self.draw.random() < 0.3
        outputs = c if depthwise else self.draw.choice([2, 5, 8])
        inputs = [self.value, self.constant(outputs, 1 if depthwise else c, *kernel)] + ([self.constant(outputs)] if self.draw.random() < 0.6 else [])
        self.value = self.add("Conv", inputs, kernel_shape=kernel, strides=strides, dilations=dilations, group=c if depthwise else 1,
                              pads=[pads[0][0], pads[1][0], pads[0][1], pads[1][1]])
        self.shape = [1, outputs, *out]
        if self.draw.random() < 0.3:
            variance = self.name()
            self.constants.append(numpy_helper.from_array(self.numbers.uniform(0.5, 2, outputs).astype(np.float32), variance))
            self.value = self.add("BatchNormalization", [self.value, *(self.constant(outputs) for _ in range(3)), variance])
        self.maybe_relu()

    def maybe_relu(self):
        if self.draw.random() < 0.5:
            self.value = self.add("Relu", [self.value])

    def pool(self):
        op = self.draw.choice(["MaxPool", "AveragePool"])
        kernel, strides, _, pads, out = self.window(3, False)
        if min(out) < 1 or any(p >= k for k, ps in zip(kernel, pads) for p in ps):
            return
        attributes = {"count_include_pad": self.draw.randint(0, 1)} if op == "AveragePool" else {}
        self.value = self.add(op, [self.value], kernel_shape=kernel, strides=strides, pads=[pads[0][0], pads[1][0], pads[0][1], pads[1][1]], **attributes)
        self.shape = [1, self.shape[1], *out]

    def sum(self):
        other = self.constant(self.shape[1], 1, 1) if self.draw.random() < 0.3 else self.value
        if other == self.value:
            before, shape = self.value, list(self.shape)
            self.conv()
            if self.shape != shape or before == self.value:
                return
            other = before
        self.value = self.add("Add", [self.value, other])
        self.maybe_relu()

    def concat(self):
        before, shape = self.value, list(self.shape)
        self.conv()
        if self.shape[2:] != shape[2:] or before == self.value:
            return
        self.value = self.add("Concat", [before, self.value], axis=1)
        self.shape[1] += shape[1]

    def model(self):
        self.conv()
        for _ in range(self.draw.randint(1, 6)):
            self.draw.choice([self.conv, self.conv, self.pool, self.sum, self.concat])()
        end = self.draw.random()
        if end < 0.3:
            self.value = self.add(self.draw.choice(["GlobalAveragePool", "GlobalMaxPool"]), [self.value])
            self.shape[2:] = [1, 1]
        if end < 0.7:
            self.value = self.add("Flatten", [self.value])
            rows, columns = int(np.prod(self.shape)), self.draw.choice([3, 10])
            transposed = self.draw.randint(0, 1)
            self.value = self.add("Gemm", [self.value, self.constant(*((columns, rows) if transposed else (rows, columns))), self.constant(columns)],
                                  transB=transposed)
            self.maybe_relu()
        graph = helper.make_graph(self.nodes, "chain", [self.input], [helper.make_tensor_value_info(self.value, TensorProto.FLOAT, None)], self.constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])


def main():
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)
    given = [pathlib.Path(a).absolute() for a in sys.argv[4:]]
    if not given:
        run("/usr/bin/python3", SOURCE / "models/rfc_example/make.py", "-o", ".")
        given = [WORK / "rfc_example.onnx", SOURCE / "models/digits/digits.onnx"]
    for file in given:
        regions, layers, worst = check_model(file)
        assert regions > 0, "nothing went to the vendor's compiler"
        print(f"{file.stem:<28} {regions:>3} regions {layers:>4} layers, largest error {worst:.1e}", flush=True)
    if len(sys.argv) > 4:
        return
    total, worst = 0, 0.0
    for seed in range(RANDOM):
        onnx.save(Chain(seed).model(), str(WORK / "chain.onnx"))
        try:
            _, layers, off = check_model(WORK / "chain.onnx", seed)
        except AssertionError as fault:
            raise AssertionError(f"seed {seed}: {fault}") from fault
        total, worst = total + layers, max(worst, off)
    assert total > 3 * RANDOM
    print(f"{RANDOM} random chains            {total:>12} layers, largest error {worst:.1e}")


main()
