#!/usr/bin/python3
"""Writes a network of many small layers, to see how compile time grows: chain.py KIND LAYERS -o FILE

Every layer is a 3x3 convolution of 8 channels on an 8x8 image with weights of its own. KIND says how they are joined:

  plain     one after the other
  relu      with a Relu after each
  residual  blocks of two, each added to what it read
  fan       all read the same value; their results are added up one by one
  concat    blocks of eight that read the same value, concatenated and brought back to 8 channels by a 1x1 convolution
  wide      all read the same value; one Concat takes every result
  cpu       each followed by an operator that no default rule takes, so that every layer is a region of its own
  names     as relu, every name 1 KiB long

These have no convolution; each step is one operator, and all are merged into one:

  reshape   a Reshape
  transpose a Transpose
"""

import argparse
import sys

from build import IR_VERSION, TensorProto, helper, np, onnx

CHANNELS, SIZE, OPSET = 8, 8, 17


class Chain:
    def __init__(self, layers, long_names):
        self.graph = onnx.GraphProto(name="chain")
        self.rng = np.random.Generator(np.random.PCG64(layers))
        self.std = np.float32((1 / (CHANNELS * 9)) ** 0.5)
        self.prefix = "n" * 1000 + "/" if long_names else ""

    def node(self, op, inputs, **attributes):
        name = f"{self.prefix}{op}_{len(self.graph.node)}"
        self.graph.node.append(helper.make_node(op, inputs, [name + "_out"], name=name, **attributes))
        return name + "_out"

    def constant(self, array):
        name = f"{self.prefix}w{len(self.graph.initializer)}"
        kind = {"f": TensorProto.FLOAT, "i": TensorProto.INT64}[array.dtype.kind]
        self.graph.initializer.add(name=name, data_type=kind, dims=array.shape, raw_data=array.tobytes())
        return name

    def conv(self, x, kernel=3, channels=CHANNELS):
        shape = (CHANNELS, channels, kernel, kernel)
        weights = self.rng.standard_normal(shape, dtype=np.float32) * self.std
        return self.node("Conv", [x, self.constant(weights)], kernel_shape=[kernel] * 2, pads=[kernel // 2] * 4)


def plain(c, x, layers):
    for _ in range(layers):
        x = c.conv(x)
    return x


def relu(c, x, layers):
    for _ in range(layers):
        x = c.node("Relu", [c.conv(x)])
    return x


def residual(c, x, layers):
    # What all blocks together add is of the size of the input, however many they are.
    c.std *= np.float32(layers ** -0.25)
    for _ in range(layers // 2):
        y = c.conv(c.node("Relu", [c.conv(x)]))
        x = c.node("Relu", [c.node("Add", [x, y])])
    return x


def fan(c, x, layers):
    total = c.conv(x)
    for _ in range(layers - 1):
        total = c.node("Add", [total, c.conv(x)])
    return total


def concat(c, x, layers):
    for _ in range(layers // 9):
        joined = c.node("Concat", [c.conv(x) for _ in range(8)], axis=1)
        x = c.conv(joined, kernel=1, channels=8 * CHANNELS)
    return x


def wide(c, x, layers):
    return c.node("Concat", [c.conv(x) for _ in range(layers)], axis=1)


def cpu(c, x, layers):
    for _ in range(layers):
        x = c.node("CumSum", [c.conv(x), "axis"], exclusive=1)
    return x


def reshape(c, x, layers):
    for i in range(layers):
        x = c.node("Reshape", [x, c.constant(np.array([1, CHANNELS, -1] + [SIZE] * (i % 2), dtype=np.int64))])
    return c.node("Relu", [c.node("Reshape", [x, c.constant(np.array([1, CHANNELS, SIZE, SIZE], dtype=np.int64))])])


def transpose(c, x, layers):
    for i in range(layers):
        x = c.node("Transpose", [x], perm=[0, 2, 1, 3] if i % 2 else [0, 1, 3, 2])
    return c.node("Relu", [x])  # channels and size are the same number


KINDS = {f.__name__: f for f in (plain, relu, residual, fan, concat, wide, cpu, reshape, transpose)} | {"names": relu}


def make(kind, layers):
    c = Chain(layers, kind == "names")
    g = c.graph
    if kind == "cpu":
        g.initializer.add(name="axis", data_type=TensorProto.INT64, dims=(), raw_data=np.int64(1).tobytes())
    result = KINDS[kind](c, "x", layers)
    g.node[-1].output[0] = "y"
    channels = CHANNELS * layers if kind == "wide" else CHANNELS
    g.input.append(helper.make_tensor_value_info("x", TensorProto.FLOAT, (1, CHANNELS, SIZE, SIZE)))
    g.output.append(helper.make_tensor_value_info("y", TensorProto.FLOAT, (1, channels, SIZE, SIZE)))
    return helper.make_model(g, producer_name="mrvlc-models", ir_version=IR_VERSION[OPSET],
                             opset_imports=[helper.make_opsetid("", OPSET)])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=list(KINDS), metavar="KIND")
    parser.add_argument("layers", type=int, metavar="LAYERS")
    parser.add_argument("-o", "--output", required=True, metavar="FILE")
    args = parser.parse_args()
    if not 10 <= args.layers <= 1_000_000:
        parser.error("LAYERS must be between 10 and 1000000")
    try:
        with open(args.output, "wb") as file:
            file.write(make(args.kind, args.layers).SerializeToString(deterministic=True))
    except OSError as error:
        print(f"chain: {error}", file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
