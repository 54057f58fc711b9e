"""usage: gemmini.py MRVLC FOLDER SOURCE WORK [--count N] [--seed N] [--utilisation]

Quantised models compiled for gemmini,host. Drawn layers and blocks of layers, built with the emulation, against an oracle bit for bit and
against ONNX within a step; the same program for RISC-V under qemu, where a handler of SIGILL executes Gemmini's instructions, against the
emulation's results; layers that stay on the host; the blocks of docs/gemmini.md. WORK is emptied first. --count: so many drawn layers,
in models of 84 each, with the seeds from --seed on; nothing else is tested then. --utilisation: only the table of docs/gemmini.md,
how well tiles use the array.
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

CC = os.environ.get("CC", "cc")
RISCV, QEMU = "riscv64-linux-gnu-gcc", "qemu-riscv64"
STRICT = "-std=c99 -Wall -Wextra -Wshadow -Wconversion -Wcast-qual -pedantic -Werror -Wno-long-long".split()
EACH, BLOCKS = 84, 4


def run(*command, status=0, **options):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, **options)
    assert done.returncode == status, f"{command[:3]}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout + done.stderr


def read(folder, name):
    return json.loads((folder / name).read_text())


def compiled(model, name):
    out = WORK / name
    run(MRVLC, "compile", model, "-o", out, "--target", "gemmini,host", "--no-probe")
    return out


def results(out, arrays, cc, cflags, linked, runner=()):
    """The outputs by name, and what the program says of instructions, by word."""
    name = read(out, "manifest.json")["model"]["name"]
    folder = WORK / "program"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(out, folder)
    run("make", "-C", folder, f"{name}_example", f"CC={cc}", f"CFLAGS={cflags}", f"LDFLAGS={linked}")
    inputs = []
    for port in read(out, "manifest.json")["inputs"]:
        np.save(folder / f"in_{port['file']}.npy", arrays[port["name"]])
        inputs += ["--input", f"{port['name']}={folder / ('in_' + port['file'] + '.npy')}"]
    (folder / "made").mkdir()
    said = run(*runner, folder / f"{name}_example", *inputs, "--output-dir", folder / "made")
    counts = {word: int(n) for n, word in re.findall(r"(\d+) (\w+)", re.search("^gemmini: (.*)$", said, re.MULTILINE)[1])}
    assert counts["instructions"] > 0 and counts["unfenced"] == 0, said
    return {port["name"]: np.load(folder / "made" / f"{port['file']}.npy") for port in read(out, "manifest.json")["outputs"]}, counts


def emulated(out, arrays):
    return results(out, arrays, CC, "-O2 -fsanitize=undefined -fno-sanitize-recover", WORK / "observe.o")


def on_host(out):
    """By layer the nodes that gemmini does not have, with their reasons."""
    left = {}
    for node in read(out, "placement.json")["nodes"]:
        folded = node["op_type"] == "Identity" or node["reason"].startswith("computes the same as")
        if node.get("target") != "gemmini" and not folded:
            left.setdefault(node["name"].split("/")[0], []).append(f"{node['op_type']}: {node['reason']}")
    return left


def drawn(seed, count):
    """Models and what they give, with the differences from ONNX by their size."""
    made = layers.Model(seed)
    layers.drawn(made, count)
    for i in range(BLOCKS):
        layers.block(made, f"block{i}")
    made.save(WORK / "drawn.onnx")
    out = compiled(WORK / "drawn.onnx", "drawn")
    assert not on_host(out), json.dumps(on_host(out), indent=1)
    got, counts = emulated(out, made.arrays)
    steps = {}
    for name, (exact, onnx) in made.wanted.items():
        kind = name.rstrip("0123456789")
        assert np.array_equal(got[f"{name}_y"], exact), f"seed {seed}, {name}: {np.argwhere(got[name + '_y'] != exact)[:5]}"
        apart = np.abs(exact.astype(int) - onnx.astype(int))
        assert apart.max(initial=0) <= 1, f"seed {seed}, {name}: {apart.max()} steps from ONNX"
        before = steps.setdefault(kind, [0, 0])
        steps[kind] = [before[0] + int(apart.sum()), before[1] + apart.size]
    return out, made, got, counts, steps


def say(steps, layers_run):
    sums = [s for kind, s in steps.items() if kind in ("add", "block")]
    others = [s for kind, s in steps.items() if kind not in ("add", "block")]
    text = ", ".join(f"{sum(s[0] for s in some)} of {sum(s[1] for s in some)} elements of {what}" for what, some in
                     (("products", others), ("sums", sums)))
    print(f"{layers_run} layers and blocks: the oracle's bits; a step from ONNX: {text}", flush=True)


def strict_sources(out):
    """The package and the stub compile without warnings."""
    compilers = [CC] + ([RISCV] if shutil.which(RISCV) else [])
    for cc in compilers:
        for source in [*sorted(out.glob("mrvl_gemmini*.c")), out / "drawn.c"]:
            run(cc, *STRICT, "-O2", "-c", source, "-o", WORK / "strict.o")


def on_riscv(out, made, wanted, counted):
    if not (shutil.which(RISCV) and shutil.which(QEMU)):
        print("RISC-V: not run, as compiler or qemu is missing")
        return
    run(RISCV, "-O2", "-Wall", "-Wextra", "-c", FOLDER / "trap.c", "-o", WORK / "trap.o")
    got, counts = results(out, made.arrays, RISCV, "-O2 -static", f"{WORK / 'trap.o'} -lm", [QEMU])
    for name in wanted:
        assert np.array_equal(got[name], wanted[name]), f"RISC-V: {name}: {np.argwhere(got[name] != wanted[name])[:5]}"
    assert counts == counted, f"{counts}, emulation: {counted}"
    text = run("riscv64-linux-gnu-objdump", "-d", WORK / "program" / f"{read(out, 'manifest.json')['model']['name']}_example")
    fences = len(re.findall(r"\tfence\b", "".join(part for part in text.split("\n\n") if "<mrvl_gemmini_" in part)))
    assert fences >= 4, f"{fences} fences in the package's functions"
    print(f"RISC-V: {counts['instructions']} instructions, {counts['products']} of them products: the emulation's bits")


def layers_left():
    made = layers.Model(8)
    layers.left(made)
    made.save(WORK / "left.onnx")
    left = on_host(compiled(WORK / "left.onnx", "left"))
    for name in made.wanted:
        assert any("gemmini_" in w for w in left.get(name, [])), f"{name}: {left.get(name)}"
    print(f"{len(made.wanted)} layers stay on the host, with a reason")


def refused_instructions():
    """The emulation ends at what is beyond the limits: each a line of C behind a configuration."""
    wrong = {"rows": "gemmini_load(0, x, 0, 17, 16)", "columns": "gemmini_load(0, x, 0, 1, 65)", "sums": "gemmini_load(2, x, GEMMINI_SUMS, 1, 17)",
             "blocks": "gemmini_load(1, x, 0, 16, 32)", "memory": "gemmini_load(0, x, 16383, 2, 16)", "weights": "gemmini_multiply(0, GEMMINI_NOWHERE, GEMMINI_SUMS, 1, 1, 1)",
             "target": "gemmini_multiply(0, 0, 0, 1, 1, 1)", "stride": "gemmini_config_array(16384)", "function": "GEMMINI_ISSUE(8, (uint64_t)0, (uint64_t)0)",
             "fence": "gemmini_store(x, GEMMINI_SUMS, 1, 16); gemmini_load(0, x, 0, 1, 16)", "right": "gemmini_store(x, GEMMINI_SUMS, 1, 16); GEMMINI_FENCE(); gemmini_load(0, x, 0, 1, 16)"}
    package = SOURCE / "lib" / "target" / "gemmini"
    lines = "".join(f"  if (which == {i}) {{ {line}; }}\n" for i, line in enumerate(wrong.values()))
    (WORK / "wrong.c").write_text(f"""#include <stdlib.h>
#include "mrvl_gemmini_isa.h"
int main(int argc, char** argv) {{
  static char x[4096];
  const int which = atoi(argv[argc - 1]);
  gemmini_begin();
  gemmini_config_array(1);
  for (int i = 0; i < 3; ++i) gemmini_config_load((uint64_t)i, 16, i == 1 ? 8 : 16, 1, 0);
  gemmini_config_store(16, 1, 0);
{lines}  return 0;
}}
""")
    run(CC, "-std=c99", f"-I{package}", WORK / "wrong.c", package / "mrvl_gemmini_emulated.c", "-o", WORK / "wrong")
    for i, name in enumerate(wrong):
        done = subprocess.run([WORK / "wrong", str(i)], capture_output=True, text=True)
        assert (done.returncode == 0) == (name == "right") and ("gemmini: instruction" in done.stderr) == (name != "right"), (name, done)
    print(f"{len(wrong) - 1} instructions beyond the limits end the emulation")


def declared_step():
    """`verify` allows a step where the package declares it, and no more: a copy of the package is off by two."""
    made = layers.Model(3)
    layers.single(made, "add1", "add")
    made.save(WORK / "step.onnx")
    text = run(MRVLC, "verify", WORK / "step.onnx", "--target", "gemmini,host")
    assert "(limit 1, of the target's package)" in text, text
    copy = WORK / "copy" / "gemmini"
    shutil.copytree(SOURCE / "lib" / "target" / "gemmini", copy)
    emulated = copy / "mrvl_gemmini_emulated.c"
    lines = emulated.read_text()
    assert lines.count("exact * m.scale)") == 1
    emulated.write_text(lines.replace("exact * m.scale)", "exact * m.scale + 2)"))
    text = run(MRVLC, "verify", WORK / "step.onnx", "--target", "gemmini,host", "--target-dir", WORK / "copy", status=5)
    assert "more than 1" in text, text


def utilisation():
    """The table, by a program whose arrays have just the bytes that layers may touch."""
    package = SOURCE / "lib" / "target" / "gemmini"
    if (WORK / "drawn").exists():
        package = WORK / "drawn"
    sources = sorted(package.glob("mrvl_gemmini*.c"))
    run(CC, "-std=c99", "-O2", "-fsanitize=address,undefined", "-fno-sanitize-recover", f"-I{package}", FOLDER / "utilisation.c", *sources, "-o",
        WORK / "utilisation")
    return run(WORK / "utilisation")


def page_as_written():
    place = WORK / "page"
    place.mkdir()
    for name, to in (("digits.onnx", "digits.onnx"), ("test_x.npy", "x.npy")):
        shutil.copy(SOURCE / "models" / "digits" / name, place / to)
    environment = {**os.environ, "PATH": f"{MRVLC.parent}:{os.environ['PATH']}"}
    text = (SOURCE / "docs" / "gemmini.md").read_text()
    blocks = re.findall(r"^```(sh|python)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert len(blocks) >= 2
    for kind, block in blocks:
        command = ["bash", "-euo", "pipefail", "-c", block] if kind == "sh" else ["/usr/bin/python3", "-c", block]
        done = subprocess.run(command, cwd=place, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, f"{block}\n{done.stdout}{done.stderr}"
    right = np.load(next((place / "results").glob("*.npy"))).argmax(1) == np.load(SOURCE / "models" / "digits" / "test_y.npy")
    functions = sorted(call["function"] for call in read(place / "out", "idmap.json")["calls"])
    assert functions == ["mrvl_gemmini_conv", "mrvl_gemmini_conv_max_pool"], functions
    print(f"page: {len(blocks)} blocks; {int(right.sum())} of {right.size} digits")
    assert right.mean() > 0.9


def main(count, seed):
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)
    run(CC, "-std=gnu99", "-O2", f"-I{SOURCE / 'lib' / 'target' / 'gemmini'}", "-c", FOLDER / "observe.c", "-o", WORK / "observe.o")
    if arguments.utilisation:
        return print(utilisation(), end="")
    if count:
        total = {}
        for first in range(0, count, EACH):
            steps = drawn(seed + first // EACH, min(EACH, count - first))[4]
            total = {kind: [a + b for a, b in zip(total.get(kind, (0, 0)), steps[kind])] for kind in steps | total if kind in steps} | {
                k: v for k, v in total.items() if k not in steps}
            say(total, min(first + EACH, count) + BLOCKS * (first // EACH + 1))
        return
    out, made, got, counts, steps = drawn(seed, EACH)
    say(steps, len(made.wanted))
    strict_sources(out)
    on_riscv(out, made, got, counts)
    layers_left()
    refused_instructions()
    declared_step()
    assert utilisation() in (SOURCE / "docs" / "gemmini.md").read_text(), f"docs/gemmini.md: its table is another:\n{utilisation()}"
    page_as_written()


parser = argparse.ArgumentParser()
parser.add_argument("paths", nargs=4, type=pathlib.Path)
parser.add_argument("--count", type=int, default=0)
parser.add_argument("--seed", type=int, default=1)
parser.add_argument("--utilisation", action="store_true")
arguments = parser.parse_args()
MRVLC, FOLDER, SOURCE, WORK = (p.absolute() for p in arguments.paths)
main(arguments.count, arguments.seed)
