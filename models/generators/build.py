"""Builds ONNX graphs layer by layer: shapes, multiply-accumulates and activation sizes are tracked on the way.

Weights come from one seeded PCG64 stream, in the order in which layers are added, so a model's bytes depend on its
code alone. `moment[v]`, the expected square of an element of v, is carried from layer to layer; batch normalisation
takes its statistics from it. Activations so stay near unit scale, as in a trained network, and fit fp16.
"""

import math
import os
import sys

if sys.version_info < (3, 8):
    sys.exit("models: Python 3.8 or later is needed")
try:
    import numpy as np
    import onnx
    from onnx import TensorProto, helper
except ImportError as missing:
    # A python3 earlier on PATH may lack Debian's modules; /usr/bin/python3 is the one that has them.
    if os.path.realpath(sys.executable) == os.path.realpath("/usr/bin/python3"):
        sys.exit(f"models: {missing}; install python3-numpy and python3-onnx (scripts/install-deps.sh)")
    sys.exit(f"models: {missing} in {sys.executable}; run with /usr/bin/python3")

IR_VERSION = {13: 7, 17: 8}  # the ONNX IR version released with each opset used here


class Builder:
    """One graph under construction. Values are named by strings; shape[v] is a tuple of positive ints."""

    def __init__(self, name, seed=0, opset=13):
        self.name, self.opset = name, opset
        self.rng = np.random.Generator(np.random.PCG64(seed))
        self.nodes, self.initializers, self.inputs, self.outputs = [], [], [], []
        self.shape, self.moment = {}, {}
        self.macs = 0

    # Graph pieces.

    def input(self, name, shape, moment=1.0, integers=False):
        kind = TensorProto.INT64 if integers else TensorProto.FLOAT
        self.inputs.append(helper.make_tensor_value_info(name, kind, shape))
        return self._value(name, shape, moment)

    def output(self, value, name):
        """Renames `value`, made by the last node added that produces it, to the graph output `name`."""
        producer = next(n for n in self.nodes if value in n.output)
        producer.output[list(producer.output).index(value)] = name
        for node in self.nodes:
            node.input[:] = [name if i == value else i for i in node.input]
        self._value(name, self.shape[value], self.moment[value])
        self.outputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, self.shape[name]))

    def constant(self, name, array):
        array = np.ascontiguousarray(array)
        kind = {"float32": TensorProto.FLOAT, "int64": TensorProto.INT64}[array.dtype.name]
        tensor = TensorProto(name=name, data_type=kind, dims=array.shape)
        tensor.raw_data = array.astype(array.dtype.newbyteorder("<")).tobytes()
        self.initializers.append(tensor)
        return self._value(name, array.shape, 1.0)

    def node(self, op, name, inputs, shape, moment, **attributes):
        out = f"{name}_out"
        self.nodes.append(helper.make_node(op, inputs, [out], name=name, **attributes))
        return self._value(out, shape, moment)

    def _value(self, name, shape, moment):
        if name in self.shape:
            raise ValueError(f"{self.name}: value '{name}' is defined twice")
        self.shape[name], self.moment[name] = tuple(int(d) for d in shape), float(moment)
        return name

    def normal(self, shape, std):
        return (self.rng.standard_normal(shape, dtype=np.float32) * np.float32(std)).astype(np.float32)

    def _parameters(self, name, shapes, arrays, suffixes=("weight", "bias")):
        for shape, array in zip(shapes, arrays):
            if array.shape != shape:
                raise ValueError(f"{self.name}: parameters of '{name}' are {array.shape}, {shape} expected")
        return [self.constant(f"{name}.{suffix}", array) for suffix, array in zip(suffixes, arrays)]

    # Layers with weights.

    def conv(self, x, name, channels, kernel, stride=1, pad=None, group=1, bias=False, gain=2.0, trained=None):
        """He-initialised convolution; pad defaults to kernel // 2 on each side. gain 2 compensates a relu in x.

        trained: (weights, bias) to take instead of seeded ones.
        """
        n, cin, h, w = self.shape[x]
        pad = kernel // 2 if pad is None else pad
        fan_in = cin // group * kernel * kernel
        oh, ow = ((d + 2 * pad - kernel) // stride + 1 for d in (h, w))
        shape = (channels, cin // group, kernel, kernel)
        if trained is None:
            trained = [self.normal(shape, math.sqrt(gain / fan_in))]
            trained += [self.normal((channels,), 0.05)] if bias else []
        inputs = [x] + self._parameters(name, (shape, (channels,)), trained)
        self.macs += n * channels * oh * ow * fan_in
        return self.node("Conv", name, inputs, (n, channels, oh, ow), gain * self.moment[x],
                         kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=[pad] * 4, dilations=[1, 1], group=group)

    def batch_norm(self, x, name, gain=1.0, trained=None):
        """Statistics spread around those expected of x, as a trained network has them; scale near `gain`.

        trained: (scale, bias, mean, variance) to take instead.
        """
        channels, std = self.shape[x][1], math.sqrt(self.moment[x])
        uniform = lambda low, high: self.rng.uniform(low, high, channels).astype(np.float32)
        if trained is None:
            trained = (uniform(0.8, 1.2) * np.float32(gain), self.normal((channels,), 0.1),
                       self.normal((channels,), 0.1 * std), uniform(0.8, 1.2) * np.float32(std * std))
        inputs = [x] + self._parameters(name, ((channels,),) * 4, trained, ("scale", "bias", "mean", "var"))
        return self.node("BatchNormalization", name, inputs, self.shape[x], gain * gain + 0.02, epsilon=1e-5)

    def gemm(self, x, name, features, gain=1.0, trained=None):
        """Dense layer, weights [features, depth]. trained: (weights, bias) to take instead of seeded ones."""
        n, depth = self.shape[x]
        if trained is None:
            trained = (self.normal((features, depth), math.sqrt(gain / depth)), self.normal((features,), 0.05))
        inputs = [x] + self._parameters(name, ((features, depth), (features,)), trained)
        self.macs += n * features * depth
        return self.node("Gemm", name, inputs, (n, features), gain * self.moment[x], transB=1)

    def linear(self, x, name, features):
        """x @ W + b over the last axis, as frameworks export it for inputs of rank above 2."""
        depth = self.shape[x][-1]
        weights = self.constant(f"{name}.weight", self.normal((depth, features), math.sqrt(1 / depth)))
        bias = self.constant(f"{name}.bias", self.normal((features,), 0.05))
        return self.add(self.matmul(x, weights, f"{name}.matmul", self.moment[x]), bias, f"{name}.add")

    def lstm(self, x, name, hidden, directions=1):
        """x: [steps, 1, features]; the directions are joined behind it: [steps, 1, directions * hidden]."""
        steps, batch, features = self.shape[x]
        sizes = ((directions, 4 * hidden, features), (directions, 4 * hidden, hidden), (directions, 8 * hidden))
        scales = (1 / math.sqrt(features), 1 / math.sqrt(hidden), 0.05)
        inputs = [x] + self._parameters(name, sizes, [self.normal(s, k) for s, k in zip(sizes, scales)], ("w", "r", "b"))
        self.macs += steps * batch * directions * 4 * hidden * (features + hidden)
        direction = "bidirectional" if directions == 2 else "forward"
        y = self.node("LSTM", name, inputs, (steps, directions, batch, hidden), 0.1, hidden_size=hidden,
                      direction=direction)
        y = self.transpose(y, f"{name}.swap", [0, 2, 1, 3])
        return self.reshape(y, f"{name}.join", (steps, batch, directions * hidden))

    def layer_norm(self, x, name, epsilon=1e-5):
        depth = self.shape[x][-1]
        scale = self.rng.uniform(0.8, 1.2, depth).astype(np.float32)
        inputs = [x, self.constant(f"{name}.scale", scale), self.constant(f"{name}.bias", self.normal((depth,), 0.1))]
        return self.node("LayerNormalization", name, inputs, self.shape[x], 1.02, axis=-1, epsilon=epsilon)

    # Layers without.

    def matmul(self, a, b, name, moment):
        rows, depth = self.shape[a][-2:]
        columns = self.shape[b][-1]
        shape = self.shape[a][:-2] + (rows, columns)
        self.macs += math.prod(shape) * depth
        return self.node("MatMul", name, [a, b], shape, moment)

    def add(self, a, b, name):
        extra = self.moment[b] if b not in {t.name for t in self.initializers} else 0.0
        shape = np.broadcast_shapes(self.shape[a], self.shape[b])
        return self.node("Add", name, [a, b], shape, self.moment[a] + extra)

    def relu(self, x, name, kept=0.5):
        """kept: the part of x's expected square that survives; half for a symmetric x, more for a positive one"""
        return self.node("Relu", name, [x], self.shape[x], self.moment[x] * kept)

    def relu6(self, x, name):
        for limit, value in (("relu6_min", 0.0), ("relu6_max", 6.0)):
            if limit not in self.shape:
                self.constant(limit, np.float32(value).reshape(()))
        return self.node("Clip", name, [x, "relu6_min", "relu6_max"], self.shape[x], self.moment[x] / 2)

    def softmax(self, x, name, axis=-1):
        return self.node("Softmax", name, [x], self.shape[x], 1 / self.shape[x][axis], axis=axis)

    def max_pool(self, x, name, kernel, stride, pad=0):
        n, c, h, w = self.shape[x]
        shape = (n, c, *((d + 2 * pad - kernel) // stride + 1 for d in (h, w)))
        return self.node("MaxPool", name, [x], shape, 2 * self.moment[x], kernel_shape=[kernel] * 2,
                         strides=[stride] * 2, pads=[pad] * 4)

    def average_pool(self, x, name, kernel, stride, pad=0):
        n, c, h, w = self.shape[x]
        shape = (n, c, *((d + 2 * pad - kernel) // stride + 1 for d in (h, w)))
        return self.node("AveragePool", name, [x], shape, self.moment[x], kernel_shape=[kernel] * 2,
                         strides=[stride] * 2, pads=[pad] * 4)

    def lrn(self, x, name, size):
        return self.node("LRN", name, [x], self.shape[x], self.moment[x], size=size, alpha=1e-4, beta=0.75, bias=1.0)

    def global_average_pool(self, x, name):
        n, c = self.shape[x][:2]
        return self.node("GlobalAveragePool", name, [x], (n, c, 1, 1), self.moment[x])

    def flatten(self, x, name):
        n = self.shape[x][0]
        return self.node("Flatten", name, [x], (n, math.prod(self.shape[x][1:])), self.moment[x], axis=1)

    def transpose(self, x, name, perm):
        return self.node("Transpose", name, [x], [self.shape[x][p] for p in perm], self.moment[x], perm=perm)

    def reshape(self, x, name, shape):
        target = self.constant(f"{name}.shape", np.array(shape, dtype=np.int64))
        return self.node("Reshape", name, [x, target], shape, self.moment[x])

    def concat(self, values, name, axis):
        shape = list(self.shape[values[0]])
        shape[axis] = sum(self.shape[v][axis] for v in values)
        return self.node("Concat", name, values, shape, max(self.moment[v] for v in values), axis=axis)

    # The finished model.

    def model(self):
        graph = helper.make_graph(self.nodes, self.name, self.inputs, self.outputs, self.initializers)
        model = helper.make_model(graph, producer_name="mrvlc-models",
                                  opset_imports=[helper.make_opsetid("", self.opset)])
        model.ir_version = IR_VERSION[self.opset]
        onnx.checker.check_model(model)
        inferred = onnx.shape_inference.infer_shapes(model, strict_mode=True)
        for value in inferred.graph.value_info:
            shape = tuple(d.dim_value for d in value.type.tensor_type.shape.dim)
            if shape != self.shape[value.name]:
                raise ValueError(f"{self.name}: '{value.name}' is {shape}, tracked as {self.shape[value.name]}")
        return model

    def save(self, path):
        """Writes the model and prints one line about it. Raises OSError when the file cannot be written."""
        data = self.model().SerializeToString(deterministic=True)
        with open(path, "wb") as file:
            file.write(data)
        print(f"{path}: {len(self.nodes)} nodes, {self.macs} multiply-accumulates, {len(data)} bytes")
