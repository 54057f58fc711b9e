// The help of compile and of commands with the same options: options by what they are about, and examples.
#include <algorithm>

#include "compile_options.h"

namespace mrvlc::app {
namespace {

struct OptionGroup {
  const char* title;
  std::vector<std::string_view> options;
};

// Who adds an option gives it a place here; test/e2e/cli/help.py looks for those without one.
const std::vector<OptionGroup>& groups() {
  static const std::vector<OptionGroup> all = {
      {"Model",
       {"--input-shape", "--input-dim", "--bind", "--bound", "--max-sequence", "--max-rounds", "--batch",
        "--external-data-dir"}},
      {"Output", {"--output", "--name", "--force", "--emit"}},
      {"Target",
       {"--target", "--target-opt", "--target-dir", "--tiles", "--effort", "--wb-pin", "--silicon-id"}},
      {"Placement: what runs where",
       {"--rules", "--no-default-rules", "--cpu", "--accel", "--border", "--border-after", "--together",
        "--max-region-layers", "--max-regions", "--placement", "--partition", "--host-model"}},
      {"Precision and accuracy",
       {"--precision", "--data", "--calibration", "--input-range", "--objective", "--slowdown", "--accuracy",
        "--probe", "--no-probe", "--accuracy-warning", "--no-input-limits"}},
      {"Code for the CPU",
       {"--optimize", "--weights", "--host-weights", "--threads", "--exact", "--tuning", "--arena-limit",
        "--text-bytes", "--unchecked-indices", "--measure-size"}},
      {"Faults at run time", {"--on-overflow", "--on-device-error"}},
      {"Gates: exit code 5 unless",
       {"--fail-on-fallback", "--fail-on-accuracy", "--max-cycles", "--max-ms", "--max-arena",
        "--max-weights", "--min-mac-share", "--max-error", "--baseline", "--tolerance"}},
      {"Builds and debugging",
       {"-j", "--MD", "--MF", "--MT", "--MQ", "--MP", "--depfile-form", "--timing", "--dump-ir",
        "--dump-stage"}},
  };
  return all;
}

}  // namespace

void group_options(CLI::App& cmd) {
  for (CLI::Option* option : cmd.get_options()) {
    if (option->get_positional()) continue;
    for (const OptionGroup& group : groups())
      if (std::ranges::find(group.options, option->get_name()) != group.options.end())
        option->group(group.title);
  }
}

void add_compile_examples(CLI::App& cmd) {
  cmd.footer(
      "Examples:\n"
      "  mrvlc compile model.onnx -o out                                  for the accelerator and its host\n"
      "  mrvlc compile model.onnx -o out --target host --emit single      one .c, one .h\n"
      "  mrvlc compile model.onnx -o out --input-dim batch=1              an open dimension, by its name\n"
      "  mrvlc compile model.onnx -o out --precision int8 --data samples  a network of integers\n"
      "  mrvlc compile model.onnx -o out --cpu 'head*' --max-arena 64K    nodes on the CPU, a gate\n"
      "'mrvlc explain MRV0131' says what a code means; docs/command-line.md, docs/generated-c.md.");
}

}  // namespace mrvlc::app
