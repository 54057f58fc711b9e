// Boxes packed for on-chip memory, and transfers as DMA instructions.
#include "primitive/transfer.h"

#include <algorithm>
#include <cstdlib>

#include "mrvlc/support/checked.h"

namespace mrvlc::accel {
namespace {

constexpr int64_t kMaxGap =
    8;  // a load fetches up to this many times the elements it needs to keep runs long

struct Axis {
  size_t dim = 0;
  int64_t count = 1, stride = 0;  // bytes, positive
  bool flipped = false;
};

// Axes that move in memory, outermost (largest stride) first.
std::vector<Axis> moving_axes(std::span<const int64_t> strides, std::span<const int64_t> extents,
                              int64_t element_bytes, int64_t& ddr) {
  std::vector<Axis> axes;
  for (size_t d = 0; d < strides.size(); ++d) {
    if (extents[d] <= 1 || strides[d] == 0) continue;
    Axis axis{d, extents[d], strides[d] * element_bytes, strides[d] < 0};
    if (axis.flipped) {
      ddr += (axis.count - 1) * axis.stride;
      axis.stride = -axis.stride;
    }
    axes.push_back(axis);
  }
  std::ranges::stable_sort(axes, std::greater<>(), &Axis::stride);
  return axes;
}

void add_level(Transfer& t, const Level& level) {
  // Levels are added innermost first and kept outermost first; one that continues the previous one joins it.
  if (!t.levels.empty()) {
    Level& inner = t.levels.front();
    if (level.ddr_stride == inner.count * inner.ddr_stride &&
        level.ocm_stride == inner.count * inner.ocm_stride) {
      inner.count *= level.count;
      return;
    }
  }
  t.levels.insert(t.levels.begin(), level);
}

}  // namespace

int64_t Transfer::bytes() const {
  int64_t n = run;
  for (const Level& l : levels) n *= l.count;
  return n;
}

int64_t Transfer::burst_bytes(int64_t burst) const {
  int64_t n = round_up(run, burst);
  for (const Level& l : levels) n *= l.count;
  return n;
}

Packed pack_box(int64_t ddr, std::span<const int64_t> strides, std::span<const int64_t> extents,
                int64_t element_bytes, bool load) {
  Packed p;
  p.strides.assign(strides.size(), 0);
  std::vector<Axis> axes = moving_axes(strides, extents, element_bytes, ddr);
  // Whether gaps are fetched depends on the view alone, so that a smaller box never needs more room than a
  // larger one.
  int64_t closest = 0;
  for (int64_t s : strides)
    if (s != 0 && (closest == 0 || std::abs(s) * element_bytes < closest))
      closest = std::abs(s) * element_bytes;
  int64_t run = element_bytes;  // contiguous so far, both in DDR and on chip
  size_t k = axes.size();
  for (; k > 0; --k) {
    const Axis& a = axes[k - 1];
    bool gap = load && k == axes.size() && a.stride == closest && a.stride <= kMaxGap * element_bytes;
    if (a.stride != run && !gap) break;
    p.strides[a.dim] = a.flipped ? -a.stride : a.stride;
    if (a.flipped) p.origin += (a.count - 1) * a.stride;
    run = (a.count - 1) * a.stride + run;
  }
  p.transfer.run = run;
  int64_t dense = run;
  for (; k > 0; --k) {
    const Axis& a = axes[k - 1];
    add_level(p.transfer, {a.count, a.stride, dense});
    p.strides[a.dim] = a.flipped ? -dense : dense;
    if (a.flipped) p.origin += (a.count - 1) * dense;
    dense *= a.count;
  }
  p.transfer.ddr = ddr;
  p.bytes = dense;
  return p;
}

namespace {

std::vector<isa::Dma> dmas(const Transfer& t, isa::Dma proto, bool load) {
  size_t extra = t.levels.size() > 3 ? t.levels.size() - 3 : 0;
  int64_t copies = 1;
  for (size_t k = 0; k < extra; ++k) copies *= t.levels[k].count;
  std::vector<isa::Dma> out;
  for (int64_t i = 0; i < copies; ++i) {
    isa::Dma d = proto;
    int64_t ddr = 0, ocm = 0, rest = i;
    for (size_t k = extra; k-- > 0;) {
      ddr += rest % t.levels[k].count * t.levels[k].ddr_stride;
      ocm += rest % t.levels[k].count * t.levels[k].ocm_stride;
      rest /= t.levels[k].count;
    }
    d.src += static_cast<uint64_t>(load ? ddr : ocm);
    d.dst += static_cast<uint64_t>(load ? ocm : ddr);
    size_t shift = 3 - (t.levels.size() - extra);
    for (size_t k = extra; k < t.levels.size(); ++k) {
      const Level& l = t.levels[k];
      size_t at = k - extra + shift;
      d.dims[at] = static_cast<uint32_t>(l.count);
      d.src_strides[at] = load ? l.ddr_stride : l.ocm_stride;
      d.dst_strides[at] = load ? l.ocm_stride : l.ddr_stride;
    }
    out.push_back(d);
  }
  return out;
}

}  // namespace

std::vector<isa::Dma> load_dmas(const Transfer& t, uint32_t ocm, uint8_t tiles) {
  isa::Dma d;
  d.src_space = isa::Space::Ddr;
  d.dst_space = isa::Space::Ocm;
  d.dst_tiles = tiles;
  d.src = static_cast<uint64_t>(t.ddr);
  d.dst = static_cast<uint64_t>(ocm + t.ocm);
  d.run_bytes = static_cast<uint32_t>(t.run);
  return dmas(t, d, true);
}

std::vector<isa::Dma> store_dmas(const Transfer& t, uint32_t ocm) {
  isa::Dma d;
  d.src_space = isa::Space::Ocm;
  d.dst_space = isa::Space::Ddr;
  d.src = static_cast<uint64_t>(ocm + t.ocm);
  d.dst = static_cast<uint64_t>(t.ddr);
  d.run_bytes = static_cast<uint32_t>(t.run);
  return dmas(t, d, false);
}

}  // namespace mrvlc::accel
