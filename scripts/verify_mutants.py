#!/usr/bin/env python3
"""Does `mrvlc verify` see mistakes in generated C? Puts small ones into the C of a model, between mrvlc and the C compiler, one at a
time: those of test/mutation that change a kernel, and drawn ones (an operator, a comparison, a number, a condition). Each mutant is
judged twice: with the limits of docs/verify.md, and with 1e-4 alone ("strict"). What strict finds and the limits excuse is printed.

    scripts/verify_mutants.py [--mrvlc FILE] [--count N] [--seed S] [-j N] MODEL...

--count mutants are drawn for each MODEL. The exit code is 1 if an excused mutant was not found. Mutants that no limit finds change
nothing that the inputs show (padding that is computed and not read, a bound that is never met)."""
import argparse
import collections
import concurrent.futures
import os
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PATIENCE = 60  # seconds for a verify
STRICT = ["--tolerance", "1e-4"]
# What is drawn: a place in a line of code, and what stands there instead.
KINDS = (
    ("sum", re.compile(r"(?<=[\w)\]]) \+ (?=[\w(])"), " - "),
    ("difference", re.compile(r"(?<=[\w)\]]) - (?=[\w(])"), " + "),
    ("product", re.compile(r"(?<=[\w)\]]) \* (?=[\w(])"), " + "),
    ("less", re.compile(r"(?<=[\w)\]]) < (?=[\w(])"), " <= "),
    ("most", re.compile(r"(?<=[\w)\]]) <= (?=[\w(])"), " < "),
    ("greater", re.compile(r"(?<=[\w)\]]) > (?=[\w(])"), " < "),
    ("accumulate", re.compile(r" \+= "), " = "),
    ("number", re.compile(r"(?<=[ (\[])([1-9])(?=[,;)\] ])"), None),
    ("float", re.compile(r"(?<=[ (])(\d+\.\d+)(?=f)"), None),
)


def wrapper():
    """As `cc`: the arguments of the compiler follow; what is to be done stands in the environment."""
    compiler, arguments = sys.argv[2], sys.argv[3:]
    for i, argument in enumerate(arguments):
        if not argument.endswith(".c") or argument.endswith(("main.c", "_weights.c")):
            continue
        text = Path(argument).read_text()
        if "MUTANT_COPY" in os.environ:
            (Path(os.environ["MUTANT_COPY"]) / Path(argument).name).write_text(text)
            continue
        start, end = (int(n) for n in os.environ["MUTANT_PLACE"].split(","))
        arguments[i] = argument[:-2] + "_mutant.c"
        Path(arguments[i]).write_text(text[:start] + os.environ["MUTANT_TEXT"] + text[end:])
    os.execvp(compiler, [compiler, *arguments])


Mutant = collections.namedtuple("Mutant", "kind start end text line")


def code_spans(text):
    """Lines of functions: neither directives nor comments nor tables."""
    at, inside = 0, False
    for line in text.splitlines(keepends=True):
        if re.match(r"^[a-zA-Z].*\) \{$", line):
            inside = True
        if line.startswith("}"):
            inside = False
        if inside and not line.lstrip().startswith(("#", "//", "/*", "*")) and "static const" not in line:
            yield at, line.split("//")[0].split("/*")[0]
        at += len(line)


def drawn(text, count, rng):
    sites = []
    for at, line in code_spans(text):
        for kind, pattern, instead in KINDS:
            for m in pattern.finditer(line):
                new = instead if instead else str(int(m[1]) + 1) if kind == "number" else str(float(m[1]) * 1.0625)
                sites.append(Mutant(kind, at + m.start(), at + m.end(), new, line.strip()))
    # As many of each kind as there are, else a model of products has nothing else.
    by_kind = collections.defaultdict(list)
    for site in sites:
        by_kind[site.kind].append(site)
    for each in by_kind.values():
        rng.shuffle(each)
    chosen = []
    while len(chosen) < count and any(by_kind.values()):
        chosen += [each.pop() for _, each in sorted(by_kind.items()) if each]
    return chosen[:count]


def listed(text, prefix):
    """Mutations of test/mutation in kernels that this C has."""
    sys.path.insert(0, str(ROOT / "scripts"))
    import mutation
    for path in sorted((ROOT / "test/mutation").glob("*.txt")):
        for m in mutation.parse_list(path):
            if "lib/chost/kernels/" not in m.file or not m.file.endswith(".c"):
                continue
            names = lambda t: t.replace("K_", prefix + "_")
            find = r"\s+".join(re.escape(names(word)) for word in m.find.split())
            for hit in list(re.finditer(find, text))[:1]:
                yield Mutant(m.id, hit.start(), hit.end(), names(m.replace), names(m.find).strip())


def verify(options, model, more, environment):
    me = [sys.executable, __file__, "--as-compiler", "gcc"]
    command = [options.mrvlc, "verify", model, "--target", "host", "-j", "1", "--cc", " ".join(me), "--cflags=-O1 -w"]
    command += ["--sets", "uniform,normal", *more]
    try:
        done = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        return "time"
    if "MRV0708" in done.stderr:
        return "does not compile"
    return {0: "passes", 5: "differs"}.get(done.returncode, f"fails ({done.returncode})")


def of_model(options, model, folder, pool):
    copies = folder / Path(model).stem
    copies.mkdir()
    plain = verify(options, model, STRICT, {"MUTANT_COPY": str(copies)})
    if plain != "passes":
        print(f"{model}: left out, the C as it is {plain} at 1e-4")
        return None
    program = next(copies.iterdir())
    text = program.read_text()
    mutants = [*listed(text, program.stem), *drawn(text, options.count, random.Random(f"{options.seed} {Path(model).name}"))]

    def judged(m):
        how = {"MUTANT_PLACE": f"{m.start},{m.end}", "MUTANT_TEXT": m.text}
        strict = verify(options, model, STRICT, how)
        return m, strict, verify(options, model, [], how) if strict == "differs" else strict

    counts = collections.Counter()
    for m, strict, limits in pool.map(judged, mutants):
        found = limits not in ("passes", "does not compile")
        counts["compile" if limits != "does not compile" else "do not"] += 1
        counts["strict"] += strict not in ("passes", "does not compile")
        counts["found"] += found
        if strict == "differs" and not found:
            print(f"{model}: EXCUSED {m.kind}: {m.line} (with {m.text!r})")
            counts["excused"] += 1
    print(f"{Path(model).name}: {counts['compile']} mutants, {counts['strict']} found at 1e-4, {counts['found']} found with the limits")
    return counts


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mrvlc", default=str(ROOT / "build/bin/mrvlc"))
    parser.add_argument("--count", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("-j", type=int, default=os.cpu_count())
    parser.add_argument("models", nargs="+", metavar="MODEL")
    options = parser.parse_args()
    total = collections.Counter()
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(options.j) as pool:
        for model in options.models:
            total += of_model(options, model, Path(folder), pool) or collections.Counter()
    print(f"{total['compile']} mutants: {total['strict']} found at 1e-4, {total['found']} with the limits, {total['excused']} excused")
    return 1 if total["excused"] else 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--as-compiler"]:
        wrapper()
    sys.exit(main())
