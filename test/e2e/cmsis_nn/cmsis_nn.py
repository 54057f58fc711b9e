"""usage: cmsis_nn.py MRVLC FOLDER SOURCE WORK

Quantised models compiled for cmsis-nn,host and linked with the stand-in of FOLDER for plain C, DSP and MVE: single layers against an
oracle bit for bit and against ONNX within a step; with $MRVLC_SHARED the tiny models of MLPerf against its golden outputs; with
$CMSIS_NN, a folder with Include and libcmsis-nn.a, the library itself. WORK is emptied first.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import numpy as np

import layers

MRVLC, FOLDER, SOURCE, WORK = (pathlib.Path(a).absolute() for a in sys.argv[1:5])
CC = os.environ.get("CC", "cc")
STRICT = "-std=c99 -Wall -Wextra -Wconversion -Wcast-qual -pedantic -Werror".split()
CORES = ("plain C", "DSP", "MVE")
# Calls, which are all quantised layers, and the largest difference from the golden outputs.
TINY = {"tiny_kws": (12, 5), "tiny_resnet8": (15, 1), "tiny_vww": (30, 1), "tiny_ad": (10, 1)}
LAYERS = ("Conv", "Gemm", "MatMul", "Add", "AveragePool", "Softmax")


def run(*command, status=0):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    assert done.returncode == status, f"{command}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout + done.stderr


def read(folder, name):
    return json.loads((folder / name).read_text())


def libraries():
    """By name the flags that find a header and a library."""
    out = {}
    for core, name in enumerate(CORES):
        place = WORK / f"core{core}"
        place.mkdir()
        for source in ("arm_nnfunctions", "softmax"):
            run(CC, *STRICT, "-O2", f"-DSTANDIN_CORE={core}", "-c", FOLDER / "standin" / f"{source}.c", "-o", place / f"{source}.o")
        run("ar", "rcs", place / "libcmsis-nn.a", place / "arm_nnfunctions.o", place / "softmax.o")
        out[name] = f"-I{FOLDER / 'standin'} -L{place}"
    if os.environ.get("CMSIS_NN"):
        given = pathlib.Path(os.environ["CMSIS_NN"])
        out["CMSIS-NN"] = f"-I{given / 'Include'} -L{given}"
    return out


def compiled(model, name, *options):
    out = WORK / name
    run(MRVLC, "compile", model, "-o", out, "--target", "cmsis-nn,host", "--no-probe", *options)
    run(CC, *STRICT, "-Wno-long-long", f"-I{FOLDER / 'standin'}", "-c", out / f"{read(out, 'manifest.json')['model']['name']}.c", "-o",
        WORK / "strict.o")
    return out


def results(out, arrays, flags):
    inputs = []
    for port in read(out, "manifest.json")["inputs"]:
        file = WORK / f"in_{port['file']}.npy"
        np.save(file, arrays[port["name"]])
        inputs += ["--input", f"{port['name']}={file}"]
    made = WORK / "made"
    shutil.rmtree(made, ignore_errors=True)
    run(MRVLC, "run", out, *inputs, "--output-dir", made, "--cflags", f"-O1 {flags}")
    return {port["name"]: np.load(made / f"{port['file']}.npy") for port in read(out, "manifest.json")["outputs"]}


def largest_difference(a, b):
    return int(np.abs(a.astype(np.int64) - b.astype(np.int64)).max())


def placed(out):
    """By layer the nodes left to the host, with their reasons."""
    left = {}
    for node in read(out, "placement.json")["nodes"]:
        if node.get("target") != "cmsis-nn":
            left.setdefault(node["name"].split("/")[0], []).append(f"{node['op_type']}: {node['reason']}")
    return left


def single_layers(found):
    made = layers.Layers(7)
    layers.taken(made)
    made.save(WORK / "taken.onnx")
    out = compiled(WORK / "taken.onnx", "taken")
    on_host = {name: why for name, why in placed(out).items() if any(not w.startswith(("Identity", "Dequant")) for w in why)}
    assert not on_host, json.dumps(on_host, indent=1)
    for library, flags in found.items():
        got = results(out, made.arrays, flags)
        for name, (exact, onnx) in made.wanted.items():
            values = got[f"{name}_y"]
            assert np.array_equal(values, exact), f"{name}, {library}: {largest_difference(values, exact)}\n{values}\n{exact}"
            steps = largest_difference(values, onnx)
            assert steps <= (5 if "softmax" in name else 1), f"{name}: {steps} steps from ONNX"
    print(f"{len(made.wanted)} layers: the oracle's bits with {', '.join(found)}")


def layers_left(found):
    made = layers.Layers(8)
    layers.left(made)
    made.save(WORK / "left.onnx")
    out = compiled(WORK / "left.onnx", "left")
    left = placed(out)
    for name in made.wanted:
        reasons = [w for w in left.get(name, []) if "cmsis_" in w]
        assert reasons, f"{name}: {left.get(name)}"
    print(f"{len(made.wanted)} layers stay on the host, with a reason")


def drawn_layers(found):
    """Taken or not, on every core: no function fails, and the results are the oracle's or ONNX's within a step."""
    made = layers.Layers(9)
    layers.drawn(made, 9, 40)
    made.save(WORK / "drawn.onnx")
    out = compiled(WORK / "drawn.onnx", "drawn")
    left = {name for name, why in placed(out).items() if any(w.startswith("Conv") for w in why)}
    assert len(left) < len(made.wanted) / 2, left
    for library, flags in found.items():
        got = results(out, made.arrays, flags)
        for name, (exact, onnx) in made.wanted.items():
            steps = largest_difference(got[f"{name}_y"], onnx if name in left else exact)
            assert steps <= (1 if name in left else 0), f"{name}, {library}: {steps}"
    print(f"{len(made.wanted)} layers by chance, {len(made.wanted) - len(left)} of them calls")


def tiny_models(found):
    shared = pathlib.Path(os.environ.get("MRVLC_SHARED", "/nowhere")) / "data"
    for name, (calls, most) in TINY.items():
        model = shared / "zoo" / f"{name}_int8_qdq.onnx"
        if not model.exists():
            continue
        out = compiled(model, name)
        nodes = read(out, "placement.json")["nodes"]
        taken = [n for n in nodes if n.get("target") == "cmsis-nn"]
        assert len(read(out, "idmap.json")["calls"]) == calls == sum(n["op_type"] in LAYERS for n in nodes), name
        port = read(out, "manifest.json")["inputs"][0]["name"]
        golden = shared / "golden" / model.stem
        wanted = np.load(next(golden.glob("out_*.npy")))
        apart = []
        for library, flags in found.items():
            got = next(iter(results(out, {port: np.load(next(golden.glob("in_*.npy")))}, flags).values()))
            apart.append(np.abs(got.astype(int) - wanted.astype(int)))
            assert apart[-1].max() <= most and np.array_equal(apart[0], apart[-1]), (name, library, apart[-1].max())
        rest = sorted({n["op_type"] for n in nodes if n.get("target") != "cmsis-nn"})
        print(f"{name}: {calls} calls, {len(taken)} of {len(nodes)} nodes, host: {', '.join(rest) or 'none'}; "
              f"{int((apart[0] > 0).sum())} of {wanted.size} outputs differ, by at most {apart[0].max()}")


def page_as_written():
    """The blocks of docs/cmsis-nn.md, with a stand-in where $CMSIS_NN does not name the library."""
    place = WORK / "page"
    (place / "cmsis-nn" / "Include").mkdir(parents=True)
    shutil.copy(FOLDER / "standin" / "arm_nnfunctions.h", place / "cmsis-nn" / "Include")
    shutil.copy(WORK / "core0" / "libcmsis-nn.a", place / "cmsis-nn")
    for name, to in (("digits.onnx", "digits.onnx"), ("test_x.npy", "x.npy")):
        shutil.copy(SOURCE / "models" / "digits" / name, place / to)
    environment = {"CMSIS_NN": str(place / "cmsis-nn"), **os.environ, "PATH": f"{MRVLC.parent}:{os.environ['PATH']}"}
    blocks = re.findall(r"^```sh\n(.*?)^```$", (SOURCE / "docs" / "cmsis-nn.md").read_text(), re.MULTILINE | re.DOTALL)
    assert blocks
    for block in blocks:
        subprocess.run(["bash", "-euo", "pipefail", "-c", block], check=True, cwd=place, env=environment, capture_output=True)
    right = np.load(next((place / "results").glob("*.npy"))).argmax(1) == np.load(SOURCE / "models" / "digits" / "test_y.npy")
    print(f"page: {len(blocks)} blocks; {int(right.sum())} of {right.size} digits")
    assert right.mean() > 0.9


def without_library():
    """A header or a library that is not there is what the C compiler says it is."""
    out = WORK / "taken"
    inputs = [word for port in read(out, "manifest.json")["inputs"] for word in ("--input", f"{port['name']}={WORK / ('in_' + port['file'] + '.npy')}")]
    for flags, said in (("-O1", "arm_nnfunctions.h"), (f"-O1 -I{FOLDER / 'standin'}", "cmsis-nn")):
        text = run(MRVLC, "run", out, *inputs, "--output-dir", WORK / "none", "--cflags", flags, status=3)
        assert "MRV0708" in text and said in text, text


def main():
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)
    found = libraries()
    single_layers(found)
    layers_left(found)
    drawn_layers(found)
    without_library()
    tiny_models(found)
    page_as_written()


main()
