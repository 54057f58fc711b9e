#!/usr/bin/env python3
"""Models rebuilt from public bug reports, each right or refused as found/reports/README.md of the shared data says.

  reports.py MRVLC REPORTS FOLDER     FOLDER is emptied; 77 (skipped) where there is no folder REPORTS
"""
import concurrent.futures
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import onnx
from onnx import numpy_helper

MRVLC, REPORTS, FOLDER = (pathlib.Path(a).absolute() for a in sys.argv[1:])

# What compile refuses, and with which code; what the program refuses, by its error (NAME_ERROR_VALUE).
REFUSED = {"gather_oob_const": "MRV0208", "value_out_of_range_revseq": "MRV0208", "value_out_of_range_nll": "MRV0208",
           "value_out_of_range_maxunpool": "MRV0208", "C_missing_weights_in_if": "MRV0124", "C1_if_reads_unknown_op": "MRV0106"}
ENDS_WITH_5 = ("gather_oob_rt", "scatternd_oob_rt")
OPTIONS = {"if_branch_rank": ["--bind", "sr=16000"]}
# ONNX Runtime rounds what goes round in the LSTM to 8 bits, for speed; here the weights alone are rounded.
LIMITS = {"ms_DynamicQuantizeLSTM": 2e-3}
# Written for the README, without values.
COMPILES = ("name_dot", "name_cxx20", "initializer_input", "optional_empty", "D_reshape_chain_2000")
QUANTIZED = ("E_input_is_output", "F_bernoulli", "F_dropout_mask", "F_random_like")


def run(*command, cwd=None):
    return subprocess.run([str(c) for c in command], capture_output=True, text=True, cwd=cwd, timeout=240)


def softmax(x, log):
    rows = x.reshape(x.shape[0], -1).astype(np.float64)
    e = np.exp(rows - rows.max(1, keepdims=True))
    y = e / e.sum(1, keepdims=True)
    return (np.log(y) if log else y).reshape(x.shape)


def compiled(name, target="host"):
    out = FOLDER / f"{name}-{target}"
    return out, run(MRVLC, "compile", REPORTS / f"{name}.onnx", "-o", out, "--name", "m", "--target", target, *OPTIONS.get(name, []))


def results(name, out, inputs):
    to = FOLDER / f"{out.name}-results"
    arguments = [a for n, path in inputs.items() for a in ("--input", f"{n}={path}")]
    return to, run(MRVLC, "run", out, *arguments, "--output-dir", to, "--cflags", "-O0")


def inputs_of(name):
    bound = [o.split("=")[0] for o in OPTIONS.get(name, [])[1::2]]
    found = {p.name[len(name) + 4:-4]: p for p in REPORTS.glob(f"{name}.in.*.npy")}
    return {n: p for n, p in found.items() if n not in bound}


def close(got, right, limit=1e-4):
    if got.shape != right.shape or got.dtype != right.dtype:
        return f"{got.dtype}{got.shape} instead of {right.dtype}{right.shape}"
    if not np.issubdtype(right.dtype, np.floating):
        return "" if np.array_equal(got, right) else f"{got.ravel()[:8]} instead of {right.ravel()[:8]}"
    with np.errstate(invalid="ignore"):
        same = (got == right) | (np.isnan(got) & np.isnan(right)) | (np.abs(got.astype(np.float64) - right) <= limit + limit * np.abs(right))
    return "" if same.all() else f"{got.ravel()[:8]} instead of {right.ravel()[:8]}"


def refused(name):
    out, done = compiled(name)
    if done.returncode not in (1, 3) or REFUSED[name] not in done.stderr or out.exists():
        return f"exit code {done.returncode}, {done.stderr}"
    return ""


def right_values(name):
    out, done = compiled(name)
    if done.returncode != 0:
        return done.stderr
    strict = run("gcc", "-std=c99", "-Wall", "-Wextra", "-Wconversion", "-pedantic", "-Werror", "-fsyntax-only", f"-I{out}", out / "m.c")
    if strict.returncode != 0:
        return strict.stderr
    to, done = results(name, out, inputs_of(name))
    if name in ENDS_WITH_5:
        return "" if done.returncode != 0 and "not allowed" in done.stderr + done.stdout else f"exit code {done.returncode}: {done.stderr}{done.stdout}"
    if done.returncode != 0:
        return done.stderr + done.stdout
    for right in REPORTS.glob(f"{name}.right.*.npy"):
        output = right.name[len(name) + 7:]
        fault = close(np.load(to / output), np.load(right), LIMITS.get(name, 1e-4))
        if fault:
            return f"{output}: {fault}"
    return ""


def flattened(name, target):
    """Softmax of opset 11 on what attack_x.npy holds, as a matrix of rows."""
    out, done = compiled(name, target)
    if done.returncode != 0:
        return done.stderr
    x = np.load(REPORTS / "attack_x.npy")
    to, done = results(name, out, {"x": REPORTS / "attack_x.npy"})
    if done.returncode != 0:
        return done.stderr
    for weights in onnx.load(REPORTS / f"{name}.onnx").graph.initializer:
        x = x @ numpy_helper.to_array(weights)
    got, right = np.load(next(to.glob("*.npy"))), softmax(x, "log" in name)
    error = np.abs(got - right).max()
    limit = 1e-5 if target == "host" else 2e-2  # fp16
    return "" if error <= limit else f"off by {error} on {target}"


def compiles(name):
    out, done = compiled(name)
    if done.returncode != 0:
        return done.stderr
    if name == "name_cxx20":
        cxx = run("g++", "-std=c++20", "-fsyntax-only", "-x", "c++", out / "m.h")
        return cxx.stderr if cxx.returncode != 0 else ""
    if name == "initializer_input" and "warning" not in done.stderr:
        return "no word of the input that vanished"
    if name == "D_reshape_chain_2000" and (out / "idmap.json").stat().st_size > 3 << 20:
        return f"idmap.json has {(out / 'idmap.json').stat().st_size} bytes"
    if name == "name_dot" or name == "optional_empty":
        data = REPORTS / ("empty.json" if name == "optional_empty" else "attack_x.npy")
        _, done = results(name, out, {"x": data} if name == "optional_empty" else {})
        if name == "optional_empty" and done.returncode != 0:
            return done.stderr
        if "none of mrvlc" in done.stderr:
            return done.stderr
    return ""


def quantized(name):
    """What quantize writes has the model's own inputs and outputs, and no attribute of ours."""
    to = FOLDER / f"{name}.onnx"
    done = run(MRVLC, "quantize", REPORTS / f"{name}.onnx", "--data", REPORTS / "Edata", "-o", to)
    if done.returncode != 0:
        return done.stderr
    written, given = onnx.load(to).graph, onnx.load(REPORTS / f"{name}.onnx").graph
    for ours, theirs in ((written.input, given.input), (written.output, given.output)):
        if [v.name for v in ours] != [v.name for v in theirs]:
            return f"{[v.name for v in ours]} instead of {[v.name for v in theirs]}"
    known = {n.op_type: {a for a in onnx.defs.get_schema(n.op_type).attributes} for n in written.node if n.domain == ""}
    wrong = [(n.op_type, a.name) for n in written.node for a in n.attribute if n.domain == "" and a.name not in known[n.op_type]]
    return f"attributes that ONNX does not know: {wrong}" if wrong else ""


def tasks():
    for name in sorted(p.stem for p in REPORTS.glob("*.onnx")):
        if name in ("A_softmax12", "B1_log_softmax11"):
            yield from ((f"{name} {target}", flattened, (name, target)) for target in ("host", "cn10ka"))
        elif name in REFUSED:
            yield name, refused, (name,)
        elif name in QUANTIZED:
            yield name, quantized, (name,)
        elif name in COMPILES:
            yield name, compiles, (name,)
        else:
            yield name, right_values, (name,)


def main():
    if not REPORTS.is_dir():
        print("there is no shared data: skipped")
        return 77
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    failures = 0
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        running = [(what, pool.submit(check, *arguments)) for what, check, arguments in tasks()]
        for what, future in running:
            fault = future.result()
            if fault:
                failures += 1
                print(f"FAILED: {what}: {fault}")
    print(f"{len(running)} reports, {failures} failures")
    return 1 if failures else 0


sys.exit(main())
