#!/usr/bin/python3
"""Writes the models of graph_test.py: if_model.py IF.onnx BRANCHES.onnx

An If with two branches, and a network of a thousand nodes: blocks of three branches that are added up, each block with a name.
"""
import sys

import onnx
from onnx import TensorProto, helper


def value(name):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 16])


def write(graph, path):
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


def branching():
    branches = {f"{name}_branch": helper.make_graph([helper.make_node(op, ["x"], [f"{name}_out"], name=f"{name}_{op}")], name, [], [value(f"{name}_out")])
                for name, op in (("then", "Sigmoid"), ("else", "Tanh"))}
    condition = helper.make_tensor_value_info("condition", TensorProto.BOOL, [])
    return helper.make_graph([helper.make_node("If", ["condition"], ["y"], name="choose", **branches)], "branching", [value("x"), condition], [value("y")])


def large():
    nodes, last = [], "x"
    for block in range(200):
        for i, op in enumerate(("Sigmoid", "Tanh", "Neg")):
            nodes.append(helper.make_node(op, [last], [f"b{block}_{i}"], name=f"block{block}/branch{i}"))
        nodes.append(helper.make_node("Add", [f"b{block}_0", f"b{block}_1"], [f"b{block}_s"], name=f"block{block}/sum"))
        nodes.append(helper.make_node("Mul", [f"b{block}_s", f"b{block}_2"], [f"b{block}"], name=f"block{block}/out"))
        last = f"b{block}"
    return helper.make_graph(nodes, "large", [value("x")], [value(last)])


write(branching(), sys.argv[1])
write(large(), sys.argv[2])
