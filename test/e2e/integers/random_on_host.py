"""usage: random_on_host.py MRVLC WORK GRAPHS [FIRST_SEED [MACHINES]]

The C for the host, `--target host`, on seeded random integers, built for several machines: portable, what the compiler takes for granted,
AVX2, and this one's. Every integer must be that of arithmetic.py. A seed is a network of random_integers.py and a model of single products
at the edges: zero points at the ends of their types and one for each channel, few and many channels, single pixels, groups, dilations,
batches, large sums, matrices. MACHINES, of those in flag_sets(), are separated by commas; without, all for which there is a compiler, and an emulator if need be. WORK
is emptied first.
"""

import os
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import arithmetic
from arithmetic import BOUNDS, F, Value
from random_integers import MRVLC, TYPES, WORK, Network, mrvlc

PREFIX = MRVLC.parent.parent
# Multiplications of a Cortex-M4, in a core that the emulator runs; the C library has no clock.
ARM_DSP = "-O2 -march=armv7-a -marm --specs=rdimon.specs"


def flag_sets():
    """(name, compiler, flags, what runs it)."""
    sets = [("scalars", "gcc", "-O1 -DMRVL_NO_VECTORS", []), ("baseline", "gcc", "-O2", [])]
    flags = pathlib.Path("/proc/cpuinfo").read_text() if os.path.exists("/proc/cpuinfo") else ""
    if " avx2 " in flags:
        sets.append(("avx2", "gcc", "-O3 -mavx2 -mfma", []))
    if " avx512bw " in flags:
        sets.append(("avx512bw", "gcc", "-O3 -mavx512f -mavx512bw -mavx512vl -mavx512dq -mfma", []))
    if " avx_vnni " in flags:
        sets.append(("avxvnni", "gcc", "-O3 -mavx2 -mfma -mavxvnni", []))
    sets.append(("native", "gcc", "-O3 -march=native", []))
    if shutil.which("aarch64-linux-gnu-gcc") and shutil.which("qemu-aarch64"):
        run = ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"]
        for name, arch in (("arm", "armv8-a"), ("arm_dot", "armv8.2-a+dotprod"), ("arm_i8mm", "armv8.2-a+i8mm")):
            sets.append((name, "aarch64-linux-gnu-gcc", f"-O2 -march={arch} -static", run))
    if shutil.which("arm-none-eabi-gcc") and shutil.which("qemu-arm"):
        sets.append(("arm_dsp", "arm-none-eabi-gcc", ARM_DSP, ["qemu-arm"]))
    asked = sys.argv[5].split(",") if len(sys.argv) > 5 else [s[0] for s in sets]
    return [s for s in sets if s[0] in asked]


class Products:
    """Independent products, each with an input and an output of its own."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.nodes, self.constants, self.inputs, self.outputs, self.expected, self.data = [], [], [], [], {}, {}
        for _ in range(10):
            self.conv() if self.rng.random() < 0.75 else self.matrix()
        self.floats()

    def constant(self, array):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def draw(self, values):
        return values[int(self.rng.integers(0, len(values)))]

    def zero(self, kind):
        low, high = BOUNDS[kind]
        return int(self.draw([low, high, (low + high + 1) // 2, int(self.rng.integers(low, high + 1))]))

    def integers(self, kind, shape):
        low, high = BOUNDS[kind]
        values = self.rng.integers(low, high + 1, shape)
        if self.rng.random() < 0.3:  # the largest sums
            values = self.rng.choice([low, high], shape, p=[0.05, 0.95] if self.rng.random() < 0.5 else [0.95, 0.05])
        return values

    def input(self, shape):
        kind = str(self.draw(["int8", "uint8"]))
        x = Value(self.integers(kind, shape), kind, self.zero(kind), F(self.rng.uniform(0.01, 0.1)))
        name = f"x{len(self.inputs)}"
        self.inputs.append(helper.make_tensor_value_info(name, TYPES[kind], shape))
        self.data[name] = x.q.astype(kind)
        return name, x

    def weights(self, shape, rows, axis):
        """Bytes, their zero points as an operand, what they are less these."""
        kind = str(self.draw(["int8", "uint8"]))
        w = self.integers(kind, shape)
        each = self.rng.random() < 0.3
        zeros = np.asarray([self.zero(kind) for _ in range(rows)] if each else self.zero(kind))
        if kind == "int8" and self.rng.random() < 0.5:
            zeros = np.zeros_like(zeros)
        shaped = zeros.reshape([-1 if d == axis else 1 for d in range(len(shape))]) if each else zeros
        return self.constant(w.astype(kind)), self.constant(zeros.astype(kind)), w - shaped

    def output(self, name, value, elem):
        self.expected[name] = value
        self.outputs.append(helper.make_tensor_value_info(name, elem, value.shape))

    def result(self, op, name, x, w, sums, rows, scales_axis, bias, attributes):
        """Appends the node; `sums` are exact, without bias."""
        out = f"y{len(self.outputs)}"
        if op in ("ConvInteger", "MatMulInteger"):
            inputs = [name, w[0], self.constant(np.asarray(x.zero, x.kind)), w[1]]
            self.nodes.append(helper.make_node(op, inputs, [out], **attributes))
            self.output(out, wrapped(sums), TensorProto.INT32)
            return
        kind = str(self.draw(["int8", "uint8"]))
        zero, each = self.zero(kind), self.rng.random() < 0.5
        scales = self.rng.uniform(1e-4, 1e-2, rows if each else ()).astype(F)
        shape = [-1 if d == scales_axis else 1 for d in range(sums.ndim)] if each else ()
        most = float(np.max(np.abs(sums.astype(np.float64)))) * float(x.scale) * float(scales.max()) or 1.0
        y_scale = F(most / float(self.draw([60, 127, 1000])))
        total = wrapped(sums + bias.reshape([-1 if d == scales_axis else 1 for d in range(sums.ndim)]))
        factor = ((x.scale * scales).astype(F) / y_scale).astype(F).reshape(shape)
        v = np.rint((total.astype(F) * factor).astype(F)).astype(np.float64) + zero
        inputs = [name, self.constant(x.scale), self.constant(np.asarray(x.zero, x.kind)), w[0], self.constant(scales), w[1],
                  self.constant(y_scale), self.constant(np.asarray(zero, kind))]
        if op == "QLinearConv" and (bias.any() or self.rng.random() < 0.3):
            inputs.append(self.constant(bias.astype(np.int32)))
        low, high = BOUNDS[kind]
        if self.rng.random() < 0.3:
            low, high = sorted(int(b) for b in self.rng.integers(low, high + 1, 2))
            self.nodes.append(helper.make_node(op, inputs, [out + "_"], **attributes))
            bounds = [self.constant(np.asarray(b, kind)) for b in (low, high)]
            self.nodes.append(helper.make_node("Clip", [out + "_", *bounds], [out]))
        else:
            self.nodes.append(helper.make_node(op, inputs, [out], **attributes))
        self.output(out, np.clip(v, low, high).astype(np.int64), TYPES[kind])

    def conv(self):
        depthwise, flat = self.rng.random() < 0.35, self.rng.random() < 0.2
        channels = int(self.draw([1, 2, 3, 4, 5, 8, 17, 40]))
        group = channels if depthwise else self.draw([1, 1, 1, *[g for g in (2, 3, 4) if channels % g == 0]])
        m = group * int(self.draw([1, 2, 3] if depthwise else [1, 2, 5, 6, 8, 17, 33]))
        size = [int(self.draw([1, 1, 2, 3, 5, 7, 12, 19])) for _ in range(1 if flat else 2)]
        kernel = [int(self.draw([1, 1, 2, 3, 5, 7])) for _ in size]
        strides = [int(self.draw([1, 1, 2, 3])) for _ in size]
        dilations = [int(self.draw([1, 1, 2, 3])) for _ in size]
        pads = [int(self.rng.integers(0, 4)) for _ in range(2 * len(size))]
        for d, s in enumerate(size):  # a window at least
            short = dilations[d] * (kernel[d] - 1) + 1 - (s + pads[d] + pads[len(size) + d])
            pads[d] += max(short, 0)
        name, x = self.input([int(self.draw([1, 1, 1, 2, 5])), channels, *size])
        shape = [m, channels // group, *kernel]
        w = self.weights(shape, m, 0)
        bias = self.rng.integers(-20000, 20000, m) if self.rng.random() < 0.7 else np.zeros(m, np.int64)
        if self.rng.random() < 0.1:
            bias[0] = 2**31 - 1  # sums wrap
        lift = (lambda v, one: [one, *v]) if flat else (lambda v, one: list(v))
        image = x.like(x.q.reshape(x.q.shape[0], channels, *lift(size, 1)))
        four = lift(pads, 0) if not flat else [0, pads[0], 0, pads[1]]
        sums = convolved(image, w[2].reshape(m, channels // group, *lift(kernel, 1)), lift(strides, 1), lift(dilations, 1), four, group)
        if flat:
            sums = sums.reshape(sums.shape[0], m, -1)
        op = str(self.draw(["QLinearConv", "QLinearConv", "ConvInteger"]))
        attributes = {"strides": strides, "dilations": dilations, "pads": pads, "group": group, "kernel_shape": kernel}
        self.result(op, name, x, w, sums, m, 1, bias, attributes)

    def matrix(self):
        lead = self.draw([[1], [1], [3], [9], [2, 3]])
        k, n = int(self.draw([1, 3, 4, 17, 64, 1000])), int(self.draw([1, 5, 15, 16, 64, 65, 100]))
        name, x = self.input([*lead, k] if len(lead) > 1 else [lead[0], k])
        w = self.weights([k, n], n, 1)
        sums = (x.q - x.zero) @ w[2]
        op = str(self.draw(["QLinearMatMul", "MatMulInteger"]))
        self.result(op, name, x, w, sums, n, sums.ndim - 1, np.zeros(n, np.int64), {})

    def floats(self):
        """A convolution of floats beside them, of whole numbers small enough to be summed exactly: kernels of both kinds are in one program."""
        shape, weights = [1, int(self.draw([1, 3, 5])), 19, 21], [int(self.draw([1, 4, 9])), 0, 3, 3]
        weights[1] = shape[1]
        x, w = self.rng.integers(-99, 100, shape), self.rng.integers(-9, 10, weights)
        sums = convolved(Value(x, "int8", 0, F(1)), w, [2, 2], [1, 1], [1] * 4, 1)
        self.inputs.append(helper.make_tensor_value_info("xf", TensorProto.FLOAT, shape))
        self.data["xf"] = x.astype(F)
        self.nodes.append(helper.make_node("Conv", ["xf", self.constant(w.astype(F))], ["yf"], strides=[2, 2], pads=[1] * 4))
        self.output("yf", sums, TensorProto.FLOAT)

    def model(self):
        graph = helper.make_graph(self.nodes, "products", self.inputs, self.outputs, self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        onnx.checker.check_model(model)
        return model


def wrapped(sums):
    return (sums + 2**31) % 2**32 - 2**31


def convolved(x, w, strides, dilations, pads, group):
    """Sums of a convolution: what arithmetic.conv makes, before it is scaled, in a plain form for many channels."""
    m, per_group, kh, kw = w.shape
    centred = np.pad(x.q - x.zero, [(0, 0), (0, 0), (pads[0], pads[2]), (pads[1], pads[3])])
    n, _, height, width = centred.shape
    oh, ow = [(s - d * (k - 1) - 1) // t + 1 for s, d, k, t in zip((height, width), dilations, (kh, kw), strides)]
    sums = np.zeros((n, m, oh, ow), np.int64)
    for r in range(kh):
        for c in range(kw):
            part = centred[:, :, r * dilations[0]:, c * dilations[1]:][:, :, :(oh - 1) * strides[0] + 1:strides[0], :(ow - 1) * strides[1] + 1:strides[1]]
            for o in range(m):
                first = o // (m // group) * per_group
                sums[:, o] += np.einsum("nchw,c->nhw", part[:, first:first + per_group], w[o, :, r, c])
    return sums


def network_case(seed):
    network = Network(seed).build()
    model = network.model()
    expected = {n: network.values[n].q for n in network.checked}
    return model, {"x": network.input.astype(network.input_kind)}, expected


def products_case(seed):
    products = Products(seed)
    return products.model(), products.data, products.expected


def check(label, model, data, expected):
    """Sentences about what is wrong."""
    folder = WORK / label
    folder.mkdir(parents=True)
    onnx.save(model, folder / "m.onnx")
    arguments = []
    for name, array in data.items():
        np.save(folder / f"{name}.npy", array)
        arguments += ["--input", f"{name}={name}.npy"]  # relative: a command line of the DSP's C library has 256 bytes
    mrvlc("compile", folder / "m.onnx", "-o", folder / "out", "--target", "host", "--name", "m", "-q")
    wrong = []
    for name, compiler, flags, run in flag_sets():
        make = ["make", "-s", "-B", "-C", folder / "out", f"CC={compiler}", f"CFLAGS={flags} -std=c99 -Wall -Wextra -Werror -Wno-restrict", f"MRVLC_PREFIX={PREFIX}"]
        results = folder / name
        for command in (make, [*run, "out/m_example", *arguments, "--output-dir", name]):
            results.mkdir(exist_ok=True)
            done = subprocess.run([str(c) for c in command], cwd=folder, capture_output=True, text=True, timeout=300)
            if done.returncode != 0:
                wrong.append(f"{label}, {name}: {done.stderr[-800:]}")
                break
        else:
            for output, value in expected.items():
                got = np.load(results / f"{output}.npy").astype(np.int64)
                if got.shape != value.shape or (got != value).any():
                    off = np.abs(got - value) if got.shape == value.shape else np.asarray([-1])
                    wrong.append(f"{label}, {name}: {output} {value.shape}: {int((off != 0).sum())} differ, by up to {int(off.max())}")
    if not wrong:
        shutil.rmtree(folder)
    return wrong


def main():
    graphs, first = int(sys.argv[3]), int(sys.argv[4]) if len(sys.argv) > 4 else 1
    shutil.rmtree(WORK, ignore_errors=True)
    wrong = []
    for seed in range(first, first + graphs):
        for kind, case in (("network", network_case), ("products", products_case)):
            try:
                found = check(f"{kind}{seed}", *case(seed))
            except Exception as e:  # what cannot be compiled is a finding, too
                found = [f"{kind} of seed {seed}: {e}"]
            wrong += found
            for sentence in found:
                print(sentence, flush=True)
    print(f"{graphs} networks and as many models of products, {', '.join(s[0] for s in flag_sets())}: {len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
