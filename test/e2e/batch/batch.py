"""usage: batch.py MRVLC DIGITS.onnx PAGE WORK [ZOO]

`mrvlc batch`: results, failures and limits; what is done again and what is not; a batch that is killed at random moments; writers that share a cache;
the examples of the page (docs/batch.md), with the real programs where they are. With ZOO, a folder of models, these alone: a second run has nothing to do. WORK is emptied first.
"""

import hashlib
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import time

MRVLC, DIGITS, PAGE, WORK = ([pathlib.Path(a).absolute() for a in sys.argv[1:5]] + [None])[:4]
ZOO = pathlib.Path(sys.argv[5]) if len(sys.argv) > 5 else None
ENVIRONMENT = {**{n: v for n, v in os.environ.items() if not n.startswith("MRVLC_")}, "PATH": f"{MRVLC.parent}:{os.environ['PATH']}"}


def run(*command, status=0, **more):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, env=ENVIRONMENT, **more)
    assert done.returncode == status, f"{command}: {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def batch(*arguments, status=0):
    return run(MRVLC, "batch", *arguments, status=status)


def contents(folder):
    """Every file but the records, with its hash."""
    return {str(p.relative_to(folder)): hashlib.sha256(p.read_bytes()).hexdigest()
            for p in sorted(folder.rglob("*")) if p.is_file() and ".batch" not in p.parts}


def small_models(folder, count):
    """Models that differ in their bytes: a scalar's Relu, written by hand in protobuf."""
    folder.mkdir(parents=True)

    def field(number, data):
        return bytes([number << 3 | 2, len(data)]) + data

    kind = field(1, b"\x08\x01" + field(2, field(1, b"\x08\x04")))
    for i in range(count):
        name = f"y{i}".encode()
        node = field(1, b"x") + field(2, name) + field(4, b"Relu")
        graph = field(1, node) + field(2, b"g") + field(11, field(1, b"x") + field(2, kind)) + field(12, field(1, name) + field(2, kind))
        (folder / f"m{i}.onnx").write_bytes(b"\x08\x08" + field(7, graph) + field(8, b"\x10\x11"))


def results():
    os.makedirs("set/a")
    os.makedirs("set/b")
    shutil.copy(DIGITS, "set/digits.onnx")
    shutil.copy(DIGITS, "set/a/model.onnx")
    shutil.copy(DIGITS, "set/b/model.onnx")
    pathlib.Path("set/broken.onnx").write_bytes(b"no model")
    text = batch("set", "-o", "out", "--tiles", "2", status=1)
    assert "MRV0101 (1): broken" in text and "4 models, 1 failed; 4 compiled now" in text, text
    summary = json.loads(pathlib.Path("out/batch.json").read_text())
    assert [m["name"] for m in summary["models"]] == ["a_model", "b_model", "broken", "digits"], summary
    page = pathlib.Path("out/batch.html").read_text()
    assert "@DATA@" not in page and '"name":"a_model"' in page and "https://" not in page
    assert summary["compiled"] == 3 and summary["models"][2]["messages"][0]["code"] == "MRV0101"
    run(MRVLC, "compile", "set/digits.onnx", "-o", "alone", "--tiles", "2", "-q")
    assert contents(pathlib.Path("out/digits")) == contents(pathlib.Path("alone")), "a batch writes what compile writes"
    before = contents(pathlib.Path("out"))
    assert "0 compiled now, 0 from the cache, 4 as before" in batch("set", "-o", "out", "--tiles", "2", status=1)
    os.utime("set/digits.onnx")
    assert "4 as before" in batch("set", "-o", "out", "--tiles", "2", status=1), "touched is not changed"
    assert "1 compiled now" in batch("set", "-o", "out", "--tiles", "2", "--again", status=1)
    assert contents(pathlib.Path("out")) == before
    pathlib.Path("out/digits/digits.c").unlink()
    pathlib.Path("out/digits/manifest.json").unlink()
    shutil.rmtree("out/digits")
    assert "1 compiled now" in batch("set", "-o", "out", "--tiles", "2", status=1)
    assert contents(pathlib.Path("out")) == before
    assert "4 compiled now" in batch("set", "-o", "out", "--tiles", "4", status=1), "other options"
    shutil.copy("set/digits.onnx", "set/broken.onnx")
    assert "1 compiled now" in batch("set", "-o", "out", "--tiles", "4")


def side_files():
    """External data and rules are part of what a result comes from."""
    os.makedirs("side")
    shutil.copy(DIGITS, "side/digits.onnx")
    rules = pathlib.Path("own.rules")
    rules.write_text('rule mine {\n  layer conv\n  priority 90\n  why "mine"\n  match { %y = Conv(%x, %w, %b) }\n}\n')
    options = ("side", "-o", "side_out", "--rules", "own.rules", "--cache", "side_cache")
    assert "1 compiled now" in batch(*options)
    assert "1 as before" in batch(*options)
    shutil.rmtree("side_out")
    assert "1 from the cache" in batch(*options)
    old = rules.read_text()
    rules.write_text(old.replace("mine", "ours"))
    assert "1 compiled now" in batch(*options)
    rules.write_text(old)
    assert "1 from the cache" in batch(*options)


def linked_target():
    """A package that appears behind a link, in front of the one that was read; a link leads back to its folder."""
    for folder in ("real", "first", "packages"):
        os.makedirs(folder)
    run(MRVLC, "targets", "new", "mine", "--kind", "variant")
    shutil.move("mine", "packages/mine")
    os.symlink("../real", "first/mine")
    os.symlink("../first", "first/again")
    options = ("side", "-o", "linked_out", "--target", "mine", "--target-dir", "first", "--target-dir", "packages", "--cache", "linked_cache")
    assert "1 compiled now" in batch(*options)
    assert "1 as before" in batch(*options)
    shutil.copy("packages/mine/target.json", "real/target.json")
    assert "1 compiled now" in batch(*options), "another package is meant now"


def limits():
    text = batch("set/digits.onnx", "-o", "limits", "--timeout", "0.001", status=4)
    assert "MRV1000" in text, text
    # Memory ends in the reading of side files, in threads, in destructors: it is told as what it is.
    for memory in ("1M", "4M", "10M", "14M"):
        for jobs in ("1", "2"):
            assert "MRV1001" in batch("set/digits.onnx", "-o", "limits", "--memory", memory, "-j", jobs, status=4), (memory, jobs)
    text = batch("set/digits.onnx", "-o", "limits", "--memory", "6M", status=4)
    assert "MRV1001" in text, text
    assert not [p for p in pathlib.Path("limits").iterdir() if p.name not in (".batch", "batch.json", "batch.html")]
    assert "1 compiled now" in batch("set/digits.onnx", "-o", "limits"), "limits are no property of the model"


def cache():
    shutil.rmtree("out")
    # Of two models with the same name and bytes, one is compiled.
    options = ("set", "--cache", "cache", "--tiles", "2", "--jobs", "1")
    assert "3 compiled now, 1 from the cache" in batch("-o", "out", *options)
    first = contents(pathlib.Path("out"))
    assert "4 from the cache" in batch("-o", "other", *options)
    other = contents(pathlib.Path("other"))
    assert other == first, "the cache gives what was compiled"
    held = json.loads(run(MRVLC, "cache", "cache", "--json"))
    assert held["entries"] == 3 and held["failures"] == 0, held
    # Damage is seen, and mended.
    victim = next(p for p in sorted(pathlib.Path("cache").rglob("*.c")) if p.name != "main.c")
    victim.write_bytes(victim.read_bytes()[:-1])
    shutil.rmtree("other")
    assert "1 compiled now, 3 from the cache" in batch("-o", "other", *options)
    assert contents(pathlib.Path("other")) == first
    assert "3 removed" in run(MRVLC, "cache", "cache", "--max-size", "0")
    assert json.loads(run(MRVLC, "cache", "cache", "--json"))["entries"] == 0
    assert "is no cache" in subprocess.run([MRVLC, "cache", "set"], capture_output=True, text=True, env=ENVIRONMENT).stderr
    assert pathlib.Path("set/digits.onnx").exists()


def killed(rounds):
    """A shard that is killed again and again comes to what one comes to that is not."""
    small_models(pathlib.Path("many"), 24)
    for i in range(4):
        shutil.copy(DIGITS, f"many/digits{i}.onnx")
    batch("many", "-o", "whole")
    kills = 0
    chance = random.Random(1)
    while True:
        process = subprocess.Popen([MRVLC, "batch", "many", "-o", "cut", "--jobs", "2", "--cache", "cut_cache"], env=ENVIRONMENT,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if kills == rounds:
            output, error = process.communicate()
            assert process.returncode == 0, error
            break
        try:
            process.wait(timeout=chance.uniform(0.005, 0.12))
            # It was done before: begin anew.
            shutil.rmtree("cut")
            shutil.rmtree("cut_cache")
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGKILL)
            process.wait()
            kills += 1
    assert "28 models, 0 failed" in output, output
    assert contents(pathlib.Path("cut")) == contents(pathlib.Path("whole")), "nothing is lost, nothing is left"
    hidden = [p for p in pathlib.Path("cut").glob(".*") if p.name != ".batch"]
    assert not hidden, hidden


def one_at_a_time():
    """A batch holds its folder of results: a second one names both and leaves; shards go side by side."""
    import fcntl

    def refused(*more):
        done = subprocess.run([MRVLC, "batch", "locked", "-o", "held", *more], capture_output=True, text=True, env=ENVIRONMENT)
        assert done.returncode == 3 and "MRV1081" in done.stderr, (done.returncode, done.stderr)
        return done.stderr

    small_models(pathlib.Path("locked"), 2)
    batch("locked", "-o", "held")
    lock = open("held/.batch/.lock", "r+")
    said = lock.read()
    assert "process " in said and "locked" in said, said
    fcntl.flock(lock, fcntl.LOCK_EX)
    text = refused()
    assert said.strip() in text and text.count("process ") == 2, text
    refused("--shard", "1/2")
    fcntl.flock(lock, fcntl.LOCK_SH)
    refused()
    batch("locked", "-o", "held", "--shard", "1/2")
    shard = open("held/.batch/.lock-1-2")
    fcntl.flock(shard, fcntl.LOCK_EX)
    assert "--shard 1/2" in refused("--shard", "1/2")
    batch("locked", "-o", "held", "--shard", "2/2")
    lock.close()
    shard.close()
    batch("locked", "-o", "held")


def writers(rounds):
    """Two batches at a time over one cache, again and again, while a third prunes it."""
    small_models(pathlib.Path("few"), 2)
    batch("few", "-o", "want")
    want = contents(pathlib.Path("want"))
    for i in range(rounds):
        folders = [f"w{i}a", f"w{i}b"]
        pair = [subprocess.Popen([MRVLC, "batch", "few", "-o", folder, "--cache", "shared", "--jobs", "1", "-q"], env=ENVIRONMENT,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) for folder in folders]
        if i % 3 == 0 and i > 0:
            run(MRVLC, "cache", "shared", "--max-size", "0")
        for process, folder in zip(pair, folders):
            error = process.communicate()[1]
            assert process.returncode == 0 and not error, error
            assert contents(pathlib.Path(folder)) == want, folder
            shutil.rmtree(folder)
    left = list(pathlib.Path("shared/tmp").iterdir())
    assert not left, left


def examples():
    """The blocks of the page, as they stand."""
    text = PAGE.read_text()
    found = dict(re.findall(r"```\w+ file=(\S+)\n(.*?)```", text, re.S))
    assert len(found) == 3, found.keys()
    small_models(pathlib.Path("ex/models"), 5)
    os.chdir("ex")
    pathlib.Path("models.txt").write_text("".join(f"models/m{i}.onnx\n" for i in range(5)))
    for name, content in found.items():
        pathlib.Path(name).write_text(content)
    run("make", "-f", "batch.mk")
    assert len(list(pathlib.Path("out").glob("*/manifest.json"))) == 5
    assert "Nothing to be done" in run("make", "-f", "batch.mk")
    shutil.rmtree("out")
    if shutil.which("parallel"):
        run("sh", "batch.parallel")
        assert json.loads(pathlib.Path("out/batch.json").read_text())["compiled"] == 5
        shutil.rmtree("out")
    # The script of the array, as Slurm would start it.
    for task in range(1, 9):
        ENVIRONMENT.update(SLURM_ARRAY_TASK_ID=str(task), SLURM_ARRAY_TASK_COUNT="8")
        run("sh", "batch.slurm")
    assert json.loads(pathlib.Path("out/batch.json").read_text())["compiled"] == 5
    os.chdir("..")


def zoo():
    models = [p for p in sorted(ZOO.glob("*.onnx"))]
    begin = time.time()
    subprocess.run([MRVLC, "batch", *models, "-o", "zoo", "--cache", "zoo_cache", "-q"], env=ENVIRONMENT, stdout=subprocess.DEVNULL)
    first = time.time() - begin
    begin = time.time()
    text = subprocess.run([MRVLC, "batch", *models, "-o", "zoo", "--cache", "zoo_cache", "-q"], env=ENVIRONMENT, capture_output=True, text=True).stdout
    second = time.time() - begin
    print(f"{len(models)} models: {first:.1f} s, then {second:.2f} s")
    assert f"0 compiled now, 0 from the cache, {len(models)} as before" in text, text
    assert second < 1, second


def main():
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)
    os.chdir(WORK)
    if ZOO:
        return zoo()
    slow = os.environ.get("MRVLC_TEST_SLOW")
    for test, arguments in [(results, ()), (side_files, ()), (linked_target, ()), (limits, ()), (cache, ()), (killed, (20,)), (writers, (500 if slow else 25,)), (one_at_a_time, ()),
                            (examples, ())]:
        begin = time.time()
        test(*arguments)
        print(f"{test.__name__}: {time.time() - begin:.1f} s", flush=True)


if __name__ == "__main__":
    main()
