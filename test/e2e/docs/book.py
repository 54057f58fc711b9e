"""usage: book.py MRVLC PREFIX MODELS PAGE WORK

Follows a tutorial word for word: each ```sh block is run, each block with file=NAME is written to that file first. `sh NAME` names what a
block needs: it is left out where there is no cross compiler or emulator. digits.onnx and x.npy are there when it begins, as the page says; PREFIX, an installation or a build,
is $PREFIX. WORK is emptied first.
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

NEEDS = {"aarch64": ("aarch64-linux-gnu-gcc", "qemu-aarch64"), "arm": ("arm-none-eabi-gcc",),
         "qemu": ("arm-none-eabi-gcc", "qemu-system-arm")}
BLOCK = re.compile(r"^```(\w+)(?: ([^\n]*))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def main():
    mrvlc, prefix, models, page, work = sys.argv[1:]
    text = pathlib.Path(page).read_text()
    shutil.rmtree(work, ignore_errors=True)
    pathlib.Path(work).mkdir(parents=True)
    os.chdir(work)
    shutil.copy(os.path.join(models, "digits", "digits.onnx"), "digits.onnx")
    shutil.copy(os.path.join(models, "digits", "test_x.npy"), "x.npy")
    environment = {**os.environ, "PATH": f"{pathlib.Path(mrvlc).parent}:{os.environ['PATH']}", "PREFIX": prefix}
    ran = 0
    for language, argument, body in BLOCK.findall(text):
        if argument.startswith("file="):
            pathlib.Path(argument[5:]).write_text(body)
        elif language == "sh":
            missing = [tool for tool in NEEDS.get(argument, ()) if shutil.which(tool) is None]
            if missing:
                print(f"left out, there is no {missing[0]}:\n{body}", flush=True)
                continue
            print("".join(f"$ {line}\n" for line in body.splitlines()), end="", flush=True)
            subprocess.run(["bash", "-euo", "pipefail", "-c", body], check=True, env=environment)
            ran += 1
    assert ran > 0 or not re.search("^```sh *$", text, re.MULTILINE), "nothing was run"


main()
