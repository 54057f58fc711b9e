// `mrvlc profile`: simulated time and traffic by layer and ONNX operator, and a trace in the Trace Event
// format (a JSON array of complete events, which Perfetto and chrome://tracing open).
#include <cmath>
#include <cstdint>

#include "folder/output_folder.h"
#include "mrvlc/backends/open.h"
#include "mrvlc/report/measured_page.h"
#include "mrvlc/support/diag/general.h"
#include "mrvlc/support/file.h"
#include "mrvlc/support/json_document.h"
#include "output/code_index.h"
#include "profile/measured.h"
#include "profile/modules.h"
#include "profile/simulated.h"
#include "profile/trace.h"
#include "profile/what_if.h"

namespace mrvlc::driver {
namespace {

class Profiler {
 public:
  Profiler(const ProfileOptions& options, const OutputFolder& folder, const idmap::Map& map,
           const Report& report)
      : options_(options), folder_(folder), map_(map), report_(report), index_(index_of(map)), labels_(map) {}

  Result<std::string> run() {
    const bool runs_code = options_.measure || !options_.run.on.empty();
    std::optional<MemoryFile> memory;
    if (!options_.trace.empty()) {
      MRVLC_ASSIGN(memory, folder_.read<MemoryFile>(kMemoryFile));
    }
    const auto libraries = runs_code ? OutputFolder::Libraries::Any : OutputFolder::Libraries::OfPackages;
    MRVLC_ASSIGN(simulated_,
                 simulate(folder_, report_, index_,
                          {options_.target_dirs, libraries, options_.what_if, memory ? &*memory : nullptr}));
    if (!options_.what_if.empty() && simulated_.regions.empty())
      return make_diag<DiagCode::MRV0004>("--what-if: no region runs on the accelerator");
    if (memory) MRVLC_TRY(trace());
    std::optional<Measured> measured;
    if (runs_code) {
      MRVLC_ASSIGN(measured, measure_program(options_.run, folder_));
      add_expected(*measured, report_, map_);
      if (!options_.html.empty()) MRVLC_TRY(page(*measured));
    }
    std::optional<std::vector<ModuleUse>> modules;
    if (options_.by_module) {
      MRVLC_ASSIGN(const auto placement, folder_.read<PlacementTable>("placement.json"));
      modules = module_uses({map_, placement, report_}, simulated_.regions, measured, options_.depth);
    }
    if (options_.json) return json_document(json(measured, modules));
    if (!options_.what_if.empty()) return what_if_text(what_if(), simulated_.regions);
    if (modules) return modules_text(*modules);
    const std::string text = simulated_.regions.empty() ? "no region runs on the accelerator\n"
                                                        : report::profile_text(simulated_.regions, SIZE_MAX);
    return measured ? text + measured_text(*measured, labels_) : text;
  }

 private:
  WhatIf what_if() const { return {options_.what_if, simulated_.what_if}; }

  static Json layer_json(const report::Layer& l) {
    Json bound = Json::object();
    for (size_t b = 0; b < report::kBounds; ++b) bound[report::bound_keys()[b]] = l.bound[b];
    return {{"layer", l.number},
            {"kind", l.kind},
            {"operators", l.operators},
            {"cycles", l.cycles},
            {"bound", main_bound_key(l)},
            {"bound_cycles", std::move(bound)},
            {"begin", l.begin},
            {"end", l.end},
            {"macs", l.macs},
            {"executed_macs", l.executed_macs},
            {"mac_utilization", l.mac_utilization},
            {"ddr_read_bytes", l.ddr_read_bytes},
            {"ddr_write_bytes", l.ddr_write_bytes},
            {"busy_cycles",
             {{"dma_in", l.busy[0]}, {"dma_out", l.busy[1]}, {"pod", l.busy[2]}, {"pe", l.busy[3]}}}};
  }

  Json json(const std::optional<Measured>& measured,
            const std::optional<std::vector<ModuleUse>>& modules) const {
    Json regions = Json::array();
    for (const report::Region& r : simulated_.regions) {
      Json layers = Json::array();
      for (const report::Layer& l : r.layers) layers.push_back(layer_json(l));
      regions.push_back({{"id", r.id},
                         {"init_cycles", r.init_cycles},
                         {"main_cycles", r.main_cycles},
                         {"finish_cycles", r.finish_cycles},
                         {"cycles_pessimistic", r.pessimistic_cycles},
                         {"lower_bound_cycles", r.lower_bound_cycles},
                         {"pod_utilization", r.pod_utilization},
                         {"pod_busy", r.pod_busy},
                         {"ddr_read_bytes", r.ddr_read_bytes},
                         {"ddr_write_bytes", r.ddr_write_bytes},
                         {"fetched_bytes", r.fetched_bytes},
                         {"macs", r.macs},
                         {"executed_macs", r.executed_macs},
                         {"layers", std::move(layers)}});
      for (const report::RangeTime& t : r.ranges)
        regions.back()["ranges"].push_back({{"begin", t.begin},
                                            {"end", t.end},
                                            {"layer", t.layer},
                                            {"expr_id", t.expr},
                                            {"cycles", t.cycles}});
    }
    Json out = {{"schema", "mrvlc-profile-1"}, {"model", folder_.name}, {"regions", std::move(regions)}};
    if (!options_.what_if.empty()) out["what_if"] = what_if_json(what_if(), simulated_.regions);
    if (modules) out["modules"] = modules_json(*modules);
    if (measured) out["measured"] = measured_json(*measured, labels_);
    return out;
  }

  Status trace() const {
    const auto label = [this](uint32_t region, const report::Bar& bar) {
      const auto section = static_cast<backend::Section>(bar.section);
      const backend::CodeSpan* span = index_.find(region, section, bar.instruction);
      return span == nullptr ? std::string_view("?") : labels_.of(span->expr);
    };
    return write_trace(options_.trace, simulated_.regions, label, trace_steps());
  }

  Status page(const Measured& measured) const {
    MRVLC_ASSIGN(std::string written, folder_.bytes(kReportPage));
    const auto page = report::measured_page(std::move(written), measured_json(measured, labels_));
    if (page) return write_file_atomic(options_.html, *page);
    return make_diag<DiagCode::MRV0003>(
        (folder_.path / kReportPage).string(),
        "an older version wrote it, whose page has no place for what is measured; compile again");
  }

  TraceStep::Slice slice(std::string name, double seconds) const {
    // Of several accelerators the first one's cycles are the unit.
    const auto& backends = simulated_.backends;
    const double clock = backends.empty() ? 1 : backends.at(folder_.targets.front())->machine().clock_ghz;
    return {std::move(name), static_cast<uint64_t>(std::llround(seconds * 1e9 * clock))};
  }

  // The program as the report expects it; of nodes that it leaves out, what they take together.
  std::vector<TraceStep> trace_steps() const {
    std::vector<TraceStep> steps;
    std::vector<double> left;
    for (const ReportedStep& s : report_.partition.steps) {
      steps.push_back(s.region ? region_step(*s.region) : TraceStep{});
      left.push_back(s.region ? 0 : s.seconds);
    }
    for (const ReportedNode& n : report_.host.nodes) {
      if (n.step >= steps.size()) continue;
      steps[n.step].before.push_back(slice(fmt::format("{} ({})", n.name, n.op_type), n.seconds));
      left[n.step] -= n.seconds;
    }
    for (size_t i = 0; i < steps.size(); ++i)
      if (left[i] > 1e-9) steps[i].before.push_back(slice("others", left[i]));
    return steps;
  }

  TraceStep region_step(uint32_t id) const {
    TraceStep step;
    for (size_t r = 0; r < report_.regions.size(); ++r) {
      const ReportedRegion& region = report_.regions[r];
      if (region.id != id) continue;
      step.region = r;
      auto convert = [&](const std::vector<ReportedCrossing>& values, std::vector<TraceStep::Slice>& to) {
        for (const ReportedCrossing& c : values)
          to.push_back(slice(fmt::format("{}: {}", c.value, c.conversion), c.seconds));
      };
      convert(region.in, step.before);
      step.before.push_back(slice("launch", region.launch_seconds));
      convert(region.out, step.after);
    }
    return step;
  }

  const ProfileOptions& options_;
  const OutputFolder& folder_;
  const idmap::Map& map_;
  const Report& report_;
  backend::CodeIndex index_;
  idmap::Labels labels_;
  Simulation simulated_;
};

}  // namespace

Result<std::string> profile(const ProfileOptions& options) {
  MRVLC_ASSIGN(OutputFolder folder, open_output(options.out));
  for (const auto& written : {options.trace, options.html})
    if (!written.empty()) MRVLC_TRY(folder.check_apart(written));
  MRVLC_ASSIGN(const idmap::Map map, folder.read<idmap::Map>("idmap.json"));
  MRVLC_ASSIGN(const Report report, folder.read<Report>("report.json"));
  return Profiler(options, folder, map, report).run();
}

}  // namespace mrvlc::driver
