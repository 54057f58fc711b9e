#!/usr/bin/env python3
"""power_of_two.py QUANTIZED.onnx OUT.onnx: a quantised model with scales that are powers of two.

Reads a QDQ model of int8 or uint8. Zero points become 0, and scales the next power of two that keeps the range of each tensor: one for a
tensor, also of weights with a scale for each channel, which are rounded anew. The model so loses accuracy: measure it. Inputs and outputs of int8
are then in steps of the new scale, which the program prints; inputs of uint8 are refused.
"""

import sys

import numpy as np
import onnx
from onnx import numpy_helper

LAYERS = {"Conv": 2, "Gemm": 2}  # with the place of their bias


def next_power(scale):
    return np.float32(2.0 ** np.ceil(np.log2(np.float64(scale)) - 1e-6))


def along(values, scale, zero, axis):
    """Real values of a constant with one scale, or one for each index of a dimension."""
    shape = [1] * values.ndim
    if scale.size > 1:
        shape[axis] = scale.size
    return (values.astype(np.float64) - zero.astype(np.float64).reshape(shape if zero.size > 1 else [1] * values.ndim)) * scale.astype(
        np.float64).reshape(shape if scale.size > 1 else [1] * values.ndim)


class Rewriter:
    def __init__(self, model):
        self.graph = model.graph
        self.arrays = {t.name: numpy_helper.to_array(t) for t in self.graph.initializer}
        self.makers = {name: node for node in self.graph.node for name in node.output}
        self.scales = {}  # of what DequantizeLinear gives

    def constant(self, array):
        name = f"power_of_two_{len(self.graph.initializer)}"
        self.graph.initializer.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def zero_of(self, node):
        return self.arrays[node.input[2]] if len(node.input) > 2 and node.input[2] else np.uint8(0)

    def activation(self, node):
        zero, scale = self.zero_of(node), self.arrays[node.input[1]]
        if scale.size != 1:
            sys.exit(f"{node.name or node.output[0]}: an activation with a scale for each channel")
        limits = np.iinfo(zero.dtype)
        reach = float(scale.reshape(-1)[0]) * max(limits.max - int(zero.reshape(-1)[0]), int(zero.reshape(-1)[0]) - limits.min) / 128
        made = next_power(reach)
        node.input[1:] = [self.constant(made), self.constant(np.int8(0))]
        if node.op_type == "DequantizeLinear":
            self.scales[node.output[0]] = made

    def weights(self, node):
        values = along(self.arrays[node.input[0]], self.arrays[node.input[1]], self.zero_of(node), self.axis(node))
        self.replace(node, values, next_power(max(np.abs(values).max(), 1e-30) / 127.5), np.int8)

    @staticmethod
    def axis(node):
        return next((a.i for a in node.attribute if a.name == "axis"), 1)

    def replace(self, node, values, scale, kind):
        limits = np.iinfo(kind)
        self.scales[node.output[0]] = scale
        array = np.clip(np.rint(values / np.float64(scale)), limits.min, limits.max).astype(kind)
        node.input[:] = [self.constant(array), self.constant(scale), self.constant(kind(0))]
        del node.attribute[:]

    def scale_behind(self, name):
        """Through moves of elements, which change no value."""
        while name not in self.scales and name in self.makers and self.makers[name].op_type in (
                "Transpose", "Reshape", "Flatten", "Squeeze", "Unsqueeze", "Identity", "MaxPool"):
            name = self.makers[name].input[0]
        return self.scales.get(name)

    def biases(self):
        for node in self.graph.node:
            place = LAYERS.get(node.op_type)
            if place is None or len(node.input) <= place or node.input[place] not in self.makers:
                continue
            bias, scales = self.makers[node.input[place]], [self.scale_behind(name) for name in node.input[:2]]
            if bias.op_type != "DequantizeLinear" or bias.input[0] not in self.arrays or None in scales:
                continue
            values = along(self.arrays[bias.input[0]], self.arrays[bias.input[1]], self.zero_of(bias), 0)
            self.replace(bias, values, np.float32(scales[0] * scales[1]), np.int32)

    def run(self):
        for value in self.graph.input:
            if value.type.tensor_type.elem_type == onnx.TensorProto.UINT8:
                sys.exit(f"input {value.name} is of uint8; quantise to int8")
        for node in self.graph.node:
            if node.op_type not in ("QuantizeLinear", "DequantizeLinear"):
                continue
            constant = self.arrays.get(node.input[0])
            if constant is None:
                self.activation(node)
            elif constant.dtype in (np.int8, np.uint8):
                self.weights(node)
        self.biases()
        ports = {value.name for value in [*self.graph.input, *self.graph.output]}
        for node in self.graph.node:
            for name in (node.input[0], node.output[0]):
                if node.op_type in ("QuantizeLinear", "DequantizeLinear") and name in ports:
                    print(f"{name}: scale {numpy_helper.to_array(next(t for t in self.graph.initializer if t.name == node.input[1]))}")


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    model = onnx.load(sys.argv[1])
    Rewriter(model).run()
    used = {name for node in model.graph.node for name in node.input}
    kept = [t for t in model.graph.initializer if t.name in used]
    del model.graph.initializer[:]
    model.graph.initializer.extend(kept)
    onnx.save(model, sys.argv[2])


if __name__ == "__main__":
    main()
