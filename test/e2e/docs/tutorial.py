"""usage: tutorial.py MRVLC TUTORIAL.md MODEL INPUT SHAPE WORK

Follows docs/targets.md word for word: in each section that makes a package, the block of commands is run, line by line; where it opens an
editor, the next block of the section takes the file's place. MODEL stands in for model.onnx, zeros of SHAPE (as 1x1x8x8) for its input
INPUT. WORK is emptied first.
"""

import os
import pathlib
import shutil
import struct
import subprocess
import sys


def blocks(text):
    """The indented blocks of a section, without their indentation; blank lines in them belong to them."""
    block = []
    for line in text.splitlines() + ["end"]:
        if line.startswith("    ") or (block and not line):
            block.append(line[4:])
        elif block:
            while not block[-1]:
                block.pop()
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


def follow(section, environment):
    """Runs the section's commands, if it makes a package; whether it does."""
    found = list(blocks(section))
    if not found or not found[0][0].startswith("mrvlc targets new "):
        return False
    texts = found[1:]
    for command in found[0]:
        words = command.split()
        if words[0] == "$EDITOR":
            assert pathlib.Path(words[1]).exists(), "the page edits a file that is there"
            pathlib.Path(words[1]).write_text("\n".join(texts.pop(0)) + "\n")
            continue
        print("$", command, flush=True)
        subprocess.run(command, shell=True, check=True, env=environment)
    assert list(pathlib.Path("results").glob("*.npy")), "the program has written no results"
    shutil.rmtree("results")
    return True


def main():
    mrvlc, page, model, name, shape, work = sys.argv[1:]
    text = pathlib.Path(page).read_text()
    shutil.rmtree(work, ignore_errors=True)
    pathlib.Path(work).mkdir(parents=True)
    os.chdir(work)
    shutil.copy(model, "model.onnx")
    write_zeros(pathlib.Path(f"{name}.npy"), [int(extent) for extent in shape.split("x")])
    environment = {**os.environ, "PATH": f"{pathlib.Path(mrvlc).parent}:{os.environ['PATH']}"}
    environment.pop("MRVLC_TARGET_PATH", None)
    followed = sum(follow(section, environment) for section in text.split("\n## "))
    assert followed == 4, "the page makes a variant, a library and a plug-in, and compiles for two accelerators"


main()
