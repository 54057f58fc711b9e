// Everything the phases of one compile hand on; the writers of OUT read it.
#pragma once
#include <nlohmann/json.hpp>

#include "mrvlc/accel/accel.h"
#include "mrvlc/chost/chost.h"
#include "mrvlc/driver/driver.h"
#include "mrvlc/onnx/importer.h"
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
  target::Machine machine;
  partition::Partition partition;
  std::vector<accel::CompiledRegion> regions;
  std::vector<std::string> binaries;  // encoded containers, one a region
  std::vector<sim::Report> runs;      // what the simulator counts for the same bytes, timing only
  chost::HostCode host;
};

// MACs of a node: Conv, ConvTranspose, Gemm, MatMul; 0 for all others.
int64_t macs_of(const ir::Graph& graph, const ir::Node& node);

Json placement_json(const CompiledModel& m);
Json report_json(const CompiledModel& m, const CompileOptions& options);
std::string report_text(const Json& report, const Json& placement,
                        const std::vector<report::Region>& regions);
// Writes OUT; `before_commit` runs when all is written and nothing is in place yet, and its error keeps OUT
// away. When OUT is in place, the work is done: an interrupt that comes later does not undo it.
Status write_output(const CompiledModel& m, const CompileOptions& options,
                    const std::function<Status(const OutputDir&)>& before_commit);

}  // namespace mrvlc::driver
