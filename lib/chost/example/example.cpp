// main.c and Makefile: a program that reads and writes .npy files and runs the model on the simulator.
#include <fmt/ranges.h>

#include <algorithm>

#include "function.h"
#include "infer.h"
#include "mrvlc/support/file_names.h"
#include "mrvlc/tensor/npy_descr.h"
#include "text.h"

namespace mrvlc::chost {
namespace {

// As a C literal; NULL: .npy cannot hold such values.
std::string npy_type(const TensorType& type) {
  const std::string_view descr = type.wrapper == Wrapper::None ? npy_descr(type.elem) : "";
  return descr.empty() ? "NULL" : c_string(descr);
}

// Those that are no literals.
std::string long_names(std::string_view table, const std::vector<Interface::Port>& ports) {
  std::string out;
  for (size_t i = 0; i < ports.size(); ++i) {
    if (!is_long_literal(ports[i].model_name)) continue;
    out += fmt::format("static const char {}_name{}[] = {};\n", table, i, c_char_array(ports[i].model_name));
  }
  return out;
}

std::string port_table(std::string_view name, const std::vector<Interface::Port>& ports) {
  std::string out = long_names(name, ports) + fmt::format("static const port {}[] = {{\n", name);
  std::vector<std::string> names;
  for (const auto& p : ports) names.push_back(p.model_name);
  const auto files = file_names(names);
  for (size_t i = 0; i < ports.size(); ++i) {
    const auto& p = ports[i];
    std::string shape;
    for (int64_t d : p.type.shape) shape += fmt::format("{}{}", shape.empty() ? "" : ", ", d);
    const bool sequence = ops::holds_sequence(p.type);
    out += fmt::format(
        "    {{{}, {}, {}, {}, {}, {{{}}}, {}u, {}, {:d}, {:d}, {:d}, {}, {}}},\n",
        is_long_literal(p.model_name) ? fmt::format("{}_name{}", name, i) : c_string(p.model_name),
        c_string(files[i]), npy_type(p.type), memory_bytes(p.type), p.type.rank(),
        shape.empty() ? "0" : shape, sequence ? 0u : p.type.dynamic,
        memory_bytes(TensorType{p.type.elem, {}}), p.type.elem == ElementType::String, sequence,
        ops::is_optional(p.type), p.type.length, sequence ? ops::slot_bytes(p.type) : 0);
  }
  return out + "    {NULL, NULL, NULL, 0, 0, {0}, 0u, 0, 0, 0, 0, 0, 0}};\n";
}

bool needs_values(const std::vector<Interface::Port>& ports) {
  return std::any_of(ports.begin(), ports.end(), [](const auto& p) { return npy_type(p.type) == "NULL"; });
}

// The functions by which example_main reads and writes.
std::string port_files(const Interface& interface, bool single) {
  const bool in = needs_values(interface.inputs), out = needs_values(interface.outputs);
  std::string text = (in || out) && !single ? "#include \"mrvl/string.h\"\n\n" : "\n";
  if (in || out) text += kernel(Piece::example_values).text;
  text += fmt::format(
      "static int read_input(const char* path, const port* p, int may_repeat, tensor* t) {{\n  return "
      "{};\n}}\n\n"
      "static int write_output(const char* folder, const port* p, const void* data, const int64_t* dim, long "
      "repeats,\n                        int stacked) {{\n  return {};\n}}\n",
      fmt::format("{}read_npy(path, p, may_repeat, t)",
                  in || out ? "!p->type ? read_value(path, p, t) : " : ""),
      fmt::format("{}write_npy(folder, p, data, dim, repeats, stacked)",
                  in || out ? "!p->type ? write_value(folder, p, data, dim) : " : ""));
  return text;
}

// The members of the two structs, from the tensors `in` and `out`.
std::string bind_tensors(const Interface& interface, std::string_view inputs, std::string_view outputs,
                         std::string_view out_tensors) {
  std::string out;
  if (interface.inputs.empty()) out += fmt::format("  {}.none = NULL;\n  (void)in;\n", inputs);
  if (interface.outputs.empty()) out += fmt::format("  {}.none = NULL;\n  (void){};\n", outputs, out_tensors);
  for (size_t i = 0; i < interface.inputs.size(); ++i) {
    const auto& p = interface.inputs[i];
    out += fmt::format("  {}.{} = (const {}*)in[{}].data;\n", inputs, p.field, ops::c_type(p.type.elem), i);
    if (!p.dims.empty())
      out += fmt::format("  memcpy({2}.{0}, in[{1}].dim, sizeof {2}.{0});\n", p.dims, i, inputs);
  }
  for (size_t i = 0; i < interface.outputs.size(); ++i) {
    const auto& p = interface.outputs[i];
    out += fmt::format("  {}.{} = ({}*){}[{}].data;\n", outputs, p.field, ops::c_type(p.type.elem),
                       out_tensors, i);
  }
  return out;
}

std::string run_once(const Interface& interface, bool threads) {
  std::string out = threads ? "\nstatic mrvl_parallel workers;\n" : "";
  out +=
      "\nstatic int run_once(const tensor* in, tensor* out, void* arena, const K_device* device, "
      "mrvl_hook hook,\n                    void* user, K_error* error) {\n"
      "  K_inputs inputs;\n  K_outputs outputs;\n  int rc;\n";
  out += bind_tensors(interface, "inputs", "outputs", "out");
  out += threads ? "  rc = K_run_parallel(&inputs, &outputs, arena, device, &workers, hook, user, error);\n"
                 : "  rc = K_run(&inputs, &outputs, arena, device, hook, user, error);\n";
  for (size_t i = 0; i < interface.outputs.size(); ++i) {
    const auto& p = interface.outputs[i];
    if (!p.dims.empty())
      out += fmt::format("  memcpy(out[{1}].dim, outputs.{0}, sizeof outputs.{0});\n", p.dims, i);
  }
  return out + "  return rc;\n}\n";
}

// --in-flight: the begin of a run beside others.
std::string submit_one(const Interface& interface, bool threads) {
  return "\n" + std::string(kernel(Piece::example_flight).text) +
         "\nstatic int submit_one(const tensor* in, flight* f, const K_device* device, K_error* error) {\n" +
         bind_tensors(interface, "f->inputs", "f->outputs", "f->out") +
         fmt::format(
             "  return K_submit(&f->inputs, &f->outputs, f->arena, device, {}NULL, NULL, &f->run, "
             "error);\n}}\n",
             threads ? "&workers, " : "");
}

// In a text that has it once.
std::string replaced(std::string text, std::string_view from, std::string_view to) {
  return text.replace(text.find(from), from.size(), to);
}

constexpr std::string_view kBenchFlights = R"(
    if (rc == 0) rc = bench_flights(a->bench, in, out, device);)";
constexpr std::string_view kBench = "int rc = bench(a->bench, in, out, arena, device);";

// Beside what takes the arguments, the measurements, and what runs all.
std::string example_run(bool flights) {
  const std::string main = std::string(kernel(Piece::example_main).text),
                    bench(kernel(Piece::example_bench).text),
                    run = std::string(kernel(Piece::example_run).text);
  if (!flights) return "\n" + main + "\n" + bench + "\n" + run;
  return "\n" + replaced(main, "[--steps] ", "[--steps] [--in-flight N] ") + "\n" + bench + "\n" +
         std::string(kernel(Piece::example_bench_flight).text) + "\n" +
         replaced(run, kBench, std::string(kBench) + std::string(kBenchFlights));
}

// Which inputs are outputs of the run before, in one memory.
std::string state_table(const Interface& interface) {
  std::string rows;
  for (const Interface::Port& in : interface.inputs) {
    const auto out = std::ranges::find_if(interface.outputs, [&](const Interface::Port& p) {
      return !in.state.empty() && p.state == in.state;
    });
    rows += out == interface.outputs.end() ? "-1, " : fmt::format("{}, ", out - interface.outputs.begin());
  }
  return "\n/* Of an input that is a state: its output; else -1. */\nstatic const int state_outputs[] = {" +
         rows + "-1};\n";
}

constexpr std::string_view kMainHost = R"(
int main(int argc, char** argv) {
  arguments a;
  K_device device;
  memset(&a, 0, sizeof a);
  memset(&device, 0, sizeof device);
{0}  if (parse(argc, argv, &a) != 0) return 2;
  const int rc = run_all(&a, allocate(K_ARENA_BYTES), &device);
  if (rc == 0 && a.cycles) printf("cycles 0\n");
{1}  return release(rc);
}
)";

constexpr std::string_view kMainDevice = R"(
int main(int argc, char** argv) {
  arguments a;
  K_device device;
  int rc = 0;
  memset(&a, 0, sizeof a);
  memset(&device, 0, sizeof device);
{0}  if (parse(argc, argv, &a) != 0) return 2;
  mrvl_device* simulator = mrvl_simulator_open(a.targets[0] ? a.targets[0] : default_targets[0]);
  if (!simulator) return fail(4, "cannot open", "the simulator");
  if (mrvl_simulator_error(simulator)[0] != 0) return fail(3, "simulator", mrvl_simulator_error(simulator));
  device.device = simulator;
  for (int i = 0; i < K_REGION_COUNT && rc == 0; ++i) {
    rc = load_model(&device, simulator, a.dir ? a.dir : ".", i);
  }
  if (rc == 0) rc = run_all(&a, allocate(K_ARENA_BYTES), &device);
  if (rc == 1) fprintf(stderr, "device: %s\n", mrvl_simulator_error(simulator));
  if (rc == 0 && a.cycles) {
    uint64_t cycles = 0;
    for (int i = 0; i < K_REGION_COUNT; ++i) {
      if (device.models[i]) cycles += simulator->cycles(simulator->context, device.models[i]);
    }
    printf("cycles %llu\n", (unsigned long long)cycles);
  }
  K_unload(&device);
  mrvl_simulator_close(simulator);
{1}  return release(rc);
}
)";

// The same with a device of each target.
constexpr std::string_view kMainDevices = R"(
static const int region_devices[] = K_REGION_DEVICES;

int main(int argc, char** argv) {
  arguments a;
  K_device device;
  mrvl_device* simulators[K_DEVICE_COUNT];
  int rc = 0;
  memset(&a, 0, sizeof a);
  memset(&device, 0, sizeof device);
{0}  if (parse(argc, argv, &a) != 0) return 2;
  for (int i = 0; i < K_DEVICE_COUNT; ++i) {
    mrvl_device* const simulator = mrvl_simulator_open(a.targets[i] ? a.targets[i] : default_targets[i]);
    if (!simulator) return fail(4, "cannot open", "the simulator");
    if (mrvl_simulator_error(simulator)[0] != 0) return fail(3, "simulator", mrvl_simulator_error(simulator));
    simulators[i] = simulator;
    device.devices[i] = simulator;
  }
  for (int i = 0; i < K_REGION_COUNT && rc == 0; ++i) {
    rc = load_model(&device, simulators[region_devices[i]], a.dir ? a.dir : ".", i);
  }
  if (rc == 0) rc = run_all(&a, allocate(K_ARENA_BYTES), &device);
  for (int i = 0; i < K_DEVICE_COUNT && rc == 1; ++i) {
    fprintf(stderr, "device of %s: %s\n", default_targets[i], mrvl_simulator_error(simulators[i]));
  }
  if (rc == 0 && a.cycles) {
    uint64_t cycles = 0;
    for (int i = 0; i < K_REGION_COUNT; ++i) {
      mrvl_device* const simulator = simulators[region_devices[i]];
      if (device.models[i]) cycles += simulator->cycles(simulator->context, device.models[i]);
    }
    printf("cycles %llu\n", (unsigned long long)cycles);
  }
  K_unload(&device);
  for (int i = 0; i < K_DEVICE_COUNT; ++i) mrvl_simulator_close(simulators[i]);
{1}  return release(rc);
}
)";

// Around what main does.
constexpr std::string_view kTakeDump = "  take_dump(&argc, argv, &device);\n";
constexpr std::string_view kStart =
    "  if (start_workers(&workers, take_threads(&argc, argv)) != 0) return fail(4, \"cannot start\", "
    "\"threads\");\n";
constexpr std::string_view kTakeFlights =
    "  if (take_flights(&argc, argv) != 0) return usage(\"--in-flight takes 1 to 4\");\n";
constexpr std::string_view kStop = "  stop_workers(&workers);\n";

constexpr std::string_view kLoadWeights =
    "  const int weights_rc = load_weights(&device, a.dir ? a.dir : \".\");\n"
    "  if (weights_rc != 0) return release(weights_rc);\n";
constexpr std::string_view kParsed = "return 2;\n";

// From one page of 2 MiB on.
constexpr int64_t kLargeArena = int64_t{2} << 20;
constexpr std::string_view kAllocate = "allocate(K_ARENA_BYTES)";

std::string main_text(const Program& program, bool large) {
  const bool device = !program.module.regions.empty(), threads = program.options.threads > 1;
  std::string text(!device ? kMainHost : program.options.targets.size() > 1 ? kMainDevices : kMainDevice);
  text.replace(text.find("{0}"), 3,
               std::string(program.options.trace_values ? kTakeDump : "") +
                   std::string(threads ? kStart : "") +
                   std::string(device && flight_obstacle(program).empty() ? kTakeFlights : ""));
  text.replace(text.find("{1}"), 3, threads ? kStop : "");
  if (program.options.weights == WeightsAs::Blob)
    text.insert(text.find(kParsed) + kParsed.size(), kLoadWeights);
  if (large) text.replace(text.find(kAllocate), kAllocate.size(), "allocate_arena(K_ARENA_BYTES)");
  return text;
}

constexpr std::string_view kMakefile =
    R"MAKE(# Builds the example program of the model {0}{11}.
CC ?= cc
# Not where CC compiles for another machine, which does not take it.
NATIVE ?= $(shell $(CC) -march=native -E -x c /dev/null >/dev/null 2>&1 && echo -march=native)
CFLAGS ?= -O3 $(NATIVE)
{2}
{1}_example: main.c {12}{1}.c {12}{1}.h{8}{3}
	$(CC) {13} $(CFLAGS){5}{6} -o $@ main.c {12}{1}.c{7}{3} $(LDFLAGS) $(MRVL_LIBS){4} -lm

{9}clean:
	rm -f {1}_example{10}

.PHONY: clean
)MAKE";

constexpr std::string_view kSimulator = R"MAKE(MRVLC_PREFIX ?= $(shell dirname "$$(command -v mrvlc)")/..
MRVL_LIBS ?= -L"$(MRVLC_PREFIX)/lib" -Wl,-rpath,"$(MRVLC_PREFIX)/lib" -lmrvl_simdev
)MAKE";

}  // namespace

std::string example_text(const Program& program, const Interface& interface, int64_t arena_bytes) {
  const bool device = !program.module.regions.empty(), threads = program.options.threads > 1;
  const bool large = arena_bytes >= kLargeArena;
  std::string out = fmt::format(
      "/* SPDX-License-Identifier: Apache-2.0 */\n/* Example: runs the model on .npy files.{} */\n#define "
      "_POSIX_C_SOURCE {}L /* {}; all else is C99 */\n{}#include \"{}{}.h\"\n\n"
      "#include <stdint.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n{}#include "
      "<time.h>\n\n",
      infer_obstacle(interface).empty()
          ? fmt::format(" A program of your own needs two lines:\n *\n"
                        " *   #include \"{}.h\"\n *   int rc = {};\n",
                        program.options.file_stem, infer_call(program, interface))
          : std::string(),
      threads ? 200112 : 199309, threads ? "clocks and threads" : "clocks, where there are any",
      large ? "#define _DEFAULT_SOURCE /* madvise */\n" : "", program.options.single ? "../" : "",
      program.options.file_stem, large ? "#ifdef __linux__\n#include <sys/mman.h>\n#endif\n" : "");
  out += kernel(Piece::example).text;
  if (device) {
    std::string targets;
    for (const std::string& target : program.options.targets)
      targets += fmt::format("{}{}", targets.empty() ? "" : ", ", c_string(target));
    out += fmt::format(
        "\nstatic const char model_stem[] = {};\nstatic const char* const default_targets[] = {{{}}};\n\n",
        c_string(program.options.file_stem), targets.empty() ? "\"\"" : targets);
    out += kernel(Piece::example_device).text;
  }
  if (program.options.weights == WeightsAs::Blob)
    out += fmt::format("\nstatic const char weights_file[] = {};\n\n",
                       c_string(program.options.file_stem + "_weights.bin")) +
           kernel(Piece::example_weights).text;
  out += "\n" + port_table("input_ports", interface.inputs) + "\n" +
         port_table("output_ports", interface.outputs);
  out += port_files(interface, program.options.single);
  out += "\n" + kernel(Piece::example_names).text;
  if (threads) out += "\n" + kernel(Piece::example_threads).text;
  if (program.options.trace_values) out += "\n" + kernel(Piece::example_dump).text;
  if (large) out += "\n" + kernel(Piece::example_arena).text;
  const bool flights = device && flight_obstacle(program).empty();
  out += state_table(interface) + run_once(interface, threads) +
         (flights ? submit_one(interface, threads) : std::string()) + example_run(flights) +
         main_text(program, large);
  return with_prefix(out, program.options.name);
}

namespace {

// The board's own files come by CFLAGS and LDFLAGS.
std::string bare_rule(const std::string& stem, const std::string& weights, const std::string& weights_read,
                      const std::string& sources, const std::string& linked, bool single,
                      const std::string& standard) {
  return fmt::format(
      "{0}_bare: bare.c {5}{0}.c {5}{0}.h{1}{3}\n"
      "\t$(CC) {6} $(CFLAGS) -o $@ bare.c {5}{0}.c{2}{3} $(LDFLAGS){4} -lm\n\n",
      stem, weights_read, weights, sources, linked, single ? "../" : "", standard);
}

}  // namespace

std::string makefile_text(const Program& program) {
  // A host without regions needs nothing of the simulator.
  const bool device = !program.module.regions.empty();
  std::string sources, linked;
  for (const std::string& file : program.options.linked.sources) sources += " " + file;
  for (const std::string& library : program.options.linked.libraries)
    linked += library == "m" ? "" : " -l" + library;
  std::string strict;
  if (!program.options.linked.includes.empty())
    for (const char* flag : kStrictCalls) strict += fmt::format(" {}", flag);
  const std::string standard = fmt::format("{}", fmt::join(program.options.linked.standard, " "));
  const std::string stem = program.options.file_stem;
  const WeightsAs as = program.options.weights;
  const bool single = program.options.single;
  const std::string weights = as == WeightsAs::Blob || single ? ""
                              : as == WeightsAs::Source       ? " " + stem + "_weights.c"
                                                              : " " + stem + "_weights.S";
  const std::string weights_read =
      as == WeightsAs::Linked ? fmt::format("{0} {1}_weights.bin", weights, stem) : weights;
  return fmt::format(
      fmt::runtime(kMakefile), program.options.name, stem, device ? kSimulator : "", sources, linked, strict,
      program.options.threads > 1 ? " -pthread" : "", weights, weights_read,
      program.options.bare ? bare_rule(stem, weights, weights_read, sources, linked, single, standard) : "",
      program.options.bare ? " " + program.options.name + "_bare" : "",
      device ? " on the simulator, which is where mrvlc is installed or built" : "", single ? "../" : "",
      standard);
}

}  // namespace mrvlc::chost
