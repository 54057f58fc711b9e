#!/usr/bin/env python3
"""Damaged files beside the model: what mrvlc reads as calibration, tuning, placement, host model, project
file, target package, library, values, and the JSON files of OUT. Each mutant must be refused with a
message or taken: no crash, no internal error (70), no report of a sanitizer, no hang.

  scripts/hostile_files.py MRVLC FOLDER [-n COUNT] [--seed S] [-j JOBS] [--only KIND,KIND]

Mutants that show a mistake are kept in FOLDER/found, with the command in a .sh file beside them.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
DIGITS = ROOT / "models" / "digits"
SECONDS = 120
EDGES = [0, 1, -1, 2**31, -2**31, 2**32, 2**53, 2**63 - 1, -2**63, 2**64, 1e308, -1e308, 1e-320, 0.5, True, None,
         "", "x", "../../x", "%s%n", "\u202e", "a\nb", "9" * 400, [], {}, [[]], [None]]


def mutate_value(value, rng):
    """One change somewhere in a JSON value; containers are changed at a random depth."""
    if isinstance(value, (dict, list)) and value and rng.random() < 0.8:
        keys = list(value) if isinstance(value, dict) else range(len(value))
        key = rng.choice(list(keys))
        choice = rng.random()
        if choice < 0.15:
            del value[key]
        elif choice < 0.25 and isinstance(value, dict):
            value[str(rng.choice(["", "x", "name", key + "x", "\u0000"]))] = value.pop(key)
        elif choice < 0.35 and isinstance(value, list):
            value.extend([value[key]] * rng.choice([1, 2, 1000]))
        else:
            value[key] = mutate_value(value[key], rng)
        return value
    if isinstance(value, bool) or not isinstance(value, (int, float)) or rng.random() < 0.4:
        return rng.choice(EDGES)
    return rng.choice([value + 1, value - 1, -value, value * 2, value * 2**20, value / 3, value // 2])


def mutate_text(text, rng):
    at = rng.randrange(len(text) + 1) if text else 0
    kind = rng.randrange(5)
    if kind == 0:
        return text[:at]
    if kind == 1:
        return text[:at] + bytes([rng.randrange(256)]) + text[at + 1:]
    if kind == 2:
        return text[:at] + text[at:at + rng.randrange(200)] + text[at:]
    if kind == 3:
        return text[:at] + b"[" * rng.choice([10, 10000, 200000]) + text[at:]
    return text[:at] + rng.choice([b"\xff\xfe", b"\0", b"\"", b"1e999999", b"-", b"}"]) + text[at:]


def mutant_of(text, rng):
    if rng.random() < 0.75:
        try:
            value = json.loads(text)
        except ValueError:
            return mutate_text(text, rng)
        for _ in range(rng.choice([1, 1, 1, 2, 4])):
            value = mutate_value(value, rng)
        return json.dumps(value).encode()
    return mutate_text(text, rng)


class Seeds:
    """The undamaged files, made once, and for each kind the commands that read a damaged one."""

    def __init__(self, mrvlc, folder):
        self.mrvlc, self.model = mrvlc, folder / "digits.onnx"
        shutil.rmtree(folder / "packages", ignore_errors=True)
        shutil.copy(DIGITS / "digits.onnx", self.model)
        samples = folder / "samples"
        samples.mkdir(exist_ok=True)
        shutil.copy(DIGITS / "test_x.npy", samples / "image.npy")
        self.out = folder / "seed_out"
        self.files = {}
        self.run("compile", self.model, "-o", self.out)
        self.made(folder, "calibration", "calibrate", self.model, "--data", samples, "-o", folder / "calibration.json")
        self.made(folder, "tuning", "tune", self.model, "-o", folder / "tuning.json", "--seconds", "2")
        self.made(folder, "host", "calibrate-host", self.model, "-o", folder / "host.json")
        for name in ("placement", "manifest", "idmap", "report", "proof"):
            self.files[name] = (self.out / f"{name}.json").read_bytes()
        self.files["project"] = json.dumps({"options": {"target": "cn10ka"}, "compile": {"optimize": "size", "threads": 2, "cpu": ["pool"]}}).encode()
        self.files["npy"] = (DIGITS / "test_x.npy").read_bytes()
        self.files["container"] = next(self.out.glob("*.mrvl")).read_bytes()
        self.run("targets", "new", "mine", "--kind", "variant", "-o", folder / "packages")
        self.run("targets", "new", "lib", "--kind", "call", "-o", folder / "packages")
        self.packages = folder / "packages"
        for name in ("mine", "lib"):
            self.files[f"package-{name}"] = (self.packages / name / "target.json").read_bytes()

    def run(self, *args):
        done = subprocess.run([self.mrvlc, *map(str, args)], capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"hostile_files.py: {' '.join(map(str, args))}: {done.stderr}")

    def made(self, folder, name, *args):
        self.run(*args)
        self.files[name] = (folder / f"{name}.json").read_bytes()

    def commands(self, kind, damaged, work):
        """Argument lists that read the file `damaged` of this kind; `work` is a folder of the mutant."""
        compile_ = ["compile", self.model, "-o", work / "out"]
        simple = {"calibration": ["--calibration", damaged], "tuning": ["--tuning", damaged, "--target", "host"],
                  "host": ["--partition", "cost", "--host-model", damaged], "placement": ["--placement", damaged],
                  "project": ["--project", damaged]}
        if kind in simple:
            return [compile_ + simple[kind]]
        if kind == "npy":
            (work / "data").mkdir(exist_ok=True)
            shutil.copy(damaged, work / "data" / "image.npy")
            return [["calibrate", self.model, "--data", work / "data", "-o", work / "cal.json", "--no-sensitivity"]]
        if kind.startswith("package-"):
            name = kind.split("-")[1]
            shutil.copytree(self.packages / name, work / name, dirs_exist_ok=True)
            shutil.copy(damaged, work / name / "target.json")
            return [compile_ + ["--target-dir", work, "--target", name], ["targets", "check", work / name, "--cc", "true"]]
        if kind == "container":
            return [["disasm", damaged]]
        shutil.copytree(self.out, work / "copy", dirs_exist_ok=True)
        shutil.copy(damaged, work / "copy" / f"{kind}.json")
        if kind == "proof":
            return [["prove", work / "copy", self.model]]
        return [["explain", work / "copy"], ["map", work / "copy", "--node", "conv1"], ["diff", self.out, work / "copy"],
                ["profile", work / "copy"]]


def judge(seeds, kind, number, folder, seed):
    rng = random.Random(f"{seed} {kind} {number}")
    work = folder / f"work_{kind}_{number}"
    work.mkdir(parents=True, exist_ok=True)
    damaged = work / f"damaged.{'npy' if kind == 'npy' else 'mrvl' if kind == 'container' else 'json'}"
    damaged.write_bytes(mutant_of(seeds.files[kind], rng))
    wrong, taken = [], 0
    for args in seeds.commands(kind, damaged, work):
        line = [seeds.mrvlc, *map(str, args)]
        try:
            done = subprocess.run(line, capture_output=True, timeout=SECONDS, stdin=subprocess.DEVNULL)
            said = done.stderr.decode(errors="replace")
            bad = done.returncode not in (0, 1, 2, 3, 4, 5) or "Sanitizer" in said or "runtime error" in said
            bad = bad or (done.returncode != 0 and not said.strip() and not done.stdout)
            taken += done.returncode == 0
            reason = f"exit {done.returncode}: {said[-1500:]}"
        except subprocess.TimeoutExpired:
            bad, reason = True, f"over {SECONDS} s"
        if bad:
            wrong.append((line, reason))
    if wrong:
        keep = folder / "found" / f"{kind}_{number}"
        shutil.copytree(work, keep, dirs_exist_ok=True)
        (keep / "command.sh").write_text("".join(f"{' '.join(l)}\n# {r!r}\n" for l, r in wrong))
    shutil.rmtree(work)
    return kind, taken, wrong


def check_undamaged(seeds, kind, folder):
    work = folder / f"undamaged_{kind}"
    work.mkdir(parents=True, exist_ok=True)
    file = work / "undamaged.npy"
    file.write_bytes(seeds.files[kind])
    seeds.run(*seeds.commands(kind, file, work)[0])
    shutil.rmtree(work)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mrvlc")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("-n", type=int, default=1000, help="mutants in all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("-j", type=int, default=os.cpu_count())
    parser.add_argument("--only", default="")
    args = parser.parse_args()
    folder = args.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    os.environ["MRVLC_CACHE"] = ""
    seeds = Seeds(str(pathlib.Path(args.mrvlc).resolve()), folder)
    kinds = [k for k in seeds.files if not args.only or k in args.only.split(",")]
    for kind in kinds:
        check_undamaged(seeds, kind, folder)
    count = {k: [0, 0, 0] for k in kinds}
    with concurrent.futures.ThreadPoolExecutor(args.j) as pool:
        jobs = [pool.submit(judge, seeds, kinds[n % len(kinds)], n, folder, args.seed) for n in range(args.n)]
        for job in concurrent.futures.as_completed(jobs):
            kind, taken, wrong = job.result()
            count[kind][0] += 1
            count[kind][1] += taken > 0
            count[kind][2] += len(wrong) > 0
            for line, reason in wrong:
                print(f"WRONG {kind}: {' '.join(line)}\n  {reason}", flush=True)
    print(f"{'file':16} {'mutants':>8} {'taken':>8} {'wrong':>8}")
    for kind, (mutants, taken, wrong) in count.items():
        print(f"{kind:16} {mutants:8} {taken:8} {wrong:8}")
    return any(wrong for _, _, wrong in count.values())


if __name__ == "__main__":
    sys.exit(main())
