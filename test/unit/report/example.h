// A region with `layers` layers of one POD and one copy instruction each.
#pragma once
#include <fmt/format.h>

#include "mrvlc/report/report.h"

namespace mrvlc::test {

inline report::Region example_region(uint32_t layers) {
  report::Region r;
  r.tiles = 2;
  r.main_cycles = uint64_t{layers} * 100;
  r.lower_bound_cycles = r.main_cycles / 2;
  for (uint32_t l = 0; l < layers; ++l) {
    uint64_t at = uint64_t{l} * 100;
    report::Layer layer;
    layer.number = l;
    layer.operators = fmt::format("conv{} (Conv)", l);
    layer.kind = "conv";
    layer.begin = at;
    layer.end = at + 100;
    layer.cycles = 100;
    layer.bound = {60, 0, 0, 30, 10};
    r.layers.push_back(layer);
    report::Bar bar;
    bar.start = at;
    bar.begin = at + 10;
    bar.moved = at + 40;
    bar.end = at + 60;
    bar.wait = 3;
    bar.bytes = uint64_t{l} << 20;
    bar.instruction = 2 * l;
    bar.layer = l;
    bar.tile = static_cast<uint8_t>(l % 2);
    bar.bound = 3;
    r.bars.push_back(bar);
    r.bars.push_back(bar);
    r.bars.back().queue = 2;
    r.bars.back().bound = 0;
    r.bars.back().instruction = 2 * l + 1;
    r.path.push_back({at, at + 60, l, 0});
    r.path.push_back({at + 60, at + 100, l, 3});
    r.memory.push_back(
        {fmt::format("value{}", l), 0, 3, l % 16 * 1024, l % 16 * 1024 + 512, at, at + 100, l});
  }
  return r;
}

inline report::Page example_page(uint32_t layers) {
  report::Page p;
  p.model = "net";
  p.sha256 = "0123456789abcdef";
  p.target = "cn10ka";
  p.precision = "fp16";
  p.tiles = 2;
  p.ocm_bytes = 1u << 20;
  p.regions.push_back(example_region(layers));
  return p;
}

}  // namespace mrvlc::test
