"""usage: driver.py MRVLC CHECK SOURCE BUILD WORK

mrvl-device-check on the simulator, on a driver that hands everything on to it, and on drivers with one mistake each (faulty.c): each is
named. WORK is emptied first.
"""

import pathlib
import shutil
import subprocess
import sys

MRVLC, CHECK, SOURCE, BUILD, WORK = (pathlib.Path(a).absolute() for a in sys.argv[1:])
HERE = pathlib.Path(__file__).absolute().parent

# By number: what is said of the mistake.
SAID = {
    1: "load takes zeros for a binary",
    2: "identity is not the binary's",
    3: "run takes an output that is too short",
    4: "a run that was refused wrote to outputs",
    5: "run writes outside of its outputs",
    6: "run writes outside of its outputs",
    7: "run changes its inputs",
    8: "the same inputs give other bits",
    9: "the same inputs give other bits, or an output is not written",
    10: "flags of a run are still there after the next one",
    11: "failed_at names an instruction of a run that did not fail",
    12: "ports that are aligned to 4 bytes give other bits",
    13: "flags has bits that mean nothing",
    14: "its version is another one",
    15: "load, unload or run is null",
    16: "written is not all bytes of an output",
    17: "no run ends within a time limit of an hour",
    18: "run fails after the time limit was taken away",
    19: "of submit and wait one is null",
    20: "submit takes fewer runs than MRVL_DEVICE_IN_FLIGHT",
    21: "submit takes an output that is too short",
    22: "the error of a run in flight comes with another one",
    23: "in flight",
    24: "a run in flight has another error than run",
    25: "flags are not those of the run waited for",
}


def run(*command, status=0):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, cwd=WORK)
    assert done.returncode == status, f"{command}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout


def build(fault, *more):
    run("cc", "-std=c99", "-O1", "-Wall", "-Wextra", "-Wno-unused", "-shared", "-fPIC", f"-DFAULT={fault}", *more, f"-I{SOURCE / 'include'}", "-o", "driver.so",
        HERE / "faulty.c", f"-L{BUILD / 'lib'}", f"-Wl,-rpath,{BUILD / 'lib'}", "-lmrvl_simdev")
    return "./driver.so"


shutil.rmtree(WORK, ignore_errors=True)
WORK.mkdir(parents=True)
run(MRVLC, "compile", SOURCE / "models/digits/digits.onnx", "-o", "out", "-q")
binary = "out/digits.region0.mrvl"
assert "as it should be" in run(CHECK, "simulator", binary)
assert "as it should be" in run(CHECK, build(0), binary)
for without in (1, 2):  # no submit in the table; a table of before there was one
    assert "as it should be" in run(CHECK, build(0, f"-DWITHOUT={without}"), binary)
for number, said in SAID.items():
    text = run(CHECK, build(number), binary, status=1)
    assert said in text, f"{number}: {text}"
# The one to begin with compiles, and does what it says: nothing yet.
run("cc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", f"-I{SOURCE / 'include'}", "-o", "skeleton.so", SOURCE / "lib/runtime/skeleton/driver.c")
assert "run fails" in run(CHECK, "./skeleton.so", binary, status=1)
run(CHECK, "/nowhere.so", binary, status=2)
run(CHECK, "simulator", status=2)
assert "is no model binary" in run(CHECK, "simulator", "out/digits.c", status=1)
print(f"{len(SAID)} faulty drivers, each named")
