#!/usr/bin/env python3
"""Is any network silently wrong? accuracy_variations.py DATA -o RESULTS [--count N] [--first SEED] [--networks A,B] [--model-folder DIR]

DATA/zoo holds NAME.onnx. Each seed makes one variation of one network: weights are scaled by 2^k in one layer and by 2^-k in the layer
that reads it (so that the network computes the same), k up to 14, in up to three places, and its float inputs have an amplitude of 1e-3
to 1e5. It is compiled as a user would, every second time with --input-range, and run in the simulator; the reference is the same network
on the host in float32. RESULTS gets a line of JSON for each, and seeds that it has already are not run again. Prints a summary: how many
are within 1e-2, warned of by the compile, or flagged by the program (the device, or inputs beyond what was tried), those that are none of that
(exit code 1), and the false alarms.
$MRVLC: the compiler (build/bin/mrvlc).
"""
import argparse
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

import numpy as np
import onnx
from onnx import numpy_helper

SMALL = ["deeploy_autoencoder1d", "deeploy_cct2_op20", "dtln_1", "mnist_burn", "mnist_cntk", "mnist_onnxmlir", "oww_embedding",
         "tfl_helloworld", "tiny_ad_f32", "tiny_kws_f32", "tiny_resnet8_f32", "tiny_resnet_large_f32", "tiny_vww_f32", "velardo_lesson14"]
LARGE = ["blazeface_front128", "selfie_seg_landscape", "ultraface_rfb320", "super_resolution_conn"]
PRODUCTS = {"Conv", "Gemm", "MatMul", "ConvTranspose"}
# f(a x) = a f(x) for a > 0.
HOMOGENEOUS = {"Relu", "LeakyRelu", "PRelu", "MaxPool", "AveragePool", "GlobalAveragePool", "GlobalMaxPool", "Reshape", "Flatten",
               "Transpose", "Squeeze", "Unsqueeze", "Identity", "Dropout", "Pad"}
GOOD, FINE, MOST_SHIFT = 1e-2, 5e-3, 14
PROGRAM = os.environ.get("MRVLC", "build/bin/mrvlc")


class Scaler:
    """Factors of two between the layers of a model."""

    def __init__(self, model):
        self.graph = model.graph
        self.weights = {t.name: t for t in model.graph.initializer}
        self.readers = {}
        for node in model.graph.node:
            for name in node.input:
                self.readers.setdefault(name, []).append(node)
        self.outputs = {o.name for o in model.graph.output}

    def is_weight(self, name):
        return name in self.weights and len(self.readers[name]) == 1 and self.weights[name].data_type == onnx.TensorProto.FLOAT

    def only_reader(self, name):
        readers = self.readers.get(name, [])
        return readers[0] if len(readers) == 1 and name not in self.outputs else None

    def pairs(self):
        """[what becomes 2^k times as large, the weights that become 2^-k times as large]"""
        found = []
        for node in self.graph.node:
            if node.op_type not in PRODUCTS or len(node.input) < 2 or not self.is_weight(node.input[1]):
                continue
            scaled = [node.input[1], *node.input[2:3]]
            value = node.output[0]
            while (reader := self.only_reader(value)) is not None:
                if reader.op_type == "Add":
                    other = [i for i in reader.input if i != value]
                    if len(other) != 1 or not self.is_weight(other[0]):
                        break
                    scaled.append(other[0])
                elif reader.op_type in PRODUCTS and reader.input[0] == value and self.is_weight(reader.input[1]):
                    if all(self.is_weight(s) for s in scaled if s):
                        found.append(([s for s in scaled if s], reader.input[1]))
                    break
                elif reader.op_type not in HOMOGENEOUS or reader.input[0] != value:
                    break
                value = reader.output[0]
        return found

    def scale(self, name, factor):
        tensor = self.weights[name]
        tensor.CopyFrom(numpy_helper.from_array((numpy_helper.to_array(tensor) * np.float32(factor)).astype(np.float32), name))


def vary(model, rng):
    scaler, done = Scaler(model), []
    pairs = scaler.pairs()
    for larger, smaller in rng.sample(pairs, min(len(pairs), rng.randint(0, 3))):
        k = rng.randint(1, MOST_SHIFT) * rng.choice([-1, 1])
        for name in larger:
            scaler.scale(name, 2.0**k)
        scaler.scale(smaller, 2.0**-k)
        done.append([larger[0], k])
    return done


def float_inputs(model):
    constants = {t.name for t in model.graph.initializer}
    for value in model.graph.input:
        kind = value.type.tensor_type
        if value.name not in constants and kind.elem_type == onnx.TensorProto.FLOAT:
            yield value.name, [d.dim_value or 1 for d in kind.shape.dim]


def call(*arguments):
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, check=False)


def run(work, out, options, inputs):
    """Outputs by file name, what was said, and whether the compile warned."""
    compiled = call("compile", work / "m.onnx", "-o", work / out, "--name", "m", *options)
    if compiled.returncode != 0:
        raise RuntimeError("compile: " + compiled.stderr[-600:])
    (work / f"{out}.results").mkdir()
    ran = call("run", work / out, *inputs, "--output-dir", work / f"{out}.results", "--cflags=-O1")
    if ran.returncode != 0:
        raise RuntimeError("run: " + ran.stderr[-600:])
    results = {f.name: np.load(f) for f in sorted((work / f"{out}.results").glob("*.npy"))}
    return results, compiled.stderr, ran.stdout + ran.stderr


def error_of(actual, expected):
    worst = 0.0
    for name, b in expected.items():
        a = actual[name]
        if not np.issubdtype(b.dtype, np.floating):
            continue
        a, b = a.astype(np.float64), b.astype(np.float64)
        finite = np.isfinite(b)
        if not np.isfinite(a[finite]).all():
            return float("inf")
        if finite.any():
            worst = max(worst, float(np.max(np.abs(a[finite] - b[finite]) / (1 + np.abs(b[finite])))))
    return worst


def variation(seed, networks, folder):
    rng, values = random.Random(seed), np.random.default_rng(seed)
    name = rng.choice(networks)
    model = onnx.load(folder / f"{name}.onnx")
    out = {"seed": seed, "network": name, "scaled": vary(model, rng)}
    out["amplitude"] = amplitude = float(np.float32(10 ** rng.uniform(-3, 5)))
    out["stated"] = stated = seed % 2 == 0
    signed = rng.random() < 0.5
    with tempfile.TemporaryDirectory() as where:
        work = pathlib.Path(where)
        onnx.save(model, work / "m.onnx")
        shapes, inputs, ranges = [], [], []
        for k, (value, shape) in enumerate(float_inputs(model)):
            data = values.uniform(-amplitude if signed else 0, amplitude, shape).astype(np.float32)
            np.save(work / f"{k}.npy", data)
            inputs += ["--input", f"{value}={work / f'{k}.npy'}"]
            shapes += ["--input-shape", f"{value}={'x'.join(map(str, shape))}"]
            if stated:
                ranges += ["--input-range", f"{value}={-amplitude if signed else 0}:{amplitude}"]
        try:
            expected, _, _ = run(work, "host", [*shapes, "--target", "host"], inputs)
            actual, said, flagged = run(work, "accelerator", [*shapes, *ranges], inputs)
        except RuntimeError as problem:
            return {**out, "failed": str(problem)}
        report = json.loads((work / "accelerator" / "report.json").read_text())
    return {**out, "error": error_of(actual, expected), "expected_error": report["accuracy"]["expected_error"],
            "warned": sorted({w for w in said.split() if w.startswith("MRV09")}), "flagged": "(flags " in flagged,
            "on_accelerator": bool(report["regions"])}


def bad(r):
    return "failed" in r or r["error"] > GOOD and not r["warned"] and not r["flagged"]


def summary(results):
    ran = [r for r in results if "failed" not in r]
    fine = [r for r in ran if r["error"] <= FINE]
    alarms, flags = [r for r in fine if r["warned"]], [r for r in fine if r["flagged"] and not r["warned"]]
    print(f"{len(results)} variations of {len({r['network'] for r in results})} networks, {sum(r['stated'] for r in results)} with --input-range")
    print(f"within {GOOD:g}: {sum(r['error'] <= GOOD for r in ran)}; not, and warned of: {sum(r['error'] > GOOD and bool(r['warned']) for r in ran)}; "
          f"flagged by the program alone: {sum(r['error'] > GOOD and not r['warned'] and r['flagged'] for r in ran)}")
    print(f"within {FINE:g}: {len(fine)}, of these warned of: {len(alarms)} (seeds {[r['seed'] for r in alarms]}), flagged: {len(flags)} (seeds {[r['seed'] for r in flags]})")
    for r in filter(bad, results):
        print("FAILED" if "failed" in r else "SILENT", json.dumps(r))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("-o", "--results", type=pathlib.Path, required=True)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--networks", help="instead of the small ones and, for one seed in ten, the larger ones")
    a = parser.parse_args()
    folder = a.data / "zoo"
    known = {}
    if a.results.exists():
        known = {r["seed"]: r for r in map(json.loads, a.results.read_text().splitlines())}
    seeds = range(a.first, a.first + a.count)
    with a.results.open("a") as sink:
        for seed in seeds:
            if seed in known:
                continue
            networks = a.networks.split(",") if a.networks else LARGE if seed % 10 == 5 else SMALL
            known[seed] = variation(seed, [n for n in networks if (folder / f"{n}.onnx").exists()], folder)
            print(json.dumps(known[seed]), file=sink, flush=True)
    results = [known[s] for s in seeds]
    summary(results)
    return 1 if any(map(bad, results)) else 0


if __name__ == "__main__":
    sys.exit(main())
