"""Single quantised layers as an ONNX model with one input and one output each, and what they should give."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import oracle


class Layers:
    """`wanted`: by name of the layer CMSIS-NN's result and ONNX's. Nodes are named LAYER/PART."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.nodes, self.constants, self.inputs, self.outputs = [], [], [], []
        self.wanted, self.arrays = {}, {}

    def constant(self, array):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def node(self, layer, op, *inputs, **attributes):
        out = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, list(inputs), [out], name=f"{layer}/{op}", **attributes))
        return out

    def input(self, layer, shape, name="x"):
        array = self.rng.integers(-128, 128, shape).astype(np.int8)
        self.inputs.append(helper.make_tensor_value_info(f"{layer}_{name}", TensorProto.INT8, shape))
        self.arrays[f"{layer}_{name}"] = array
        return f"{layer}_{name}", array

    def dequantized(self, layer, value, scale, zero, **attributes):
        zero = np.asarray(zero) if isinstance(zero, np.ndarray) else np.int8(zero)
        return self.node(layer, "DequantizeLinear", value, self.constant(np.asarray(scale, np.float32)), self.constant(zero), **attributes)

    def output(self, layer, value, scale, zero, wanted):
        y = f"{layer}_y"
        self.nodes.append(helper.make_node("QuantizeLinear", [value, self.constant(np.float32(scale)), self.constant(np.int8(zero))], [y],
                                           name=f"{layer}/QuantizeLinear"))
        self.outputs.append(helper.make_tensor_value_info(y, TensorProto.INT8, wanted[0].shape))
        self.wanted[layer] = wanted

    def plain_output(self, layer, value, wanted):
        self.nodes.append(helper.make_node("Identity", [value], [f"{layer}_y"], name=f"{layer}/Identity"))
        self.outputs.append(helper.make_tensor_value_info(f"{layer}_y", TensorProto.INT8, wanted[0].shape))
        self.wanted[layer] = wanted

    def save(self, path):
        graph = helper.make_graph(self.nodes, "layers", self.inputs, self.outputs, self.constants)
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)

    # Weights, bias and scales of outputs that use most of int8.
    def weights(self, layer, shape, sx, per_channel, bias, axis=0, w_zero=0, bias_factor=1.0, bias_shape=None):
        channels = shape[axis]
        w = self.rng.integers(-127, 128, shape).astype(np.int8)
        sw = (self.rng.uniform(0.5, 1.5, channels if per_channel else ()) * 0.01).astype(np.float32)
        per = {"axis": axis} if per_channel else {}
        wd = self.dequantized(layer, self.constant(w), sw, np.zeros(channels, np.int8) if per_channel else w_zero, **per)
        if not bias:
            return w, sw, None, wd, None
        b = self.rng.integers(-3000, 3000, channels).astype(np.int32)
        sb = (np.float32(sx) * sw * bias_factor).astype(np.float32)
        zero = self.constant(np.zeros(sb.shape, np.int32))
        bd = self.node(layer, "DequantizeLinear", self.constant(b.reshape(bias_shape or [channels])), self.constant(sb), zero,
                       **({"axis": 0} if per_channel else {}))
        return w, sw, b, wd, bd

    def conv(self, layer, shape, outputs, kernel, strides=(1, 1), pads=(0, 0, 0, 0), dilations=(1, 1), group=1, relu=False,
             per_channel=True, bias=True, factor=1.0, zero=-3, float_bias=False, clip=None, **weights):
        """`clip`: in steps of the output."""
        sx, zx = np.float32(0.05), -7
        x, array = self.input(layer, shape)
        xd = self.dequantized(layer, x, sx, zx)
        w, sw, b, wd, bd = self.weights(layer, [outputs, shape[1] // group, *kernel], sx, per_channel, bias, **weights)
        if float_bias:
            bd = self.constant(b.astype(np.float32) * sx * sw)
        c = self.node(layer, "Conv", xd, wd, *([bd] if bias else []), kernel_shape=kernel, strides=strides, pads=pads,
                      dilations=dilations, group=group)
        sums = oracle.conv_sums(array, zx, w, b, strides, pads, dilations, group)
        sy = np.float32(float(sx) * float(sw.max()) * sums.std() / 50 / factor)
        numbers = np.float64(sx) * sw.astype(np.float64) / np.float64(sy)
        wanted = oracle.scaled(sums, numbers, zero, relu)
        if relu:
            c = self.node(layer, "Relu", c)
        if clip:
            c = self.node(layer, "Clip", c, *(self.constant(np.float32(step * float(sy))) for step in clip))
            low, high = (max(-128, min(127, round(step) + zero)) for step in clip)
            wanted = tuple(np.clip(values, low, high) for values in wanted)
        self.output(layer, c, sy, zero, wanted)

    def dense(self, layer, rows, inputs, outputs, relu=False, per_channel=False, bias=True, transposed=True, matmul=False, zero=5, **weights):
        sx, zx = np.float32(0.05), 11
        x, array = self.input(layer, [rows, inputs])
        xd = self.dequantized(layer, x, sx, zx)
        shape, axis = ([outputs, inputs], 0) if transposed else ([inputs, outputs], 1)
        w, sw, b, wd, bd = self.weights(layer, shape, sx, per_channel, bias, axis, **weights)
        if matmul:
            c = self.node(layer, "MatMul", xd, wd)
            c = self.node(layer, "Add", c, bd) if bias else c
        else:
            c = self.node(layer, "Gemm", xd, wd, *([bd] if bias else []), transB=int(transposed))
        if relu:
            c = self.node(layer, "Relu", c)
        matrix = w.astype(np.int64) if transposed else w.astype(np.int64).T
        sums = (array.astype(np.int64) - zx) @ matrix.T + (0 if b is None else b)
        sy = np.float32(float(sx) * float(sw.max()) * sums.std() / 50)
        numbers = np.float64(sx) * sw.astype(np.float64) / np.float64(sy)
        self.output(layer, c, sy, zero, oracle.scaled(sums, numbers, zero, relu))

    def average(self, layer, shape, kernel=None, strides=(1, 1), pads=(0, 0, 0, 0), scales=(0.05, 0.05), **attributes):
        x, array = self.input(layer, shape)
        xd = self.dequantized(layer, x, scales[0], -7)
        if kernel is None:
            c, kernel = self.node(layer, "GlobalAveragePool", xd), shape[2:]
        else:
            c = self.node(layer, "AveragePool", xd, kernel_shape=kernel, strides=strides, pads=pads, **attributes)
        self.output(layer, c, scales[1], -7, oracle.averaged(array, -7, kernel, strides, pads))

    def largest(self, layer, shape, kernel, strides, pads, raw=False):
        x, array = self.input(layer, shape)
        wanted = oracle.largest(array, kernel, strides, pads)
        window = {"kernel_shape": kernel, "strides": strides, "pads": pads}
        if raw:
            return self.plain_output(layer, self.node(layer, "MaxPool", x, **window), wanted)
        self.output(layer, self.node(layer, "MaxPool", self.dequantized(layer, x, 0.05, -7), **window), 0.05, -7, wanted)

    def softmax(self, layer, shape, scale, axis=-1, output_scale=1 / 256):
        x, array = self.input(layer, shape)
        c = self.node(layer, "Softmax", self.dequantized(layer, x, scale, 3), axis=axis)
        self.output(layer, c, output_scale, -128, oracle.softmax(array, float(np.float32(scale))))

    def add(self, layer, shape, scales, zeros, relu=False, twice=False, other=None):
        scales = [np.float32(s) for s in scales]
        a, left = self.input(layer, shape)
        b, right = (a, left) if twice else self.input(layer, other or shape, "b")
        c = self.node(layer, "Add", self.dequantized(layer, a, scales[0], zeros[0]), self.dequantized(layer, b, scales[1], zeros[1]))
        if relu:
            c = self.node(layer, "Relu", c)
        self.output(layer, c, scales[2], zeros[2], oracle.added(left, right, [float(s) for s in scales], zeros, relu))


def taken(layers):
    """Layers that CMSIS-NN computes."""
    layers.conv("conv", [1, 3, 9, 8], 5, (3, 3), strides=(2, 2), pads=(0, 0, 1, 1), relu=True)
    layers.conv("conv_wide", [2, 4, 6, 7], 20, (2, 4), pads=(1, 2, 0, 1), per_channel=False, zero=20)
    layers.conv("conv_dilated", [2, 4, 9, 9], 6, (3, 2), dilations=(2, 3), pads=(2, 1, 2, 1), group=2, bias=False)
    layers.conv("conv_point", [1, 8, 5, 4], 17, (1, 1), relu=True, zero=-128)
    layers.conv("conv_strided_point", [1, 8, 6, 5], 4, (1, 1), strides=(2, 2))
    layers.conv("conv_clip", [1, 3, 6, 6], 4, (3, 3), clip=(0, 60.25))
    layers.conv("depthwise_clip", [1, 8, 6, 6], 8, (3, 3), group=8, clip=(-20.75, 200), zero=11)
    layers.conv("conv_row", [1, 4, 1, 12], 3, (1, 3), pads=(0, 1, 0, 1))
    layers.conv("conv_row_even", [1, 4, 1, 12], 3, (1, 4), pads=(0, 1, 0, 2))
    layers.conv("conv_one_output", [1, 3, 5, 5], 1, (3, 3), per_channel=False)
    layers.conv("depthwise", [1, 8, 7, 6], 8, (3, 3), strides=(2, 1), pads=(1, 1, 1, 1), group=8, relu=True)
    layers.conv("depthwise_wide", [1, 20, 8, 8], 20, (5, 4), pads=(2, 1, 2, 2), group=20)
    layers.conv("depthwise_twice", [1, 3, 6, 6], 6, (3, 3), group=3, zero=0)
    layers.conv("depthwise_dilated", [2, 4, 9, 9], 4, (3, 3), dilations=(2, 2), pads=(2, 2, 2, 2), group=4, bias=False)
    layers.conv("depthwise_odd", [1, 6, 6, 6], 6, (3, 3), pads=(1, 1, 1, 1), group=6)
    layers.dense("dense", 1, 33, 10)
    layers.dense("dense_relu", 3, 16, 40, relu=True, zero=-128)
    layers.dense("dense_one", 2, 9, 1)
    layers.dense("dense_unbiased", 2, 20, 7, bias=False)
    layers.dense("dense_channels", 2, 20, 18, per_channel=True)
    layers.dense("dense_channels_unbiased", 1, 20, 5, per_channel=True, bias=False)
    layers.dense("matmul", 2, 12, 6, transposed=False, matmul=True)
    layers.dense("matmul_unbiased", 2, 12, 6, transposed=False, matmul=True, bias=False)
    layers.dense("matmul_channels", 1, 12, 6, transposed=False, matmul=True, per_channel=True)
    layers.dense("dense_columns", 2, 12, 6, transposed=False)
    layers.average("average", [1, 5, 8, 7], (3, 2), (2, 2), (1, 0, 1, 1))
    layers.average("average_all", [2, 6, 4, 5])
    layers.largest("largest", [1, 5, 8, 7], (3, 2), (2, 2), (1, 0, 1, 1))
    layers.largest("largest_raw", [2, 3, 6, 6], (2, 2), (2, 2), (0, 0, 0, 0), raw=True)
    layers.softmax("softmax", [3, 12], 0.13)
    layers.softmax("softmax_steep", [2, 10], 1.7)
    layers.softmax("softmax_flat", [1, 100], 0.004)
    layers.add("add", [1, 6, 5, 4], (0.04, 0.11, 0.12), (-5, 9, 2), relu=True)
    layers.add("add_rows", [3, 40], (0.2, 0.001, 0.1), (0, -128, -20))


def left(layers):
    """Layers that it does not compute, or not as ONNX means them."""
    layers.conv("point_padded", [1, 4, 5, 5], 3, (1, 1), pads=(0, 0, 1, 1))
    layers.conv("row_uneven", [1, 4, 1, 12], 3, (1, 4), pads=(0, 3, 0, 0))
    layers.conv("grown", [1, 3, 5, 5], 3, (1, 1), factor=3000.0)
    layers.conv("bias_of_another_scale", [1, 3, 5, 5], 3, (3, 3), bias_factor=1.01)
    layers.conv("float_bias", [1, 3, 5, 5], 3, (3, 3), float_bias=True)
    layers.conv("shifted_weights", [1, 3, 5, 5], 3, (3, 3), per_channel=False, w_zero=1)
    layers.conv("clip_of_none", [1, 3, 6, 6], 4, (3, 3), clip=(200, 300))
    layers.average("padding_counts", [1, 3, 6, 6], (3, 3), (1, 1), (1, 1, 1, 1), count_include_pad=1)
    layers.average("rescaled", [1, 3, 6, 6], (3, 3), scales=(0.05, 0.04))
    layers.softmax("softmax_of_channels", [1, 4, 3, 3], 0.1, axis=1)
    layers.softmax("softmax_of_another_scale", [1, 10], 0.1, output_scale=1 / 128)
    layers.add("add_broadcast", [1, 6, 5, 4], (0.04, 0.11, 0.12), (-5, 9, 2), other=[1, 6, 1, 1])
    layers.add("add_twice", [1, 4, 3, 3], (0.05, 0.05, 0.1), (3, 3, -1), twice=True)


def drawn(layers, seed, count):
    """Convolutions with shapes by chance, some of which the library does not compute."""
    rng = np.random.default_rng(seed)
    some = lambda low, high: int(rng.integers(low, high + 1))
    for i in range(count):
        kind = ("conv", "depthwise", "point", "row")[i % 4]
        group = some(2, 9) if kind == "depthwise" else some(1, 3)
        inside = 1 if kind == "depthwise" else some(1, 9)
        kernel = (1, 1) if kind == "point" else (1 if kind == "row" else some(1, 4), some(1, 5))
        shape = [some(1, 2), group * inside, 1 if kind == "row" else some(6, 9), some(9, 12)]
        down, across = (0, 0) if kind == "row" else (some(0, 2), some(0, 2)), (some(0, 3), some(0, 3))
        pads = (0, 0, 0, 0) if kind == "point" and rng.random() < 0.8 else (down[0], across[0], down[1], across[1])
        dilations = (1, some(1, 2)) if kind == "row" else (some(1, 2), some(1, 2))
        layers.conv(f"{kind}{i}", shape, group * some(1, 4), kernel, strides=(some(1, 3), some(1, 3)), pads=pads, dilations=dilations,
                    group=group, relu=rng.random() < 0.5, per_channel=rng.random() < 0.6, bias=rng.random() < 0.8, zero=some(-128, 127))
