#!/usr/bin/python3
"""Looks for cliffs: sizes at which a layer suddenly costs much more than at the size before.

    cliffs.py MRVLC [--only PATTERN] [--worst N] [-j N]

Compiles layers of which one size at a time is changed (height, width, channels, kernel, stride, dilation, groups, reduction and
columns of a product) around powers of two and around what on-chip memory holds, for the default target, and reads cycles
and lower bound from report.json. Prints a table for each scan (a bar is as long as the ratio), then the highest ratios,
and the steps at which the next size costs more than it should: more than twice what the bound grows by. Exit code 5 where
there is such a step. Cycles are counted by the simulator: the same on every machine. Needs Python's onnx and numpy.
"""

import argparse
import fnmatch
import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

STEP = 2.0  # times what the bound grows by


@dataclass(frozen=True)
class Conv:
    """A convolution, or with `behind` a pointwise one and another one around it."""

    height: int = 56
    width: int = 56
    inputs: int = 64
    outputs: int = 64
    kernel: int = 3
    stride: int = 1
    dilation: int = 1
    groups: int = 1
    behind: bool = False

    def layers(self):
        conv = (self.inputs, self.outputs, self.kernel, self.stride, self.dilation, self.groups)
        if not self.behind:
            return [conv]
        return [(self.inputs, self.inputs, 1, 1, 1, 1), conv, (self.outputs, self.outputs, 3, 1, 1, 1)]

    def model(self):
        random = numpy.random.default_rng(1)
        nodes, constants, value = [], [], "x"
        for i, (inputs, outputs, kernel, stride, dilation, groups) in enumerate(self.layers()):
            shape = (outputs, inputs // groups, kernel, kernel)
            weights = random.standard_normal(shape) / numpy.sqrt(numpy.prod(shape[1:]))
            constants.append(numpy_helper.from_array(weights.astype(numpy.float32), f"w{i}"))
            pad = dilation * (kernel - 1) // 2
            nodes.append(helper.make_node("Conv", [value, f"w{i}"], [f"c{i}"], name=f"conv{i}", group=groups,
                                          kernel_shape=[kernel] * 2, strides=[stride] * 2,
                                          dilations=[dilation] * 2, pads=[pad] * 4))
            nodes.append(helper.make_node("Relu", [f"c{i}"], [f"r{i}"], name=f"relu{i}"))
            value = f"r{i}"
        return model_of(nodes, constants, [1, self.inputs, self.height, self.width])


@dataclass(frozen=True)
class Product:
    """Rows times a constant matrix."""

    rows: int = 64
    reduction: int = 512
    columns: int = 512

    def model(self):
        weights = numpy.random.default_rng(1).standard_normal((self.reduction, self.columns))
        weights = (weights / numpy.sqrt(self.reduction)).astype(numpy.float32)
        node = helper.make_node("MatMul", ["x", "w"], ["y"], name="product")
        return model_of([node], [numpy_helper.from_array(weights, "w")], [1, self.rows, self.reduction])


def model_of(nodes, constants, shape):
    nodes[-1].output[0] = "y"
    ports = [helper.make_tensor_value_info(name, TensorProto.FLOAT, of) for name, of in (("x", shape), ("y", None))]
    graph = helper.make_graph(nodes, "cliffs", ports[:1], ports[1:], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def around(*sizes):
    return sorted({size + d for size in sizes for d in (-1, 0, 1) if size + d > 0})


def scans():
    """{name: (base, field, sizes)}"""
    large = Conv(height=41, width=41, inputs=320, outputs=256)
    return {
        "height": (Conv(), "height", around(1, 8, 16, 32, 64, 128, 256, 512, 1024)),
        "width": (Conv(), "width", around(1, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096)),
        "height, one channel block": (Conv(width=64, inputs=16, outputs=16), "height", around(8, 64, 512, 2048, 4096)),
        "width of four rows": (Conv(height=4, inputs=32, outputs=32), "width", around(64, 512, 4096, 16384)),
        "width of one row": (Conv(height=1, inputs=32, outputs=32, kernel=3), "width", around(64, 512, 4096, 16384)),
        "input channels": (Conv(), "inputs", around(1, 4, 8, 16, 32, 64, 128, 256, 512, 1024)),
        "output channels": (Conv(), "outputs", around(1, 4, 8, 16, 32, 64, 128, 256, 512, 1024)),
        "input channels, small image": (Conv(height=7, width=7), "inputs", around(64, 256, 512, 1024, 2048)),
        "kernel": (Conv(), "kernel", [1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 13, 15, 17, 21, 31]),
        "stride": (Conv(height=128, width=128), "stride", [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17]),
        "dilation": (large, "dilation", list(range(1, 25))),
        "dilation in a network": (replace(large, behind=True), "dilation", list(range(1, 25))),
        "dilation, depthwise": (Conv(65, 65, 512, 512, groups=512), "dilation", [1, 2, 3, 4, 6, 8, 9, 12, 16, 18, 24]),
        "groups": (Conv(inputs=256, outputs=256), "groups", [1, 2, 4, 8, 16, 32, 64, 128, 256]),
        "image, 64 channels, that fills memory": (Conv(width=128), "height", [*range(480, 544, 8)]),
        "image that fills memory, in a network": (Conv(width=128, behind=True), "height", [*range(96, 560, 32)]),
        "rows of a product": (Product(), "rows", around(1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)),
        "reduction of a product": (Product(), "reduction", around(16, 64, 256, 1024, 4096, 8192)),
        "columns of a product": (Product(), "columns", around(1, 16, 64, 256, 1024, 4096, 8192)),
    }


def measure(mrvlc, layer, work):
    """(cycles, bound) on the device; None where nothing runs there."""
    with tempfile.TemporaryDirectory(dir=work) as folder:
        path, out = os.path.join(folder, "m.onnx"), os.path.join(folder, "out")
        onnx.save(layer.model(), path)
        run = subprocess.run([mrvlc, "compile", path, "-o", out, "--no-probe", "--quiet"], check=False)
        if run.returncode != 0:
            sys.exit(f"cliffs: {layer} is not compiled")
        with open(os.path.join(out, "report.json"), encoding="utf-8") as file:
            regions = json.load(file)["regions"]
    if not regions:
        return None
    return (sum(r["cycles"] for r in regions), sum(r["lower_bound_cycles"] for r in regions))


def show(name, field, sizes, found):
    print(f"\n{name}\n{field:>10} {'cycles':>12} {'bound':>12}  ratio")
    for size, value in zip(sizes, found):
        if value is None:
            print(f"{size:>10} {'on the host':>12}")
            continue
        cycles, bound = value
        print(f"{size:>10} {cycles:>12} {bound:>12} {cycles / bound:6.2f} {'#' * min(60, round(10 * cycles / bound))}")


def steps(name, sizes, found):
    """Sizes that cost more than twice what the bound grows by, against the size before."""
    out = []
    for k in range(1, len(sizes)):
        if found[k] is None or found[k - 1] is None:
            continue
        (before, bound_before), (after, bound) = found[k - 1], found[k]
        growth = (after / before) / max(1.0, bound / bound_before)
        if growth > STEP:
            out.append((growth, name, sizes[k - 1], sizes[k]))
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mrvlc", metavar="MRVLC")
    parser.add_argument("--only", metavar="PATTERN", default="*", help="scans whose name matches")
    parser.add_argument("--worst", type=int, default=10, metavar="N", help="highest ratios that are listed")
    parser.add_argument("-j", type=int, default=os.cpu_count() or 1, metavar="N", help="compiles at a time")
    args = parser.parse_args()
    ratios, cliffs = [], []
    with tempfile.TemporaryDirectory() as work, ThreadPoolExecutor(args.j) as pool:
        for name, (base, field, sizes) in scans().items():
            if not fnmatch.fnmatch(name, args.only):
                continue
            layers = [replace(base, **{field: size}) for size in sizes]
            found = list(pool.map(lambda layer: measure(args.mrvlc, layer, work), layers))
            show(name, field, sizes, found)
            cliffs += steps(name, sizes, found)
            ratios += [(f[0] / f[1], name, s) for f, s in zip(found, sizes) if f is not None]
    print("\nhighest ratios")
    for ratio, name, size in sorted(ratios, reverse=True)[: args.worst]:
        print(f"{ratio:6.2f}  {name} {size}")
    print("\nsteps of more than twice the bound's" if cliffs else "\nno step of more than twice the bound's")
    for growth, name, before, after in sorted(cliffs, reverse=True):
        print(f"{growth:6.2f}  {name} {before} to {after}")
    return 5 if cliffs else 0


if __name__ == "__main__":
    sys.exit(main())
