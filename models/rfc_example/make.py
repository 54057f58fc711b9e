#!/usr/bin/python3
"""Writes rfc_example.onnx, the small digit classifier that the TVM RFC on this accelerator takes as its example.

Usage: make.py -o DIR. The weights (1.7 MB) are seeded, not trained; the file is made where it is needed.
"""

import argparse
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "generators"))
from build import Builder  # noqa: E402


def make():
    b = Builder("rfc_example", seed=48)
    x = b.input("data", (1, 1, 28, 28))
    x = b.relu(b.conv(x, "conv1", 64, 3, bias=True), "relu1")
    x = b.max_pool(x, "pool1", 2, 2)
    x = b.batch_norm(b.conv(x, "conv2", 32, 3, bias=True), "bn2")
    x = b.max_pool(b.relu(x, "relu2"), "pool2", 2, 2)
    x = b.relu(b.gemm(b.flatten(x, "flatten"), "dense1", 256, gain=2.0), "relu3")
    b.output(b.softmax(b.gemm(x, "dense2", 10), "softmax", 1), "probabilities")
    return b


def main():
    parser = argparse.ArgumentParser(description="Writes rfc_example.onnx.")
    parser.add_argument("-o", "--output-dir", required=True, metavar="DIR")
    args = parser.parse_args()
    try:
        os.makedirs(args.output_dir, exist_ok=True)
        make().save(os.path.join(args.output_dir, "rfc_example.onnx"))
    except OSError as error:
        print(f"make: {error}", file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
