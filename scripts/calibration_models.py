"""Small models of one operator each, so that a host model knows what few networks show (calibrate_host.py)."""
import pathlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

FUNCTIONS = ("Abs Acos Acosh Asin Asinh Atan Atanh Ceil Celu Cos Cosh Elu Erf Exp Floor HardSigmoid HardSwish LeakyRelu Log Mish "
             "Neg Reciprocal Relu Round Selu Sigmoid Sign Sin Sinh Softplus Softsign Sqrt Tan Tanh ThresholdedRelu").split()
# Of integers of 8 bytes, as quantised networks have them beside floats.
WIDE = "Add Sub Mul Div".split()
BINARY = "Add Sub Mul Div Pow Max Min PRelu Greater Less Equal".split()
REDUCTIONS = "ReduceSum ReduceMean ReduceMax ReduceL2 ReduceLogSumExp".split()
IMAGE = (1, 16, 64, 64)
# Where functions are defined: outside, libraries take other ways.
DOMAINS = {"Acos": (-0.9, 0.9), "Acosh": (1.1, 3), "Asin": (-0.9, 0.9), "Atanh": (-0.9, 0.9), "Log": (0.1, 3), "Pow": (0.1, 2),
           "Sqrt": (0.1, 3),
           # Of larger numbers the period has to be found.
           "Sin": (-8, 8), "Cos": (-8, 8), "Tan": (-8, 8)}
EVERYWHERE = (-2, 2)


def domain(path):
    """Of the inputs that a model is measured with."""
    return DOMAINS.get(pathlib.Path(path).stem, EVERYWHERE)


def model(folder, name, op, shape, attributes=(), weights=(), operands=("x",), kind=TensorProto.FLOAT,
          type_in=TensorProto.FLOAT):
    names = [f"w{i}" for i in range(len(weights))]
    node = helper.make_node(op, [*operands, *names], ["y"], name=op, **dict(attributes))
    inputs = [helper.make_tensor_value_info(o, type_in, shape) for o in operands]
    constants = [numpy_helper.from_array(w, n) for n, w in zip(names, weights)]
    graph = helper.make_graph([node], name, inputs, [helper.make_tensor_value_info("y", kind, None)], constants)
    path = pathlib.Path(folder) / f"{name}.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8), path)
    return str(path)


def save(folder, name, nodes, shape, kind, constants, result=None):
    graph = helper.make_graph(nodes, name, [helper.make_tensor_value_info("x", kind, shape)],
                              [helper.make_tensor_value_info("y", result or kind, None)],
                              [numpy_helper.from_array(v, n) for n, v in constants.items()])
    path = pathlib.Path(folder) / f"{name}.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8), path)
    return str(path)


def pair_of_convolutions(folder, k, h, w, c, g, s=1):
    """One behind the other, of different shapes: a compiler makes a kernel of its own for a single call."""
    random = np.random.default_rng(1)
    weights = [random.standard_normal((c, c // g, *k)).astype(np.float32) for _ in range(2)]
    options = {"group": g, "kernel_shape": k, "strides": [s, s]}
    nodes = [helper.make_node("Conv", ["x", "w0"], ["a"], name="first", pads=[k[0] // 2, k[1] // 2] * 2, **options),
             helper.make_node("Conv", ["a", "w1"], ["y"], name="second", pads=[k[0] // 2, k[1] // 2, 0, 0], **options)]
    name = f"conv{k[0]}x{k[1]}_{h}x{w}_{c}_{g}_{s}"
    return save(folder, name, nodes, (1, c, h, w), TensorProto.FLOAT, {f"w{i}": v for i, v in enumerate(weights)})


def convolutions(folder):
    # kernel, rows, columns, channels, groups, stride
    for shape in [((3, 3), 56, 56, 32, 1), ((3, 3), 28, 28, 64, 1), ((3, 3), 14, 14, 128, 1), ((3, 3), 7, 7, 256, 1), ((3, 3), 40, 40, 16, 1),
                  ((3, 3), 10, 10, 96, 1), ((3, 3), 10, 10, 128, 1), ((3, 3), 96, 96, 8, 1, 2),
                  ((3, 3), 56, 56, 32, 1, 2), ((3, 3), 28, 28, 64, 1, 2), ((5, 5), 28, 28, 32, 1), ((7, 1), 56, 28, 16, 1), ((3, 1), 64, 1, 64, 1),
                  ((1, 1), 56, 56, 32, 1), ((1, 1), 28, 28, 64, 1), ((1, 1), 7, 7, 256, 1), ((1, 1), 1, 1, 256, 1), ((1, 1), 64, 1, 128, 1),
                  ((3, 3), 56, 56, 32, 32), ((3, 3), 28, 28, 64, 64), ((3, 3), 7, 7, 256, 256), ((3, 3), 25, 5, 64, 64),
                  ((3, 3), 112, 112, 32, 32, 2), ((3, 3), 28, 28, 64, 64, 2), ((5, 5), 28, 28, 64, 64, 2),
                  ((5, 5), 28, 28, 64, 64), ((5, 5), 7, 7, 256, 256), ((3, 1), 32, 1, 64, 64), ((9, 1), 64, 1, 128, 128), ((1, 5), 4, 50, 64, 64),
                  ((3, 3), 28, 28, 64, 4), ((3, 3), 14, 14, 128, 8), ((1, 1), 28, 28, 64, 4)]:
        yield pair_of_convolutions(folder, *shape)


def integer_convolutions(folder):
    # kernel, rows, columns, channels, results, groups, stride
    for k, h, w, c, m, g, s in [(3, 32, 32, 16, 16, 1, 1), (3, 14, 14, 64, 64, 1, 1), (3, 28, 28, 32, 64, 1, 2), (3, 7, 7, 128, 128, 1, 1),
                                (1, 28, 28, 64, 64, 1, 1), (1, 16, 16, 16, 64, 1, 1), (1, 4, 4, 128, 256, 1, 1), (1, 1, 1, 640, 128, 1, 1),
                                (3, 28, 28, 32, 32, 32, 1), (3, 25, 5, 64, 64, 64, 1), (3, 32, 32, 32, 32, 32, 2), (5, 16, 16, 64, 64, 64, 1)]:
        yield integer_convolution(folder, (k, k), h, w, c, m, g, s)
    for k, h, c in [(9, 64, 64), (10, 24, 128), (20, 40, 128)]:
        yield integer_convolution(folder, (k, 1), h, 1, c, c, c, 1)


def integer_convolution(folder, k, h, w, c, m, g, s):
    weights = np.random.default_rng(1).integers(-127, 128, (m, c // g, *k)).astype(np.int8)
    scale, zero = np.array(0.02, np.float32), np.array(3, np.int8)
    constants = {"xs": scale, "xz": zero, "w": weights, "ws": scale, "wz": np.array(0, np.int8), "ys": scale, "yz": zero}
    node = helper.make_node("QLinearConv", ["x", *constants], ["y"], name="QLinearConv", group=g, strides=[s, s], pads=[k[0] // 2, k[1] // 2] * 2)
    name = f"qlinear{k[0]}x{k[1]}_{h}x{w}_{c}_{m}_{g}_{s}"
    return save(folder, name, [node], (1, c, h, w), TensorProto.INT8, constants)


def sums_of_integers(folder):
    for k, h, c, m in [(3, 28, 16, 32), (5, 14, 8, 16)]:
        weights = np.random.default_rng(1).integers(-127, 128, (m, c, k, k)).astype(np.int8)
        node = helper.make_node("ConvInteger", ["x", "w"], ["y"], name="ConvInteger", pads=[k // 2] * 4)
        yield save(folder, f"ConvInteger{k}", [node], (1, c, h, h), TensorProto.UINT8, {"w": weights}, TensorProto.INT32)
    for rows in (1, 64):
        weights = np.random.default_rng(1).integers(-127, 128, (256, 128)).astype(np.int8)
        node = helper.make_node("MatMulInteger", ["x", "w"], ["y"], name="MatMulInteger")
        yield save(folder, f"MatMulInteger{rows}", [node], (rows, 256), TensorProto.UINT8, {"w": weights}, TensorProto.INT32)


def recurrences(folder):
    random = np.random.default_rng(1)
    for op, gates in (("LSTM", 4), ("GRU", 3), ("RNN", 1)):
        for steps, inputs, hidden in ((1, 128, 128), (20, 64, 128)):
            sizes = {"w": (1, gates * hidden, inputs), "r": (1, gates * hidden, hidden), "b": (1, 2 * gates * hidden)}
            constants = {name: (0.1 * random.standard_normal(size)).astype(np.float32) for name, size in sizes.items()}
            node = helper.make_node(op, ["x", *constants], ["y"], name=op, hidden_size=hidden)
            yield save(folder, f"{op}_{steps}_{hidden}", [node], (steps, 1, inputs), TensorProto.FLOAT, constants)


def pools(folder):
    for op in ("AveragePool", "MaxPool"):
        for k, s in ((2, 2), (3, 1), (3, 2), (7, 7)):
            yield model(folder, f"{op}{k}{s}", op, IMAGE, {"kernel_shape": [k, k], "strides": [s, s]}.items())
    yield model(folder, "GlobalAveragePool", "GlobalAveragePool", IMAGE)


def rows(folder):
    for op, shape in (("Softmax", (64, 256)), ("LogSoftmax", (64, 256))):
        yield model(folder, op, op, shape, {"axis": -1}.items())
        yield model(folder, f"{op}_columns", op, (1, 64, 16, 16), {"axis": 1}.items())
    for op in REDUCTIONS:
        yield model(folder, op, op, IMAGE, {"keepdims": 1}.items(), [np.array([2, 3], np.int64)])
    yield model(folder, "Transpose", "Transpose", IMAGE, {"perm": [0, 2, 3, 1]}.items())
    yield model(folder, "Transpose_small", "Transpose", (1, 64, 8, 16), {"perm": [0, 3, 2, 1]}.items())
    yield model(folder, "Transpose_rows", "Transpose", IMAGE, {"perm": [0, 2, 1, 3]}.items())


def host_models(folder):
    """Files of models for the host."""
    for op in FUNCTIONS:
        yield model(folder, op, op, IMAGE)
    for op in BINARY:
        kind = TensorProto.BOOL if op in ("Greater", "Less", "Equal") else TensorProto.FLOAT
        yield model(folder, op, op, IMAGE, operands=("x", "z"), kind=kind)
    for op in WIDE:  # by one number, as inputs that are no floats are zeros
        yield model(folder, f"{op}_wide", op, IMAGE, weights=[np.array(16)], kind=TensorProto.INT64, type_in=TensorProto.INT64)
    yield model(folder, "Cast_to_wide", "Cast", IMAGE, {"to": TensorProto.INT64}.items(), kind=TensorProto.INT64)
    yield model(folder, "Cast_from_wide", "Cast", IMAGE, {"to": TensorProto.FLOAT}.items(), type_in=TensorProto.INT64)
    yield from pools(folder)
    yield from rows(folder)
    yield from convolutions(folder)
    yield from integer_convolutions(folder)
    yield from sums_of_integers(folder)
    yield from recurrences(folder)


def border_models(folder):
    """Files of models that the accelerator takes whole: values cast, cast and permuted, and (of fp16) permuted."""
    for n, shape in enumerate([(1, 3, 64, 64), (1, 16, 32, 32), (1, 16, 256, 256), (1, 64, 28, 28), (1, 256, 7, 7)]):
        yield model(folder, f"cast{n}", "Tanh", shape)
        weights = np.ones((shape[1], 1, 1, 1), np.float32)
        yield model(folder, f"permuted{n}", "Conv", shape, {"group": shape[1]}.items(), [weights])
        yield model(folder, f"half{n}", "Conv", shape, {"group": shape[1]}.items(), [weights.astype(np.float16)],
                    kind=TensorProto.FLOAT16, type_in=TensorProto.FLOAT16)


def choice_models(folder):
    """Where greed is far off: convolutions between functions that no rule takes, and functions without a convolution."""
    random = np.random.default_rng(1)
    weights = {f"w{i}": (0.2 * random.standard_normal((16, 16, 3, 3))).astype(np.float32) for i in range(16)}
    nodes = []
    for i in range(16):
        nodes += [helper.make_node("Conv", [f"s{i - 1}" if i else "x", f"w{i}"], [f"c{i}"], name=f"conv{i}", pads=[1, 1, 1, 1]),
                  helper.make_node("Sin", [f"c{i}"], [f"s{i}" if i < 15 else "y"], name=f"sin{i}")]
    yield save(folder, "conv_sin_16", nodes, (1, 16, 32, 32), TensorProto.FLOAT, weights)
    chain = ["Tanh", "Sigmoid", "Softplus", "Erf"]
    nodes = [helper.make_node(op, [f"v{i}" if i else "x"], [f"v{i + 1}"], name=op) for i, op in enumerate(chain)]
    nodes.append(helper.make_node("AveragePool", ["v4"], ["y"], name="AveragePool", kernel_shape=[2, 2], strides=[2, 2]))
    yield save(folder, "functions", nodes, (1, 16, 256, 256), TensorProto.FLOAT, {})
