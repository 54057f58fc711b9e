"""The convolutions of ResNet-18 for images of 224 x 224: micro-ops of GEMM beside the cycles that a region file tells, as a table."""

import numpy as np

import layers
import machine

SHAPES = (("7 x 7, 3 to 64, /2", 1, 3, 64, 224, 7, 2), ("3 x 3, 64", 4, 64, 64, 56, 3, 1), ("3 x 3, 64 to 128, /2", 1, 64, 128, 56, 3, 2),
          ("1 x 1, 64 to 128, /2", 1, 64, 128, 56, 1, 2), ("3 x 3, 128", 3, 128, 128, 28, 3, 1), ("3 x 3, 128 to 256, /2", 1, 128, 256, 28, 3, 2),
          ("1 x 1, 128 to 256, /2", 1, 128, 256, 28, 1, 2), ("3 x 3, 256", 3, 256, 256, 14, 3, 1), ("3 x 3, 256 to 512, /2", 1, 256, 512, 14, 3, 2),
          ("1 x 1, 256 to 512, /2", 1, 256, 512, 14, 1, 2), ("3 x 3, 512", 3, 512, 512, 7, 3, 1))
BEATS = {"pynq": 32, "de10nano": 32, "ultra96": 16, "zcu104": 16}  # of a block of weights


def one(channels, outputs, size, kernel, stride):
    """Weights that no block shares, and nothing computed: what the results are does not matter here."""
    m = layers.Model([channels, outputs])
    x = m.input([1, channels, size, size], -5)
    pad, after = kernel // 2, (size + 2 * (kernel // 2) - kernel) // stride + 1
    w = m.constant(m.rng.integers(-127, 128, [outputs, channels, kernel, kernel]).astype(np.int8))
    b = m.constant(m.rng.integers(-999, 999, outputs).astype(np.int32))
    made = m.node("Conv", m.read(x.name, -5), m.read(w, -8), m.read(b, -13, np.int32(0)), strides=(stride,) * 2, pads=(pad,) * 4)
    m.output(layers.Value(m.write(m.node("Relu", made), -3), np.zeros([1, outputs, after, after], np.int8), -3))
    return m


def counts(program):
    """Micro-ops that multiply, cycles of the ALU's at two each, and blocks of weights that are loaded."""
    products = alu = blocks = 0
    for i in program.instructions():
        if i.opcode in (machine.GEMM, machine.ALU):
            steps = (i.end - i.uop) * i.outer * i.inner
            products += steps if i.opcode == machine.GEMM and not i.reset else 0
            alu += steps if i.opcode == machine.ALU else 0
        elif i.memory == machine.WGT if i.opcode == machine.LOAD else False:
            blocks += i.x
    return products, alu, blocks


def table(compiled, board):
    lines = ["| convolution | times | micro-ops | weights | ALU | cycles | of the cycles |", "|---|---|---|---|---|---|---|"]
    totals = np.zeros(4, np.int64)
    for name, times, *shape in SHAPES:
        (program,) = compiled(one(*shape), "utilised")
        products, alu, blocks = counts(program)
        row = np.array([products, blocks * BEATS[board], alu, program.cycles])
        totals += times * row
        lines.append(f"| {name:22} | {times} | {row[0]:>7} | {row[1]:>6} | {row[2]:>6} | {row[3]:>7} | {100 * row[0] / row[3]:3.0f} % |")
    lines.append(f"| all | | {totals[0]} | {totals[1]} | {totals[2]} | {totals[3]} | {100 * totals[0] / totals[3]:3.0f} % |")
    return "\n".join(lines) + "\n"
