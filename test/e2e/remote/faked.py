"""usage: faked.py MRVLC MODELS/DIGITS WORK

`mrvlc run --on` with programs in the place of ssh and scp, which do here what the other machine would: what they are told, what they say on
stderr, and that nothing is left when they fail or are interrupted at any point. WORK is emptied first."""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

MRVLC, DIGITS, WORK = (pathlib.Path(a).absolute() for a in sys.argv[1:])

# Each call is a line of calls.jsonl; "fail" and "wait" name the call, by its number, that ends with 255, or stays for long.
FAKE = """#!/usr/bin/python3
import json, os, pathlib, shutil, subprocess, sys, time
work = pathlib.Path(os.environ["FAKE"])
calls = work / "calls.jsonl"
number = len(calls.read_text().splitlines()) if calls.exists() else 0
with calls.open("a") as out:
    out.write(json.dumps(sys.argv) + "\\n")
print("a greeting of the other machine", file=sys.stderr)
at = sys.argv.index("--")
if os.environ.get("FAKE_FAIL") == str(number):
    print("the line is dead", file=sys.stderr)
    sys.exit(255)
if sys.argv[0].endswith("ssh"):
    os.environ["TMPDIR"] = str(work / "there")
    code = subprocess.run(["sh", "-c", sys.argv[at + 2]], stdin=subprocess.DEVNULL, start_new_session=True).returncode
else:
    *sources, to = sys.argv[at + 1:]
    local = lambda name: name if name.startswith("/") else name.split(":", 1)[1] if "]" not in name else name.split("]:", 1)[1]
    code = subprocess.run(["cp", "-r", *map(local, sources), local(to)]).returncode
if os.environ.get("FAKE_WAIT") == str(number):
    (work / "waits").touch()
    time.sleep(60)
sys.exit(code)
"""


def setup():
    shutil.rmtree(WORK, ignore_errors=True)
    for name in ("tools", "there"):
        (WORK / name).mkdir(parents=True)
    os.chdir(WORK)
    for name in ("ssh", "scp"):
        (WORK / "tools" / name).write_text(FAKE)
        (WORK / "tools" / name).chmod(0o755)
    shutil.copy(DIGITS / "test_x.npy", "x.npy")
    subprocess.run([str(MRVLC), "compile", str(DIGITS / "digits.onnx"), "-o", "host", "--target", "host", "-q"], check=True)


def environment(**more):
    kept = {n: v for n, v in os.environ.items() if not n.startswith("MRVLC_") and n != "CC"}
    return kept | {"PATH": f"{WORK}/tools:{os.environ['PATH']}", "FAKE": str(WORK)} | more


def start(place, **more):
    for name in ("calls.jsonl", "waits"):
        pathlib.Path(name).unlink(missing_ok=True)
    shutil.rmtree("results", ignore_errors=True)
    command = [str(MRVLC), "run", "host", "--input", "image=x.npy", "--repeat-axis0", "--output-dir", "results", "--on", place]
    command += ["--cc", "gcc", "--bench", "1"]
    return subprocess.Popen(command, env=environment(**more), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def run(place, **more):
    process = start(place, **more)
    output, error = process.communicate(timeout=60)
    assert not list(pathlib.Path("there").iterdir()), (more, list(pathlib.Path("there").iterdir()))
    return process.returncode, output, error


def calls():
    return [json.loads(line) for line in pathlib.Path("calls.jsonl").read_text().splitlines()]


def told():
    """A connection ends by itself when it is silent; hosts as ssh and scp take them."""
    code, output, error = run("ssh://me@[fe80::1%eth0]:2222")
    assert code == 0, error
    assert "greeting" not in output and "median_ms" in output and "greeting" in error, (output, error)
    for call in calls():
        options = [call[i + 1] for i, word in enumerate(call) if word == "-o"]
        values = dict(o.split("=", 1) for o in options)
        assert values["BatchMode"] == "yes" and values["Port"] == "2222", call
        assert int(values["ServerAliveInterval"]) * int(values["ServerAliveCountMax"]) <= 30 and int(values["ConnectTimeout"]) <= 20, call
        words = call[call.index("--") + 1 :]
        if call[0].endswith("ssh"):
            assert words[0] == "me@fe80::1%eth0", call
        else:
            assert any(w.startswith("me@[fe80::1%eth0]:/") for w in words), call
    assert run("ssh://[::1]")[0] == 0 and calls()[0][-2] == "::1"
    assert run("ssh://board/")[0] == 0 and calls()[0][-2] == "board"
    for wrong in ("ssh://fe80::1", "ssh://[fe80::1", "ssh://[fe80::1]x", "ssh://[fe80::1]:", "ssh://board:22:33", "ssh://[]", "ssh://@board", "ssh://[-oProxy]",
                  "ssh://a b", "ssh://board:x"):  # fmt: skip
        code, output, error = run(wrong)
        assert code == 2 and "[USER@]HOST[:PORT]" in error and not pathlib.Path("calls.jsonl").exists(), (wrong, error)


def nothing_left():
    """Whichever call fails, or is interrupted when it has done its work."""
    assert run("ssh://board")[0] == 0
    count = len(calls()) - 1  # the last one cleans up
    assert count >= 4, calls()
    for number in range(count):
        code, output, error = run("ssh://board", FAKE_FAIL=str(number))
        assert code == 3 and "MRV1020" in error and "the line is dead" in error, (number, code, error)
        process = start("ssh://board", FAKE_WAIT=str(number))
        for _ in range(600):
            if pathlib.Path("waits").exists() or process.poll() is not None:
                break
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        output, error = process.communicate(timeout=60)
        assert process.returncode == 130, (number, process.returncode, error)
        assert not list(pathlib.Path("there").iterdir()), number


def main():
    setup()
    told()
    nothing_left()
    print("ok")


main()
