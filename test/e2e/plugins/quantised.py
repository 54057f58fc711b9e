"""usage: quantised.py MRVLC SOURCE WORK

A plug-in for integers, version 2 of the interface: its rules see a quantised network as that of a library with "integers" does,
it is shown weights, scales and zero points bit for bit as they are in the file, what its rules' names stand for, and its options;
cycles of ranges and its instructions as text are in what mrvlc says. SOURCE: the project's folder; WORK is emptied first.
"""
import json
import pathlib
import shutil
import struct
import subprocess
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

MRVLC, SOURCE, WORK = (pathlib.Path(a).absolute() for a in sys.argv[1:])
RULES = """rule tiny_conv {
  layer conv
  priority 100
  why "tiny convolves int8"
  match {
    %c = Conv(%d, %wd, %bd?)
    %d = DequantizeLinear(%x, %sx, %zx)
    %wd = DequantizeLinear(%w, %sw, %zw)
    %bd = DequantizeLinear(%b, %sb, %zb?)?
    %r = Relu(%c)?
    %q = QuantizeLinear(%r, %sy, %zy)
  }
  where elem(%x) == i8, attr(%c, "group") == 1
}
"""
PACKAGE = {
    "name": "tiny", "description": "int8 convolutions", "kind": "plugin", "integers": True, "steps": 1,
    "options": {"board": {"type": "text", "default": "small", "values": ["small", "large"], "help": "which board"},
                "strict": {"type": "flag", "default": False, "help": "no Relu"}},
}
OPTIONS = ("--target", "tiny", "--target-dir", ".")


def run(*command, status=0):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, cwd=WORK)
    assert done.returncode == status, f"{command}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout + done.stderr


def build(fault=0):
    run("cc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-Wno-unused", "-O1", "-shared", "-fPIC", f"-DFAULT={fault}", f"-I{SOURCE / 'include'}",
        "-o", "tiny/tiny.so", SOURCE / "test/e2e/plugins/tiny.c", "-lm")


def declare(**changed):
    (WORK / "tiny/target.json").write_text(json.dumps({**PACKAGE, **changed}))


def network():
    """Two convolutions, weights by channel and of one scale, with a bias and without; a Softmax that no rule takes."""
    rng = np.random.default_rng(7)
    nodes, constants, written = [], [], []

    def constant(array, name):
        constants.append(numpy_helper.from_array(np.asarray(array), name))
        written.append((name, np.asarray(array).tobytes()))
        return name

    def add(op, inputs, out, **attributes):
        nodes.append(helper.make_node(op, inputs, [out], out, **attributes))
        return out

    def conv(x, name, scales, relu, bias):
        w = constant(rng.integers(-127, 128, (6, 4 if name == "a" else 6, 3, 3)).astype(np.int8), name + "_w")
        sw = constant(scales, name + "_sw")
        axis = {"axis": 0} if scales.ndim else {}
        wd = add("DequantizeLinear", [w, sw, constant(np.zeros(scales.shape, np.int8), name + "_zw")], name + "_wd", **axis)
        operands = [add("DequantizeLinear", [x, "x_s", "x_z"], name + "_d"), wd]
        if bias:
            b = constant(rng.integers(-900, 900, 6).astype(np.int32), name + "_b")
            sb = constant((np.float32(0.05) * scales).astype(np.float32), name + "_sb")
            operands.append(add("DequantizeLinear", [b, sb, constant(np.zeros(scales.shape, np.int32), name + "_zb")], name + "_bd", **axis))
        y = add("Conv", operands, name + "_c", pads=[1] * 4)
        return add("QuantizeLinear", [add("Relu", [y], name + "_r") if relu else y, "x_s", "x_z"], name + "_q")

    constant(np.float32(0.05), "x_s"), constant(np.int8(3), "x_z")
    q = conv("x", "a", rng.uniform(1e-3, 2e-3, 6).astype(np.float32), relu=True, bias=True)
    q = conv(q, "b", np.float32(1.7e-3), relu=False, bias=False)
    add("Softmax", [add("DequantizeLinear", [q, "x_s", "x_z"], "last")], "y")
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", TensorProto.INT8, [1, 4, 7, 7])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 6, 7, 7]),
                               helper.make_tensor_value_info("b_q", TensorProto.INT8, [1, 6, 7, 7])], constants)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), WORK / "net.onnx")
    return dict(written)


def check_shown(written):
    """The program holds the constants as the file does, in the order that the plug-in puts them."""
    program = (WORK / "out/net.region0.mrvl").read_bytes()
    assert program[:4] == b"MRVP" and struct.unpack("<I", program[4:8])[0] == 2
    own = program[struct.unpack("<I", program[8:12])[0]:]
    expected = b"".join(written[n] for n in ("a_w", "a_sw", "a_b", "a_sb", "x_s", "x_z", "x_s", "x_z", "b_w", "b_sw", "x_s", "x_z", "x_s", "x_z"))
    assert own.endswith(expected), (len(own), len(expected))
    assert own.startswith(b"small\0")


def check_said():
    placed = json.loads((WORK / "out/placement.json").read_text())["nodes"]
    there = {n["name"] for n in placed if n["target"] == "tiny"}
    assert {"a_c", "a_r", "a_q", "a_wd", "a_bd", "b_c", "b_q", "b_wd"} <= there, there
    # What crosses the border is int8.
    assert struct.unpack("<QQ", (WORK / "out/net.region0.mrvl").read_bytes()[68:84]) == (4 * 49, 6 * 49)
    for file in "report.txt", "report.json", "report.html", "placement.json", "graph.json", "net.c":
        text = (WORK / "out" / file).read_text().replace("beyond_fp16", "")
        assert "fp16" not in text, file
    said = run(MRVLC, "verify", "net.onnx", *OPTIONS)
    assert " ok" in said and "WRONG" not in said and "fp16" not in said, said
    said = run(MRVLC, "profile", "out", "--target-dir", ".", "--json")
    region = json.loads(said)["regions"][0]
    assert region["main_cycles"] == 100 and [l["cycles"] for l in region["layers"]] == [50, 50], region
    assert [(r["begin"], r["end"], r["cycles"]) for r in region["ranges"]] == [(0, 1, 60), (1, 2, 60)], region
    assert "50.00 %" in run(MRVLC, "profile", "out", "--target-dir", ".")
    listing = (WORK / "out/net.region0.txt").read_text()
    assert "conv\\x091 on small" in listing, listing
    program = "out/net.region0.mrvl"
    assert "MRV1082" not in listing and "bytes\n" not in listing
    shown = run(MRVLC, "disasm", program)
    assert "is the library of a plug-in" in shown and "bytes\n" in shown, shown
    assert "conv\\x091 on small" in run("env", f"MRVLC_TARGET_PATH={WORK}", MRVLC, "disasm", program)


def check_made_int8():
    """A network of floats, quantised on the way."""
    samples = np.load(SOURCE / "models/digits/test_x.npy")[:4]
    for number, sample in enumerate(samples):
        (WORK / f"data/{number}").mkdir(parents=True)
        np.save(WORK / f"data/{number}/image.npy", sample[None])
    run(MRVLC, "compile", SOURCE / "models/digits/digits.onnx", *OPTIONS, "--precision", "int8", "--data", "data", "-o", "digits")
    placed = {n["name"]: n.get("target") for n in json.loads((WORK / "digits/placement.json").read_text())["nodes"]}
    assert placed["conv1"] == placed["conv2"] == "tiny", placed
    text = (WORK / "digits/report.txt").read_text()
    assert "precision int8" in text and "fp16" not in text, text


def check_options():
    assert "--target-opt tiny.board=small" in run(MRVLC, "targets", "show", "tiny", "--target-dir", ".")
    refused = {"tiny.bord=large": "is no option of 'tiny', whose options are board, strict; did you mean 'board'?",
               "tiny.board=huge": "takes one of small, large", "tiny.strict=1": "takes true or false",
               "tiny.tiles=2": "is no option of 'tiny'"}
    for option, expected in refused.items():
        said = run(MRVLC, "compile", "net.onnx", *OPTIONS, "--target-opt", option, "-o", "never", status=2)
        assert "MRV0004" in said and expected in said, said
    run(MRVLC, "compile", "net.onnx", *OPTIONS, "--target-opt", "tiny.board=large", "--target-opt", "tiny.strict=true", "-o", "strict", "--emit", "disasm")
    assert json.loads((WORK / "strict/manifest.json").read_text())["options"]["target_opt"] == ["tiny.board=large", "tiny.strict=true"]
    assert "0 on large" in (WORK / "strict/net.region0.txt").read_text()
    placed = {n["name"]: n for n in json.loads((WORK / "strict/placement.json").read_text())["nodes"]}
    assert placed["b_c"]["target"] == "tiny" and placed["a_c"]["where"] == "cpu", placed["a_c"]
    assert "tiny is strict and takes no Relu." in placed["a_c"]["reason"], placed["a_c"]["reason"]
    good = PACKAGE["options"]
    for wrong in ({"board.x": good["board"]}, {"board": {**good["board"], "default": "huge"}}, {"board": {**good["board"], "type": "float"}},
                  {"strict": {**good["strict"], "values": [True]}}, {"strict": {"type": "flag", "default": False}}, ["board"]):
        declare(options=wrong)
        said = run(MRVLC, "targets", "show", "tiny", "--target-dir", ".", status=1)
        assert "MRV0351" in said and "'options'" in said, said
    declare()


# What -DFAULT=N does wrong, and what is said of it.
FAULTS = {
    1: "the function 'configure' of its plug-in fails: no such board",
    2: "the function 'configure' of its plug-in ends the process, with exit code 0",
    3: "the function 'configure' of its plug-in ends in signal 6",
    4: "the function 'encode' of its plug-in gives range [0, 1) 101 cycles, more than the 100 of an inference",
    5: "the function 'encode' of its plug-in gives something else for the same region when it is called again",
    6: "the function 'disassemble' of its plug-in writes no end of its text of instruction 0",
    7: "the function 'disassemble' of its plug-in writes beyond its text of instruction 0",
    8: "the function 'disassemble' of its plug-in fails at instruction 0: no such instruction",
    9: "is of version 1 of the interface, which has no options; target.json declares some",
    10: "lacks the function 'configure', which the options of target.json are for",
}


def check_faults():
    for number, expected in FAULTS.items():
        build(number)
        said = run(MRVLC, "compile", "net.onnx", *OPTIONS, "-o", "never", "--emit", "disasm", status=1)
        assert ("MRV0355" if number >= 9 else "MRV0356") in said and expected in said, f"{number}: {said}"
        assert not (WORK / "never").exists()


shutil.rmtree(WORK, ignore_errors=True)
(WORK / "tiny").mkdir(parents=True)
(WORK / "tiny/tiny.rules").write_text(RULES)
declare()
build()
constants = network()
run(MRVLC, "compile", "net.onnx", *OPTIONS, "-o", "out", "--emit", "disasm")
check_shown(constants)
check_said()
check_made_int8()
check_options()
check_faults()
print("integers of plug-ins: as they should be")
