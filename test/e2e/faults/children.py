#!/usr/bin/env python3
"""What mrvlc starts does not outlive it: children.py MRVLC MODEL FOLDER

A C compiler that never ends stands for a program that verify runs. mrvlc is killed in each way that a shell, a CI system or
a closed terminal has; its child has to be gone, and no half output may be left where it could still clean up.
"""
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

MRVLC, MODEL, FOLDER = (pathlib.Path(a).absolute() for a in sys.argv[1:])
PATIENCE = 20  # seconds


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_for(what, condition):
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, what
        time.sleep(0.02)


def killed_by(number, *command):
    pid_file = FOLDER / "pid"
    pid_file.unlink(missing_ok=True)
    process = subprocess.Popen([MRVLC, *command, "--cc", FOLDER / "cc"], cwd=FOLDER, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_for("the compiler was not started", lambda: pid_file.exists() and pid_file.read_text().strip())
    child = int(pid_file.read_text())
    process.send_signal(number)
    code = process.wait(PATIENCE)
    wait_for(f"signal {number}: the child lives on", lambda: not alive(child))
    return code


shutil.rmtree(FOLDER, ignore_errors=True)
FOLDER.mkdir(parents=True)
(FOLDER / "cc").write_text('#!/bin/sh\necho $$ > pid.new\nmv pid.new "%s"\nexec sleep 600\n' % (FOLDER / "pid"))
(FOLDER / "cc").chmod(0o755)
subprocess.run([MRVLC, "compile", MODEL, "-o", FOLDER / "out", "--target", "host", "-q"], check=True)
COMMANDS = (("verify", MODEL, "--target", "host"), ("evidence", "out", MODEL, "-o", "evidence"))
assert killed_by(signal.SIGKILL, *COMMANDS[0]) == -signal.SIGKILL
for command in COMMANDS:
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):
        code = killed_by(number, *command)
        assert code == 128 + number, f"{command[0]}, signal {number}: exit code {code}"
assert sorted(p.name for p in FOLDER.iterdir()) == ["cc", "out", "pid"], list(FOLDER.iterdir())
print("9 ways to end, no child left")
