// What other commands do in the middle of a compile, to look at it or to change what it makes.
#pragma once
#include "accuracy/choice.h"
#include "compiled_model.h"

namespace mrvlc::driver {

class Probe;

struct CompileHooks {
  // What runs where is decided, no code is there yet.
  std::function<Status(ir::Graph&, partition::Partition&, const target::Machine&)> placed;
  // A region is compiled and nobody has used its bytes yet.
  std::function<void(backend::RegionCode&)> coded;
  // The accuracy is known, as far as it is. False: that was all, nothing is written.
  std::function<bool(const CompiledModel&, const Probe&)> probed;
  // How layers of the host are computed, in the place of CompileOptions::tuning; and once they are.
  std::optional<chost::Tuning> tuning;
  std::function<void(const CompiledModel&)> generated;
  // Takes the place of what options say of the placement, and nothing is asked of trials.
  std::optional<std::vector<partition::Constraint>> constraints;
  std::optional<AccuracyChoice> choice;  // what is not to be computed in fp16
};

// What a partition by cost asks; regions keep values as the partition's options and the choice say. All are
// referred to.
partition::Costs costs_of(const CompiledModel& m, const CompileHooks& hooks,
                          const partition::Options& options);

// These options for a compile that ends before anything is written: nothing beside OUT, and no output on the
// way.
CompileOptions for_trial(const CompileOptions& options);
// The same for one that is measured: nothing is chosen by it, and no gate ends it.
CompileOptions for_measuring(const CompileOptions& options, CompileOptions::Probe probe);

// driver::compile with these; any of them may be null. False also where `probed` says so.
bool compile(const CompileOptions& options, Diagnostics& diagnostics, const CompileHooks& hooks);

// driver::compile that tells which files it has read, also when it failed; none when it failed before the
// model was imported.
bool compile(const CompileOptions& options, Diagnostics& diagnostics, std::vector<ReadFile>& read);

}  // namespace mrvlc::driver
