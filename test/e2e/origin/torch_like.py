"""usage: torch_like.py MODEL.onnx

A model as PyTorch's exporter writes it: metadata_props on every node, also of an If's branches, and on model, graph and function.
The schema of Debian's onnx is older than these fields: they are appended as bytes, which messages keep.
"""
import sys

import numpy
import onnx
from onnx import TensorProto, helper, numpy_helper

NODE, GRAPH, FUNCTION = 9, 16, 14  # fields of metadata_props


def add_metadata(message, field, entries):
    """Of bytes as of text: what is no UTF-8 is metadata too."""
    raw = b""
    for key, value in entries.items():
        both = b"".join(tag + varint(len(text)) + text for tag, text in ((b"\x0a", to_bytes(key)), (b"\x12", to_bytes(value))))
        raw += varint(field << 3 | 2) + varint(len(both)) + both
    message.MergeFromString(raw)


def to_bytes(text):
    return text if isinstance(text, bytes) else text.encode()


def varint(n):
    out = b""
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def torch_metadata(modules, name, target, line, file="/home/someone/net.py"):
    """`modules`: (name, class) from the outermost one in."""
    return {
        "namespace": "/".join([f"{m}: {c}" for m, c in modules] + [f"{name}: {target}"]),
        "pkg.torch.onnx.class_hierarchy": repr([c for _, c in modules] + [target]),
        "pkg.torch.onnx.fx_node": f"%{name} : [num_users=1] = call_function[target=torch.ops.{target}](args = (%x,), kwargs = {{}})",
        "pkg.torch.onnx.name_scopes": repr([m for m, _ in modules] + [name]),
        "pkg.torch.onnx.stack_trace": f'File "{file}", line {line}, in forward\n    x = self.{name}(x)\n'
                                      'File "/usr/lib/python3/site-packages/torch/nn/modules/module.py", line 1751, in _call_impl\n'
                                      "    return forward_call(*args, **kwargs)",
    }


class Net:
    """Blocks of convolution, batch norm and ReLU with a way around, a branch, a function, a head."""

    def __init__(self):
        self.rng = numpy.random.default_rng(1)
        self.nodes, self.constants, self.line = [], [], 10
        x = self.block("x", "layer1", 3, 8)
        x = self.block(x, "layer2", 8, 8)
        x = self.op("MaxPool", [x], [], "max_pool2d", kernel_shape=[2, 2], strides=[2, 2])
        x = self.branch(x)
        x = self.op("Scaled", [x], [("scale", "net.Scale")], "scaled", domain="pkg.net")
        x = self.op("Sinh", [x], [], "sinh")
        x = self.op("Reshape", [x, self.constant("shape", numpy.array([1, -1]))], [], "flatten")
        x = self.op("Gemm", [x, self.weight("fc.weight", [512, 10]), self.weight("fc.bias", [10])], [("fc", "torch.nn.modules.linear.Linear")], "linear")
        x = self.op("Softmax", [x], [], "softmax", axis=1)
        self.graph = helper.make_graph(self.nodes, "main_graph", [self.value("x", [1, 3, 16, 16])], [self.value(x, [1, 10])], self.constants)
        add_metadata(self.graph, GRAPH, {"pkg.torch.export.ExportedProgram.graph_signature": "inputs: x\noutputs: y"})

    def value(self, name, shape):
        return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)

    def constant(self, name, values):
        self.constants.append(numpy_helper.from_array(values, name))
        return name

    def weight(self, name, shape):
        return self.constant(name, self.rng.normal(0, 0.3, shape).astype(numpy.float32))

    def annotate(self, node, modules, name):
        self.line += 1
        add_metadata(node, NODE, torch_metadata([("", "net.Net"), *modules], name, f"aten.{name}.default", self.line))
        return node

    def op(self, op, inputs, modules, name, **attributes):
        out = f"{name}_{len(self.nodes)}"
        self.nodes.append(self.annotate(helper.make_node(op, inputs, [out], f"node_{out}", **attributes), modules, name))
        return out

    def block(self, x, name, channels, filters):
        outer = (name, "net.Block")
        y = self.op("Conv", [x, self.weight(f"{name}.conv.weight", [filters, channels, 3, 3])],
                    [outer, (f"{name}.conv", "torch.nn.modules.conv.Conv2d")], "conv2d", pads=[1, 1, 1, 1])
        norm = [self.constant(f"{name}.bn.{k}", numpy.full(filters, v, numpy.float32)) for k, v in
                (("weight", 1.5), ("bias", 0.25), ("mean", 0.125), ("var", 2))]
        y = self.op("BatchNormalization", [y, *norm], [outer, (f"{name}.bn", "torch.nn.modules.batchnorm.BatchNorm2d")], "batch_norm")
        if channels == filters:
            y = self.op("Add", [y, x], [outer], "add")
        return self.op("Relu", [y], [outer, (f"{name}.relu", "torch.nn.modules.activation.ReLU")], "relu")

    def branch(self, x):
        mean = self.op("ReduceMean", [x], [], "mean", axes=[0, 1, 2, 3], keepdims=0)
        positive = self.op("Greater", [mean, self.constant("zero", numpy.array(0, numpy.float32))], [], "gt")
        branches = {}
        for name, op in (("then_branch", "Tanh"), ("else_branch", "Sigmoid")):
            node = self.annotate(helper.make_node(op, [x], [f"{name}_out"], f"node_{name}"), [("gate", "net.Gate")], op.lower())
            branches[name] = helper.make_graph([node], name, [], [self.value(f"{name}_out", [1, 8, 8, 8])])
        return self.op("If", [positive], [("gate", "net.Gate")], "cond", **branches)

    def model(self):
        two = helper.make_node("Constant", [], ["two"], value=numpy_helper.from_array(numpy.array(2, numpy.float32)))
        function = helper.make_function("pkg.net", "Scaled", ["x"], ["y"], [two, helper.make_node("Mul", ["x", "two"], ["y"])],
                                        [helper.make_opsetid("", 17)])
        add_metadata(function, FUNCTION, {"pkg.torch.onnx.note": "of a function"})
        model = helper.make_model(self.graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("pkg.net", 1)],
                                  functions=[function], ir_version=10)
        helper.set_model_props(model, {"author": "someone"})
        return model


if __name__ == "__main__":
    onnx.save(Net().model(), sys.argv[1])
