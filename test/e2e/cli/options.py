#!/usr/bin/python3
"""usage: options.py MRVLC SOURCE WORK

The table of options against what users see: `mrvlc diff` names every option that decides about OUT, by its name; the manifest tells of no other. WORK is emptied first."""

import json
import pathlib
import re
import shutil
import subprocess
import sys

import onnx

MRVLC, SOURCE, WORK = (pathlib.Path(a).absolute() for a in sys.argv[1:])
DIGITS = SOURCE / "models" / "digits"
# Options that decide neither about OUT nor whether it is written.
NOT_RECORDED = {"depfile-form", "output", "name", "force", "timing", "MD", "MF", "MT", "MQ", "MP", "dump-ir", "dump-stage", "j"}
# A value for each option that takes one, and what it is given with.
VALUES = {
    "input-shape": ["x=1..4x1x8x8"], "input-dim": ["N=2"], "bind": ["extra=1"], "bound": ["logits=4x10"], "max-sequence": ["9"], "max-rounds": ["5"],
    "batch": ["2"], "external-data-dir": ["."], "emit": ["ir"], "target": ["host"], "target-opt": ["cn10ka.effort=2"], "tiles": ["2"], "effort": ["2"], "machine": ["both"],
    "target-dir": ["."], "rules": ["none.rules"], "cpu": ["pool"], "accel": ["conv1"], "border": ["pool"], "border-after": ["relu1"], "together": ["conv1"],
    "max-region-layers": ["2"], "max-regions": ["1"], "placement": ["base/placement.json"], "partition": ["cost"], "host-model": ["host.json"],
    "precision": ["*=pair"], "data": ["samples", "--precision", "int8"], "calibration": ["calibration.json"], "input-range": ["x=0:16"],
    "objective": ["accuracy", "--slowdown", "1.5"], "slowdown": ["1.5", "--objective", "accuracy"], "accuracy": ["0.5"], "accuracy-warning": ["0.5"],
    "optimize": ["size"], "weights": ["c"], "host-weights": ["fp16"], "threads": ["2"], "tuning": ["tuning.json", "--target", "host"], "arena-limit": ["64M"],
    "text-bytes": ["32"], "measure-size": ["gcc -Os"], "on-overflow": ["error"], "on-device-error": ["retry"], "max-cycles": ["1000000"], "max-ms": ["1000"],
    "state": ["extra=same"], "max-arena": ["64M"], "max-weights": ["64M"], "min-mac-share": ["1%"], "max-error": ["0.5"], "baseline": ["base"], "tolerance": ["1%", "--baseline", "base"],
    "frontier": [], "pick": ["1", "--frontier"], "chips": ["1"], "without": ["chip:0"], "fail-on-fallback": [], "fail-on-accuracy": [], "probe": [],
}
# The model, where that of the others does not compile with the option.
MODELS = {"fail-on-fallback": DIGITS / "digits.onnx"}
# What diff calls it, where that is not the option's name.
NAMES = {"no-default-rules": "default_rules", "no-probe": "probe", "precision": "precision_of"}


def run(*command):
    done = subprocess.run([str(MRVLC), *map(str, command)], capture_output=True, text=True, cwd=WORK)
    assert done.returncode == 0, f"{command}: {done.returncode}\n{done.stderr}"
    return done.stdout


def table():
    """Options of compile by name, and whether they take a value."""
    rows = re.findall(r"^\| `(?:-\w,)?-+([\w-]+)( [^`]+)?` \| ([^|]+) \|", run("help", "--markdown"), re.M)
    return {name: bool(value) for name, value, commands in rows if "compile" in commands or "all" in commands}


def make_files():
    """digits with an open first dimension and a default value, and the files that options read."""
    model = onnx.load(DIGITS / "digits.onnx")
    graph = model.graph
    for node in graph.node:
        node.input[:] = ["x" if i == graph.input[0].name else i for i in node.input]
    graph.input[0].name = "x"
    for value in (graph.input[0], graph.output[0]):
        value.type.tensor_type.shape.dim[0].dim_param = "N"
    graph.input.append(onnx.helper.make_tensor_value_info("extra", onnx.TensorProto.FLOAT, [1]))
    graph.node.append(onnx.helper.make_node("Identity", ["extra"], ["same"]))
    graph.output.append(onnx.helper.make_tensor_value_info("same", onnx.TensorProto.FLOAT, [1]))
    onnx.save(model, WORK / "model.onnx")
    one = onnx.helper.make_model(onnx.helper.make_graph([onnx.helper.make_node("Relu", ["x"], ["y"])], "g", [onnx.helper.make_tensor_value_info("x", 1, [4])],
                                                        [onnx.helper.make_tensor_value_info("y", 1, [4])]), opset_imports=[onnx.helper.make_opsetid("", 13)])
    onnx.save(one, WORK / "one.onnx")
    (WORK / "none.rules").write_text("# nothing\n")
    sample = WORK / "samples" / "a"
    sample.mkdir(parents=True)
    import numpy
    numpy.save(sample / "x.npy", numpy.load(DIGITS / "test_x.npy")[:1])
    numpy.save(sample / "extra.npy", numpy.zeros(1, numpy.float32))
    run("calibrate", "model.onnx", "--data", "samples", "-o", "calibration.json", "--no-sensitivity")
    run("calibrate-host", "one.onnx", "-o", "host.json", "--bench", "1", "--cflags", "-O0")
    run("tune", "one.onnx", "-o", "tuning.json", "--cflags", "-O0")


def compiled(name, options, model="model.onnx"):
    run("compile", model, "-o", name, "-q", *options)
    return json.loads((WORK / name / "manifest.json").read_text())["options"]


def main():
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)
    make_files()
    always = set(compiled("base", []))
    options = table()
    assert len(options) > 60 and "tiles" in options, options
    for name, takes in options.items():
        assert not takes or name in VALUES or name in NOT_RECORDED, f"test/e2e/cli/options.py has no value for --{name}"
        if name in NOT_RECORDED:
            continue
        compiled("other", [f"--{name}", *VALUES.get(name, [])], MODELS.get(name, "model.onnx"))
        said = {i["what"] for i in json.loads(run("diff", "base", "other", "--json"))["inputs"]}
        key = NAMES.get(name, name.replace("-", "_"))
        assert f"option {key}" in said, f"diff does not name --{name}: {said}"
    recorded = set(compiled("quiet", ["-j", "1", "--timing", "t.json", "--MD", "--name", "mine"]))
    assert recorded == always, f"the manifest tells of {recorded ^ always}"


if __name__ == "__main__":
    main()
