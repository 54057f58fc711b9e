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

FORMS = {"pointwise": 2, "depthwise": 3, "grouped": 4, "row": 5, "depthwise-any": 6}
PRODUCTS = ("Conv", "ConvTranspose", "Gemm", "MatMul")


WIDE = 7
GATHERED = ("Conv", "Conv/grouped")  # convolutions that gather their input: a step is an element of that


def probe_model(**rates):
    """A host model that counts: seconds become 1e-9 of what is counted. `wide`: operators whose wide form counts sevenfold."""
    operators = {"default": {"mac_ns": rates.get("mac", 0), "step_ns": rates.get("step", 0)}}
    for op in rates.get("wide", ()):
        operators[f"{op}/wide"] = {"mac_ns": 0, "step_ns": WIDE}
    for form, factor in FORMS.items() if rates.get("forms") else ():
        for op in PRODUCTS:
            operators[f"{op}/{form}"] = {"mac_ns": factor, "step_ns": 0}
    return {"call_ns": 0, "constant_byte_ns": rates.get("byte", 0), "to_device_ns": rates.get("border", 0),
            "from_device_ns": rates.get("border", 0), "operators": operators}


def short(value):
    return float(f"{value:.3g}")


def counted(mrvlc, model, work, **rates):
    """By expression: the operator's type and what was counted."""
    file = work / "probe.json"
    file.write_text(json.dumps(probe_model(**rates)))
    report = partition_cost.compile_model(mrvlc, model, work / "probe", "--target", "host", "--host-model", str(file))
    return {n["expr_id"]: (n["op_type"], 1e9 * n["seconds"]) for n in report["host"]["nodes"]}


def key_of(op, macs, with_forms, steps, with_wide):
    if not macs and steps and round(with_wide / steps) == WIDE:
        return f"{op}/wide"
    factor = round(with_forms / macs) if macs else 1
    form = next((f for f, n in FORMS.items() if n == factor), None)
    return f"{op}/{form}" if form else op


def equations(args, model, work):
    """For each function of the stub: its seconds, its operators as (key, macs, steps), its bytes of constants."""
    macs, forms, steps, constants = (counted(args.mrvlc, model, work, **{k: 1} if k != "forms" else {"mac": 1, "forms": True})
                                     for k in ("mac", "forms", "step", "byte"))
    wide = counted(args.mrvlc, model, work, step=1, wide={op for op, _ in steps.values()} - set(PRODUCTS))
    partition_cost.compile_model(args.mrvlc, model, work / "host", "--target", "host")
    seconds = partition_cost.measure(work / "host", args.include, args.seconds, nodes=True,
                                     domain=calibration_models.domain(model))[1]
    idmap = json.loads((work / "host" / "idmap.json").read_text())
    fused = {}
    for function in idmap["host_functions"]:
        fused.setdefault(function["expr_id"], set()).update(function["fused"])
    for expr, others in fused.items():
        ids = [e for e in [expr, *sorted(others - {expr})] if e in macs]
        time = seconds.get(expr)
        if time is None or not ids:
            continue
        terms = [(key_of(macs[e][0], macs[e][1], forms[e][1], steps[e][1], wide[e][1]), macs[e][1], steps[e][1]) for e in ids]
        yield time, terms, sum(constants[e][1] for e in ids)


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


def steps_count(key):
    """Products whose steps take time beside their multiply-accumulates."""
    return "/depthwise" in key or key in GATHERED


def fit(rows):
    """Rates by column: least squares of the relative error, none negative, by coordinate descent."""
    columns = ["call", "byte"]
    for _, terms, _ in rows:
        for key, macs, steps in terms:
            columns += [c for c in ((key, "mac") if macs else (key, "step"), (key, "step")) if c not in columns]
    a = np.zeros((len(rows), len(columns)))
    for i, (time, terms, constants) in enumerate(rows):
        a[i, 0] = 1
        a[i, 1] = constants
        for key, macs, steps in terms:
            if macs:
                a[i, columns.index((key, "mac"))] += macs
            if not macs or steps_count(key):
                a[i, columns.index((key, "step"))] += steps
        a[i] /= 1e9 * time
    used = np.where((a != 0).any(axis=0))[0]
    x = np.zeros(len(columns))
    residual = np.ones(len(rows))
    for _ in range(3000):
        for j in used:
            column = a[:, j]
            now = max(0.0, x[j] + column @ residual / (column @ column))
            residual -= (now - x[j]) * column
            x[j] = now
    return {c: x[j] for j, c in enumerate(columns) if j in set(used)}


def median_rates(rows, rates):
    """Of all operators in the rows: what the typical one takes of a multiply-accumulate and of a step."""
    keys = {key for _, terms, _ in rows for key, _, _ in terms}
    of = lambda kind: [v for (c, v) in rates.items() if isinstance(c, tuple) and c[0] in keys and c[1] == kind and v > 0]
    return float(np.median(of("mac") or [1])), float(np.median(of("step") or [1]))


def host_model(args, rows, borders, of_networks):
    rates = fit(rows)
    mac, step = median_rates(of_networks or rows, rates)
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


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mrvlc")
    parser.add_argument("models", nargs="+")
    parser.add_argument("-o", "--out", required=True)
    parser.add_argument("--name", default="host")
    parser.add_argument("--description", default="Measured by scripts/calibrate_host.py; gcc -O3 -march=native, one core")
    parser.add_argument("--seconds", type=float, default=0.3)
    args = parser.parse_args()
    args.include = str(pathlib.Path(__file__).resolve().parent.parent / "include")
    rows, borders, loops = [], {}, []

    def measured(model, what):
        loops.append(reference_loop())
        with tempfile.TemporaryDirectory() as folder:
            try:
                return what(args, model, pathlib.Path(folder))
            except (RuntimeError, subprocess.CalledProcessError) as e:
                print(f"{pathlib.Path(model).stem}: {e}", file=sys.stderr)
                return None

    with tempfile.TemporaryDirectory() as small:
        for model in calibration_models.border_models(small):
            for key, rate in (measured(model, border_rates) or {}).items():
                borders.setdefault(key, []).append(rate)
        for model in calibration_models.host_models(small):
            rows += measured(model, lambda *a: list(equations(*a))) or []
    alone = len(rows)
    for model in args.models:
        rows += measured(model, lambda *a: list(equations(*a))) or []
    pathlib.Path(args.out).write_text(formatted(host_model(args, rows, borders, rows[alone:])))
    loops = np.array(loops) / min(loops)
    print(f"{len(rows)} functions of {len(args.models)} models and those of one operator; borders: "
          f"{ {k: [short(r) for r in v] for k, v in borders.items()} }")
    print(f"a loop of the same work took up to {loops.max():.2f} times its least, {np.median(loops):.2f} in the middle")


if __name__ == "__main__":
    main()
