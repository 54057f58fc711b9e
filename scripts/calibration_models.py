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
           "Sqrt": (0.1, 3)}
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


def pair_of_convolutions(folder, k, h, w, c, g, pads=0):
    """One behind the other, of different shapes: a compiler makes a kernel of its own for a single call."""
    random = np.random.default_rng(1)
    weights = [random.standard_normal((c, c // g, *k)).astype(np.float32) for _ in range(2)]
    options = {"group": g, "kernel_shape": k, "pads": [pads] * 4}
    nodes = [helper.make_node("Conv", ["x", "w0"], ["a"], name="first", **options),
             helper.make_node("Conv", ["a", "w1"], ["y"], name="second", **{**options, "pads": [p + k[0] // 2 for p in [pads] * 4]})]
    name = f"conv{k[0]}x{k[1]}_{h}x{w}_{c}_{g}_{pads}"
    graph = helper.make_graph(nodes, name, [helper.make_tensor_value_info("x", TensorProto.FLOAT, (1, c, h, w))],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
                              [numpy_helper.from_array(v, f"w{i}") for i, v in enumerate(weights)])
    path = pathlib.Path(folder) / f"{name}.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8), path)
    return str(path)


def convolutions(folder):
    # kernel, rows, columns, channels, groups, padding
    for shape in [((3, 3), 56, 56, 32, 32, 1), ((3, 3), 28, 28, 64, 64, 1), ((3, 3), 25, 5, 64, 64, 1), ((3, 3), 7, 7, 256, 256, 1),
                  ((5, 5), 28, 28, 64, 64, 2), ((5, 5), 7, 7, 256, 256, 2), ((3, 1), 32, 1, 64, 64), ((9, 1), 64, 1, 128, 128),
                  ((15, 1), 40, 1, 64, 64), ((1, 5), 4, 50, 64, 64), ((3, 3), 28, 28, 32, 1), ((3, 3), 7, 7, 128, 1),
                  ((3, 1), 64, 1, 64, 1), ((1, 1), 28, 28, 64, 1), ((1, 1), 64, 1, 128, 1),
                  ((5, 5), 28, 28, 8, 1), ((3, 3), 28, 28, 8, 1), ((3, 3), 14, 14, 16, 1)]:
        yield pair_of_convolutions(folder, *shape)


def pools(folder):
    for op in ("AveragePool", "MaxPool"):
        for k, s in ((2, 2), (3, 1), (3, 2), (7, 7)):
            yield model(folder, f"{op}{k}{s}", op, IMAGE, {"kernel_shape": [k, k], "strides": [s, s]}.items())
    yield model(folder, "GlobalAveragePool", "GlobalAveragePool", IMAGE)


def rows(folder):
    for op, shape in (("Softmax", (64, 256)), ("LogSoftmax", (64, 256))):
        yield model(folder, op, op, shape, {"axis": -1}.items())
    for op in REDUCTIONS:
        yield model(folder, op, op, IMAGE, {"keepdims": 1}.items(), [np.array([2, 3], np.int64)])
    yield model(folder, "Transpose", "Transpose", IMAGE, {"perm": [0, 2, 3, 1]}.items())


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


def border_models(folder):
    """Files of models that the accelerator takes whole: values cast, cast and permuted, and (of fp16) permuted."""
    for n, shape in enumerate([(1, 3, 64, 64), (1, 16, 32, 32), (1, 16, 256, 256), (1, 64, 28, 28), (1, 256, 7, 7)]):
        yield model(folder, f"cast{n}", "Tanh", shape)
        weights = np.ones((shape[1], 1, 1, 1), np.float32)
        yield model(folder, f"permuted{n}", "Conv", shape, {"group": shape[1]}.items(), [weights])
        yield model(folder, f"half{n}", "Conv", shape, {"group": shape[1]}.items(), [weights.astype(np.float16)],
                    kind=TensorProto.FLOAT16, type_in=TensorProto.FLOAT16)
