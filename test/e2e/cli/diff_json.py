"""usage: diff_json.py DIFF.json OUT_A OUT_B: the numbers of a diff are those of the two reports."""

import json
import sys


def cycles(folder):
    with open(f"{folder}/report.json") as file:
        return sum(region["cycles"] for region in json.load(file)["regions"])


def main():
    path, a, b = sys.argv[1:]
    with open(path) as file:
        diff = json.load(file)
    totals = {total["name"]: total for total in diff["totals"]}
    assert totals["cycles"]["a"] == cycles(a) and totals["cycles"]["b"] == cycles(b)
    assert totals["cycles"]["change"] == cycles(b) - cycles(a) != 0
    changes = [abs(layer["change"]) for layer in diff["layers"]]
    assert changes and changes == sorted(changes, reverse=True)
    named = [node for layer in diff["layers"] for node in layer["nodes"]]
    assert len(named) == len(set(named)), "a node is in two parts"
    for layer in diff["layers"]:
        assert layer["change"] == layer["cycles_b"] - layer["cycles_a"] and layer["why"]
    assert [node["node"] for node in diff["placement"]] == ["pool"]
    assert diff["inputs"], "the options differ"


main()
