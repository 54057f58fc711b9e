// Everything the phases of one compile hand on; the writers of OUT read it.
#pragma once
#include <nlohmann/json.hpp>

#include "accuracy/accuracy.h"
#include "libraries.h"
#include "mrvlc/accel/accel.h"
#include "mrvlc/chost/chost.h"
#include "mrvlc/driver/driver.h"
#include "mrvlc/onnx/importer.h"
#include "mrvlc/partition/host_model.h"
#include "mrvlc/partition/partition.h"
#include "mrvlc/report/report.h"
#include "mrvlc/sim/simulator.h"
#include "mrvlc/support/file.h"
#include "mrvlc/target/machine.h"
#include "read_files.h"

namespace mrvlc::driver {

using Json = nlohmann::ordered_json;

inline constexpr const char* kManifestSchema = "mrvlc-manifest-1";

struct CompiledModel {
  onnx::Model model;
  std::vector<ReadFile> read;  // the model first
  std::string name;
  bool has_accelerator = false;
  Libraries libraries;
  target::Machine machine;
  std::string target_text;  // of the accelerator, where it is not a built-in one: all of its target.json
  partition::HostModel host_model;
  std::vector<partition::Constraint> constraints;  // as they were asked for
  partition::Partition partition;
  std::vector<accel::CompiledRegion> regions;
  std::vector<std::string> binaries;  // encoded containers, one a region
  std::vector<sim::Report> runs;      // what the simulator counts for the same bytes, timing only
  chost::HostCode host;
  Accuracy accuracy;
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
