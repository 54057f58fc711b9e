// Targets that are libraries of C functions: what a compile reads of their packages.
#pragma once
#include "inputs/read_files.h"
#include "mrvlc/chost/chost.h"
#include "mrvlc/partition/library.h"
#include "mrvlc/partition/partition.h"
#include "mrvlc/partition/source_rules.h"
#include "mrvlc/passes/pass.h"
#include "mrvlc/target/find.h"
#include "mrvlc/target/library.h"

namespace mrvlc::driver {

struct Libraries {
  std::vector<partition::Library> rules;  // in the order of --target
  std::vector<rules::RuleFile> rule_files;
  chost::Linked linked;
  std::vector<std::pair<std::string, std::string>> files;  // of packages, for OUT: name and bytes
  std::vector<ReadFile> read;
  std::string_view standard = target::kStandards[0];  // that suits all of them
  std::vector<std::string_view> passes;               // that they ask for, behind all others
  // One of the targets, a library or an accelerator, takes weights behind DequantizeLinear.
  bool integers = false;
};

// Adds the package of a target file of kind `call`, which was found by `name`. Warnings about its rules go to
// `diagnostics`. `model`: names that the compile itself gives to files of OUT.
Status add_library(const std::string& name, const target::TargetText& text, std::string_view model,
                   Libraries& out, Diagnostics& diagnostics);
// The passes run for a target whose rules see integers, whichever kind it is of.
void add_integer_passes(Libraries& out);

// The host's, when there is no accelerator. Rules of libraries match quantised chains as they are written:
// where there are any, what they leave is computed in floats.
std::span<const std::string_view> host_pipeline_for(const Libraries& libraries);

// Who may take nodes beside libraries.
struct OtherTargets {
  const partition::Accelerator* accelerator = nullptr;  // null: there is none
  std::vector<partition::Turn> turns = {};              // of its parts
  partition::SourceMatches sources = {};                // of their rules
  std::shared_ptr<const partition::Pins> pins = {};     // constraints; may be null
};

// The passes of a compile, with those that libraries ask for. Weights behind DequantizeLinear stay integers
// where a library takes them, and are folded elsewhere: what it takes is known when its rules have been
// tried, so the passes run again then. An accelerator that has its turn before the library comes first.
Status run_passes(ir::Graph& graph, std::span<const std::string_view> pipeline,
                  const passes::RunOptions& options, const Libraries& libraries,
                  const OtherTargets& others = {});

}  // namespace mrvlc::driver
