// report_pages FOLDER: pages for the browser test that no small compile gives: memory over time, many
// instructions, several regions, nothing at all, and names that want to break out. Made by a rule, not at
// random.
#include <fmt/format.h>

#include <cstdio>

#include "mrvlc/report/report.h"
#include "mrvlc/support/file.h"

using namespace mrvlc;

namespace {

constexpr uint32_t kOcm = 1u << 20;

report::Layer layer(uint32_t number, uint64_t begin, uint64_t cycles) {
  report::Layer l;
  l.number = number;
  l.operators = fmt::format("stage{0}/conv{1} (Conv) + stage{0}/relu{1} (Relu)", number / 8, number);
  l.kind = number % 7 == 6 ? "pool" : "conv";
  l.rule = l.kind;
  l.cut = number % 3 == 0 ? "rows x 8" : "channels x 8";
  l.begin = begin;
  l.end = begin + cycles;
  l.cycles = cycles;
  l.bound = {cycles / 2, cycles / 16, cycles / 8, cycles / 4, 0};
  l.bound[4] = cycles - l.bound[0] - l.bound[1] - l.bound[2] - l.bound[3];
  l.busy = {cycles, cycles / 3, 5 * cycles, cycles};
  l.macs = cycles * 1000;
  l.executed_macs = cycles * 900;
  l.ddr_read_bytes = cycles * 16;
  l.ddr_write_bytes = cycles;
  l.weights_bytes = cycles * 12;
  l.mac_utilization = 0.488;
  return l;
}

// `each` instructions a layer on every queue of every tile.
void add_bars(report::Region& r, uint32_t number, uint64_t begin, uint64_t cycles, uint32_t each) {
  for (uint32_t i = 0; i < each; ++i) {
    for (uint8_t lane = 0; lane < r.tiles * 4; ++lane) {
      report::Bar b;
      uint64_t slot = cycles / each;
      b.start = begin + i * slot + lane % 4u * slot / 8;
      b.begin = b.start + (lane % 4u < 2 ? slot / 16 : 0);
      b.moved = b.begin + slot / 2;
      b.end = b.moved + slot / 8;
      b.wait = (i + 1) * 3;
      b.bytes = lane % 4 < 2 ? slot * 8 : 0;
      b.instruction = static_cast<uint32_t>(r.bars.size());
      b.layer = number;
      b.tile = lane / 4;
      b.queue = lane % 4;
      b.bound = lane % 4 < 2 ? 3 : lane % 4 == 2 ? 0 : 1;
      r.bars.push_back(b);
    }
  }
}

void add_memory(report::Region& r, uint32_t number, uint64_t begin, uint64_t cycles) {
  uint32_t size = (32u << 10) * (1 + number % 5), at = number % 2 == 0 ? 0 : kOcm / 2;
  r.memory.push_back({fmt::format("stage{}/relu{}_out", number / 8, number), 0, 0xff, at, at + size, begin,
                      begin + 2 * cycles, number});
  uint32_t weights = kOcm / 4 + number % 3 * (64u << 10);
  r.memory.push_back({fmt::format("conv{}.weight", number), 1,
                      static_cast<uint8_t>(number % 3 == 0 ? 0x0f : 0xff), weights, weights + (48u << 10),
                      begin > cycles ? begin - cycles : 0, begin + cycles, number});
  if (number % 4 == 0)
    r.memory.push_back({"row buffer", 2, 0xff, kOcm - 4096, kOcm, begin, begin + cycles / 2, number});
}

report::Region region(uint32_t id, uint32_t tiles, uint32_t layers, uint32_t each) {
  report::Region r;
  r.id = id;
  r.file = fmt::format("net.region{}.mrvl", id);
  r.tiles = tiles;
  r.init_cycles = 500;
  uint64_t at = r.init_cycles;
  for (uint32_t l = 0; l < layers; ++l) {
    uint64_t cycles = 4000 + l * 7919 % 9000;
    r.layers.push_back(layer(l, at - r.init_cycles, cycles));
    add_bars(r, l, at, cycles, each);
    add_memory(r, l, at, cycles);
    uint64_t to = at;
    for (uint8_t b = 0; b < report::kBounds; ++b) {
      r.path.push_back({to, to + r.layers[l].bound[b], l, b});
      to += r.layers[l].bound[b];
    }
    at += cycles;
  }
  r.main_cycles = at - r.init_cycles;
  r.lower_bound_cycles = r.main_cycles * 9 / 10;
  r.macs = r.main_cycles * 1000;
  r.ddr_read_bytes = r.main_cycles * 16;
  r.ddr_write_bytes = r.main_cycles;
  r.weights_bytes = r.main_cycles * 12;
  r.executed_macs = r.macs - r.macs / 10;
  r.ocm_peak_bytes = kOcm - 4096;
  r.ocm_highest_address_bytes = kOcm;
  r.pod_utilization = 0.61;
  return r;
}

report::Page page(const std::string& model, std::vector<report::Region> regions) {
  report::Page p;
  p.model = model;
  p.sha256 = std::string(64, 'a');
  p.target = "cn10ka";
  p.precision = "fp16";
  p.tiles = regions.empty() ? 0 : regions[0].tiles;
  p.ocm_bytes = kOcm;
  p.clock_ghz = 1;
  p.onnx_nodes = 100;
  p.on_accelerator = regions.empty() ? 0 : 98;
  p.on_cpu = regions.empty() ? 100 : 2;
  p.mac_share_accelerator = regions.empty() ? 0 : 0.998;
  p.arena_bytes = 1u << 21;
  p.arena_lower_bound_bytes = 2000000;
  p.regions = std::move(regions);
  for (uint32_t i = 0; i < p.regions.size(); ++i) {
    p.steps.push_back({false, 0, 1 + i});
    p.steps.push_back({true, i, 0});
  }
  p.fallbacks = {{"main/3", "gather", "Gather", "No rule takes it: the indices are no progression."},
                 {"main/9", "head/top", "TopK", "There is no accelerator layer for TopK."}};
  return p;
}

// Every text that comes from the model.
report::Page hostile() {
  const std::string bad =
      "</script><script>window.broken=1</script><!--\"'`\\\n\x01\xff\xfe{{</"
      "style>&lt;\xe2\x80\xa8\xe2\x80\xae";
  report::Page p = page(bad, {region(0, 2, 6, 2)});
  for (auto& l : p.regions[0].layers) l.operators = l.cut = l.rule = bad;
  for (auto& u : p.regions[0].memory) u.name = bad;
  p.fallbacks = {{bad, bad, bad, bad + "<img src=x onerror=window.broken=1>"}};
  return p;
}

int write(const std::string& file, const report::Page& p, const report::Limits& limits = {}) {
  Status s = write_file_atomic(file, report::html(p, limits));
  if (!s.ok()) std::fprintf(stderr, "%s\n", format_diag(file, s.error()).c_str());
  return s.ok() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::string folder = std::string(argv[1]) + "/";
  int failed = write(folder + "memory.html", page("memory_net", {region(0, 8, 40, 4)}));
  failed += write(folder + "large.html", page("large_net", {region(0, 8, 400, 4)}));
  failed +=
      write(folder + "merged.html", page("merged_net", {region(0, 8, 400, 4)}), {3000, 500, 100, 1, 300});
  failed += write(folder + "regions.html", page("regions_net", {region(0, 4, 3, 2), region(1, 4, 9, 2)}));
  failed += write(folder + "host.html", page("host_net", {}));
  failed += write(folder + "hostile.html", hostile());
  return failed;
}
