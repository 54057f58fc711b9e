#!/usr/bin/python3
"""Usage: exported.py MRVLC WORK N [SEED]

Random networks of integers as tools export them: weights as integers in the file, and the same network with weights in floats
in front of a QuantizeLinear (training that quantises), behind a Transpose (Keras), with biases of other scales, of floats and in
an Add. Each runs in integers, in the cycles and bytes of the first form where it says the same, and `verify` finds its integers
equal to those of the model as it was written, on accelerator and host.
"""
import json
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

MRVLC, WORK, COUNT = pathlib.Path(sys.argv[1]).absolute(), pathlib.Path(sys.argv[2]), int(sys.argv[3])
FIRST = int(sys.argv[4]) if len(sys.argv) > 4 else 1
# What a form is like: of weights, of biases, and the opset.
FORMS = {"initialisers": ("integers", "integers", 13), "trained": ("floats", "integers", 13), "trained21": ("floats", "integers", 21),
         "torch": ("computed", "integers", 17), "keras": ("transposed", "added", 13), "keras_reshaped": ("reshaped", "added", 15),
         "tensorrt": ("integers", "floats", 13), "torch_floats": ("floats", "floats", 17), "own_scale": ("floats", "own", 13),
         "keras_floats": ("transposed", "added_floats", 13), "qonnx": ("quant", "quant", 14), "few_bits": ("few", "quant", 14)}
SAME = ["trained", "trained21", "torch", "keras", "keras_reshaped", "qonnx", "few_bits"]
QONNX = "qonnx.custom_op.general"
SAME_FLOATS = ["torch_floats", "own_scale", "keras_floats"]


class Network:
    """Convolutions, depthwise ones, a pool and one dense layer behind; int8 in, int8 out; one seed, one network."""

    def __init__(self, seed, form):
        self.weights, self.biases, self.opset = FORMS[form]
        self.rng = np.random.default_rng(seed)
        self.nodes, self.constants, self.unsigned = [], [], seed % 3 == 0
        self.channels = int(self.rng.integers(3, 20))
        self.per_channel = bool(self.rng.integers(2))
        x, shape = "x", [1, self.channels, 6, 6]
        q, scale = x, 0.05
        for _ in range(int(self.rng.integers(1, 4))):
            q, scale = self.layer(q, scale, str(self.rng.choice(["Conv", "Depthwise"])))
        q = self.node("Reshape", [q, self.constant(np.array([1, -1], np.int64))])
        q, scale = self.layer(q, scale, "Gemm" if "added" not in self.biases else "MatMul")
        info = lambda name, dims: helper.make_tensor_value_info(name, TensorProto.INT8, dims)
        graph = helper.make_graph(self.nodes, "g", [info(x, shape)], [info(q, None)], self.constants)
        opsets = [helper.make_opsetid("", self.opset), helper.make_opsetid(QONNX, 1)]
        self.model = helper.make_model(graph, opset_imports=opsets, ir_version=8)

    def constant(self, array):
        self.constants.append(numpy_helper.from_array(np.asarray(array), f"c{len(self.constants)}"))
        return self.constants[-1].name

    def node(self, op, inputs, **attributes):
        out = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [out], out + op, **attributes))
        return out

    def floats(self, q, scale, zero, **attributes):
        return self.node("DequantizeLinear", [q, scale, zero], **attributes)

    def quant(self, x, scale, zero, bits, signed=True):
        number = lambda v: self.constant(np.asarray(v, np.float32))
        return self.node("Quant", [x, number(scale), number(zero), number(bits)], domain=QONNX, signed=int(signed), narrow=0,
                         rounding_mode="ROUND")

    def weight_floats(self, w, scales, zero, axis):
        """[out, in ...] integers of `scales`, as numbers, in the form that this network has."""
        form = self.weights
        wide = scales.reshape([-1 if d == axis else 1 for d in range(w.ndim)]) if scales.ndim else scales
        per = {"axis": axis} if scales.ndim else {}
        zeros = np.full(scales.shape, zero, w.dtype)
        turn = list(reversed(range(w.ndim)))
        given = np.transpose(w, turn) if form in ("transposed", "reshaped") else w
        if form in ("transposed", "reshaped"):
            wide = np.transpose(wide, turn) if scales.ndim else wide
            per = {"axis": w.ndim - 1 - axis} if scales.ndim else {}
        if form == "integers":
            return self.floats(self.constant(given), self.constant(scales), self.constant(zeros), **per)
        # Floats that lie within the step of their integer.
        noise = np.random.default_rng(1).uniform(-0.4, 0.4, given.shape)
        numbers = ((given.astype(np.float64) - zero + noise) * wide).astype(np.float32)
        s, z = self.constant(scales), self.constant(zeros)
        if form in ("quant", "few"):  # `few`: weights of 4 bits, which are integers of 8 as well
            bits, numbers = (8, numbers) if form == "quant" else (4, (numbers / 16).astype(np.float32))
            zero = zero if form == "quant" else zero // 16
            return self.quant(self.constant(numbers), wide, zero, bits, not self.unsigned)
        if form == "computed":  # as nodes of constants, through operators that leave it as it is
            z = self.node("Cast", [self.constant(zeros.astype(np.int32))], to=helper.np_dtype_to_tensor_dtype(w.dtype)
                          if hasattr(helper, "np_dtype_to_tensor_dtype") else onnx.mapping.NP_TYPE_TO_TENSOR_TYPE[w.dtype])
            numbers_in = self.node("Identity", [self.constant(numbers)])
        else:
            numbers_in = self.constant(numbers)
        q = self.node("QuantizeLinear", [numbers_in, s, z], **per)
        v = self.floats(q, s, z, **per)
        if form in ("transposed", "reshaped"):
            if form == "reshaped":  # a dimension more and back again
                v = self.node("Reshape", [v, self.constant(np.array([1, *given.shape], np.int64))])
                v = self.node("Reshape", [v, self.constant(np.array(given.shape, np.int64))])
            v = self.node("Transpose", [v], perm=turn)
        return v

    def bias_floats(self, b, units):
        if self.biases in ("integers", "added"):
            return self.floats(self.constant(b), self.constant(units), self.constant(np.zeros(units.shape, np.int32)),
                               **({"axis": 0} if units.ndim else {}))
        if self.biases == "quant":
            return self.quant(self.constant((b * units).astype(np.float32)), units, 0, 32)
        if self.biases == "own":
            return self.floats(self.constant((b % 100).astype(np.int8)), self.constant(np.float32(0.03)), self.constant(np.int8(-7)))
        return self.constant(((b + 0.3) * units).astype(np.float32))

    def layer(self, q, scale, kind):
        zero = 3
        c = self.channels
        dense = kind in ("Gemm", "MatMul")
        shape = {"Conv": [c, c, 3, 3], "Depthwise": [c, 1, 3, 3]}.get(kind, [7, c * 36])
        out = shape[0]
        dtype = np.uint8 if self.unsigned else np.int8
        wz = 120 if self.unsigned else 0
        w = self.rng.integers(wz - 100, wz + 100, shape).astype(dtype)
        scales = self.rng.uniform(0.002, 0.004, out).astype(np.float32) if self.per_channel else np.float32(0.003)
        b = self.rng.integers(-500, 500, out).astype(np.int32)
        units = (np.float32(scale) * scales).astype(np.float32)
        if not units.ndim and self.biases not in ("floats", "added_floats", "own"):
            units = np.full(out, units, np.float32)
        quants = self.weights in ("quant", "few")
        x = self.floats(q, self.constant(np.float32(scale)), self.constant(np.int8(zero))) if not quants or q == "x" else q
        axis = 0
        if kind == "MatMul":  # [in, out]
            w, axis = np.ascontiguousarray(w.T), 1
        v = self.weight_floats(w, np.asarray(scales), wz, axis)
        bias = self.bias_floats(b, units)
        if "added" not in self.biases:
            y = self.node("Gemm", [x, v, bias], transB=1) if dense else self.node(
                "Conv", [x, v, bias], pads=[1] * 4, group=c if kind == "Depthwise" else 1)
        else:
            y = self.node("MatMul", [x, v]) if dense else self.node("Conv", [x, v], pads=[1] * 4,
                                                                     group=c if kind == "Depthwise" else 1)
            if not dense:  # one for each channel
                bias = self.node("Reshape", [bias, self.constant(np.array([1, -1, 1, 1], np.int64))])
            y = self.node("Add", [y, bias])
        if self.rng.random() < 0.6:
            y = self.node("Relu", [y])
        step = 0.08 if kind == "Depthwise" else 0.3
        if quants and not dense:  # few: 6 bits
            return self.quant(y, step, zero, 8 if self.weights == "quant" else 6), step
        return self.node("QuantizeLinear", [y, self.constant(np.float32(step)), self.constant(np.int8(zero))]), step


def run(folder, *command):
    done = subprocess.run([str(c) for c in command], cwd=folder, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def measured(folder, model):
    rc, said = run(folder, MRVLC, "compile", model, "-o", "out", "--force", "--name", "m", "--no-probe")
    if rc != 0:
        return None, f"compile ended {rc}: {said}"
    if "MRV0918" in said or "MRV0012" in said:
        return None, f"it does not run in integers: {said}"
    report = json.loads((folder / "out" / "report.json").read_text())
    sizes = sorted(p.stat().st_size for p in (folder / "out").iterdir() if p.suffix in (".mrvl", ".bin"))
    return (report["regions"][0]["cycles"], sizes), None


def problem(seed):
    folder = WORK / str(seed)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    figures = {}
    for form in FORMS:
        onnx.save(Network(seed, form).model, folder / f"{form}.onnx")
        figures[form], said = measured(folder, f"{form}.onnx")
        if said:
            return f"seed {seed}, {form}: {said}"
        for target in ("cn10ka", "host") if form in ("trained", "keras", "own_scale") else ("cn10ka",):
            rc, said = run(folder, MRVLC, "verify", f"{form}.onnx", "--target", target, "--sets", "uniform", "--seed", "1")
            if rc != 0:
                return f"seed {seed}, {form}: verify of {target} ended {rc}: {said}"
    for first, others in (("initialisers", SAME), ("tensorrt", SAME_FLOATS)):
        (cycles, sizes) = figures[first]
        for form in others:
            (now, bytes_now) = figures[form]
            if now > 1.02 * cycles or sum(bytes_now) > 1.02 * sum(sizes):
                return f"seed {seed}, {form}: {now} cycles, {bytes_now} bytes, where {first} takes {cycles} and {sizes}"
    shutil.rmtree(folder)
    return None


def main():
    problems = [p for p in map(problem, range(FIRST, FIRST + COUNT)) if p]
    print("\n".join(problems[:10]))
    print(f"{COUNT} networks in {len(FORMS)} forms: {len(problems)} wrong")
    sys.exit(1 if problems else 0)


main()
