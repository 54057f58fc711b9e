"""What the tests of integers have in common: mrvlc called and its answer judged, problems gathered."""
import pathlib
import subprocess
import sys

MRVLC, DIGITS, WORK = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
MODEL = DIGITS / "digits.onnx"
problems = []


def check(condition, what):
    if not condition:
        problems.append(what)


def mrvlc(*arguments, code=0, says=""):
    ran = subprocess.run([MRVLC, *map(str, arguments)], capture_output=True, text=True, check=False)
    shown = f"mrvlc {' '.join(map(str, arguments))}"
    check(ran.returncode == code, f"{shown}: exit {ran.returncode}, not {code}: {ran.stderr}")
    check(says in ran.stdout + ran.stderr, f"{shown}: does not say '{says}': {ran.stdout + ran.stderr}")
    return ran.stdout
