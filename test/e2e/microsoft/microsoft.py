#!/usr/bin/python3
"""usage: microsoft.py MRVLC WORK

Inverse and MatMulBnb4 of com.microsoft: generated C and the interpreter against numpy, and what is refused. WORK is emptied first."""

import os
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

MRVLC, WORK = (pathlib.Path(a).absolute() for a in sys.argv[1:])
FP4 = np.array([0, 0.0625 / 12, 8 / 12, 1, 4 / 12, 6 / 12, 2 / 12, 3 / 12], np.float32)  # an exponent of two bits, a mantissa of one
FP4 = np.concatenate([FP4, -FP4])
NF4 = np.array([-1, -0.6961928, -0.52507305, -0.3949175, -0.28444138, -0.18477343, -0.091050036, 0, 0.0795803, 0.1609302, 0.2461123, 0.33791524,
                0.44070983, 0.562617, 0.72295684, 1], np.float32)  # fmt: skip


def save(op, inputs, outputs, constants=(), **attributes):
    graph = helper.make_graph([helper.make_node(op, [*inputs, *(n for n, _ in constants)], ["y"], domain="com.microsoft", **attributes)], "g",
                              [helper.make_tensor_value_info(n, e, s) for n, (e, s) in inputs.items()],
                              [helper.make_tensor_value_info("y", *outputs)],
                              [numpy_helper.from_array(v, n) for n, v in constants])  # fmt: skip
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), "m.onnx")


def mrvlc(*command, status=0):
    done = subprocess.run([str(MRVLC), *command], capture_output=True, text=True)
    assert done.returncode == status, (command, done.returncode, done.stdout, done.stderr)
    return done.stdout + done.stderr


def result(x, *options):
    """Of the generated C; the interpreter computes the same."""
    np.save("x.npy", x)
    mrvlc("compile", "m.onnx", "-o", "out", "--name", "m", "--target", "host", "-q", *options)
    mrvlc("run", "out", "--input", "x=x.npy", "--output-dir", "results")
    mrvlc("verify", "m.onnx", "--target", "host", *options)
    return np.load("results/y.npy")


def close(got, want, tolerance):
    assert got.shape == want.shape and got.dtype == want.dtype, (got.shape, want.shape, got.dtype, want.dtype)
    error = np.max(np.abs(got.astype(np.float64) - want) / (1 + np.abs(want)), initial=0)
    assert error <= tolerance, error


def inverse():
    random = np.random.default_rng(1)
    for elem, kind, tolerance in ((TensorProto.FLOAT, np.float32, 1e-4), (TensorProto.DOUBLE, np.float64, 1e-10), (TensorProto.FLOAT16, np.float16, 2e-2)):
        for shape in ((3, 3), (1, 1), (2, 5, 4, 4), (16, 16)):
            x = (random.normal(size=shape) + 3 * np.eye(shape[-1])[::-1]).astype(kind)  # the pivots lie elsewhere
            save("Inverse", {"x": (elem, shape)}, (elem, shape))
            close(result(x), np.linalg.inv(x.astype(np.float64)).astype(kind), tolerance)
    # A zero where elimination begins; a matrix without an inverse is no fault.
    save("Inverse", {"x": (TensorProto.FLOAT, (2, 2))}, (TensorProto.FLOAT, (2, 2)))
    close(result(np.array([[0, 2], [4, 0]], np.float32)), np.array([[0, 0.25], [0.5, 0]], np.float32), 0)
    np.save("x.npy", np.ones((2, 2), np.float32))
    mrvlc("run", "out", "--input", "x=x.npy", "--output-dir", "results")
    assert not np.isfinite(np.load("results/y.npy")).any()
    save("Inverse", {"x": (TensorProto.FLOAT, ("n", 3, 3))}, (TensorProto.FLOAT, ("n", 3, 3)))
    x = (random.normal(size=(4, 3, 3)) + np.eye(3)).astype(np.float32)
    np.save("x.npy", x)
    mrvlc("compile", "m.onnx", "-o", "open", "--name", "m", "--target", "host", "-q", "--input-shape", "x=1..8x3x3")
    mrvlc("run", "open", "--input", "x=x.npy", "--output-dir", "results")
    close(np.load("results/y.npy"), np.linalg.inv(x), 1e-3)
    save("Inverse", {"x": (TensorProto.FLOAT, (2, 3))}, (TensorProto.FLOAT, (2, 3)))
    assert "not square" in mrvlc("compile", "m.onnx", "-o", "never", status=1)


def bnb4(k, n, block, kind, elem=np.float32):
    random = np.random.default_rng(k * n)
    places = random.integers(0, 16, n * k)
    packed = np.append(places, 0) if n * k % 2 else places
    packed = (packed[::2] << 4 | packed[1::2]).astype(np.uint8)
    factors = random.uniform(0.5, 2, -(-n * k // block)).astype(elem)
    b = ((FP4, NF4)[kind][places] * np.repeat(factors.astype(np.float32), block)[: n * k]).reshape(n, k)
    x = random.normal(size=(2, 3, k)).astype(elem)
    onnx_elem = helper.np_dtype_to_tensor_dtype(np.dtype(elem)) if hasattr(helper, "np_dtype_to_tensor_dtype") else {np.float32: 1, np.float16: 10}[elem]
    save("MatMulBnb4", {"x": (onnx_elem, x.shape)}, (onnx_elem, (2, 3, n)), [("b", packed), ("s", factors)], K=k, N=n, block_size=block, quant_type=kind)
    close(result(x), (x.astype(np.float32) @ b.T).astype(elem), 1e-5 if elem == np.float32 else 1e-2)


def products():
    for kind in (0, 1):
        bnb4(32, 5, 16, kind)
        bnb4(20, 3, 16, kind)  # blocks that go on in the next row, and one that is cut
        bnb4(5, 5, 32, kind)  # half a byte at the end
    bnb4(64, 16, 64, 1, np.float16)
    wrong = {"block_size": dict(block_size=24), "quant_type": dict(quant_type=2), "transB": dict(transB=0), "factors": dict(block_size=32)}
    for word, attributes in wrong.items():
        packed, factors = np.zeros(80, np.uint8), np.ones(10, np.float32)
        save("MatMulBnb4", {"x": (1, (1, 32))}, (1, (1, 5)), [("b", packed), ("s", factors)], **{"K": 32, "N": 5, "block_size": 16, "quant_type": 1, **attributes})
        assert word in mrvlc("compile", "m.onnx", "-o", "never", status=1), word


def refused():
    for op in ("Rfft", "Irfft", "MoE", "QMoE"):
        save(op, {"x": (1, (1, 8))}, (1, None))
        text = mrvlc("compile", "m.onnx", "-o", "never", status=1)
        assert "MRV0107" in text and f"no '{op}'" in text, text


def main():
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)
    os.chdir(WORK)
    inverse()
    products()
    refused()
    print("ok")


main()
