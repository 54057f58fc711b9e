#!/usr/bin/python3
"""Trains the digit classifier and writes digits.onnx, test_x.npy and test_y.npy beside this file (or into DIR).

Usage: train.py [-o DIR]. Data: scikit-learn's load_digits, 1 797 images of 8x8 pixels (UCI "Optical Recognition of
Handwritten Digits", test part); 450 of them, chosen by a seeded shuffle, are held out and never trained on.
Everything is seeded and runs in one thread: running it again on the same machine gives the same bytes.
"""

import argparse
import os
import sys

# One thread, so that sums are taken in one order whatever the number of cores.
os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "generators"))
from build import Builder  # noqa: E402
import numpy as np  # noqa: E402
from sklearn.datasets import load_digits  # noqa: E402

HELD_OUT, EPOCHS, BATCH, RATE, DECAY, EPSILON = 450, 40, 32, 2e-3, 1e-4, 1e-5


def load():
    digits = load_digits()
    order = np.random.Generator(np.random.PCG64(7)).permutation(len(digits.target))
    x = (digits.images[order] / 16).astype(np.float32)[:, None]
    y = digits.target[order].astype(np.int64)
    return x[:-HELD_OUT], y[:-HELD_OUT], x[-HELD_OUT:], y[-HELD_OUT:]


def initial(rng):
    he = lambda shape, fan_in: rng.standard_normal(shape) * np.sqrt(2 / fan_in)
    return {"w1": he((16, 9), 9), "b1": np.zeros(16), "w2": he((32, 144), 144), "b2": np.zeros(32),
            "scale": np.ones(32), "shift": np.zeros(32), "w3": he((10, 512), 1024), "b3": np.zeros(10)}


def patches(x):
    """[n, c, 8, 8] -> [n, 64, c * 9]: the 3x3 neighbourhood of every pixel, zeros outside"""
    n, c = x.shape[:2]
    windows = np.lib.stride_tricks.sliding_window_view(np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1))), (3, 3), (2, 3))
    return windows.transpose(0, 2, 3, 1, 4, 5).reshape(n, 64, c * 9)


def images(rows):
    """[n, 64, c] -> [n, c, 8, 8]"""
    return rows.transpose(0, 2, 1).reshape(len(rows), -1, 8, 8)


def rows(x):
    return x.reshape(*x.shape[:2], 64).transpose(0, 2, 1)


def unpatch(grad, channels):
    """The transpose of patches: adds each neighbourhood's gradient back onto its pixels."""
    padded = np.zeros((len(grad), channels, 10, 10))
    grad = grad.reshape(len(grad), 8, 8, channels, 3, 3).transpose(0, 3, 4, 5, 1, 2)
    for i in range(3):
        for j in range(3):
            padded[:, :, i:i + 8, j:j + 8] += grad[:, :, i, j]
    return padded[:, :, 1:-1, 1:-1]


def pool_windows(x):
    """[n, c, 8, 8] -> [n, c, 4, 4, 4], the last axis over each 2x2 window"""
    n, c = x.shape[:2]
    return x.reshape(n, c, 4, 2, 4, 2).transpose(0, 1, 2, 4, 3, 5).reshape(n, c, 4, 4, 4)


def forward(p, x, statistics=None):
    """Logits and what backward needs; batch statistics are taken from x unless given as (mean, variance)."""
    p1 = patches(x)
    a1 = p1 @ p["w1"].T + p["b1"]
    p2 = patches(images(np.maximum(a1, 0)))
    a2 = p2 @ p["w2"].T + p["b2"]
    mean, var = statistics or (a2.mean((0, 1)), a2.var((0, 1)))
    norm = (a2 - mean) / np.sqrt(var + EPSILON)
    h2 = np.maximum(norm * p["scale"] + p["shift"], 0)
    windows = pool_windows(images(h2))
    flat = windows.max(-1).reshape(len(x), 512)
    return flat @ p["w3"].T + p["b3"], (p1, a1, p2, var, norm, h2, windows, flat)


def backward(p, saved, grad):
    """Gradients of the loss for every parameter, from its gradient for the logits"""
    p1, a1, p2, var, norm, h2, windows, flat = saved
    n, g = len(grad), {"w3": grad.T @ flat, "b3": grad.sum(0)}
    first = windows.argmax(-1)[..., None] == np.arange(4)
    d = (grad @ p["w3"]).reshape(n, 32, 4, 4, 1) * first
    d = d.reshape(n, 32, 4, 4, 2, 2).transpose(0, 1, 2, 4, 3, 5).reshape(n, 32, 8, 8)
    d = rows(d) * (h2 > 0)
    g["scale"], g["shift"] = (d * norm).sum((0, 1)), d.sum((0, 1))
    count = n * 64
    d = p["scale"] / np.sqrt(var + EPSILON) * (d - g["shift"] / count - norm * g["scale"] / count)
    g["w2"], g["b2"] = np.tensordot(d, p2, ((0, 1), (0, 1))), d.sum((0, 1))
    d = rows(unpatch(d @ p["w2"], 16)) * (a1 > 0)
    g["w1"], g["b1"] = np.tensordot(d, p1, ((0, 1), (0, 1))), d.sum((0, 1))
    return g


def shifted(x, rng):
    """Each image moved by at most one pixel, so that the network does not learn exact positions."""
    padded, out = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1))), np.empty_like(x)
    for k, (i, j) in enumerate(rng.integers(0, 3, (len(x), 2))):
        out[k] = padded[k, :, i:i + 8, j:j + 8]
    return out


def train(x, y):
    """Adam (arXiv:1412.6980) with weight decay and a cosine schedule; the final statistics are the training set's."""
    rng = np.random.Generator(np.random.PCG64(11))
    p = initial(rng)
    m, v, step = {k: 0.0 for k in p}, {k: 0.0 for k in p}, 0
    total = EPOCHS * (len(x) // BATCH)
    for _ in range(EPOCHS):
        order = rng.permutation(len(x))
        for start in range(0, len(x) - BATCH + 1, BATCH):
            pick = order[start:start + BATCH]
            logits, saved = forward(p, shifted(x[pick], rng))
            soft = np.exp(logits - logits.max(1, keepdims=True))
            soft /= soft.sum(1, keepdims=True)
            grads = backward(p, saved, (soft - np.eye(10)[y[pick]]) / BATCH)
            step += 1
            rate = RATE * 0.5 * (1 + np.cos(np.pi * step / total))
            for k in p:
                m[k] = 0.9 * m[k] + 0.1 * grads[k]
                v[k] = 0.999 * v[k] + 0.001 * grads[k] ** 2
                update = m[k] / (1 - 0.9 ** step) / (np.sqrt(v[k] / (1 - 0.999 ** step)) + 1e-8)
                p[k] = p[k] - rate * (update + (DECAY * p[k] if k[0] == "w" else 0))
    a2 = forward(p, x)[1][2] @ p["w2"].T + p["b2"]
    p["mean"], p["var"] = a2.mean((0, 1)), a2.var((0, 1))
    return {k: value.astype(np.float32) for k, value in p.items()}


def graph(p):
    """The trained network as ONNX. BatchNormalization stays a node of its own."""
    b = Builder("digits")
    x = b.input("image", (1, 1, 8, 8))
    x = b.relu(b.conv(x, "conv1", 16, 3, trained=(p["w1"].reshape(16, 1, 3, 3), p["b1"])), "relu1")
    x = b.conv(x, "conv2", 32, 3, trained=(p["w2"].reshape(32, 16, 3, 3), p["b2"]))
    x = b.batch_norm(x, "bn2", trained=(p["scale"], p["shift"], p["mean"], p["var"]))
    x = b.flatten(b.max_pool(b.relu(x, "relu2"), "pool", 2, 2), "flatten")
    x = b.gemm(x, "fc", 10, trained=(p["w3"], p["b3"]))
    b.output(x, "logits")
    return b


def main():
    parser = argparse.ArgumentParser(description="Trains digits.onnx.")
    parser.add_argument("-o", "--output-dir", default=os.path.dirname(os.path.abspath(__file__)), metavar="DIR")
    args = parser.parse_args()
    x, y, test_x, test_y = load()
    p = train(x, y)
    correct = int((forward(p, test_x, (p["mean"], p["var"]))[0].argmax(1) == test_y).sum())
    print(f"held-out accuracy (fp32): {100 * correct / HELD_OUT:.2f} % ({correct} of {HELD_OUT})")
    try:
        os.makedirs(args.output_dir, exist_ok=True)
        graph(p).save(os.path.join(args.output_dir, "digits.onnx"))
        np.save(os.path.join(args.output_dir, "test_x.npy"), test_x)
        np.save(os.path.join(args.output_dir, "test_y.npy"), test_y)
    except OSError as error:
        print(f"train: {error}", file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
