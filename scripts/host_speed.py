#!/usr/bin/python3
"""Times host code against ONNX Runtime over all networks, one thread each, in alternating rounds (bench.sh --all).

    host_speed.py --mrvlc BIN [--against BIN] [--data DIR] [-r ROUNDS] [--only PATTERN] [--write FILE] [-- OPTION...]

Networks are the float ones of DIR/zoo, those of models/generators, and, apart, the zoo's quantised ones. Times are by the
clock, the least of all samples; a sample is a batch of runs that takes 0.2 ms or more. Speed is ONNX Runtime's time over
ours: above 1 ours is faster. Rounds alternate, so that what else the machine does meets both; a round takes about a third of
a second. "Spread" is how far the leasts of the rounds lie apart, the second smallest over the smallest, of the two the larger:
above 1.2 nothing is written, and the exit status is 5. Means are of networks that take ONNX Runtime more than 0.1 ms, as
below the call is timed as much as the network. "First" is the time from the start of the program
to its first result, for ONNX Runtime from loading its library on (without Node.js), and "MiB" the memory of the process, for
ONNX Runtime what loading it and one run add to Node.js. --against times the code of another build's mrvlc too. --write
replaces the table between the markers `<!-- begin host -->` and `<!-- end host -->` of FILE. $ORT_DIR holds ONNX Runtime;
OPTIONs go to mrvlc compile. $CC and $CFLAGS as in bench.sh.
"""

import argparse
import fnmatch
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from performance_tables import markdown, replace_table, run_script

ROOT = Path(__file__).resolve().parent.parent
GENERATED = ("resnet50", "mobilenetv2", "transformer_encoder", "densenet121", "inception_v1", "shufflenet", "bilstm",
             "byte_classifier")
LEAST_MS = 0.1  # of ONNX Runtime, for means; below, calls are timed rather than networks
MOST_SPREAD = 1.2


def arguments():
    split = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    own, options = sys.argv[1:split], sys.argv[split + 1:]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mrvlc", required=True, metavar="BIN")
    parser.add_argument("--against", metavar="BIN")
    parser.add_argument("--data", metavar="DIR", help="folder with zoo/NAME.onnx; without it those rows are left out")
    parser.add_argument("-r", "--rounds", type=int, default=5, metavar="ROUNDS")
    parser.add_argument("--only", default="*", metavar="PATTERN", help="of names of networks")
    parser.add_argument("--write", metavar="FILE")
    args = parser.parse_args(own)
    if args.rounds < 1:
        parser.error("ROUNDS must be positive")
    if args.write and (args.data is None or args.only != "*"):
        parser.error("the file has rows of every network: --data is needed, and --only is not allowed")
    args.options = options
    return args


def call(command, **kw):
    return subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True, **kw).stdout


def is_quantised(path):
    import onnx
    kinds = {n.op_type for n in onnx.load(path).graph.node}
    return bool(kinds & {"QLinearConv", "ConvInteger", "QLinearMatMul", "MatMulInteger", "DequantizeLinear"})


def networks(args, work):
    """[(name, path)]"""
    found = []
    if args.data:
        found += [(p.stem, p) for p in sorted(Path(args.data, "zoo").glob("*.onnx"))]
    for name in GENERATED:
        if fnmatch.fnmatch(name, args.only):
            call([sys.executable, ROOT / "models/generators/make_models.py", name, "-o", work])
            found.append((name, Path(work, f"{name}.onnx")))
    return [(name, path) for name, path in found if fnmatch.fnmatch(name, args.only)]


class Ours:
    """A network compiled by one build."""

    def __init__(self, mrvlc, model, out, options):
        call([mrvlc, "-q", "compile", model, "--name", "model", "--target", "host", "-o", out, *options])
        prefix = Path(mrvlc).resolve().parent.parent
        call(["make", "-s", "-C", out, f"CC={os.environ.get('CC', 'gcc')}",
              f"CFLAGS={os.environ.get('CFLAGS', '-O3 -march=native')}", f"MRVLC_PREFIX={prefix}",
              f"MRVL_CFLAGS=-I{ROOT}/include"])
        self.program = Path(out, "model_example")

    def command(self, inputs):
        return [str(self.program), *(word for i in inputs for word in ("--input", i))]

    def least(self, inputs, runs):
        return least_of(call([*self.command(inputs), "--bench", runs]))

    def first(self, inputs):
        """milliseconds from start to end of a program that runs once"""
        begin = time.perf_counter()
        call(self.command(inputs))
        return 1e3 * (time.perf_counter() - begin)

    def mib(self, inputs, runs):
        """the most memory it has while it runs so often (what wait4() tells of a child begins with what its parent had)"""
        most = 0
        with subprocess.Popen([*self.command(inputs), "--bench", str(runs)], stdout=subprocess.DEVNULL) as child:
            while child.poll() is None:
                try:
                    own = Path(f"/proc/{child.pid}/exe").samefile(self.program)
                    found = re.search(r"VmHWM:\s*(\d+) kB", Path(f"/proc/{child.pid}/status").read_text(encoding="ascii"))
                except OSError:  # it has just ended
                    break
                most = int(found[1]) if own and found else most
                time.sleep(0.001)
        if child.returncode != 0:
            raise ValueError(f"{self.program} ended with {child.returncode}")
        return most / 1024


def least_of(text):
    found = re.search(r"min_ms ([0-9.e+-]+)", text)
    if not found:
        raise ValueError("a program that does not tell its least time")
    return max(float(found[1]), 1e-6)


def ort(*words):
    return call(["node", ROOT / "scripts/bench_ort.mjs", *words])


def shapes_and_inputs(name, path, args, folder):
    """([options], [NAME=FILE]): of reference data where there are some, as shapes may be open"""
    golden = Path(args.data or "", "golden", name)
    if not args.data or not Path(golden, "meta.json").exists():
        return [], ort("inputs", path, folder / "in").split()
    shapes = call([sys.executable, ROOT / "scripts/input_shapes.py", golden]).split("\n")
    names = [i["name"] for i in json.loads(Path(golden, "meta.json").read_text(encoding="utf-8"))["inputs"]]
    return [s for s in shapes if s], [f"{n}={next(golden.glob(f'in_{k}_*.npy'))}" for k, n in enumerate(names)]


def measure(name, path, args, work):
    """{column: figure}"""
    folder = Path(work, name)
    shapes, inputs = shapes_and_inputs(name, path, args, folder)
    options = [*shapes, *args.options]
    builds = [Ours(b, path, folder / str(i), options) for i, b in enumerate(filter(None, (args.mrvlc, args.against)))]
    ours, firsts, theirs, ort_firsts = [[] for _ in builds], [[] for _ in builds], [], []
    for _ in range(args.rounds):
        for i, build in enumerate(builds):
            once = build.least(inputs, 2)
            ours[i].append(build.least(inputs, max(3, min(30000, int(300 / once)))))
        once = least_of(ort("time", path, 2, *inputs))
        theirs.append(least_of(ort("time", path, max(3, min(30000, int(300 / once))), *inputs)))
        for i, build in enumerate(builds):
            firsts[i].append(build.first(inputs))
        ort_firsts.append([float(v) for v in re.findall(r"(?:first_ms|mib) ([0-9.]+)", ort("first", path, *inputs))])
    mib = builds[0].mib(inputs, max(3, min(30000, int(300 / min(ours[0])))))
    result = {"ours": min(ours[0]), "ort": min(theirs), "first": min(firsts[0]), "mib": mib,
              "ort_first": min(f[0] for f in ort_firsts), "ort_mib": min(f[1] for f in ort_firsts)}
    result["speed"] = result["ort"] / result["ours"]
    result["spread"] = max(sorted(times)[min(1, len(times) - 1)] / min(times) for times in (ours[0], theirs))
    if len(builds) > 1:
        result["against"] = min(ours[1]) / result["ours"]
        result["against_first"] = min(firsts[1]) / result["first"]
    return result


def mean(values):
    return math.exp(sum(map(math.log, values)) / len(values)) if values else math.nan


HEADER = ["network, one thread", "mrvlc ms", "ONNX Runtime ms", "speed", "spread", "first ms", "ONNX Runtime", "MiB", "ONNX Runtime"]

# With --against.
COMPARED = {"against": "other build / this", "against_first": "first, other build / this"}


def row(name, r, compared):
    cells = [name, f"{r['ours']:.3f}", f"{r['ort']:.3f}", f"{r['speed']:.2f}", f"{r['spread']:.2f}",
             f"{r['first']:.1f}", f"{r['ort_first']:.1f}", f"{r['mib']:.1f}", f"{r['ort_mib']:.1f}"]
    return cells + ([f"{r[key]:.2f}" for key in COMPARED] if compared else [])


def table(results, compared, title):
    """`results`: [(name, figures)] of one kind of network"""
    rows = [row(name, r, compared) for name, r in results]
    more = COMPARED if compared else {}
    columns = [("speed", 3), *((key, len(HEADER) + i) for i, key in enumerate(more))]
    longer = [r for _, r in results if r["ort"] > LEAST_MS]
    last = [f"**geometric mean of {len(longer)} above {LEAST_MS} ms**"] + [""] * (len(HEADER) - 1 + len(more))
    for key, at in columns:
        last[at] = f"**{mean([r[key] for r in longer]):.2f}**"
    header = [title, *HEADER[1:], *more.values()]
    return markdown(header, rows + [last])


def tables(floats, integers, compared):
    parts = []
    for results, title in ((floats, "network, one thread"), (integers, "network of integers, one thread")):
        if not results:
            continue
        slow = sorted((r["speed"], name) for name, r in results if r["speed"] < 1)
        below = ", ".join(f"{name} {speed:.2f}" for speed, name in slow) or "none"
        less = [mean([r[theirs] / r[ours] for _, r in results]) for ours, theirs in (("first", "ort_first"), ("mib", "ort_mib"))]
        parts.append(f"{table(results, compared, title)}\n\nBelow 1: {below}. In the geometric mean a first result takes 1/{less[0]:.1f} "
                     f"of ONNX Runtime's time, and 1/{less[1]:.1f} of its memory.")
    return "\n\n".join(parts)


def main():
    args = arguments()
    floats, integers = [], []
    with tempfile.TemporaryDirectory() as work:
        found = networks(args, work)
        if not found:
            raise ValueError(f"no network is called {args.only}")
        for name, path in found:
            result = measure(name, path, args, work)
            print(f"{name}: {result['ours']:.3f} ms, ONNX Runtime {result['ort']:.3f} ms, speed {result['speed']:.2f}",
                  file=sys.stderr, flush=True)
            subprocess.run(["rm", "-rf", Path(work, name)], check=True)
            (integers if is_quantised(path) else floats).append((name, result))
    text = tables(floats, integers, bool(args.against))
    noisy = [f"{name} {r['spread']:.2f}" for name, r in floats + integers if r["spread"] > MOST_SPREAD]
    if noisy:
        print(f"spread above {MOST_SPREAD}: {', '.join(noisy)}; measure again when nothing else runs", file=sys.stderr)
    if not args.write or noisy:
        print(text)
        return 5 if noisy else 0
    with open(args.write, encoding="utf-8") as file:
        after = replace_table(file.read(), "host", text)
    with open(args.write, "w", encoding="utf-8") as out:
        out.write(after)
    return 0


if __name__ == "__main__":
    run_script("host_speed", main)
