#!/usr/bin/env python3
"""Who may include whom. The arrows between components stand once, as DEPS in lib/*/CMakeLists.txt; docs/architecture.md shows them.

    check_includes.py ROOT              what is wrong, a line each
    check_includes.py --arrows ROOT     the table of docs/architecture.md (scripts/update_docs.sh)

Checked: that a type's name stands once in its namespace; includes against the arrows; no circle between components, nor in a component between its rooms (folders, and files that lie
in none); what names a target outside its back end; that a file says what it is for."""
import os
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

MOST_FILES = 40  # of a folder
# Targets are known by their interface (mrvlc/backend): nothing else names the accelerator, its instruction set or its simulator.
# lib/cost is the model of time that these two share; apps/mrvlc-opt prints the accelerator's stages.
INSIDE = re.compile(r"^(lib|include/mrvlc)/(accel|isa|sim|cost|runtime|backends)/|^apps/mrvlc-opt/stages\.")
NAMES_TARGET = re.compile(r"\b(accel|isa|sim|cost)::|mrvlc/(accel|isa|sim|cost)/|cn10ka")
# What lies above the rooms of lib/accel (compile.cpp, schedule.cpp) uses all; rooms are those of docs/accelerator-backend.md.
ACCEL = {"legal": "", "primitive": "legal", "plan": "primitive", "lower": "plan primitive", "code": "plan primitive",
         "place": "code plan primitive", "bound": "lower primitive", "text": "code plan primitive"}
INCLUDE = re.compile(r'^#include "([^"]+)"', re.M)
problems = []


def problem(text):
    problems.append(text)


def read(path):
    return Path(path).read_text(encoding="utf-8")


def tracked(*patterns):
    """Files of the tree, those that are not committed yet too."""
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "--deduplicate", *patterns], capture_output=True, text=True, check=True)
    return sorted(f for f in listed.stdout.split("\n") if f and os.path.exists(f))


def arrows():
    """DEPS of every component."""
    uses = {}
    for lists in sorted(Path("lib").glob("*/CMakeLists.txt")):
        for call in re.finditer(r"mrvlc_component\((\w+)([^)]*)\)", read(lists)):
            words = call[2].split()
            begin = words.index("DEPS") + 1 if "DEPS" in words else len(words)
            deps = []
            for word in words[begin:]:
                if word.isupper():
                    break
                deps.append(word)
            uses[call[1]] = deps
    return uses


def reach(uses, start):
    seen, left = set(), list(uses[start])
    while left:
        at = left.pop()
        if at not in seen:
            seen.add(at)
            left += uses.get(at, [])
    return seen


def circles(uses):
    """Sets of nodes that reach each other."""
    found = set()
    for node in uses:
        ring = frozenset(n for n in reach(uses, node) if n in uses and node in reach(uses, n))
        if ring and ring != {node}:
            found.add(ring)
    return sorted(sorted(ring) for ring in found)


def table(uses):
    """What others are used by way of these is left out."""
    lines = ["| component | uses |", "|---|---|"]
    for name in sorted(uses, key=lambda n: (len(reach(uses, n)), n)):
        direct = [d for d in uses[name] if not any(d in reach(uses, o) for o in uses[name] if o != d)]
        lines.append(f"| {name} | {', '.join(sorted(direct)) or '-'} |")
    return "\n".join(lines)


def check_components(uses):
    for component, deps in uses.items():
        allowed = {component, *deps}
        for file in tracked(f"lib/{component}/*.h", f"lib/{component}/*.cpp", f"include/mrvlc/{component}/*.h"):
            for include in INCLUDE.findall(read(file)):
                other = re.match(r"mrvlc/(\w+)/", include)
                if other and other[1] not in allowed:
                    problem(f"{file} includes {include}: lib/{component}/CMakeLists.txt has no such arrow")
    for ring in circles(uses):
        problem(f"components in a circle: {', '.join(ring)}")
    if "sim" in uses and reach(uses, "sim") & {"ir", "ops", "accel"}:
        problem("lib/sim sees the compiler, whose mistakes it would share")


def check_rooms(component):
    """Rooms of a component, and files above them, use each other without a circle."""
    base = Path("lib") / component
    uses = defaultdict(set)
    files = [Path(f).relative_to(base) for f in tracked(f"lib/{component}/*.h", f"lib/{component}/*.cpp")]
    known = {str(f) for f in files}

    def room(file):
        return str(file.parent) if file.parent != Path(".") else f"{file.stem}.*"

    for file in files:
        mine = uses[room(file)]
        for include in INCLUDE.findall(read(base / file)):
            for candidate in (str(file.parent / include), include):
                if candidate in known and room(Path(candidate)) != room(file):
                    mine.add(room(Path(candidate)))
    for ring in circles(uses):
        problem(f"lib/{component}: in a circle: {', '.join(ring)}")


def check_accel():
    for folder in sorted(p for p in Path("lib/accel").iterdir() if p.is_dir()):
        if folder.name not in ACCEL:
            problem(f"{folder} is no room of docs/accelerator-backend.md")
            continue
        for file in sorted(folder.iterdir()):
            for include in INCLUDE.findall(read(file)) if file.suffix in (".h", ".cpp") else []:
                other = include.split("/")[0] if "/" in include else Path(include).stem  # a file above the rooms
                if other not in {"mrvlc", folder.name, *ACCEL[folder.name].split()}:
                    problem(f"{file} includes {include}, which docs/accelerator-backend.md does not allow")


def check_names():
    for file in tracked("lib/*.cpp", "lib/*.h", "include/mrvlc/*.h", "apps/*.cpp", "apps/*.h"):
        if INSIDE.search(file):
            continue
        for number, line in enumerate(read(file).split("\n"), 1):
            if NAMES_TARGET.search(re.sub(r"//.*", "", line)):
                problem(f"{file}:{number}: a target is named outside its back end")
    operators = "|".join(re.findall(r"^MRVLC_OP\((\w+)\)$", read("include/mrvlc/ops/ops.def"), re.M))
    # Operators are symbols: their names stand in the table, where models are read (lib/onnx, and lib/prove, which shares
    # nothing with the table), in rules, in tests, and in built-in plug-ins, which see the C interface alone.
    for file in tracked("lib/*.cpp", "lib/*.h", "include/*.h", "apps/*.cpp", "apps/*.h"):
        of_plugin = re.match("lib/target/[^/]+/", file)
        if not of_plugin and not file.startswith(("lib/ops/", "lib/onnx/", "lib/prove/")) and re.search(rf'"({operators})"', read(file)):
            problem(f"{file}: an operator is named by a string; write Op::Name")


def check_files():
    for file in tracked("lib/ops/common/*"):
        for include in INCLUDE.findall(read(file)):
            if "/" in include and not include.startswith(("common/", "mrvlc/")):
                problem(f"{file} includes {include}: what families of operators share knows none of them")
    folders = defaultdict(int)
    for file in tracked("lib/*.cpp", "lib/*.h", "lib/*.c"):
        folders[os.path.dirname(file)] += 1
    for folder, files in sorted(folders.items()):
        if files > MOST_FILES:
            problem(f"{folder} has {files} files: which rooms has it?")
    for file in tracked("lib/*.cpp", "lib/*.h", "include/*.h", "apps/*.cpp", "apps/*.h"):
        text = read(file)
        if re.search(r"onnx\.pb\.h|google/protobuf", text) and not file.startswith("lib/onnx/"):
            problem(f"{file}: protobuf is seen outside lib/onnx")
        # That of a .cpp also where its header has said it of the component: which part of it stands there. C headers have /* */.
        if not text.startswith("// ") and (file.endswith(".cpp") or not text.startswith("/* ")):
            problem(f"{file} does not open with a comment that says what it is for")


def check_types():
    """Two types of one name and namespace are one to the linker: what is inline of one is taken for the other."""
    where = defaultdict(set)
    for file in tracked("lib/*.cpp", "lib/*.h", "include/mrvlc/*.h", "apps/*.cpp", "apps/*.h"):
        spaces, depth = [], 0
        for line in read(file).split("\n"):
            code = line.split("//")[0]
            if opened := re.match(r"\s*(?:inline )?namespace\s*([\w:]*)\s*\{", code):
                spaces.append((opened[1], depth))
            # In no unnamed one, and of a namespace itself: formatted, so that it begins its line.
            if (found := re.match(r"(?:struct|class) (\w+)(?: final)?(?: : [^;]*)? ?\{", code)) and all(name for name, _ in spaces):
                where["::".join([*(name for name, _ in spaces), found[1]])].add(file)
            depth += code.count("{") - code.count("}")
            while spaces and depth <= spaces[-1][1]:
                spaces.pop()
    for name, files in sorted(where.items()):
        if len(files) > 1:
            problem(f"{name} is a type of several files: {', '.join(sorted(files))}")


def main():
    os.chdir(sys.argv[-1])
    uses = arrows()
    if "--arrows" in sys.argv:
        print(table(uses))
        return 0
    check_components(uses)
    for component in uses:
        check_rooms(component)
    check_accel()
    check_names()
    check_files()
    check_types()
    print("\n".join(problems) or f"{len(uses)} components, {sum(map(len, uses.values()))} arrows")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
