#!/usr/bin/python3
"""Accuracy of the compiled digit classifier on its held-out images: host in fp32, and accelerator on the simulator.

Both folders are runs of `mrvlc compile models/digits/digits.onnx`, the host's with `--target host`. Each is run once:
`mrvlc run --repeat-axis0` takes an input whose first dimension is a multiple of the model's, runs the network for each
part, and stacks the outputs. Exit 5 when the two accuracies differ by more than --max-difference points.
"""

import argparse
import os
import subprocess
import sys
import tempfile

import numpy as np

DIGITS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "models", "digits")
INPUT, OUTPUT = "image", "logits"


def arguments():
    parser = argparse.ArgumentParser(description="Compares the accuracy of two compiled digit classifiers.")
    parser.add_argument("--mrvlc", default="build/bin/mrvlc", metavar="FILE")
    parser.add_argument("--accelerator", required=True, metavar="OUT")
    parser.add_argument("--host", required=True, metavar="OUT")
    parser.add_argument("--data", default=DIGITS, metavar="DIR", help="holds test_x.npy and test_y.npy")
    parser.add_argument("--max-difference", type=float, default=0.5, metavar="POINTS")
    return parser.parse_args()


def logits(mrvlc, out, images):
    with tempfile.TemporaryDirectory() as results:
        command = [mrvlc, "run", out, "--input", f"{INPUT}={images}", "--output-dir", results, "--repeat-axis0"]
        done = subprocess.run(command, check=False)
        if done.returncode != 0:
            print(f"digits_accuracy: failed: {' '.join(command)}", file=sys.stderr)
            sys.exit(done.returncode if done.returncode > 0 else 70)
        return np.load(os.path.join(results, f"{OUTPUT}.npy"))


def accuracy(mrvlc, out, data, labels):
    values = logits(mrvlc, out, os.path.join(data, "test_x.npy"))
    if values.shape != (len(labels), 10) or not np.isfinite(values).all():
        print(f"digits_accuracy: {out}: outputs of shape {values.shape}, or not finite", file=sys.stderr)
        sys.exit(5)
    return 100 * float((values.argmax(1) == labels).mean())


def main():
    args = arguments()
    try:
        labels = np.load(os.path.join(args.data, "test_y.npy"))
        fp32 = accuracy(args.mrvlc, args.host, args.data, labels)
        simulator = accuracy(args.mrvlc, args.accelerator, args.data, labels)
    except OSError as error:
        print(f"digits_accuracy: {error}", file=sys.stderr)
        return 3
    print(f"accuracy fp32 {fp32:.2f} % simulator {simulator:.2f} %")
    return 5 if abs(fp32 - simulator) > args.max_difference else 0


if __name__ == "__main__":
    sys.exit(main())
