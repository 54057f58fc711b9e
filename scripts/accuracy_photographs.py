#!/usr/bin/env python3
"""How far is the predicted error from that on photographs? accuracy_photographs.py DATA [--photographs DIR]... [--networks A,B]

DATA/zoo holds NAME.onnx. Each image network is calibrated on 16 crops of four photographs, compiled with that, and run in the
simulator on crops of others; the reference is the same network on the host in float32. Prints a table: the error that the compile
expected, the largest that was measured, and whether one is within three times the other; an error below 1e-4, a tenth of a step of
fp16, counts as that. Photographs are those of Debian's python3-skimage and python3-sklearn (installed, or unpacked in DIR); needs
python3-pil. $MRVLC: the compiler (build/bin/mrvlc).
"""
import argparse
import json
import pathlib
import random
import sys
import tempfile

import numpy as np
from PIL import Image

from accuracy_variations import call, error_of, run

CALIBRATED = ["astronaut.png", "coffee.png", "chelsea.png", "china.jpg"]
OTHERS = ["rocket.jpg", "motorcycle_left.png", "flower.jpg"]
# Of a photograph, to calibrate with and to test with: about as many in all, as errors are the largest of them.
CROPS = {True: 4, False: 5}
INSTALLED = [pathlib.Path("/usr/lib/python3/dist-packages") / p for p in ("skimage/data", "sklearn/datasets/images")]
# Input, its shape, and what 0 and 255 of a pixel are for the network.
NETWORKS = {
    "blazeface_front128": ("input:0", (1, 128, 128, 3), (-1, 1)),
    "fastestdet": ("input", (1, 3, 352, 352), (0, 1)),
    "mlsd_tiny_320": ("input_image_with_alpha:0", (1, 320, 320, 4), (0, 255)),
    "selfie_seg_landscape": ("input_1:0", (1, 144, 256, 3), (0, 1)),
    "super_resolution_conn": ("input", (1, 1, 224, 224), (0, 1)),
    "ultraface_rfb320": ("input", (1, 3, 240, 320), (-127 / 128, 1)),
    "tiny_resnet8_f32": ("input_1", (1, 32, 32, 3), (0, 255)),
    "tiny_resnet_large_f32": ("input_1", (1, 32, 32, 3), (0, 255)),
    "tiny_vww_f32": ("input_1", (1, 96, 96, 3), (0, 1)),
}
LEAST = 1e-4


def photograph(folders, name):
    for folder in folders:
        for path in (folder / name, *folder.glob(f"**/{name}")):
            if path.is_file():
                return Image.open(path).convert("RGB")
    raise SystemExit(f"{name} is not in {', '.join(map(str, folders))}")


def crop(image, shape, ends, rng):
    """A part of the photograph as large as can be, or half as large, as the network's input."""
    channels_last = shape[-1] in (1, 3, 4)
    height, width, channels = shape[1:] if channels_last else (shape[2], shape[3], shape[1])
    scale = min(image.width / width, image.height / height) * rng.choice([1.0, 0.5])
    w, h = int(width * scale), int(height * scale)
    x, y = rng.randint(0, image.width - w), rng.randint(0, image.height - h)
    part = image.crop((x, y, x + w, y + h)).resize((width, height), Image.BILINEAR)
    pixels = np.asarray(part.convert("L") if channels == 1 else part, dtype=np.float32).reshape(height, width, -1)
    if channels == 4:  # opaque
        pixels = np.concatenate([pixels, np.full((height, width, 1), 255, np.float32)], axis=2)
    low, high = ends
    pixels = (low + pixels / 255 * (high - low)).astype(np.float32)
    return (pixels if channels_last else pixels.transpose(2, 0, 1)).reshape(shape)


def crops(folders, names, network, count):
    _, shape, ends = NETWORKS[network]
    rng = random.Random(network)
    return [crop(photograph(folders, name), shape, ends, rng) for name in names for _ in range(count)]


def measure(network, data, folders):
    name, shape, _ = NETWORKS[network]
    model = data / "zoo" / f"{network}.onnx"
    shapes = ["--input-shape", f"{name}={'x'.join(map(str, shape))}"]
    with tempfile.TemporaryDirectory() as where:
        work = pathlib.Path(where)
        (work / "m.onnx").symlink_to(model.resolve())
        (work / "samples").mkdir()
        for k, data_of in enumerate(crops(folders, CALIBRATED, network, CROPS[True])):
            (work / "samples" / f"{k:02}").mkdir()
            np.save(work / "samples" / f"{k:02}" / "input_0.npy", data_of)
        done = call("calibrate", model, "--data", work / "samples", "-o", work / "cal.json", *shapes)
        if done.returncode != 0:
            raise SystemExit(f"{network}: {done.stderr[-400:]}")
        worst = 0.0
        for k, data_of in enumerate(crops(folders, OTHERS, network, CROPS[False])):
            np.save(work / "other.npy", data_of)
            given = ["--input", f"{name}={work / 'other.npy'}"]
            expected, _, _ = run(work, f"host{k}", [*shapes, "--target", "host"], given)
            actual, _, _ = run(work, f"accelerator{k}", [*shapes, "--calibration", work / "cal.json"], given)
            worst = max(worst, error_of(actual, expected))
        report = json.loads((work / "accelerator0" / "report.json").read_text())
    return report["accuracy"]["expected_error"], worst


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=pathlib.Path)
    parser.add_argument("--photographs", type=pathlib.Path, action="append")
    parser.add_argument("--networks", default=",".join(NETWORKS))
    a = parser.parse_args()
    print("| network | expected | measured | within 3x |\n|---|---:|---:|---|", flush=True)
    met = True
    for network in a.networks.split(","):
        expected, measured = measure(network, a.data, a.photographs or INSTALLED)
        pair = sorted((max(expected, LEAST), max(measured, LEAST)))
        met = met and pair[1] <= 3 * pair[0]
        print(f"| {network} | {expected:.2g} | {measured:.2g} | {'yes' if pair[1] <= 3 * pair[0] else 'no'} |", flush=True)
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
