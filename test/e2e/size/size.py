#!/usr/bin/python3
"""Usage: size.py MRVLC MODELS WORK

Programs that take much memory are told of (MRV0640), with the values that take it, unless --arena-limit accepts them; those that can
have no plan are refused. --measure-size: the report has the sizes that the compiler's own tool has, the frames it tells, no folder of
this machine, and a project file that only lies there cannot name the compiler. WORK is emptied first."""
import json
import pathlib
import re
import shutil
import subprocess
import sys

import onnx
from onnx import TensorProto, helper

MRVLC, MODELS, WORK = (pathlib.Path(a).absolute() for a in sys.argv[1:])
shutil.rmtree(WORK, ignore_errors=True)
WORK.mkdir(parents=True)


def mrvlc(*arguments, code=0):
    done = subprocess.run([str(MRVLC), *map(str, arguments)], capture_output=True, text=True, cwd=WORK)
    assert done.returncode == code, (arguments, done)
    return done.stderr


def info(name, shape, kind=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


def save(name, nodes, inputs, outputs, constants=()):
    graph = helper.make_graph(nodes, "g", inputs, outputs, list(constants))
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), str(WORK / name))


def memory():
    # Two sizes that nothing bounds multiply: 16 GiB a value.
    node = helper.make_node
    save("unbounded.onnx", [node("ConstantOfShape", ["s"], ["c"]), node("Expand", ["x", "s"], ["e"]), node("Add", ["c", "e"], ["o"]),
                            node("Relu", ["o"], ["r"]), node("ReduceSum", ["r"], ["q"], keepdims=0)],
         [info("s", [2], TensorProto.INT64), info("x", [1, 1])], [info("q", [])])
    said = mrvlc("compile", "unbounded.onnx", "-o", "unbounded", "--target", "host")
    found = re.search(r"warning MRV0640: the program takes (\d+) bytes beside its weights .*alive in the arena at the peak: (.*); smaller bounds .*--arena-limit (\d+)", said)
    assert found and int(found[1]) > 1 << 30 and "'o' 17179869184" in found[2], said
    assert "MRV0640" not in mrvlc("compile", "unbounded.onnx", "-o", "unbounded", "--target", "host", "--arena-limit", found[3])
    assert "#error \"the arena takes" in (WORK / "unbounded" / "unbounded.h").read_text()
    assert "MRV0640" not in mrvlc("compile", "unbounded.onnx", "-o", "bounded", "--target", "host", "--bound", "c=64x64", "--bound", "e=64x64")
    # A network on images: 300 MB of values for weights of a few bytes; less is not told.
    for side, told in ((2896, False), (6144, True)):
        save("image.onnx", [node("Relu", ["x"], ["a"]), node("ReduceMean", ["a"], ["m"], keepdims=1), node("Mul", ["a", "m"], ["p"]),
                            node("ReduceSum", ["p"], ["y"], keepdims=0)], [info("x", [1, 1, side, side])], [info("y", [])])
        assert ("MRV0640" in mrvlc("compile", "image.onnx", "-o", "image", "--target", "host")) == told, side
    # One limit for the whole: no value is beyond what one may be, all together are.
    count = 40
    save("many.onnx", [node("Elu", ["x"], [f"v{i}"], alpha=1.0 + i) for i in range(count)] + [node("Sum", [f"v{i}" for i in range(count)], ["t"]),
         node("Sum", ["t"] + [f"v{i}" for i in range(count)], ["u"]), node("ReduceMax", ["u"], ["y"], keepdims=0)],
         [info("x", [1 << 16, 1 << 15])], [info("y", [])])
    said = mrvlc("compile", "many.onnx", "-o", "many", "--target", "host", code=4)
    assert "MRV0604" in said and f"limit of {1 << 38};" in said and "more" in said, said
    mrvlc("compile", "many.onnx", "-o", "many", "--target", "host", "--arena-limit", 1 << 42)


def sizes():
    digits = MODELS / "digits" / "digits.onnx"
    said = mrvlc("compile", "-v", digits, "-o", "digits", "--target", "host", "--name", "d", "--measure-size", "gcc -O1 -I/usr/include")
    report = json.loads((WORK / "digits" / "report.json").read_text())
    size = report["host"]["size"]
    assert size["compiler"] == "gcc -std=c99 -O1", size["compiler"]
    assert re.search(r"size +code .*worst stack frame \d+ B in d_", said), said
    subprocess.run(["gcc", "-std=c99", "-O1", "-c", "-fstack-usage", "d.c"], cwd=WORK / "digits", check=True)
    text, data, bss = map(int, subprocess.run(["size", "d.o"], cwd=WORK / "digits", capture_output=True, text=True, check=True).stdout.split()[6:9])
    assert (size["text_bytes"] + size["rodata_bytes"], size["data_bytes"], size["bss_bytes"]) == (text, data, bss), size
    frames = [line.split("\t") for line in (WORK / "digits" / "d.su").read_text().splitlines()]
    assert size["stack"]["worst_frame_bytes"] == max(int(f[1]) for f in frames) and size["stack"]["functions"] == len(frames)
    assert all(f["function"].startswith("d_") and "expr_id" in f for f in size["stack"]["frames"]), size["stack"]
    assert size["ram_bytes"] == report["host"]["arena_bytes"] + data + bss
    report_text = (WORK / "digits" / "report.txt").read_text()
    assert "size: code" in report_text and "stack frames: d_" in report_text
    assert "usr/include" not in (WORK / "digits" / "manifest.json").read_text() + report_text
    if shutil.which("arm-none-eabi-gcc"):
        mrvlc("compile", digits, "-o", "m4", "--target", "host", "--measure-size", "arm-none-eabi-gcc -mcpu=cortex-m4 -mthumb", "--emit", "single")
        size = json.loads((WORK / "m4" / "report.json").read_text())["host"]["size"]
        assert 0 < size["text_bytes"] < 40000 and size["stack"]["worst_frame_bytes"] < 2048, size
        # The example needs no POSIX: newlib has neither clocks nor threads.
        subprocess.run(["arm-none-eabi-gcc", "-std=c99", "-Wall", "-Werror", "-mcpu=cortex-m4", "-mthumb", "-Os", "-o", "m4.elf", "m4/example/main.c", "m4/digits.c",
                        "--specs=rdimon.specs", "-lm"], cwd=WORK, check=True)
    said = mrvlc("compile", digits, "-o", "not", "--target", "host", "--measure-size", "gcc -S", code=1)
    assert "MRV0642" in said, said
    assert "MRV0708" in mrvlc("compile", digits, "-o", "not", "--target", "host", "--measure-size", "gcc -fno-such-thing", code=3)
    assert "MRV0001" in mrvlc("compile", digits, "-o", "not", "--target", "host", "--measure-size", "no-such-cc", code=3)
    (WORK / "mrvlc.json").write_text('{"compile": {"measure-size": "touch here"}}')
    assert "--project" in mrvlc("compile", digits, "-o", "not", "--target", "host", code=3)
    assert not (WORK / "not").exists()


memory()
sizes()
