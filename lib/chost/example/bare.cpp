// bare.c: a program for a board without operating system.
#include <algorithm>

#include "function.h"
#include "infer.h"

namespace mrvlc::chost {
namespace {

constexpr std::string_view kHead =
    R"(/* SPDX-License-Identifier: Apache-2.0 */
/* Example for a board without operating system: no files, no heap, no clock. What the board does is in a header of yours,
 * -D K_BOARD='"board.h"', that defines the functions which stand in for it here; mrvlc never writes that file. */
#include "{0}.h"

#include <string.h>

#ifdef K_BOARD
#include K_BOARD
#else
)";

constexpr std::string_view kInput = R"(/* Fills in an input: from a sensor, a camera. */
static void board_input(int port, void* data, size_t bytes) {
  (void)port;
  memset(data, 0, bytes);
}
)";

constexpr std::string_view kOutput = R"(
/* Takes an output: for a display, a relay. */
static void board_output(int port, const void* data, size_t bytes) {
  (void)port;
  (void)data;
  (void)bytes;
}
)";

constexpr std::string_view kDevice = R"(
/* The driver of a device (mrvl/device.h), and the bytes of {0}.region<region>.mrvl, where they lie in flash. */
static const mrvl_device* board_device(int device) {
  (void)device;
  return NULL;
}

static const void* board_region(int region, size_t* bytes) {
  (void)region;
  *bytes = 0;
  return NULL;
}
)";

constexpr std::string_view kWeights = R"(
/* The bytes of {0}_weights.bin, aligned to K_WEIGHTS_ALIGN. */
static const void* board_weights(size_t* bytes) {
  *bytes = 0;
  return NULL;
}
)";

constexpr std::string_view kGiveRegions = R"(  for (int i = 0; i < K_REGION_COUNT; ++i) {
    const void* const binary = board_region(i, &bytes);
    if (K_load(&device, i, binary, bytes, &error) != 0) return error.code;
  }
)";

constexpr std::string_view kGiveWeights = R"(  const void* const weights = board_weights(&bytes);
  if (K_load_weights(&device, weights, bytes, &error) != 0) return error.code;
)";

std::string filled(std::string_view text, const std::string& stem) {
  std::string out(text);
  for (size_t at; (at = out.find("{0}")) != out.npos;) out.replace(at, 3, stem);
  return out;
}

// Arrays for NAME_infer.
std::string typed_memory(std::string_view kind, const std::vector<Interface::Port>& ports) {
  std::string text;
  for (size_t i = 0; i < ports.size(); ++i)
    if (ports[i].state.empty())
      text += fmt::format("static {} {}{}{};\n", ops::c_type(ports[i].type.elem), kind, i,
                          array_dims(ports[i].type));
  return text;
}

// Words of 8 bytes, so that elements of any type lie as they must.
std::string memory(std::string_view kind, const std::string& macro,
                   const std::vector<Interface::Port>& ports) {
  std::string text;
  for (size_t i = 0; i < ports.size(); ++i)
    if (ports[i].state.empty())
      text += fmt::format("static uint64_t {0}{1}[K_{2}{1}_BYTES / 8 + 1];\n", kind, i, macro);
  return text;
}

std::string give_inputs(const std::vector<Interface::Port>& ports) {
  std::string text = ports.empty() ? "  inputs.none = NULL;\n" : "";
  for (size_t i = 0; i < ports.size(); ++i) {
    const Interface::Port& p = ports[i];
    if (!p.state.empty()) continue;
    text += fmt::format("  board_input({0}, input{0}, K_INPUT{0}_BYTES);\n", i);
    text += fmt::format("  inputs.{0} = (const {1}*)(const void*)input{2};\n", p.field,
                        ops::c_type(p.type.elem), i);
    if (p.dims.empty()) continue;
    if (p.type.wrapper != Wrapper::None) {
      text += fmt::format("  memset(inputs.{0}, 0, sizeof inputs.{0});\n", p.dims);
    } else {
      text += fmt::format(
          "  static const int64_t shape{0}[] = K_INPUT{0}_SHAPE; /* the largest */\n"
          "  memcpy(inputs.{1}, shape{0}, sizeof inputs.{1});\n",
          i, p.dims);
    }
  }
  return text;
}

std::string give_outputs(const std::vector<Interface::Port>& ports) {
  std::string text = ports.empty() ? "  outputs.none = NULL;\n" : "";
  for (size_t i = 0; i < ports.size(); ++i)
    if (ports[i].state.empty())
      text += fmt::format("  outputs.{} = ({}*)(void*)output{};\n", ports[i].field,
                          ops::c_type(ports[i].type.elem), i);
  return text;
}

std::string open_devices(const Program& program) {
  const size_t count = program.options.targets.size();
  if (count < 2) return "  device.device = board_device(0);\n";
  return fmt::format("  for (int i = 0; i < {}; ++i) device.devices[i] = board_device(i);\n", count);
}

}  // namespace

namespace {

// By arrays of the tensors' types.
std::string typed_call(const Program& program, const Interface& interface) {
  std::string text;
  for (size_t i = 0; i < interface.inputs.size(); ++i)
    if (interface.inputs[i].state.empty())
      text += fmt::format("  board_input({0}, input{0}, K_INPUT{0}_BYTES);\n", i);
  text += "  const int code = K_infer(";
  for (size_t i = 0; i < interface.inputs.size(); ++i)
    if (interface.inputs[i].state.empty()) text += fmt::format("input{}, ", i);
  for (size_t i = 0; i < interface.outputs.size(); ++i)
    if (interface.outputs[i].state.empty()) text += fmt::format("output{}, ", i);
  if (!program.options.states.empty()) text += "&state, ";
  return text + (infer_takes_device(program) ? "aligned, &device);\n" : "aligned);\n") +
         "  if (code != 0) return code;\n";
}

// By structures of pointers, where a shape is not fixed.
std::string untyped_call(const Program& program, const Interface& interface) {
  return give_inputs(interface.inputs) + give_outputs(interface.outputs) +
         (program.options.states.empty() ? "" : "  K_state_bind(&state, &inputs, &outputs);\n") +
         "  if (K_run(&inputs, &outputs, aligned, &device, NULL, NULL, &error) != 0) return error.code;\n";
}

std::string bare_main(const Program& program, const Interface& interface, bool typed) {
  const bool regions = !program.module.regions.empty(), blob = program.options.weights == WeightsAs::Blob;
  std::string out =
      "\nint main(void) {\n"
      "  unsigned char* const aligned = arena + (K_ARENA_ALIGN - (uintptr_t)arena % K_ARENA_ALIGN) % "
      "K_ARENA_ALIGN;\n";
  if (!typed || regions || blob) out += "  K_device device;\n  K_error error;\n";
  if (!typed) out += "  K_inputs inputs;\n  K_outputs outputs;\n";
  if (regions || blob) out += "  size_t bytes = 0;\n";
  if (!typed || regions || blob) out += "  memset(&device, 0, sizeof device);\n";
  if (regions) out += open_devices(program) + std::string(kGiveRegions);
  if (blob) out += kGiveWeights;
  out += typed ? typed_call(program, interface) : untyped_call(program, interface);
  for (size_t i = 0; i < interface.outputs.size(); ++i)
    if (interface.outputs[i].state.empty())
      out += fmt::format("  board_output({0}, output{0}, K_OUTPUT{0}_BYTES);\n", i);
  return out + "  return 0;\n}\n";
}

}  // namespace

std::string bare_text(const Program& program, const Interface& interface) {
  const std::string& stem = program.options.file_stem;
  const bool typed = infer_obstacle(interface).empty();
  std::string out = filled(kHead, program.options.single ? "../" + stem : stem);
  const auto any = [](const auto& ports) {
    return std::ranges::any_of(ports, &std::string::empty, &Interface::Port::state);
  };
  if (any(interface.inputs)) out += kInput;
  if (any(interface.outputs)) out += kOutput;
  if (!program.module.regions.empty()) out += filled(kDevice, stem);
  if (program.options.weights == WeightsAs::Blob) out += filled(kWeights, stem);
  out += "#endif\n\nstatic unsigned char arena[K_ARENA_BYTES + K_ARENA_ALIGN];\n";
  if (!program.options.states.empty())
    out += "static K_state state; /* zeros: a stream that begins; K_state_reset begins another */\n";
  out += typed ? typed_memory("input", interface.inputs) + typed_memory("output", interface.outputs)
               : memory("input", "INPUT", interface.inputs) + memory("output", "OUTPUT", interface.outputs);
  return with_prefix(out + bare_main(program, interface, typed), program.options.name);
}

}  // namespace mrvlc::chost
