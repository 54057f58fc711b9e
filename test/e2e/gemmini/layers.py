"""Quantised layers, alone and in rows, as an ONNX model with one input and one output for each, and what they should give."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import oracle


class Model:
    """`wanted`: by name of a layer Gemmini's result and ONNX's. Nodes are named LAYER/PART."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.nodes, self.constants, self.inputs, self.outputs = [], [], [], []
        self.wanted, self.arrays = {}, {}

    def some(self, low, high):
        return int(self.rng.integers(low, high + 1))

    def constant(self, array):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def node(self, layer, op, *inputs, **attributes):
        out = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, list(inputs), [out], name=f"{layer}/{op}", **attributes))
        return out

    def bytes(self, shape):
        """A third are at the ends: all of one value, or of -128 and 127."""
        kind = self.rng.random()
        if kind < 0.12:
            return np.full(shape, self.rng.choice([-128, 127]), np.int8)
        if kind < 0.33:
            return self.rng.choice(np.array([-128, 127], np.int8), shape)
        return self.rng.integers(-128, 128, shape).astype(np.int8)

    def input(self, layer, shape, name="x"):
        name = f"{layer}_{name}"
        self.inputs.append(helper.make_tensor_value_info(name, TensorProto.INT8, shape))
        self.arrays[name] = self.bytes(shape)
        return name, self.arrays[name]

    def dequantized(self, layer, value, scale, zero=np.int8(0), **attributes):
        return self.node(layer, "DequantizeLinear", value, self.constant(np.asarray(scale, np.float32)), self.constant(zero), **attributes)

    def quantized(self, layer, value, scale, zero=0):
        return self.node(layer, "QuantizeLinear", value, self.constant(np.float32(scale)), self.constant(np.int8(zero)))

    def output(self, layer, value, exact, near):
        self.nodes.append(helper.make_node("Identity", [value], [f"{layer}_y"], name=f"{layer}/Identity"))
        self.outputs.append(helper.make_tensor_value_info(f"{layer}_y", TensorProto.INT8, exact.shape))
        self.wanted[layer] = exact, near

    def save(self, path):
        graph = helper.make_graph(self.nodes, "layers", self.inputs, self.outputs, self.constants)
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)

    def bias(self, layer, count, sums, scale):
        """Null, small, or as large as the sums."""
        if self.rng.random() < 0.25:
            return None, []
        most = 100 if self.rng.random() < 0.3 else max(int(np.abs(sums).max(initial=1)), 100)
        b = self.rng.integers(-most, most + 1, count).astype(np.int32)
        return b, [self.dequantized(layer, self.constant(b), scale, np.int32(0))]

    def output_scale(self, sums, sx, sw):
        """Of results that use most of int8, all of it and more, or, a power of two away, have many ties."""
        steps = self.rng.choice([20, 60, 200])
        sy = float(sx) * float(sw) * max(float(np.abs(sums).max(initial=1)), 1) / steps
        if self.rng.random() < 0.3:
            sy = float(sx) * float(sw) * 2.0 ** np.ceil(np.log2(sy / (float(sx) * float(sw))))
        return np.float32(sy)

    def finish(self, layer, value, sums, sx, sw, relu):
        """Relu and QuantizeLinear: the value, its scale, Gemmini's and ONNX's numbers."""
        sy = self.output_scale(sums, sx, sw)
        if relu:
            value = self.node(layer, "Relu", value)
        exact = oracle.accumulator(sums, float(sx) * float(sw) / float(sy), relu)
        near = oracle.quantized(sums * (float(sx) * float(sw)), float(sy), relu)
        return self.quantized(layer, value, sy), sy, exact, near

    def scales(self):
        return np.float32(self.rng.uniform(0.01, 0.1)), np.float32(self.rng.uniform(0.001, 0.02))

    def conv(self, layer, x, array, sx, outputs, kernel, strides=(1, 1), pads=(0, 0, 0, 0), dilations=(1, 1), group=1, relu=False):
        sw = self.scales()[1]
        w = self.bytes([outputs, array.shape[1] // group, *kernel])
        sums = oracle.conv_sums(array, w, None, strides, pads, dilations, group)
        b, read = self.bias(layer, outputs, sums, np.float32(sx) * sw)
        sums = sums if b is None else sums + b.astype(np.int64).reshape(1, -1, 1, 1)
        wd = self.dequantized(layer, self.constant(w), sw)
        c = self.node(layer, "Conv", self.dequantized(layer, x, sx), wd, *read, kernel_shape=kernel, strides=strides, pads=pads,
                      dilations=dilations, group=group)
        return self.finish(layer, c, sums, sx, sw, relu)

    def qlinear(self, layer, group):
        """QLinearConv, with a group for each channel or one, or QLinearMatMul where `group` is none."""
        zero, (sx, sw) = np.int8(0), self.scales()
        x, array = self.input(layer, [1, self.some(2, 40), 9, 9] if group is not None else [self.some(1, 30), self.some(1, 99)])
        if group is None:
            w = self.bytes([array.shape[1], self.some(1, 60)])
            sums, b = array.astype(np.int64) @ w.astype(np.int64), None
        else:
            groups = array.shape[1] if group else 1
            w = self.bytes([groups if group else self.some(1, 40), array.shape[1] // groups, 3, 3])
            b = self.rng.integers(-9999, 9999, len(w)).astype(np.int32)
            sums = oracle.conv_sums(array, w, b, (1, 1), (1, 0, 2, 1), (1, 1), groups)
        sy = self.output_scale(sums, sx, sw)
        operands = [v for pair in ((x, sx), (self.constant(w), sw), (None, sy)) for v in (pair[0], self.constant(pair[1]), self.constant(zero))]
        operands = [v for v in operands if v is not None]
        if group is None:
            y = self.node(layer, "QLinearMatMul", *operands)
        else:
            y = self.node(layer, "QLinearConv", *operands, self.constant(b), pads=(1, 0, 2, 1), kernel_shape=(3, 3), strides=(1, 1),
                          dilations=(1, 1), group=groups)
        exact = oracle.accumulator(sums, float(sx) * float(sw) / float(sy), False)
        return y, sy, exact, oracle.quantized(sums * (float(sx) * float(sw)), float(sy), False)

    def ties(self, layer):
        """A dense layer whose sums are halves of a step, and one more or less: up to 2^25, where float32 holds even numbers only."""
        sx, sw, sy = np.float32(2.0**-4), np.float32(2.0**-6), np.float32(2.0**8)
        x, array = self.input(layer, [1, self.some(1, 99)])
        w = self.bytes([array.shape[1], 96])
        sums = (np.arange(-48, 48) * 5 // 2).astype(np.int64) * 2**18 + 2**17 + self.rng.integers(-1, 2, 96)
        b = (sums - array.astype(np.int64) @ w.astype(np.int64))[0].astype(np.int32)
        read = self.dequantized(layer, self.constant(b), sx * sw, np.int32(0))
        c = self.node(layer, "Gemm", self.dequantized(layer, x, sx), self.dequantized(layer, self.constant(w), sw), read)
        sums = sums.reshape(1, -1)
        return self.quantized(layer, c, sy), sy, oracle.accumulator(sums, 2.0**-18, False), oracle.quantized(sums * 2.0**-10, 2.0**8, False)

    def dense(self, layer, x, array, sx, outputs, form, relu=False):
        """`form`: a Gemm with weights by rows or by columns, or a MatMul, whose bias is an Add."""
        sw = self.scales()[1]
        w = self.bytes([array.shape[-1], outputs])
        sums = array.astype(np.int64) @ w.astype(np.int64)
        b, read = self.bias(layer, outputs, sums, np.float32(sx) * sw)
        sums = sums if b is None else sums + b
        wd = self.dequantized(layer, self.constant(w.T.copy() if form == "rows" else w), sw)
        xd = self.dequantized(layer, x, sx)
        if form == "product":
            c = self.node(layer, "MatMul", xd, wd)
            c = self.node(layer, "Add", c, *read) if read else c
        else:
            c = self.node(layer, "Gemm", xd, wd, *read, transB=int(form == "rows"))
        return self.finish(layer, c, sums, sx, sw, relu)

    def add(self, layer, operands, relu=False):
        """`operands`: two of (value, numbers, scale)."""
        (a, x, sa), (b, z, sb) = operands
        sy = np.float32(max(sa, sb) * self.rng.choice([1.0, 1.3, 2.0]))
        c = self.node(layer, "Add", self.dequantized(layer, a, sa), self.dequantized(layer, b, sb))
        if relu:
            c = self.node(layer, "Relu", c)
        exact, near = oracle.added(x, z, (sa, sb, sy), relu)
        return self.quantized(layer, c, sy), sy, exact, near


def pool(m, layer, x, padded):
    kernel = m.some(2 if padded else 1, 3)
    stride = m.some(2 if kernel == 1 else 1, 3)
    most, some = kernel - 1, m.some(0, kernel - 1)
    pads = [(most, some, some, most), (some, most, most, some)][m.some(0, 1)] if padded else (0, 0, 0, 0)
    y = m.node(layer, "MaxPool", x, kernel_shape=(kernel, kernel), strides=(stride, stride), pads=pads)
    return y, lambda numbers: oracle.largest(numbers, kernel, stride, pads)


def extreme(m):
    """Kernels, strides and dilations up to what the rules take."""
    while True:
        kernel, strides, dilations = ([m.some(1, most) for _ in "yx"] for most in (m.some(1, 24), m.some(1, 64), m.some(1, 12)))
        high, wide = ((k - 1) * d + 1 for k, d in zip(kernel, dilations))
        if kernel[0] * kernel[1] * 16 + high * (15 * strides[1] + wide) <= 8192 and wide <= 497:
            shape = [1, m.some(1, 20), high + m.some(0, 3) * strides[0], wide + m.some(0, 20) * strides[1]]
            if shape[2] * shape[3] < 20000:
                pads = tuple(m.some(0, 3) for _ in range(4))
                return shape, m.some(1, 40), dict(kernel=kernel, strides=strides, pads=pads, dilations=dilations)


def window(m, kind):
    """Shape of the operand, outputs and attributes of a convolution of this kind."""
    if kind == "extreme":
        return extreme(m)
    if kind == "large":  # weights of several chunks, each as large as half the scratchpad
        side = m.some(5, 6)
        kernel = (side, side)
        return [1, m.some(65, 100), 7, 7], m.some(100, 200), dict(kernel=kernel, pads=tuple(m.some(0, 2) for _ in range(4)))
    group = m.some(2, 40) if kind == "depthwise" else m.some(2, 3) if kind == "group" else 1
    inside = 1 if kind == "depthwise" else m.some(1, 80 if kind != "group" else 20)
    kernel = (1, 1) if kind == "point" else (m.some(1, 5), m.some(1, 5))
    strides = (1, 1) if m.rng.random() < 0.5 else (m.some(1, 3), m.some(1, 3))
    dilations = (1, 1) if m.rng.random() < 0.7 else (m.some(1, 2), m.some(1, 2))
    pads = (0, 0, 0, 0) if m.rng.random() < 0.3 else tuple(m.some(0, 3) for _ in range(4))
    if kind == "point" and m.rng.random() < 0.5:
        strides, pads = (1, 1), (0, 0, m.some(0, 2), m.some(0, 2))
    shape = [m.some(1, 2), group * inside, m.some(15, 18), m.some(15, 36)]
    outputs = group if kind == "depthwise" else group * m.some(1, 80 if kind != "group" else 20)
    return shape, outputs, dict(kernel=kernel, strides=strides, pads=pads, dilations=dilations, group=group)


def single(m, layer, kind):
    relu = bool(m.rng.random() < 0.5)
    if kind == "add":
        shape = [[m.some(1, 9), m.some(1, 90)], [1, m.some(1, 20), 5, m.some(1, 9)]][m.some(0, 1)]
        scales = [m.scales()[0] for _ in range(2)]
        operands = [(*m.input(layer, shape, name), s) for name, s in zip("ab", scales)]
        made = m.add(layer, operands, relu)
    elif kind == "ties":
        made = m.ties(layer)
    elif kind == "qlinear":
        made = m.qlinear(layer, [None, 0, 1][m.some(0, 2)])
    elif kind == "pool":
        x, array = m.input(layer, [m.some(1, 2), m.some(1, 40), m.some(3, 60), m.some(3, 200)])
        value, maxima = pool(m, layer, x, padded=False)
        made = value, None, maxima(array), maxima(array)
    elif kind in ("rows", "columns", "product"):
        x, array = m.input(layer, [m.some(1, 40), m.some(1, 300)])
        made = m.dense(layer, x, array, m.scales()[0], m.some(1, 150), kind, relu)
    else:
        shape, outputs, attributes = window(m, "conv" if kind == "pooled" else kind)
        x, array = m.input(layer, shape)
        made = m.conv(layer, x, array, m.scales()[0], outputs, relu=relu or kind == "pooled", **attributes)
        if kind == "pooled":
            value, maxima = pool(m, layer, made[0], padded=True)
            made = value, None, maxima(made[2]), maxima(made[3])
    value, _, exact, near = made
    m.output(layer, value, exact, near)


KINDS = ("conv", "depthwise", "point", "group", "rows", "columns", "product", "add", "pool", "pooled", "qlinear", "large", "ties", "extreme")


def block(m, layer):
    """Three convolutions with a sum of the first and the last, as in residual networks. Numbers go on as Gemmini makes them, so ONNX's
    are those of the last layer alone."""
    channels = m.some(3, 40)
    x, array = m.input(layer, [1, channels, m.some(5, 12), m.some(5, 20)])
    a, sa, ya, _ = m.conv(f"{layer}/a", x, array, m.scales()[0], m.some(3, 40), (3, 3), pads=(1, 1, 1, 1), relu=True)
    b, sb, yb, _ = m.conv(f"{layer}/b", a, ya, sa, ya.shape[1], (3, 3), pads=(1, 1, 1, 1), group=ya.shape[1], relu=True)
    c, sc, yc, _ = m.conv(f"{layer}/c", b, yb, sb, ya.shape[1], (1, 1))
    value, _, exact, near = m.add(f"{layer}/sum", [(a, ya, sa), (c, yc, sc)], relu=True)
    m.output(layer, value, exact, near)


def drawn(m, count):
    for i in range(count):
        kind = KINDS[i % len(KINDS)]
        single(m, f"{kind}{i}", kind)


def left(m):
    """Layers that stay on the host, each for its reason."""
    for name in ("zero_point", "result_zero_point", "per_channel", "large_sum", "grown_add", "padded_maximum"):
        x, array = m.input(name, [1, 4, 5, 5])
        w = m.bytes([6, 4, 3, 3])
        sw, weight_zero, more = np.float32(0.01), np.int8(0), {}
        if name == "per_channel":
            sw, weight_zero, more = np.linspace(0.01, 0.02, 6).astype(np.float32), np.zeros(6, np.int8), {"axis": 0}
        if name == "padded_maximum":
            y = m.node(name, "MaxPool", x, kernel_shape=(3, 3), pads=(1, 1, 1, 1))
            m.output(name, y, np.zeros([1, 4, 5, 5], np.int8), None)
            continue
        xd = m.dequantized(name, x, 0.05, np.int8(3 if name == "zero_point" else 0))
        if name == "grown_add":
            c = m.node(name, "Add", xd, m.dequantized(name, m.input(name, [1, 4, 5, 5], "b")[0], 0.07))
        else:
            read = []
            if name == "large_sum":
                read = [m.dequantized(name, m.constant(np.full(6, 2**31 - 1, np.int32)), np.float32(0.05) * sw, np.int32(0))]
            c = m.node(name, "Conv", xd, m.dequantized(name, m.constant(w), sw, weight_zero, **more), *read)
        y = m.quantized(name, c, 0.06, 5 if name == "result_zero_point" else 0)
        m.output(name, y, np.zeros([1, 4, 5, 5] if name == "grown_add" else [1, 6, 3, 3], np.int8), None)
