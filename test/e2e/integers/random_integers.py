"""usage: random_integers.py MRVLC WORK GRAPHS [FIRST_SEED]

Seeded random quantised networks (DequantizeLinear, an operator, QuantizeLinear) compiled for the accelerator and run: every integer
of every layer must be that of arithmetic.py, which knows docs/arithmetic.md and nothing of the compiler, and all products must run on the accelerator.
WORK is emptied first.
"""

import concurrent.futures
import json
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import arithmetic
from arithmetic import BOUNDS, F, Value, stored

MRVLC, WORK = (pathlib.Path(a).absolute() for a in sys.argv[1:3])
SINGLE_RULES = pathlib.Path(__file__).absolute().parent / "single.rules"
TYPES = {"int8": TensorProto.INT8, "uint8": TensorProto.UINT8}


class Network:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.nodes, self.constants, self.values = [], [], {}
        self.movable = []  # nodes whose results are the same wherever they run: convolutions of floats are summed in fp32
        shape = [1, *(int(v) for v in self.rng.integers([1, 3, 3], [20, 13, 13]))]
        kind, zero, scale = self.draw_type()
        low, high = BOUNDS[kind]
        edges = self.rng.choice([low, high, zero], shape)
        self.input = np.where(self.rng.random(shape) < 0.2, edges, self.rng.integers(low, high + 1, shape))
        self.values["x"] = Value(self.input, kind, zero, scale)
        self.input_kind, self.value = kind, "x"

    def draw_type(self, scale=None):
        kind = str(self.rng.choice(["int8", "uint8"]))
        low, high = BOUNDS[kind]
        zero = int(self.rng.choice([low, high, (low + high + 1) // 2, self.rng.integers(low, high + 1)]))
        if scale is None:
            scale = float(self.rng.choice([2.0 ** -5, self.rng.uniform(0.01, 0.1)]))
        return kind, zero, F(scale)

    def constant(self, array):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def node(self, op, inputs, **attributes):
        out = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [out], name=f"{op.lower()}_{len(self.nodes)}", **attributes))
        return out

    def dequantized(self, name):
        v = self.values[name]
        return self.node("DequantizeLinear", [name, self.constant(v.scale), *self.zero_point(v.zero, v.kind)])

    def zero_point(self, zero, kind):
        """An operand, or none: 0 may be left out."""
        left_out = np.all(zero == 0) and self.rng.random() < 0.3
        return [] if left_out else [self.constant(np.asarray(zero, kind))]

    def quantized(self, name, value):
        zero = self.zero_point(value.zero, value.kind) if value.kind == "uint8" else [self.constant(np.asarray(value.zero, value.kind))]
        out = self.node("QuantizeLinear", [name, self.constant(value.scale), *zero])
        self.values[out], self.value = value, out

    def bound(self, name):
        """Relu, Clip or nothing: the node's result, the bounds."""
        which = self.rng.integers(0, 3)
        if which == 0:
            return self.node("Relu", [name]), 0, np.inf
        if which == 1:
            low, high = sorted(F(v) for v in self.rng.uniform(-3, 3, 2))
            return self.node("Clip", [name, self.constant(low), self.constant(high)]), low, high
        return name, -np.inf, np.inf

    def weights(self, shape, axis):
        kind = str(self.rng.choice(["int8", "int8", "uint8"]))
        low, high = BOUNDS[kind]
        w = self.rng.integers(low, high + 1, shape)
        each = bool(self.rng.integers(0, 2))
        zero = int(self.rng.integers(low, high + 1)) if kind == "uint8" else 0
        scales = self.rng.uniform(1e-4, 1e-2, shape[axis] if each else ()).astype(F)
        zeros = np.full(scales.shape, zero, kind)
        if each and self.rng.random() < 0.2:  # one a channel, differences of 8 bits
            w = w // 2
            zeros = self.rng.integers(low // 2, high // 2 + 1, scales.shape).astype(kind)
        d = self.node("DequantizeLinear", [self.constant(w.astype(kind)), self.constant(scales), *self.zero_point(zeros, kind)], axis=axis)
        by_channel = zeros.astype(np.int64).reshape([-1 if i == axis and each else 1 for i in range(len(shape))])
        return d, w.astype(np.int64) - by_channel, np.broadcast_to(scales, (shape[axis],)).astype(F)

    def bias(self, x, scales):
        if self.rng.random() < 0.3:
            return [], np.zeros(len(scales), np.int64)
        b = self.rng.integers(-2000, 2000, len(scales))
        if self.rng.random() < 0.1:
            b[0] = self.rng.choice([2**31 - 1, -2**31])  # sums beyond 32 bits, which no float wraps
        unit = (x.scale * scales).astype(F)
        zeros = np.zeros(len(scales), np.int32)
        return [self.node("DequantizeLinear", [self.constant(b.astype(np.int32)), self.constant(unit), self.constant(zeros)], axis=0)], b

    def output_type(self, sums, factors):
        """A scale that uses the type's range more or less, saturating now and then."""
        most = float(np.max(np.abs(sums * factors))) or 1.0
        return self.draw_type(most / float(self.rng.choice([60, 127, 200, 1000])))

    def conv(self):
        x = self.values[self.value]
        channels, height, width = x.q.shape[1:]
        depthwise = self.rng.random() < 0.35 and channels > 1
        group = channels if depthwise else 2 if channels % 2 == 0 and self.rng.random() < 0.3 else 1
        m = group * int(self.rng.integers(1, 3 if depthwise else 24))
        k = [int(self.rng.integers(1, min(4, s) + 1)) for s in (height, width)]
        strides = [int(v) for v in self.rng.integers(1, 3, 2)]
        dilations = [int(self.rng.integers(1, 3)) if (n - 1) * 2 < s else 1 for n, s in zip(k, (height, width))]
        pads = [int(self.rng.integers(0, k[i % 2])) for i in range(4)]
        d, w, scales = self.weights([m, channels // group, *k], 0)
        bias, b = self.bias(x, scales)
        y = self.node("Conv", [self.dequantized(self.value), d, *bias], strides=strides, dilations=dilations, pads=pads, group=group)
        y, low, high = self.bound(y)
        spread = np.full(1, 128.0 * 40 * w[0].size**0.5)
        out = self.output_type(spread, x.scale * scales.max())
        result = arithmetic.conv(x, w, b, scales, out, strides, dilations, pads, group)
        self.quantized(y, arithmetic.bounded(result, low, high))

    def matrix(self):
        x = self.values[self.value]
        k = int(np.prod(x.q.shape[1:]))
        flat = self.node("Reshape", [self.value, self.constant(np.asarray([1, k], np.int64))])
        self.values[flat] = x.like(x.q.reshape(1, k))
        n, transposed = int(self.rng.integers(1, 40)), bool(self.rng.integers(0, 2))
        d, w, scales = self.weights([n, k] if transposed else [k, n], 0 if transposed else 1)
        bias, b = self.bias(x, scales)
        w = (w if transposed else w.T).reshape(n, k, 1, 1)
        if bias or transposed:
            y = self.node("Gemm", [self.dequantized(flat), d, *bias], transB=int(transposed))
        else:
            y = self.node("MatMul", [self.dequantized(flat), d])
        y, low, high = self.bound(y)
        out = self.output_type(np.full(1, 128.0 * 40 * k**0.5), x.scale * scales.max())
        image = Value(x.q.reshape(1, k, 1, 1), x.kind, x.zero, x.scale)
        result = arithmetic.conv(image, w, b, scales, out, [1, 1], [1, 1], [0] * 4, 1)
        self.quantized(y, arithmetic.bounded(result.like(result.q.reshape(1, n)), low, high))

    def arithmetic(self):
        x = self.values[self.value]
        same = [n for n, v in self.values.items() if v.q.shape == x.q.shape]
        other = str(self.rng.choice(same))
        op = str(self.rng.choice(["Add", "Add", "Sub", "Mul", "Max", "Min"]))
        a, b = x.numbers, self.values[other].numbers
        results = {"Add": a + b, "Sub": a - b, "Mul": a * b, "Max": np.maximum(a, b), "Min": np.minimum(a, b)}
        y = self.node(op, [self.dequantized(self.value), self.dequantized(other)])
        v = results[op].astype(F)
        if self.rng.random() < 0.5:
            y, v = self.node("Relu", [y]), np.maximum(v, F(0))
        self.quantized(y, stored(v, *self.output_type(v, F(1))))

    def concatenation(self):
        x = self.values[self.value]
        near = [n for n, v in self.values.items() if v.q.ndim == 4 and v.q.shape[2:] == x.q.shape[2:] and v.q.shape[1] < 40]
        other = str(self.rng.choice([*near, self.value]))
        y = self.node("Concat", [self.dequantized(self.value), self.dequantized(other)], axis=1)
        v = np.concatenate([x.numbers, self.values[other].numbers], 1)
        out = (x.kind, x.zero, x.scale) if self.rng.random() < 0.5 else self.output_type(v, F(1))
        self.quantized(y, stored(v, *out))

    def functions(self):
        names = [str(n) for n in self.rng.choice(list(arithmetic.FUNCTIONS), int(self.rng.integers(1, 3)))]
        y = self.dequantized(self.value)
        for name in names:
            y = self.node(name, [y])
        v = arithmetic.functions(self.values[self.value], names)
        self.quantized(y, stored(v, *self.output_type(v, F(1))))

    def with_constant(self):
        """With constants, one a channel or one, that fp16 would round."""
        x = self.values[self.value]
        op, shape = str(self.rng.choice(["Add", "Sub", "Mul", "Max"])), [(), (x.q.shape[1], 1, 1)][int(self.rng.integers(0, 2))]
        c = self.rng.uniform(-2, 2, shape).astype(F)
        y = self.node(op, [self.dequantized(self.value), self.constant(c)])
        v = {"Add": x.numbers + c, "Sub": x.numbers - c, "Mul": x.numbers * c, "Max": np.maximum(x.numbers, c)}[op].astype(F)
        self.quantized(y, stored(v, *self.output_type(v, F(1))))

    def pool(self):
        x = self.values[self.value]
        op = str(self.rng.choice(["max", "average", "global"]))
        if op == "global":
            kernel, strides, pads, include = list(x.q.shape[2:]), [1, 1], [0] * 4, False
            y = self.node("GlobalAveragePool", [self.dequantized(self.value)])
        else:
            kernel = [int(self.rng.integers(1, min(3, s) + 1)) for s in x.q.shape[2:]]
            strides = [int(v) for v in self.rng.integers(1, 3, 2)]
            pads = [int(self.rng.integers(0, kernel[i % 2])) for i in range(4)]
            include = op == "average" and bool(self.rng.integers(0, 2))
            attributes = {"count_include_pad": int(include)} if op == "average" else {}
            y = self.node("MaxPool" if op == "max" else "AveragePool", [self.dequantized(self.value)], kernel_shape=kernel, strides=strides, pads=pads,
                          **attributes)
        kind = "max" if op == "max" else "average"
        out = (x.kind, x.zero, x.scale) if self.rng.random() < 0.5 else self.draw_type(x.scale)
        self.quantized(y, arithmetic.pool(x, kind, kernel, strides, pads, include, out))

    def reduction(self):
        x = self.values[self.value]
        op = str(self.rng.choice(["ReduceMean", "ReduceMean", "ReduceSum"]))
        axes = [[2, 3], [3, 2], [3], [1], [1, 2, 3]][int(self.rng.integers(0, 5))]
        given = self.dequantized(self.value)
        y = self.node(op, [given], axes=axes) if op == "ReduceMean" else self.node(op, [given, self.constant(np.asarray(axes, np.int64))])
        sums = (x.q - x.zero).sum(tuple(axes)) * x.scale
        same = op == "ReduceMean" and self.rng.random() < 0.5
        out = (x.kind, x.zero, x.scale) if same else self.output_type(sums, F(1)) if op == "ReduceSum" else self.draw_type(x.scale)
        self.quantized(y, arithmetic.reduction(x, op, axes, out))

    def move(self):
        """Of integers, or of the numbers that they stand for, which become the same integers again."""
        x, as_numbers = self.values[self.value], self.rng.random() < 0.5
        source = self.dequantized(self.value) if as_numbers else self.value
        if self.rng.random() < 0.5:
            perm = [0, *(int(v) + 1 for v in self.rng.permutation(3))]
            y = self.node("Transpose", [source], perm=perm)
            moved = x.like(x.q.transpose(perm))
        else:
            begin = [int(self.rng.integers(0, s)) for s in x.q.shape[1:]]
            ends = [int(self.rng.integers(b + 1, s + 1)) for b, s in zip(begin, x.q.shape[1:])]
            y = self.node("Slice", [source, *(self.constant(np.asarray(v, np.int64)) for v in (begin, ends, [1, 2, 3]))])
            moved = x.like(x.q[:, begin[0]:ends[0], begin[1]:ends[1], begin[2]:ends[2]])
        if as_numbers:
            self.quantized(y, moved)
        else:
            self.values[y], self.value = moved, y

    def build(self):
        self.conv()
        for _ in range(int(self.rng.integers(1, 7))):
            step = self.rng.choice(["conv", "conv", "arithmetic", "arithmetic", "with_constant", "functions", "concatenation", "pool", "reduction", "move"])
            begin = len(self.nodes)
            getattr(self, str(step))()
            if step != "conv":
                self.movable += [n.name for n in self.nodes[begin:]]
        self.conv()
        if self.rng.random() < 0.5:
            self.matrix()
        return self

    def model(self):
        checked = {self.value} | {n for n in self.values if n != "x" and self.rng.random() < 0.3}
        self.checked = [n for n in self.values if n in checked]
        outputs = [helper.make_tensor_value_info(n, TYPES[self.values[n].kind], self.values[n].q.shape) for n in self.checked]
        self.floats = None
        if self.rng.random() < 0.5:
            self.floats = self.dequantized(self.value)
            outputs.append(helper.make_tensor_value_info(self.floats, TensorProto.FLOAT, self.values[self.value].q.shape))
        inputs = [helper.make_tensor_value_info("x", TYPES[self.input_kind], self.input.shape)]
        graph = helper.make_graph(self.nodes, "integers", inputs, outputs, self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=7)
        onnx.checker.check_model(model)
        return model


def mrvlc(*args):
    done = subprocess.run([str(MRVLC), *map(str, args)], capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        raise RuntimeError(f"mrvlc {args[0]}: exit {done.returncode}: {done.stderr[-600:]}")


def wrong_values(network, folder, out):
    # Without optimisation: what is judged is the binary, and a C compiler would take most of the time.
    mrvlc("run", out, "--input", f"x={folder / 'x.npy'}", "--output-dir", out / "results", "--cflags=-O0", "-q")
    for name in network.checked:
        got, expected = np.load(out / "results" / f"{name}.npy").astype(np.int64), network.values[name].q
        if got.shape != expected.shape or (got != expected).any():
            off = np.abs(got - expected) if got.shape == expected.shape else np.asarray([-1])
            return f"{name} of shape {expected.shape}: {int((off != 0).sum())} differ, by up to {int(off.max())}"
    if network.floats and (np.load(out / "results" / f"{network.floats}.npy") != network.values[network.value].numbers).any():
        return f"{network.floats}: numbers that integers stand for are rounded"
    return None


def placements(network):
    """Options that move borders: exactness must not depend on who computes the neighbours."""
    rng, names = network.rng, [n.name for n in network.nodes]
    draw = lambda of: [str(n) for n in rng.choice(of, min(len(of), int(rng.integers(1, 4))), replace=False)]
    options = {"rules": ["--no-default-rules", "--rules", SINGLE_RULES]}
    options["border"] = [o for n in draw(names) for o in (str(rng.choice(["--border", "--border-after"])), n)]
    if network.movable:
        options["cpu"] = [o for n in draw(network.movable) for o in ("--cpu", n)]
    return options


def problem(seed):
    """A sentence, or None, and the share of products on the accelerator."""
    network = Network(seed).build()
    folder = WORK / str(seed)
    folder.mkdir(parents=True)
    onnx.save(network.model(), folder / "m.onnx")
    np.save(folder / "x.npy", network.input.astype(network.input_kind))
    out = folder / "out"
    mrvlc("compile", folder / "m.onnx", "-o", out, "--target", "cn10ka", "-q")
    share = json.loads((out / "report.json").read_text())["placement"]["mac_share_accelerator"]
    wrong = wrong_values(network, folder, out)
    if wrong:
        return f"seed {seed}: {wrong}", share
    for label, options in placements(network).items():
        try:
            mrvlc("compile", folder / "m.onnx", "-o", folder / label, "--target", "cn10ka", "-q", *options)
        except RuntimeError as e:
            if label == "border" and "MRV0412" in str(e):  # one that no region can have is refused, with the reason
                continue
            raise
        wrong = wrong_values(network, folder, folder / label)
        if wrong:
            return f"seed {seed}, {' '.join(map(str, options))}: {wrong}", share
    shutil.rmtree(folder)
    return None, share


def main():
    graphs, first = int(sys.argv[3]), int(sys.argv[4]) if len(sys.argv) > 4 else 1
    shutil.rmtree(WORK, ignore_errors=True)
    failures, shares = [], []

    def guarded(seed):
        try:
            return problem(seed)
        except Exception as e:  # a network that cannot be compiled is a finding, too
            return f"seed {seed}: {e}", 0.0

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for sentence, share in pool.map(guarded, range(first, first + graphs)):
            shares.append(share)
            if sentence:
                failures.append(sentence)
                print(sentence, flush=True)
    whole = sum(s == 1.0 for s in shares)
    print(f"{graphs} networks of integers: {len(failures)} wrong; all products on the accelerator in {whole}")
    return 1 if failures or whole < graphs * 0.95 else 0


if __name__ == "__main__":
    sys.exit(main())
