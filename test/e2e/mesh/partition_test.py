#!/usr/bin/python3
"""usage: partition_test.py MRVLC_PARTITION WORK

The graphs of dnn-partitioning in $MRVLC_SHARED: each split is legal, and no device has more to do than in the best contiguous split."""

import json
import os
import pathlib
import shutil
import subprocess
import sys

PROGRAM, WORK = (pathlib.Path(a).absolute() for a in sys.argv[1:3])
BEST = {"LayerGraphs_bert24_inference": 17.7899, "LayerGraphs_resnet50_inference": 33.7747, "LayerGraphs_gnmt_inference": 32.9107,
        "OperatorGraphs_bert_l-3_inference": 27.9186, "OperatorGraphs_resnet50_inference": 124.349}


def largest_load(graph, split):
    """Of a legal split."""
    nodes = {n["id"]: n for n in graph["nodes"]}
    device = {v: (kind, i) for kind in ("fpgas", "cpus") for i, d in enumerate(split[kind]) for v in d["nodes"]}
    assert sorted(device) == sorted(nodes) and sum(len(d["nodes"]) for k in split for d in split[k]) == len(nodes)
    assert len(split["fpgas"]) <= graph["maxFPGAs"] and len(split["cpus"]) <= graph["maxCPUs"]
    colours, load, size = {}, {}, {}
    for v, n in nodes.items():
        fast = device[v][0] == "fpgas"
        assert colours.setdefault(n.get("colorClass", ("alone", v)), device[v]) == device[v] and (n["supportedOnFpga"] or not fast)
        load[device[v]] = load.get(device[v], 0) + n["fpgaLatency" if fast else "cpuLatency"]
        size[device[v]] = size.get(device[v], 0) + n["size"]
    assert all(s <= graph["maxSizePerFPGA"] for d, s in size.items() if d[0] == "fpgas")
    cost = {e["sourceId"]: e["cost"] for e in graph["edges"]}
    moved = {(e["sourceId"], device[e["destId"]]) for e in graph["edges"] if device[e["sourceId"]] != device[e["destId"]]}
    for a in {a for a, _ in moved}:
        load[device[a]] += cost[a] if device[a][0] == "fpgas" else 0
    for a, d in moved:
        load[d] += cost[a] if d[0] == "fpgas" else 0
    return max(load.values())


def main():
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)
    (WORK / "none.json").write_text("{}")
    assert subprocess.run([PROGRAM, WORK / "none.json", "-o", WORK / "x.json"], capture_output=True).returncode == 1
    if "MRVLC_SHARED" not in os.environ:
        return
    for name, best in BEST.items():
        graph = pathlib.Path(os.environ["MRVLC_SHARED"]) / "data" / "partition" / f"{name}.json"
        subprocess.run([PROGRAM, graph, "-o", WORK / f"{name}.json", "--steps", "100000"], check=True)
        load = largest_load(json.loads(graph.read_text()), json.loads((WORK / f"{name}.json").read_text()))
        # The figures have six digits.
        assert load <= best * (1 + 5e-6), f"{name}: {load}, not {best}"


if __name__ == "__main__":
    main()
