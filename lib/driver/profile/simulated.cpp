// Each region's binary timed by its back end; what the network defines comes from the report.
#include "profile/simulated.h"

#include <algorithm>

namespace mrvlc::driver {
namespace {

Status add_region(const OutputFolder& folder, const ReportedRegion& reported, const backend::CodeIndex& index,
                  const SimulationAsked& asked, Simulation& out) {
  const MemoryFile* const memory = asked.memory;
  MRVLC_ASSIGN(std::string bytes, folder.bytes(reported.file));
  const std::string first = folder.targets.empty() ? "" : folder.targets.front();
  const auto own = out.backends.find(reported.target.value_or(first));
  if (own == out.backends.end())
    return make_diag<DiagCode::MRV0003>(folder.path.string(), "a region is of no target that it names");
  MRVLC_ASSIGN(const std::unique_ptr<backend::Timing> timing, own->second->time(bytes));
  report::Region& r = out.regions.emplace_back(timing->profile(index, reported.id, memory != nullptr));
  if (memory != nullptr)
    for (const auto& held : memory->regions)
      if (held.id == r.id) r.memory = timing->memory(held.uses);
  if (!asked.what_if.empty()) {
    MRVLC_ASSIGN(const auto changed, own->second->time_changed(bytes, asked.what_if, "--what-if"));
    out.what_if.push_back(changed->profile(index, reported.id, false));
  }
  r.macs = reported.macs;
  for (report::Layer& l : r.layers) {
    if (l.number >= reported.layer_macs.size())
      return make_diag<DiagCode::MRV0003>(folder.path.string(),
                                          "its ID map has layers that its report lacks");
    l.macs = reported.layer_macs[l.number];
  }
  r.lower_bound_cycles = reported.lower_bound_cycles;
  r.weights_bytes = reported.weights_bytes;
  r.ocm_peak_bytes = reported.ocm_peak_bytes;
  r.ocm_highest_address_bytes = reported.ocm_highest_address_bytes;
  return {};
}

}  // namespace

const char* main_bound_key(const report::Layer& layer) {
  const size_t main = report::main_bound(layer.bound);
  return main == report::kBounds ? "hidden" : report::bound_keys()[main];
}

Result<Simulation> simulate(const OutputFolder& folder, const Report& report, const backend::CodeIndex& index,
                            const SimulationAsked& asked) {
  Simulation out;
  for (const std::string& target : folder.targets) {
    MRVLC_ASSIGN(out.backends[target], folder.backend(target, asked.target_dirs, asked.libraries));
  }
  for (const ReportedRegion& region : report.regions)
    MRVLC_TRY(add_region(folder, region, index, asked, out));
  return out;
}

}  // namespace mrvlc::driver
