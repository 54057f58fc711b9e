#!/usr/bin/python3
"""Usage: compilers.py MRVLC SCRIPTS WORK

scripts/compilers.py on some of the cases of scripts/compiler_cases.py: flags that loosen floats give the same numbers, and what is
wrong is told, with exit code 1. WORK is emptied first."""
import pathlib
import shutil
import subprocess
import sys

MRVLC, SCRIPTS, WORK = (pathlib.Path(a).absolute() for a in sys.argv[1:])
SOME = ("exp", "softmax", "round", "gelu_tanh", "nan_max", "nan_reducemax", "cast_int8", "quantize", "qlinear_conv", "qlinearadd", "resize_linear",
        "conv_half", "layernorm", "div")
shutil.rmtree(WORK, ignore_errors=True)
WORK.mkdir(parents=True)
subprocess.run(["/usr/bin/python3", "-B", SCRIPTS / "compiler_cases.py", WORK], check=True)
names = {p.stem for p in WORK.glob("*.onnx")}
assert len(names) >= 94 and names >= set(SOME), names


def compare(only, *models, folder=SCRIPTS):
    command = ["/usr/bin/python3", "-B", folder / "compilers.py", "--mrvlc", MRVLC, "--only", only, *models]
    return subprocess.run([str(c) for c in command], capture_output=True, text=True)


done = compare("gcc -O2 -f", *(WORK / f"{name}.onnx" for name in SOME))
print(done.stdout, done.stderr)
rows = [line.split("|")[1:-1] for line in done.stdout.splitlines() if line.startswith("| gcc | -O2 -f")]
assert done.returncode == 0 and len(rows) == 4, done
for row in rows:
    assert int(row[2]) + int(row[3]) == len(SOME), row

# Flags that make another program of it.
text = (SCRIPTS / "compilers.py").read_text()
assert text.count('"-O2 -freciprocal-math"') == 1
(WORK / "compilers.py").write_text(text.replace('"-O2 -freciprocal-math"', '"-O2 -Dfloorf=ceilf"'))
for helper in SCRIPTS.glob("*.py"):
    if helper.name != "compilers.py":
        shutil.copy(helper, WORK)
done = compare("gcc -O2 -D", WORK / "floor.onnx", WORK / "div.onnx", folder=WORK)
assert done.returncode == 1 and "WRONG: output 0 off by" in done.stdout and "| gcc | -O2 -Dfloorf=ceilf | 1 | 0 | 0 | 0 | 1 |" in done.stdout, done
