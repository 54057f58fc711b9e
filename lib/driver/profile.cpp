// `mrvlc profile`: simulated time and traffic by layer and ONNX operator, and a trace in the Trace Event
// format (a JSON array of complete events, which Perfetto and chrome://tracing open).
#include <algorithm>
#include <map>

#include "mrvlc/idmap/idmap.h"
#include "mrvlc/sim/simulator.h"
#include "mrvlc/support/file.h"
#include "output_folder.h"

namespace mrvlc::driver {
namespace {

constexpr const char* kSections[] = {"init", "main", "finish"};
constexpr const char* kQueues[] = {"DMA in", "DMA out", "POD", "PE"};

struct LayerProfile {
  uint32_t region = 0, layer = 0;
  std::string kind, label;
  uint64_t begin = UINT64_MAX, end = 0;  // main section, cycles
  uint64_t macs = 0, ddr_read_bytes = 0, ddr_write_bytes = 0;
  uint64_t busy[4] = {0, 0, 0, 0};  // cycles by queue kind, all tiles
};

struct RegionProfile {
  sim::Report report;
  uint32_t tiles = 1;
  std::vector<LayerProfile> layers;
};

// Section and instruction index to the row of `instructions` of the ID map.
class InstructionIndex {
 public:
  InstructionIndex(const Json& map, uint32_t region) {
    for (const Json& i : map.at("instructions")) {
      if (i.at("region") != region) continue;
      auto section =
          std::find(std::begin(kSections), std::end(kSections), i.at("section").get<std::string>());
      if (section == std::end(kSections)) continue;
      rows_[static_cast<size_t>(section - kSections)].push_back(
          {i.at("end").get<uint32_t>(), i.at("layer").get<uint32_t>(), i.at("expr_id").get<uint32_t>()});
    }
  }
  struct Row {
    uint32_t end, layer, expr;
  };
  const Row* find(sim::Section section, uint32_t index) const {
    const auto& rows = rows_[static_cast<size_t>(section)];
    auto it =
        std::upper_bound(rows.begin(), rows.end(), index, [](uint32_t i, const Row& r) { return i < r.end; });
    return it == rows.end() ? nullptr : &*it;
  }

 private:
  std::vector<Row> rows_[3];
};

class Profiler {
 public:
  Profiler(const ProfileOptions& options, const OutputFolder& folder, Json map)
      : options_(options), folder_(folder), map_(std::move(map)), labels_(map_) {}

  Result<std::string> run() {
    MRVLC_ASSIGN(Json report, folder_.json("report.json"));
    std::string target = report.at("target").at("name").get<std::string>();
    if (target != "host") {
      MRVLC_ASSIGN(machine_, target::load_machine(target, options_.target_dirs));
    }
    for (const Json& region : report.at("regions")) {
      MRVLC_TRY(add_region(region.at("id").get<uint32_t>(), region.at("file").get<std::string>()));
    }
    if (!options_.trace.empty()) MRVLC_TRY(write_file_atomic(options_.trace, trace()));
    return options_.json ? json().dump(1) + "\n" : text(report);
  }

 private:
  Status add_region(uint32_t id, const std::string& file) {
    MRVLC_ASSIGN(std::string bytes, folder_.bytes(file));
    MRVLC_ASSIGN(isa::Binary binary, isa::read_container(bytes));
    MRVLC_ASSIGN(sim::Simulator simulator, sim::Simulator::create(std::move(binary), machine_));
    RegionProfile r;
    MRVLC_ASSIGN(r.report, simulator.time_only());
    r.tiles = simulator.binary().tiles;
    std::map<uint32_t, LayerProfile> layers;
    for (const Json& l : map_.at("layers")) {
      if (l.at("region") != id) continue;
      LayerProfile& p = layers[l.at("layer").get<uint32_t>()];
      p.region = id;
      p.layer = l.at("layer").get<uint32_t>();
      p.kind = l.at("kind").get<std::string>();
      for (const Json& e : l.at("exprs")) {
        p.label += (p.label.empty() ? "" : " + ") + labels_.of(e.get<uint32_t>());
      }
    }
    InstructionIndex index(map_, id);
    for (const sim::Event& e : r.report.events) {
      const auto* row = index.find(e.section, e.instruction);
      if (row == nullptr) continue;
      add_event(layers[row->layer], e);
    }
    for (auto& [number, layer] : layers) r.layers.push_back(std::move(layer));
    regions_.push_back(std::move(r));
    return {};
  }

  static void add_event(LayerProfile& p, const sim::Event& e) {
    if (e.section == sim::Section::Main) {
      p.begin = std::min(p.begin, e.start);
      p.end = std::max(p.end, e.end);
    }
    p.macs += e.macs;
    p.ddr_read_bytes += e.ddr_read_bytes;
    p.ddr_write_bytes += e.ddr_write_bytes;
    p.busy[static_cast<size_t>(e.queue)] += e.end - e.start;
  }

  // Layers overlap in time; a layer is charged the time from the end of everything before it to its own end,
  // so that the column adds up to the region's main cycles.
  static std::vector<uint64_t> charged(const RegionProfile& r) {
    std::vector<uint64_t> cycles;
    uint64_t done = 0;
    for (const LayerProfile& l : r.layers) {
      cycles.push_back(l.end > done ? l.end - done : 0);
      done = std::max(done, l.end);
    }
    return cycles;
  }

  std::string text(const Json& report) const {
    if (regions_.empty()) return "no region runs on the accelerator\n";
    std::string out;
    for (size_t i = 0; i < regions_.size(); ++i) {
      const RegionProfile& r = regions_[i];
      auto bound = report.at("regions")[i].at("lower_bound_cycles").get<uint64_t>();
      out += fmt::format(
          "region {}: {} cycles (init {}, main {}, finish {}), lower bound {}; {} tiles, matrix units {:.1f} "
          "% "
          "busy, DDR read {} B, written {} B\n",
          i, r.report.total_cycles(), r.report.init_cycles, r.report.main_cycles, r.report.finish_cycles,
          bound, r.tiles, 100 * r.report.pod_utilization, r.report.ddr_read_bytes, r.report.ddr_write_bytes);
      out += fmt::format("{:>10} {:>6} {:>12} {:>7} {:>11} {:>11}  {:<14} {}\n", "cycles", "%", "MACs",
                         "MAC %", "DDR read", "DDR write", "kind", "ONNX operators");
      auto cycles = charged(r);
      std::vector<size_t> order(r.layers.size());
      for (size_t k = 0; k < order.size(); ++k) order[k] = k;
      std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return cycles[a] > cycles[b]; });
      for (size_t k : order) out += row(r, r.layers[k], cycles[k]);
    }
    return out;
  }

  std::string row(const RegionProfile& r, const LayerProfile& l, uint64_t cycles) const {
    double share = r.report.main_cycles == 0
                       ? 0
                       : 100 * static_cast<double>(cycles) / static_cast<double>(r.report.main_cycles);
    return fmt::format("{:>10} {:>6.2f} {:>12} {:>7.1f} {:>11} {:>11}  {:<14} {}\n", cycles, share, l.macs,
                       100 * utilization(r, l, cycles), l.ddr_read_bytes, l.ddr_write_bytes, l.kind, l.label);
  }

  double utilization(const RegionProfile& r, const LayerProfile& l, uint64_t cycles) const {
    double peak = static_cast<double>(cycles) * machine_.fp16_macs * r.tiles;
    return peak == 0 ? 0 : static_cast<double>(l.macs) / peak;
  }

  Json json() const {
    Json regions = Json::array();
    for (size_t i = 0; i < regions_.size(); ++i) {
      const RegionProfile& r = regions_[i];
      auto cycles = charged(r);
      Json layers = Json::array();
      for (size_t k = 0; k < r.layers.size(); ++k) {
        const LayerProfile& l = r.layers[k];
        layers.push_back(
            {{"layer", l.layer},
             {"kind", l.kind},
             {"operators", l.label},
             {"cycles", cycles[k]},
             {"begin", l.begin == UINT64_MAX ? 0 : l.begin},
             {"end", l.end},
             {"macs", l.macs},
             {"mac_utilization", utilization(r, l, cycles[k])},
             {"ddr_read_bytes", l.ddr_read_bytes},
             {"ddr_write_bytes", l.ddr_write_bytes},
             {"busy_cycles",
              {{"dma_in", l.busy[0]}, {"dma_out", l.busy[1]}, {"pod", l.busy[2]}, {"pe", l.busy[3]}}}});
      }
      regions.push_back({{"id", i},
                         {"init_cycles", r.report.init_cycles},
                         {"main_cycles", r.report.main_cycles},
                         {"finish_cycles", r.report.finish_cycles},
                         {"pod_utilization", r.report.pod_utilization},
                         {"ddr_read_bytes", r.report.ddr_read_bytes},
                         {"ddr_write_bytes", r.report.ddr_write_bytes},
                         {"macs", r.report.macs},
                         {"layers", std::move(layers)}});
    }
    return {{"schema", "mrvlc-profile-1"}, {"model", folder_.name}, {"regions", std::move(regions)}};
  }

  // pid = region, tid = tile and queue; one cycle is written as one nanosecond (times in microseconds).
  std::string trace() const {
    Json events = Json::array();
    for (size_t i = 0; i < regions_.size(); ++i) {
      const RegionProfile& r = regions_[i];
      InstructionIndex index(map_, static_cast<uint32_t>(i));
      for (uint32_t t = 0; t < r.tiles * 4; ++t) {
        events.push_back({{"ph", "M"},
                          {"name", "thread_name"},
                          {"pid", i},
                          {"tid", t},
                          {"args", {{"name", fmt::format("tile {} {}", t / 4, kQueues[t % 4])}}}});
      }
      // Events count from the start of their section; the sections run one after the other.
      const uint64_t begin[] = {0, r.report.init_cycles, r.report.init_cycles + r.report.main_cycles};
      for (const sim::Event& e : r.report.events) {
        const auto* row = index.find(e.section, e.instruction);
        std::string label = row == nullptr ? "?" : labels_.of(row->expr);
        events.push_back(
            {{"ph", "X"},
             {"name", label},
             {"pid", i},
             {"tid", e.tile * 4u + static_cast<uint32_t>(e.queue)},
             {"ts", static_cast<double>(begin[static_cast<size_t>(e.section)] + e.start) / 1000},
             {"dur", static_cast<double>(e.end - e.start) / 1000},
             {"args",
              {{"section", kSections[static_cast<size_t>(e.section)]}, {"instruction", e.instruction}}}});
      }
    }
    return Json{{"traceEvents", std::move(events)}, {"displayTimeUnit", "ns"}}.dump() + "\n";
  }

  const ProfileOptions& options_;
  const OutputFolder& folder_;
  Json map_;
  idmap::Labels labels_;
  target::Machine machine_;
  std::vector<RegionProfile> regions_;
};

}  // namespace

Result<std::string> profile(const ProfileOptions& options) {
  MRVLC_ASSIGN(OutputFolder folder, open_output(options.out));
  MRVLC_ASSIGN(Json map, folder.json("idmap.json"));
  return folder.reading([&] { return Profiler(options, folder, std::move(map)).run(); });
}

}  // namespace mrvlc::driver
