// `mrvlc profile`: simulated time and traffic by layer and ONNX operator, and a trace in the Trace Event
// format (a JSON array of complete events, which Perfetto and chrome://tracing open).
#include <cstdint>

#include "mrvlc/backends/open.h"
#include "mrvlc/support/diag/general.h"
#include "output/output_folder.h"
#include "profile/code_index.h"
#include "profile/trace.h"

namespace mrvlc::driver {
namespace {

class Profiler {
 public:
  Profiler(const ProfileOptions& options, const OutputFolder& folder, const Json& map)
      : options_(options), folder_(folder), index_(index_of(map)), labels_(map) {}

  Result<std::string> run() {
    MRVLC_ASSIGN(Json report, folder_.json("report.json"));
    std::string target = report.at("target").at("name").get<std::string>();
    if (target != "host") {
      MRVLC_ASSIGN(backend_, folder_.backend(options_.target_dirs));
    }
    for (const Json& region : report.at("regions")) MRVLC_TRY(add_region(region));
    if (!options_.trace.empty()) MRVLC_TRY(trace());
    if (options_.json) return json().dump(1) + "\n";
    return regions_.empty() ? "no region runs on the accelerator\n"
                            : report::profile_text(regions_, SIZE_MAX);
  }

 private:
  Status add_region(const Json& region) {
    MRVLC_ASSIGN(std::string bytes, folder_.bytes(region.at("file").get<std::string>()));
    MRVLC_ASSIGN(const std::unique_ptr<backend::Timing> timing, backend_->time(bytes));
    const bool drawing = !options_.trace.empty();
    regions_.push_back(timing->profile(index_, region.at("id").get<uint32_t>(), drawing));
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

  Json json() const {
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
    return {{"schema", "mrvlc-profile-1"}, {"model", folder_.name}, {"regions", std::move(regions)}};
  }

  Status trace() const {
    return write_trace(options_.trace, regions_, [this](uint32_t region, const report::Bar& bar) {
      const auto section = static_cast<backend::Section>(bar.section);
      const backend::CodeSpan* span = index_.find(region, section, bar.instruction);
      return span == nullptr ? std::string_view("?") : labels_.of(span->expr);
    });
  }

  const ProfileOptions& options_;
  const OutputFolder& folder_;
  backend::CodeIndex index_;
  idmap::Labels labels_;
  backends::Opened backend_;
  std::vector<report::Region> regions_;
};

}  // namespace

Result<std::string> profile(const ProfileOptions& options) {
  MRVLC_ASSIGN(OutputFolder folder, open_output(options.out));
  if (!options.trace.empty()) MRVLC_TRY(folder.check_apart(options.trace));
  MRVLC_ASSIGN(Json map, folder.json("idmap.json"));
  return folder.reading([&]() -> Result<std::string> { return Profiler(options, folder, map).run(); });
}

}  // namespace mrvlc::driver
