"""usage: plugins.py MRVLC SOURCE WORK

Targets behind plug-ins: the package that `targets new --kind plugin` makes, compiled and run on the models of the project, against
the host alone; that the program's bytes are what runs; that the ID map covers every instruction; faulty plug-ins, each refused by
name. SOURCE: the project's folder; WORK is emptied first.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys

MRVLC, SOURCE, WORK = (pathlib.Path(a) for a in sys.argv[1:])
MODEL = SOURCE / "models/digits/digits.onnx"

# What -DFAULT=N does wrong, and what is said. In front: what compile says; those from `encode` on compile a model.
FAULTS = {
    1: "its plug-in 'faulty.so' has no function mrvl_plugin_open",
    2: "its plug-in 'faulty.so' gives no table",
    3: "its plug-in 'faulty.so' is made for version 3 of the interface, this is 2",
    4: "its plug-in 'faulty.so' has a table of 24 bytes, which has at least 64",
    5: "its plug-in 'faulty.so' lacks the function 'encode'",
    6: "the function 'encode' of its plug-in fails: out of order",
    7: "the function 'encode' of its plug-in gives no bytes",
    8: "the function 'encode' of its plug-in gives 1099511627776 bytes, more than 1073741824",
    9: "the function 'encode' of its plug-in says of no instruction whose it is",
    10: "the function 'encode' of its plug-in gives ranges with a gap: [1, 2) behind 0",
    11: "the function 'encode' of its plug-in gives range [0, 1) to layer 99 and node 0, which are not there",
    12: "its plug-in 'faulty.so' is that of 'another'",
    15: "its plug-in 'faulty.so' lacks the function 'legal'",
    16: "its plug-in 'faulty.so' has no name",
}


def run(*command, status=0):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, cwd=WORK)
    assert done.returncode == status, f"{command}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout + done.stderr


def build(package, *flags, source=None):
    name = package.name
    run("cc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-O1", "-shared", "-fPIC", *flags, f"-I{SOURCE / 'include'}",
        "-o", package / f"{name}.so", source or package / f"{name}.c")


def read(folder, name):
    return json.loads((folder / name).read_text())


def check_map(out):
    """Every instruction of every region leads to an ONNX node, and every node on the target to an instruction."""
    idmap, placed = read(out, "idmap.json"), read(out, "placement.json")
    sources = {e["expr_id"]: e["sources"] for e in idmap["expressions"]}
    reached = set()
    for region in {i["region"] for i in idmap["instructions"]}:
        ranges = sorted((i["begin"], i["end"], i["expr_id"]) for i in idmap["instructions"] if i["region"] == region)
        assert ranges[0][0] == 0 and all(a[1] == b[0] for a, b in zip(ranges, ranges[1:])), ranges
        for _, _, expr in ranges:
            assert sources[expr], expr
            reached.update(sources[expr])
    there = {n["id"] for n in placed["nodes"] if n["target"] == "toy"}
    assert there and there <= reached, there - reached


def check_made_package():
    run(MRVLC, "targets", "new", "toy", "--kind", "plugin")
    toy = WORK / "toy"
    assert "is not there" in run(MRVLC, "targets", "check", "toy", status=1)
    build(toy)
    said = run(MRVLC, "targets", "check", "toy")
    assert "toy: no errors, 1 rules" in said and "3 of 4 operators run on toy, results right" in said, said
    assert "An accelerator behind a plug-in" in run(MRVLC, "targets", "list", "--target-dir", ".")
    assert "toy_elementwise" in run(MRVLC, "targets", "show", "toy", "--target-dir", ".")
    run(MRVLC, "compile", MODEL, "--target", "toy", "--target-dir", ".", "-o", "out", "--emit", "disasm")
    out = WORK / "out"
    check_map(out)
    assert {"toy/target.json", "toy/toy.so", "toy/toy.rules"} <= {f.get("file") for f in read(out, "manifest.json")["read"]}
    # The library in OUT is loaded only where a package has the same.
    for command in (["profile", "out"], ["diff", "out", "out"]):
        assert "MRV1082" in run(MRVLC, *command, status=3), command
    assert "cycles" in run(MRVLC, "profile", "out", "--target-dir", ".")
    run(MRVLC, "diff", "out", "out", "--target-dir", ".")
    said = run(MRVLC, "verify", MODEL, "--target", "toy", "--target-dir", ".")
    assert " ok" in said and "WRONG" not in said, said
    for command in ("--tiles 2", "--machine both", "--wb-pin", "--silicon-id", "--dump-stage tiling"):
        said = run(MRVLC, "compile", MODEL, "--target", "toy", "--target-dir", ".", "-o", "refused", *command.split(), status=2)
        assert "is a plug-in and has no such setting" in said, said
    return toy


def check_bytes_run(toy):
    """OUT alone runs; with other bytes it does not, and with another machine the results are wrong."""
    before = toy.rename(WORK / "away")
    run(MRVLC, "verify", MODEL, "--target", "host")
    shutil.copy(SOURCE / "models/digits/test_x.npy", WORK / "x.npy")
    said = run(MRVLC, "run", "out", "--input", "image=x.npy", "--repeat-axis0", "--output-dir", "results")
    again = run(MRVLC, "run", "out", "--input", "image=x.npy", "--repeat-axis0", "--output-dir", "results2")
    assert said.splitlines()[:1] == again.splitlines()[:1]
    program = next((WORK / "out").glob("*.region0.mrvl"))
    kept = program.read_bytes()
    program.write_bytes(kept[:-1] + bytes([kept[-1] ^ 1]))
    assert "MRV0712" in run(MRVLC, "run", "out", "--input", "image=x.npy", "--repeat-axis0", "--output-dir", "r3", status=3)
    program.write_bytes(kept)
    library = WORK / "out/toy.so"
    library.write_bytes(library.read_bytes() + b"\0")
    assert "MRV0712" in run(MRVLC, "run", "out", "--input", "image=x.npy", "--repeat-axis0", "--output-dir", "r3", status=3)
    before.rename(toy)
    text = (toy / "toy.c").read_text()
    (toy / "toy.c").write_text(text.replace("(a > 0 ? a : 0)", "(a > 0 ? 2 * a : 0)"))
    build(toy)
    run(MRVLC, "verify", MODEL, "--target", "toy", "--target-dir", ".", status=5)
    (toy / "toy.c").write_text(text)
    build(toy)


def check_cost(toy):
    """By cost the order of the targets decides nothing, and every node tells what others would take."""
    run(MRVLC, "targets", "new", "swift", "--extends", "cn10ka")
    package = json.loads((WORK / "swift/target.json").read_text())
    package["fields"] = {"launch_us": {"value": 0.5, "source": "assumed", "note": "so that it is no equal of cn10ka"}}
    (WORK / "swift/target.json").write_text(json.dumps(package))
    placed = []
    for number, targets in enumerate(("toy,swift,cn10ka", "cn10ka,toy,swift", "swift,cn10ka,toy")):
        out = WORK / f"cost{number}"
        run(MRVLC, "compile", MODEL, "--target", targets, "--target-dir", ".", "--partition", "cost", "--no-probe", "-o", out)
        placed.append([(n["id"], n.get("target"), n.get("costs")) for n in read(out, "placement.json")["nodes"]])
    assert placed[0] == placed[1] == placed[2], placed
    costs = next(c for _, _, c in placed[0] if c)
    assert {"cn10ka", "swift", "host"} <= {c["target"] for c in costs} and costs == sorted(costs, key=lambda c: c["seconds"]), costs
    node = next(n for n, target, c in placed[0] if c and any(x["target"] == target for x in c))
    said = run(MRVLC, "explain", WORK / "cost0", "--node", node)
    assert "  cost: " in said and " us (chosen)" in said, said
    said = run(MRVLC, "verify", MODEL, "--target", "toy,swift", "--target-dir", ".", "--partition", "cost")
    assert " ok" in said and "WRONG" not in said, said


def check_faulty(toy):
    faulty = WORK / "faulty"
    faulty.mkdir()
    (faulty / "target.json").write_text((toy / "target.json").read_text().replace("toy", "faulty"))
    (faulty / "faulty.rules").write_text((toy / "toy.rules").read_text().replace("toy", "faulty"))
    compile_it = (MRVLC, "compile", MODEL, "--target", "faulty", "--target-dir", ".", "-o", "never")
    for number, expected in FAULTS.items():
        build(faulty, "-Wno-unused", f"-DFAULT={number}", source=SOURCE / "test/e2e/plugins/faulty.c")
        said = run(*compile_it, status=1)
        code = "MRV0356" if "encode' of" in expected else "MRV0355"
        assert code in said and "target 'faulty'" in said and expected in said, f"{number}: {said}"
        assert not (WORK / "never").exists()
    (faulty / "faulty.so").write_text("no library")
    assert "does not load" in run(*compile_it, status=1)
    for number, expected in {13: "the plug-in of faulty fails: out of order", 14: "It does not feel like it."}.items():
        build(faulty, "-Wno-unused", f"-DFAULT={number}", source=SOURCE / "test/e2e/plugins/faulty.c")
        run(*compile_it)
        reasons = {n["reason"] for n in read(WORK / "never", "placement.json")["nodes"]}
        assert any(expected in r for r in reasons), reasons
        shutil.rmtree(WORK / "never")
    # It compiles, and its run fails: the region's operator is named.
    build(faulty, source=SOURCE / "test/e2e/plugins/faulty.c")
    said = run(MRVLC, "verify", MODEL, "--target", "faulty", "--target-dir", ".", status=1)
    assert "out of order" in said, said


# What ends the process, or is found behind the call: with --partition cost, so that all functions are called.
GUESTS = {
    20: "the function 'legal' of its plug-in ends the process, with exit code 0",
    21: "the function 'legal' of its plug-in ends the process, with exit code 0",
    22: "the function 'legal' of its plug-in ends in signal 11",
    33: "the function 'legal' of its plug-in ends the process, with exit code 200",
    23: "the function 'encode' of its plug-in gives something else for the same region when it is called again",
    24: "the function 'cost' of its plug-in gives -1 seconds",
    25: "the function 'cost' of its plug-in fails: out of order",
}
RUNS = {
    0: "the function 'run' of its plug-in fails: out of order",
    26: "the function 'run' of its plug-in writes beyond its output 0",
    27: "the function 'run' of its plug-in writes to its input 0",
    31: "the function 'run' of its plug-in does not write its output 0 from byte 0 on",
    32: "the function 'run' of its plug-in does not write its output 0 from byte",
}


def check_guests():
    """What a plug-in does to the process is an error, or is put back."""
    faulty = WORK / "faulty"

    def build_fault(number):
        build(faulty, "-Wno-unused", "-Wno-return-type", f"-DFAULT={number}", source=SOURCE / "test/e2e/plugins/faulty.c")

    options = (MODEL, "--target", "faulty", "--target-dir", ".")
    for number, expected in GUESTS.items():
        build_fault(number)
        by_cost = ["--partition", "cost"] if number in (24, 25) else []
        said = run(MRVLC, "compile", *options, *by_cost, "-o", "never", status=1)
        assert "MRV0356" in said and "target 'faulty'" in said and expected in said, f"{number}: {said}"
        assert "Relu" in said, f"{number}: no node: {said}"
        assert not (WORK / "never").exists()
    for number, expected in RUNS.items():
        build_fault(number)
        said = run(MRVLC, "compile", *options, "-o", "never", status=1)
        assert "MRV0356" in said and expected in said and "node '" in said, f"{number}: {said}"
        assert not (WORK / "never").exists()
        run(MRVLC, "compile", *options, "--no-probe", "-o", "unseen")
        said = run(MRVLC, "run", "unseen", "--input", "image=x.npy", "--repeat-axis0", "--output-dir", "r4", status=1)
        assert expected.replace("its plug-in", "the plug-in 'faulty'") in said, f"{number}: {said}"
    outs = []
    for number in (0, 28, 29, 30, 34):
        build_fault(number)
        done = subprocess.run([str(c) for c in (MRVLC, "compile", *options, "--no-probe", "-o", f"guest{number}")], capture_output=True, text=True, cwd=WORK)
        assert done.returncode == 0 and "HELLO" not in done.stdout, f"{number}: {done}"
        outs.append([(WORK / f"guest{number}" / file).read_bytes() for file in ("digits_weights.bin", "digits.region0.mrvl")])
    assert all(o == outs[0] for o in outs)


def check_package_text(toy):
    """Mistakes in target.json, each named by its key."""
    good = json.loads((toy / "target.json").read_text())
    for key, value in {"library": "../toy.so", "rules": "toy.txt", "max_ports": 0, "max_layers": "many", "clock_ghz": -1, "extends": "cn10ka",
                       "tiles": 8, "description": ""}.items():
        (toy / "target.json").write_text(json.dumps({**good, key: value}))
        said = run(MRVLC, "targets", "check", "toy", status=1)
        assert "MRV0351" in said and ("extends" if key == "extends" else f"'{key}'") in said, said
    (toy / "target.json").write_text(json.dumps(good))


def check_regions(out, targets):
    """Each region is one target's, in all files alike, and each target has one."""
    idmap, placed, report = (read(out, f"{name}.json") for name in ("idmap", "placement", "report"))
    of_region = {r: t["name"] for t in idmap["targets"] for r in t.get("regions", [])}
    assert len(of_region) == sum(len(t.get("regions", [])) for t in idmap["targets"]) == len(report["regions"])
    assert set(of_region.values()) == set(targets), of_region
    assert all(of_region[r["id"]] == r["target"] for r in report["regions"])
    assert all(of_region[n["region"]] == n["target"] for n in placed["nodes"] if "region" in n)


def check_several(toy):
    """Accelerators side by side: a plug-in, the built-in one and a variant of it, in any order."""
    run(MRVLC, "targets", "new", "quarter", "--extends", "cn10ka")
    assert "4 of 4 operators run on quarter, results right" in run(MRVLC, "targets", "check", "quarter")
    for number, targets in enumerate(("toy,quarter", "toy,cn10ka,host", "quarter,toy", "toy,quarter,cn10ka")):
        out = WORK / f"several{number}"
        # The first that takes convolutions takes all else that it can: on the plug-in behind it is what that one may not have.
        kept = ["--cpu", "Gemm"] if targets == "quarter,toy" else []
        options = ["--target", targets, "--target-dir", ".", *kept]
        run(MRVLC, "compile", MODEL, *options, "-o", out)
        used = [t for t in targets.split(",") if t != "host"][: 1 if targets == "quarter,toy" else 2]
        check_regions(out, used)
        said = run(MRVLC, "verify", MODEL, *options)
        assert " ok" in said and "WRONG" not in said, said
        assert "region 0" in run(MRVLC, "profile", out, "--target-dir", ".")
        run("cc", "-std=c99", "-Wall", "-Wextra", "-Wconversion", "-pedantic", "-Werror", f"-I{SOURCE / 'include'}", "-c", out / "digits.c",
            "-o", "digits.o")
        run("cc", "-std=c99", "-Wall", "-Wextra", "-Wconversion", "-pedantic", "-Werror", f"-I{SOURCE / 'include'}", "-c", out / "main.c",
            "-o", "main.o")
    out = WORK / "several0"
    assert {"toy.target.json", "quarter.target.json", "toy.so"} <= {f["file"] for f in read(out, "manifest.json")["files"]}
    # OUT alone runs.
    for name in ("toy", "quarter"):
        (WORK / name).rename(WORK / f"{name}.away")
    run(MRVLC, "run", out, "--input", "image=x.npy", "--repeat-axis0", "--output-dir", "results")
    for name in ("toy", "quarter"):
        (WORK / f"{name}.away").rename(WORK / name)
    # Options of one of them; a placement that is given back; one that asks for what there is not.
    both = ["--target", "toy,quarter", "--target-dir", "."]
    run(MRVLC, "compile", MODEL, *both, "--target-opt", "quarter.tiles=2", "-o", "tiles")
    assert (WORK / "tiles/digits.region0.mrvl").read_bytes() != (out / "digits.region0.mrvl").read_bytes()
    assert "is a plug-in and has no such setting" in run(MRVLC, "compile", MODEL, *both, "--tiles", "2", "-o", "never", status=2)
    run(MRVLC, "compile", MODEL, *both, "--placement", out / "placement.json", "-o", "back")
    assert (WORK / "back/idmap.json").read_bytes() == (out / "idmap.json").read_bytes()
    placed = read(out, "placement.json")
    moved = next(n for n in placed["nodes"] if n["target"] == "quarter")
    for target, status in (("toy", 2), ("host", 0)):
        moved["target"] = target
        (WORK / "edited.json").write_text(json.dumps(placed))
        said = run(MRVLC, "compile", MODEL, *both, "--placement", "edited.json", "-o", "edited", status=status)
        assert status == 0 or "MRV0413" in said, said
    assert next(n for n in read(WORK / "edited", "placement.json")["nodes"] if n["id"] == moved["id"])["where"] == "cpu"
    # A device that fails in a region of the second.
    done = subprocess.run([str(MRVLC), "run", str(out), "--input", f"image={WORK / 'x.npy'}", "--repeat-axis0", "--output-dir", str(WORK / "r")],
                          capture_output=True, text=True, env={**os.environ, "MRVL_SIMULATOR_FAULT": "error@1"})
    assert done.returncode != 0 and "the device failed" in done.stderr, done


shutil.rmtree(WORK, ignore_errors=True)
WORK.mkdir(parents=True)
os.environ.pop("MRVLC_TARGET_PATH", None)
made = check_made_package()
check_bytes_run(made)
check_several(made)
check_cost(made)
check_faulty(made)
check_guests()
check_package_text(made)
print("plug-ins: as they should be")
