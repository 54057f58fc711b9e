// Two timings of a binary side by side, by region and layer.
#include "profile/what_if.h"

#include "mrvlc/support/diag.h"

namespace mrvlc::driver {
namespace {

std::string change_text(uint64_t before, uint64_t after) {
  if (before == 0) return "-";
  const auto was = static_cast<double>(before), now = static_cast<double>(after);
  return fmt::format("{:+.1f} %", 100 * (now - was) / was);
}

uint64_t total(const std::vector<report::Region>& regions) {
  uint64_t cycles = 0;
  for (const report::Region& r : regions) cycles += r.cycles();
  return cycles;
}

std::string line(uint64_t before, uint64_t after, const std::string& what) {
  return fmt::format("{:>12} {:>12} {:>9}  {}\n", before, after, change_text(before, after), what);
}

}  // namespace

std::string what_if_text(const WhatIf& what_if, const std::vector<report::Region>& regions) {
  std::string out = fmt::format("what if: {}\n{:>12} {:>12} {:>9}\n", printable(what_if.changes, 400),
                                "cycles", "what if", "change");
  for (size_t i = 0; i < regions.size(); ++i) {
    const report::Region &before = regions[i], &after = what_if.regions[i];
    out += line(before.cycles(), after.cycles(), fmt::format("region {}", before.id));
    for (size_t l = 0; l < before.layers.size(); ++l)
      out += line(
          before.layers[l].cycles, after.layers[l].cycles,
          fmt::format("  layer {}: {}", before.layers[l].number, printable(before.layers[l].operators, 400)));
  }
  return out + line(total(regions), total(what_if.regions), "all regions");
}

Json what_if_json(const WhatIf& what_if, const std::vector<report::Region>& regions) {
  Json list = Json::array();
  for (size_t i = 0; i < regions.size(); ++i) {
    Json layers = Json::array();
    for (size_t l = 0; l < regions[i].layers.size(); ++l)
      layers.push_back({{"layer", regions[i].layers[l].number},
                        {"cycles", regions[i].layers[l].cycles},
                        {"what_if_cycles", what_if.regions[i].layers[l].cycles}});
    list.push_back({{"id", regions[i].id},
                    {"cycles", regions[i].cycles()},
                    {"what_if_cycles", what_if.regions[i].cycles()},
                    {"layers", std::move(layers)}});
  }
  return {{"changes", what_if.changes},
          {"cycles", total(regions)},
          {"what_if_cycles", total(what_if.regions)},
          {"regions", std::move(list)}};
}

}  // namespace mrvlc::driver
