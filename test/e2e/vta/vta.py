"""usage: vta.py MRVLC SOURCE WORK [--layers N] [--networks N] [--seed N] [--utilisation BOARD] [--ort SCRIPT]

Quantised layers and networks compiled for vta,host. The region files run on the machine of machine.py, whose units take turns at random and
which refuses what not every implementation does; results are those of an oracle bit for bit, as are those of `mrvlc run`, and those of
ONNX. Changed instructions are refused, or give other numbers. Layers that stay on the host say why; the blocks of docs/vta.md run.
WORK is emptied first. --layers, --networks: so many drawn ones with the seeds from --seed on; nothing else is tested then.
--utilisation: only the table of docs/vta.md. --ort: a script for node that runs a model in ONNX Runtime, `SCRIPT MODEL OUT --fill INPUT=@FILE`.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess

import numpy as np

import layers
import machine
import utilisation

CC, CXX = os.environ.get("CC", "cc"), os.environ.get("CXX", "c++")
DRIVER_BASE = 0x10003000
TOKENS = (("push_next", 0, "pop_prev", 1), ("push_prev", 1, "pop_next", 0), ("push_next", 1, "pop_prev", 2), ("push_prev", 2, "pop_next", 1))


def run(*command, status=0, **options):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, **options)
    assert done.returncode == status, f"{command[:3]}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout + done.stderr


def read(folder, name):
    return json.loads((folder / name).read_text())


def compiled(m, name, *options):
    m.save(WORK / f"{name}.onnx")
    run(MRVLC, "compile", WORK / f"{name}.onnx", "-o", WORK / name, "--target", "vta,host", "--no-probe", *options)
    return WORK / name


def on_host(out):
    """Nodes that are not on VTA, with their reasons. An Identity names an output and computes nothing."""
    return {node["name"]: node["reason"] for node in read(out, "placement.json")["nodes"]
            if node.get("target") != "vta" and node["op_type"] != "Identity" and not node["reason"].startswith("computes the same as")}


def programs(out):
    return [machine.Program(path.read_bytes()) for path in sorted(out.glob("*.mrvl"))]


def by_machine(m, out, seed=0):
    """A model that is one region, on the machine of machine.py."""
    assert not on_host(out), json.dumps(on_host(out), indent=1)
    (program,) = programs(out)
    shapes = [array.shape for array in m.wanted.values()]
    results, state = machine.execute(program, list(m.arrays.values()), shapes, seed)
    for (name, wanted), got in zip(m.wanted.items(), results):
        assert np.array_equal(got, wanted), f"{out.name}, {name}: {np.argwhere(got != wanted)[:5]}"
    return program, state


def by_mrvlc(m, out):
    inputs = []
    for port in read(out, "manifest.json")["inputs"]:
        np.save(WORK / f"in_{port['file']}.npy", m.arrays[port["name"]])
        inputs += ["--input", f"{port['name']}={WORK / ('in_' + port['file'] + '.npy')}"]
    run(MRVLC, "run", out, *inputs, "--output-dir", WORK / "results")
    for port in read(out, "manifest.json")["outputs"]:
        got = np.load(WORK / "results" / f"{port['file']}.npy")
        assert np.array_equal(got, m.wanted[port["name"]]), f"{out.name}, {port['name']}: {np.argwhere(got != m.wanted[port['name']])[:5]}"


def by_onnxruntime(m, name):
    fills = []
    for input_name, array in m.arrays.items():
        np.save(WORK / f"ort_{input_name}.npy", array)
        fills += ["--fill", f"{input_name}=@{WORK / f'ort_{input_name}.npy'}"]
    shutil.rmtree(WORK / "ort", ignore_errors=True)
    run("node", arguments.ort, WORK / f"{name}.onnx", WORK / "ort", *fills)
    for k, wanted in enumerate(m.wanted.values()):
        got = np.load(next((WORK / "ort").glob(f"out_{k}_*.npy")))
        assert np.array_equal(got, wanted), f"ONNX Runtime: {name}: {np.argwhere(got != wanted)[:5]}"


def drawn_layers(count, seed):
    """Each alone on the machine; in rows of 16 by `mrvlc run`."""
    kinds = {}
    for i in range(count):
        m, kind = layers.Model([seed, i]), layers.KINDS[i % len(layers.KINDS)]
        m.output(layers.single(m, kind))
        out = compiled(m, "layer")
        by_machine(m, out, i)
        if arguments.ort:
            by_onnxruntime(m, "layer")
        kinds[kind] = kinds.get(kind, 0) + 1
    rows = -(-count // 16)
    for i in range(rows):
        m = layers.Model([seed, i, 1])
        for kind in layers.KINDS:
            m.output(layers.single(m, kind))
        by_mrvlc(m, compiled(m, "row"))
    print(f"{count} layers on the machine, {rows * len(layers.KINDS)} by mrvlc run: the oracle's bits {kinds}", flush=True)


def drawn_networks(count, seed):
    on_vta = 0
    for i in range(count):
        m = layers.Model([seed, i, 2])
        m.output(layers.network(m))
        out = compiled(m, "network")
        program, _ = by_machine(m, out, i)
        if i % 4 == 0:
            by_mrvlc(m, out)
        if arguments.ort:
            by_onnxruntime(m, "network")
        on_vta += program.count
    print(f"{count} networks on the machine, {-(-count // 4)} by mrvlc run: the oracle's bits, {on_vta} instructions", flush=True)


def onnx_agrees(seed):
    """mrvlc's reference, which computes ONNX's operators in float32, with the same program."""
    m = layers.Model([seed, 3])
    m.output(layers.network(m))
    m.save(WORK / "verified.onnx")
    text = run(MRVLC, "verify", WORK / "verified.onnx", "--target", "vta,host")
    print(f"verify: {text.strip().splitlines()[-1]}")


def outcome(program, m, seed=0):
    (wanted,) = m.wanted.values()
    try:
        (got,), _ = machine.execute(program, list(m.arrays.values()), [wanted.shape], seed)
    except machine.Refused as refused:
        return str(refused)
    return "other numbers" if not np.array_equal(got, wanted) else "the same"


def changed_instructions(seed):
    """A token less, a pair of tokens less, another address: refused, or other numbers."""
    m = layers.Model([seed, 4])
    x = m.input([1, 40, 20, 24])
    w = m.rng.integers(1, 128, [72, 40, 3, 3]).astype(np.int8)
    m.output(m.conv(x, 72, (3, 3), pads=(1,) * 4, w=w, relu=False, shift=16))
    program, _ = by_machine(m, compiled(m, "changed"))
    code = program.instructions()
    seen = {}

    def note(what, changed):
        result = outcome(changed, m)
        assert result != "the same", what
        kind = re.sub(r"\d+", "N", result)
        seen[kind] = seen.get(kind, 0) + 1

    for k, i in enumerate(code):
        for name, at in machine.TOKENS.items():
            if getattr(i, name):
                note(f"instruction {k} without {name}", program.changed(k, at, 1, 0))
    for push, from_unit, pop, to_unit in TOKENS:
        pushes = [k for k, i in enumerate(code) if i.unit == from_unit and getattr(i, push)]
        pops = [k for k, i in enumerate(code) if i.unit == to_unit and getattr(i, pop)]
        pairs = list(zip(pushes, pops, strict=True))
        # That the last but one store is through, FINISH sees by the last one.
        for a, b in pairs[:-2] if from_unit == 2 else pairs:
            note(f"{a} and {b} without a token", program.changed(a, machine.TOKENS[push], 1, 0).changed(b, machine.TOKENS[pop], 1, 0))
    moves = [k for k, i in enumerate(code) if i.opcode in (machine.LOAD, machine.STORE) and i.x]
    for k in moves:
        for name in ("sram", "dram"):
            note(f"{name} of instruction {k}", program.changed(k, *machine.MOVE[name], getattr(code[k], name) + 1))
    loops = [k for k, i in enumerate(code) if i.opcode == machine.GEMM and not i.reset and i.inner > 1]
    for k in loops[:: max(len(loops) // 10, 1)]:
        note(f"destination of {k}", program.changed(k, *machine.LOOP["dst_inner"], 2))
    print(f"{sum(seen.values())} changes of instructions: {json.dumps(seen, indent=1)}")


def forbidden_instructions(seed):
    """What one implementation does and another does not is refused, whatever the numbers."""
    m = layers.Model([seed, 5])
    m.output(m.conv(m.input([1, 16, 6, 6]), 16, (1, 1), shift=9, relu=False))
    program, _ = by_machine(m, compiled(m, "forbidden"))
    code = program.instructions()
    find = lambda ok: next(k for k, i in enumerate(code) if ok(i))
    shift = find(lambda i: i.opcode == machine.ALU and i.alu == 3)
    products = find(lambda i: i.opcode == machine.GEMM and not i.reset)
    store = find(lambda i: i.opcode == machine.STORE)
    weights = find(lambda i: i.opcode == machine.LOAD and i.memory == machine.WGT)
    wrong = {"multiply": (shift, 108, 3, 4), "shift by 31": (shift, 112, 16, 31), "shift by an operand": (shift, 111, 1, 0), "no iteration": (products, 35, 14, 0),
             "one accumulator": (products, 75, 11, 0), "micro-ops beyond Chisel's": (products, 8, 34 - 8, 2048 | 2049 << 13), "pads": (store, 120, 4, 1),
             "8 bits": (weights, 7, 3, 5), "pop of a queue that is not there": (weights, 3, 1, 1), "push to a queue that is not there": (store, 6, 1, 1),
             "rows of weights": (weights, 64, 16, 2), "unused bits": (store, 58, 6, 1)}
    for name, (k, at, width, value) in wrong.items():
        result = outcome(program.changed(k, at, width, value), m)
        assert result not in ("the same", "other numbers"), f"{name}: {result}"
    print(f"{len(wrong)} instructions that not every implementation has are refused")


def left_layers():
    """Layers that stay on the host, each for its reason."""
    for what, reason in (("scale", "scale ratio 0.0123 is no power of two"), ("zero", "no zero points"), ("channels", "one shift for all channels"),
                         ("sum", "32 bits"), ("mean", "a mean of 9 elements is no shift"), ("window", "does not fit half of a memory")):
        m = layers.Model(6)
        x = m.input([1, 4, 6, 1500] if what == "window" else [1, 4, 6, 6], 0)
        if what == "mean":
            out = m.node("AveragePool", m.read(x.name, 0), kernel_shape=(3, 3))
        elif what == "sum":
            # Of QDQ mrvlc limits such a bias without another result; an operator of integers has it as it is.
            one, zero = m.scale(0), m.constant(np.int8(0))
            out = m.node("QLinearConv", x.name, one, zero, m.constant(np.full([6, 4, 3, 3], 3, np.int8)), one, zero, one, zero,
                         m.constant(np.full(6, 2**31 - 1, np.int32)))
        else:
            w = m.constant(np.full([6, 4, 1, 1100] if what == "window" else [6, 4, 3, 3], 3, np.int8))
            if what == "channels":
                w = m.node("DequantizeLinear", w, m.constant(np.full(6, 0.5, np.float32)), m.constant(np.zeros(6, np.int8)), axis=0)
            else:
                w = m.node("DequantizeLinear", w, m.constant(np.float32(0.0123 if what == "scale" else 1)), m.constant(np.int8(0)))
            out = m.node("Conv", m.read(x.name, 0, np.int8(3 if what == "zero" else 0)), w)
        out = out if what == "sum" else m.write(out, 0)
        m.output(layers.Value(out, np.zeros([1, 4, 4, 4] if what == "mean" else [1, 6, 6, 401] if what == "window" else [1, 6, 4, 4], np.int8), 0))
        text = json.dumps(on_host(compiled(m, "left")))
        assert reason in text, f"{what}: {text}"
    print("6 layers stay on the host, with their reasons")


def operands_of_other_forms():
    """What the rules match and the array does not have runs on the host, and is right."""
    for what, reason in (("constant", "constants are weights"), ("matrices", "an image's kernels, or a matrix"), ("column", "the same for all rows"),
                         ("pooled", "different forms")):
        m = layers.Model(8)
        x = m.input({"constant": [1, 6, 3, 5], "matrices": [1, 1, 6, 6], "column": [6, 6], "pooled": [1, 4, 1]}[what], 0)
        left = m.read(x.name, 0)
        if what == "constant":
            out = m.node("Add", left, m.read(m.constant(m.bytes(x.array.shape)), 0))
        elif what == "pooled":
            out = m.node("GlobalAveragePool", left)
        else:
            weights = m.read(m.constant(m.bytes([1, 1, 6, 6] if what == "matrices" else [6, 6])), 0)
            bias = [m.node("DequantizeLinear", m.constant(np.arange(6, dtype=np.int32).reshape(6, 1) * 500), m.scale(0))] if what == "column" else []
            out = m.node("Gemm" if bias else "MatMul", left, weights, *bias)
        m.output(layers.Value(m.write(out, 7), np.zeros(x.array.shape, np.int8), 0))
        text = json.dumps(on_host(compiled(m, f"form_{what}")))
        assert reason in text, f"{what}: {text}"
        run(MRVLC, "verify", WORK / f"form_{what}.onnx", "--target", "vta,host")
    print("4 forms of operands stay on the host, and are right")


def boards():
    """Another board may choose other tiles, and gives the same numbers; cycles are fewer where the bus is wider."""
    cycles = {}
    for board in ("pynq", "ultra96", "zcu104", "de10nano"):
        m = layers.Model(7)
        m.output(m.conv(m.input([1, 60, 14, 14]), 100, (3, 3), pads=(1,) * 4, relu=True))
        program, _ = by_machine(m, compiled(m, f"board_{board}", "--target-opt", f"vta.board={board}"))
        cycles[board] = program.cycles
    assert cycles["ultra96"] == cycles["zcu104"] < cycles["pynq"] and cycles["de10nano"] < cycles["pynq"], cycles
    run(MRVLC, "compile", WORK / "board_pynq.onnx", "-o", WORK / "none", "--target", "vta,host", "--target-opt", "vta.board=zedboard", status=2)
    text = run(MRVLC, "disasm", WORK / "board_pynq" / "board_pynq.region0.mrvl")
    assert "GEMM" in text and "STORE OUT" in text and "FINISH" in text, text[:2000]
    print(f"cycles by board: {cycles}")


def as_vendor():
    """The sources as a shared library, with include/ alone: the same bytes."""
    folder = WORK / "vendor" / "vta"
    shutil.copytree(SOURCE / "lib" / "target" / "vta", folder)
    run(CXX, "-std=c++20", "-shared", "-fPIC", f"-I{SOURCE / 'include'}", *sorted(folder.glob("*.cpp")), "-o", folder / "vta.so")
    run(MRVLC, "compile", WORK / "verified.onnx", "-o", WORK / "built_in", "--target", "vta,host", "--no-probe")
    run(MRVLC, "compile", WORK / "verified.onnx", "-o", WORK / "loaded", "--target", "vta,host", "--no-probe", "--target-dir", WORK / "vendor")
    built_in, loaded = programs(WORK / "built_in"), programs(WORK / "loaded")
    assert built_in and [p.raw for p in built_in] == [p.raw for p in loaded]
    print("the sources as a shared library: the same bytes")


def driver_code():
    """The page's C over a stand-in for driver.h whose device lies at another address: memory is as in the file, and addresses are moved."""
    (block,) = re.findall(r"^```c\n(.*?)^```$", (SOURCE / "docs" / "vta.md").read_text(), re.MULTILINE | re.DOTALL)
    (WORK / "driver.c").write_text(f"""#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
enum {{ VTA_NOT_CACHED }};
typedef int* VTADeviceHandle;
static size_t size;
static char* memory_of_device;
static void* VTAMemAlloc(size_t bytes, int cached) {{ return size = bytes, memory_of_device = calloc(bytes, 1 + (size_t)cached); }}
static uint32_t VTAMemGetPhyAddr(void* at) {{ return (void)at, {DRIVER_BASE}u; }}
static void VTAMemCopyFromHost(void* to, const void* from, size_t bytes) {{ memcpy(to, from, bytes); }}
static VTADeviceHandle VTADeviceAlloc(void) {{ return 0; }}
static const char* result;
static int VTADeviceRun(VTADeviceHandle device, uint64_t at, uint32_t count, uint32_t wait) {{
  FILE* file = fopen(result, "wb");
  fwrite(memory_of_device, 1, size, file);
  fclose(file);
  return device != 0 || at != {DRIVER_BASE}u || count == 0 || wait == 0;
}}
static uint64_t get(const uint8_t* at, int bytes) {{ return bytes ? at[0] | get(at + 1, bytes - 1) << 8 : 0; }}
static uint16_t get16(const uint8_t* at) {{ return (uint16_t)get(at, 2); }}
static uint32_t get32(const uint8_t* at) {{ return (uint32_t)get(at, 4); }}
static uint64_t get64(const uint8_t* at) {{ return get(at, 8); }}
int main(int argc, char** argv) {{
  uint8_t* bytes = malloc(1 << 26);
  FILE* file = fopen(argv[argc - 2], "rb");
  if (!file || !fread(bytes, 1, 1 << 26, file)) return 2;
  result = argv[argc - 1];
{block}
  return late;
}}
""")
    run(CC, "-std=c99", "-Wall", "-Wextra", "-Werror", "-fsanitize=address,undefined", WORK / "driver.c", "-o", WORK / "driver")
    (program,) = programs(WORK / "board_pynq")
    (WORK / "region").write_bytes(program.raw)
    run(WORK / "driver", WORK / "region", WORK / "memory", env={**os.environ, "ASAN_OPTIONS": "detect_leaks=0"})
    memory = (WORK / "memory").read_bytes()
    _, _, first, _ = program.sections[1]
    assert memory[first:] == bytes(program.memory[first:]), "constants are others"
    for k, before in enumerate(program.instructions()):
        after = vars(machine.Instruction(memory[16 * k:16 * k + 16]))
        if before.opcode in (machine.LOAD, machine.STORE) and before.x:
            after["dram"] -= DRIVER_BASE // machine.BYTES[before.memory]
        assert after == vars(before), f"instruction {k}: {after}, {vars(before)}"
    print(f"the page's driver: {program.count} instructions")


def page_as_written():
    place = WORK / "page"
    place.mkdir()
    for name, to in (("models/digits/digits.onnx", "digits.onnx"), ("models/digits/test_x.npy", "x.npy"), ("scripts/power_of_two.py", "power_of_two.py")):
        shutil.copy(SOURCE / name, place / to)
    environment = {**os.environ, "PATH": f"{MRVLC.parent}:{os.environ['PATH']}"}
    blocks = re.findall(r"^```sh\n(.*?)^```$", (SOURCE / "docs" / "vta.md").read_text(), re.MULTILINE | re.DOTALL)
    assert len(blocks) >= 2
    for block in blocks:
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", block], cwd=place, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, f"{block}\n{done.stdout}{done.stderr}"
    right = np.load(next((place / "results").glob("*.npy"))).argmax(1) == np.load(SOURCE / "models" / "digits" / "test_y.npy")
    print(f"page: {len(blocks)} blocks; {int(right.sum())} of {right.size} digits")
    assert right.mean() > 0.9


def table(board):
    return utilisation.table(lambda m, name: programs(compiled(m, name, "--target-opt", f"vta.board={board}")), board)


def main():
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)
    if arguments.utilisation:
        return print(table(arguments.utilisation), end="")
    if arguments.layers or arguments.networks:
        if arguments.layers:
            drawn_layers(arguments.layers, arguments.seed)
        return drawn_networks(arguments.networks, arguments.seed) if arguments.networks else None
    drawn_layers(32, arguments.seed)
    drawn_networks(6, arguments.seed)
    onnx_agrees(arguments.seed)
    changed_instructions(arguments.seed)
    forbidden_instructions(arguments.seed)
    left_layers()
    operands_of_other_forms()
    boards()
    driver_code()
    as_vendor()
    assert table("pynq") in (SOURCE / "docs" / "vta.md").read_text(), f"docs/vta.md: its table is another:\n{table('pynq')}"
    page_as_written()


parser = argparse.ArgumentParser()
parser.add_argument("paths", nargs=3, type=pathlib.Path)
parser.add_argument("--layers", type=int, default=0)
parser.add_argument("--networks", type=int, default=0)
parser.add_argument("--seed", type=int, default=1)
parser.add_argument("--utilisation", metavar="BOARD")
parser.add_argument("--ort", type=pathlib.Path)
arguments = parser.parse_args()
MRVLC, SOURCE, WORK = (p.absolute() for p in arguments.paths)
main()
