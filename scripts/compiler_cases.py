#!/usr/bin/python3
"""Small models of one operator, or few, for compilers.py: what compilers and their flags may get wrong.

    compiler_cases.py FOLDER

Writes FOLDER/NAME.onnx; where a case needs options of compile, they stand in FOLDER/NAME.options, a word a line. Cases called
nan_* are for data with NaN, infinities and zeros of both signs."""

import sys
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto as T
from onnx import helper, numpy_helper

OPSET = 20
ROWS = (3, 67)  # whole vectors, and a rest
IMAGE = (1, 8, 12, 13)
UNARY = {  # operator: attributes; data are numbers around 0
    "Exp": {}, "Tanh": {}, "Sigmoid": {}, "Erf": {}, "Softplus": {}, "Softsign": {}, "Elu": {}, "Selu": {}, "Celu": {}, "HardSigmoid": {},
    "HardSwish": {}, "Mish": {}, "Gelu": {}, "Sin": {}, "Cos": {}, "Tan": {}, "Atan": {}, "Sinh": {}, "Cosh": {}, "Asinh": {},
    "Reciprocal": {}, "Floor": {}, "Ceil": {}, "Round": {}, "LeakyRelu": {}, "ThresholdedRelu": {}}
POSITIVE = ("Log", "Sqrt", "Acosh")  # of |x| + 1
WITHIN = ("Asin", "Acos", "Atanh")  # of x / (|x| + 1)
BINARY = ("Add", "Mul", "Div", "Pow", "Mod", "Min", "Max")
REDUCE = ("ReduceSum", "ReduceMean", "ReduceProd", "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceSumSquare")
COMPARE = ("Less", "GreaterOrEqual", "Equal", "IsNaN", "IsInf", "Min", "Max", "Sign", "Relu", "Clip", "Round", "ReduceMax", "Where", "Sqrt")
CASTS = {"int8": T.INT8, "uint8": T.UINT8, "int32": T.INT32, "int64": T.INT64, "half": T.FLOAT16, "bfloat": T.BFLOAT16, "double": T.DOUBLE}
random = np.random.default_rng(7)


def weights(*shape, scale=0.3):
    return (random.standard_normal(shape) * scale).astype(np.float32)


class Case:
    """A graph with the input x; each call is a node, whose result the next may read. The last result is the output."""

    def __init__(self, name, shape=ROWS, kind=T.FLOAT, options=()):
        self.name, self.options = name, options
        self.inputs = [helper.make_tensor_value_info("x", kind, shape)]
        self.nodes, self.constants = [], []

    def input(self, name, shape, kind=T.FLOAT):
        self.inputs.append(helper.make_tensor_value_info(name, kind, shape))
        return name

    def constant(self, value):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def __call__(self, op, *inputs, domain="", results=1, **attributes):
        names = [f"{op.lower()}{len(self.nodes)}_{k}" for k in range(results)]
        self.nodes.append(helper.make_node(op, list(inputs) or ["x"], names, domain=domain, **attributes))
        return names[0]

    def save(self, folder):
        outputs = [helper.make_empty_tensor_value_info(name) for name in self.nodes[-1].output]
        graph = helper.make_graph(self.nodes, self.name, self.inputs, outputs, self.constants)
        domains = [helper.make_opsetid("", OPSET), helper.make_opsetid("com.microsoft", 1)]
        onnx.save(helper.make_model(graph, opset_imports=domains, ir_version=9), folder / f"{self.name}.onnx")
        if self.options:
            (folder / f"{self.name}.options").write_text("\n".join(self.options) + "\n")


def plain(op, *, name=None, shape=ROWS, **attributes):
    case = Case(name or op.lower(), shape)
    case(op, **attributes)
    return case


def elementwise():
    for op, attributes in UNARY.items():
        yield plain(op, **attributes)
    yield plain("Gelu", name="gelu_tanh", approximate="tanh")
    for op in POSITIVE + WITHIN:
        case = Case(op.lower())
        beyond = case("Add", case("Abs"), case.constant(np.float32(1)))
        case(op, beyond if op in POSITIVE else case("Div", "x", beyond))
        yield case
    for op in BINARY:
        case = Case(op.lower())
        left = case("Abs") if op == "Pow" else "x"
        case(op, left, case.input("y", ROWS), **({"fmod": 1} if op == "Mod" else {}))
        yield case
    for op, kind in (("Div", T.INT32), ("Mod", T.INT64)):
        case = Case(f"{op.lower()}_integers", kind=kind)
        case(op, "x", case.constant(np.array(3, np.int32 if kind == T.INT32 else np.int64)))
        yield case
    case = Case("prelu")
    case("PRelu", "x", case.constant(weights(67)))
    yield case


def specials():
    for op in COMPARE:
        case = Case(f"nan_{op.lower()}")
        other = () if op in ("IsNaN", "IsInf", "Sign", "Relu", "Round", "Sqrt") else (case.input("y", ROWS),)
        if op == "Where":
            case(op, case("Less", "x", *other), "x", *other)
        elif op == "Clip":
            case(op, "x", case.constant(np.float32(-1)), case.constant(np.float32(1)))
        elif op == "ReduceMax":
            case(op, "x", case.constant(np.array([1])), keepdims=0)
        else:
            case(op, "x", *other)
        yield case
    for op in ("Exp", "Tanh", "Sigmoid", "Erf"):
        yield plain(op, name=f"nan_{op.lower()}")


def sums():
    for op in REDUCE:
        case = Case(op.lower(), (3, 5, 67))
        data = case("Abs") if "Log" in op else "x"
        case(op, data, case.constant(np.array([2])), keepdims=0)
        yield case
    case = Case("cumsum")
    case("CumSum", "x", case.constant(np.array(1)))
    yield case
    yield plain("Softmax")
    yield plain("LogSoftmax")
    yield plain("Softmax", name="softmax_inner", shape=(2, 9, 17), axis=1)
    case = Case("layernorm")
    case("LayerNormalization", "x", case.constant(weights(67)), case.constant(weights(67)))
    yield case
    for op in ("InstanceNormalization", "BatchNormalization"):
        case = Case(op.lower(), IMAGE)
        more = [case.constant(weights(8)), case.constant(np.abs(weights(8)) + 1)] if op.startswith("Batch") else []
        case(op, "x", case.constant(weights(8)), case.constant(weights(8)), *more)
        yield case
    yield plain("LpNormalization", name="lpnorm")
    yield plain("LRN", name="lrn", shape=IMAGE, size=5)
    yield plain("MeanVarianceNormalization", name="mvn", shape=IMAGE)


def casts():
    for name, kind in CASTS.items():
        case = Case(f"cast_{name}")
        narrow = case("Cast", "x", to=kind)
        if name in ("half", "bfloat"):
            case("Cast", narrow, to=T.FLOAT)
        yield case
    case = Case("half_exp", kind=T.FLOAT16)
    case("Exp")
    yield case


def products():
    for name, options in (("conv", ()), ("conv_exact", ("--exact",)), ("conv_half", ("--host-weights", "fp16")), ("conv_small", ("--optimize", "size"))):
        case = Case(name, IMAGE, options=options)
        case("Relu", case("Conv", "x", case.constant(weights(16, 8, 3, 3)), case.constant(weights(16)), pads=[1, 1, 1, 1]))
        yield case
    case = Case("conv_depthwise", IMAGE)
    case("Conv", "x", case.constant(weights(8, 1, 3, 3)), group=8, pads=[1, 1, 1, 1])
    yield case
    case = Case("conv_pointwise", IMAGE)
    case("HardSwish", case("Conv", "x", case.constant(weights(24, 8, 1, 1))))
    yield case
    case = Case("conv_transpose", IMAGE)
    case("ConvTranspose", "x", case.constant(weights(8, 4, 3, 3)), strides=[2, 2])
    yield case
    for name, options in (("gemm", ()), ("gemm_half", ("--host-weights", "fp16"))):
        case = Case(name, options=options)
        case("Gemm", "x", case.constant(weights(67, 33)), case.constant(weights(33)))
        yield case
    case = Case("matmul", (2, 5, 17))
    case("MatMul", "x", case.input("y", (2, 17, 9)))
    yield case
    for op, gates in (("LSTM", 4), ("GRU", 3)):
        case = Case(op.lower(), (4, 2, 9))
        case(op, "x", case.constant(weights(1, 7 * gates, 9)), case.constant(weights(1, 7 * gates, 7)), hidden_size=7)
        yield case


def windows():
    for op, attributes in (("AveragePool", {"kernel_shape": [3, 3]}), ("MaxPool", {"kernel_shape": [2, 2], "strides": [2, 2]}),
                           ("GlobalAveragePool", {}), ("LpPool", {"kernel_shape": [2, 2]})):
        yield plain(op, shape=IMAGE, **attributes)
    for mode in ("nearest", "linear", "cubic"):
        case = Case(f"resize_{mode}", IMAGE)
        case("Resize", "x", "", "", case.constant(np.array([1, 8, 19, 31])), mode=mode)
        yield case
    case = Case("gridsample", IMAGE)
    case("GridSample", "x", case.input("g", (1, 5, 6, 2)), padding_mode="border")
    yield case


def quantised(case, x="x", scale=0.05, zero=3):
    return case("QuantizeLinear", x, case.constant(np.float32(scale)), case.constant(np.int8(zero)))


def integers():
    byte, unit = np.int8, lambda v: np.float32(v)
    case = Case("quantize")
    quantised(case)
    yield case
    case = Case("dequantize")
    case("DequantizeLinear", quantised(case), case.constant(unit(0.05)), case.constant(byte(3)))
    yield case
    case = Case("quantize_dynamic")
    case("DynamicQuantizeLinear", results=3)
    yield case
    w = random.integers(-100, 100, (16, 8, 3, 3)).astype(byte)
    case = Case("qlinear_conv", IMAGE, T.INT8)
    case("QLinearConv", "x", case.constant(unit(0.02)), case.constant(byte(-5)), case.constant(w),
         case.constant(np.abs(weights(16, scale=0.01)) + np.float32(1e-3)), case.constant(np.zeros(16, byte)), case.constant(unit(0.11)),
         case.constant(byte(7)), case.constant(random.integers(-900, 900, 16).astype(np.int32)), pads=[1, 1, 1, 1])
    yield case
    case = Case("qlinear_depthwise", IMAGE, T.INT8)
    case("QLinearConv", "x", case.constant(unit(0.02)), case.constant(byte(0)), case.constant(w[:8, :1]), case.constant(unit(0.007)),
         case.constant(byte(0)), case.constant(unit(0.013)), case.constant(byte(1)), group=8)
    yield case
    matrix = random.integers(-100, 100, (67, 33)).astype(byte)
    case = Case("qlinear_matmul", kind=T.INT8)
    case("QLinearMatMul", "x", case.constant(unit(0.02)), case.constant(byte(4)), case.constant(matrix), case.constant(unit(0.004)),
         case.constant(byte(0)), case.constant(unit(0.09)), case.constant(byte(-3)))
    yield case
    case = Case("matmul_integer", kind=T.INT8)
    case("MatMulInteger", "x", case.constant(matrix))
    yield case
    for op in ("QLinearAdd", "QLinearMul"):
        case = Case(op.lower(), kind=T.INT8)
        case(op, "x", case.constant(unit(0.031)), case.constant(byte(2)), case.input("y", ROWS, T.INT8), case.constant(unit(0.017)),
             case.constant(byte(-9)), case.constant(unit(0.043)), case.constant(byte(1)), domain="com.microsoft")
        yield case
    case = Case("qlinear_pool", IMAGE, T.INT8)
    real = case("DequantizeLinear", "x", case.constant(unit(0.05)), case.constant(byte(3)))
    quantised(case, case("AveragePool", real, kernel_shape=[3, 3]), 0.04, -2)
    yield case


def cases():
    for family in (elementwise, specials, sums, casts, products, windows, integers):
        yield from family()


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for case in cases():
        case.save(folder)


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    main()
