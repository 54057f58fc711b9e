"""Layers of integers, written from docs/arithmetic.md ("Integers") with NumPy alone: the judge of what a compiled network gives.

A value is an array of int64 with the bounds of its type, a zero point and a scale. Steps that the page calls rounded to fp32 are done in
np.float32; sums of products are exact.
"""

import itertools

import numpy as np

F = np.float32
BOUNDS = {"int8": (-128, 127), "uint8": (0, 255)}


class Value:
    def __init__(self, q, kind, zero, scale):
        self.q, self.kind, self.zero, self.scale = np.asarray(q, np.int64), kind, int(zero), F(scale)

    @property
    def numbers(self):
        """What the integers stand for."""
        return (F(1) * (self.q - self.zero).astype(F)) * self.scale

    def like(self, q):
        return Value(q, self.kind, self.zero, self.scale)


def stored(numbers, kind, zero, scale):
    low, high = BOUNDS[kind]
    steps = np.rint((numbers.astype(F) / F(scale)).astype(F)).astype(np.float64) + zero
    return Value(np.clip(steps, low, high), kind, zero, scale)


def windows(size, kernel, stride, dilation, begin, end):
    """For each output position the (tap, input position) pairs inside the input."""
    count = (size + begin + end - (dilation * (kernel - 1) + 1)) // stride + 1
    inside = []
    for o in range(count):
        at = [(t, o * stride + t * dilation - begin) for t in range(kernel)]
        inside.append([(t, i) for t, i in at if 0 <= i < size])
    return inside


def conv(x, w, bias, weight_scales, out, strides, dilations, pads, group):
    """x [N, C, H, W], w: int64 [M, C / group, kh, kw] less its zero point. `out` is (kind, zero, scale)."""
    kind, zero, scale = out
    n, channels = x.q.shape[:2]
    m, per_group = w.shape[:2]
    rows = windows(x.q.shape[2], w.shape[2], strides[0], dilations[0], pads[0], pads[2])
    cols = windows(x.q.shape[3], w.shape[3], strides[1], dilations[1], pads[1], pads[3])
    centred = x.q - x.zero
    sums = np.zeros((n, m, len(rows), len(cols)), np.int64)
    for (r, taps_r), (c, taps_c) in itertools.product(enumerate(rows), enumerate(cols)):
        for (kr, ir), (kc, ic) in itertools.product(taps_r, taps_c):
            for o in range(m):
                first = o // (m // group) * per_group
                sums[:, o, r, c] += centred[:, first:first + per_group, ir, ic] @ w[o, :, kr, kc]
    sums += bias.reshape(1, -1, 1, 1)
    factor = ((x.scale * weight_scales.astype(F)).astype(F) / F(scale)).astype(F)
    v = np.rint((sums.astype(F) * factor.reshape(1, -1, 1, 1)).astype(F)).astype(np.float64) + zero
    return Value(np.clip(v, *BOUNDS[kind]), kind, zero, scale)


def bounded(y, low, high):
    """A Relu or Clip in front of the QuantizeLinear of y: its bounds in steps of y."""
    at = [int(stored(np.asarray(b, F), y.kind, y.zero, y.scale).q) for b in (low, high)]
    return y.like(np.minimum(np.maximum(y.q, at[0]), at[1]))


FUNCTIONS = {
    "Sigmoid": lambda v: 1 / (1 + np.exp(-v)),
    "Tanh": np.tanh,
    "HardSigmoid": lambda v: np.clip(np.float64(F(0.2)) * v + 0.5, 0, 1),
    "LeakyRelu": lambda v: np.where(v < 0, np.float64(F(0.01)) * v, v),
    "Relu": lambda v: np.maximum(v, 0),
    "Abs": np.abs,
}


def functions(x, names):
    """One after the other, each in double and rounded to fp32."""
    v = x.numbers
    for name in names:
        v = FUNCTIONS[name](v.astype(np.float64)).astype(F)
    return v


def average(sums, count, x, out):
    """Of sums of integers, which are exact; what x and the result are scaled by meets in one quotient."""
    kind, zero, scale = out
    ratio = F(scale) / x.scale
    return Value(stored((sums.astype(F) / F(count)).astype(F), kind, zero, ratio).q, kind, zero, scale)


def pool(x, op, kernel, strides, pads, include_pad, out):
    rows = windows(x.q.shape[2], kernel[0], strides[0], 1, pads[0], pads[2])
    cols = windows(x.q.shape[3], kernel[1], strides[1], 1, pads[1], pads[3])
    values = x.numbers if op == "max" else x.q - x.zero
    y = np.zeros(x.q.shape[:2] + (len(rows), len(cols)), values.dtype)
    counts = np.zeros((len(rows), len(cols)), np.int64)
    for (r, taps_r), (c, taps_c) in itertools.product(enumerate(rows), enumerate(cols)):
        window = values[:, :, [i for _, i in taps_r]][:, :, :, [j for _, j in taps_c]]
        y[:, :, r, c] = window.max((2, 3)) if op == "max" else window.sum((2, 3))
        counts[r, c] = kernel[0] * kernel[1] if include_pad else len(taps_r) * len(taps_c)
    return stored(y, *out) if op == "max" else average(y, counts, x, out)


def reduction(x, op, axes, out):
    sums = (x.q - x.zero).sum(tuple(axes), keepdims=True)
    count = x.q.size // sums.size if op == "ReduceMean" else 1
    return average(sums, count, x, out)
