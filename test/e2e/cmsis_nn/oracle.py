"""The integer arithmetic of CMSIS-NN's int8 kernels in numpy, element by element as its headers describe it, and what ONNX says of the
same layers. Images are NCHW."""

import math

import numpy as np


def fixed(number):
    """The number as q * 2^(shift - 31)."""
    fraction, shift = math.frexp(number)
    q = math.floor(fraction * 2**31 + 0.5)
    if q == 2**31:
        q, shift = q // 2, shift + 1
    return (0, 0) if shift < -31 else (q, shift)


def requantized(sums, numbers):
    """`numbers`: one, or one for each channel (axis 1 of images and of rows)."""
    pairs = [fixed(n) for n in np.atleast_1d(numbers)]
    shape = [1, -1] + [1] * (sums.ndim - 2)
    q, shift = (np.array([p[i] for p in pairs], np.int64).reshape(shape) for i in (0, 1))
    wrapped = (sums.astype(np.int64) << np.maximum(shift, 0)).astype(np.int32).astype(np.int64)
    high = (wrapped * q + 2**30) >> 31
    right = np.maximum(-shift, 0)
    mask = (1 << right) - 1
    return (high >> right) + ((high & mask) > (mask >> 1) + (high < 0))


def windows(image, kernel, strides, pads, dilations, fill):
    """Pairs of a place in the window and the pixels there, for all windows."""
    top, left, bottom, right = pads
    padded = np.pad(image, ((0, 0), (0, 0), (top, bottom), (left, right)), constant_values=fill)
    rows = (padded.shape[2] - dilations[0] * (kernel[0] - 1) - 1) // strides[0] + 1
    columns = (padded.shape[3] - dilations[1] * (kernel[1] - 1) - 1) // strides[1] + 1
    for i in range(kernel[0]):
        for j in range(kernel[1]):
            y, x = i * dilations[0], j * dilations[1]
            yield (i, j), padded[:, :, y : y + rows * strides[0] : strides[0], x : x + columns * strides[1] : strides[1]]


def conv_sums(x, zero, w, bias, strides, pads, dilations, group):
    x, w = x.astype(np.int64) - zero, w.astype(np.int64)
    inside, outside = w.shape[1], w.shape[0] // group
    sums = 0
    for (i, j), pixels in windows(x, w.shape[2:], strides, pads, dilations, 0):
        parts = [np.einsum("nchw,oc->nohw", pixels[:, g * inside : (g + 1) * inside], w[g * outside : (g + 1) * outside, :, i, j])
                 for g in range(group)]
        sums = sums + np.concatenate(parts, 1)
    return sums + (0 if bias is None else bias.reshape(1, -1, 1, 1))


def limited(values, zero, relu):
    return np.clip(values + zero, zero if relu else -128, 127).astype(np.int8)


def scaled(sums, numbers, zero, relu):
    """(CMSIS-NN's, ONNX's)"""
    factors = np.asarray(numbers, np.float64).reshape([1, -1] + [1] * (sums.ndim - 2))
    return limited(requantized(sums, numbers), zero, relu), limited(np.rint(sums * factors).astype(np.int64), zero, relu)


def added(a, b, scales, zeros, relu):
    (sa, sb, sy), (za, zb, zy) = scales, zeros
    twice = 2 * max(sa, sb)
    parts = [requantized((v.astype(np.int64) - z) << 20, s / twice) for v, z, s in ((a, za, sa), (b, zb, sb))]
    exact = np.rint(((a.astype(np.float64) - za) * sa + (b.astype(np.float64) - zb) * sb) / sy).astype(np.int64)
    return limited(requantized(parts[0] + parts[1], twice / (2**20 * sy)), zy, relu), limited(exact, zy, relu)


def averaged(x, zero, kernel, strides, pads):
    sums = taps = 0
    inside = np.ones(x.shape, np.int64)
    for (_, pixels), (_, there) in zip(windows(x.astype(np.int64), kernel, strides, pads, (1, 1), 0),
                                       windows(inside, kernel, strides, pads, (1, 1), 0)):
        sums, taps = sums + pixels, taps + there
    away = np.sign(sums) * ((np.abs(sums) + taps // 2) // taps)
    return limited(away, 0, False), limited(np.rint(sums / taps - zero).astype(np.int64), zero, False)


def largest(x, kernel, strides, pads):
    most = np.full((), -128)
    for _, pixels in windows(x.astype(np.int64), kernel, strides, pads, (1, 1), -128):
        most = np.maximum(most, pixels)
    return most.astype(np.int8), most.astype(np.int8)


def saturated_product(a, b):
    exact = int(a) * int(b)
    nudged = exact + (2**30 if exact >= 0 else 1 - 2**30)
    return min(nudged // 2**31 if nudged >= 0 else -(-nudged // 2**31), 2**31 - 1)


def power_divided(value, n):
    """Ties away from zero."""
    half = 1 << n >> 1
    return (value + half) >> n if value >= 0 else -((half - value) >> n)


def exp_of_negative(x):
    """exp of a number with 26 bits behind the point, with 31 bits: a series for the part above -1/4, constants for the powers of two."""
    if x == 0:
        return 2**31 - 1
    part = (x & (2**24 - 1)) - 2**24
    t = (part << 5) + 2**28
    squared = saturated_product(t, t)
    fourth = power_divided(saturated_product(squared, squared), 2)
    rest = power_divided(saturated_product(fourth + saturated_product(squared, t), 715827883) + squared, 1)
    out = 1895147668 + saturated_product(1895147668, t + rest)
    for i in range(7):
        if (part - x) >> (24 + i) & 1:
            out = saturated_product(out, round(math.exp(-(2.0 ** (i - 2))) * 2**31))
    return out


def reciprocal(x):
    half = (x + 2**31) >> 1
    out = 1515870810 + saturated_product(half, -1010580540)
    for _ in range(3):
        out += saturated_product(out, 2**29 - saturated_product(half, out)) << 2
    return min(out << 1, 2**31 - 1)


def softmax_row(row, q, shift, least):
    apart = [int(v) - int(max(row)) for v in row]
    powers = [exp_of_negative(saturated_product(d << shift, q)) if d >= least else None for d in apart]
    total = sum(power_divided(p, 12) for p in powers if p is not None)
    headroom = 32 - total.bit_length()
    scale = reciprocal((total << headroom) - 2**31)
    return [-128 if p is None else min(power_divided(saturated_product(scale, p), 35 - headroom) - 128, 127) for p in powers]


def softmax(x, scale):
    q, shift = fixed(scale * 2**26)
    least = -((31 << 26) >> shift)
    rows = x.reshape(-1, x.shape[-1])
    made = np.array([softmax_row(r, q, shift, least) for r in rows], np.int8).reshape(x.shape)
    powers = np.exp((x.astype(np.float64) - x.max(-1, keepdims=True)) * scale)
    return made, limited(np.rint(256 * powers / powers.sum(-1, keepdims=True)).astype(np.int64), -128, False)
