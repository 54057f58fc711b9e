"""usage: libraries.py MRVLC PACKAGES SOURCE WORK

Compiles models for the libraries of the folder PACKAGES, builds and runs the programs, and holds against each other: the results
and those of the host alone; the calls the library counted and placement.json; idmap.json and the text of the stub; reasons of
what the library does not take. SOURCE: the project's folder; models of $MRVLC_SHARED/data/zoo are taken, too, where it is set. WORK
is emptied first.
"""

import json
import os
import pathlib
import random
import shutil
import struct
import subprocess
import sys

MRVLC, PACKAGES, SOURCE, WORK = (pathlib.Path(a) for a in sys.argv[1:])
LARGEST_CALL = 2048  # bytes of C


def read(folder, name):
    return json.loads((folder / name).read_text())


def run(command, environment=None, status=0):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, env={**os.environ, **(environment or {})})
    assert done.returncode == status, f"{command}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout + done.stderr


def write_npy(path, shape, kind, values):
    header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {tuple(shape)}, }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    code = {"<f4": "f", "<f2": "e", "|i1": "b"}[kind]
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack(f"<{len(values)}{code}", *values))


def read_npy(path):
    data = path.read_bytes()
    begin = 10 + struct.unpack_from("<H", data, 8)[0]
    code, size = {"<f4": ("f", 4), "<f2": ("e", 2), "|i1": ("b", 1)}[data[10:begin].decode().split("'descr': '")[1][:3]]
    return struct.unpack(f"<{(len(data) - begin) // size}{code}", data[begin:])


def write_inputs(out, folder):
    """Numbers from a fixed seed for every input: the arguments of `mrvlc run`."""
    arguments = []
    for port in read(out, "manifest.json")["inputs"]:
        count = 1
        for extent in port["shape"]:
            count *= extent
        draw = random.Random(port["name"])
        file = folder / f"in_{port['file']}.npy"
        kind = {"f32": "<f4", "f16": "<f2", "i8": "|i1"}[port["type"]]
        write_npy(file, port["shape"], kind, [draw.randint(-128, 127) if kind == "|i1" else draw.uniform(-1, 1) for _ in range(count)])
        arguments += ["--input", f"{port['name']}={file}"]
    return arguments


def compile_for(model, targets, out, *options):
    run([MRVLC, "compile", model, "-o", out, "--target", targets, "--target-dir", PACKAGES, "--no-probe", *options])


def results(out, folder, environment=None):
    where = folder / f"results_{out.name}"
    run([MRVLC, "run", out, *write_inputs(out, folder), "--output-dir", where, "--target-dir", PACKAGES], environment)
    return {file.name: read_npy(file) for file in where.glob("*.npy")}


def check_same(got, want, tolerance):
    assert got.keys() == want.keys() and want
    for name, values in want.items():
        worst = max(abs(a - b) / (1 + abs(b)) for a, b in zip(got[name], values))
        assert len(got[name]) == len(values) and worst <= tolerance, f"{name}: {worst}"


def check_map(out, library):
    """Each call of the placement is a function of the stub that holds it, and of its nodes."""
    idmap, placement = read(out, "idmap.json"), read(out, "placement.json")
    functions = {f["symbol"]: f for f in idmap["host_functions"]}
    exprs = {e for call in idmap.get("calls", []) for e in call["exprs"]}
    for call in idmap.get("calls", []):
        function = functions[call["symbol"]]
        lines = (out / function["file"]).read_text().splitlines()[function["first_line"] - 1 : function["last_line"]]
        assert sum(call["function"] + "(" in line for line in lines) >= 1, call
        assert sum(len(line) + 1 for line in lines) <= LARGEST_CALL, call
        assert function["expr_id"] in call["exprs"], call
    for node in placement["nodes"]:
        taken = node.get("target") == library
        assert taken == (node.get("expr_id") in exprs), node
        if node["op_type"] == "Conv" and not taken and node["where"] == "cpu":
            assert "Rule '" in node["reason"] and "does not take it" in node["reason"], node["reason"]
    return len(idmap.get("calls", []))


def check_queries(out):
    """`mrvlc map` tells the call of a node and of a function; maps made one keep their calls."""
    call = read(out, "idmap.json")["calls"][0]
    expected = f"call of {call['target']} {call['function']} by rule {call['rule']}, in {call['symbol']}"
    assert expected in run([MRVLC, "map", out, "--symbol", call["symbol"]])
    node = next(n for n in read(out, "placement.json")["nodes"] if n.get("expr_id") in call["exprs"])
    assert expected in run([MRVLC, "map", out, "--node", node["name"]])
    merged = json.loads(run([MRVLC, "map", "--merge", out]))
    assert len(merged["calls"]) == len(read(out, "idmap.json")["calls"])


def check_strict(out, name):
    flags = "-std=c99 -Wall -Wextra -Wconversion -Wshadow -Wcast-qual -pedantic -Werror".split()
    run([os.environ.get("CC", "cc"), *flags, "-c", out / f"{name}.c", "-o", out.parent / "strict.o"])


def try_model(model, folder, least):
    """`least`: calls that must come about, by library."""
    folder.mkdir()
    host = folder / "host"
    compile_for(model, "host", host)
    name = read(host, "manifest.json")["model"]["name"]
    want = results(host, folder)
    tolerance = 2e-3 if any(p["type"] == "f16" for p in read(host, "manifest.json")["outputs"]) else 1e-4
    for library, calls in least.items():
        out = folder / library
        compile_for(model, f"{library},host", out)
        counted = folder / "calls.txt"
        check_same(results(out, folder, {"VANILLA_CALLS": str(counted)}), want, tolerance)
        made = check_map(out, library)
        assert made >= calls, f"{model.name}: {made} calls of {library}"
        assert read(out, "report.json")["placement"]["libraries"][0]["calls"] == made
        if library == "vanilla" and made:
            assert int(counted.read_text()) == made, "the library counted other calls"
        check_strict(out, name)
        print(f"{model.name}: {made} calls of {library}", flush=True)
    # With an accelerator before and behind: all three compute.
    for targets in ("vanilla,cn10ka,nn,host", "cn10ka,vanilla,host"):
        out = folder / targets.replace(",", "_")
        compile_for(model, targets, out)
        check_same(results(out, folder), want, 2e-2)


def try_integers(model, folder, golden):
    """All products in calls of integers; results of the host but for one unit in under a thousandth of them."""
    folder.mkdir()
    compile_for(model, "host", folder / "host")
    compile_for(model, "qnn,host", folder / "qnn")
    name = read(folder / "host", "manifest.json")["model"]["name"]
    assert read(folder / "qnn", "report.json")["placement"]["libraries"][0]["mac_share"] >= 0.95
    check_map(folder / "qnn", "qnn")
    check_strict(folder / "qnn", name)
    pairs = [(results(folder / "qnn", folder), results(folder / "host", folder))]
    inputs, outputs = sorted(golden.glob("in_*.npy")), sorted(golden.glob("out_*.npy"))
    if outputs:
        port = read(folder / "qnn", "manifest.json")["inputs"][0]["name"]
        run([MRVLC, "run", folder / "qnn", "--input", f"{port}={inputs[0]}", "--output-dir", folder / "golden", "--repeat-axis0"])
        made = next((folder / "golden").glob("*.npy"))
        pairs.append(({made.name: read_npy(made)}, {made.name: read_npy(outputs[0])}))
    for got, want in pairs:
        apart = [abs(a - b) for file in want for a, b in zip(got[file], want[file], strict=True)]
        assert max(apart) <= 1 and sum(apart) <= len(apart) / 1000, f"{model.name}: {sum(apart)} of {len(apart)} elements differ"
    print(f"{model.name}: all products in calls of qnn", flush=True)


def failing_library(model, folder):
    """What a function returns instead of success reaches the caller, with the operator's name."""
    out = folder / "nn"
    text = run([MRVLC, "run", out, *write_inputs(out, folder), "--output-dir", folder / "none"], {"NN_FAIL": "1"}, 1)
    call = read(out, "idmap.json")["calls"][0]
    node = next(n for n in read(out, "placement.json")["nodes"] if n.get("expr_id") in call["exprs"])
    for said in (f"'{node['name']}'", "a function of a library failed", "device code 7", f"expression {call['exprs'][0]}"):
        assert said in text, text


def same_bytes(model, folder):
    compile_for(model, "nn,host", folder / "again")
    for file in filter(pathlib.Path.is_file, (folder / "nn").rglob("*")):
        assert file.read_bytes() == (folder / "again" / file.relative_to(folder / "nn")).read_bytes(), file


def given_back(model, folder):
    """placement.json makes the same bytes again; a node that is kept from the library runs on the host."""
    placement = read(folder / "nn", "placement.json")
    file = folder / "placement.json"
    file.write_text(json.dumps(placement))
    compile_for(model, "nn,host", folder / "back", "--placement", file)
    for written in filter(pathlib.Path.is_file, (folder / "nn").rglob("*")):
        if written.name != "manifest.json":
            assert written.read_bytes() == (folder / "back" / written.relative_to(folder / "nn")).read_bytes(), written
    node = next(n for n in placement["nodes"] if n.get("target") == "nn")
    node["target"] = "host"
    file.write_text(json.dumps(placement))
    compile_for(model, "nn,host", folder / "edited", "--placement", file)
    edited = {n["id"]: n for n in read(folder / "edited", "placement.json")["nodes"]}
    assert edited[node["id"]]["target"] == "host", edited[node["id"]]
    node["target"] = "vanilla"
    file.write_text(json.dumps(placement))
    command = [MRVLC, "compile", model, "-o", folder / "none", "--target", "nn,host", "--target-dir", PACKAGES, "--placement", file]
    assert "MRV0413" in run(command, status=2)


def refusals(model, folder):
    """What cannot be is said before anything is written."""
    folder.mkdir()
    for targets, status, code, *options in (
        ("nn,nn", 2, "MRV0354"),
        ("nn,nothing", 2, "MRV0352"),
        ("cn10ka,quarter", 2, "MRV0352"),
        ("nn,host", 1, "MRV0353", "--name", "nn"),
    ):
        command = [MRVLC, "compile", model, "-o", folder / "out", "--target", targets, "--target-dir", PACKAGES, *options]
        assert code in run(command, status=status), command
        assert not (folder / "out").exists()
    broken = folder / "nn"
    shutil.copytree(PACKAGES / "nn", broken)
    run([MRVLC, "targets", "check", broken])
    for file, old, new, status, said in (
        ("nn.h", "int nn_conv(", "int nn_conv_2(", 3, "nn_conv"),  # not declared any more
        ("nn.rules", "%r = Relu(%c)?", "%r = Relx(%c)?", 1, "MRV0302"),
        ("target.json", '"nn.c"', '"nn2.c"', 3, "MRV0001"),
    ):
        text = (broken / file).read_text()
        (broken / file).write_text(text.replace(old, new))
        assert said in run([MRVLC, "targets", "check", broken], status=status), said
        (broken / file).write_text(text)


def other_standards(model, folder):
    """A library in GNU's C: it compiles where it says so, and the results stay those of the host."""
    package = folder / "packages" / "vanilla"
    shutil.copytree(PACKAGES / "vanilla", package)
    source = package / "vanilla.c"
    source.write_text(source.read_text().replace("float sum = 0;", "typeof(0.0f) sum = 0;"))
    assert "MRV0708" in run([MRVLC, "targets", "check", package], status=3)
    target = read(package, "target.json")
    for wrong in ("c89", 11, "c11 -include /etc/passwd"):
        (package / "target.json").write_text(json.dumps({**target, "standard": wrong}))
        assert "MRV0351" in run([MRVLC, "targets", "check", package], status=1)
    (package / "target.json").write_text(json.dumps({**target, "standard": "gnu11"}))
    run([MRVLC, "targets", "check", package])
    out = folder / "gnu"
    run([MRVLC, "compile", model, "-o", out, "--target", "vanilla,host", "--target-dir", package.parent, "--no-probe"])
    assert read(out, "manifest.json")["linked"]["standard"] == "gnu11"
    assert "$(CC) -std=gnu11 -ffp-contract=off $(CFLAGS)" in (out / "Makefile").read_text()
    run(["make", "-C", out])
    check_same(results(out, folder), results(folder / "host", folder), 1e-4)


def three_targets(zoo, folder):
    """An accelerator, a library and the host: what both take, integers too, is the first one's."""
    folder.mkdir()
    for name, targets, options, where in (
            ("tiny_resnet8_f32", "cn10ka,qnn,host", (), "cn10ka"), ("tiny_resnet8_int8_qdq", "cn10ka,qnn,host", (), "cn10ka"),
            ("tiny_resnet8_int8_qdq", "qnn,cn10ka,host", (), "qnn"),
            ("tiny_resnet8_int8_qdq", "cn10ka,qnn,host", ("--cpu", "Conv"), "host")):
        model, out = zoo / f"{name}.onnx", folder / "_".join([name, *targets.split(","), *options])
        if not model.exists():
            continue
        compile_for(model, "host", folder / f"{name}_host")
        compile_for(model, targets, out, *options)
        convolutions = [n["target"] for n in read(out, "placement.json")["nodes"] if n["op_type"] == "Conv"]
        assert set(convolutions) == {where}, (name, targets, options, convolutions)
        check_same(results(out, folder), results(folder / f"{name}_host", folder), 2e-2 if "int8" not in name else 8e-2)


def main():
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)
    digits = SOURCE / "models" / "digits" / "digits.onnx"
    try_model(digits, WORK / "digits", {"vanilla": 1, "nn": 1})
    failing_library(digits, WORK / "digits")
    same_bytes(digits, WORK / "digits")
    check_queries(WORK / "digits" / "nn")
    given_back(digits, WORK / "digits")
    other_standards(digits, WORK / "digits")
    refusals(digits, WORK / "refusals")
    zoo = pathlib.Path(os.environ.get("MRVLC_SHARED", "/nowhere")) / "data" / "zoo"
    for name, vanilla, nn in (("mnist_cntk", 2, 2), ("tiny_resnet8_f32", 5, 9), ("squeezenet_fp16", 25, 26)):
        model = zoo / f"{name}.onnx"
        if model.exists():
            try_model(model, WORK / name, {"vanilla": vanilla, "nn": nn})
    for name in ("tiny_resnet8", "tiny_kws", "tiny_vww", "tiny_ad"):
        model = zoo / f"{name}_int8_qdq.onnx"
        if model.exists():
            try_integers(model, WORK / name, zoo.parent / "golden" / model.stem)
    three_targets(zoo, WORK / "three")


main()
