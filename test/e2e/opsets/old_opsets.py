#!/usr/bin/env python3
"""Random graphs of opsets 7 to 12, whose operators meant something else than today's: axes that flatten, attributes
that became inputs. Expected values are those of NumPy, by the text of the opset; with $ORT_DIR ONNX Runtime says whether
that is right.

  old_opsets.py MRVLC FOLDER [GRAPHS_AN_OPSET [SEED]]     FOLDER is emptied

Every graph is compiled for the host and for the accelerator, run, and compared (mrvlc verify)."""
import json
import os
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSETS = range(7, 13)


def softmax(x, axis):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def of_rows(f):
    """f of a matrix's rows, which are all dimensions from the axis on."""

    def apply(x, axis):
        rows = x.reshape(int(np.prod(x.shape[:axis], dtype=np.int64)), -1)
        return f(rows).reshape(x.shape)

    return apply


def one_hot_of_maximum(rows):
    out = np.zeros_like(rows)
    out[np.arange(rows.shape[0]), rows.argmax(axis=1)] = 1
    return out


class Graph:
    """Grows by one operator at a time; every value is an output."""

    def __init__(self, rng, opset):
        self.rng, self.opset = rng, opset
        self.nodes, self.initializers, self.values, self.inputs = [], [], {}, []
        for i in range(2):
            # Distinct, and exact in fp16: what is the greatest does not depend on rounding.
            shape = [int(d) for d in rng.integers(1, 6, size=rng.integers(2, 5))]
            n = int(np.prod(shape))
            values = (rng.permutation(n) - n // 2).astype(np.float32) / np.float32(64)
            self.inputs.append((f"x{i}", values.reshape(shape)))
        # The accelerator takes what is connected with a product: columns in another order, exactly.
        self.sources = [self.turned(*i) for i in self.inputs]

    def flip(self):
        return bool(self.rng.integers(2))

    def pick(self, items):
        return items[int(self.rng.integers(len(items)))]

    def turned(self, name, x):
        order = self.rng.permutation(x.shape[-1])
        return self.add("MatMul", [name, self.constant(np.eye(x.shape[-1], dtype=np.float32)[:, order])], [x[..., order]])[0], x[..., order]

    def source(self):
        return self.pick(self.sources)

    def axis(self, rank, negative_from=11):
        a = int(self.rng.integers(rank))
        return a - rank if self.opset >= negative_from and self.flip() else a

    def constant(self, array):
        name = f"c{len(self.initializers)}"
        self.initializers.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def add(self, op, inputs, results, **attrs):
        names = [f"y{len(self.values) + k}" for k in range(len(results))]
        self.nodes.append(helper.make_node(op, inputs, names, name=f"n{len(self.nodes)}", **attrs))
        for name, value in zip(names, results):
            self.values[name] = np.asarray(value)
        return names

    def model(self):
        kinds = {np.dtype(np.float32): TensorProto.FLOAT, np.dtype(np.int64): TensorProto.INT64}
        info = lambda name, v: helper.make_tensor_value_info(name, kinds[v.dtype], v.shape)
        graph = helper.make_graph(self.nodes, "old", [info(n, v) for n, v in self.inputs],
                                  [info(n, v) for n, v in self.values.items()], self.initializers)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=7)


# -- one operator each


def flattening(op, f):
    def recipe(g):
        name, x = g.source()
        if g.flip() and x.ndim > 1:
            g.add(op, [name], [f(x, 1)])
        else:
            axis = g.axis(x.ndim)
            g.add(op, [name], [f(x, axis % x.ndim)], axis=axis)

    return recipe


def log_of_softmax(g):  # a pass makes LogSoftmax of it
    name, x = g.source()
    axis = g.axis(x.ndim)
    soft = of_rows(lambda r: softmax(r, 1))(x, axis % x.ndim)
    y = g.add("Softmax", [name], [soft], axis=axis)
    g.add("Log", y, [np.log(soft)])


def flatten(g):
    name, x = g.source()
    axis = int(g.rng.integers(x.ndim + 1))
    g.add("Flatten", [name], [x.reshape(int(np.prod(x.shape[:axis], dtype=np.int64)), -1)], axis=axis)


def concat(g):
    name, x = g.source()
    axis = g.axis(x.ndim)
    g.add("Concat", [name, name], [np.concatenate([x, x], axis)], axis=axis)


def reduction(op, f):
    def recipe(g):
        name, x = g.source()
        keep = g.flip()
        attrs = {"keepdims": int(keep)}
        axes = tuple(range(x.ndim))
        if g.flip():
            axes = tuple(sorted({g.axis(x.ndim) % x.ndim for _ in range(2)}))
            attrs["axes"] = [a - x.ndim for a in axes] if g.opset >= 11 and g.flip() else list(axes)
        g.add(op, [name], [f(x, axis=axes, keepdims=keep).astype(np.float32)], **attrs)

    return recipe


def arg(op, f):
    def recipe(g):
        name, x = g.source()
        axis, keep = g.axis(x.ndim), g.flip()
        y = f(x, axis).astype(np.int64)
        g.add(op, [name], [np.expand_dims(y, axis) if keep else y], axis=axis, keepdims=int(keep))

    return recipe


def squeeze_and_back(g):
    name, x = g.source()
    at = int(g.rng.integers(x.ndim + 1))
    wide = np.expand_dims(x, at)
    y = g.add("Unsqueeze", [name], [wide], axes=[at])
    g.add("Squeeze", y, [x], axes=[at - wide.ndim if g.opset >= 11 and g.flip() else at])


def split(g):
    name, x = g.source()
    axis = g.axis(x.ndim)
    size = x.shape[axis]
    if size < 2:
        return
    first = int(g.rng.integers(1, size))
    g.add("Split", [name], np.split(x, [first], axis), axis=axis, split=[first, size - first])


def slice_(g):
    name, x = g.source()
    axis = g.axis(x.ndim, 10)
    size = x.shape[axis]
    start = int(g.rng.integers(size))
    end = int(g.rng.integers(start + 1, size + 1))
    y = np.take(x, np.arange(start, end), axis)
    if g.flip():
        start -= size
    if end == size:
        end = 1000
    if g.opset < 10:
        g.add("Slice", [name], [y], axes=[axis], starts=[start], ends=[end])
    else:
        ints = [g.constant(np.array([v], np.int64)) for v in (start, end, axis)]
        g.add("Slice", [name] + ints, [y])


def clip(g):
    name, x = g.source()
    low, high = np.float32(-0.25), np.float32(0.125)
    which = g.pick(["both", "low", "high"])
    y = np.clip(x, low if which != "high" else None, high if which != "low" else None)
    if g.opset < 11:
        attrs = {k: float(v) for k, v, w in (("min", low, "high"), ("max", high, "low")) if which != w}
        g.add("Clip", [name], [y], **attrs)
    else:
        g.add("Clip", [name, g.constant(low) if which != "high" else "", g.constant(high) if which != "low" else ""], [y])


def pad(g):
    name, x = g.source()
    pads = [int(p) for p in g.rng.integers(0, 3, size=2 * x.ndim)]
    mode = g.pick(["constant", "edge"])
    pairs = list(zip(pads[: x.ndim], pads[x.ndim :]))
    more = {"constant_values": 0.5} if mode == "constant" else {}
    y = np.pad(x, pairs, mode, **more).astype(np.float32)
    if g.opset < 11:
        g.add("Pad", [name], [y], pads=pads, mode=mode, **({"value": 0.5} if more else {}))
    else:
        value = [g.constant(np.float32(0.5))] if more else []
        g.add("Pad", [name, g.constant(np.array(pads, np.int64))] + value, [y], mode=mode)


def upsample(g):
    name, x = g.source()
    scales = [1] * x.ndim
    scales[-1] = int(g.rng.integers(1, 4))
    if x.ndim > 2:
        scales[-2] = int(g.rng.integers(1, 4))
    y = x
    for d, s in enumerate(scales):
        y = np.repeat(y, s, axis=d)
    floats = np.array(scales, np.float32)
    if g.opset < 9:
        g.add("Upsample", [name], [y], scales=[float(s) for s in scales])
    elif g.opset < 11:
        g.add("Upsample" if g.opset == 9 else "Resize", [name, g.constant(floats)], [y])
    else:
        g.add("Resize", [name, g.constant(np.zeros(0, np.float32)), g.constant(floats)], [y],
              coordinate_transformation_mode="asymmetric", nearest_mode="floor")


def top_k(g):
    name, x = g.source()
    axis = g.axis(x.ndim)
    k = int(g.rng.integers(1, x.shape[axis] + 1))
    smallest = g.opset >= 11 and g.flip()
    order = np.take(np.argsort(x if smallest else -x, axis, kind="stable"), np.arange(k), axis)
    results = [np.take_along_axis(x, order, axis), order.astype(np.int64)]
    more = {"largest": 0} if smallest else {}
    if g.opset < 10:
        g.add("TopK", [name], results, k=k, axis=axis)
    else:
        g.add("TopK", [name, g.constant(np.array([k], np.int64))], results, axis=axis, **more)


def dropout(g):
    name, x = g.source()
    if g.opset < 12:
        g.add("Dropout", [name], [x], ratio=0.75)
    else:
        g.add("Dropout", [name, g.constant(np.float32(0.75))], [x])


def batch_normalization(g):
    name, x = g.source()
    scale, bias, mean, var = (g.rng.uniform(0.5, 1.5, x.shape[1]).astype(np.float32) for _ in range(4))
    turn = lambda v: v.reshape([-1 if d == 1 else 1 for d in range(x.ndim)])
    y = (x - turn(mean)) / np.sqrt(turn(var) + 1e-3) * turn(scale) + turn(bias)
    g.add("BatchNormalization", [name] + [g.constant(v) for v in (scale, bias, mean, var)], [y.astype(np.float32)],
          epsilon=1e-3, momentum=0.5)


def gemm(g):
    name, x = g.source()
    if x.ndim != 2:
        return
    b = (g.rng.integers(-8, 9, size=(x.shape[0], 3)) / 16).astype(np.float32)
    c = (g.rng.integers(-8, 9, size=3) / 16).astype(np.float32)
    g.add("Gemm", [name, g.constant(b), g.constant(c)], [(0.5 * x.T @ b + 2 * c).astype(np.float32)], alpha=0.5, beta=2.0,
          transA=1)


def gather(g):
    name, x = g.source()
    axis = g.axis(x.ndim)
    at = g.rng.integers(x.shape[axis], size=(2, 2)).astype(np.int64)
    g.add("Gather", [name, g.constant(at)], [np.take(x, at, axis)], axis=axis)


def prelu(g):
    name, x = g.source()
    slope = g.rng.uniform(0, 1, x.shape[-1]).astype(np.float32)
    g.add("PRelu", [name, g.constant(slope)], [np.where(x < 0, x * slope, x)])


def log_sum_exp(x, axis, keepdims):
    return np.log(np.exp(x).sum(axis=axis, keepdims=keepdims))


RECIPES = [
    flattening("Softmax", of_rows(lambda r: softmax(r, 1))),
    flattening("LogSoftmax", of_rows(lambda r: np.log(softmax(r, 1)))),
    flattening("Hardmax", of_rows(one_hot_of_maximum)),
    log_of_softmax, flatten, concat, squeeze_and_back, split, slice_, clip, pad, upsample, top_k, dropout,
    batch_normalization, gemm, gather, prelu,
    reduction("ReduceSum", np.sum), reduction("ReduceMean", np.mean), reduction("ReduceMax", np.max),
    reduction("ReduceMin", np.min), reduction("ReduceL1", lambda x, **k: np.abs(x).sum(**k)),
    reduction("ReduceL2", lambda x, **k: np.sqrt((x * x).sum(**k))), reduction("ReduceLogSumExp", log_sum_exp),
    reduction("ReduceSumSquare", lambda x, **k: (x * x).sum(**k)),
    arg("ArgMax", np.argmax), arg("ArgMin", np.argmin),
]  # fmt: skip


def grown(opset, number, seed):
    rng = np.random.default_rng([seed, opset, number])
    g = Graph(rng, opset)
    while len(g.nodes) < 10:
        g.pick(RECIPES)(g)
    return g


def write(graph, folder):
    data = folder / "test_data_set_0"
    data.mkdir(parents=True)
    onnx.save(graph.model(), str(folder / "model.onnx"))
    for kind, values in (("input", graph.inputs), ("output", list(graph.values.items()))):
        for k, (name, value) in enumerate(values):
            tensor = numpy_helper.from_array(np.array(value, order="C"), name)
            (data / f"{kind}_{k}.pb").write_bytes(tensor.SerializeToString())


def onnx_runtime(cases, work):
    if "ORT_DIR" not in os.environ:
        return {}
    script = pathlib.Path(__file__).resolve().parents[2] / "property/graphs/onnx_runtime.mjs"
    subprocess.run(["node", str(script), str(cases), str(work / "ort.json")], check=True)
    said = json.loads((work / "ort.json").read_text())
    return {name: text for name, text in said.items() if text}


def main():
    mrvlc, work = sys.argv[1], pathlib.Path(sys.argv[2])
    count, seed = (int(v) for v in (sys.argv[3:5] + ["2", "1"][len(sys.argv) - 3 :]))
    shutil.rmtree(work, ignore_errors=True)
    cases = work / "cases"
    failures = 0
    for opset in OPSETS:
        for number in range(count):
            folder = cases / f"opset{opset}_{number}"
            write(grown(opset, number, seed), folder)
            for target in ("host", "cn10ka"):
                command = [mrvlc, "verify", str(folder / "model.onnx"), "--data", str(folder / "test_data_set_0"),
                           "--target", target, "-j", "1"]  # fmt: skip
                done = subprocess.run(command, capture_output=True, text=True)
                if done.returncode == 0:
                    continue
                failures += 1
                print(f"{folder.name} --target {target}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    for name, text in onnx_runtime(cases, work).items():
        failures += 1
        print(f"{name}: ONNX Runtime: {text}")
    print(f"{len(OPSETS) * count} graphs on host and accelerator, {failures} failures")
    return 1 if failures else 0


sys.exit(main())
