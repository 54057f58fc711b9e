#!/usr/bin/python3
"""usage: bare.py MRVLC PREFIX DIGITS WORK

`--emit bare`: the program without operating system, built for Cortex-M3 by OUT's Makefile with weights of each kind, of 16 bits too, takes nothing but memory; with a board whose input is a
picture and whose output is a system call of qemu-arm, its answer is that of this machine. With regions it is clean C and goes through a driver's table. Without the
compiler for Cortex-M the same is asked of this machine's. WORK is emptied first.
"""

import os
import pathlib
import shutil
import subprocess
import sys

import numpy as np

MRVLC, PREFIX, DIGITS, WORK = (pathlib.Path(a).absolute() for a in sys.argv[1:])
ENVIRONMENT = {n: v for n, v in os.environ.items() if not n.startswith("MRVLC_") and n != "CC"}
STRICT = "-std=c99 -Wall -Wextra -Wconversion -pedantic -Werror"
CORTEX = "-Os -mcpu=cortex-m3 -mthumb --specs=nosys.specs"
# A start that needs no library, and two calls of the emulator.
BOARD = """#include "picture.h"
void _start(void);
static long call(long number, long a, long b, long c) {
  register long r7 __asm__("r7") = number, r0 __asm__("r0") = a, r1 __asm__("r1") = b, r2 __asm__("r2") = c;
  __asm__ volatile("svc 0" : "+r"(r0) : "r"(r7), "r"(r1), "r"(r2) : "memory");
  return r0;
}
int main(void);
void _start(void) {
  for (;;) call(1, main(), 0, 0);
}
static void board_input(int port, void* data, size_t bytes) {
  memcpy(data, picture, port == 0 ? bytes : 0);
}
static void board_output(int port, const void* data, size_t bytes) { call(4, port + 1, (long)data, (long)bytes); }
"""
BLOB = """extern const unsigned char blob_begin[], blob_end[];
static const void* board_weights(size_t* bytes) {
  *bytes = (size_t)(blob_end - blob_begin);
  return blob_begin;
}
"""


def run(*command, status=0, text=True):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=text, env=ENVIRONMENT)
    assert done.returncode == status, f"{command}: {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def make(out, cc, flags, more=""):
    run("make", "-s", "-B", "-C", out, "digits_bare", f"CC={cc}", f"CFLAGS={flags}", f"LDFLAGS={more}", f"MRVLC_PREFIX={PREFIX}")
    return out / "digits_bare"


def no_system(program):
    """Nothing of files, heap, clock or output is in it, nor asked for."""
    names = {line.split()[-1].lstrip("_") for line in run("arm-none-eabi-nm", program).splitlines()}
    assert not names & {"malloc", "calloc", "free", "printf", "fprintf", "fopen", "fread", "clock_gettime", "time"}, names
    assert "digits_run" in names


def emulated(out, how, expected):
    """On Cortex-M3's instructions, weights in a section of their own."""
    (out / "board.h").write_text(BOARD + (BLOB if how == "blob" else ""))
    picture = ", ".join(f"0x{word:08x}u" for word in np.load("one.npy").reshape(-1).view(np.uint32))
    (out / "picture.h").write_text(f"static const uint32_t picture[] = {{{picture}}};\n")
    more = "-nostartfiles"
    if how == "blob":
        (out / "blob.S").write_text(".section .qspi,\"a\"\n.balign 64\n.globl blob_begin, blob_end\nblob_begin: .incbin \"digits_weights.bin\"\nblob_end:\n")
        more += " blob.S"
    program = make(out, "arm-none-eabi-gcc", f"{CORTEX} -Ddigits_BOARD='\"board.h\"' -Ddigits_WEIGHTS_SECTION=.qspi", more)
    assert " .qspi" in run("arm-none-eabi-objdump", "-h", program)
    logits = np.frombuffer(run("qemu-arm", program, text=False), np.float32)
    assert logits.shape == (expected.size,) and np.abs(logits - expected).max() <= 1e-5 * np.abs(expected).max(), (how, logits, expected)


def main():
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)
    os.chdir(WORK)
    np.save("one.npy", np.load(DIGITS / "test_x.npy")[:1])
    arm = shutil.which("arm-none-eabi-gcc") is not None
    for how, kind in (("linked", "fp32"), ("c", "fp32"), ("blob", "fp32"), ("linked", "fp16")):
        out = pathlib.Path(how + kind)
        run(MRVLC, "compile", DIGITS / "digits.onnx", "-o", out, "--name", "digits", "--target", "host", "--weights", how, "--host-weights", kind, "--emit", "bare", "-q")
        run(MRVLC, "run", out, "--input", "image=one.npy", "--output-dir", "results")
        expected = np.load("results/logits.npy").reshape(-1)
        program = make(out, "cc", f"-O1 {STRICT}")
        # Its input is zeros then, which need no weights to be linked; a blob that nobody gives is an error.
        run(program, status=0 if how != "blob" else 1)
        if not arm:
            print("there is no compiler for Cortex-M")
            continue
        no_system(make(out, "arm-none-eabi-gcc", f"{CORTEX} {STRICT}"))
        if shutil.which("qemu-arm"):
            emulated(out, how, expected)
        else:
            print("there is no qemu-arm")
    # Regions: no device is an error, and the C is clean.
    run(MRVLC, "compile", DIGITS / "digits.onnx", "-o", "regions", "--name", "digits", "--emit", "bare", "-q")
    run(make(pathlib.Path("regions"), "cc", f"-O1 {STRICT}"), status=1)
    print("the same answer without an operating system")


if __name__ == "__main__":
    main()
