#!/usr/bin/env python3
"""What a change makes the compiler compile again: of the sources of lib/ and apps/ (no unity), the share by number and by time.

  scripts/rebuild_shares.py [--build build/dev] [FILE...]

Without files: the changes that CONTRIBUTING.md describes. The time of a source is that of its last compile in BUILD's .ninja_log (a build with MRVLC_UNITY=OFF,
as the preset dev); where there is none, it is taken to be in proportion to the bytes of the source and all that it includes of the project.
"""
import argparse
import functools
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)
CHANGES = {
    "a new operator": ["include/mrvlc/ops/ops.def"],
    "a new option": ["lib/driver/options/table.cpp"],
    "a member of CompileOptions": ["include/mrvlc/driver/options.h"],
    "partition.h": ["include/mrvlc/partition/partition.h"],
    "params of operators": sorted(str(p.relative_to(ROOT)) for p in (ROOT / "include/mrvlc/ops").glob("params*.h"))[:1],
    "a new diagnostic": ["include/mrvlc/support/diag/tools.h"],
}


@functools.cache
def included(path):
    """Files of the project that this one includes itself."""
    text = path.read_text(errors="replace")
    parts = path.relative_to(ROOT).parts
    component = ROOT / parts[0] / parts[1] if len(parts) > 2 else path.parent
    if parts[0] == "include" and len(parts) > 3:
        component = ROOT / "lib" / parts[2]
    found = []
    for name in INCLUDE.findall(text):
        for folder in (path.parent, component, ROOT / "include"):
            if (folder / name).is_file():
                found.append((folder / name).resolve())
                break
    return tuple(found)


def reaches(source):
    seen, open_ = {source}, [source]
    while open_:
        for file in included(open_.pop()):
            if file not in seen:
                seen.add(file)
                open_.append(file)
    return seen


def logged_times(build):
    """Milliseconds by object, the last of each."""
    times = {}
    log = build / ".ninja_log"
    if log.is_file():
        for line in log.read_text().splitlines()[1:]:
            begin, end, _, target, _ = line.split("\t")
            times[target] = int(end) - int(begin)
    return times


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "dev")
    parser.add_argument("files", nargs="*")
    args = parser.parse_args()
    sources = [p for top in ("lib", "apps") for p in sorted((ROOT / top).rglob("*.cpp"))]
    uses = {s: reaches(s) for s in sources}
    times = logged_times(args.build)
    cost, measured = {}, 0
    for source in sources:
        name = str(source.relative_to(ROOT))
        end = "/" + "/".join(name.split("/")[2:]) + ".o"
        found = [ms for target, ms in times.items() if target.endswith(end) and target.startswith("/".join(name.split("/")[:2]))]
        measured += bool(found)
        cost[source] = found[0] if found else sum(f.stat().st_size for f in uses[source]) / 1000
    print(f"{len(sources)} sources; times of {measured} are measured, the others go by their bytes")
    print(f"{'change':40} {'sources':>8} {'share':>7} {'by time':>8}")
    changes = {f: [f] for f in args.files} or CHANGES
    for what, files in changes.items():
        touched = {(ROOT / f).resolve() for f in files}
        again = [s for s in sources if uses[s] & touched]
        time = sum(cost[s] for s in again) / sum(cost.values())
        print(f"{what:40} {len(again):8} {100 * len(again) / len(sources):6.1f}% {100 * time:7.1f}%")
    return 0


if __name__ == "__main__":
    sys.exit(main())
