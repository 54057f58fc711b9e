// The commands behind the command line. Each writes readable text or JSON to its result; diagnostics are
// collected, not printed.
#pragma once
#include <functional>
#include <iosfwd>
#include <optional>

#include "mrvlc/driver/layers.h"
#include "mrvlc/driver/options.h"
#include "mrvlc/ir/graph.h"
#include "mrvlc/quantize/quantize.h"
#include "mrvlc/support/diag.h"
#include "mrvlc/support/result.h"

namespace mrvlc::driver {

// Compiles and writes OUT. `dump` receives --dump-ir and --dump-stage text, `summary` seven lines about the
// result. False: `diagnostics` say why and nothing was written.
bool compile(const CompileOptions& options, Diagnostics& diagnostics,
             const std::function<void(std::string)>& dump, std::vector<std::string>* summary = nullptr);

struct RunOptions {
  std::filesystem::path out;          // folder made by compile
  std::vector<std::string> bindings;  // NAME=FILE.npy as typed: the model's names say where NAME ends
  std::vector<std::pair<std::string, std::filesystem::path>> inputs;  // NAME=FILE.npy
  std::filesystem::path output_dir;
  std::filesystem::path dump;  // of an OUT with --trace-values: a folder for its values; empty: none is asked
  bool repeat_axis0 = false;   // run once for each slice of the leading dimension, stack the outputs
  int bench = 0;               // timed runs
  unsigned jobs = 0;           // threads of the simulator; 0: one for each processor
  std::string cc;              // $CC, "cc" by default
  std::string cflags;
  std::vector<std::filesystem::path> target_dirs;  // for binaries of a target that is not built in
  // Another machine, "ssh://user@host:port": `cc` compiles here for it, or its own cc there when it is empty.
  std::string on;
  std::filesystem::path ssh_config;  // ssh's -F; empty: the user's own
  std::filesystem::path device_lib;  // what is linked in the place of the simulator's library
  uint32_t ranks = 1;                // of a mesh: to which its elements are shared out
  uint32_t order = 0;                // of a mesh: seed of the order in which messages come; 0: as sent
  bool steps = false;                // with `bench`: the time of each operator and region, too
  double timeout = 0;                // seconds that the program may take; 0: no limit
  std::function<void(std::string_view)> said =
      {};  // gets what a program with --on wrote to stderr; may be null
};
// Returns what the example program printed.
Result<std::string> run(const RunOptions& options);

struct VerifyOptions {
  CompileOptions compile;
  std::filesystem::path
      made;  // folder that compile() wrote with these options; empty: it is made, and removed
  std::vector<std::filesystem::path> data;
  // Of floats, as in Limits; by default 2e-2 with an accelerator or host weights of 16 bits, 1e-4 (16-bit
  // floats 5e-3) on the host.
  std::optional<double> tolerance;
  double integer_tolerance = 0;
  // Without data: names of sets of inputs ("large", mrvlc/interp/input_sets.h), or "all"; empty: as many of
  // them as a budget of steps allows.
  std::vector<std::string> sets;
  std::vector<uint32_t> seeds;  // of the normal ones; the first is that of all others. Empty: 1, 2, 3
  std::function<void(const std::string& set, size_t number, size_t of)> progress;  // may be null
  std::optional<LayerOptions> layers;  // the errors of layers are asked for
  std::optional<double> max_ulp;       // of floats: the most values of the type that lie in between
  bool against_ort = false;  // ONNX Runtime's outputs are expected, not the interpreter's; without data
  // How the program is built and run: compiler, flags, the machine and the time it may take.
  RunOptions run;
};
struct Comparison {
  std::string set, output;
  double error = 0;  // Difference::error
  double tolerance = 0;
  // Where the tolerance is from. Condition: what rounding the values on the way otherwise moves, and the
  // default. Package: the steps that a library's package says.
  enum class Limit : uint8_t { Default, Given, Condition, Package } limit = Limit::Default;
  std::optional<double> ulp;  // Difference::ulp
  bool beyond_ulp = false;
  bool same = true;
  bool beyond_fp16 =
      false;         // it differs, as it does when values are rounded to fp16 and nothing else is done
  std::string note;  // what differs
};
// The comparisons made; an output that differs is MRV0009 in the diagnostics. Where layers are asked for and
// could be run, `layers` is theirs; a layer that computes something else is MRV0907.
std::vector<Comparison> verify(const VerifyOptions& options, Diagnostics& diagnostics,
                               std::optional<LayerErrors>* layers = nullptr);
std::string_view name(Comparison::Limit limit);  // "default", "given", "condition", "package"
// docs/verify.md; `layers` may be null.
std::string verify_json(const std::vector<Comparison>& comparisons, const LayerErrors* layers);

struct CalibrateOptions {
  CompileOptions compile;  // of it what concerns the import
  std::filesystem::path data, out;
  // How far outputs move when a value is rounded to fp16 (docs/calibration.md).
  enum class Sensitivity : uint8_t { WithinBudget, Always, Never } sensitivity = Sensitivity::WithinBudget;
  size_t keep_samples = 8;                                 // at most so many lie in the file whole
  std::function<void(size_t sample, size_t of)> progress;  // may be null
};
// Runs the reference interpreter on every sample of the data and writes what values of the model were
// (docs/calibration.md). False: `diagnostics` say why and nothing was written.
bool calibrate(const CalibrateOptions& options, Diagnostics& diagnostics);

struct QuantizeOptions {
  CompileOptions compile;  // of it what concerns the import
  std::filesystem::path data, out;
  std::filesystem::path validation;     // samples that it is judged by; empty: some of `data`
  std::filesystem::path report;         // JSON; empty: none
  std::vector<std::string> keep_float;  // names of nodes (* and ? allowed) or types of operators
  quantize::Options options;
};
// Writes the model in integers, in ONNX's QDQ form (docs/quantization.md); returns a summary. nullopt:
// `diagnostics` say why and nothing was written.
std::optional<std::string> quantize(const QuantizeOptions& options, Diagnostics& diagnostics);

// What more accuracy costs, as a table: cycles against error (docs/accuracy.md).
Result<std::string> frontier(const CompileOptions& options);

struct ProfileOptions {
  std::filesystem::path out;
  std::vector<std::filesystem::path> target_dirs;
  bool json = false;
  std::filesystem::path trace;
  // With `run.on`, or `measure`, which is on this machine: what the steps of the program take there, measured
  // in `run.bench` runs on zeros; `run.out` is not used.
  RunOptions run;
  bool measure = false;
  std::string what_if;         // fields of the machine with other values, "FIELD=VALUE,..."; empty: none
  bool by_module = false;      // instead of layers: modules of the exported program
  uint32_t depth = 0;          // of their names so many parts; 0: all
  std::filesystem::path html;  // then: report.html with what was measured; empty: none
};
Result<std::string> profile(const ProfileOptions& options);

// As text, or as JSON (docs/reports.md).
Result<std::string> explain(const std::filesystem::path& out, const std::optional<std::string>& node,
                            bool json = false);
// The page of a diagnostic's code, "MRV0131" or "mrv131".
Result<std::string> explain_code(const std::string& code, bool json = false);

struct DiffOptions {
  std::filesystem::path a, b;  // folders made by compile, the earlier first
  std::vector<std::filesystem::path> target_dirs;
  bool json = false, html = false;
  std::optional<double> tolerance;  // the share by which b may be worse
};
// What differs, by names of ONNX; MRV0014 for each number that is worse by more than the tolerance.
Result<std::string> diff(const DiffOptions& options, Diagnostics& diagnostics);

struct MapQuery {
  std::optional<std::string> node, instruction, line;  // NAME, REGION:N or REGION:SECTION:N, FILE:N
  std::optional<std::string> symbol, layer;            // of a C function, REGION:N
  std::optional<uint32_t> expression, region;
  bool json = false;  // the part of idmap.json instead of text
};
Result<std::string> map(const std::filesystem::path& out, const MapQuery& query);
// The maps of several folders as one document.
Result<std::string> merge_maps(const std::vector<std::filesystem::path>& outs);
Result<std::string> disasm(const std::filesystem::path& file);
// The metadata alone, also of binaries that this version did not make; errors and notes on what is wrong
// with it.
std::optional<std::string> disasm_header(const std::filesystem::path& file, Diagnostics& diagnostics);
// Text of `mrvlc inspect`, or JSON; warnings of the importer go to `diagnostics`.
std::optional<std::string> inspect(const CompileOptions& options, Diagnostics& diagnostics,
                                   bool json = false);
// Of all models (*.onnx) under a folder: the operators that they have, and those that are missing.
Result<std::string> inspect_folder(const std::filesystem::path& folder, bool json);
enum class GraphFormat { Svg, Dot, Html };
// A picture of `options.model`, which may be a folder made by compile.
std::optional<std::string> graph(const CompileOptions& options, GraphFormat format, Diagnostics& diagnostics);
enum class OpsFormat { AsText, AsJson, AsMarkdown };
std::string ops_table(OpsFormat format);

}  // namespace mrvlc::driver
