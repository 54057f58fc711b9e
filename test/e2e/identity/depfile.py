#!/usr/bin/python3
"""usage: depfile.py MRVLC TARGET_JSON WORK

`make -q` as the judge of dependency files: a build that is done is left alone, and one is due again when anything changes that
decides on OUT: what was read, what would be read if it were there, the environment, names that make reads otherwise. WORK is
emptied first."""

import json
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import time

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

MRVLC, MACHINE, WORK = (pathlib.Path(a).absolute() for a in sys.argv[1:])
PAST = time.time() - 3600
CLEAN = {k: v for k, v in os.environ.items() if not k.startswith(("MRVLC_", "MAKE")) and k != "MFLAGS"}
FAILED = []


def write(name, text):
    path = pathlib.Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    os.utime(path, (PAST, PAST))
    return path


def model(name):
    info = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [1, 4]) for n in "xyz"]
    graph = helper.make_graph([helper.make_node("Add", ["x", "y"], ["z"])], "g", info[:2], info[2:])
    write(name, "")
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), name)
    os.utime(name, (PAST, PAST))


def product(name):
    """A layer that integers may compute."""
    info = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [1, 4]) for n in "xz"]
    weights = numpy_helper.from_array(np.random.default_rng(1).normal(size=(4, 4)).astype(np.float32), "w")
    graph = helper.make_graph([helper.make_node("MatMul", ["x", "w"], ["z"])], "g", info[:1], info[1:], [weights])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), name)
    os.utime(name, (PAST, PAST))


def package(folder, name="mine", **more):
    write(f"{folder}/{name}/target.json", json.dumps({"name": name, "extends": "cn10ka", **more}))


def samples(folder, names):
    for name in names:
        pathlib.Path(folder, name).mkdir(parents=True)
        np.save(f"{folder}/{name}/x.npy", np.arange(4, dtype=np.float32).reshape(1, 4))
    for path in [pathlib.Path(folder), *pathlib.Path(folder).rglob("*")]:
        os.utime(path, (PAST, PAST))


def make(*options, env=()):
    done = subprocess.run(["make", *options], env={**CLEAN, **dict(env)}, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def scene(title, options="", name="m.onnx", prepare=None, change=None, env=(), env_after=None, again=True):
    """Built; left alone; due after the change; built again, and left alone again."""
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)
    os.chdir(WORK)
    model(name)
    if prepare:
        prepare()
    command = f"{shlex.quote(str(MRVLC))} compile {shlex.quote('./' + name)} --name m -o o -q -MF o.d -MT o/manifest.json {options}"
    write("build.sh", command + "\n")
    write("Makefile", "o/manifest.json:\n\tsh build.sh\n-include o.d\n")
    after = env if env_after is None else env_after
    steps = [(0, make(env=env)), (0, make("-q", env=env))]
    # The clock of files may stand still for some milliseconds on a busy machine.
    before = time.time() - 1
    for path in [pathlib.Path("o"), *pathlib.Path("o").rglob("*")]:
        os.utime(path, (before, before))
    (change or (lambda: os.utime(name)))()
    time.sleep(0.01)
    steps += [(1, make("-q", env=after))]
    if again:
        steps += [(0, make(env=after)), (0, make("-q", env=after))]
    wrong = [f"step {i + 1}: make ended with {code}, not {want}: {text}" for i, (want, (code, text)) in enumerate(steps) if code != want]
    if wrong:
        FAILED.append(title)
        print(f"{title}\n  " + "\n  ".join(wrong))
        print(pathlib.Path("o.d").read_text() if pathlib.Path("o.d").exists() else "  no o.d")


def changes():
    host = "--target host "
    mine = "--target mine --no-probe --target-dir a --target-dir b"
    scene("the model", host)
    scene("a project file that changes", host, prepare=lambda: write("mrvlc.json", "{}"), change=lambda: os.utime("mrvlc.json"))
    scene("a project file that goes", host, prepare=lambda: write("mrvlc.json", "{}"), change=lambda: os.unlink("mrvlc.json"))
    scene("a project file that appears", host, change=lambda: write("mrvlc.json", '{"compile": {"threads": 2}}'))
    scene("a file of options", "@more", prepare=lambda: write("more", host), change=lambda: os.utime("more"))
    scene("a variable that is set", host, env_after={"MRVLC_THREADS": "2"})
    scene("a variable that changes", host, env={"MRVLC_THREADS": "3"}, env_after={"MRVLC_THREADS": "2"})
    scene("a variable that goes", host, env={"MRVLC_THREADS": "3"}, env_after={})
    scene("a bound input", host + "--bind y=y.npy", prepare=lambda: np.save("y.npy", np.ones((1, 4), np.float32)) or os.utime("y.npy", (PAST, PAST)),
          change=lambda: os.utime("y.npy"))  # fmt: skip
    scene("the model on stdin, with what is read beside it", host + "--rules r <m.onnx", name="-", prepare=lambda: (model("m.onnx"), write("r", "")),
          change=lambda: os.utime("r"))  # fmt: skip
    scene("a rule file that is included", host + "--rules r", prepare=lambda: (write("r", 'include "s"\n'), write("s", "")),
          change=lambda: os.utime("s"))  # fmt: skip
    scene("a package", mine, prepare=lambda: (package("b"), os.mkdir("a")), change=lambda: os.utime("b/mine/target.json"))
    scene("a package in a folder that comes first", mine, prepare=lambda: (package("b"), os.mkdir("a")), change=lambda: package("a"))
    scene("a package in the place of a built-in one", "--no-probe --target-dir a", prepare=lambda: os.mkdir("a"), change=lambda: package("a", "cn10ka"))
    scene("what a package extends, in a folder that comes first", mine, prepare=lambda: (package("b"), os.mkdir("a")),
          change=lambda: package("a", "cn10ka"))  # fmt: skip
    scene("a search path that changes", "--no-probe", prepare=lambda: package("a", "cn10ka"), env_after={"MRVLC_TARGET_PATH": "a"})
    scene("a folder of the search path that appears", "--no-probe", env={"MRVLC_TARGET_PATH": "a"}, change=lambda: package("a", "cn10ka"))
    scene("data folders of another place", "--target mine --no-probe", prepare=lambda: (package("x/mrvlc/targets"), package("y/mrvlc/targets")),
          env={"XDG_DATA_HOME": str(WORK / "x")}, env_after={"XDG_DATA_HOME": str(WORK / "y")})  # fmt: skip
    data = "--no-probe --precision int8 --data d"
    scene("a sample that is added", data, prepare=lambda: (product("m.onnx"), samples("d", "ab")), change=lambda: shutil.copytree("d/a", "d/c", copy_function=shutil.copy2))
    scene("a sample that is removed", data, prepare=lambda: (product("m.onnx"), samples("d", "ab")), change=lambda: shutil.rmtree("d/b"))


def compiler():
    """Another mrvlc: a link, so that no test waits for a copy, is what /proc says it points to."""
    own = WORK.parent / "depfile-mrvlc"
    shutil.copy2(MRVLC, own)
    os.utime(own, (PAST, PAST))
    global_binary = globals()["MRVLC"]
    globals()["MRVLC"] = own
    scene("the compiler", "--target host", change=lambda: os.utime(own))
    globals()["MRVLC"] = global_binary
    own.unlink()


def names():
    for name in ["epoch=5-step=100.onnx", "=.onnx", "a%b.onnx", "a\tb.onnx", "a b.onnx", "a#b.onnx", "a$b.onnx", "a:b.onnx", "~a.onnx",
                 "a\\b.onnx", "a\\ b.onnx", "a(b).onnx", "a'\"b.onnx", "a,b.onnx", "a&b.onnx", "ä.onnx"]:  # fmt: skip
        scene(f"a model called {name!r}", "--target host", name=name)
    for name in ["a[1].onnx", "a*.onnx", "a?.onnx"]:
        scene(f"a model called {name!r} beside another", "--target host", name=name, prepare=lambda: write("a1.onnx", ""))
    for name in ["p=q", "p%q", "p q", "p\tq", "p#q", "p$q", "p:q", "p(q)"]:
        option = f"--target {shlex.quote(name)} --no-probe --target-dir b"
        scene(f"a package called {name!r}", option, prepare=lambda: package("b", name), change=lambda: os.utime(f"b/{name}/target.json"))
        first = option.replace("--target-dir b", "--target-dir a --target-dir b")
        scene(f"a package called {name!r} that comes first", first, prepare=lambda: (package("b", name), os.mkdir("a")), change=lambda: package("a", name))


def touch_behind(name, other):
    """A second after `other`: clocks of files have ticks, and some are set back."""
    late = os.stat(other).st_mtime_ns + 10**9
    os.utime(name, ns=(late, late))


def outs():
    """Built again, or refused."""
    for out in ["o=p", "o%p", "o p", "o\tp", "o#p", "o$p", "o:p", "o[1]", "o(p)", "o;p", "o|p", "o\\"]:
        shutil.rmtree(WORK, ignore_errors=True)
        WORK.mkdir(parents=True)
        os.chdir(WORK)
        model("m.onnx")
        # The target is named as a variable: only the dependency file has it with quotes.
        write("build.sh", f"{shlex.quote(str(MRVLC))} compile m.onnx --name m -o {shlex.quote(out)} -q -MF o.d --target host --depfile-form make\n")
        write("Makefile", "-include o.d\n%.json:\n\tsh build.sh\n")
        built = subprocess.run(["sh", "build.sh"], env=CLEAN, capture_output=True, text=True)
        if built.returncode == 2 and "MRV0004" in built.stderr:
            continue
        before = make("-q")
        touch_behind("m.onnx", f"{out}/manifest.json")
        after = make("-q")
        if built.returncode != 0 or before[0] != 0 or after[0] != 1:
            FAILED.append(f"OUT {out!r}")
            print(f"OUT {out!r}: {built.stderr}", before, after, pathlib.Path("o.d").read_text())


def ninja():
    """The plain form has no words that Ninja does not read, and says what it leaves out."""
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)
    os.chdir(WORK)
    model("m.onnx")
    command = [str(MRVLC), "compile", "m.onnx", "-o", "o", "-MD", "--target", "host"]
    done = subprocess.run(command, env={**CLEAN, "MRVLC_THREADS": "2"}, capture_output=True, text=True)
    assert done.returncode == 0 and "MRV1080" in done.stderr and "MRVLC_THREADS=2" in done.stderr, done.stderr
    text = pathlib.Path("o.d").read_text()
    assert text.startswith("o/manifest.json: m.onnx ") and "$" not in text and "ifneq" not in text, text
    done = subprocess.run(command, env=CLEAN, capture_output=True, text=True)
    assert done.returncode == 0 and "MRV1080" not in done.stderr, done.stderr


def main():
    if not shutil.which("make"):
        print("skipped: make is not installed")
        return
    changes()
    compiler()
    names()
    outs()
    ninja()
    os.chdir("/")
    assert not FAILED, FAILED
    print("ok")


main()
