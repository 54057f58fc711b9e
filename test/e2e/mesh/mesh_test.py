#!/usr/bin/python3
"""usage: mesh_test.py MRVLC WORK [--all]

A quantized network compiled for meshes and for the host: the same results, with any number of ranks, and with MPI where it is there. What is changed in
OUT is caught. With $MRVLC_SHARED also networks of the zoo; --all: all quantized ones, with 1, 3 and 8 ranks."""

import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

MRVLC, WORK = (pathlib.Path(a).absolute() for a in sys.argv[1:3])
ZOO = ["tiny_resnet8", "tiny_strww"]
ALL = ["tiny_resnet8", "tiny_resnet_large", "tiny_vww", "tiny_kws", "tiny_ad", "tiny_strww"]


def run(*command, code=0, program=MRVLC, cwd=None):
    done = subprocess.run([str(program), *map(str, command)], capture_output=True, text=True, cwd=cwd or WORK)
    assert done.returncode == code, f"{command}: {done.returncode}, not {code}\n{done.stdout[-500:]}{done.stderr[-500:]}"
    return done.stdout + done.stderr


def make_model(path):
    """Two convolutions with a sum of their results, an average over all pixels, a dense layer whose results are float32."""
    random = numpy.random.default_rng(5)
    constants, nodes = [], []

    def constant(name, value):
        constants.append(numpy_helper.from_array(value, name))
        return name

    def quantization(name, scale, zero):
        return [constant(name + "_scale", numpy.float32(scale)), constant(name + "_zero", numpy.int8(zero))]

    def quantized(value, name, scale, zero):
        q = quantization(name, scale, zero)
        nodes.append(helper.make_node("QuantizeLinear", [value, *q], [name + "_q"], name + "_quantize"))
        nodes.append(helper.make_node("DequantizeLinear", [name + "_q", *q], [name], name + "_dequantize"))
        return name

    def weights(name, shape):
        q = quantization(name, 0.02, 0)
        constant(name + "_i", random.integers(-127, 128, shape, numpy.int8))
        nodes.append(helper.make_node("DequantizeLinear", [name + "_i", *q], [name], name + "_dequantize"))
        return name

    x = quantized("image", "x", 0.05, 3)
    for name, source in (("one", x), ("two", "one_y")):
        nodes.append(helper.make_node("Conv", [source, weights(name + "_w", (6, 3 if name == "one" else 6, 3, 3))], [name + "_c"], name, pads=[1, 1, 1, 1]))
        nodes.append(helper.make_node("Relu", [name + "_c"], [name + "_r"], name + "_relu"))
        quantized(name + "_r", name + "_y", 0.1, -128)
    nodes.append(helper.make_node("Add", ["one_y", "two_y"], ["sum"], "add"))
    nodes.append(helper.make_node("GlobalAveragePool", [quantized("sum", "s", 0.15, -128)], ["mean"], "pool"))
    nodes.append(helper.make_node("Flatten", [quantized("mean", "m", 0.15, -128)], ["flat"], "flatten"))
    nodes.append(helper.make_node("Gemm", ["flat", weights("dense_w", (6, 5))], ["scores"], "dense"))
    graph = helper.make_graph(nodes, "mesh", [helper.make_tensor_value_info("image", TensorProto.FLOAT, [1, 3, 16, 12])],
                              [helper.make_tensor_value_info("scores", TensorProto.FLOAT, [1, 5])], constants)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), path)


def images_for(model, count):
    value = onnx.load(model).graph.input[0]
    shape = [d.dim_value for d in value.type.tensor_type.shape.dim]
    random = numpy.random.default_rng(1)
    shape[0] *= count
    if value.type.tensor_type.elem_type == TensorProto.INT8:
        return value.name, random.integers(-128, 128, shape, numpy.int8)
    return value.name, random.uniform(-5, 5, shape).astype(numpy.float32)


def results(folder):
    (file,) = folder.glob("*.npy")
    return numpy.load(file)


def check_equal(model, machines, ways):
    stem = pathlib.Path(model).stem
    name, images = images_for(model, 4)
    numpy.save(WORK / f"{stem}.npy", images)
    run("compile", model, "--target", "host", "-o", f"{stem}-host", "-q")
    given = ["--input", f"{name}={WORK / stem}.npy", "--repeat-axis0"]
    run("run", f"{stem}-host", *given, "--output-dir", f"{stem}-expected")
    expected = results(WORK / f"{stem}-expected")
    for machine in machines:
        out = f"{stem}-{machine}"
        run("compile", model, "--target", machine, "-o", out, "-q")
        assert "proved" in run("mesh", "check", out)
        for way in ways:
            run("run", out, *given, "--output-dir", f"{out}-results", *way)
            got = results(WORK / f"{out}-results")
            assert got.tobytes() == expected.tobytes() and got.shape == expected.shape, f"{out} {way} computes something else"
    return expected


def check_mpi(stem, machine, expected):
    if not (shutil.which("mpicc") and shutil.which("mpirun")):
        return print("no MPI here")
    out = WORK / f"{stem}-{machine}"
    run("MPI=1", "-C", out, program="make")
    (WORK / "mpi").mkdir()
    os.environ.update({"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"})
    run("--oversubscribe", "-n", "3", out / "mesh", "--dir", out, "--repeat-axis0", "--output-dir", "mpi", f"{stem}.npy", program="mpirun")
    assert results(WORK / "mpi").tobytes() == expected.tobytes(), "MPI computes something else"


def check_changes(out):
    """Each change of mesh.json is caught by what it says, though the manifest has its hash; of other files by theirs."""
    file, manifest = WORK / out / "mesh.json", WORK / out / "manifest.json"
    written = manifest.read_text()

    def write(changed):
        file.write_text(changed)
        listed = json.loads(written)
        next(f for f in listed["files"] if f["file"] == "mesh.json")["sha256"] = hashlib.sha256(changed.encode()).hexdigest()
        manifest.write_text(json.dumps(listed))

    text = file.read_text()
    plan = json.loads(text)
    last = len(plan["edges"]) - 2
    for path, value in ((("tasks", 0, "bytes"), 1), (("tasks", 1, "inboxes", 0, "bytes"), 7), (("edges", last, "credits"), 9), (("edges", last, "route"), [1]),
                        (("edges", 0, "to_offset"), 3), (("pes", 0, "memory_bytes"), 8), (("machine", "chips", "router_entries", "value"), 1),
                        (("programs", 0, "sha256"), "0" * 64), (("tensors",), [])):
        changed = json.loads(text)
        part = changed
        for key in path[:-1]:
            part = part[key]
        part[path[-1]] = value
        write(json.dumps(changed))
        assert "MRV1306" in run("mesh", "check", out, code=5), f"{path} is not caught"
    for broken in ("", "[]", '{"schema": "mrvlc-mesh-1"}'):
        write(broken)
        run("mesh", "check", out, code=5)
    file.write_text(text)
    manifest.write_text(written)
    for other in ("mesh.json", "tables.c", "messages.c", "weights.bin", "pe/class_0.c", "mrvl/pe.h"):
        bytes_before = (WORK / out / other).read_bytes()
        (WORK / out / other).write_bytes(bytes_before + b" ")
        assert f"{other} is not what was written" in run("mesh", "check", out, code=5), other
        (WORK / out / other).write_bytes(bytes_before)
    run("mesh", "check", out)
    run("mesh", "check", "net-host", code=2)


def check_options(model):
    run("compile", model, "--target", "mesh-2x2x8", "-o", "without", "-q", "--chips", "3", "--without", "pe:0.1", "--without", "link:0-1")
    plan = json.loads((WORK / "without" / "mesh.json").read_text())
    assert {pe["chip"] for pe in plan["pes"]} <= {0, 2} and not any((pe["chip"], pe["core"]) == (0, 1) for pe in plan["pes"]), plan["pes"]
    run("mesh", "check", "without")
    assert "MRV1302" in run("compile", model, "--target", "mesh-8", "-o", "no", "--without", "chip:1", code=2)
    assert "MRV1308" in run("compile", model, "--target", "mesh-8,host", "-o", "no", code=2)
    assert "MRV1308" in run("compile", model, "--target", "mesh-8", "-o", "no", "--cpu", "Conv", code=2)
    assert "MRV1308" in run("verify", model, "--target", "mesh-8", code=2)
    assert "MRV1308" in run("batch", model, "--target", "mesh-8", "-o", "batched", code=2)
    assert "MRV1300" in run("mesh", "show", "mesh-0", code=2)
    for command in ("explain", "profile"):
        assert "MRV1308" in run(command, "without", code=2)
    assert not (WORK / "no").exists()
    assert "spinnaker2-48" in run("mesh", "list")
    # The same bytes, and what is not ours stays.
    before = {f.relative_to(WORK / "without"): f.read_bytes() for f in (WORK / "without").rglob("*") if f.is_file()}
    (WORK / "without" / "mine.txt").write_text("mine")
    run("compile", model, "--target", "mesh-2x2x8", "-o", "without", "-q", "--chips", "3", "--without", "pe:0.1", "--without", "link:0-1")
    assert (WORK / "without" / "mine.txt").read_text() == "mine"
    for name, content in before.items():
        assert (WORK / "without" / name).read_bytes() == content, f"{name} differs"


def main():
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)
    model = WORK / "net.onnx"
    make_model(model)
    expected = check_equal(model, ["mesh-8", "mesh-2x2x8"], [["--ranks", 1], ["--ranks", 3, "--order", 5]])
    check_mpi("net", "mesh-2x2x8", expected)
    check_changes("net-mesh-8")
    check_options(model)
    run("run", "net-host", "--input", f"image={WORK}/net.npy", "--repeat-axis0", "--ranks", 2, code=2)
    if "MRVLC_SHARED" in os.environ:
        zoo = pathlib.Path(os.environ["MRVLC_SHARED"]) / "data" / "zoo"
        every = "--all" in sys.argv
        for name in ALL if every else ZOO:
            ways = [["--ranks", r] for r in (1, 3, 8)] if every else [["--ranks", 3]]
            check_equal(zoo / f"{name}_int8_qdq.onnx", ["spinnaker2-1"], ways)
            print(name, "is equal")


if __name__ == "__main__":
    main()
