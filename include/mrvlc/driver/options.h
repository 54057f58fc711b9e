// What the command line asks for, as plain data.
#pragma once
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "mrvlc/backends/default_target.h"
#include "mrvlc/backends/settings.h"
#include "mrvlc/calibration/draw.h"
#include "mrvlc/chost/chost.h"
#include "mrvlc/onnx/importer.h"
#include "mrvlc/partition/precision.h"
#include "mrvlc/support/log.h"

namespace mrvlc::driver {

struct QuantizedModel;

// Limits on what a compile makes, each an option of its own; nothing is written when one is exceeded.
struct Gates {
  std::optional<int64_t> cycles, arena, weights;  // at most; cycles of all regions, bytes
  std::optional<double> milliseconds;             // at most, expected of a run
  std::optional<double> mac_share;                // at least, 0 to 1
  std::optional<double> error;                    // at most, as CompileOptions::accuracy
  // OUT of an earlier compile, and the share by which numbers may be worse (docs/reports.md).
  std::filesystem::path baseline;
  double tolerance = 0;
  bool proved = false;  // `mrvlc prove` refuses no binary
};

// The dependency file for make or Ninja; none where `file` is empty.
struct Depfile {
  std::filesystem::path file;                        // -MF
  bool beside_out = false;                           // -MD: OUT.d where `file` is empty
  std::vector<std::string> targets, quoted_targets;  // -MT, -MQ
  bool phony = false;                                // -MP
  enum class Form : uint8_t { Auto, Make, Plain } form = Form::Auto;
  bool conditions = false;  // in make's language, about what may change or appear
};

// Where options that were not typed came from, and would come from: the dependency file follows these, too.
struct OptionSources {
  std::vector<std::filesystem::path> files;   // that were read
  std::vector<std::filesystem::path> absent;  // that would be read if they were there
  std::vector<std::string> variables;         // of the environment, those that are not set among them
};

struct CompileOptions {
  std::filesystem::path model, out;
  bool force = false;                                             // what no compile wrote in OUT goes, too
  std::string name;                                               // empty: from the model's stem
  std::vector<std::string> targets = {backends::kDefaultTarget};  // "host" alone: no accelerator
  std::vector<std::string> target_options;                        // "TARGET.KEY=VALUE"
  backends::Settings accelerator;                                 // of all targets, but for target_options
  int64_t mesh_chips = 0;                                         // of a mesh; 0: all
  std::vector<std::string> mesh_without;                          // parts of a mesh that do not work
  std::string precision = "fp16";                                 // fp16, int8, auto
  std::vector<std::pair<std::string, partition::Precision>> precisions;  // of values, partition::Options
  std::filesystem::path data;  // samples: what the integers of `precision` int8 or auto are chosen by
  std::function<void(std::string_view step, size_t done, size_t of)> quantize_progress;  // may be null
  std::shared_ptr<const QuantizedModel> quantized;  // what is compiled in the place of the model; or null
  onnx::ImportOptions import;
  std::vector<std::filesystem::path> rules;
  bool default_rules = true;
  std::vector<std::string> cpu, accel, borders, borders_after, together;  // selectors
  std::optional<uint32_t> max_region_layers, max_regions;
  std::filesystem::path placement;  // file of constraints, or a placement.json
  bool fail_on_fallback = false;
  Gates gates;
  enum class PartitionBy : uint8_t { Greedy, Cost } partition_by = PartitionBy::Greedy;
  std::filesystem::path tuning;  // file of `mrvlc tune`: how layers of the host are computed; empty: by costs
  std::filesystem::path host_model;  // what the host takes for an operator; empty: the built-in numbers
  // Accuracy, docs/accuracy.md. The probe is a run of the compiled model against float32.
  // Unsaid: within the budget, and heeded, but what it finds is not told.
  enum class Probe : uint8_t { WithinBudget, Always, Never, Unsaid } probe = Probe::WithinBudget;
  std::vector<calibration::InputRange> input_ranges;
  std::filesystem::path calibration;  // file of `mrvlc calibrate`
  std::optional<double> accuracy;     // the largest error there may be, or layers leave fp16
  // Without `accuracy`: the least error within `slowdown` times the cycles.
  enum class Objective : uint8_t { Speed, Accuracy } objective = Objective::Speed;
  double slowdown = 2;
  double accuracy_warning = 1e-2;  // the largest expected error that is no warning
  // Choices of precision are compiled and measured, and OUT says which are not beaten; what is compiled is
  // row `pick` of these, from 1 on, or what it would be without `frontier`.
  bool frontier = false;
  std::optional<size_t> pick;
  bool input_limits = true;  // the program tells of inputs beyond what was tried or stated
  bool fail_on_accuracy = false;
  // How the host computes; what is of one model (names, libraries, limits of inputs) is added behind the
  // stages.
  chost::Options host;
  std::vector<std::string> states;  // "PAST=PRESENT", "auto"; chost::Options::states once there is a graph
  std::string measure_size;         // words of a C compiler; empty: nothing is measured
  std::vector<std::filesystem::path> target_dirs;
  std::vector<std::string> emit;  // ir, disasm, sbom, ...
  Depfile depfile;
  OptionSources sources;
  bool from_stdin = false;       // the model: its file is a temporary one
  std::filesystem::path timing;  // --timing
  std::string dump_ir;           // pass name
  unsigned jobs = 0;
  Log log;
  // Options as they were typed ("--tiles"), for warnings about those that change nothing.
  std::set<std::string, std::less<>> given;
  // Those that say what a compile makes, for the manifest, which has a value for each.
  struct Typed {
    std::string name;  // without hyphens in front: "tiles"
    enum class Kind : uint8_t { Flag, Text, Path } kind = Kind::Text;
    bool repeatable = false;
    std::vector<std::string> values;
  };
  std::vector<Typed> typed;
};

// `kind` of --emit is among them.
bool emits(const CompileOptions& options, std::string_view kind);

// Longest NAME: files are called after it.
inline constexpr size_t kMaxName = 128;
// A NAME from any text: "mobilenet-v2.0" -> "mobilenet_v2_0", "int" -> "m_int".
std::string c_identifier(std::string_view text);
// Why this cannot be NAME, to be read after it: "is not a C identifier"; empty when it can.
std::string name_fault(std::string_view name);

}  // namespace mrvlc::driver
