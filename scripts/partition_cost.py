#!/usr/bin/python3
"""What partitions by cost are worth: time of a model greedily, on the host alone and by cost.

The host's part is measured: generated C with a device that does nothing, the least time of many runs. The
accelerator's part is the cycles that the simulator counts, and a launch a region. `--cuts N`: of models of at most N
nodes that the accelerator may take every run of them is also compiled, and the three best by estimate are measured. Times
are the least of several rounds, of long runs in processor time.

    scripts/partition_cost.py build/bin/mrvlc MODEL.onnx... [--made] [--cuts 20] [--nodes nodes.json] [--host-model FILE]
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

DRIVER = r"""
#define _POSIX_C_SOURCE 199309L
#include "NAME.h"
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
static double clock_of(clockid_t id) {
  struct timespec t;
  clock_gettime(id, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}
static double now(void) { return clock_of(CLOCK_MONOTONIC); }
/* Long runs are interrupted on a machine that is shared: processor time counts; of short ones asking for it takes longer. */
static double processor(void) { return clock_of(CLOCK_PROCESS_CPUTIME_ID); }
static double less(double a, double b) { return a < b ? a : b; }
/* When the device last ran, and how long in this inference, also in processor time. */
static double reached, inside, inside_processor;
static int load(void* c, const void* b, size_t n, void** m) { (void)c; (void)b; (void)n; *m = c; return 0; }
static void unload(void* c, void* m) { (void)c; (void)m; }
/* Takes no time: what it spends is taken off again. Outputs are numbers of fp16 between 0.5 and 8, of either sign, in no order:
 * functions take longer for these than for one number again and again. */
static uint16_t noise[1 << 16];
static void fill_noise(void) {
  uint32_t r = 1;
  for (size_t i = 0; i < sizeof noise / sizeof noise[0]; ++i) {
    r = r * 1664525u + 1013904223u;
    noise[i] = (uint16_t)(0x3800u + ((r >> 20) & 0xfffu) + ((r >> 4) & 0x8000u));
  }
}
static int run(void* c, void* m, const mrvl_input* i, size_t n, const mrvl_output* o, size_t k) {
  const double begin = now(), begin_processor = processor();
  (void)c; (void)m; (void)i; (void)n;
  for (size_t j = 0; j < k; ++j)
    for (size_t at = 0; at < o[j].bytes; at += sizeof noise)
      memcpy((char*)o[j].data + at, noise, o[j].bytes - at < sizeof noise ? o[j].bytes - at : sizeof noise);
  inside_processor += processor() - begin_processor;
  reached = now();
  inside += reached - begin;
  return 0;
}
static void* read_file(const char* path, size_t* bytes) {
  FILE* f = fopen(path, "rb");
  char* data;
  if (!f) return NULL;
  fseek(f, 0, SEEK_END); *bytes = (size_t)ftell(f); rewind(f);
  data = malloc(*bytes + 1);
  if (fread(data, 1, *bytes, f) != *bytes) return NULL;
  fclose(f);
  return data;
}
static double started, started_processor, least[100000];
static void hook(void* user, uint32_t expr, const char* name, int done) {
  double t;
  (void)user; (void)name;
  if (!done) { started_processor = processor(); started = now(); return; }
  t = now() - started;
  if (t > 1e-4) t = less(t, processor() - started_processor);
  if (expr < 100000 && (least[expr] == 0 || t < least[expr])) least[expr] = t;
}
/* Functions take other ways for zero. */
static void fill(float* x, size_t n) {
  uint32_t r = 1;
  for (size_t i = 0; i < n; ++i) {
    r = r * 1664525u + 1013904223u;
    x[i] = LOWf + (HIGHf - LOWf) * (float)(r >> 8) / 16777216.0f;
  }
}
int main(int argc, char** argv) {
  static char context;
  mrvl_device device = MRVL_DEVICE_INIT;
  NAME_device d;
  NAME_error error;
  size_t in_bytes[] = {IN_BYTES 0}, out_bytes[] = {OUT_BYTES 0};
  void *in[IN_COUNT + 1], *out[OUT_COUNT + 1], *arena;
  static const int is_float[] = {IS_FLOAT 0};
  static const int64_t whole[] = {WHOLE 0};
  double best = 1e9, before = 1e9, after = 1e9, began;
  int per_node = argc > 1 && strcmp(argv[1], "nodes") == 0;
  memset(&d, 0, sizeof d);
  fill_noise();
  device.context = &context; device.load = load; device.unload = unload; device.run = run;
  d.device = &device;
  for (int r = 0; r < REGIONS; ++r) {
    char path[300]; size_t bytes; void* b;
    snprintf(path, sizeof path, "NAME.region%d.mrvl", r);
    b = read_file(path, &bytes);
    if (!b || NAME_load(&d, r, b, bytes, &error)) return 2;
  }
  for (int i = 0; i < IN_COUNT; ++i) {
    in[i] = calloc(1, in_bytes[i] + 64);
    if (is_float[i]) fill(in[i], in_bytes[i] / 4);
    if (whole[i]) *(int64_t*)in[i] = whole[i];
  }
  for (int i = 0; i < OUT_COUNT; ++i) out[i] = calloc(1, out_bytes[i] + 64);
  if (posix_memalign(&arena, 64, NAME_ARENA_BYTES + 64)) return 3;
  memset(arena, 0, NAME_ARENA_BYTES + 64);
  began = now();
  for (int i = 0; i < 20000 && (i < 5 || now() - began < SECONDS); ++i) {
    double start_processor = processor(), start = now(), t;
    inside = inside_processor = 0;
    int rc = NAME_run((void*)in, (void*)out, arena, &d, per_node ? hook : NULL, NULL, &error);
    t = now() - start;
    if (reached - inside - start < before) before = reached - inside - start;
    if (start + t - reached < after) after = start + t - reached;
    t -= inside;
    if (t > 1e-4) t = less(t, processor() - start_processor - inside_processor);
    if (rc) { fprintf(stderr, "error %d\n", rc); return 1; }
    if (t < best) best = t;
  }
  printf("%.9g %.9g %.9g\n", best, before, after);
  for (int i = 0; per_node && i < 100000; ++i) if (least[i] > 0) printf("%d %.9g\n", i, least[i]);
  return 0;
}
"""


# What a model needs to be compiled at all.
SHAPES = {"silero_vad_v5": ("--input-shape", "input=1x576", "--input-shape", "state=2x1x128")}


# Inputs of one integer that nothing can be computed without: a rate of samples.
WHOLE = {"sr": 16000}


def compile_model(tool, model, out, *options):
    command = [tool, "compile", model, "-o", out, "--name", "m", "--no-probe", *SHAPES.get(pathlib.Path(model).stem, ()), *options]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(next((l for l in done.stderr.splitlines() if "error" in l), "failed"))
    return json.loads((pathlib.Path(out) / "report.json").read_text())


def measure(out, include, seconds, nodes=False, borders=False, domain=(-2, 2), rounds=1):
    """Seconds of the host, the least of several rounds; with `nodes` also those of each expression; with `borders` also those before and after the
    (last) region. Inputs of float32 hold numbers of `domain`, others zeros."""
    out = pathlib.Path(out)
    inputs = json.loads((out / "manifest.json").read_text())["inputs"]
    defines = {}
    for line in (out / "m.h").read_text().splitlines():
        words = line.split()
        if len(words) >= 3 and words[0] == "#define":
            defines[words[1]] = words[2]
    text = DRIVER.replace("NAME", "m").replace("SECONDS", str(seconds))
    for mark, number in (("LOWf", domain[0]), ("HIGHf", domain[1])):
        text = text.replace(mark, f"({float(number)}f)")
    text = text.replace("WHOLE", "".join(f"{WHOLE.get(i['name'], 0) if i['type'] == 'i64' else 0}, " for i in inputs))
    text = text.replace("IS_FLOAT", "".join(f"{int(i['type'] == 'f32')}, " for i in inputs))
    for kind in ("IN", "OUT"):
        count = int(defines[f"m_{kind}PUT_COUNT"])
        sizes = "".join(defines.get(f"m_{kind}PUT{i}_BYTES", "65536") + ", " for i in range(count))
        text = text.replace(f"{kind}_BYTES", sizes).replace(f"{kind}_COUNT", str(count))
    text = text.replace("REGIONS", defines["m_REGION_COUNT"])
    (out / "null.c").write_text(text)
    subprocess.run(["gcc", "-std=c99", "-O3", "-march=native", "-I", include, "-o", "null", "null.c", "m.c",
                    "m_weights.S", "-lm"], cwd=out, check=True, capture_output=True)
    by_node, least = {}, [float("inf")] * 3
    for _ in range(rounds):
        lines = subprocess.run(["./null"] + (["nodes"] if nodes else []), cwd=out, check=True, capture_output=True,
                               text=True).stdout.split("\n")
        least = [min(a, float(b)) for a, b in zip(least, lines[0].split())]
        for w in (x.split() for x in lines[1:]):
            if len(w) == 2:
                by_node[int(w[0])] = min(float(w[1]), by_node.get(int(w[0]), float("inf")))
    total, before, after = least
    if borders:
        return total, before, after
    return (total, by_node) if nodes else total


def accelerator_seconds(report, launch, ghz=1.0):
    return sum(r["cycles"] / (1e9 * ghz) + launch for r in report["regions"])


def layer_ids(folder):
    """ONNX nodes that the accelerator may take, with a product near or not, in order."""
    placed = json.loads((pathlib.Path(folder) / "placement.json").read_text())
    return [n["id"] for n in placed["nodes"] if n["where"] == "accelerator" or n.get("code") == "no-product"]


def best_cut(args, model, work):
    ids, found = layer_ids(work / "greedy"), []
    if len(ids) > args.cuts:
        return None
    for begin in range(len(ids)):
        for end in range(begin + 1, len(ids) + 1):
            options = [o for i in ids[:begin] + ids[end:] for o in ("--cpu", i)]
            options += [o for i in ids[begin:end] for o in ("--accel", i)]
            try:
                report = compile_model(args.mrvlc, model, work / "cut", *options, *args.host)
                found.append((report["partition"]["seconds"], options))
            except RuntimeError:
                pass  # e.g. a layer that would be cut in two
    best = None
    for _, options in sorted(found)[:3]:
        report = compile_model(args.mrvlc, model, work / "cut", *options, *args.host)
        seconds = measure(work / "cut", args.include, args.seconds, rounds=args.rounds) + accelerator_seconds(report, args.launch)
        best = seconds if best is None else min(best, seconds)
    return best


def program(out):
    return [(f.name, f.read_bytes()) for f in sorted(out.iterdir()) if f.name == "m.c" or f.name.startswith("m_weights") or f.suffix == ".mrvl"]


def row(args, model, work):
    modes = {"greedy": ("--partition", "greedy"), "cost": ("--partition", "cost"), "host": ("--target", "host")}
    reports, host, total = {}, {}, {}
    for name, options in modes.items():
        reports[name] = compile_model(args.mrvlc, model, work / name, *options, *args.host)
        host[name] = measure(work / name, args.include, args.seconds, rounds=args.rounds)
        total[name] = host[name] + accelerator_seconds(reports[name], args.launch)
    # The same program has one time: what its weights' pages share in the caches differs by run.
    for name in ("greedy", "host"):
        if program(work / name) == program(work / "cost"):
            total[name] = total["cost"] = min(total[name], total["cost"])
    total["cut"] = best_cut(args, model, work) if args.cuts else None
    best = min(t for k, t in total.items() if k != "cost" and t is not None)
    estimate = reports["host"]["partition"]["seconds_host_only"] / host["host"]
    p = reports["cost"]["partition"]
    sane = p["seconds"] <= 1.0001 * min(p["seconds_greedy"], p["seconds_host_only"])
    return total, total["cost"] / best, estimate, sane


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("mrvlc")
    parser.add_argument("models", nargs="*")
    parser.add_argument("--made", action="store_true", help="two models too that were made to show what a choice is worth")
    parser.add_argument("--cuts", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=0.3)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--launch", type=float, default=2e-6)
    parser.add_argument("--host-model")
    parser.add_argument("--nodes", help="file for the seconds of each operator on the host")
    args = parser.parse_args()
    args.include = str(pathlib.Path(__file__).resolve().parent.parent / "include")
    args.host = ["--host-model", args.host_model] if args.host_model else []
    if args.made:
        import calibration_models  # needs python3-onnx
        made = tempfile.TemporaryDirectory()
        args.models += calibration_models.choice_models(made.name)
    estimates, worst, nodes = [], 0, {}
    print(f"{'us':32} {'greedy':>10} {'host':>10} {'best cut':>10} {'cost':>10} {'of best':>8} {'est/host':>8}")
    for model in args.models:
        name = pathlib.Path(model).stem
        with tempfile.TemporaryDirectory() as folder:
            work = pathlib.Path(folder)
            try:
                if args.nodes:
                    compile_model(args.mrvlc, model, work / "host", "--target", "host")
                    nodes[model] = measure(work / "host", args.include, args.seconds, nodes=True)[1]
                    continue
                total, ratio, estimate, sane = row(args, model, work)
            except (RuntimeError, subprocess.CalledProcessError) as e:
                print(f"{name:32} {e}")
                continue
        cut = f"{1e6 * total['cut']:10.2f}" if total["cut"] is not None else f"{'':10}"
        print(f"{name:32} {1e6 * total['greedy']:10.2f} {1e6 * total['host']:10.2f} {cut} {1e6 * total['cost']:10.2f} "
              f"{ratio:8.2f} {estimate:8.2f}{'' if sane else '  estimate above greedy or host'}", flush=True)
        estimates.append(estimate)
        worst = max(worst, ratio)
    if args.nodes:
        pathlib.Path(args.nodes).write_text(json.dumps(nodes))
    elif estimates:
        estimates.sort()
        print(f"worst {worst:.2f} of the best; host estimate {estimates[0]:.2f} to {estimates[-1]:.2f}, "
              f"median {estimates[len(estimates) // 2]:.2f}")
    return 0 if worst <= 1.1 else 1


if __name__ == "__main__":
    sys.exit(main())
