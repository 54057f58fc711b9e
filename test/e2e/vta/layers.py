"""Drawn layers and networks of int8 with power-of-two scales, as ONNX models, with what they give."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import oracle

KINDS = ("conv", "pointwise", "depthwise", "group", "strided", "wide", "dense", "product", "add", "relu", "largest", "mean", "global",
         "qlinear", "ties", "qlinear_product")


class Value:
    def __init__(self, name, array, exponent):
        self.name, self.array, self.exponent = name, array, exponent


class Model:
    """One network: `arrays` are its inputs by name, `wanted` its outputs."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.nodes, self.constants, self.inputs, self.outputs = [], [], [], []
        self.arrays, self.wanted = {}, {}

    def some(self, low, high):
        return int(self.rng.integers(low, high + 1))

    def chance(self, share):
        return bool(self.rng.random() < share)

    def constant(self, array):
        self.constants.append(numpy_helper.from_array(np.asarray(array), f"c{len(self.constants)}"))
        return self.constants[-1].name

    def node(self, op, *inputs, **attributes):
        out = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, list(inputs), [out], name=f"{op}_{len(self.nodes)}", **attributes))
        return out

    def scale(self, exponent):
        return self.constant(np.float32(2.0**exponent))

    def read(self, value, exponent, zero=np.int8(0)):
        return self.node("DequantizeLinear", value, self.scale(exponent), self.constant(zero))

    def write(self, value, exponent):
        return self.node("QuantizeLinear", value, self.scale(exponent), self.constant(np.int8(0)))

    def bytes(self, shape):
        """A fourth has only the ends of int8."""
        if self.chance(0.25):
            return self.rng.choice(np.array([-128, 127], np.int8), shape)
        return self.rng.integers(-128, 128, shape).astype(np.int8)

    def input(self, shape, exponent=None):
        name = f"x{len(self.inputs)}"
        self.inputs.append(helper.make_tensor_value_info(name, TensorProto.INT8, shape))
        self.arrays[name] = self.bytes(shape)
        return Value(name, self.arrays[name], self.some(-9, 0) if exponent is None else exponent)

    def output(self, value):
        name = f"y{len(self.outputs)}"
        self.nodes.append(helper.make_node("Identity", [value.name], [name], name=f"out_{name}"))
        self.outputs.append(helper.make_tensor_value_info(name, TensorProto.INT8, value.array.shape))
        self.wanted[name] = value.array

    def save(self, path):
        graph = helper.make_graph(self.nodes, "drawn", self.inputs, self.outputs, self.constants)
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)

    def bias(self, count, sums):
        if self.chance(0.25):
            return None
        most = self.rng.choice([50, 5000, int(np.abs(sums).max(initial=1))])
        return self.rng.integers(-most, most + 1, count).astype(np.int32)

    def shift(self, sums):
        """Mostly one that brings sums to the range of int8, sometimes more, less, or one to the left."""
        fits = max(int(np.ceil(np.log2(np.abs(sums).max(initial=1) + 1))) - 7, 0)
        return max(fits + self.some(-2, 1), -8) if self.chance(0.8) else self.some(-4, 20)

    def finish(self, made, sums, exponent, relu, shift=None):
        """Relu and QuantizeLinear behind `made`, whose exact value is sums * 2^exponent."""
        shift = self.shift(sums) if shift is None else shift
        if relu:
            made = self.node("Relu", made)
        return Value(self.write(made, exponent + shift), oracle.rounded(sums, shift, relu), exponent + shift)

    def conv(self, x, outputs, kernel, strides=(1, 1), pads=(0, 0, 0, 0), dilations=(1, 1), group=1, relu=None, qlinear=False, w=None, shift=None):
        ew = self.some(-9, -3)
        w = self.bytes([outputs, x.array.shape[1] // group, *kernel]) if w is None else w
        sums = oracle.conv(x.array, w, None, strides, pads, dilations, group)
        b = self.bias(outputs, sums)
        sums = oracle.conv(x.array, w, b, strides, pads, dilations, group)
        attributes = {"strides": strides, "pads": pads, "dilations": dilations, "group": group}
        exponent = x.exponent + ew
        if qlinear:
            shift = self.shift(sums)
            zero, bias = self.constant(np.int8(0)), [] if b is None else [self.constant(b)]
            out = self.node("QLinearConv", x.name, self.scale(x.exponent), zero, self.constant(w), self.scale(ew), zero,
                            self.scale(exponent + shift), zero, *bias, **attributes)
            return Value(out, oracle.rounded(sums, shift), exponent + shift)
        more = [] if b is None else [self.read(self.constant(b), exponent, np.int32(0))]
        made = self.node("Conv", self.read(x.name, x.exponent), self.read(self.constant(w), ew), *more, **attributes)
        return self.finish(made, sums, exponent, self.chance(0.4) if relu is None else relu, shift)

    def dense(self, x, outputs, product=False):
        ew, w = self.some(-9, -3), self.bytes([x.array.shape[-1], outputs])
        b = self.bias(outputs, oracle.dense(x.array, w, None))
        sums = oracle.dense(x.array, w, b)
        bias = [] if b is None else [self.read(self.constant(b), x.exponent + ew, np.int32(0))]
        a = self.read(x.name, x.exponent)
        if product:
            made = self.node("MatMul", a, self.read(self.constant(w), ew))
            made = self.node("Add", made, *bias) if bias else made
        else:
            turned = self.some(0, 1)
            made = self.node("Gemm", a, self.read(self.constant(w.T if turned else w), ew), *bias, transB=turned)
        return self.finish(made, sums, x.exponent + ew, self.chance(0.4))

    def qlinear_product(self, x, outputs):
        ew, w, zero = self.some(-9, -3), self.bytes([x.array.shape[-1], outputs]), self.constant(np.int8(0))
        sums = oracle.dense(x.array, w, None)
        shift = self.shift(sums)
        out = self.node("QLinearMatMul", x.name, self.scale(x.exponent), zero, self.constant(w), self.scale(ew), zero,
                        self.scale(x.exponent + ew + shift), zero)
        return Value(out, oracle.rounded(sums, shift), x.exponent + ew + shift)

    def add(self, a, b, relu=None):
        sums, exponent = oracle.both(a.array, a.exponent, b.array, b.exponent)
        made = self.node("Add", self.read(a.name, a.exponent), self.read(b.name, b.exponent))
        return self.finish(made, sums, exponent, self.chance(0.4) if relu is None else relu)

    def relu(self, x):
        return self.finish(self.read(x.name, x.exponent), x.array, x.exponent, True, self.some(-3, 3))

    def largest(self, x, kernel, strides, pads):
        made = self.node("MaxPool", x.name, kernel_shape=kernel, strides=strides, pads=pads)
        return Value(made, oracle.largest(x.array, kernel, strides, pads), x.exponent)

    def mean(self, x, kernel, strides):
        sums = oracle.added(x.array, kernel, strides, (0, 0, 0, 0))
        read = self.read(x.name, x.exponent)
        if tuple(kernel) == x.array.shape[2:] and self.chance(0.7):
            made = self.node("GlobalAveragePool", read)
        else:
            made = self.node("AveragePool", read, kernel_shape=kernel, strides=strides)
        part = int(np.log2(kernel[0] * kernel[1]))
        return self.finish(made, sums, x.exponent - part, self.chance(0.2), part + self.some(-3, 2))


def window(m, height, width, most=5):
    """A kernel with what else a convolution has, that fits the image."""
    while True:
        kernel, dilations = (m.some(1, most), m.some(1, most)), (m.some(1, 3), m.some(1, 2))
        pads = tuple(m.some(0, 3) if m.chance(0.5) else 0 for _ in range(4))
        reach = [(k - 1) * d + 1 for k, d in zip(kernel, dilations)]
        if reach[0] <= height + pads[0] + pads[2] and reach[1] <= width + pads[1] + pads[3]:
            return kernel, (m.some(1, 3), m.some(1, 3)), pads, dilations


def ties(m):
    """Sums that are odd multiples of a half, on both sides of 0 and at the ends."""
    shift = m.some(1, 12)
    x = m.input([1, 16, 4, 8])
    x.array[:] = np.arange(-256, 256).reshape(x.array.shape) // 2
    w = np.zeros([16, 16, 1, 1], np.int8)
    factor = 1 << min(shift - 1, 6)
    w[np.arange(16), np.arange(16)] = factor
    return m.conv(x, 16, (1, 1), w=w, shift=min(shift, 7), relu=m.chance(0.3))


def single(m, kind):
    channels, height, width = m.some(1, 70), m.some(1, 20), m.some(1, 24)
    if kind in ("conv", "qlinear", "group", "strided"):
        group = m.some(2, 5) if kind == "group" else 1
        kernel, strides, pads, dilations = window(m, height, width)
        x = m.input([m.some(1, 2), group * m.some(1, 34), height, width])
        return m.conv(x, group * m.some(1, 34), kernel, strides, pads, dilations, group, qlinear=kind == "qlinear")
    if kind == "pointwise":
        return m.conv(m.input([1, m.some(1, 200), height, width]), m.some(1, 200), (1, 1))
    if kind == "wide":
        kernel, strides, pads, dilations = window(m, 40, 60, 9)
        return m.conv(m.input([1, m.some(1, 20), 40, 60]), m.some(1, 20), kernel, strides, pads, dilations)
    if kind == "depthwise":
        kernel, strides, pads, dilations = window(m, height, width)
        return m.conv(m.input([1, channels, height, width]), channels * m.some(1, 2), kernel, strides, pads, dilations, channels)
    if kind in ("dense", "product", "qlinear_product"):
        shape = [m.some(1, 40), m.some(1, 300)]
        if kind == "product" and m.chance(0.4):
            shape = [m.some(1, 4), *shape]
        x = m.input(shape)
        return m.qlinear_product(x, m.some(1, 100)) if kind == "qlinear_product" else m.dense(x, m.some(1, 200), kind == "product")
    if kind == "add":
        shape = ([m.some(1, 2), channels, height, width], [height, channels], [m.some(1, 3), height, channels])[m.some(0, 2)]
        return m.add(m.input(shape), m.input(shape))
    if kind == "relu":
        return m.relu(m.input([m.some(1, 2), channels, height, width]))
    if kind == "largest":
        kernel = m.some(1, 4), m.some(2, 4)
        x = m.input([m.some(1, 2), channels, height + 4, width + 4])
        return m.largest(x, kernel, (m.some(1, 3), m.some(1, 3)), [m.some(0, k - 1) for k in kernel * 2])
    if kind in ("mean", "global"):
        kernel = ((2, 2), (4, 4), (2, 4), (8, 8), (1, 2), (16, 16))[m.some(0, 5)]
        more = (0, 0) if kind == "global" else (m.some(0, 9), m.some(0, 9))
        return m.mean(m.input([m.some(1, 2), channels, kernel[0] + more[0], kernel[1] + more[1]]), kernel, (m.some(1, 3), m.some(1, 3)))
    assert kind == "ties", kind
    return ties(m)


def joined(m, a, b):
    """Their sum, or where steps are too far apart for VTA the first alone."""
    return m.add(a, b) if abs(a.exponent - b.exponent) <= 16 else a


def network(m):
    """Blocks of convolutions with sums, pools, a mean, dense layers. The first half is like a residual network."""
    x = m.conv(m.input([1, m.some(1, 8), 2 * m.some(4, 12), 2 * m.some(4, 14)]), m.some(4, 40), (3, 3), (m.some(1, 2),) * 2, (1,) * 4, relu=True)
    for _ in range(m.some(1, 4)):
        channels, (height, width) = x.array.shape[1], x.array.shape[2:]
        kind = m.some(0, 5)
        if kind == 0 and min(height, width) > 3:
            x = m.largest(x, (2, 2), (2, 2), (0, 0, 0, 0))
        elif kind == 1:
            y = m.conv(x, channels, (3, 3), pads=(1,) * 4, relu=True)
            x = joined(m, m.conv(y, channels, (3, 3), pads=(1,) * 4, relu=False), x)
        elif kind == 2:
            x = m.conv(m.conv(x, channels, (3, 3), pads=(1,) * 4, group=channels), m.some(4, 50), (1, 1))
        elif kind == 3:
            x = joined(m, m.conv(x, channels, (1, 1)), m.conv(x, channels, (3, 3), pads=(1,) * 4))
        elif kind == 4:
            x = m.relu(x)
        else:
            x = m.conv(x, m.some(4, 50), (m.some(1, 3), m.some(1, 3)), pads=(1,) * 4)
    if m.chance(0.4) and min(x.array.shape[2:]) >= 4:
        x = m.mean(x, (4, 4), (2, 2))
    if x.array.size <= 4000 and m.chance(0.5):
        row = Value(m.node("Flatten", x.name), x.array.reshape(1, -1), x.exponent)
        x = m.dense(row, m.some(2, 40))
    return x
