#!/usr/bin/python3
"""usage: help.py MRVLC SOURCE WORK

What the help, the manifest and JSON say: every option of compile stands in a group; inspect, explain and
targets in JSON; run without a folder prints; progress on a terminal alone. WORK is emptied first."""

import json
import os
import pathlib
import pty
import re
import shutil
import signal
import struct
import subprocess
import sys
import time

MRVLC, SOURCE, WORK = (pathlib.Path(a).absolute() for a in sys.argv[1:])
DIGITS = SOURCE / "models" / "digits"


def run(*command, status=0):
    done = subprocess.run([str(MRVLC), *map(str, command)], capture_output=True, text=True, cwd=WORK)
    assert done.returncode == status, f"{command}: {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def groups():
    """The help by its headings."""
    out, title = {}, None
    for line in run("help", "compile").splitlines():
        if re.match(r"^\S.*:$", line):
            title = line[:-1]
        elif (found := re.match(r"^ +(?:-\w,)?--?([\w-]+)", line)) and title and title != "Examples":
            out.setdefault(title, []).append(found[1])
    return out


def help_text():
    found = groups()
    assert found["Options"] == ["help"], found["Options"]
    assert len(found) >= 9 and "weights" in found["Code for the CPU"] and "input-dim" in found["Model"], found
    assert "mrvlc compile model.onnx -o out --target host --emit single" in run("compile", "--help")


def manifest():
    typed = ["--unchecked-indices", "--optimize", "size", "--threads", "2", "--max-arena", "64M", "--text-bytes", "32", "--external-data-dir", "/tmp", "--no-probe"]
    run("compile", DIGITS / "digits.onnx", "-o", "out", "--target", "host", "-j", "1", "-q", *typed)
    options = json.loads((WORK / "out" / "manifest.json").read_text())["options"]
    want = {"unchecked_indices": True, "optimize": "size", "threads": 2, "max_arena": 64 << 20, "text_bytes": 32, "external_data_dir": "tmp", "probe": "never"}
    assert {k: options.get(k) for k in want} == want, options
    assert not {"j", "output", "no_probe", "quiet"} & set(options), options


def as_json():
    model = json.loads(run("inspect", DIGITS / "digits.onnx", "--json"))
    assert model["inputs"] == [{"name": "image", "type": "f32[1,1,8,8]", "shape": [1, 1, 8, 8]}], model["inputs"]
    text = run("inspect", DIGITS / "digits.onnx")
    assert f"{model['onnx_nodes']} ONNX nodes" in text and f"{model['macs']} MACs" in text and len(model["nodes"]) == sum(model["operators"].values())
    said = json.loads(run("explain", "out", "--json"))
    assert len(said["nodes"]) == model["onnx_nodes"] and "partition" in said and "expected" in said
    assert [n["name"] for n in json.loads(run("explain", "out", "--node", "conv1", "--json"))["nodes"]] == ["conv1"]
    run("explain", "out", "--node", "none", "--json", status=2)
    code = json.loads(run("explain", "MRV0131", "--json"))
    assert code["code"] == "MRV0131" and code["exit"] == 1 and code["severity"] == "error" and code["do"]
    targets = json.loads(run("targets", "list", "--json"))
    assert {"host", "cn10ka"} <= {t["name"] for t in targets}
    for name in (t["name"] for t in targets):
        assert json.loads(run("targets", "show", name, "--json"))["name"] == name
    assert json.loads(run("targets", "show", "cn10ka", "--json"))["fields"]["max_tiles"]["value"]


def printed():
    """Few values are printed, of many the range."""
    data = (DIGITS / "test_x.npy").read_bytes()
    offset = data.index(b"\n") + 1
    head = b"{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1, 8, 8), }"
    head += b" " * (-(10 + len(head) + 1) % 64) + b"\n"
    (WORK / "x.npy").write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + data[offset : offset + 256])
    text = run("run", "out", "--input", "image=x.npy")
    value = json.loads(text.split(": ", 1)[1])
    assert text.startswith("logits: ") and value["type"] == "tensor(float)" and len(value["value"][0]) == 10, text
    text = run("run", "out", "--input", f"image={DIGITS / 'test_x.npy'}", "--repeat-axis0")
    assert re.search(r"^logits: f32\[\d+,10\] from \S+ to \S+; --output-dir DIR writes them$", text), text
    assert "logits" not in run("run", "out", "--input", "image=x.npy", "--bench", "2")
    head = head.rstrip(b"\n ").replace(b"(1, 1, 8, 8)", b"(20, 1, 8, 8)")
    head += b" " * (-(10 + len(head) + 1) % 64) + b"\n"
    (WORK / "nan.npy").write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + struct.pack("<f", float("nan")) * 1280)
    text = run("run", "out", "--input", "image=nan.npy", "--repeat-axis0")
    assert text == "logits: f32[20,10], 200 not finite; --output-dir DIR writes them\n", text


def on_terminal(command, pause):
    """What a terminal is told by a compile that stands still for longer than two seconds."""
    pid, fd = pty.fork()
    if pid == 0:
        os.chdir(WORK)
        os.execv(MRVLC, [str(MRVLC), *map(str, command)])
    time.sleep(pause)
    os.kill(pid, signal.SIGSTOP)
    time.sleep(2.2)
    os.kill(pid, signal.SIGCONT)
    said = b""
    while True:
        try:
            block = os.read(fd, 4096)
        except OSError:  # how a terminal ends
            break
        if not block:
            break
        said += block
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0, said
    return said.decode()


def progress():
    """Phase and share, taken away in the end; nothing where stderr is no terminal."""
    command = ["compile", DIGITS / "digits.onnx", "-o", "slow", "--effort", "2", "--force"]
    for pause in (0.1, 0.05, 0.2, 0.02, 0.4, 0.8):  # it has to be in the middle of its work
        said = on_terminal(command, pause)
        found = re.findall(r"\r +(\d+\.\d) s, +(\d+) %, (\w+)", said)
        if not found:
            continue
        assert all(float(s) >= 2 and int(p) < 100 for s, p, _ in found), said
        assert said.index("\r\x1b[K") > said.rindex(" %, "), said
        break
    else:
        raise AssertionError("a compile of more than two seconds told nothing: " + said)
    done = subprocess.run([MRVLC, *command], capture_output=True, text=True, cwd=WORK, check=True)
    assert " %, " not in done.stderr, done.stderr


def main():
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)
    help_text()
    manifest()
    as_json()
    printed()
    progress()


if __name__ == "__main__":
    main()
