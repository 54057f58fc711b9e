"""Random networks with states, each operator with what it computes in numpy. Numbers are small integers and halves,
so that every sum is exact and results can be compared bit for bit."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

ROWS, COLUMNS = 6, 4


class Graph:
    """Nodes, and `steps`: functions that add a node's result to a dictionary of values."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.nodes, self.constants, self.steps = [], [], []
        self.inputs, self.outputs, self.pairs = {}, {}, []
        self.types, self.named = {}, {}

    def constant(self, value):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(value), name))
        self.steps.append(lambda v: v.__setitem__(name, np.asarray(value)))
        return name

    def input(self, name, shape, kind=np.float32):
        self.inputs[name] = (shape, kind)
        return name

    def node(self, op, inputs, compute, **attributes):
        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, [self.named.get(i, i) for i in inputs], [name], name=f"{op}_{len(self.nodes)}", **attributes))
        self.steps.append(lambda v: v.__setitem__(name, compute(*[v[i] for i in inputs if i])))
        return name

    def output(self, value, shape, name=None):
        """A graph output has a name of its own: the node that makes `value` is told, or Identity makes a copy."""
        name = name or f"y{len(self.outputs)}"
        maker = next((n for n in self.nodes if value in n.output), None)
        if maker is not None and not any(value in n.input for n in self.nodes) and value not in self.outputs.values():
            maker.output[0] = self.named[value] = name
        else:
            self.nodes.append(helper.make_node("Identity", [self.named.get(value, value)], [name], name=f"copy_{name}"))
        self.outputs[name] = value
        self.types[name] = shape
        return name

    def model(self):
        kinds = {np.float32: TensorProto.FLOAT, np.int64: TensorProto.INT64}
        ins = [helper.make_tensor_value_info(n, kinds[k], s) for n, (s, k) in self.inputs.items()]
        outs = [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in self.types.items()]
        graph = helper.make_graph(self.nodes, "g", ins, outs, self.constants)
        opsets = [helper.make_opsetid("", 24 if any(n.op_type == "TensorScatter" for n in self.nodes) else 18)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=8)

    def run(self, inputs):
        values = dict(inputs)
        for step in self.steps:
            step(values)
        return {name: np.ascontiguousarray(values[v]) for name, v in self.outputs.items()}


def scatter_rows(x, places, updates, how):
    result = x.copy()
    for place, row in zip(places[:, 0], updates):
        result[place] = row if how == "none" else result[place] + row if how == "add" else np.maximum(result[place], row)
    return result


def add_scatter(g, past, x):
    how = str(g.random.choice(["none", "add", "max"]))
    if g.random.random() < 0.5:
        places = g.input(f"at{len(g.inputs)}", [1, 1], np.int64)
    else:
        places = g.constant(np.array([[int(g.random.integers(ROWS))]], np.int64))
    return g.node("ScatterND", [past, places, x], lambda p, i, u: scatter_rows(p, i, u, how), reduction=how)


def add_elements(g, past, x):
    places = g.constant(g.random.integers(0, ROWS, [1, COLUMNS]))

    def compute(p, i, u):
        result = p.copy()
        np.put_along_axis(result, i, u, 0)
        return result

    return g.node("ScatterElements", [past, places, x], compute, axis=0)


def add_cache(g, past, x):
    """TensorScatter takes a batch in front: the rows are the batch, the columns the cache."""
    column = g.node("Slice", [x, g.constant(np.array([0])), g.constant(np.array([1])), g.constant(np.array([1]))], lambda v, *_: v[:, :1])
    rows = g.node("Expand", [column, g.constant(np.array([ROWS, 1]))], lambda v, s: np.broadcast_to(v, s))
    cube = g.node("Unsqueeze", [rows, g.constant(np.array([2]))], lambda v, _: v[..., None])
    old = g.node("Unsqueeze", [past, g.constant(np.array([2]))], lambda v, _: v[..., None])
    places = g.constant(g.random.integers(0, COLUMNS, [ROWS]))

    def compute(p, u, at):
        result = p.copy()
        result[np.arange(ROWS), at] = u[:, 0]
        return result

    new = g.node("TensorScatter", [old, cube, places], compute, axis=1, mode=str(g.random.choice(["linear", "circular"])))
    return g.node("Squeeze", [new, g.constant(np.array([2]))], lambda v, _: v[..., 0])


def add_shift(g, past, x):
    first, last, axis = (g.constant(np.array([n])) for n in (1, ROWS, 0))
    rest = g.node("Slice", [past, first, last, axis], lambda v, *_: v[1:])
    return g.node("Concat", [rest, x], lambda a, b: np.concatenate([a, b]), axis=0)


def add_decay(g, past, x):
    half = g.node("Mul", [past, g.constant(np.float32(0.5))], np.multiply)
    return g.node("Add", [half, x], np.add)


def add_matrix(g, past, x):
    """Every result reads all of a row."""
    weights = g.constant(g.random.integers(-1, 2, [COLUMNS, COLUMNS]).astype(np.float32))
    product = g.node("MatMul", [past, weights], np.matmul)
    return g.node("Clip", [product, g.constant(np.float32(-8)), g.constant(np.float32(8))], np.clip)


def add_reshaped(g, past, x):
    flat = g.node("Reshape", [past, g.constant(np.array([ROWS * COLUMNS]))], lambda v, s: v.reshape(s))
    places = g.constant(g.random.integers(0, ROWS * COLUMNS, [3]))
    value = g.constant(g.random.integers(-4, 5, [3]).astype(np.float32))

    def compute(p, i, u):
        result = p.copy()
        for place, v in zip(i, u):
            result[place] = v
        return result

    new = g.node("ScatterElements", [flat, places, value], compute, axis=0)
    return g.node("Reshape", [new, g.constant(np.array([ROWS, COLUMNS]))], lambda v, s: v.reshape(s))


def add_twice(g, past, x):
    return add_scatter(g, add_scatter(g, past, x), x)


def add_other(g, past, x):
    """Updates that come from the state itself."""
    row = g.node("Slice", [past, g.constant(np.array([ROWS - 1])), g.constant(np.array([ROWS])), g.constant(np.array([0]))], lambda v, *_: v[-1:])
    return add_scatter(g, past, row)


def add_self(g, past, x):
    """The state's own rows in another order."""
    places = g.constant(np.stack([g.random.permutation(ROWS) for _ in range(COLUMNS)], axis=1))

    def compute(p, i, u):
        result = p.copy()
        np.put_along_axis(result, i, u, 0)
        return result

    return g.node("ScatterElements", [past, places, past], compute, axis=0)


UPDATES = [add_scatter, add_elements, add_cache, add_shift, add_decay, add_matrix, add_reshaped, add_twice, add_other, add_self]


def random_graph(seed):
    g = Graph(seed)
    x = g.input("x", [1, COLUMNS])
    count = int(g.random.integers(1, 4))
    pasts = [g.input(f"past_{i}", [ROWS, COLUMNS]) for i in range(count)]
    presents = [UPDATES[int(g.random.integers(len(UPDATES)))](g, p, x) for p in pasts]
    kind = g.random.random()
    if kind < 0.15 and count > 1:  # two states change places
        presents[0], presents[1] = pasts[1], pasts[0]
    elif kind < 0.25:  # one that nothing changes
        presents[0] = pasts[0]
    elif kind < 0.35 and count > 1:  # one value for two
        presents[1] = presents[0]
    total = [ROWS, COLUMNS]
    for i in range(count):
        # What reads the past, or what has become of it, in front of or behind the update.
        how = g.random.random()
        if how < 0.3:
            g.output(g.node("Add", [pasts[i], x], np.add), total)
        elif how < 0.6:
            g.output(g.node("Mul", [presents[i], x], np.multiply), total)
        elif how < 0.8:
            g.output(g.node("Sub", [presents[i], pasts[i]], np.subtract), total)
        elif how < 0.9:
            g.output(pasts[i], total)
    for i in range(count):
        g.pairs.append((pasts[i], g.output(presents[i], total, f"present_{i}")))
    return g
