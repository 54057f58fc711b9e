#!/usr/bin/env python3
"""Models that docs/accuracy.md measures, and their inputs: accuracy_cases.py FOLDER [FOUND]

Normalisations and softmax written out in single operators, and a log-mel front end, each with normally distributed inputs and
expected outputs in double precision. FOLDER/NAME.onnx, FOLDER/NAME/test_data_set_K/{input,output}_0.npy; prints a line for
each: name, what it is, the deviation of its inputs, the number of sets. With FOUND, a folder with the models of RANGES, inputs and
expected outputs of those instead, and for each: name, the range of its inputs.
"""
import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto as T
from onnx import helper as h
from onnx import numpy_helper

SETS = 2


class Builder:
    def __init__(self, shape):
        self.shape, self.nodes, self.constants, self.count = shape, [], [], 0

    def constant(self, value):
        self.count += 1
        name = f"c{self.count}"
        value = np.asarray(value)
        self.constants.append(numpy_helper.from_array(value if value.dtype == np.int64 else value.astype(np.float32), name))
        return name

    def __call__(self, op, *inputs, **attributes):
        self.count += 1
        name = f"v{self.count}"
        self.nodes.append(h.make_node(op, list(inputs), [name], f"{op.lower()}_{self.count}", **attributes))
        return name

    def mean(self, x, axes):
        return self("ReduceMean", x, axes=axes, keepdims=1)

    def model(self, y, out_shape):
        self.nodes[-1].output[0] = "y"
        graph = h.make_graph(self.nodes, "g", [h.make_tensor_value_info("x", T.FLOAT, self.shape)],
                             [h.make_tensor_value_info("y", T.FLOAT, out_shape)], self.constants)
        model = h.make_model(graph, opset_imports=[h.make_opsetid("", 17)])
        model.ir_version = 8
        return model


def affine(rng, n):
    return rng.normal(1, 0.3, n).astype(np.float32), rng.normal(0, 0.5, n).astype(np.float32)


def layer_norm(rng, folded):
    b = Builder([16, 768])
    scale, bias = affine(rng, 768)
    mean = b.mean("x", [1])
    d = b("Sub", "x", mean)
    var = b.mean(b("Mul", d, d), [1])
    rsqrt = b("Reciprocal", b("Sqrt", b("Add", var, b.constant(np.float32(1e-5)))))
    if folded:  # x * f + (bias - mean * f)
        f = b("Mul", rsqrt, b.constant(scale))
        y = b("Add", b("Mul", "x", f), b("Sub", b.constant(bias), b("Mul", mean, f)))
    else:
        y = b("Add", b("Mul", b("Mul", d, rsqrt), b.constant(scale)), b.constant(bias))

    def exact(x):
        d = x - x.mean(1, keepdims=True)
        return d / np.sqrt((d * d).mean(1, keepdims=True) + 1e-5) * scale.astype(float) + bias

    return b.model(y, [16, 768]), exact


def rms_norm(rng):
    b = Builder([16, 768])
    scale, _ = affine(rng, 768)
    root = b("Sqrt", b("Add", b.mean(b("Pow", "x", b.constant(np.float32(2))), [1]), b.constant(np.float32(1e-6))))
    y = b("Mul", b("Div", "x", root), b.constant(scale))
    return b.model(y, [16, 768]), lambda x: x / np.sqrt((x * x).mean(1, keepdims=True) + 1e-6) * scale.astype(float)


def instance_norm(rng):
    b = Builder([1, 32, 28, 28])
    scale, bias = (v.reshape(1, 32, 1, 1) for v in affine(rng, 32))
    mean = b.mean("x", [2, 3])
    d = b("Sub", "x", mean)
    root = b("Sqrt", b("Add", b.mean(b("Mul", d, d), [2, 3]), b.constant(np.float32(1e-5))))
    y = b("Add", b("Mul", b("Div", d, root), b.constant(scale)), b.constant(bias))

    def exact(x):
        d = x - x.mean((2, 3), keepdims=True)
        return d / np.sqrt((d * d).mean((2, 3), keepdims=True) + 1e-5) * scale.astype(float) + bias

    return b.model(y, [1, 32, 28, 28]), exact


def softmax(x):
    e = np.exp(x - x.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def log_sum_exp(x):
    m = x.max(1, keepdims=True)
    return np.log(np.exp(x - m).sum(1, keepdims=True)) + m


def softmax_out(shifted, log):
    b = Builder([4, 1000])
    x = b("Sub", "x", b("ReduceMax", "x", axes=[1], keepdims=1)) if shifted else "x"
    e = b("Exp", x)
    y = b("Div", e, b("ReduceSum", e, b.constant(np.array([1], np.int64)), keepdims=1))
    if log:
        y = b("Log", y)
    return b.model(y, [4, 1000]), (lambda x: x - log_sum_exp(x)) if log else softmax


def log_sum_exp_out(shifted):
    b = Builder([4, 1000])
    m = b("ReduceMax", "x", axes=[1], keepdims=1) if shifted else None
    e = b("Exp", b("Sub", "x", m) if shifted else "x")
    y = b("Log", b("ReduceSum", e, b.constant(np.array([1], np.int64)), keepdims=1))
    if shifted:
        y = b("Add", y, m)
    return b.model(y, [4, 1]), log_sum_exp


def log_mel(rng):
    """DFT as a convolution, power, mel bank as a product, logarithm."""
    n, hop, bins, bands, samples = 256, 128, 129, 40, 4096
    b = Builder([1, 1, samples])
    t, window = np.arange(n), np.hanning(n)
    basis = np.concatenate([np.cos(2 * np.pi * k * t / n)[None] * window for k in range(bins)] +
                           [-np.sin(2 * np.pi * k * t / n)[None] * window for k in range(bins)])
    basis = basis.astype(np.float32)
    edges = np.linspace(0, bins - 1, bands + 2)
    bank = np.maximum(0, np.minimum((np.arange(bins)[:, None] - edges[None, :-2]) / np.diff(edges)[:-1],
                                    (edges[None, 2:] - np.arange(bins)[:, None]) / np.diff(edges)[1:])).astype(np.float32)
    spectrum = b("Conv", "x", b.constant(basis[:, None, :]), strides=[hop])
    power = b("Pow", spectrum, b.constant(np.float32(2)))
    split = [b("Slice", power, *(b.constant(np.array([v], np.int64)) for v in (s, e, 1))) for s, e in ((0, bins), (bins, 2 * bins))]
    energy = b("Transpose", b("Add", *split), perm=[0, 2, 1])
    y = b("Log", b("Add", b("MatMul", energy, b.constant(bank)), b.constant(np.float32(1e-6))))
    frames = (samples - n) // hop + 1

    def exact(x):
        cut = np.stack([x[0, 0, f * hop:f * hop + n] for f in range(frames)])
        s = cut @ basis.T.astype(float)
        return np.log((s[:, :bins] ** 2 + s[:, bins:] ** 2) @ bank.astype(float) + 1e-6)[None]

    return b.model(y, [1, frames, bands]), exact


def cases(rng):
    yield "layer_norm", "LayerNormalization, 16 rows of 768", 30, layer_norm(rng, False)
    yield "layer_norm_folded", "the same as x * f + (bias - mean * f)", 30, layer_norm(rng, True)
    yield "layer_norm_large", "LayerNormalization, sum of squares above 65504", 300, layer_norm(rng, False)
    yield "rms_norm", "RMSNormalization, 16 rows of 768", 30, rms_norm(rng)
    yield "instance_norm", "InstanceNormalization, 32 x 28 x 28", 30, instance_norm(rng)
    yield "softmax_plain", "Softmax, 4 rows of 1000, without the maximum", 30, softmax_out(False, False)
    yield "softmax", "Softmax, with it", 30, softmax_out(True, False)
    yield "log_softmax", "Log(Softmax)", 30, softmax_out(True, True)
    yield "log_sum_exp_plain", "log-sum-exp without the maximum", 30, log_sum_exp_out(False)
    yield "log_sum_exp", "log-sum-exp with it", 30, log_sum_exp_out(True)
    for amplitude in (1, 100, 20000):
        yield f"log_mel_{amplitude}", f"log-mel front end, amplitude {amplitude}", amplitude, log_mel(rng)


def main(folder):
    rng = np.random.default_rng(1)
    for name, what, deviation, (model, exact) in cases(rng):
        onnx.checker.check_model(model)
        onnx.save(model, folder / f"{name}.onnx")
        shape = [d.dim_value for d in model.graph.input[0].type.tensor_type.shape.dim]
        for k in range(SETS):
            at = folder / name / f"test_data_set_{k}"
            at.mkdir(parents=True)
            x = (deviation * rng.normal(0, 1, shape)).astype(np.float32)
            np.save(at / "input_0.npy", x)
            np.save(at / "output_0.npy", exact(x.astype(float)).astype(np.float32))
        print(f"{name}\t{what}\t{deviation}\t{SETS}")


# What leaves fp16 in them: an input, a product, weights.
RANGES = {"image16bit": [(0, 65535)], "rmsnorm_zero": [(-1, 1), (-1000, 1000)], "weights_beyond_fp16": [(-10, 10)]}


def conv(x, w):
    windows = np.lib.stride_tricks.sliding_window_view(x, w.shape[2:], axis=(2, 3))
    return np.einsum("nchwij,ocij->nohw", windows, w)


EXACT = {"Mul": np.multiply, "Add": np.add, "Div": np.divide, "Pow": np.power, "MatMul": np.matmul, "Sqrt": np.sqrt,
         "Relu": lambda x: np.maximum(x, 0), "ReduceMean": lambda x: x.mean(-1, keepdims=True), "Conv": conv}


def evaluate(model, x):
    values = {t.name: numpy_helper.to_array(t).astype(float) for t in model.graph.initializer}
    values[model.graph.input[0].name] = x.astype(float)
    for node in model.graph.node:
        values[node.output[0]] = EXACT[node.op_type](*(values[i] for i in node.input))
    return values[model.graph.output[0].name]


def found(folder, models):
    rng = np.random.default_rng(1)
    for name, ranges in RANGES.items():
        model = onnx.load(models / f"{name}.onnx")
        shape = [d.dim_value for d in model.graph.input[0].type.tensor_type.shape.dim]
        for low, high in ranges:
            at = folder / f"{name}_{high}" / "test_data_set_0"
            at.mkdir(parents=True)
            x = rng.uniform(low, high, shape).astype(np.float32)
            np.save(at / "input_0.npy", x)
            np.save(at / "output_0.npy", evaluate(model, x).astype(np.float32))
            print(f"{name}\t{low}\t{high}")


if len(sys.argv) > 2:
    found(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
else:
    main(pathlib.Path(sys.argv[1]))
