"""What Gemmini's accumulator gives for whole layers, in numpy over whole tensors, and what ONNX says of the same. Images are NCHW.

Sums are exact, in int64; those of the machine have 32 bits, which the layers here do not leave.
"""

import numpy as np


def conv_sums(x, w, b, strides, pads, dilations, groups):
    """int64 [n, outputs, rows, columns]. `pads`: above, left, below, right."""
    n, channels = x.shape[:2]
    outputs, inside, height, width = w.shape
    x = np.pad(x.astype(np.int64), ((0, 0), (0, 0), (pads[0], pads[2]), (pads[1], pads[3])))
    windows = np.lib.stride_tricks.sliding_window_view(x, ((height - 1) * dilations[0] + 1, (width - 1) * dilations[1] + 1), (2, 3))
    windows = windows[:, :, :: strides[0], :: strides[1], :: dilations[0], :: dilations[1]]
    windows = windows.reshape(n, groups, channels // groups, *windows.shape[2:])
    kernels = w.astype(np.int64).reshape(groups, outputs // groups, inside, height, width)
    sums = np.einsum("ngcyxij,gocij->ngoyx", windows, kernels, optimize=True)
    sums = sums.reshape(n, outputs, *sums.shape[3:])
    return sums if b is None else sums + b.astype(np.int64).reshape(1, -1, 1, 1)


def accumulator(sums, scale, relu):
    """What a store makes of sums: two roundings to float32, one to an integer."""
    assert np.abs(sums).max(initial=0) < 2**31
    sums = np.maximum(sums, 0) if relu else sums
    scaled = sums.astype(np.int32).astype(np.float32) * np.float32(scale)
    return np.clip(np.rint(scaled), -128, 127).astype(np.int8)


def quantized(values, scale, relu):
    """QuantizeLinear of exact values with zero point 0."""
    values = np.maximum(values, 0) if relu else values
    return np.clip(np.rint(values / scale), -128, 127).astype(np.int8)


def largest(x, kernel, stride, pads):
    """Maxima, padding being the least there is: what ONNX says, and with values from 0 on Gemmini, too."""
    x = np.pad(x, ((0, 0), (0, 0), (pads[0], pads[2]), (pads[1], pads[3])), constant_values=-128)
    windows = np.lib.stride_tricks.sliding_window_view(x, (kernel, kernel), (2, 3))
    return windows[:, :, ::stride, ::stride].max((4, 5))


def added(a, b, scales, relu):
    """(Gemmini's, ONNX's): each operand in steps of the larger scale, then their sum."""
    sa, sb, sy = (float(s) for s in scales)
    most = max(sa, sb)
    rounded = [np.clip(np.rint(v.astype(np.float32) * np.float32(s / most)), -128, 127).astype(np.int64) for v, s in ((a, sa), (b, sb))]
    return accumulator(rounded[0] + rounded[1], most / sy, relu), quantized(a * sa + b * sb, sy, relu)
