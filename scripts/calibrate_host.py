#!/usr/bin/python3
"""Measures what operators take on this machine and writes a host model (docs/partition.md).

    scripts/calibrate_host.py build/bin/mrvlc MODEL.onnx... -o host_model.json [--name NAME]

Each model is compiled for the host and run; every function of the stub is one equation: its least time is a call, and its
operators' multiply-accumulates, steps and bytes of constants times their rates. Rates that are not negative are fitted, in
relative error. Models of one operator each (calibration_models.py) are measured beside the networks given, so that every
element-wise function has a rate of its own; what no model shows gets the rate `default`, the median of all. Models that the
accelerator takes whole show what values at borders take: cast, and cast and permuted. How much the machine was disturbed is
printed: the spread of a loop that was timed before, between and after.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np

import calibration_models
import partition_cost

# Of operators of any kind: include/mrvlc/partition/host_model.h.
FORMS = ("pointwise winograd winograd-small strip depthwise depthwise-strided depthwise-lanes depthwise-any grouped row rows columns "
         "wide").split()
CONTROL = ("If", "Loop", "Scan", "SequenceMap")  # their bodies have many rates
COUNTS = ("call", "mac", "step", "byte")


def probe_model(count, operators):
    """A host model that counts: what is counted becomes as many nanoseconds."""
    rate = {"mac_ns": int(count == "mac"), "step_ns": int(count == "step")}
    keys = ["default", *operators, *(f"{op}/{form}" for op in operators for form in FORMS)]
    return {"call_ns": int(count == "call"), "constant_byte_ns": int(count == "byte"), "to_device_ns": 0, "from_device_ns": 0,
            "operators": {key: rate for key in keys}}


def short(value):
    return float(f"{value:.3g}")


def counted(args, model, work):
    """By expression: the rate that it goes by, and what is counted of it."""
    report, found = partition_cost.compile_model(args.mrvlc, model, work / "host", "--target", "host"), {}
    operators = sorted({n["op_type"] for n in report["host"]["nodes"]})
    for count in COUNTS:
        file = work / "probe.json"
        file.write_text(json.dumps(probe_model(count, operators)))
        probed = partition_cost.compile_model(args.mrvlc, model, work / "probe", "--target", "host", "--host-model", str(file))
        for n in probed["host"]["nodes"]:
            found.setdefault(n["expr_id"], {"rate": n["rate"]})[count] = 1e9 * n["seconds"]
    return found


def equations(args, model, work):
    """For each function of the stub: its seconds, and what is counted of its operators, by rate."""
    counts = counted(args, model, work)
    seconds = partition_cost.measure(work / "host", args.include, args.seconds, nodes=True,
                                     domain=calibration_models.domain(model), rounds=args.rounds)[1]
    idmap = json.loads((work / "host" / "idmap.json").read_text())
    fused = {}
    for function in idmap["host_functions"]:
        fused.setdefault(function["expr_id"], set()).update(function["fused"])
    for expr, others in fused.items():
        ids = [e for e in [expr, *sorted(others - {expr})] if e in counts]
        if expr in seconds and ids and not any(counts[e]["rate"] in CONTROL for e in ids):
            yield seconds[expr], [counts[e] for e in ids]


def border_rates(args, model, work):
    """By (direction, cast, permuted): nanoseconds of an element, of a model that is one region with one input and one output."""
    report = partition_cost.compile_model(args.mrvlc, model, work / "border", "--accel", "*")
    conversions = report["host"]["conversions"]
    if report["host"]["nodes"] or len(report["regions"]) != 1 or len(conversions) != 2:
        return {}
    _, before, after = partition_cost.measure(work / "border", args.include, args.seconds, borders=True)
    key = lambda c: (c["to"], c["host_bytes"] != c["device_bytes"], c["permuted"])
    return {key(c): 1e9 * (before if c["to"] == "accelerator" else after) / c["elements"] for c in conversions}


def border_model(rates, otherwise):
    """The fields of the host model: medians."""
    median = lambda key: short(float(np.median(rates[key])) if rates.get(key) else otherwise)
    model = {f"{cast}{way}_device_ns": median((to, True, permuted)) for cast, permuted in (("", True), ("cast_", False))
             for way, to in (("to", "accelerator"), ("from", "host"))}
    rates = {"permuted": rates.get(("accelerator", False, True), []) + rates.get(("host", False, True), [])}
    return {**model, "permute_ns": median("permuted")}


def reference_loop():
    """Seconds of the same work, whenever it is asked for: how quiet the machine is."""
    def once():
        began = time.perf_counter()
        sum(range(300000))
        return time.perf_counter() - began
    return min(once() for _ in range(10))


LEAST_SHARE = 2e-3  # of a network, as which what takes less counts


def matrix(rows):
    """The equations in relative form, and what each unknown is: "call", "byte", or a rate and "mac" or "step"."""
    columns = {"call": 0, "byte": 1}
    for _, terms in rows:
        for t in terms:
            for kind in ("mac", "step"):
                if t[kind] > 0:
                    columns.setdefault((t["rate"], kind), len(columns))
    a = np.zeros((len(rows), len(columns)))
    for i, (time, terms) in enumerate(rows):
        for t in terms:
            for c in ("call", "byte"):
                a[i, columns[c]] += t[c] / (1e9 * time)
            for kind in ("mac", "step"):
                if t[kind] > 0:
                    a[i, columns[t["rate"], kind]] += t[kind] / (1e9 * time)
    return a, list(columns)


def fit(rows, weights):
    """Rates by unknown: least squares of the relative error, none negative, by coordinate descent."""
    a, columns = matrix(rows)
    w = np.sqrt(np.array(weights))
    a *= w[:, None]
    scale = np.sqrt((a * a).sum(axis=0))
    used = np.where(scale > 0)[0]
    a[:, used] /= scale[used]
    x, residual = np.zeros(len(columns)), w.copy()
    for _ in range(3000):
        for j in used:
            now = max(0.0, x[j] + a[:, j] @ residual)
            residual -= (now - x[j]) * a[:, j]
            x[j] = now
    return {columns[j]: x[j] / scale[j] for j in used}


def median_rates(rows, rates):
    """Of all operators in the rows: what the typical one takes of a multiply-accumulate and of a step."""
    keys = {t["rate"] for _, terms in rows for t in terms}
    of = lambda kind: [v for (c, v) in rates.items() if isinstance(c, tuple) and c[0] in keys and c[1] == kind and v > 0]
    return float(np.median(of("mac") or [1])), float(np.median(of("step") or [1]))


def weights_of(rows):
    """What is short counts less: by its share of the model."""
    total = sum(time for time, _ in rows)
    return [max(time / total, LEAST_SHARE) for time, _ in rows]


def host_model(args, alone, networks, borders):
    """From the equations of models of one operator each, and of networks."""
    rows = [row for part in (*alone, *networks) for row in part]
    rates = fit(rows, [w for part in (*alone, *networks) for w in weights_of(part)])
    mac, step = median_rates([row for part in networks for row in part] or rows, rates)
    operators = {"default": {"mac_ns": short(mac), "step_ns": short(step)}}
    for (key, kind), rate in sorted((c, v) for c, v in rates.items() if isinstance(c, tuple)):
        entry = operators.setdefault(key, {"mac_ns": 0, "step_ns": 0})
        entry[kind + "_ns"] = short(rate)
    return {"name": args.name, "description": args.description, "call_ns": short(rates.get("call", 0)),
            "constant_byte_ns": short(rates.get("byte", 0)), **border_model(borders, step),
            "operators": operators}


def formatted(model):
    """An operator a line."""
    head = {k: v for k, v in model.items() if k != "operators"}
    lines = ",\n".join(f"    {json.dumps(k)}: {json.dumps(v)}" for k, v in model["operators"].items())
    return json.dumps(head, indent=2)[:-2] + ",\n  \"operators\": {\n" + lines + "\n  }\n}\n"


def expected(model, rows):
    """Seconds by a host model."""
    def of(t):
        rate = next(model["operators"][k] for k in (t["rate"], t["rate"].split("-")[0], t["rate"].split("/")[0], "default")
                    if k in model["operators"])
        return model["call_ns"] * t["call"] + model["constant_byte_ns"] * t["byte"] + rate["mac_ns"] * t["mac"] + rate["step_ns"] * t["step"]
    return 1e-9 * sum(of(t) for _, terms in rows for t in terms)


def print_folds(args, alone, borders, networks):
    """How far estimates are off for networks that the fit has not seen: every `folds`-th one is left out in turn."""
    ratios = []
    for fold in range(args.folds):
        seen = [rows for i, (_, rows) in enumerate(networks) if i % args.folds != fold]
        model = host_model(args, alone, seen, borders)
        for name, rows in networks[fold::args.folds]:
            ratios.append((expected(model, rows) / sum(time for time, _ in rows), name))
    for ratio, name in sorted(ratios):
        print(f"{name:32} {ratio:6.2f} of measured, left out of the fit")
    print(f"off by {np.exp(np.median([abs(np.log(r)) for r, _ in ratios])) - 1:.1%} in the middle")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mrvlc")
    parser.add_argument("models", nargs="+")
    parser.add_argument("-o", "--out", required=True)
    parser.add_argument("--name", default="host")
    parser.add_argument("--description", default="Measured by scripts/calibrate_host.py; gcc -O3 -march=native, one core")
    parser.add_argument("--seconds", type=float, default=0.3)
    parser.add_argument("--rounds", type=int, default=2, help="each with runs of that many seconds; the least counts")
    parser.add_argument("--folds", type=int, default=0, help="also fit without every N-th model, and print how far it is off for these")
    args = parser.parse_args()
    args.include = str(pathlib.Path(__file__).resolve().parent.parent / "include")
    borders, loops = {}, []

    def measured(model, what):
        loops.append(reference_loop())
        with tempfile.TemporaryDirectory() as folder:
            try:
                return what(args, model, pathlib.Path(folder))
            except (RuntimeError, subprocess.CalledProcessError) as e:
                print(f"{pathlib.Path(model).stem}: {e}", file=sys.stderr)
                return None

    def of_network(model):
        return pathlib.Path(model).stem, measured(model, lambda *a: list(equations(*a))) or []

    with tempfile.TemporaryDirectory() as small:
        for model in calibration_models.border_models(small):
            for key, rate in (measured(model, border_rates) or {}).items():
                borders.setdefault(key, []).append(rate)
        alone = [of_network(model)[1] for model in calibration_models.host_models(small)]
    networks = [n for n in map(of_network, args.models) if n[1]]
    pathlib.Path(args.out).write_text(formatted(host_model(args, alone, [rows for _, rows in networks], borders)))
    if args.folds:
        print_folds(args, alone, borders, networks)
    count = sum(len(rows) for _, rows in networks)
    print(f"{count} functions of {len(networks)} models and those of one operator; borders: "
          f"{ {k: [short(r) for r in v] for k, v in borders.items()} }")
    loops = np.array(loops) / min(loops)
    print(f"a loop of the same work took up to {loops.max():.2f} times its least, {np.median(loops):.2f} in the middle")


if __name__ == "__main__":
    main()
