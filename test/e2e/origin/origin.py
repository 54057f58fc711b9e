"""usage: origin.py MRVLC WORK

From instructions and functions of C to file, line and module of the program that was exported (docs/idmap.md); hostile texts; operators
that are taken apart, which count as one node.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

import torch_like

STRICT = ["-std=c99", "-Wall", "-Wextra", "-Wconversion", "-pedantic", "-Werror", "-fsyntax-only"]


def run(*arguments, code=0):
    done = subprocess.run([MRVLC, *map(str, arguments)], check=False, capture_output=True, text=True)
    assert done.returncode == code, (arguments, done.returncode, done.stderr[-2000:])
    return done


def compiled(model, out, *options):
    stderr = run("compile", model, "-o", out, *options).stderr
    return {f.stem: json.loads(f.read_text()) for f in pathlib.Path(out).glob("*.json")}, stderr


def located(idmap):
    """Shares of instructions and functions of C that lead to file and line, and how many there are."""
    has_line = {s["id"] for s in idmap["sources"] if "line" in s.get("location", {}) and s["location"]["file"]}
    of = {e["expr_id"]: any(s in has_line for s in e["sources"]) for e in idmap["expressions"]}
    instructions = sum(i["end"] - i["begin"] for i in idmap["instructions"])
    found = sum(i["end"] - i["begin"] for i in idmap["instructions"] if of[i["expr_id"]])
    functions = [of[f["expr_id"]] for f in idmap["host_functions"]]
    return found, instructions, sum(functions), len(functions)


def check_bar():
    for options in ((), ("--target", "host"), ("--cpu", "Conv"), ("--tiles", "1")):
        files, _ = compiled("net.onnx", f"out{len(options)}{''.join(options[1:])}", *options)
        found, instructions, functions, all_functions = located(files["idmap"])
        print(f"{options}: {found} of {instructions} instructions, {functions} of {all_functions} functions lead to file and line")
        assert found == instructions and functions == all_functions and all_functions > 5
        assert instructions > 0 or "host" in options
        for s in files["idmap"]["sources"]:
            assert s["location"]["file"] == "/home/someone/net.py" and s["location"]["line"] > 10, s


def check_map():
    idmap = json.loads(pathlib.Path("out0/idmap.json").read_text())
    sources = {s["name"]: s for s in idmap["sources"]}
    conv = sources["node_conv2d_0"]
    assert conv["location"] == {"file": "/home/someone/net.py", "line": 11, "module": "layer1.conv", "class": "torch.nn.modules.conv.Conv2d"}
    assert conv["metadata"] == torch_like.torch_metadata(
        [("", "net.Net"), ("layer1", "net.Block"), ("layer1.conv", "torch.nn.modules.conv.Conv2d")], "conv2d", "aten.conv2d.default", 11)
    assert [s["location"]["module"] for s in sources.values() if s["name"].startswith("node_max_pool2d")] == [""]
    assert [s["location"]["module"] for s in idmap["sources"] if s["id"].endswith("then_branch/0")] == ["gate"]
    function = [s for s in idmap["sources"] if ":Scaled/" in s["id"]]  # it says nothing of its own: where it is called
    assert function and all("metadata" not in s and s["location"]["module"] == "scale" for s in function)
    assert {m["of"]: m["entries"] for m in idmap["metadata"]} == {
        "model": {"author": "someone"}, "graph": {"pkg.torch.export.ExportedProgram.graph_signature": "inputs: x\noutputs: y"},
        "function pkg.net.Scaled": {"pkg.torch.onnx.note": "of a function"}}
    origin = "/home/someone/net.py:11 in layer1.conv (Conv2d)"
    assert f", from {origin}\n" in run("map", "out0", "--node", "node_conv2d_0").stdout
    assert f", from {origin}\n" in run("map", "out0", "--instruction", f"{conv_region(idmap)}:0").stdout
    assert f"  from {origin}\n" in run("explain", "out0", "--node", "node_conv2d_0").stdout
    assert "author: someone" in run("inspect", "net.onnx").stdout
    assert origin in pathlib.Path("out0/report.html").read_text() and origin in pathlib.Path("out0/graph.json").read_text()
    code = pathlib.Path("out2host/net.c").read_text()
    assert f"/* from {origin}" in code
    symbol = next(f for f in json.loads(pathlib.Path("out2host/idmap.json").read_text())["host_functions"] if "_Conv" in f["symbol"])
    assert code.splitlines()[symbol["first_line"] - 1].startswith("/* from "), "its lines begin with the comment"


def conv_region(idmap):
    return next(i["region"] for i in idmap["instructions"] if i["section"] == "main" and i["begin"] == 0)


def check_profile():
    profile = json.loads(run("profile", "out0", "--by", "module", "--json").stdout)
    placement = json.loads(pathlib.Path("out0/placement.json").read_text())
    rows = {m["module"]: m for m in profile["modules"]}
    assert rows["layer1.conv"]["macs"] == 16 * 16 * 8 * 27 and rows["layer1.conv"]["class"].endswith("Conv2d"), rows
    assert sum(m["macs"] for m in rows.values()) == sum(n["macs"] for n in placement["nodes"])
    assert sum(m["nodes"] for m in rows.values()) == len(placement["nodes"])
    assert sum(m["cycles"] for m in rows.values()) == sum(la["cycles"] for r in profile["regions"] for la in r["layers"]) > 0
    text = run("profile", "out0", "--by", "module").stdout
    assert "layer1.conv (Conv2d)" in text and "(the outermost module) (Net)" in text, text
    short = {m["module"] for m in json.loads(run("profile", "out0", "--by", "module", "--depth", "1", "--json").stdout)["modules"]}
    assert {"layer1", "layer2", "fc", "gate", "scale", ""} >= short >= {"layer1", "layer2"}, short
    run("profile", "out0", "--depth", "1", code=2)


def check_kept():
    """By what writes models: nodes of integers come from nodes of the program too; a bundle is for strangers."""
    for i in range(4):
        os.makedirs(f"data/{i}", exist_ok=True)
        numpy.save(f"data/{i}/x.npy", numpy.random.default_rng(i).normal(0, 1, (1, 3, 16, 16)).astype(numpy.float32))
    run("quantize", "net.onnx", "--data", "data", "-o", "int8.onnx")
    files, _ = compiled("int8.onnx", "int8")
    found, instructions, functions, all_functions = located(files["idmap"])
    print(f"int8: {found} of {instructions} instructions, {functions} of {all_functions} functions")
    assert found == instructions and functions == all_functions
    assert {"model", "graph"} <= {m["of"] for m in files["idmap"]["metadata"]}
    run("reduce", "net.onnx", "--check", f"'{MRVLC}' compile -q {{}} -o reduced --fail-on-fallback", "--match", "Greater", "-o", "small.onnx")
    files, _ = compiled("small.onnx", "small")
    assert [s["location"]["module"] for s in files["idmap"]["sources"] if s["op_type"] == "Greater"] == [""], files["idmap"]["sources"]
    assert files["report"]["model"]["metadata"] == {"author": "someone"}
    run("bundle", "net.onnx", "-o", "bundle.tar.gz")
    subprocess.run(["tar", "xzf", "bundle.tar.gz"], check=True)
    bare = next(pathlib.Path(".").glob("**/model.onnx")).read_bytes()
    assert b"stack_trace" not in bare and b"someone" not in bare and b"graph_signature" not in bare


def relu_chain(count, metadata):
    nodes = [helper.make_node("Relu" if i % 2 else "Neg", [f"v{i}"], [f"v{i + 1}"], f"n{i}") for i in range(count)]
    for node in nodes:
        torch_like.add_metadata(node, torch_like.NODE, metadata)
    value = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [4]) for n in ("v0", f"v{count}")]
    return helper.make_graph(nodes, "g", value[:1], value[1:])


def check_hostile():
    evil = '*/ int x; /* ??/\n\\ <script>alert(1)</script> "\' \x1b[31m \u202e'
    trace = "\n".join(["A" * 1000] * 30000 + [f'File "{evil.splitlines()[0]}", line 7, in f'])
    graph = relu_chain(3, {"pkg.torch.onnx.stack_trace": trace, evil: b"\xff\xfe\x00" + evil.encode(),
                           "namespace": f"{evil}: {evil}/x: y", "pkg.torch.onnx.name_scopes": "['" * 99999,
                           "pkg.torch.onnx.class_hierarchy": "\\"})
    onnx.save(helper.make_model(graph, ir_version=10, opset_imports=[helper.make_opsetid("", 17)]), "evil.onnx")
    files, _ = compiled("evil.onnx", "evil", "--target", "host")
    size = sum(f.stat().st_size for f in pathlib.Path("evil").iterdir())
    print(f"hostile: {pathlib.Path('evil.onnx').stat().st_size} B of model, {size} B written")
    assert size < 4 << 20
    for s in files["idmap"]["sources"]:
        assert s["location"]["line"] == 7 and "bytes left out" in s["metadata"]["pkg.torch.onnx.stack_trace"]
    code = pathlib.Path("evil/evil.c").read_bytes()
    assert code.count(b"/* from * / int x; / * ? ?/:7 in [") == 1, "it is a comment still"
    assert all(32 <= b < 127 or b == 10 for b in code)
    subprocess.run(["gcc", *STRICT, "-Wcomment", "-Wtrigraphs", "-Ievil", "evil/evil.c"], check=True)
    for command in (("map", "evil", "--node", "n1"), ("explain", "evil", "--node", "n1"), ("profile", "evil", "--by", "module"), ("inspect", "evil.onnx")):
        out = run(*command).stdout
        assert "\x1b" not in out and "\u202e" not in out, command
    assert "<script>alert" not in pathlib.Path("evil/report.html").read_text()


def check_many():
    """What many nodes, or a function that is called often, repeat: a file holds some of it, locations all of it."""
    body = [helper.make_node("Neg", ["x"], ["y"])]
    torch_like.add_metadata(body[0], torch_like.NODE, torch_like.torch_metadata([("", "M")], "neg" * 20000, "t", 3))
    function = helper.make_function("f", "F", ["x"], ["y"], body, [helper.make_opsetid("", 17)])
    nodes = [helper.make_node("F", [f"v{i}"], [f"v{i + 1}"], f"call{i}", domain="f") for i in range(600)]
    value = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [4]) for n in ("v0", "v600")]
    model = helper.make_model(helper.make_graph(nodes, "g", value[:1], value[1:]), ir_version=10, functions=[function],
                              opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("f", 1)])
    onnx.save(model, "many.onnx")
    files, stderr = compiled("many.onnx", "many", "--target", "host")
    inner = [s for s in files["idmap"]["sources"] if ":F/" in s["id"]]
    listed = sum("metadata" in s for s in inner)
    print(f"many: metadata of {listed} of {len(inner)} nodes, {pathlib.Path('many/idmap.json').stat().st_size} B")
    assert "MRV0152" in stderr and len(inner) == 600 and 0 < listed < 600
    assert all(s["location"]["line"] == 3 for s in inner)
    assert pathlib.Path("many/idmap.json").stat().st_size < 100 << 20


def check_taken_apart():
    """Operators of com.microsoft count as the nodes that they are in the file, with their multiplications."""
    rng = numpy.random.default_rng(2)
    nodes, constants, last = [], [], "x"
    for i in range(5):
        b = rng.integers(0, 256, (64, 2, 16)).astype(numpy.uint8)
        constants += [numpy_helper.from_array(b, f"b{i}"), numpy_helper.from_array(rng.random((128,)).astype(numpy.float32), f"s{i}")]
        nodes.append(helper.make_node("MatMulNBits", [last, f"b{i}", f"s{i}"], [f"m{i}"], f"mm{i}", domain="com.microsoft",
                                      K=64, N=64, bits=4, block_size=32))
        nodes.append(helper.make_node("Gelu", [f"m{i}"], [f"g{i}"], f"gelu{i}", domain="com.microsoft"))
        last = f"g{i}"
        for node, name in ((nodes[-2], "matmul"), (nodes[-1], "gelu")):
            torch_like.add_metadata(node, torch_like.NODE, torch_like.torch_metadata([("", "M"), (f"layer{i}", "L")], name, "t", 20 + i))
    value = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [1, 64]) for n in ("x", last)]
    model = helper.make_model(helper.make_graph(nodes, "g", value[:1], value[1:], constants), ir_version=10,
                              opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)])
    onnx.save(model, "nbits.onnx")
    text = run("inspect", "nbits.onnx").stdout
    assert "10 ONNX nodes, 10 operators" in text and " Gelu:5 com.microsoft.MatMulNBits:5" in text, text
    assert text.count(f"{64 * 64} MACs") == 5 and f"{5 * 64 * 64} MACs" in text
    for options in ((), ("--target", "host")):
        files, stderr = compiled("nbits.onnx", f"nbits{len(options)}", *options)
        assert sum(s.get("host_nodes", 0) for s in files["report"]["partition"]["steps"]) <= 10, files["report"]["partition"]
        assert files["report"]["placement"]["onnx_nodes"] == 10 and files["report"]["placement"]["macs"] == 5 * 64 * 64
        nodes = files["placement"]["nodes"]
        assert [n["macs"] for n in nodes] == [64 * 64, 0] * 5, nodes
        assert {n["op_type"] for n in nodes} == {"MatMulNBits", "Gelu"} and len(nodes) == 10
        for text in (stderr, pathlib.Path(f"nbits{len(options)}/report.txt").read_text()):
            for count in re.findall(r"(\d+) ONNX nodes", text):
                assert int(count) == 10, text
        found, instructions, functions, all_functions = located(files["idmap"])
        assert found == instructions and functions == all_functions
    rows = {m["module"]: m for m in json.loads(run("profile", "nbits2", "--by", "module", "--json").stdout)["modules"]}
    assert rows["layer3"]["nodes"] == 2 and rows["layer3"]["macs"] == 64 * 64


MRVLC, WORK = pathlib.Path(sys.argv[1]).absolute(), pathlib.Path(sys.argv[2])
shutil.rmtree(WORK, ignore_errors=True)
WORK.mkdir(parents=True)
os.chdir(WORK)
onnx.save(torch_like.Net().model(), "net.onnx")
check_bar()
check_map()
check_profile()
check_kept()
check_hostile()
check_many()
check_taken_apart()
print("all lead to their lines")
