"""usage: mldpc.py MRVLC SOURCE BUILD WORK

libmldpc both ways: a program that knows nothing but libmldpc runs a network on the library over the simulator; the program that mrvlc makes
runs through the device over that library. Both give the bits of the simulator. SOURCE, BUILD: the project's folders; squeezenet_fp16 and
a network of integers of $MRVLC_SHARED/data/zoo are taken, too, where it is set. WORK is emptied first.
"""

import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys

import numpy as np

MRVLC, SOURCE, BUILD, WORK = (pathlib.Path(a).absolute() for a in sys.argv[1:])
HERE = pathlib.Path(__file__).parent
FLAGS = ["-std=c99", "-O1", "-Wall", "-Wextra", "-Werror", f"-I{SOURCE / 'include'}"]
LINK = [f"-L{BUILD / 'lib'}", f"-Wl,-rpath,{BUILD / 'lib'}"]


def run(*command, status=0, **environment):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, cwd=WORK, env={**os.environ, **environment})
    assert done.returncode == status, f"{command}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout + done.stderr


def ports_of(binary):
    """(outer type, elements) of inputs and outputs, from the container's metadata (docs/isa.md)."""
    data = binary.read_bytes()
    inputs = [(data[1280 + 64 * i + 10], int(np.prod(struct.unpack_from("<4I", data, 1280 + 64 * i + 20)))) for i in range(data[345])]
    outputs = [(data[1792 + 64 * i + 10], struct.unpack_from("<I", data, 1792 + 64 * i + 16)[0]) for i in range(data[346])]
    return inputs, outputs


KIND = {1: "i1", 2: "u1", 7: "<f2", 8: "<f4"}


def draw_values(draw, shape, kind):
    return (draw.uniform(-1, 1, shape) * (1 if kind.startswith("<f") else 100)).astype(kind)


def check(model):
    shutil.rmtree(WORK / "out", ignore_errors=True)
    run(MRVLC, "compile", model, "-o", "out", "-q", "--no-probe")
    manifest = json.loads((WORK / "out/manifest.json").read_text())
    name = manifest["model"]["name"]
    binaries = sorted((WORK / "out").glob(f"{name}.region*.mrvl"))
    # What the model takes, and what the simulator makes of it.
    draw = np.random.default_rng(7)
    bindings = []
    for i, port in enumerate(manifest["inputs"]):
        np.save(WORK / f"in{i}.npy", draw_values(draw, port["shape"], {"f32": "<f4", "f16": "<f2", "i8": "i1"}[port["type"]]))
        bindings += ["--input", f"{port['name']}=in{i}.npy"]
    run(MRVLC, "run", "out", *bindings, "--output-dir", "expected")
    # The stub through the library: the example program with another device.
    main = (WORK / "out/main.c").read_text()
    opened = "mrvl_simulator_open(a.targets[0] ? a.targets[0] : default_targets[0])"
    assert opened in main
    main = main.replace(opened, "(a.targets[0] = default_targets[0], mrvl_mldpc_open(NULL))")
    main = main.replace("mrvl_simulator_error(", "mrvl_mldpc_error(").replace("mrvl_simulator_close(", "mrvl_mldpc_close(")
    (WORK / "out/through.c").write_text('#include "mrvl/mldpc.h"\n' + main)
    run("cc", *FLAGS[:2], *FLAGS[5:], "-D_POSIX_C_SOURCE=199309L", "-Iout", "-o", "through", "out/through.c", f"out/{name}.c", f"out/{name}_weights.S", *LINK, "-lmrvl_simdev", "-lm")
    shutil.rmtree(WORK / "got", ignore_errors=True)
    (WORK / "got").mkdir()
    files = [a for i, p in enumerate(manifest["inputs"]) for a in ("--input", f"{p['file']}=in{i}.npy")]
    run("./through", "--dir", "out", *files, "--output-dir", "got", MRVL_LIBMLDPC_PATH=str(BUILD / "lib/libmldpc.so"))
    for port in manifest["outputs"]:
        got, expected = np.load(WORK / f"got/{port['file']}.npy"), np.load(WORK / f"expected/{port['file']}.npy")
        assert got.tobytes() == expected.tobytes(), port
    # A program for the card alone: each binary, and the same by the device of the simulator.
    for binary in binaries:
        inputs, outputs = ports_of(binary)
        data = b"".join(draw_values(draw, n, KIND[t]).tobytes() for t, n in inputs)
        (WORK / "inputs.raw").write_bytes(data)
        run("./card", binary, "inputs.raw", "outputs.raw")
        run("./direct", binary, "inputs.raw", "direct.raw")
        size = sum(n * np.dtype(KIND[t]).itemsize for t, n in outputs)
        assert (WORK / "outputs.raw").read_bytes() == (WORK / "direct.raw").read_bytes() and (WORK / "outputs.raw").stat().st_size == size
    return len(binaries)


shutil.rmtree(WORK, ignore_errors=True)
WORK.mkdir(parents=True)
run("cc", *FLAGS, "-o", "card", HERE / "card.c", *LINK, "-lmldpc")
run("cc", *FLAGS, "-o", "direct", HERE / "direct.c", *LINK, "-lmrvl_simdev")
models = [SOURCE / "models/digits/digits.onnx"]
zoo = pathlib.Path(os.environ.get("MRVLC_SHARED", "/nowhere")) / "data/zoo"
models += [m for m in (zoo / "squeezenet_fp16.onnx", zoo / "tiny_resnet8_int8_qdq.onnx") if m.exists()]
for m in models:
    print(f"{m.stem}: {check(m)} binaries, the same bits", flush=True)
assert "cannot load libmldpc" in run("./through", "--dir", "out", status=3, MRVL_LIBMLDPC_PATH="/nowhere/libmldpc.so")
