"""usage: faults.py MRVLC INCLUDE WORK FAULTS NAME=MODEL[,OPTION...] ...

Compiles the models and lets a device fail at seeded random instructions, FAULTS in all at least. Every time the stub must name
the region, layer, expression and ONNX node that idmap.json gives for that instruction. WORK is emptied first.
"""

import json
import os
import pathlib
import random
import shutil
import subprocess
import sys

from stub_program import build


def expected(entries, region, instruction):
    """What the ID map says of one instruction of section main."""
    owners = [i for i in entries if i["region"] == region and i["begin"] <= instruction < i["end"]]
    assert len(owners) == 1, (region, instruction, owners)
    expr = owners[0]["expr_id"]
    return region, owners[0]["layer"], expr


def faults_of(folder, how_many, random_numbers):
    """Seeded instructions, the first and the last of each region among them, and what the map says of each: region, layer,
    expression, and the names of the ONNX nodes or, where they have none, of what those make."""
    idmap = json.loads((folder / "idmap.json").read_text())
    entries = [i for i in idmap["instructions"] if i["section"] == "main"]
    source = {s["id"]: s["name"] or s["outputs"][0] for s in idmap["sources"]}
    names = {e["expr_id"]: {source[i] for i in e["sources"]} for e in idmap["expressions"]}
    ends = {}
    for i in entries:
        ends[i["region"]] = max(ends.get(i["region"], 0), i["end"])
    chosen = [(r, at) for r, end in ends.items() for at in (0, end - 1)]
    while len(chosen) < how_many:
        region = random_numbers.choice(sorted(ends))
        chosen.append((region, random_numbers.randrange(ends[region])))
    facts = [expected(entries, r, at) for r, at in chosen]
    return [(at, fact, names[fact[2]]) for (_, at), fact in zip(chosen, facts)]


def check_layers(folder, lines):
    """What NAME_layers told, against idmap.json: all layers, in its order, each within the cycles of its region."""
    idmap = json.loads((folder / "idmap.json").read_text())
    cycles = [r["cycles"] for r in json.loads((folder / "report.json").read_text())["regions"]]
    exprs = {(la["region"], la["layer"]): la["exprs"] for la in idmap["layers"]}
    main = {(i["region"], i["layer"]) for i in idmap["instructions"] if i["section"] == "main"}
    told = [tuple(map(int, line.split(" ", 6)[1:6])) for line in lines]
    wanted = [key for key in exprs if key in main]
    ok = [t[:2] for t in told] == wanted and all(e in exprs[r, n] for r, n, e, _, _ in told)
    for region, limit in enumerate(cycles):
        times = [(b, e) for r, _, _, b, e in told if r == region]
        ok = ok and all(b < e <= limit for b, e in times) and min(b for b, _ in times) < limit // 2
    if not ok:
        print(f"FAILED: {folder}: layers {told}, the map has {wanted}, cycles {cycles}")
    return ok


def main():
    mrvlc, include, work, least, *subjects = sys.argv[1:]
    shutil.rmtree(work, ignore_errors=True)
    pathlib.Path(work).mkdir(parents=True)
    os.chdir(work)
    random_numbers = random.Random(1)
    told = right = 0
    layers = set()
    all_right = True
    for subject in subjects:
        name, rest = subject.split("=", 1)
        subprocess.run([mrvlc, "-q", "compile", *rest.split(","), "--name", name, "-o", name], check=True)
        build(mrvlc, include, "faults", name)
        faults = faults_of(pathlib.Path(name), -(-int(least) // len(subjects)), random_numbers)
        arguments = [str(number) for at, fact, _ in faults for number in (fact[0], at)]
        lines = subprocess.run([f"./faults_{name}", name, *arguments], check=True, capture_output=True,
                               text=True).stdout.splitlines()
        all_right = check_layers(pathlib.Path(name), [li for li in lines if li.startswith("layer ")]) and all_right
        lines = [li for li in lines if not li.startswith("layer ")]
        for line, (at, fact, names) in zip(lines, faults, strict=True):
            *numbers, node = line.split(" ", 3)
            ok = tuple(map(int, numbers)) == fact and node in names
            told += 1
            right += ok
            layers.add((name, *fact[:2]))
            if not ok:
                print(f"FAILED: {name}, instruction {at}: said '{line}', the map says {fact}, {sorted(names)}")
    print(f"{right} of {told} faults named, in {len(layers)} layers")
    sys.exit(0 if right == told >= int(least) and all_right else 1)


main()
