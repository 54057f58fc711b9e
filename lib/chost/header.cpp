// NAME.h: the interface of a program and how to use it.
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "function.h"
#include "infer.h"
#include "kernel_text.h"
#include "mrvlc/support/saturating.h"
#include "text.h"

namespace mrvlc::chost {
namespace {

std::string shape_list(const Shape& shape) {
  std::string text;
  for (int64_t d : shape) text += fmt::format("{}{}", text.empty() ? "" : ", ", d);
  return text.empty() ? "1" : text;
}

void port_macros(std::string& out, const std::string& prefix, std::string_view kind,
                 const std::vector<Interface::Port>& ports) {
  out += fmt::format("#define {}_{}_COUNT {}\n", prefix, kind, ports.size());
  for (size_t i = 0; i < ports.size(); ++i) {
    const TensorType& t = ports[i].type;
    std::string base = fmt::format("{}_{}{}", prefix, kind, i);
    out += fmt::format(
        "#define {0}_NAME {1}\n#define {0}_ELEMENTS {2}\n#define {0}_BYTES {3}\n#define {0}_RANK {4}\n"
        "#define {0}_SHAPE {{{5}}}\n",
        base, c_string(ports[i].model_name), t.elements(), memory_bytes(t), t.rank(), shape_list(t.shape));
    if (t.dynamic != 0 && t.wrapper == Wrapper::None)
      out += fmt::format("#define {}_OPEN {}u\n", base, t.dynamic);
    if (t.wrapper != Wrapper::None)
      out += fmt::format("#define {0}_LENGTH {1}\n#define {0}_SLOT_BYTES {2}\n", base, t.length,
                         ops::slot_bytes(t));
  }
  out += "\n";
}

void port_struct(std::string& out, const std::string& prefix, std::string_view kind,
                 std::string_view qualifier, const std::vector<Interface::Port>& ports) {
  out += fmt::format("typedef struct {}_{} {{\n", prefix, kind);
  for (const auto& p : ports) {
    out += fmt::format("  {}{}* {}; /* {} */\n", qualifier, ops::c_type(p.type.elem), p.field,
                       to_string(p.type));
    if (!p.dims.empty())
      out += fmt::format("  int64_t {}[{}];\n", p.dims,
                         p.type.wrapper == Wrapper::None ? p.type.rank() : kMaxRank);
  }
  if (ports.empty()) out += "  const void* none;\n";
  out += fmt::format("}} {}_{};\n\n", prefix, kind);
}

std::string device_text(const Program& program) {
  if (program.module.regions.empty())
    return program.options.weights == WeightsAs::Blob
               ? fmt::format(" * device: zeros, but for the weights, which {}_load_weights sets.\n",
                             program.options.name)
               : " * device: not needed, may be null.\n";
  const bool several = program.options.targets.size() > 1;
  return fmt::format(
      " * device: where the {0}_REGION_COUNT regions run; its member {2}, "
      "models[i] are set by\n"
      " *   {0}_load(&device, i, bytes of {1}.region<i>.mrvl, their number, &error).\n",
      program.options.name, program.options.file_stem,
      several ? fmt::format("`devices` are the drivers' tables, of {} in this order",
                            fmt::join(program.options.targets, ", "))
              : "`device` is the driver's table");
}

// How many devices there are, and of several which of them each region runs on.
std::string device_macros(const Program& program) {
  const auto& [name, targets] = std::tie(program.options.name, program.options.targets);
  std::string text = fmt::format("#define {}_DEVICE_COUNT {}\n", name, std::max<size_t>(1, targets.size()));
  if (targets.size() < 2) return text;
  std::vector<uint32_t> devices;
  for (const backend::RegionCode& region : program.module.regions) devices.push_back(region.accelerator);
  return text + fmt::format("#define {}_REGION_DEVICES {{{}}}\n", name, fmt::join(devices, ", "));
}

std::string load_weights_text(const Program& program) {
  if (program.options.weights != WeightsAs::Blob) return {};
  return fmt::format(
      "\n/* Hands over the bytes of {1}_weights.bin, aligned to {0}_WEIGHTS_ALIGN: loaded, mapped, or where "
      "they "
      "lie in flash. They\n"
      " * must stay while {0}_run is called with this device, and are read once here: {0}_ERROR_WEIGHTS for "
      "any "
      "others than this stub\n"
      " * was made with, and error->device_code says why: 1 not aligned, 2 another size, 3 other bytes. */\n"
      "int {0}_load_weights({0}_device* device, const void* weights, size_t bytes, {0}_error* error);\n",
      program.options.name, program.options.file_stem);
}

std::string load_text(const Program& program) {
  if (program.module.regions.empty()) return {};
  return fmt::format(
      "\n/* Loads the binary of a region, {1}.region<region>.mrvl, and keeps its handle in device->models: "
      "0, or "
      "{0}_ERROR_*.\n"
      " * Another binary is refused, here ({0}_ERROR_BINARY) as in {0}_run, and so is one whose bytes have "
      "changed: its hash is\n"
      " * computed, unless the stub is compiled with -DMRVL_NO_HASH. That tells accidents, it is no "
      "signature. "
      "A binary that was\n"
      " * loaded before is given back once the new one is there, and stays if there is an error; so "
      "device->models is zeros in\n"
      " * the beginning. The bytes need not outlive the call. */\n"
      "int {0}_load({0}_device* device, int region, const void* binary, size_t bytes, {0}_error* error);\n"
      "/* Gives all handles that are not null back to the device. */\n"
      "void {0}_unload({0}_device* device);\n"
      "/* From now on a run of a region that is loaded gives up after so many microseconds, as a device "
      "fails; 0: "
      "when the\n"
      " * driver thinks fit. 0, or {0}_ERROR_DEVICE where the driver does not promise that (`limit_time` of "
      "mrvl/device.h). */\n"
      "int {0}_limit_time(const {0}_device* device, uint64_t microseconds, {0}_error* error);\n"
      "/* Calls the hook for every layer of the region, in the order of the ID map, with the times of its "
      "last "
      "run. How many\n"
      " * there were: 0 when the run failed, or the device does not tell (`ran` of mrvl/device.h). */\n"
      "int {0}_layers(const {0}_device* device, int region, mrvl_layer_hook hook, void* user);\n",
      program.options.name, program.options.file_stem);
}

}  // namespace

namespace {

// Types of members: in C++ one of that name would hide them from those behind it.
constexpr auto kTypes = std::to_array<std::string_view>({"int8_t", "int16_t", "int32_t", "int64_t", "uint8_t",
                                                         "uint16_t", "uint32_t", "uint64_t", "mrvl_string"});

// NAME_ARENA_BYTES and others, in capitals behind the prefix.
bool may_be_macro(std::string_view field, std::string_view prefix) {
  if (!field.starts_with(prefix) || !field.substr(prefix.size()).starts_with('_')) return false;
  const std::string_view rest = field.substr(prefix.size());
  const auto between = [&](char low, char high) {
    return std::ranges::any_of(rest, [=](char c) { return c >= low && c <= high; });
  };
  return between('A', 'Z') && !between('a', 'z');
}

// Of a port. `K_` becomes the program's prefix in what is written of it.
std::string field_text(const std::string& name, std::string_view prefix) {
  const std::string field = to_identifier(name);
  const bool taken = field.starts_with("K_") || may_be_macro(field, prefix) ||
                     std::ranges::find(kTypes, field) != kTypes.end();
  return taken ? "v" + field : field;
}

}  // namespace

Interface make_interface(const Program& program) {
  Interface result;
  auto add = [&](const std::vector<ir::ValueId>& values, std::vector<Interface::Port>& ports) {
    UniqueNames names;
    for (ir::ValueId v : values) {
      const ir::Value& value = program.graph.value(v);
      ports.push_back({names.make(field_text(value.name, program.options.name)), value.name, value.type, {}});
    }
    for (Interface::Port& port : ports) {
      if (!port.type.is_static()) port.dims = names.make(port.field + "_dim");
    }
  };
  add(program.graph.inputs(), result.inputs);
  add(program.graph.outputs(), result.outputs);
  for (const StatePair& pair : program.options.states)
    result.inputs[pair.input].state = result.outputs[pair.output].state = result.inputs[pair.input].field;
  return result;
}

namespace {

// The shorter call, where there is one.
std::string infer_usage(const Program& program, const Interface& interface) {
  if (!infer_obstacle(interface).empty()) return {};
  return fmt::format(" *   int rc = {};\n *\n * or, with a hook and what failed:\n *\n",
                     infer_call(program, interface));
}

std::string usage_comment(const Program& program, const Interface& interface) {
  return fmt::format(
      "/* SPDX-License-Identifier: Apache-2.0 */\n"
      "/* Generated by mrvlc: inference of one model. C99; no allocation, no input or output, no variables "
      "of its own,\n"
      " * so any number of threads may run it, each with an arena of its own.\n"
      " *\n"
      "{2}"
      " *   {0}_inputs in = {{...}};  {0}_outputs out = {{...}};     tensors, row-major, in the caller's "
      "memory\n"
      " *   int rc = {0}_run(&in, &out, arena, device, NULL, NULL, &error);\n"
      " *\n"
      " * arena: {0}_ARENA_BYTES bytes of scratch memory aligned to {0}_ARENA_ALIGN; nothing in it is kept "
      "between calls.\n"
      "{1}"
      " * hook: may be null; called before and after every operator and region.\n"
      " * error: may be null; filled in on every return. Float16 tensors are passed as their bits in "
      "uint16_t, truth values as\n"
      " *   0 and 1 in uint8_t. Inputs and outputs must not overlap{3}.\n"
      " * Members *_dim hold the dimensions of a tensor whose shape is known at run time only: given by the "
      "caller for\n"
      " *   inputs, set for outputs; the macros then give the bounds, {0}_INPUT<i>_OPEN which dimensions "
      "they are for.\n"
      " * A sequence is _LENGTH rows of 8 int64_t, for each tensor its dimensions and in the last its rank, "
      "then "
      "_LENGTH slots of\n"
      " *   _SLOT_BYTES for the elements; *_dim[0] is the number of tensors. An optional is what it holds; "
      "*_dim[7] is 0 when it\n"
      " *   holds nothing. A string is a mrvl_string. */\n",
      program.options.name, device_text(program), infer_usage(program, interface),
      program.options.states.empty()
          ? ""
          : fmt::format(", but for those of a state, which may be one memory ({}_state)",
                        program.options.name));
}

// The headers of include/mrvl: included, or, of a program of two files, their text.
std::string headers_text(const Program& program) {
  std::vector<std::string_view> names = {"mrvl/device.h"};
  if (program.options.threads > 1) names.push_back("mrvl/parallel.h");
  if (uses_strings(program.graph)) names.push_back("mrvl/string.h");
  std::string text;
  for (const std::string_view name : names) {
    const auto* header =
        std::ranges::find(kHeaderTexts, kHeaderTexts + kHeaderTextCount, name, &KernelText::name);
    text +=
        program.options.single ? "\n" + std::string(header->code) : fmt::format("#include \"{}\"\n", name);
  }
  return text;
}

std::string threads_text(const Program& program) {
  if (program.options.threads <= 1) return {};
  return fmt::format(
      "\n/* The same with threads of the caller's, at most {0}_MAX_WORKERS of them at once; parallel may be "
      "null. The results are\n"
      " * the same bits whatever their number. The hook is called by the calling thread alone. */\n"
      "#define {0}_MAX_WORKERS {1}\n"
      "int {0}_run_parallel(const {0}_inputs* inputs, {0}_outputs* outputs, void* arena, const {0}_device* "
      "device,\n"
      "    const mrvl_parallel* parallel, mrvl_hook hook, void* user, {0}_error* error);\n",
      program.options.name, program.options.threads);
}

// Of an arena with gaps, too: mrvl/guard.h.
std::string arena_macro(const std::string& prefix, int64_t bytes) {
  if (bytes == 0) return fmt::format("#define {}_ARENA_BYTES 0\n", prefix);
  return fmt::format(
      "#ifndef MRVL_GUARD\n#define {0}_ARENA_BYTES {1}\n#else\n#define {0}_ARENA_BYTES {2}\n#endif\n", prefix,
      bytes, saturating_mul(3, bytes));
}

// Machines whose addresses do not reach so far say so when they compile it.
std::string reach_checks(const Program& program, const Interface& interface, int64_t arena_bytes) {
  std::string text;
  auto check = [&](std::string_view what, int64_t bytes) {
    if (bytes <= INT32_MAX) return;
    text += fmt::format(
        "#if PTRDIFF_MAX < {1}\n#error \"{0} takes {1} bytes, more than this machine can address\"\n#endif\n",
        what, bytes);
  };
  check("the arena", arena_bytes);
  check("the file of weights", static_cast<int64_t>(program.weights.blob().size()));
  auto check_ports = [&](std::string_view kind, const std::vector<Interface::Port>& ports) {
    for (const Interface::Port& p : ports) check(fmt::format("{} {}", kind, p.field), memory_bytes(p.type));
  };
  check_ports("input", interface.inputs);
  check_ports("output", interface.outputs);
  return text;
}

std::string error_macros(const Program& program) {
  const std::string& prefix = program.options.name;
  const bool blob = program.options.weights == WeightsAs::Blob;
  return fmt::format(
      "#define {0}_ERROR_ARGUMENT 1 /* a null pointer where a tensor or the device must be */\n"
      "#define {0}_ERROR_ARENA 2    /* the arena is null or not aligned */\n"
      "#define {0}_ERROR_DEVICE 3   /* the device failed: its code is in device_code, the operator in "
      "expr_id and node */\n"
      "#define {0}_ERROR_SHAPE 4    /* a dimension known at run time only exceeds its bound, or shapes do "
      "not "
      "fit each other */\n"
      "#define {0}_ERROR_VALUE 5    /* a value that decides about a shape, or an index, is not allowed "
      "*/\n"
      "#define {0}_ERROR_BINARY 6   /* a model binary is not the one this stub was made with */\n"
      "#define {0}_ERROR_VERSION 7  /* the device's table is of another version of mrvl/device.h */\n"
      "#define {0}_ERROR_OVERFLOW 8 /* a region's values left the range of fp16: device_flags; only with\n"
      " *                              --on-overflow error */\n"
      "#define {0}_ERROR_LIBRARY 9  /* a function of a library failed: what it returned is in device_code "
      "*/\n{1}\n",
      prefix,
      blob ? fmt::format(
                 "#define {}_ERROR_WEIGHTS 10 /* the weights are not those of this stub, or not loaded "
                 "*/\n",
                 prefix)
           : std::string());
}

}  // namespace

std::string header_text(const Program& program, const Interface& interface, int64_t arena_bytes,
                        size_t views) {
  const std::string& p = program.options.name;
  std::string out = usage_comment(program, interface);
  out += fmt::format(
      "#ifndef {0}_STUB_H\n#define {0}_STUB_H\n\n#include <stddef.h>\n#include <stdint.h>\n\n{1}\n"
      "#ifdef __cplusplus\nextern \"C\" {{\n#endif\n\n"
      "{2}#define {0}_ARENA_ALIGN {3}\n#define {0}_WEIGHTS_BYTES {4}\n#define "
      "{0}_REGION_COUNT {5}\n{6}\n",
      p, headers_text(program), arena_macro(p, arena_bytes), kArenaAlign, program.weights.blob().size(),
      program.module.regions.size(),
      weights_macros(program) +
          (program.module.regions.empty()
               ? std::string()
               : device_macros(program) + fmt::format("#define {}_CPU_ON_ERROR {:d} /* the CPU computes a "
                                                      "region where the device fails, or "
                                                      "has no handle */\n",
                                                      p, program.options.on_device_error.cpu)));
  out += reach_checks(program, interface, arena_bytes);
  out += error_macros(program);
  port_macros(out, p, "INPUT", interface.inputs);
  port_macros(out, p, "OUTPUT", interface.outputs);
  port_struct(out, p, "inputs", "const ", interface.inputs);
  port_struct(out, p, "outputs", "", interface.outputs);
  out += fmt::format(
      "typedef struct {0}_device {{\n  const mrvl_device* {3};\n  void* models[{1}];\n{4}}} {0}_device;\n\n"
      "typedef struct {0}_error {{\n  int code;          /* 0, or {0}_ERROR_* */\n"
      "  int device_code;   /* what the device or the library returned */\n  uint32_t expr_id;  /* "
      "expression of the ID map "
      "*/\n"
      "  const char* node;  /* name of the ONNX node, or empty */\n"
      "  uint32_t device_flags;  /* MRVL_FLAG_* that regions raised; with code 0, expr_id and node are of "
      "the "
      "first that did */\n"
      "  int32_t region;         /* that the device failed in, or -1 */\n"
      "  int32_t layer;          /* of the ID map, that it failed in, or -1: it does not tell; expr_id and "
      "node "
      "are then of the\n"
      "                           * region's first operator */\n"
      "  uint32_t retries;      /* runs of the device that were done again */\n"
      "  uint32_t cpu_regions;  /* regions that the CPU computed: with code 0, the members above are of the "
      "first failure\n"
      "                          * that was got over so, or by running again */\n}} {0}_error;\n\n"
      "/* 0, or {0}_ERROR_*. */\n"
      "int {0}_run(const {0}_inputs* inputs, {0}_outputs* outputs, void* arena, const {0}_device* device, "
      "mrvl_hook hook,\n"
      "    void* user, {0}_error* error);\n{2}\n#ifdef __cplusplus\n}}\n#endif\n\n#endif\n",
      p, std::max<size_t>(1, program.module.regions.size()),
      state_declarations(program, interface) + infer_declaration(program, interface) + threads_text(program) +
          flight_declarations(program, views) + load_weights_text(program) + load_text(program),
      program.options.targets.size() > 1 ? fmt::format("devices[{}_DEVICE_COUNT]", p) : "device",
      (program.options.weights == WeightsAs::Blob
           ? fmt::format("  const void* weights; /* {}_load_weights */\n", p)
           : std::string()) +
          (program.options.trace_values ? "  mrvl_value_hook value_hook; /* may be null; called with every "
                                          "value in memory, once it is "
                                          "there */\n  void* value_user;\n"
                                        : ""));
  return out;
}

}  // namespace mrvlc::chost
