#!/usr/bin/python3
"""Usage: trust.py MRVLC WORK

Bundles tell of no folder of this machine, and their files do not take each other's place. Caches of `batch` that others may write into
are refused or said. Names that are one file, here or where upper and lower case are the same, are refused.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

MRVLC, WORK = pathlib.Path(sys.argv[1]).absolute(), pathlib.Path(sys.argv[2]).absolute()
TAKEN = "1 from the cache"
SECRET = "secretuser"
HOME = WORK / SECRET


def run(*words, code=0, said="", **options):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("MRVLC_")} | options.pop("env", {})
    done = subprocess.run([str(MRVLC), *map(str, words)], capture_output=True, text=True, timeout=100, env=environment, **options)
    text = done.stdout + done.stderr
    assert done.returncode == code and said in text, f"{' '.join(map(str, words))}: {done.returncode}: {text}"
    return text


def model(file, names="xy", external=None):
    weights = numpy_helper.from_array(np.ones((4, 4, 1, 1), np.float32), "w")
    graph = helper.make_graph([helper.make_node("Conv", ["x", "w"], ["y"], kernel_shape=[1, 1], name="conv")], "g",
                              [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 4, 8, 8])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)], [weights])
    made = helper.make_model(graph, ir_version=8, opset_imports=[helper.make_opsetid("", 17)])
    file.parent.mkdir(parents=True, exist_ok=True)
    if external is not None:
        onnx.save(made, str(file), save_as_external_data=True, location=external, size_threshold=0)
    else:
        onnx.save(made, file)
    return file


RULE = 'rule %s {\n layer cpu\n priority 1\n why "w"\n match { %%c = Relu(%%x) }\n where rank(%%x) == 4\n}\n'


def written(file, text):
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def unpacked(archive):
    """Contents by name; nothing names the user."""
    with tarfile.open(archive) as tar:
        files = {m.name: tar.extractfile(m).read() for m in tar.getmembers() if m.isfile()}
    for name, data in files.items():
        assert SECRET.encode() not in data and SECRET not in name, f"{name}: {data[:2000]!r}"
        assert str(WORK).encode() not in data, name
    return files


def bundles():
    folder = HOME / "project"
    net = model(folder / "options.json.onnx")
    # Files of options that are called like files of the bundle, and like each other.
    rules = [written(folder / d / "model.onnx", f'include "{other}"\n' + RULE % d) for d, other in (("a", "sub/more.rules"), ("b", "../a/missing.rules"))]
    written(folder / "a/sub/more.rules", RULE % "more")
    placement = written(folder / "messages.txt", json.dumps({"constraints": [{"nodes": "nowhere", "on": "cpu"}]}))
    (folder / "targets").mkdir()
    run("bundle", net, "-o", folder / "report.tar.gz", "--rules", rules[0], "--rules", rules[1], "--placement", placement, "--target-dir", folder / "targets",
        "--bind", f"x={folder}/x.npy", code=3, cwd=folder, env={"HOME": str(HOME)})
    np.save(folder / "x.npy", np.zeros((1, 4, 8, 8), np.float32))
    text = run("bundle", net, "-o", folder / "report.tar.gz", "--rules", rules[0], "--rules", rules[1], "--placement", placement, "--target-dir",
               folder / "targets", "--bind", f"x={folder}/x.npy", cwd=folder, env={"HOME": str(HOME), "MRVLC_LOG_LEVEL": "trace"})
    assert "not packed: --bind" in text and "not packed: --target-dir" in text, text
    files = unpacked(folder / "report.tar.gz")
    assert set(files) == {f"bundle/{n}" for n in ("model.onnx", "options.json", "versions.json", "messages.txt", "files/1/model.onnx",
                                                  "files/1/sub/more.rules", "files/2/model.onnx", "files/3/messages.txt")}, files.keys()
    onnx.load_model_from_string(files["bundle/model.onnx"])
    options = json.loads(files["bundle/options.json"])
    assert options["--rules"] == ["files/1/model.onnx", "files/2/model.onnx"] and options["--placement"] == ["files/3/messages.txt"], options
    assert b"exit code" in files["bundle/messages.txt"] and b"missing.rules" in files["bundle/messages.txt"], files["bundle/messages.txt"]
    # A value of an option that names a folder of this machine, and a model that is refused with its path.
    run("bundle", net, "-o", folder / "report.tar.gz", "--cpu", f"{HOME}/node", cwd=folder, env={"HOME": str(HOME)})
    assert b'".../node"' in unpacked(folder / "report.tar.gz")["bundle/options.json"]
    # External data called like files of the bundle.
    for location in "options.json", "model.onnx":
        net = model(folder / location / "net.onnx", external=location)
        run("bundle", net, "--with-weights", "-o", folder / "report.tar.gz", cwd=folder)
        files = unpacked(folder / "report.tar.gz")
        assert f"bundle/model/{location}" in files and b"exit code 0" in files["bundle/messages.txt"], files
    for victim in net, rules[0]:
        before = victim.read_bytes()
        run("bundle", net, "-o", victim, "--rules", rules[0], code=3, said="is packed")
        assert victim.read_bytes() == before
    run("bundle", net, "-o", net, code=3, said="is packed")


def caches():
    net, cache = model(WORK / "cached.onnx"), WORK / "cache"
    batch = lambda out, *more, **o: run("batch", net, "-o", WORK / out, "--target", "host", "--cache", cache, *more, **o)
    previous = os.umask(0o002)
    batch("b1", said="cached")
    os.umask(previous)
    assert not any(p.stat().st_mode & 0o022 for p in cache.rglob("*")) and not cache.stat().st_mode & 0o022
    batch("b2", said=TAKEN)
    cache.chmod(0o777)
    batch("b5", code=3, said="MRV1073")
    run("cache", cache, code=3, said="MRV1073")
    cache.chmod(0o775)
    batch("b6", said="MRV1074")
    cache.chmod(0o755)
    # A result that anybody could have written is not taken.
    entry = next(cache.rglob("entry.json"))
    for file, mode in (entry, 0o646), (entry, 0o664), (entry.parent, 0o757), (entry.parent.parent, 0o777):
        before = file.stat().st_mode
        file.chmod(mode)
        shutil.rmtree(WORK / "b7", ignore_errors=True)
        assert TAKEN not in batch("b7"), f"a result of mode {mode:o} was taken"
        file.chmod(before & 0o777)
    shutil.rmtree(WORK / "b7")
    batch("b7", said=TAKEN)
    source = entry.parent / "out/cached.c"
    source.unlink()
    source.symlink_to(WORK / "b1/cached/cached.c")
    shutil.rmtree(WORK / "b7")
    assert TAKEN not in batch("b7"), "a link was followed"
    open_folder = WORK / "open"
    open_folder.mkdir()
    open_folder.chmod(0o777)
    run("batch", net, "-o", WORK / "b9", "--target", "host", "--cache", open_folder / "cache", code=3, said="in its place")
    if os.geteuid() == 0:
        os.chown(cache, 4242, -1)
        batch("b10", said="user 4242")
        os.chown(cache, 0, -1)
        os.chown(entry, 4242, -1)
        shutil.rmtree(WORK / "b10")
        assert TAKEN not in batch("b10"), "a result of a stranger was taken"


def names():
    # Folders of models that are files of the batch, whatever the case.
    for name in "batch.json", "batch.html", "Batch.JSON":
        net = model(WORK / f"named/{name}.onnx")
        text = run("batch", net, "-o", WORK / "named-out", "--target", "host", code=2, said="MRV1075")
        assert name in text and name.lower() in text, text
        run("compile", net, "-o", WORK / "named-one", "--target", "host")
    two = [model(WORK / f"case/{d}/{n}.onnx") for d, n in (("p", "Net"), ("q", "net"))]
    run("batch", *two, "-o", WORK / "case-out", "--target", "host")
    made = [m["out"] for m in json.loads((WORK / "case-out/batch.json").read_text())["models"]]
    assert len({n.lower() for n in made}) == 2, made
    # `main` in any case; other names of files of ours do not collide.
    net = model(WORK / "net.onnx")
    for name in "main", "Main", "MAIN":
        run("compile", net, "-o", WORK / "main-out", "--name", name, code=2, said=name)
    for name in "manifest", "report", "idmap", "placement", "graph", "memory", "Makefile", "bare", "example", "target":
        emit = ["--emit", "ir", "--emit", "disasm", *(["--emit", "bare"] if name != "bare" else [])]
        run("compile", net, "-o", WORK / "ours", "--name", name, *emit, "-q")
        run("compile", net, "-o", WORK / "ours", "--name", name, "--emit", "single", "--target", "host", "-q")
    assert run("compile", model(WORK / "MAIN.onnx"), "-o", WORK / "ours", "-q") == ""
    assert (WORK / "ours/m_MAIN.c").exists()


def packages():
    """Libraries whose files are called alike, or like files of ours."""
    net = model(WORK / "net.onnx")
    def package(name, source, text="int unused;\n"):
        folder = WORK / "packages" / name
        written(folder / "target.json", json.dumps({"name": name, "kind": "call", "description": "d", "rules": ["r.rules"], "headers": [],
                                                    "sources": [source]}))
        written(folder / "r.rules", 'rule %s {\n layer call\n priority 1\n why "w"\n match { %%c = Relu(%%x) }\n where rank(%%x) == 4\n call f(%%x, %%c)\n}\n' % name)
        written(folder / source, text)
    package("one", "util.c")
    package("two", "util.c", "int other;\n")
    package("three", "Util.c")
    package("four", "Net.c")
    package("five", "net_weights.c")
    package("six", "report.json")
    compile_for = lambda targets, code, *said: [run("compile", net, "-o", WORK / "linked", "--name", "net", "--weights", "c", "--target", targets, "--target-dir",
                                                    WORK / "packages", code=code, said=s) for s in said]
    compile_for("one,host", 0, "")
    compile_for("one,two,host", 1, "MRV0353", "'two'", "'one'")
    compile_for("one,three,host", 1, "MRV0353", "'Util.c'", "'util.c'")
    compile_for("four,host", 1, "'Net.c'", "'net.c'")
    compile_for("five,host", 3, "net_weights.c")
    # The only files of packages that go to OUT are called .c and .h.
    compile_for("six,host", 1, "MRV0351")


def code_of_others():
    """What docs/security.md says runs no code: a plug-in whose library leaves a mark when it is loaded."""
    folder, mark = WORK / "plugin", WORK / "mark"
    folder.mkdir()
    run("targets", "new", "own", "--kind", "plugin", cwd=folder)
    written(folder / "marked.c", """#include <stdio.h>
#include <stdlib.h>
#include "own/own.c"
__attribute__((constructor)) static void leave_a_mark(void) {
  const char* name = getenv("MARK");
  FILE* file = name ? fopen(name, "a") : NULL;
  if (file) fclose(file);
}
""")
    subprocess.run(["cc", "-shared", "-fPIC", f"-I{pathlib.Path(__file__).parents[3] / 'include'}", folder / "marked.c", "-o", folder / "own/own.so"], check=True)
    example, out, at = folder / "own/example.onnx", folder / "out", ("--target-dir", folder)

    def loads(*words, code=0):
        mark.unlink(missing_ok=True)
        run(*words, code=code, cwd=folder, env={"MARK": str(mark)})
        return mark.exists()

    assert loads("compile", example, "-o", out, "--target", "own,host", *at), "the library has no mark"
    binary = next(out.glob("*.mrvl"))
    for words in (("targets", "list", *at), ("targets", "show", "own", "--json", *at), ("rules", "check", folder / "own/own.rules"),
                  ("rules", "format", folder / "own/own.rules"), ("inspect", example), ("explain", out), ("explain", out, "--json"),
                  ("map", out, "--region", 0), ("disasm", binary), ("graph", out, "-o", folder / "g.html"), ("ops",),
                  ("bundle", example, "-o", folder / "b.tar.gz", "--target", "own,host", *at)):
        assert not loads(*words), words


def main():
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)
    bundles()
    caches()
    names()
    packages()
    code_of_others()


main()
