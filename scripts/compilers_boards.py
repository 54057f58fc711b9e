"""Machines without an operating system, for compilers.py: Cortex-M under qemu, with semihosting; WebAssembly under Node.js."""

import subprocess
from pathlib import Path

# Vectors and start: the floating-point unit (CPACR, ARMv7-M B3.2.20) and memory, then newlib's semihosting.
START = """#include <stdint.h>
#include <stdlib.h>
#include <string.h>
extern char bss_begin[], bss_end[], stack_top[];
extern void initialise_monitor_handles(void);
int main(void);
static void fault(void) { exit(99); }
void _init(void) {}
void _fini(void) {}
void reset(void) {
  *(volatile uint32_t*)0xE000ED88u |= 0xFu << 20;
  __asm volatile("dsb\\n isb");
  memset(bss_begin, 0, (size_t)(bss_end - bss_begin));
  initialise_monitor_handles();
  exit(main());
}
__attribute__((section(".vectors"), used)) static void (*const vectors[16])(void) = {
    (void (*)(void))stack_top, reset, fault, fault, fault, fault, fault, 0, 0, 0, 0, fault, fault, 0, fault, fault};
"""
# qemu loads every section where it runs, also data.
SCRIPT = """MEMORY {{
  VECTORS (rx) : ORIGIN = {vectors}, LENGTH = 1K
  ALL (rwx) : ORIGIN = {memory}, LENGTH = {size}
}}
ENTRY(reset)
SECTIONS {{
  .vectors : {{ KEEP(*(.vectors)) }} > VECTORS
  .text : {{ *(.text* .rodata*) }} > ALL
  .ARM.exidx : {{ *(.ARM.exidx*) }} > ALL
  .data : {{ *(.data*) }} > ALL
  .bss (NOLOAD) : {{ . = ALIGN(8); bss_begin = .; *(.bss* COMMON) . = ALIGN(8); bss_end = .; end = .; }} > ALL
  stack_top = ORIGIN(ALL) + LENGTH(ALL);
}}
"""


class Board:
    """A board of qemu's, and where its vectors and the memory of all else lie."""

    tools = ["qemu-system-arm"]

    def __init__(self, machine, cpu, memory, flags=("-Os", "-Ofast")):
        self.machine, self.memory = machine, memory
        self.configs = [(f"arm-none-eabi-gcc {cpu}", f, machine) for f in flags]

    def there(self):
        known = subprocess.run(["qemu-system-arm", "-M", "help"], capture_output=True, text=True).stdout
        return self.machine in known

    def link(self, folder, words, _config):
        """Further words of the linker's."""
        start, script = folder / "start.c", folder / "board.ld"
        start.write_text(START)
        script.write_text(SCRIPT.format(**self.memory))
        return [str(start), "-nostartfiles", "-T", str(script), "--specs=rdimon.specs"]

    def command(self, _folder, program):
        return ["timeout", "600", "qemu-system-arm", "-M", self.machine, "-nographic", "-monitor", "none", "-serial", "none",
                "-semihosting-config", "enable=on,target=native", "-kernel", str(program)]


# ARM DAI 0385 (AN386) and DAI 0547 (AN547), "Memory map".
BOARDS = {b.machine: b for b in (
    Board("mps2-an386", "-mcpu=cortex-m4 -mfpu=fpv4-sp-d16 -mfloat-abi=hard -mthumb", {"vectors": 0, "memory": "0x21000000", "size": "16M"}),
    Board("mps3-an547", "-mcpu=cortex-m55 -mfloat-abi=hard -mthumb", {"vectors": 0, "memory": "0x60000000", "size": "64M"}))}


class Wasm:
    """WebAssembly by Clang and wasi-libc; Node.js has WASI."""

    tools = ["node", "wasm-ld"]
    configs = [("clang --target=wasm32-wasi", flags, "wasm") for flags in ("-O2", "-Os", "-O2 -msimd128")]
    RUNNER = ("const {WASI} = require('node:wasi'); const fs = require('fs'); const wasi = new WASI({version: 'preview1', returnOnExit: true}); "
              "WebAssembly.instantiate(fs.readFileSync(process.argv[2]), {wasi_snapshot_preview1: wasi.wasiImport})"
              ".then(({instance}) => process.exit(wasi.start(instance)));")

    def there(self):
        return any(Path(p).exists() for p in ("/usr/lib/wasm32-wasi/libc.a", "/usr/share/wasi-sysroot/lib/wasm32-wasi/libc.a"))

    def link(self, _folder, _words, _config):
        return ["-Wl,-z,stack-size=1048576"]

    def command(self, folder, program):
        runner = folder / "run.js"
        runner.write_text(self.RUNNER)
        return ["node", "--no-warnings", str(runner), str(program)]


WASM = Wasm()
