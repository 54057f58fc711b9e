"""Quantised layers with power-of-two scales in exact integers: what ONNX computes where its float32 is exact. Images are NCHW."""

import numpy as np


def rounded(sums, shift, relu=False):
    """int8 of sums * 2^-shift: nearest, ties to even, limited."""
    sums = sums.astype(object) if shift > 40 else sums.astype(np.int64)
    if shift <= 0:
        made = sums * 2 ** min(-shift, 30)
    else:
        made = sums >> shift
        left = sums - (made << shift)
        half = 1 << (shift - 1)
        made = made + ((left > half) | ((left == half) & (made % 2 == 1)))
    return np.clip(made, 0 if relu else -128, 127).astype(np.int8)


def windows(x, kernel, strides, pads, dilations, fill):
    """[n, c, rows, columns, kernel rows, kernel columns]"""
    x = np.pad(x.astype(np.int64), ((0, 0), (0, 0), (pads[0], pads[2]), (pads[1], pads[3])), constant_values=fill)
    reach = [(k - 1) * d + 1 for k, d in zip(kernel, dilations)]
    seen = np.lib.stride_tricks.sliding_window_view(x, reach, (2, 3))
    return seen[:, :, :: strides[0], :: strides[1], :: dilations[0], :: dilations[1]]


def conv(x, w, b, strides, pads, dilations, group):
    seen = windows(x, w.shape[2:], strides, pads, dilations, 0)
    parts = []
    for part, weights in zip(np.split(seen, group, axis=1), np.split(w.astype(np.int64), group)):
        parts.append(np.tensordot(part, weights, ((1, 4, 5), (1, 2, 3))).transpose(0, 3, 1, 2))
    sums = np.concatenate(parts, axis=1)
    return sums if b is None else sums + b.astype(np.int64).reshape(1, -1, 1, 1)


def dense(x, w, b):
    """w: [inputs, outputs]"""
    sums = x.astype(np.int64) @ w.astype(np.int64)
    return sums if b is None else sums + b.astype(np.int64)


def largest(x, kernel, strides, pads):
    return windows(x, kernel, strides, pads, (1, 1), -128).max((4, 5)).astype(np.int8)


def added(x, kernel, strides, pads):
    return windows(x, kernel, strides, pads, (1, 1), 0).sum((4, 5))


def both(a, ea, b, eb):
    """a * 2^ea + b * 2^eb in steps of the smaller scale, and its exponent."""
    least = min(ea, eb)
    return (a.astype(np.int64) << (ea - least)) + (b.astype(np.int64) << (eb - least)), least
