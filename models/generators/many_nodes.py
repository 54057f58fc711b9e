#!/usr/bin/python3
"""Writes a model of very many cheap nodes, to see what a node costs the compiler: many_nodes.py KIND NODES -o FILE

Values are vectors of 16 floats, names those an exporter would give. KIND says what the nodes are:

  chain   element-wise functions and sums with constants, one after the other
  wide    branches of ten element-wise nodes that all read the input, added up in pairs
  cpu     as chain, of operators that run on the CPU alone, each a function of its own
  layers  small products of matrices with an activation each, sixteen sets of weights shared by all
"""

import argparse
import sys

from build import IR_VERSION, TensorProto, helper, np, onnx

WIDTH, OPSET = 16, 17
KEEPS = ("Sigmoid", "Neg", "Tanh", "Softplus", "Softsign")  # no two of them, one behind the other, are simplified


class Model:
    def __init__(self, nodes):
        self.graph = onnx.GraphProto(name="many")
        self.wanted = nodes
        self.rng = np.random.Generator(np.random.PCG64(nodes))

    def left(self):
        return self.wanted - len(self.graph.node)

    def node(self, op, inputs):
        i = len(self.graph.node)
        name = f"/encoder/stages.{i // 1000}/blocks.{i // 20 % 50}/{op}_{i}"
        self.graph.node.add(op_type=op, name=name, input=inputs, output=[name + "_output_0"])
        return self.graph.node[i].output[0]

    def constant(self, name, values):
        values = np.asarray(values, np.float32)
        self.graph.initializer.add(name=name, data_type=TensorProto.FLOAT, dims=values.shape, raw_data=values.tobytes())
        return name

    def function(self, x, i):
        """The i-th element-wise node: every sixth adds a constant."""
        if i % 6 == 5:
            return self.node("Add", [x, "offset"])
        return self.node(KEEPS[i % 6], [x])


def chain(m):
    x = "x"
    for i in range(m.wanted):
        x = m.function(x, i)


def wide(m):
    ends = []
    while m.left() >= len(ends) + 11:
        # A constant of its own, else the branches would be found to be the same.
        x = m.node("Mul", ["x", m.constant(f"scale_{len(ends)}", [1 + len(ends) / m.wanted])])
        for i in range(9):
            x = m.function(x, i + len(ends))
        ends.append(x)
    while len(ends) > 1:
        ends = [m.node("Add", pair) if len(pair) == 2 else pair[0] for pair in (ends[i:i + 2] for i in range(0, len(ends), 2))]
    x = ends[0]
    while m.left() > 0:
        x = m.function(x, m.left())


def cpu(m):
    m.graph.initializer.add(name="axis", data_type=TensorProto.INT64, dims=(), raw_data=np.int64(1).tobytes())
    x = "x"
    for _ in range(m.wanted):
        x = m.node("CumSum", [x, "axis"])


def layers(m):
    weights = [m.constant(f"weights_{i}", m.rng.standard_normal((WIDTH, WIDTH)) / 4) for i in range(16)]
    x = "x"
    for i in range(m.wanted):
        x = m.node("MatMul", [x, weights[i // 2 % 16]]) if i % 2 == 0 else m.node("Tanh", [x])


KINDS = {f.__name__: f for f in (chain, wide, cpu, layers)}


def make(kind, nodes):
    m = Model(nodes)
    if kind in ("chain", "wide"):
        m.constant("offset", m.rng.standard_normal(WIDTH))
    KINDS[kind](m)
    m.graph.node[-1].output[0] = "y"
    m.graph.input.append(helper.make_tensor_value_info("x", TensorProto.FLOAT, (1, WIDTH)))
    m.graph.output.append(helper.make_tensor_value_info("y", TensorProto.FLOAT, (1, WIDTH)))
    return helper.make_model(m.graph, producer_name="mrvlc-models", ir_version=IR_VERSION[OPSET],
                             opset_imports=[helper.make_opsetid("", OPSET)])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", choices=list(KINDS), metavar="KIND")
    parser.add_argument("nodes", type=int, metavar="NODES")
    parser.add_argument("-o", "--output", required=True, metavar="FILE")
    args = parser.parse_args()
    if not 100 <= args.nodes <= 4_000_000:
        parser.error("NODES must be between 100 and 4000000")
    try:
        with open(args.output, "wb") as file:
            file.write(make(args.kind, args.nodes).SerializeToString(deterministic=True))
    except OSError as error:
        print(f"many_nodes: {error}", file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
