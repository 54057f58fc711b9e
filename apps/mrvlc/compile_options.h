// The options that compile, verify and inspect share.
#pragma once
#include <CLI/CLI.hpp>
#include <span>

#include "messages.h"
#include "mrvlc/driver/options.h"
#include "mrvlc/support/result.h"
#include "mrvlc/support/temporary_dir.h"

namespace mrvlc::app {

// What the command line says before it is checked.
struct CompileArguments {
  std::string model, out, name, targets = backends::kDefaultTarget, partition = "greedy", host_model, tuning,
                                depfile, depfile_form = "auto", timing, dump_ir, external;
  int64_t max_sequence = 64;
  std::vector<std::string> shapes, input_dims, bindings, bounds, rules, precision, cpu, accel, borders,
      borders_after, together, target_dirs, target_options, emit;
  std::vector<std::string> depfile_targets, depfile_quoted_targets, dump_stages;
  std::string placement;
  std::optional<uint32_t> max_region_layers, max_regions;
  uint32_t tiles = 0;
  uint32_t effort = 1;
  bool exact = false, unchecked_indices = false;
  int threads = 1;
  std::string measure_size, weights = "linked", optimize = "speed", host_weights = "fp32";
  bool pin_weights = false, force = false;
  int64_t batch = 1, arena_limit = chost::kArenaLimit, text_bytes = 256;
  std::optional<int64_t> max_rounds;
  unsigned jobs = 0;
  bool no_default_rules = false, fail_on_fallback = false, depfile_default = false, silicon_id = false;
  bool depfile_phony = false;
  std::vector<std::string> input_ranges;
  std::string calibration, data;
  std::optional<double> accuracy;
  std::string objective = "speed";
  double slowdown = 2;
  double accuracy_warning = 1e-2;
  std::string on_overflow = "report", on_device_error = "error";
  driver::Gates gates;
  bool probe = false, no_probe = false, no_input_limits = false, fail_on_accuracy = false;
  std::shared_ptr<TemporaryDir> from_stdin;  // of a model `-`, as long as it is read
};

// An empty value is most often a shell variable that is not set.
CLI::Validator not_empty();
// MODEL, and how it is read: --input-shape, --batch, --external-data-dir.
void add_model_options(CLI::App& cmd, CompileArguments& a);
void add_import_options(CLI::App& cmd, CompileArguments& a);
// These and what decides on the code: name, target, rules, placement.
void add_compile_options(CLI::App& cmd, CompileArguments& a);
void add_code_options(CLI::App& cmd, CompileArguments& a);  // without MODEL and name
// For --help, behind all options: by what they are about; examples (option_groups.cpp).
void group_options(CLI::App& cmd);
void add_compile_examples(CLI::App& cmd);
// What a compile may come to, and what else it writes into OUT (commands.cpp).
void add_weights_option(CLI::App& cmd, CompileArguments& a);
void add_exact_option(CLI::App& cmd, CompileArguments& a);
void add_optimize_option(CLI::App& cmd, CompileArguments& a);
void add_host_weights_option(CLI::App& cmd, CompileArguments& a);
void add_host_code_options(CLI::App& cmd, CompileArguments& a);  // how the host computes
void add_result_options(CLI::App& cmd, CompileArguments& a);
// Options of compile about accuracy (accuracy.cpp), and what they say; MRV0004.
void add_accuracy_options(CLI::App& cmd, CompileArguments& a);
void add_accuracy_target(CLI::App& cmd, CompileArguments& a);  // of these, what chooses
Status read_accuracy_options(const CompileArguments& a, driver::CompileOptions& o);
// What the program does about faults (fault_options.cpp); MRV0004.
void add_fault_options(CLI::App& cmd, CompileArguments& a);
Status read_fault_options(const CompileArguments& a, driver::CompileOptions& o);
// Options of compile that are limits (gates.cpp): numbers, and an earlier compile.
void add_gate_options(CLI::App& cmd, driver::Gates& g);
void add_baseline_options(CLI::App& cmd, driver::Gates& g);
// Seconds, also as 90s, 10m, 12h or 30d; written as the plain number.
CLI::Validator duration_check();
// Bytes, also as 64K, 2MiB or 1.5MB; a share, as 0.9 or 90%. Both write the plain number into the text.
CLI::Validator size_check();
CLI::Validator share_check();
// A number from 0 on: a NaN would let everything through, or nothing.
CLI::Validator tolerance_check();
// --data and -o of commands that learn from samples.
void add_samples_options(CLI::App& cmd, std::filesystem::path& data, std::filesystem::path& out,
                         const std::string& what);
// The options as they were typed, wherever they came from, with their words; those of `left_out` not.
std::vector<std::pair<std::string, std::vector<std::string>>> typed_options(
    const CLI::App& cmd, std::span<const std::string_view> left_out);
Result<driver::CompileOptions> checked(const CLI::App& cmd, CompileArguments& a,
                                       const MessageOptions& messages);

// --target-dir, then the folders of $MRVLC_TARGET_PATH. A folder of an option that is not there is an error,
// one of the variable is passed over, as in $PATH.
Result<std::vector<std::filesystem::path>> target_search(const std::vector<std::string>& dirs);

}  // namespace mrvlc::app
