// report.html: the fixed page and, as JSON in it, the data that its script draws. Long series are packed
// (pack.h).
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "graph/page_data.h"
#include "mrvlc/report/report.h"
#include "mrvlc/support/base64.h"
#include "pack.h"
#include "page.h"
#include "reduce.h"

namespace mrvlc::report {
namespace {

// JSON text in the making; values are numbers or text made by json_string or base64.
class Writer {
 public:
  explicit Writer(const Limits& limits) : limits_(limits) {}

  std::string page(const Page& p) {
    out_ = "{\"schema\":\"mrvlc-page-1\"";
    text("model", p.model);
    text("sha256", p.sha256);
    text("target", p.target);
    text("precision", p.precision);
    number("tiles", p.tiles);
    number("ocm_bytes", p.ocm_bytes);
    number("clock_ghz", p.clock_ghz);
    number("onnx_nodes", p.onnx_nodes);
    number("on_accelerator", p.on_accelerator);
    number("on_cpu", p.on_cpu);
    number("folded", p.folded);
    number("mac_share_accelerator", p.mac_share_accelerator);
    number("arena_bytes", p.arena_bytes);
    number("arena_lower_bound_bytes", p.arena_lower_bound_bytes);
    number("host_weights_bytes", p.host_weights_bytes);
    number("macs", p.macs);
    number("host_macs", p.host_macs);
    number("conversion_bytes", p.conversion_bytes);
    number("conversion_seconds", p.conversion_seconds);
    expected_run(p.run);
    lines("expected", p.expected);
    text("expected_error", p.expected_error);
    text("accuracy", p.accuracy);
    names("bounds", bound_names());
    names("queues", queue_names());
    steps(p.steps);
    graph(p.graph);
    fallbacks(p.fallbacks, p.more_fallbacks);
    out_ += ",\"regions\":[";
    Shares shares = shares_of(p);
    for (size_t i = 0; i < p.regions.size(); ++i) {
      if (i > 0) out_ += ',';
      region(p.regions[i], shares);
    }
    return std::move(out_) + "]}";
  }

 private:
  // Regions share the limits in proportion to what they have.
  struct Shares {
    size_t bars = 0, stretches = 0, memory = 0;  // of all regions
  };
  static Shares shares_of(const Page& p) {
    Shares s;
    for (const Region& r : p.regions) {
      s.bars += r.bars.size();
      s.stretches += r.path.size();
      s.memory += r.memory.size();
    }
    return s;
  }
  static size_t share(size_t mine, size_t all, size_t limit) {
    if (all <= limit) return mine;
    return static_cast<size_t>(static_cast<double>(limit) / static_cast<double>(all) *
                               static_cast<double>(mine));
  }

  void key(const char* name) { out_ += fmt::format("{}\"{}\":", out_.back() == '{' ? "" : ",", name); }
  template <class T>
  void number(const char* name, T value) {
    key(name);
    out_ += fmt::format("{}", value);
  }
  void text(const char* name, std::string_view value) {
    key(name);
    out_ += json_string(value, limits_.text);
  }
  template <size_t N>
  void names(const char* name, const std::array<const char*, N>& list) {
    key(name);
    for (size_t i = 0; i < N; ++i) out_ += (i == 0 ? "[" : ",") + json_string(list[i], limits_.text);
    out_ += ']';
  }

  void expected_run(const ExpectedRun& r) {
    key("expected_time");
    out_ += r.known ? fmt::format(
                          "{{\"seconds\":{},\"host_only\":{},\"device\":{},\"launches\":{},\"borders\":{},"
                          "\"host\":{}}}",
                          r.seconds, r.host_only, r.device, r.launches, r.borders, r.host)
                    : "{\"seconds\":null}";
  }

  void lines(const char* name, const std::vector<std::string>& list) {
    key(name);
    out_ += '[';
    for (size_t i = 0; i < list.size(); ++i) out_ += (i == 0 ? "" : ",") + json_string(list[i], limits_.text);
    out_ += ']';
  }

  void graph(const std::optional<GraphDocument>& document) {
    if (!document || document->items() > limits_.graph_items) return;
    out_ += ',' + graphs_json(*document, limits_.text);
  }

  void steps(const std::vector<Step>& list) {
    key("steps");
    out_ += '[';
    for (const Step& s : list) {
      if (out_.back() != '[') out_ += ',';
      out_ += s.region ? fmt::format("{{\"region\":{},\"seconds\":{}}}", s.index, s.seconds)
                       : fmt::format("{{\"nodes\":{},\"seconds\":{}}}", s.nodes, s.seconds);
    }
    out_ += ']';
  }

  void fallbacks(const std::vector<Fallback>& list, uint64_t more) {
    size_t shown = std::min(list.size(), limits_.fallbacks);
    number("fallbacks_left_out", list.size() - shown + more);
    key("fallbacks");
    out_ += '[';
    for (size_t i = 0; i < shown; ++i) {
      const Fallback& f = list[i];
      out_ += i == 0 ? "[" : ",[";
      out_ += json_string(f.id, limits_.text) + ',' + json_string(f.name, limits_.text) + ',' +
              json_string(f.op_type, limits_.text) + ',' + json_string(f.reason, 2 * limits_.text) + ']';
    }
    out_ += ']';
  }

  void region(const Region& r, const Shares& all) {
    out_ += '{';
    number("id", r.id);
    text("file", r.file);
    number("tiles", r.tiles);
    number("init_cycles", r.init_cycles);
    number("main_cycles", r.main_cycles);
    number("finish_cycles", r.finish_cycles);
    number("pessimistic_cycles", r.pessimistic_cycles);
    number("lower_bound_cycles", r.lower_bound_cycles);
    number("macs", r.macs);
    number("executed_macs", r.executed_macs);
    number("ddr_read_bytes", r.ddr_read_bytes);
    number("ddr_write_bytes", r.ddr_write_bytes);
    number("weights_bytes", r.weights_bytes);
    number("ocm_peak_bytes", r.ocm_peak_bytes);
    number("ocm_highest_address_bytes", r.ocm_highest_address_bytes);
    number("pod_utilization", r.pod_utilization);
    number("pod_busy", r.pod_busy);
    layers(r.layers);
    bars(r, share(r.bars.size(), all.bars, limits_.bars));
    path(r.path, share(r.path.size(), all.stretches, limits_.stretches));
    memory(r.memory, share(r.memory.size(), all.memory, limits_.memory_uses));
    out_ += '}';
  }

  // Columns in the order of `layerColumns` in page/data.js.
  void layers(const std::vector<Layer>& list) {
    key("layers");
    out_ += '[';
    for (size_t i = 0; i < list.size(); ++i) {
      const Layer& l = list[i];
      out_ +=
          fmt::format("{}[{},{},{},{},{},{},{},{},{},{},{},{},{},{:.4f},[{}],[{}]]", i == 0 ? "" : ",",
                      l.number, json_string(l.operators, limits_.text), json_string(l.kind, limits_.text),
                      json_string(l.rule, limits_.text), json_string(l.cut, limits_.text), l.begin, l.end,
                      l.cycles, l.macs, l.executed_macs, l.ddr_read_bytes, l.ddr_write_bytes, l.weights_bytes,
                      l.mac_utilization, fmt::join(l.bound, ","), fmt::join(l.busy, ","));
    }
    out_ += ']';
  }

  void bars(const Region& r, size_t limit) {
    Lanes lanes = lanes_of(r);
    number("instructions", bar_count(lanes));
    number("bars_merged_below", merge_bars(lanes, limit));
    Packer p;
    for (const auto& lane : lanes) {
      p.number(lane.size());
      Bar last;
      for (const Bar& b : lane) {
        p.number(b.start - last.start);
        for (uint64_t v : {b.begin - b.start, b.moved - b.begin, b.end - b.moved, b.wait, b.bytes,
                           uint64_t{b.count}, uint64_t{b.bound}})
          p.number(v);
        p.difference(last.instruction, b.instruction);
        p.difference(last.layer, b.layer);
        last = b;
      }
    }
    packed("bars", p);
  }

  void path(std::vector<Stretch> list, size_t limit) {
    number("path_merged_below", merge_path(list, limit));
    Packer p;
    p.number(list.size());
    Stretch last;
    for (const Stretch& s : list) {
      p.difference(last.end, s.start);
      p.number(s.end - s.start);
      p.number(s.bound);
      p.difference(last.layer, s.layer);
      last = s;
    }
    packed("path", p);
  }

  void memory(std::vector<MemoryUse> list, size_t limit) {
    number("memory_left_out", drop_memory(list, limit));
    std::map<std::string, size_t> ids;
    std::vector<const std::string*> in_order;
    Packer p;
    p.number(list.size());
    uint64_t last = 0;
    for (const MemoryUse& u : list) {
      auto [it, fresh] = ids.emplace(u.name, in_order.size());
      if (fresh) in_order.push_back(&it->first);
      for (uint64_t v : {uint64_t{it->second}, uint64_t{u.kind}, uint64_t{u.tiles}, uint64_t{u.begin},
                         uint64_t{u.end} - u.begin, uint64_t{u.layer}, u.stop - u.start})
        p.number(v);
      p.difference(last, u.start);
      last = u.start;
    }
    key("memory_names");
    out_ += '[';
    for (size_t i = 0; i < in_order.size(); ++i)
      out_ += (i == 0 ? "" : ",") + json_string(*in_order[i], limits_.text);
    out_ += ']';
    packed("memory", p);
  }

  void packed(const char* name, const Packer& p) {
    key(name);
    out_ += '"' + base64(p.bytes()) + '"';
  }

  const Limits& limits_;
  std::string out_;
};

}  // namespace

const std::array<const char*, kBounds>& bound_names() {
  static constexpr std::array<const char*, kBounds> kNames = {"matrix unit", "vector unit", "on-chip port",
                                                              "DDR",         "waiting",     "instructions"};
  return kNames;
}

const std::array<const char*, kBounds>& bound_keys() {
  static constexpr std::array<const char*, kBounds> kKeys = {"matrix", "vector", "port",
                                                             "ddr",    "wait",   "fetch"};
  return kKeys;
}

const std::array<const char*, kQueues>& queue_names() {
  static constexpr std::array<const char*, kQueues> kNames = {"DMA in", "DMA out", "POD", "PE"};
  return kNames;
}

size_t main_bound(const std::array<uint64_t, kBounds>& bound) {
  auto most = std::ranges::max_element(bound);
  return *most == 0 ? kBounds : static_cast<size_t>(most - bound.begin());
}

std::string html(const Page& page, const Limits& limits) {
  return page_with(kReportPage, Writer(limits).page(page));
}

}  // namespace mrvlc::report
