"""usage: tutorial.py MRVLC TUTORIAL.md MODEL INPUT SHAPE WORK

Follows docs/targets.md word for word: the first block of commands is run, line by line; where it opens an editor, the first block of
JSON of the page takes the file's place. MODEL stands in for model.onnx, zeros of SHAPE (as 1x1x8x8) for its input INPUT. WORK is
emptied first.
"""

import os
import pathlib
import shutil
import struct
import subprocess
import sys


def blocks(text):
    """The indented blocks of a page, without their indentation."""
    block = []
    for line in text.splitlines() + ["end"]:
        if line.startswith("    "):
            block.append(line[4:])
        elif block:
            yield block
            block = []


def write_zeros(path, shape):
    """A .npy file (format 1.0) of float32 zeros."""
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {tuple(shape)}, }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    count = 1
    for extent in shape:
        count *= extent
    path.write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + bytes(4 * count))


def main():
    mrvlc, page, model, name, shape, work = sys.argv[1:]
    text = pathlib.Path(page).read_text()
    shutil.rmtree(work, ignore_errors=True)
    pathlib.Path(work).mkdir(parents=True)
    os.chdir(work)
    shutil.copy(model, "model.onnx")
    write_zeros(pathlib.Path(f"{name}.npy"), [int(extent) for extent in shape.split("x")])
    all_blocks = list(blocks(text))
    commands = next(b for b in all_blocks if b[0].startswith("mrvlc "))
    package = next(b for b in all_blocks if b[0] == "{")
    environment = {**os.environ, "PATH": f"{pathlib.Path(mrvlc).parent}:{os.environ['PATH']}"}
    environment.pop("MRVLC_TARGET_PATH", None)
    edited = 0
    for command in commands:
        words = command.split()
        if words[0] == "$EDITOR":
            pathlib.Path(words[1]).write_text("\n".join(package) + "\n")
            edited += 1
            continue
        print("$", command, flush=True)
        subprocess.run(command, shell=True, check=True, env=environment)
    assert edited == 1, "the page edits one file"
    assert list(pathlib.Path("results").glob("*.npy")), "the program has written no results"


main()
