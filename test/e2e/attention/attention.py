#!/usr/bin/python3
"""usage: attention.py MRVLC WORK [--count N] [--seed N]

Attention against numpy in double: drawn networks that write it out (products, scales, masks, Softmax, operands that are
transposed or shared), and drawn Attention operators (heads that share keys, causal, soft caps, a past, masks that are
constants or not). Each runs on the host; every third also on an accelerator whose chip holds few of the scores. WORK is
emptied first."""

import argparse
import json
import pathlib
import shutil
import subprocess

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

SMALL = {"name": "small", "description": "little memory", "extends": "cn10ka", "fields": {"ocm_bytes": {"value": 65536, "source": "assumed", "note": "few scores"}}}


class Graph:
    def __init__(self, random):
        self.random, self.nodes, self.constants, self.feeds, self.wanted = random, [], [], {}, {}

    def pick(self, low, high):
        return int(self.random.integers(low, high + 1))

    def chance(self, share):
        return self.random.random() < share

    def draw(self, shape, low=-2, high=2):
        return self.random.uniform(low, high, shape).astype(np.float32)

    def input(self, name, array):
        self.feeds[name] = array
        return name

    def constant(self, name, array):
        self.constants.append(numpy_helper.from_array(array, name))
        return name

    def add(self, op, inputs, outputs, **attributes):
        self.nodes.append(helper.make_node(op, inputs, outputs, **attributes))
        return outputs[0]

    def save(self, path):
        kind = {np.dtype(np.float32): TensorProto.FLOAT, np.dtype(bool): TensorProto.BOOL, np.dtype(np.int64): TensorProto.INT64}
        inputs = [helper.make_tensor_value_info(n, kind[a.dtype], a.shape) for n, a in self.feeds.items()]
        outputs = [helper.make_tensor_value_info(n, TensorProto.FLOAT, a.shape) for n, a in self.wanted.items()]
        graph = helper.make_graph(self.nodes, "g", inputs, outputs, self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 24)])
        model.ir_version = 10
        onnx.save(model, str(path))


def softmax(scores, kept=None):
    """`kept`: rows of which something is; others become 0."""
    with np.errstate(all="ignore"):
        powers = np.exp(scores - scores.max(-1, keepdims=True))
        result = powers / powers.sum(-1, keepdims=True)
    return result if kept is None else np.where(kept, result, 0.0)


def operand(g, name, shape):
    """A value of that shape: an input, or one that is transposed."""
    order = list(range(len(shape)))
    if g.chance(0.3):
        g.input(name, g.draw(shape))
        return g.feeds[name].astype(np.float64)
    if g.chance(0.5):
        order[-2:] = order[:-3:-1]
    else:
        order = [int(d) for d in g.random.permutation(len(shape))]
    source = [0] * len(shape)
    for d, of in enumerate(order):
        source[of] = shape[d]
    g.input(f"{name}_source", g.draw(source))
    g.add("Transpose", [f"{name}_source"], [name], perm=order)
    return g.feeds[f"{name}_source"].transpose(order).astype(np.float64)


def step_between(g, at, scores):
    """What is done to scores in front of the Softmax: their name and values behind it."""
    before, name = f"s{at}", f"s{at + 1}"
    kind = g.pick(0, 5)
    if kind < 2:
        scale = np.float32(g.random.uniform(0.2, 3))
        g.add(("Mul", "Div")[kind], [before, g.constant(f"c{at}", scale)], [name])
        return scores * np.float64(scale) if kind == 0 else scores / np.float64(scale)
    if kind == 2:
        g.add("Relu", [before], [name])
        return np.maximum(scores, 0)
    shape = [d if g.chance(0.5) else 1 for d in scores.shape][g.pick(0, scores.ndim - 1):]
    mask = g.draw(shape)
    if g.chance(0.5):
        mask[g.random.random(shape) < 0.2] = g.random.choice([-np.inf, -128])
    other = (g.constant if g.chance(0.3) else g.input)(f"m{at}", mask)
    g.add("Add", [before, other] if g.chance(0.5) else [other, before], [name])
    return scores + mask


def written_out(g):
    lead = [g.pick(1, 3) for _ in range(g.pick(1, 2))]
    rows, keys, depth, width = g.pick(1, 70), g.pick(1, 80), g.pick(1, 40), g.pick(1, 40)
    shared = lambda: [d if g.chance(0.8) else 1 for d in lead]
    q, k, v = operand(g, "q", lead + [rows, depth]), operand(g, "k", shared() + [depth, keys]), operand(g, "v", shared() + [keys, width])
    g.add("MatMul", ["q", "k"], ["s0"])
    scores, steps = q @ k, g.pick(0, 3)
    for at in range(steps):
        scores = step_between(g, at, scores)
    g.add("Softmax", [f"s{steps}"], ["p"], axis=-1)
    g.add("MatMul", ["p", "v"], ["y"])
    g.wanted["y"] = softmax(scores) @ v
    if g.chance(0.15):
        g.wanted["p"] = softmax(scores)


def drawn_mask(g, shape, total):
    """The mask, and what it adds to scores; a shorter one masks what it does not reach."""
    shape = [d if g.chance(0.5) else 1 for d in shape] + [total]
    if g.chance(0.3) and total > 2:
        shape[-1] = g.pick(2, total - 1)
    if g.chance(0.4):
        shape = shape[2:]
    if g.chance(0.5):
        mask = g.random.random(shape) < 0.7
        bias = np.where(mask, 0.0, -np.inf)
    else:
        mask = g.draw(shape, -1, 1)
        mask[g.random.random(shape) < 0.2] = -np.inf
        bias = mask.astype(np.float64)
    return mask, np.concatenate([bias, np.full(bias.shape[:-1] + (total - shape[-1],), -np.inf)], -1)


def operator(g):
    batch, key_heads, sharing = g.pick(1, 3), g.pick(1, 3), g.pick(1, 3)
    heads, rows, fresh, depth, width = key_heads * sharing, g.pick(1, 30), g.pick(1, 40), g.pick(1, 20), g.pick(1, 20)
    past = g.pick(1, 9) if g.chance(0.3) else 0
    total, packed, cap = past + fresh, g.chance(0.5), float(g.random.uniform(0.5, 3)) if g.chance(0.3) else 0.0
    pack = lambda a: a.transpose(0, 2, 1, 3).reshape(a.shape[0], a.shape[2], -1) if packed else a
    q, k, v = g.draw((batch, heads, rows, depth)), g.draw((batch, key_heads, fresh, depth)), g.draw((batch, key_heads, fresh, width))
    inputs = [g.input("q", pack(q)), g.input("k", pack(k)), g.input("v", pack(v))]
    bias = np.zeros((batch, heads, rows, total))
    if g.chance(0.7):
        mask, added = drawn_mask(g, (batch, heads, rows), total)
        bias = bias + added
        inputs.append((g.constant if g.chance(0.8) else g.input)("mask", mask))
    elif past:
        inputs.append("")
    behind = np.full(batch, past)  # the key of the first query, for the causal part
    if not past and g.chance(0.3):
        lengths = g.random.integers(0, total + 1, batch)
        inputs += [""] * (6 - len(inputs)) + [g.input("lengths", lengths)]
        bias = np.where(np.arange(total) >= lengths[:, None, None, None], -np.inf, bias)
        behind = lengths - rows
    if past:
        old = g.draw((batch, key_heads, past, depth)), g.draw((batch, key_heads, past, width))
        inputs += [g.input("past_k", old[0]), g.input("past_v", old[1])]
        k, v = np.concatenate([old[0], k], 2), np.concatenate([old[1], v], 2)
    attributes = {"q_num_heads": heads, "kv_num_heads": key_heads} if packed else {}
    if g.chance(0.4):
        attributes["is_causal"] = 1
        bias = np.where(np.arange(total) > np.arange(rows)[:, None] + behind[:, None, None, None], -np.inf, bias)
    if cap:
        attributes["softcap"] = cap
    all_k, all_v = k.astype(np.float64), v.astype(np.float64)
    scores = np.einsum("bhld,bhnd->bhln", q.astype(np.float64), all_k.repeat(sharing, 1)) / np.sqrt(depth)
    scores = (cap * np.tanh(scores / cap) if cap else scores) + bias
    weights = softmax(scores, (bias != -np.inf).any(-1, keepdims=True))
    g.wanted["y"] = pack(np.einsum("bhln,bhnd->bhld", weights, all_v.repeat(sharing, 1)))
    if past or g.chance(0.3):
        g.wanted |= {"all_k": all_k, "all_v": all_v}
    g.add("Attention", inputs, list(g.wanted), **attributes)


def run(*command):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    assert done.returncode == 0, f"{command}: {done.returncode}\n{done.stdout}\n{done.stderr}"


def compare(name, got, wanted, tolerance):
    finite = np.isfinite(wanted)
    error = np.abs(got - wanted)[finite].max(initial=0) / max(1, np.abs(wanted[finite]).max(initial=0))
    assert got.shape == wanted.shape and (np.isnan(got) == np.isnan(wanted)).all() and error < tolerance, f"{name}: {error}"


def check(folder, g, target, tolerance):
    """Returns the C."""
    targets = "host" if target == "host" else f"{target},host"
    run(MRVLC, "compile", folder / "m.onnx", "-o", folder / target, "--name", "m", "--no-probe", "--target", targets, "--target-dir", WORK)
    inputs = [w for name in g.feeds for w in ("--input", f"{name}={folder / name}.npy")]
    run(MRVLC, "run", folder / target, *inputs, "--output-dir", folder / f"{target}_out")
    for name, wanted in g.wanted.items():
        got = np.load(folder / f"{target}_out" / f"{name}.npy").astype(np.float64)
        compare(f"{folder}: {target}: {name}", got, wanted, tolerance)
    return (folder / target / "m.c").read_text()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("mrvlc")
    parser.add_argument("work", type=pathlib.Path)
    parser.add_argument("--count", type=int, default=14)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    global MRVLC, WORK
    MRVLC, WORK = options.mrvlc, options.work
    shutil.rmtree(WORK, ignore_errors=True)
    (WORK / "small").mkdir(parents=True)
    (WORK / "small" / "target.json").write_text(json.dumps(SMALL))
    together = 0
    for seed in range(options.seed, options.seed + options.count):
        g, folder = Graph(np.random.default_rng(seed)), WORK / f"{seed}"
        folder.mkdir()
        (written_out if seed % 2 else operator)(g)
        g.save(folder / "m.onnx")
        for name, array in g.feeds.items():
            np.save(folder / f"{name}.npy", array)
        together += "kernel attention" in check(folder, g, "host", 3e-5)
        if seed % 3 == 0 and not any(np.isinf(a).any() for a in g.feeds.values()):
            check(folder, g, "small", 2e-2)
        shutil.rmtree(folder)
    print(f"{options.count} networks, scores kept in a cache in {together}")
    assert together * 4 >= options.count


main()
