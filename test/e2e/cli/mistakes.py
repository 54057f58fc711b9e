"""usage: mistakes.py MRVLC MODEL MISTAKES.txt WORK [--all]

Makes each mistake of the table: the exit code must be the one that stands there, stderr one message that holds the text, and nothing may be
written. WORK is emptied first. --all prints what every command said.
"""

import os
import pathlib
import shlex
import shutil
import subprocess
import sys


def npy(kind, size):
    """An image of zeros as MODEL takes it, but for the element type."""
    head = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': (1, 1, 8, 8), }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head.encode() + bytes(64 * size)


FILES = {
    "lfs.onnx": b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n",
    "model.tflite": b"\x1c\x00\x00\x00TFL3\x14\x00\x20\x00",
    "model.pkl": b"\x80\x02}q\x00.",
    "model.pt": b"PK\x03\x04\x00\x00\x08\x08",
    "text.onnx": b'<\n  ir_version: 8, opset_import: ["" : 17]\n>\nagraph (float[1] x) => (float[1] y) { y = Relu(x) }\n',
    "model.pbtxt": b'ir_version: 8\ngraph { name: "g" }\n',
    "model.h5": b"\x89HDF\r\n\x1a\n",
    "empty.onnx": b"",
    "bad.options": b"MODEL -o 'o\n",
    "complie.json": b'{"complie": {"tiles": 2}}',
    "tile.json": b'{"compile": {"tile": 2}}',
    "pin.json": b'{"compile": {"wb-pin": "yes"}}',
    "tensors.json": b'{"constraints": [{"from": ["imag"], "to": ["logits"], "on": "cpu"}]}',
    "z.npz": b"PK\x03\x04\x14\x00",
    "good.npy": npy("<f4", 4),
    "double.npy": npy("<f8", 8),
    "own.rules": b'rule mine {\n  layer conv\n  priority 50\n  why "mine"\n  match { %y = Cnov(%x, %w) }\n}\n',
}


def rows(path):
    for line in path.read_text().splitlines():
        if line and not line.startswith("#"):
            parts = [part.strip() for part in (line + " ").split(" | ")]
            yield int(parts[0]), parts[1], parts[2], shlex.split(parts[3]) if len(parts) > 3 else []


def prepare(mrvlc, model, work):
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    for name, content in FILES.items():
        (work / name).write_bytes(content)
    (work / "cut.onnx").write_bytes(pathlib.Path(model).read_bytes()[:1000])
    (work / "x.npy").write_bytes(b"not asked for")
    (work / "folder").mkdir()
    (work / "folder" / "full").write_text("in the way")
    subprocess.run([mrvlc, "compile", model, "-o", "out", "-q"], cwd=work, check=True)


def faults(code, text, result, left):
    if result.returncode != code:
        yield f"exit code {result.returncode}, not {code}"
    if text not in result.stderr:
        yield f"no '{text}'"
    if result.stderr.count(": error MRV") != 1:
        yield "not one message"
    if result.stdout:
        yield "something on stdout"
    if left:
        yield f"left behind: {', '.join(sorted(left))}"


def main():
    mrvlc, model, table, work = sys.argv[1:5]
    work = pathlib.Path(work)
    prepare(mrvlc, model, work)
    before = {path.name for path in work.iterdir()}
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MRVLC_")}
    cures = made = failed = 0
    for code, kind, text, arguments in rows(pathlib.Path(table)):
        command = [model if argument == "MODEL" else argument for argument in arguments]
        result = subprocess.run([mrvlc, *command], cwd=work, capture_output=True, text=True, timeout=60, env=environment)
        left = {path.name for path in work.iterdir()} - before
        found = list(faults(code, text, result, left))
        made += 1
        cures += kind == "cure" and not found
        if found or "--all" in sys.argv:
            print(f"{'FAILED' if found else 'ok'}: mrvlc {' '.join(arguments)}: {'; '.join(found)}\n  {result.stderr.strip()}")
        failed += bool(found)
    print(f"{made} mistakes, {cures} with the cure, {failed} failed")
    sys.exit(failed > 0 or made < 90 or cures < made - 5)


main()
