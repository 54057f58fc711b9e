"""The tables of performance.py, as Markdown."""

import subprocess
import sys

import math

from performance_runs import BATCHES, GENERATED, RESNET, ZOO, Key

TILES = (8, 4, 2, 1)
RATES = (16, 32, 64)
DEFAULT = {"tiles": 8, "ddr": 32, "batch": 1}
# What the vendor publishes of its compiler and simulator for ResNet-50 v1, fp16, batch 1, 8 tiles.
VENDOR = {"cycles": 5674071, "utilization": 0.3320, "ddr_read_bytes": 51464160, "ddr_write_bytes": 2000,
          "ocm_peak": 8211968, "compile": 4.8, "simulate": 1304}
# Networks whose geometric mean is the figure to watch.
MEAN_OF = [name for name in [*GENERATED, *ZOO] if name not in (RESNET, "BlazeFace front")]


def number(n):
    return f"{n:,}".replace(",", " ")


def markdown(header, rows):
    lines = ["| " + " | ".join(header) + " |", "|---|" + "---:|" * (len(header) - 1)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


FIGURES = ["cycles", "conservative", "lower bound", "ratio", "MAC %", "executed %", "DDR read MB", "DDR write MB"]


def figures(r):
    return [number(r["cycles"]), number(r["cycles_pessimistic"]), number(r["lower_bound_cycles"]), f"{r['ratio']:.3f}", f"{100 * r['utilization']:.1f}",
            f"{100 * r['executed']:.1f}", f"{r['ddr_read_bytes'] / 1e6:.2f}", f"{r['ddr_write_bytes'] / 1e6:.2f}"]


PLAIN = ["products and weights alone", "ratio"]


def plain(runs, key):
    bound = runs.plain_bound(key)
    return [number(bound), f"{runs.results[key]['cycles'] / bound:.3f}"]


class VendorTable:
    name = "vendor"

    def keys(self, models):
        return [Key(RESNET, **DEFAULT)]

    def text(self, runs, models):
        r = runs.results[Key(RESNET, **DEFAULT)]
        rows = [("cycles", number(VENDOR["cycles"]), number(r["cycles"]), number(r["lower_bound_cycles"])),
                ("cycles, conservative", "", number(r["cycles_pessimistic"]), ""),
                ("MACs a cycle, of 2 048", f"{100 * VENDOR['utilization']:.2f} %", f"{100 * r['utilization']:.2f} %",
                 f"{100 * r['macs'] / r['lower_bound_cycles'] / 2048:.2f} %"),
                ("DDR to on-chip memory, bytes", number(VENDOR["ddr_read_bytes"]), number(r["ddr_read_bytes"]), ""),
                ("on-chip memory to DDR, bytes", number(VENDOR["ddr_write_bytes"]), number(r["ddr_write_bytes"]), "")]
        return markdown(("ResNet-50 v1, fp16, batch 1, 8 tiles", "vendor", "mrvlc", "lower bound"), rows)


class ResnetTable:
    name = "resnet50"

    def keys(self, models):
        return [Key(RESNET, tiles, ddr, 1) for tiles in TILES for ddr in RATES]

    def text(self, runs, models):
        rows = [[str(k.tiles), str(k.ddr), *figures(runs.results[k]), *plain(runs, k)] for k in self.keys(models)]
        return markdown(["tiles", "DDR B/cycle", *FIGURES, *PLAIN], rows)


class BatchTable:
    name = "batches"

    def keys(self, models):
        return [Key(RESNET, 8, DEFAULT["ddr"], batch) for batch in BATCHES]

    def text(self, runs, models):
        row = lambda k, r: [str(k.batch), number(r["cycles"] // k.batch), *figures(r), *plain(runs, k)]
        return markdown(["batch", "cycles an image", *FIGURES, *PLAIN],
                        [row(k, runs.results[k]) for k in self.keys(models)])


class NetworkTable:
    name = "networks"

    def keys(self, models):
        return [Key(name, **DEFAULT) for name in [*GENERATED, *ZOO] if (name, 1) in models]

    def text(self, runs, models):
        results = {k.model: runs.results[k] for k in self.keys(models)}
        rows = [[name, *figures(r), str(r["regions"]), f"{100 * r['mac_share']:.1f}"] for name, r in results.items()]
        ratios = [results[name]["ratio"] for name in MEAN_OF if name in results]
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        empty = [""] * 5
        rows.append([f"**geometric mean of {len(ratios)}**", "", "", "", f"**{mean:.3f}**", *empty])
        return markdown(["network, 8 tiles", *FIGURES, "regions", "MACs on it, %"], rows)


TABLES = (VendorTable(), ResnetTable(), BatchTable(), NetworkTable())


def seconds_table(runs, models):
    """Compile includes one simulation, timing only: that is where the report's cycles come from."""
    rows = []
    for key in dict.fromkeys(NetworkTable().keys(models) + BatchTable().keys(models)):
        r = runs.results[key]
        name = key.model if key.batch == 1 else f"{key.model}, batch {key.batch}"
        rows.append([name, f"{r['compile']:.2f}", f"{r['simulate']:.3f}"])
    rows.append(["vendor, ResNet-50 v1", f"{VENDOR['compile']:.1f}", f"{VENDOR['simulate']} (functional too)"])
    return markdown(["seconds", "compile", "of these, timing-only simulation"], rows)


def run_script(name, main):
    """Calls main() and exits as it says; what a command or a file refuses is one line on stderr."""
    try:
        sys.exit(main())
    except subprocess.CalledProcessError as error:
        print(f"{name}: {' '.join(map(str, error.cmd))}: {(error.stderr or '').strip()}", file=sys.stderr)
        sys.exit(1)
    except (OSError, ValueError) as error:
        print(f"{name}: {error}", file=sys.stderr)
        sys.exit(3)


def replace_table(text, name, table):
    begin, end = f"<!-- begin {name} -->\n", f"<!-- end {name} -->"
    head, found, rest = text.partition(begin)
    _, closed, tail = rest.partition(end)
    if not found or not closed:
        raise ValueError(f"the markers of table '{name}' are missing")
    return head + found + table + "\n" + end + tail
