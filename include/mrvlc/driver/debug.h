// Looking for what is wrong with a model, or with us: the smallest model that fails, the first tensor that
// differs, and what a report needs.
#pragma once
#include <functional>
#include <map>

#include "mrvlc/driver/options.h"
#include "mrvlc/ir/graph.h"
#include "mrvlc/support/diag.h"
#include "mrvlc/support/result.h"

namespace mrvlc::driver {

struct Reduction {
  ir::Graph graph;
  size_t checks = 0;
};
// The smallest graph found for which `fails` holds, which holds for `graph`: nodes go first, then outputs,
// sizes and the values of weights. What a removed node made becomes an input. At most `most_checks` graphs
// are tried. `progress` gets the number of nodes; may be null.
Reduction reduce_graph(const ir::Graph& graph, const std::function<bool(const ir::Graph&)>& fails,
                       size_t most_checks, const std::function<void(size_t nodes, size_t checks)>& progress);

struct ReduceOptions {
  CompileOptions compile;  // of it what concerns the import
  std::string check;       // a command of the shell; {} is the model's file, or it stands at the end
  std::string match;       // what the command must have printed; empty: anything
  std::filesystem::path out;
  double timeout = 60;  // seconds of one check; beyond, the check has failed with code 124
  size_t most_checks = 2000;
  std::function<void(size_t nodes, size_t checks)> progress;  // may be null
};
// Writes the smallest model for which the command ends with the exit code that it has for the whole one,
// which is not 0; returns a summary. nullopt: `diagnostics` say why and nothing was written.
std::optional<std::string> reduce(const ReduceOptions& options, Diagnostics& diagnostics);

struct CompareOptions {
  CompileOptions compile;           // of it what concerns the import
  std::filesystem::path with;       // folder of NAME.npy, NAME as value_files() has it
  std::vector<std::string> inputs;  // NAME=FILE of those that are not there
  std::optional<double> tolerance;  // as in Limits, of floats
  bool json = false;
};
// Every tensor of the folder against the reference interpreter, in the order of the nodes. The first that
// differs is MRV1013 in the diagnostics. nullopt: nothing could be compared, `diagnostics` say why.
std::optional<std::string> compare_tensors(const CompareOptions& options, Diagnostics& diagnostics);

struct BundleOptions {
  CompileOptions compile;
  std::vector<std::pair<std::string, std::vector<std::string>>> options;  // as typed, for the record
  std::filesystem::path out;                                              // .tar.gz
  bool weights = false;      // those of the model; zeros of the same shapes otherwise
  bool calibration = false;  // the file of --calibration, which tells of the data
};
// Packs what a report needs; returns a list of what is in it.
std::optional<std::string> bundle(const BundleOptions& options, Diagnostics& diagnostics);

}  // namespace mrvlc::driver
