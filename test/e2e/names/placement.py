#!/usr/bin/python3
"""Usage: placement.py MRVLC WORK

A placement.json that is given back: for the same model, for one whose nodes have moved, for one that lacks a node, and with members
changed that nothing reads. Then tens of thousands of constraints, which take time in proportion.
"""
import json
import pathlib
import resource
import shutil
import subprocess
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

MRVLC, WORK = pathlib.Path(sys.argv[1]).absolute(), pathlib.Path(sys.argv[2]).absolute()


def compiled(model, out, *more, code=0):
    done = subprocess.run([str(MRVLC), "compile", str(model), "-o", str(WORK / out), *map(str, more)], capture_output=True, text=True, timeout=100)
    assert done.returncode == code, f"{more}: {done.returncode}: {done.stderr}"
    return done.stderr


def network(file, layers, scale=1.0):
    """Convolutions, each with a Sigmoid, in the order of `layers`."""
    nodes, weights = [], []
    for i, name in enumerate(layers):
        weights.append(numpy_helper.from_array(np.full((4, 4, 1, 1), scale / 4, np.float32), f"w{name}"))
        nodes.append(helper.make_node("Conv", ["x" if i == 0 else f"t{i}", f"w{name}"], [f"c{i}"], kernel_shape=[1, 1], name=f"conv_{name}"))
        nodes.append(helper.make_node("Sigmoid", [f"c{i}"], [f"t{i + 1}"], name=f"act_{name}"))
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 4, 8, 8])],
                              [helper.make_tensor_value_info(f"t{len(layers)}", TensorProto.FLOAT, None)], weights)
    onnx.save(helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)]), file)
    return file


def place(name, document):
    (WORK / name).write_text(json.dumps(document))
    return "--placement", WORK / name


def wheres(out):
    return {n["name"]: n["where"] for n in json.loads((WORK / out / "placement.json").read_text())["nodes"]}


def given_back():
    model = network(WORK / "net.onnx", "abc")
    said = compiled(model, "first")
    file = json.loads((WORK / "first/placement.json").read_text())
    manifest = json.loads((WORK / "first/manifest.json").read_text())
    assert file["model"]["sha256"] == manifest["model"]["sha256"]
    # Unchanged: nothing is said, and the bytes are the same.
    again = compiled(model, "again", *place("same.json", file))
    assert again == said and "MRV107" not in again, again
    for name in "placement.json", "net.c", "idmap.json":
        assert (WORK / "again" / name).read_bytes() == (WORK / "first" / name).read_bytes(), name
    # `where` is read.
    edited = json.loads(json.dumps(file))
    node = next(n for n in edited["nodes"] if n["name"] == "conv_b")
    node["where"] = "cpu"
    assert "MRV107" not in compiled(model, "moved", *place("edited.json", edited))
    assert wheres("moved")["conv_b"] == "cpu" and wheres("first")["conv_b"] == "accelerator"
    # Other weights: said, and applied.
    other = network(WORK / "other.onnx", "abc", 2.0)
    text = compiled(other, "other", *place("edited.json", edited))
    assert "MRV1070" in text and "MRV1071" not in text and wheres("other")["conv_b"] == "cpu", text
    # A node more in front: ids are other ones; names and operators tell which was meant.
    longer = network(WORK / "longer.onnx", "nabc")
    text = compiled(longer, "longer", *place("edited.json", edited))
    assert "MRV1070" in text and "MRV1071" in text and "6 of its nodes" in text, text
    assert wheres("longer")["conv_b"] == "cpu" and wheres("longer")["conv_a"] == "accelerator", wheres("longer")
    # A node less, another operator, a node twice: refused, with the node's name.
    shorter = network(WORK / "shorter.onnx", "ac")
    text = compiled(shorter, "shorter", *place("edited.json", edited), code=2)
    assert "MRV0413" in text and "conv_b" in text, text
    for change in {"op_type": "MaxPool"}, {"name": "unknown"}, {"id": "main/77", "name": ""}:
        wrong = json.loads(json.dumps(edited))
        wrong["nodes"][2].update(change)
        text = compiled(model, "wrong", *place("wrong.json", wrong), code=2)
        assert "MRV0413" in text and (change.get("id", "") or "conv_b" if "op_type" in change else True), text
    twice = {**edited, "nodes": edited["nodes"] + edited["nodes"][:1]}
    assert "twice" in compiled(model, "wrong", *place("wrong.json", twice), code=2)
    # Nodes without name and operator, as people write them, are found by id.
    by_id = {"nodes": [{"id": n["id"], "where": n["where"]} for n in edited["nodes"]]}
    assert "MRV107" not in compiled(model, "by_id", *place("by_id.json", by_id)) and wheres("by_id")["conv_b"] == "cpu"


def in_vain():
    """Members that report what came about."""
    model = WORK / "net.onnx"
    file = json.loads((WORK / "first/placement.json").read_text())
    for change, member, named in (
            (lambda f: f["nodes"][2].update(rule="mine"), "'rule' of 'conv_b'", "conv_b"),
            (lambda f: f["nodes"][2].update(call="f"), "'call' of 'conv_b'", "conv_b"),
            (lambda f: f.update(target="host"), "'target' (host)", "--target"),
            (lambda f: f.update(precisions=[{"region": 0, "value": "c0", "precision": "pair"}]), "'precisions' of 'c0'", "--precision"),
            (lambda f: f["ranges"][0].update(stored="fp32"), "'ranges' of", "--precision")):
        changed = json.loads(json.dumps(file))
        try:
            change(changed)
        except KeyError:
            continue  # this model has no such list
        text = compiled(model, "vain", *place("vain.json", changed))
        assert "MRV1072" in text and member in text and named in text, (member, text)
        assert (WORK / "vain/net.c").read_bytes() == (WORK / "first/net.c").read_bytes()


def many():
    """By names, ids and tensors; a chain of as many nodes."""
    n = 20000
    nodes = [helper.make_node("Relu" if i % 2 else "Sigmoid", [f"t{i}"], [f"t{i + 1}"], name=f"node_{i}") for i in range(n)]
    graph = helper.make_graph(nodes, "g", [helper.make_tensor_value_info("t0", TensorProto.FLOAT, [1, 8])],
                              [helper.make_tensor_value_info(f"t{n}", TensorProto.FLOAT, [1, 8])])
    model = WORK / "chain.onnx"
    onnx.save(helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)]), model)

    def seconds(*more):
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        compiled(model, "chain", "-q", *more)
        return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before

    plain = seconds()
    for selector in "node_{}", "tensor:t{}", "id:main/{}":
        constraints = [{"nodes": [selector.format(i + 1)], "on": "cpu"} for i in range(n - 1)]
        took = seconds(*place("many.json", {"constraints": constraints}))
        # By the square this takes more than a minute.
        assert took < 4 * plain + 3, f"{selector}: {took} s, {plain} s without"


def main():
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)
    given_back()
    in_vain()
    many()


main()
