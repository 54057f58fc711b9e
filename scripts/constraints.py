#!/usr/bin/python3
"""Random constraints on the placement of models, each checked by what stands in OUT against the ONNX file.

    scripts/constraints.py build/bin/mrvlc DATA/zoo -n 2000 [--first N] [--seed S] [--models NAME,...] [--verify EVERY]
                           [--back EVERY]

A case is its number: the same one is the same everywhere. It is compiled or refused with a code of placement; what is
compiled must honour every constraint. With --back, placement.json is also given back: as it is, which must give the same
bytes, and edited (nodes moved, regions cut in two or joined), which must come about or be refused. Nothing here is shared with the compiler: nodes are found in the ONNX file.
"""
import argparse
import json
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import onnx

FIXED = {"silero_vad_v5": ["--input-shape", "input=1x512", "--input-shape", "state=2x1x128"]}
REFUSALS = {"MRV0401", "MRV0402", "MRV0403", "MRV0409", "MRV0410", "MRV0411", "MRV0412"}


def glob(pattern, text):
    return re.fullmatch("".join({"*": ".*", "?": "."}.get(c, re.escape(c)) for c in pattern), text, re.S) is not None


class Model:
    def __init__(self, path):
        self.path, self.name = path, path.stem
        graph = onnx.load(str(path), load_external_data=False).graph
        self.nodes = list(graph.node)
        self.ids = [f"main/{i}" for i in range(len(self.nodes))]
        self.maker = {o: i for i, n in enumerate(self.nodes) for o in n.output if o}
        self.constants = {t.name for t in graph.initializer}
        for n in self.nodes:
            if all(not i or i in self.constants for i in n.input) and not n.op_type.startswith("Random"):
                self.constants.update(n.output)

    def named(self, selector):
        kind, _, text = selector.partition(":")
        if kind == "id":
            return {i for i, d in enumerate(self.ids) if glob(text, d)}
        if kind == "tensor":
            found = {i for i, n in enumerate(self.nodes) if any(o and glob(text, o) for o in n.output)}
            return found or {i for i, n in enumerate(self.nodes) if text in n.input}
        return {i for i, n in enumerate(self.nodes)
                if glob(selector, n.name) or glob(selector, n.op_type) or selector == self.ids[i]}

    def producers(self, i):
        return [self.maker[v] for v in self.nodes[i].input if v in self.maker and v not in self.constants]

    def between(self, start, end):
        behind, ahead = set(), set()
        for i, n in enumerate(self.nodes):  # ONNX nodes stand in topological order
            if any(v in start for v in n.input) or any(p in behind for p in self.producers(i)):
                behind.add(i)
        wanted = {self.maker[v] for v in end if v in self.maker}
        for i in reversed(range(len(self.nodes))):
            if i in wanted:
                ahead.add(i)
            if i in ahead:
                wanted.update(self.maker[v] for v in self.nodes[i].input if v in self.maker)
        return behind & ahead


def selector(dice, model):
    i = dice.randrange(len(model.nodes))
    n = model.nodes[i]
    kind = dice.choice(["type", "tensor", "id", "glob", "name"])
    if kind == "type":
        return n.op_type
    if kind == "tensor":
        outputs = [o for o in n.output if o]
        return "tensor:" + dice.choice(outputs or ["none"])
    if kind == "id" or not n.name:
        return "id:" + model.ids[i]
    if kind == "glob":
        cut = max(1, dice.randrange(len(n.name)) if len(n.name) > 1 else 1)
        return n.name[:cut] + "*"
    return n.name


def constraint(dice, model):
    c = {"nodes": [selector(dice, model)]}
    if dice.random() < 0.1:
        a, b = sorted(dice.randrange(len(model.nodes)) for _ in range(2))
        start = [v for v in model.nodes[a].input if v]
        if start:
            c = {"from": [dice.choice(start)], "to": [model.nodes[b].output[0]]}
    what = dice.choice(["cpu", "cpu", "accelerator", "before", "after", "both", "together", "layers", "regions"])
    if what in ("cpu", "accelerator"):
        c["on"] = what
    elif what in ("before", "after", "both"):
        c["border"] = what
    elif what == "together":
        c["together"] = True
    elif what == "layers":
        c["max_layers"] = dice.randint(1, 12)
    else:
        c["max_regions"] = dice.randint(0, 4)
    return c


class Placement:
    def __init__(self, out):
        nodes = json.loads((out / "placement.json").read_text())["nodes"]
        self.where = {n["id"]: n["where"] for n in nodes}
        self.region = {n["id"]: n.get("region") if n["where"] == "accelerator" else None for n in nodes}
        self.layers = [r["layers"] for r in json.loads((out / "report.json").read_text())["regions"]]


def sources(model, p, i):
    """Nodes that node i reads, through those of which nothing is left."""
    out, seen, todo = set(), set(), model.producers(i)
    while todo:
        j = todo.pop()
        if j in seen:
            continue
        seen.add(j)
        if p.where[model.ids[j]] == "folded":
            todo += model.producers(j)
        else:
            out.add(j)
    return out


def broken(model, c, p):
    named = set().union(*(model.named(s) for s in c["nodes"])) if "nodes" in c else model.between(
        c.get("from", []), c.get("to", []))
    where = lambda i: p.where[model.ids[i]]
    region = lambda i: p.region[model.ids[i]]
    # What is computed from constants is a number of the node that reads it, where it is not folded (MRV0406 says so).
    number = lambda i: all(o in model.constants for o in model.nodes[i].output)
    live = [i for i in named if where(i) != "folded" and not number(i)]
    faults = []
    if "on" in c:
        faults += [f"{model.ids[i]} on {where(i)}" for i in live if where(i) != c["on"]]
    border = c.get("border")
    for i in range(len(model.nodes)) if border else []:
        if region(i) is None:
            continue
        for j in sources(model, p, i):
            drawn = (i in named and border in ("before", "both")) or (j in named and border in ("after", "both"))
            # Integers cross: a border behind a DequantizeLinear may stand in front of it.
            ends = sources(model, p, j) if model.nodes[j].op_type == "DequantizeLinear" else {j}
            if drawn and region(j) == region(i) and any(region(k) == region(i) for k in ends):
                faults.append(f"{model.ids[j]} and {model.ids[i]} in one region")
    if c.get("together") and live:
        held = {region(i) for i in live}
        if len(held) > 1 or None in held:
            faults.append(f"regions {held}")
        faults += [f"{model.ids[i]} in the group's region" for i in range(len(model.nodes))
                   if i not in named and not number(i) and region(i) is not None and region(i) in held]
    regions = {region(i) for i in live} - {None}
    if "max_layers" in c:
        faults += [f"region {r} of {p.layers[r]} layers" for r in regions if p.layers[r] > c["max_layers"]]
    if "max_regions" in c and len(regions) > c["max_regions"]:
        faults.append(f"{len(regions)} regions")
    return faults


def evicted(constraints, p, plain):
    """With borders and groups alone, nothing of the accelerator comes to the CPU, but bodies (decisions/0042)."""
    if any("on" in c or "max_regions" in c or "max_layers" in c for c in constraints):
        return []
    return [i for i, w in p.where.items() if w == "cpu" and plain.where[i] == "accelerator" and "." not in i]


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def edited(dice, model, placement):
    """placement.json changed at one place, and what must hold of the result."""
    ran = [n for n in placement["nodes"] if n["where"] == "accelerator"]
    regions = sorted({n["region"] for n in ran})
    what = dice.choice(["move", "cut", "join"])
    if what == "join" and len(regions) > 1:
        a, b = dice.sample(regions, 2)
        for n in ran:
            n["region"] = a if n["region"] == b else n["region"]
        changed = [a]
    elif what == "cut" and ran:
        r = dice.choice(regions)
        members = [n for n in ran if n["region"] == r]
        for n in members[dice.randrange(len(members)):]:
            n["region"] = max(regions) + 1
        changed = [r, max(regions) + 1]
    else:
        live = [n for n in placement["nodes"] if n["where"] != "folded" and n["id"] in model.ids]
        moved = dice.sample(live, min(len(live), dice.randint(1, 3)))
        for n in moved:
            n["where"] = "cpu" if n["where"] == "accelerator" else "accelerator"
            n.pop("region", None)
        return [{"nodes": ["id:" + n["id"]], "on": n["where"]} for n in moved]
    groups = [["id:" + n["id"] for n in ran if n["region"] == r] for r in changed]
    return [{"nodes": g, "together": True} for g in groups if g]


def same_bytes(a, b):
    """manifest.json alone says what was read."""
    names = lambda out: {str(f.relative_to(out)) for f in out.rglob("*") if f.is_file()} - {"manifest.json"}
    return names(a) == names(b) and all((a / n).read_bytes() == (b / n).read_bytes() for n in names(a))


class Session:
    def __init__(self, args):
        self.args, self.plain = args, {}
        files = sorted(Path(args.zoo).glob("*.onnx"))
        self.models = [Model(f) for f in files if not args.models or f.stem in args.models.split(",")]
        self.tally, self.failures = Counter(), 0
        self.work = Path(tempfile.mkdtemp(prefix="constraints"))

    def compile(self, model, extra, name="out"):
        out = self.work / name
        shutil.rmtree(out, ignore_errors=True)
        return run([self.args.mrvlc, "compile", str(model.path), "-o", str(out), "--no-probe", "-q",
                    *FIXED.get(model.name, []), *extra]) + (out,)

    def plain_of(self, model):
        if model.name not in self.plain:
            rc, text, out = self.compile(model, [])
            assert rc == 0, text
            self.plain[model.name] = Placement(out)
        return self.plain[model.name]

    def case(self, number):
        dice = random.Random(f"{self.args.seed}/{number}")
        model = dice.choice(self.models)
        constraints = [constraint(dice, model) for _ in range(dice.choice([1, 1, 1, 2, 3]))]
        file = self.work / "placement.json"
        file.write_text(json.dumps({"constraints": constraints}))
        plain = self.plain_of(model)
        rc, text, out = self.compile(model, ["--placement", str(file)])
        if rc != 0:
            return self.refused(number, model, constraints, rc, text)
        p = Placement(out)
        faults = [f for c in constraints for f in broken(model, c, p)]
        faults += [f"{i} was sent to the CPU" for i in evicted(constraints, p, plain)]
        if faults:
            return self.fail(number, model, constraints, "; ".join(faults[:5]))
        self.tally["honoured"] += 1
        if self.args.back and number % self.args.back == 0:
            self.give_back(number, model, dice, out)
        if self.args.verify and number % self.args.verify == 0:
            self.verify(number, model, constraints, file)

    def refused(self, number, model, constraints, rc, text, what=""):
        codes = re.findall(r"error (MRV\d+)", text)
        if rc not in (1, 2) or not codes or codes[0] not in REFUSALS:
            return self.fail(number, model, constraints, f"{what}exit code {rc}: {text[-400:]}")
        self.tally[what + "refused " + codes[0]] += 1

    def give_back(self, number, model, dice, out):
        written = out / "placement.json"
        rc, text, again = self.compile(model, ["--placement", str(written)], "again")
        if rc != 0 or not same_bytes(out, again):
            return self.fail(number, model, "given back", text or "other bytes")
        self.tally["given back"] += 1
        placement = json.loads(written.read_text())
        wanted = edited(dice, model, placement)
        file = self.work / "edited.json"
        file.write_text(json.dumps(placement))
        rc, text, again = self.compile(model, ["--placement", str(file)], "again")
        if rc != 0:
            return self.refused(number, model, wanted, rc, text, "edited: ")
        faults = [f for c in wanted for f in broken(model, c, Placement(again))]
        if faults:
            return self.fail(number, model, wanted, "edited: " + "; ".join(faults[:5]))
        self.tally["edited: honoured"] += 1

    def verify(self, number, model, constraints, file):
        command = [self.args.mrvlc, "verify", str(model.path), *FIXED.get(model.name, [])]
        rc, text = run([*command, "--placement", str(file)])
        if rc != 0 and run(command)[0] == 0:
            return self.fail(number, model, constraints, f"verify: exit code {rc}: {text[-600:]}")
        self.tally["verified" if rc == 0 else "out of tolerance without constraints too"] += 1

    def fail(self, number, model, constraints, why):
        self.failures += 1
        print(f"case {number}: {model.name} {json.dumps(constraints)}: {why}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mrvlc")
    parser.add_argument("zoo")
    parser.add_argument("-n", type=int, default=100)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--models", default="")
    parser.add_argument("--verify", type=int, default=0, help="also run every such case that compiles")
    parser.add_argument("--back", type=int, default=0, help="also give back the placement.json of every such case")
    args = parser.parse_args()
    session = Session(args)
    for number in range(args.first, args.first + args.n):
        session.case(number)
    shutil.rmtree(session.work, ignore_errors=True)
    print(f"{args.n} cases:", ", ".join(f"{v} {k}" for k, v in sorted(session.tally.items())),
          f"{session.failures} failed")
    return 1 if session.failures else 0


if __name__ == "__main__":
    sys.exit(main())
