// `mrvlc profile`: simulated time and traffic by layer and ONNX operator, and a trace in the Trace Event
// format (a JSON array of complete events, which Perfetto and chrome://tracing open).
#include <cmath>
#include <cstdint>
#include <map>

#include "folder/output_folder.h"
#include "mrvlc/backends/open.h"
#include "mrvlc/report/measured_page.h"
#include "mrvlc/support/diag/general.h"
#include "mrvlc/support/file.h"
#include "mrvlc/support/json_document.h"
#include "output/code_index.h"
#include "output/memory_json.h"
#include "profile/measured.h"
#include "profile/modules.h"
#include "profile/trace.h"

namespace mrvlc::driver {
namespace {

class Profiler {
 public:
  Profiler(const ProfileOptions& options, const OutputFolder& folder, const Json& map)
      : options_(options), folder_(folder), map_(map), index_(index_of(map)), labels_(map) {}

  Result<std::string> run() {
    MRVLC_ASSIGN(Json report, folder_.json("report.json"));
    const bool runs_code = options_.measure || !options_.run.on.empty();
    const auto libraries = runs_code ? OutputFolder::Libraries::Any : OutputFolder::Libraries::OfPackages;
    for (const std::string& target : folder_.targets) {
      MRVLC_ASSIGN(backends_[target], folder_.backend(target, options_.target_dirs, libraries));
    }
    if (!options_.trace.empty()) {
      MRVLC_ASSIGN(const Json memory, folder_.json(kMemoryFile));
      memory_ = read_memory(memory);
    }
    for (const Json& region : report.at("regions")) MRVLC_TRY(add_region(region));
    if (!options_.trace.empty()) MRVLC_TRY(trace(report));
    std::optional<Measured> measured;
    if (options_.measure || !options_.run.on.empty()) {
      MRVLC_ASSIGN(measured, measure_program(options_.run, folder_));
      add_expected(*measured, report, map_);
      if (!options_.html.empty()) MRVLC_TRY(page(*measured));
    }
    std::optional<std::vector<ModuleUse>> modules;
    if (options_.by_module) {
      MRVLC_ASSIGN(const Json placement, folder_.json("placement.json"));
      modules = module_uses({map_, placement, report}, regions_, measured, options_.depth);
    }
    if (options_.json) return json_document(json(measured, modules));
    if (modules) return modules_text(*modules);
    const std::string text =
        regions_.empty() ? "no region runs on the accelerator\n" : report::profile_text(regions_, SIZE_MAX);
    return measured ? text + measured_text(*measured, labels_) : text;
  }

 private:
  Status add_region(const Json& region) {
    MRVLC_ASSIGN(std::string bytes, folder_.bytes(region.at("file").get<std::string>()));
    const auto own =
        backends_.find(region.value("target", folder_.targets.empty() ? "" : folder_.targets.front()));
    if (own == backends_.end())
      return make_diag<DiagCode::MRV0003>(folder_.path.string(), "a region is of no target that it names");
    MRVLC_ASSIGN(const std::unique_ptr<backend::Timing> timing, own->second->time(bytes));
    const bool drawing = !options_.trace.empty();
    regions_.push_back(timing->profile(index_, region.at("id").get<uint32_t>(), drawing));
    if (drawing) regions_.back().memory = timing->memory(memory_[regions_.back().id]);
    set_macs(regions_.back(), region);
    regions_.back().lower_bound_cycles = region.at("lower_bound_cycles").get<uint64_t>();
    regions_.back().weights_bytes = region.at("weights_bytes").get<uint64_t>();
    regions_.back().ocm_peak_bytes = region.at("ocm_peak_bytes").get<uint64_t>();
    regions_.back().ocm_highest_address_bytes = region.at("ocm_highest_address_bytes").get<uint64_t>();
    return {};
  }

  // What the network defines is not in the binary.
  static void set_macs(report::Region& r, const Json& region) {
    r.macs = region.at("macs").get<uint64_t>();
    const Json& by_layer = region.at("layer_macs");
    for (report::Layer& l : r.layers) l.macs = by_layer.at(l.number).get<uint64_t>();
  }

  static Json layer_json(const report::Layer& l) {
    Json bound = Json::object();
    for (size_t b = 0; b < report::kBounds; ++b) bound[report::bound_keys()[b]] = l.bound[b];
    size_t main = report::main_bound(l.bound);
    return {{"layer", l.number},
            {"kind", l.kind},
            {"operators", l.operators},
            {"cycles", l.cycles},
            {"bound", main == report::kBounds ? "hidden" : report::bound_keys()[main]},
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
    for (const report::Region& r : regions_) {
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
    }
    Json out = {{"schema", "mrvlc-profile-1"}, {"model", folder_.name}, {"regions", std::move(regions)}};
    if (modules) out["modules"] = modules_json(*modules);
    if (measured) out["measured"] = measured_json(*measured, labels_);
    return out;
  }

  Status trace(const Json& report) const {
    const auto label = [this](uint32_t region, const report::Bar& bar) {
      const auto section = static_cast<backend::Section>(bar.section);
      const backend::CodeSpan* span = index_.find(region, section, bar.instruction);
      return span == nullptr ? std::string_view("?") : labels_.of(span->expr);
    };
    return write_trace(options_.trace, regions_, label, trace_steps(report));
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
    const double clock = backends_.empty() ? 1 : backends_.at(folder_.targets.front())->machine().clock_ghz;
    return {std::move(name), static_cast<uint64_t>(std::llround(seconds * 1e9 * clock))};
  }

  // The program as report.json expects it; of nodes that it leaves out, what they take together.
  std::vector<TraceStep> trace_steps(const Json& report) const {
    std::vector<TraceStep> steps;
    std::vector<double> left;
    for (const Json& s : report.at("partition").at("steps")) {
      steps.push_back(s.contains("region") ? region_step(s.at("region").get<uint32_t>(), report)
                                           : TraceStep{});
      left.push_back(s.contains("region") ? 0 : s.at("seconds").get<double>());
    }
    for (const Json& n : report.at("host").at("nodes")) {
      const auto step = n.at("step").get<size_t>();
      const auto seconds = n.at("seconds").get<double>();
      const std::string name =
          fmt::format("{} ({})", n.at("name").get<std::string>(), n.at("op_type").get<std::string>());
      if (step < steps.size()) steps[step].before.push_back(slice(name, seconds));
      if (step < steps.size()) left[step] -= seconds;
    }
    for (size_t i = 0; i < steps.size(); ++i)
      if (left[i] > 1e-9) steps[i].before.push_back(slice("others", left[i]));
    return steps;
  }

  TraceStep region_step(uint32_t id, const Json& report) const {
    TraceStep step;
    for (size_t r = 0; r < regions_.size(); ++r) {
      if (regions_[r].id != id) continue;
      const Json& region = report.at("regions").at(r);
      step.region = r;
      auto convert = [&](const char* key, std::vector<TraceStep::Slice>& to) {
        for (const Json& c : region.at(key))
          to.push_back(slice(
              fmt::format("{}: {}", c.at("value").get<std::string>(), c.at("conversion").get<std::string>()),
              c.at("seconds").get<double>()));
      };
      convert("in", step.before);
      step.before.push_back(slice("launch", region.at("launch_seconds").get<double>()));
      convert("out", step.after);
    }
    return step;
  }

  const ProfileOptions& options_;
  const OutputFolder& folder_;
  const Json& map_;
  backend::CodeIndex index_;
  idmap::Labels labels_;
  std::map<std::string, backends::Opened> backends_;  // by target
  std::vector<report::Region> regions_;
  std::map<uint32_t, std::vector<backend::MemoryUse>> memory_;
};

}  // namespace

Result<std::string> profile(const ProfileOptions& options) {
  MRVLC_ASSIGN(OutputFolder folder, open_output(options.out));
  for (const auto& written : {options.trace, options.html})
    if (!written.empty()) MRVLC_TRY(folder.check_apart(written));
  MRVLC_ASSIGN(Json map, folder.json("idmap.json"));
  return folder.reading([&]() -> Result<std::string> { return Profiler(options, folder, map).run(); });
}

}  // namespace mrvlc::driver
