#!/usr/bin/python3
"""usage: half.py MRVLC WORK

`--host-weights fp16`: outputs are those of the model whose weights numpy rounded to float16, which `mrvlc verify` compares with the interpreter, for networks of convolutions,
products, recurrent layers, bodies of control flow and open shapes, whichever way weights come to the program, with threads, for size, and by the CPU in the place of a device;
what the compile says is true; the C is clean for gcc, clang, aarch64 and Cortex-M; the same bytes twice. WORK is emptied first.
"""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

MRVLC, WORK = (pathlib.Path(a).absolute() for a in sys.argv[1:])
ENVIRONMENT = {n: v for n, v in os.environ.items() if not n.startswith("MRVLC_") and n != "CC"}
STRICT = ["-std=c99", "-Wall", "-Wextra", "-Wconversion", "-pedantic", "-Werror"]
RNG = np.random.default_rng(11)


def run(*command, status=0):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, env=ENVIRONMENT)
    assert done.returncode == status, f"{command}: {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout + done.stderr


def value(name, dims):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, dims)


class Network:
    """A model twice: with weights as they are drawn, and as float16 has them; biases are the same in both."""

    def __init__(self):
        self.drawn, self.rounded, self.elements, self.layers = [], [], 0, 0

    def add(self, name, array, rounded):
        self.drawn.append(numpy_helper.from_array(array.astype(np.float32), name))
        self.rounded.append(numpy_helper.from_array(rounded.astype(np.float32), name))
        return name

    def weights(self, name, *shape):
        w = (RNG.standard_normal(shape) / np.sqrt(np.prod(shape[1:]))).astype(np.float32)
        self.elements += w.size
        self.layers += 1
        return self.add(name, w, w.astype(np.float16))

    def other(self, name, *shape):
        b = RNG.standard_normal(shape).astype(np.float32)
        return self.add(name, b, b)

    def save(self, name, nodes, inputs, outputs):
        for file, constants in ((f"{name}.onnx", self.drawn), (f"{name}_rounded.onnx", self.rounded)):
            graph = helper.make_graph(nodes, name, inputs, outputs, constants)
            onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), file)


def convolutions():
    n = Network()
    nodes = [helper.make_node("Conv", ["x", n.weights("w0", 20, 3, 3, 3), n.other("b0", 20)], ["c0"], "c0", pads=[1, 1, 1, 1]),
             helper.make_node("Relu", ["c0"], ["r0"], "r0"),
             helper.make_node("Conv", ["r0", n.other("dw", 20, 1, 3, 3)], ["d"], "d", group=20, pads=[1, 1, 1, 1]),
             helper.make_node("Conv", ["d", n.weights("w1", 33, 20, 1, 1)], ["c1"], "c1", strides=[2, 2]),
             helper.make_node("ConvTranspose", ["c1", n.weights("w2", 33, 7, 3, 3)], ["t"], "t", strides=[2, 2], pads=[1, 1, 1, 1]),
             helper.make_node("GlobalAveragePool", ["t"], ["g"], "g"),
             helper.make_node("Flatten", ["g"], ["f"], "f"),
             helper.make_node("Gemm", ["f", n.weights("w3", 100, 7), n.other("b3", 100)], ["y"], "fc", transB=1)]
    n.save("convolutions", nodes, [value("x", [1, 3, 30, 30])], [value("y", [1, 100]), value("t", [1, 7, 29, 29])])
    return n, {"x": RNG.standard_normal((1, 3, 30, 30)).astype(np.float32)}, []


def panels():
    """Convolutions large enough for two threads, of few places, so that these share channels or groups and not places."""
    n = Network()
    nodes = [helper.make_node("Conv", ["x", n.weights("w0", 90, 60, 3, 3), n.other("b0", 90)], ["c0"], "c0", pads=[1, 1, 1, 1]),
             helper.make_node("Relu", ["c0"], ["r0"], "r0"),
             helper.make_node("Conv", ["r0", n.weights("w1", 66, 15, 3, 3)], ["c1"], "c1", group=6, pads=[1, 1, 1, 1]),
             helper.make_node("Conv", ["c1", n.weights("w2", 190, 66, 1, 1)], ["y"], "c2")]
    n.save("panels", nodes, [value("x", [1, 60, 8, 8])], [value("y", [1, 190, 8, 8])])
    return n, {"x": RNG.standard_normal((1, 60, 8, 8)).astype(np.float32)}, []


def recurrent():
    n = Network()
    nodes = [helper.make_node("LSTM", ["x", n.weights("w", 2, 4 * 40, 24), n.weights("r", 2, 4 * 40, 40), n.other("b", 2, 8 * 40)], ["l"], "lstm",
                              hidden_size=40, direction="bidirectional"),
             helper.make_node("GRU", ["x", n.weights("gw", 1, 3 * 17, 24), n.weights("gr", 1, 3 * 17, 17)], ["y"], "gru", hidden_size=17, linear_before_reset=1)]
    n.save("recurrent", nodes, [value("x", [9, 1, 24])], [value("l", [9, 2, 1, 40]), value("y", [9, 1, 1, 17])])
    return n, {"x": RNG.standard_normal((9, 1, 24)).astype(np.float32)}, []


def bodies():
    """Weights of the graph around and of its own, in the branches of an If; a number of rows known at run time only."""
    n = Network()
    n.weights("outer", 30, 30)
    branch = {}
    for kind, nodes in (("then", [helper.make_node("MatMul", ["m", n.weights("own", 30, 30)], ["p"], "own"),
                                  helper.make_node("Tanh", ["p"], ["then_y"], "tanh")]),
                        ("else", [helper.make_node("MatMul", ["m", "outer"], ["else_y"], "shared")])):
        branch[kind] = helper.make_graph(nodes, kind, [], [value(f"{kind}_y", ["N", 30])])
    nodes = [helper.make_node("MatMul", ["x", "outer"], ["m"], "first"),
             helper.make_node("If", ["flag"], ["z"], "if", then_branch=branch["then"], else_branch=branch["else"]),
             helper.make_node("MatMul", ["z", n.weights("last", 30, 50)], ["y"], "last")]
    n.save("bodies", nodes, [value("x", ["N", 30]), helper.make_tensor_value_info("flag", TensorProto.BOOL, [])], [value("y", ["N", 50])])
    return n, {"x": RNG.standard_normal((5, 30)).astype(np.float32), "flag": np.bool_(True)}, ["--input-shape", "x=1..8x30"]


def results(out, inputs, *options):
    for name, array in inputs.items():
        np.save(f"{name}.npy", array)
    shutil.rmtree("results", ignore_errors=True)
    run(MRVLC, "run", out, *(a for name in inputs for a in ("--input", f"{name}={name}.npy")), "--output-dir", "results", *options)
    return {p.stem: np.load(p) for p in pathlib.Path("results").glob("*.npy")}


def in_floats(model, inputs, shapes=()):
    """What the model computes with weights as they are, which the interpreter confirms."""
    run(MRVLC, "verify", f"{model}.onnx", "--target", "host", "--sets", "uniform,normal", *shapes)
    run(MRVLC, "compile", f"{model}.onnx", "-o", f"{model}_floats", "--name", "net", "--target", "host", "--exact", "-q", *shapes)
    return results(f"{model}_floats", inputs)


def near(actual, expected, tolerance=1e-5):
    for name, e in expected.items():
        worst = np.abs(actual[name] - e).max() / max(1.0, np.abs(e).max())
        assert actual[name].shape == e.shape and worst <= tolerance, (name, worst)


def check(name, n, inputs, shapes):
    expected, drawn = in_floats(f"{name}_rounded", inputs, shapes), in_floats(name, inputs, shapes)
    # The two differ by more than near() takes, or nothing would be shown.
    assert any(np.abs(expected[k] - drawn[k]).max() > 5e-5 * max(1.0, np.abs(drawn[k]).max()) for k in expected), name
    for options in ([], ["--weights", "c"], ["--weights", "blob"], ["--threads", "2"], ["--exact"], ["--optimize", "size"], ["--optimize", "balanced"]):
        out = pathlib.Path(f"{name}{'_'.join(options)}")
        said = run(MRVLC, "compile", f"{name}.onnx", "-o", out, "-v", "--name", "net", "--target", "host", "--host-weights", "fp16", *shapes, *options)
        near(results(out, inputs), expected)
        if options in ([], ["--threads", "2"], ["--optimize", "size"]):
            clean(out)
        report = json.loads((out / "report.json").read_text())["host"]["half_weights"]
        assert report["tensors"] == n.layers and report["tensors_fp32"] == 0, report
        # Panels are filled up, and nothing is stored twice.
        assert 2 * n.elements <= report["bytes"] <= 3.5 * n.elements and report["bytes_fp32"] == 2 * report["bytes"], (report, n.elements)
        assert 2 ** -16 < report["largest_error"] <= 2 ** -11 and report["largest_error_node"], report
        found = re.search(r"note MRV0609: --host-weights fp16: (\d+) tensors of weights in (\d+) bytes instead of (\d+); a weight lost at most (\S+) of", said)
        assert found and [int(g) for g in found.groups()[:3]] == [n.layers, report["bytes"], report["bytes_fp32"]], said
    whole = pathlib.Path(f"{name}_floats")
    half, full = (json.loads((pathlib.Path(o) / "report.json").read_text())["host"] for o in (name + "--exact", whole))
    assert full["weights_bytes"] - half["weights_bytes"] >= 0.9 * half["half_weights"]["bytes"], (half, full)
    assert "half_weights" not in full and "net_half" not in (whole / "net.c").read_text()
    layers = ["--layers"] if not shapes else []
    run(MRVLC, "verify", f"{name}.onnx", "--target", "host", "--sets", "uniform,normal", "--host-weights", "fp16", *shapes, *layers)


def clean(out):
    flags = {"gcc": [["-O2"], ["-O2", "-march=native"], ["-O2", "-DMRVL_NO_VECTORS"], ["-O2", "-mavx512f"]], "clang": [["-O1", "-march=native"]],
             "aarch64-linux-gnu-gcc": [["-O2"]],
             "arm-none-eabi-gcc": [["-Os", "-mthumb", "-mcpu=cortex-m3"], ["-Os", "-mthumb", "-mcpu=cortex-m7", "-mfloat-abi=hard", "-mfp16-format=ieee"]]}
    for compiler in filter(shutil.which, flags):
        for more in flags[compiler] if out.name.endswith(("convolutions", "recurrent", "size")) else flags[compiler][:1]:
            run(compiler, *STRICT, *more, "-I", out, "-c", out / "net.c", "-o", "net.o")


def same_bytes():
    for out in ("once", "twice"):
        run(MRVLC, "compile", "convolutions.onnx", "-o", out, "--target", "host", "--host-weights", "fp16", "-q", "-j", "1" if out == "once" else "2")
    files = [sorted(p.relative_to(o) for p in pathlib.Path(o).rglob("*") if p.is_file()) for o in ("once", "twice")]
    assert files[0] == files[1]
    for f in files[0]:
        assert (pathlib.Path("once") / f).read_bytes() == (pathlib.Path("twice") / f).read_bytes(), f
    assert json.loads(pathlib.Path("once/manifest.json").read_text())["options"]["host_weights"] == "fp16"


def beyond():
    """Said of each tensor; and where there is nothing to round."""
    n = Network()
    w = RNG.standard_normal((8, 20)).astype(np.float32)
    n.add("large", w * 30000, w * 30000)
    n.add("tiny", w * np.float32(1e-8), (w * np.float32(1e-8)).astype(np.float16))
    n.save("beyond", [helper.make_node("MatMul", ["x", "large"], ["y"], "too_large"), helper.make_node("MatMul", ["x", "tiny"], ["z"], "too_small")],
           [value("x", [1, 8])], [value("y", [1, 20]), value("z", [1, 20])])
    said = run(MRVLC, "compile", "beyond.onnx", "-o", "beyond", "-v", "--target", "host", "--host-weights", "fp16")
    assert re.search(r"node 'too_large' \(MatMul\): warning MRV0610: its weights stay fp32: the largest is \d+(\.\d+)?(e\+\d+)?, fp16 ends at 65504", said), said
    zeros = int((w * np.float32(1e-8)).astype(np.float16).size - np.count_nonzero((w * np.float32(1e-8)).astype(np.float16)))
    assert zeros > 0 and re.search(rf"MRV0609: .* 1 tensor of .*'too_small'\), {zeros} became 0", said), (zeros, said)
    x = {"x": RNG.standard_normal((1, 8)).astype(np.float32)}
    near(results("beyond", x), in_floats("beyond_rounded", x), 1e-6)
    onnx.save(helper.make_model(helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "relu", [value("x", [4])], [value("y", [4])]),
                                opset_imports=[helper.make_opsetid("", 17)], ir_version=8), "relu.onnx")
    assert "warning MRV0010: --host-weights fp16" in run(MRVLC, "compile", "relu.onnx", "-o", "relu", "--target", "host", "--host-weights", "fp16")
    assert "fp32, fp16" in run(MRVLC, "compile", "relu.onnx", "-o", "never", "--host-weights", "fp8", status=2)


def already_half():
    """Nothing is lost of a network in fp16."""
    model = onnx.load("recurrent.onnx")
    for t in model.graph.initializer:
        t.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(t).astype(np.float16), t.name))
    for v in [*model.graph.input, *model.graph.output]:
        v.type.tensor_type.elem_type = TensorProto.FLOAT16
    onnx.save(model, "in_half.onnx")
    said = run(MRVLC, "compile", "in_half.onnx", "-o", "in_half", "-v", "--host-weights", "fp16")
    assert "MRV0609" in said and "; nothing is lost" in said, said
    plain = pathlib.Path("in_half_whole")
    run(MRVLC, "compile", "in_half.onnx", "-o", plain, "-q")
    x = {"x": RNG.standard_normal((9, 1, 24)).astype(np.float16)}
    half, whole = results("in_half", x), results(plain, x)
    for name in half:
        assert np.abs(half[name].astype(np.float32) - whole[name].astype(np.float32)).max() <= 1e-3


def in_the_place_of_a_device():
    """Regions keep their weights; the CPU that takes over has rounded ones, as have layers that stay on it."""
    n, inputs, _ = convolutions()
    run(MRVLC, "compile", "convolutions.onnx", "-o", "device", "--name", "net", "--cpu", "fc", "--on-device-error", "cpu", "--host-weights", "fp16", "-q")
    run(MRVLC, "compile", "convolutions.onnx", "-o", "device_whole", "--name", "net", "--cpu", "fc", "--on-device-error", "cpu", "-q")
    half, whole = (json.loads(pathlib.Path(o, "report.json").read_text()) for o in ("device", "device_whole"))
    assert half["host"]["half_weights"]["tensors"] == n.layers, half["host"]
    assert half["host"]["weights_bytes"] < whole["host"]["weights_bytes"]
    regions = sorted(p.name for p in pathlib.Path("device").glob("*.mrvl"))
    assert regions
    for name in regions:
        assert pathlib.Path("device", name).read_bytes() == pathlib.Path("device_whole", name).read_bytes()
    near(results("device", inputs), in_floats("convolutions_rounded", inputs), 2e-2)


def main():
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)
    os.chdir(WORK)
    for make in (convolutions, panels, recurrent, bodies):
        check(make.__name__, *make())
    same_bytes()
    beyond()
    already_half()
    in_the_place_of_a_device()
    print("weights of 16 bits are those that numpy rounds to")


if __name__ == "__main__":
    main()
