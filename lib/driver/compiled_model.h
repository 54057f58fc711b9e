// Everything the phases of one compile hand on; the writers of OUT read it.
#pragma once
#include <nlohmann/json.hpp>

#include "accuracy/accuracy.h"
#include "libraries.h"
#include "mrvlc/backend/backend.h"
#include "mrvlc/chost/chost.h"
#include "mrvlc/driver/driver.h"
#include "mrvlc/onnx/importer.h"
#include "mrvlc/partition/host_model.h"
#include "mrvlc/partition/partition.h"
#include "mrvlc/report/report.h"
#include "mrvlc/support/file.h"
#include "read_files.h"
#include "size/code_size.h"

namespace mrvlc::driver {

using Json = nlohmann::ordered_json;

inline constexpr const char* kManifestSchema = "mrvlc-manifest-1";

// One of --target, as OUT holds it.
struct Accelerator {
  std::string name;
  std::string text;  // all of its target.json, where it is not a built-in one
  std::vector<std::pair<std::string, std::string>> files;  // Backend::device_files()
};

struct CompiledModel {
  onnx::Model model;
  std::vector<ReadFile> read;  // the model first
  std::string name;
  bool has_accelerator = false;
  Libraries libraries;
  std::vector<Accelerator> accelerators;  // in the order of --target
  // All of them as one; the default target's where there is none: for questions about numbers, nothing runs
  // there.
  std::shared_ptr<const backend::Backend> backend;
  partition::HostModel host_model;
  std::vector<partition::Constraint> constraints;  // as they were asked for
  range::Knowledge known;                          // of the graph as it is placed
  partition::Partition partition;
  std::vector<ir::Graph> host_parts;             // of regions, for the host: host_parts.h
  std::vector<chost::HalfWeights> half_weights;  // of --host-weights fp16
  std::vector<backend::RegionCode> regions;
  std::vector<std::unique_ptr<backend::Timing>> timings;  // by region
  chost::HostCode host;
  std::optional<CodeSize> size;  // of --measure-size
  Accuracy accuracy;

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

// The seven lines that `mrvlc compile` ends with, from report.json.
std::vector<std::string> summary(const CompiledModel& m, const CompileOptions& options, const Json& report,
                                 size_t warnings);
// Writes OUT; `before_commit` runs when all is written and nothing is in place yet, and its error keeps OUT
// away. When OUT is in place, the work is done: an interrupt that comes later does not undo it.
// `report` becomes report.json.
Status write_output(const CompiledModel& m, const CompileOptions& options,
                    const std::function<Status(const OutputDir&)>& before_commit, Json& report);

}  // namespace mrvlc::driver
