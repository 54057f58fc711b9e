// What the stages of one compile hand on.
#pragma once
#include <future>

#include "inputs/json.h"
#include "inputs/read_files.h"
#include "inputs/side_inputs.h"
#include "model/accuracy.h"
#include "model/accuracy_choice.h"
#include "model/frontier.h"
#include "model/opened_targets.h"
#include "mrvlc/backend/backend.h"
#include "mrvlc/calibration/hints.h"
#include "mrvlc/chost/chost.h"
#include "mrvlc/driver/driver.h"
#include "mrvlc/onnx/importer.h"
#include "mrvlc/partition/partition.h"
#include "mrvlc/report/report.h"
#include "mrvlc/support/file.h"
#include "placement/constrained.h"
#include "size/code_size.h"

namespace mrvlc::driver {

// One of --target, as OUT holds it.
struct Accelerator {
  std::string name;
  std::string text;  // all of its target.json, where it is not a built-in one
  std::vector<std::pair<std::string, std::string>> files;  // Backend::device_files()
};

// What a compile has made, one type behind each of its stages (stages/stages.h): each has what those before
// it have. All but the last two can be copied: who tries several ways copies one and goes on from there.

// Its targets are known, and no model is read.
struct OpenedModel {
  CompileOptions options;  // settled: --tiles and what --target-opt says of the first accelerator
  std::string name;
  bool has_accelerator = false;
  std::vector<OpenedAccelerator> opened;
  target::Searched searched;  // where targets were looked for
  Libraries libraries;
  std::vector<Accelerator> accelerators;  // in the order of --target
  // All of them as one; the default target's where there is none: for questions about numbers, nothing runs
  // there.
  std::shared_ptr<const backend::Backend> backend;
  std::optional<Report> baseline;  // of --baseline

  // Of several accelerators the first, but for the name, which is that of all.
  const target::Machine& machine() const { return backend->machine(); }
  const backend::Backend& backend_of(const backend::RegionCode& region) const {
    return backend->part(region.accelerator);
  }
  std::vector<std::string> target_names() const {
    std::vector<std::string> names;
    for (const Accelerator& a : accelerators) names.push_back(a.name);
    return names;
  }
  // Null where the model is compiled for the host, and libraries, alone.
  const backend::Backend* accelerator() const { return has_accelerator ? backend.get() : nullptr; }
};

// The model as its file says it, and what else the options name.
struct ImportedModel : OpenedModel {
  onnx::Model model;
  std::vector<ReadFile> read;  // the model first
  SideInputs inputs;
  // Of the files of the model, on their way: nothing reads them before the reports.
  std::shared_future<Result<std::vector<std::string>>> hashes;
  std::vector<calibration::InputHint> hints =
      {};  // what inputs are likely to be: passes fold away what tells
};

// The passes have run, with fences where constraints ask for borders.
struct SimplifiedModel : ImportedModel {
  std::vector<partition::Turn> turns;  // of the accelerators, with their rules
  partition::SourceMatches source_matches;
  decltype(passes::PassContext::stays) stays;  // weights that rules want in integers
  std::optional<ir::Graph> unplaced;           // of a quantised network, in front of the passes
  Constrained constrained;
  std::shared_ptr<partition::Pins> pins;  // null without constraints
};

// What runs where is decided.
struct Placing {
  std::optional<AccuracyChoice> choice;  // what is not computed in fp16
  range::Knowledge known;                // of the graph as it is placed
  partition::Partition partition;
  bool rewritten = false;  // placing has changed the graph: conversions of float16, integers on the CPU
};
struct PlacedModel : SimplifiedModel, Placing {
  PlacedModel() = default;
  explicit PlacedModel(SimplifiedModel simplified) : SimplifiedModel(std::move(simplified)) {}
  // A copied graph has bodies of its own, which the copied partition is about.
  PlacedModel(const PlacedModel& other);
  PlacedModel(PlacedModel&&) = default;
  PlacedModel& operator=(PlacedModel&&) = default;
};

// The regions are code.
struct CodedModel : PlacedModel {
  std::vector<ir::Graph> host_parts;             // of regions, for the host: host_parts.h
  std::vector<chost::HalfWeights> half_weights;  // of --host-weights fp16
  std::vector<backend::RegionCode> regions;
};

// Times and errors are known, as far as they are.
struct ProbedModel : CodedModel {
  std::vector<std::unique_ptr<backend::Timing>> timings;  // by region
  Accuracy accuracy;
  std::shared_ptr<const Frontier> frontier;  // of --frontier, else null
};

// All of it: the writers of OUT read it.
struct CompiledModel : ProbedModel {
  chost::HostCode host;
  std::optional<CodeSize> size;  // of --measure-size
};

}  // namespace mrvlc::driver
