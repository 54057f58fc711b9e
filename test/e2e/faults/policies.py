"""usage: policies.py MRVLC INCLUDE WORK CASES NAME=MODEL[,OPTION...] ...

Compiles each model with every policy about devices that fail, and runs the stub on a device that plays seeded random faults
(policies.c), CASES in all at least. Every way a run can end must have come up. WORK is emptied first.
"""

import os
import pathlib
import shutil
import subprocess
import sys

from stub_program import build

POLICIES = {"error": 0, "retry": 1, "retry:3": 3, "cpu": 0, "retry:2,cpu": 2}


def main():
    mrvlc, include, work, least, *subjects = sys.argv[1:]
    shutil.rmtree(work, ignore_errors=True)
    pathlib.Path(work).mkdir(parents=True)
    os.chdir(work)
    count = -(-int(least) // (len(subjects) * len(POLICIES)))
    ended = {"undisturbed": 0, "by another run": 0, "by the CPU": 0, "with an error": 0}
    for subject in subjects:
        stem, rest = subject.split("=", 1)
        for seed, (policy, retries) in enumerate(POLICIES.items()):
            name = f"{stem}_{seed}"
            cpu = ["--on-overflow", "cpu"] if "cpu" in policy else []
            subprocess.run([mrvlc, "-q", "compile", *rest.split(","), "--name", name, "-o", name, "--on-device-error", policy, *cpu],
                           check=True)
            build(mrvlc, include, "policies", name)
            done = subprocess.run([f"./policies_{name}", name, str(seed + 1), str(count), str(retries)], capture_output=True,
                                  text=True, timeout=200)
            if done.returncode != 0:
                sys.exit(f"FAILED: {subject}, {policy}: {done.stderr}")
            for end, number in zip(ended, done.stdout.split(), strict=True):
                ended[end] += int(number)
    print(f"{sum(ended.values())} faults: " + ", ".join(f"{n} ended {end}" for end, n in ended.items()))
    sys.exit(0 if all(ended.values()) and sum(ended.values()) >= int(least) else 1)


main()
