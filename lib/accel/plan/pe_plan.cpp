// Iteration spaces made simple, and the largest blocks of them that fit.
#include "plan/pe_plan.h"

#include <algorithm>
#include <numeric>

#include "mrvlc/cost/limits.h"
#include "mrvlc/support/checked.h"
#include "primitive/transfer.h"

namespace mrvlc::accel {
namespace {

constexpr int64_t kMinBlockBytes = 8 << 10;  // smaller blocks cost more in latency than they gain in overlap
constexpr int64_t kBlocksWanted = 4;         // a tile, so that loads, work and stores overlap
constexpr size_t kInstructionDims = 5;

template <class F>
void each_operand(PeGroup& g, F f) {
  for (PeStage& s : g.stages) {
    f(s.dst);
    f(s.a);
    f(s.b);
  }
}
template <class F>
void each_operand(const PeGroup& g, F f) {
  for (const PeStage& s : g.stages) {
    f(s.dst);
    f(s.a);
    f(s.b);
  }
}

void keep_dims(PeGroup& g, const std::vector<size_t>& order) {
  auto pick = [&](auto& list) {
    auto old = list;
    list.clear();
    for (size_t d : order) list.push_back(old[d]);
  };
  pick(g.dims);
  for (PeTemp& t : g.temps) pick(t.spans);
  each_operand(g, [&](PeOperand& o) {
    if (o.kind != PeOperand::Kind::External) return;
    pick(o.view.strides);
    o.view.dims = g.dims;
  });
}

// Strides of the operand that spans most elements; the first such, results before operands. Loops run in the
// order in which it lies in memory: what is moved most is moved in the longest runs.
Dims leading_strides(const PeGroup& g) {
  int64_t most = -1;
  Dims best(g.dims.size(), 0);
  each_operand(g, [&](const PeOperand& o) {
    if (o.kind != PeOperand::Kind::External) return;
    int64_t n = 1;
    for (size_t d = 0; d < g.dims.size(); ++d)
      if (o.view.strides[d] != 0) n *= g.dims[d];
    if (n > most) {
      most = n;
      best = o.view.strides;
    }
  });
  return best;
}

// Dimensions join if every operand walks through both as one, and none leaves the row it is in: rows stay a
// dimension of their own, so that they can be cut over tiles.
bool joinable(const PeGroup& g, const std::vector<Buffer>& buffers, size_t d) {
  bool ok = true;
  for (const PeTemp& t : g.temps) ok = ok && t.spans[d] == t.spans[d + 1];
  each_operand(g, [&](const PeOperand& o) {
    if (o.kind != PeOperand::Kind::External) return;
    ok = ok && o.view.strides[d] == o.view.strides[d + 1] * g.dims[d + 1];
    int64_t pitch = buffers[o.view.buffer].pitch / isa::data_bytes(o.view.type);
    bool row_outside = o.view.buffer != kWeights && pitch > 1 && o.view.strides[d] % pitch == 0;
    ok = ok && !(row_outside && o.view.strides[d + 1] % pitch != 0);
  });
  return ok;
}

void join(PeGroup& g, size_t d) {
  auto drop = [&](auto& list) { list.erase(list.begin() + static_cast<std::ptrdiff_t>(d)); };
  g.dims[d + 1] *= g.dims[d];
  drop(g.dims);
  for (PeTemp& t : g.temps) drop(t.spans);
  each_operand(g, [&](PeOperand& o) {
    if (o.kind != PeOperand::Kind::External) return;
    drop(o.view.strides);
    o.view.dims = g.dims;
  });
}

int64_t temp_size(const PeGroup& g, const PeTemp& t, const Dims& block) {
  int64_t n = isa::data_bytes(t.type);
  for (size_t d = 0; d < g.dims.size(); ++d)
    if (t.spans[d]) n *= block[d];
  return n;
}

struct Footprint {
  std::vector<int64_t> inputs, outputs, temps;
  int64_t total = 0;     // with second buffers
  int64_t transfer = 0;  // bytes on the bus for one block
};

struct OnChip {
  std::vector<bool> inputs, outputs;
};

int64_t add_views(std::vector<int64_t>& sizes, const PeGroup& g, const std::vector<View>& views,
                  const std::vector<bool>& on_chip, const Dims& block, const target::Machine& m, bool load,
                  int64_t& transfer) {
  int64_t total = 0;
  for (size_t k = 0; k < views.size(); ++k) {
    const View& v = views[k];
    if (k < on_chip.size() && on_chip[k]) {
      sizes.push_back(0);
      continue;
    }
    Packed p = pack_box(0, v.strides, slot_extents(g, v, block), isa::data_bytes(v.type), load);
    sizes.push_back(aligned(p.bytes, m));
    total += sizes.back();
    transfer += p.transfer.burst_bytes(m.ddr_burst);
  }
  return total;
}

Footprint footprint(const PeGroup& g, const PeSlots& slots, const OnChip& on_chip, const Dims& block,
                    bool twice, const target::Machine& m) {
  Footprint f;
  int64_t io = add_views(f.inputs, g, slots.inputs, on_chip.inputs, block, m, true, f.transfer);
  io += add_views(f.outputs, g, slots.outputs, on_chip.outputs, block, m, false, f.transfer);
  f.total = io * (twice ? 2 : 1) + slots.table_bytes;
  for (const PeTemp& t : g.temps) {
    f.temps.push_back(aligned(temp_size(g, t, block), m));
    f.total += f.temps.back();
  }
  return f;
}

// Whether one instruction may visit the block: repeated operands take no memory, but time.
bool visitable(const Dims& block) {
  auto left = static_cast<int64_t>(cost::kMaxElements);
  for (int64_t e : block) left /= std::max<int64_t>(e, 1);
  return left > 0;
}

int64_t block_count(const Dims& extents, const Dims& block) {
  int64_t n = 1;
  for (size_t d = 0; d < extents.size(); ++d) n *= ceil_div(extents[d], block[d]);
  return n;
}

// The dimension whose halving costs the least extra traffic; dims.size() when none can be halved.
size_t best_halving(const PeGroup& g, const PeSlots& slots, const OnChip& on_chip, const Dims& extents,
                    const Dims& block, const std::vector<bool>& whole, const target::Machine& m) {
  size_t best = g.dims.size();
  int64_t least = 0;
  for (size_t d = 0; d < g.dims.size(); ++d) {
    if (whole[d] || block[d] <= 1) continue;
    Dims trial = block;
    trial[d] = ceil_div(trial[d], 2);
    int64_t cost = footprint(g, slots, on_chip, trial, true, m).transfer * block_count(extents, trial);
    if (best == g.dims.size() || cost < least) {
      best = d;
      least = cost;
    }
  }
  return best;
}

// An instruction has five dimensions: the rest is walked block by block, smallest extents first.
void limit_rank(const PeGroup& g, Dims& block, const std::vector<bool>& whole) {
  auto wide = [&] {
    return static_cast<size_t>(std::ranges::count_if(block, [](int64_t e) { return e > 1; }));
  };
  while (wide() > kInstructionDims) {
    size_t smallest = g.dims.size();
    for (size_t d = 0; d < g.dims.size(); ++d)
      if (!whole[d] && block[d] > 1 && (smallest == g.dims.size() || block[d] < block[smallest]))
        smallest = d;
    if (smallest == g.dims.size()) return;
    block[smallest] = 1;
  }
}

}  // namespace

namespace {

PeGroup::Result locate_result(const PeGroup& g, const std::vector<Buffer>& buffers) {
  PeGroup::Result r;
  for (const PeStage& s : g.stages) {
    if (s.dst.kind != PeOperand::Kind::External) continue;
    const View& v = s.dst.view;
    const Buffer& b = buffers[v.buffer];
    int64_t bytes = isa::data_bytes(v.type);
    r = {{}, v.offset * bytes / b.pitch, b.rows, b.grain};
    for (int64_t stride : v.strides)
      r.steps.push_back(stride > 0 && stride * bytes % b.pitch == 0 ? stride * bytes / b.pitch : 0);
  }
  return r;
}

}  // namespace

void simplify(PeGroup& g, const std::vector<Buffer>& buffers) {
  std::vector<size_t> order;
  for (size_t d = 0; d < g.dims.size(); ++d)
    if (g.dims[d] != 1) order.push_back(d);
  if (order.empty()) order.push_back(0);
  Dims lead = leading_strides(g);
  std::ranges::stable_sort(order, [&](size_t a, size_t b) { return std::abs(lead[a]) > std::abs(lead[b]); });
  keep_dims(g, order);
  for (size_t d = 0; d + 1 < g.dims.size();) {
    if (joinable(g, buffers, d)) {
      join(g, d);
    } else {
      ++d;
    }
  }
  g.result = locate_result(g, buffers);
}

bool spans(const PeGroup& g, const PeOperand& o, size_t d) {
  if (o.kind == PeOperand::Kind::Temp) return g.temps[o.temp].spans[d];
  return o.kind == PeOperand::Kind::External && (o.view.strides[d] != 0 || g.dims[d] == 1);
}

namespace {

void add_once(std::vector<View>& list, const PeOperand& o) {
  if (o.kind == PeOperand::Kind::External && std::ranges::find(list, o.view) == list.end())
    list.push_back(o.view);
}

// One run of the innermost dimension behind the other.
bool follows(const View& first, const View& second) {
  const size_t inner = first.dims.size() - 1;
  if (first.strides[inner] != 1 || second.offset != first.offset + first.dims[inner]) return false;
  const int64_t length = first.dims[inner] + second.dims[inner];
  for (size_t d = 0; d < inner; ++d)
    if (first.strides[d] < length && first.dims[d] != 1) return false;
  View alike = second;
  alike.offset = first.offset;
  alike.dims = first.dims;
  return alike == first;
}

std::vector<View> outputs_of(const PeGroup& g) {
  std::vector<View> out;
  for (const PeStage& s : g.stages) add_once(out, s.dst);
  if (out.size() < 2) return out;
  std::ranges::stable_sort(out, [](const View& a, const View& b) {
    return std::pair(a.buffer, a.offset) < std::pair(b.buffer, b.offset);
  });
  std::vector<View> joined;
  for (View& v : out) {
    if (!joined.empty() && follows(joined.back(), v)) {
      joined.back().dims.back() += v.dims.back();
    } else {
      joined.push_back(std::move(v));
    }
  }
  return joined;
}

}  // namespace

std::vector<bool> whole_dims(const PeGroup& g) {
  std::vector<bool> whole(g.dims.size(), false);
  for (const PeStage& s : g.stages) {
    if (!s.reduce) continue;
    for (size_t d = 0; d < g.dims.size(); ++d)
      if (!spans(g, s.dst, d)) whole[d] = true;
  }
  // Asked for every tile of every cut, where most groups have one result.
  const auto results = std::ranges::count_if(
      g.stages, [](const PeStage& s) { return s.dst.kind == PeOperand::Kind::External; });
  if (results < 2) return whole;
  for (const View& v : outputs_of(g))
    if (v.dims != g.dims) whole.back() = true;
  return whole;
}

PeSlots slots_of(const PeGroup& g) {
  PeSlots slots;
  slots.outputs = outputs_of(g);
  std::vector<View> made;
  for (const PeStage& s : g.stages) {
    for (const PeOperand* o : {&s.a, &s.b})
      if (std::ranges::find(made, o->view) == made.end()) add_once(slots.inputs, *o);
    add_once(made, s.dst);
    const int64_t bytes = s.epilogue.table_bytes();
    if (bytes > 0 &&
        std::ranges::find(slots.tables, s.epilogue.table, &EpilogueSpec::table) == slots.tables.end()) {
      slots.tables.push_back(s.epilogue);
      slots.table_bytes += bytes;
    }
  }
  return slots;
}

size_t output_slot(const PeSlots& slots, const View& result) {
  const auto holds = [&](const View& v) {
    return v.buffer == result.buffer && v.strides == result.strides && result.offset >= v.offset &&
           result.offset + result.dims.back() <= v.offset + v.dims.back();
  };
  return static_cast<size_t>(std::ranges::find_if(slots.outputs, holds) - slots.outputs.begin());
}

Dims slot_extents(const PeGroup& g, const View& slot, const Dims& block) {
  Dims out = block;
  if (slot.dims.back() != g.dims.back()) out.back() = slot.dims.back();
  return out;
}

bool fits_smallest(const PeGroup& g, const target::Machine& m) {
  std::vector<bool> whole = whole_dims(g);
  Dims block(g.dims.size(), 1);
  size_t wide = 0;
  for (size_t d = 0; d < block.size(); ++d)
    if (whole[d]) {
      block[d] = g.dims[d];
      ++wide;
    }
  return wide <= kInstructionDims && visitable(block) &&
         footprint(g, slots_of(g), {}, block, true, m).total <= m.ocm_bytes;
}

int64_t PePlan::workspace() const {
  int64_t depth = one_block ? 1 : 2, total = 0;
  for (int64_t b : input_bytes) total += b * depth;
  for (int64_t b : output_bytes) total += b * depth;
  for (int64_t b : temp_bytes) total += b;
  return total;
}

PePlan plan_pe(const PeGroup& g, const Cut& cut, int64_t budget, const target::Machine& m,
               const std::vector<bool>& input_on_chip, const std::vector<bool>& output_on_chip) {
  std::vector<bool> whole = whole_dims(g);
  PeSlots slots = slots_of(g);
  OnChip on_chip{input_on_chip, output_on_chip};
  PePlan plan;
  Dims extents = largest_box(g, cut);
  plan.block = extents;
  limit_rank(g, plan.block, whole);
  Footprint f = footprint(g, slots, on_chip, plan.block, false, m);
  int64_t target =
      f.transfer == 0 ? budget : std::min(std::max<int64_t>(f.total / kBlocksWanted, kMinBlockBytes), budget);
  auto done = [&] {
    plan.one_block = block_count(extents, plan.block) == 1;
    f = footprint(g, slots, on_chip, plan.block, !plan.one_block, m);
    return visitable(plan.block) && f.total <= budget && f.transfer <= target;
  };
  while (!done()) {
    size_t d = best_halving(g, slots, on_chip, extents, plan.block, whole, m);
    if (d == g.dims.size()) break;
    Dims smaller = plan.block;
    smaller[d] = ceil_div(smaller[d], 2);
    // Once it fits, smaller blocks must not cost more traffic than their overlap can save.
    int64_t now = f.transfer * block_count(extents, plan.block);
    int64_t then = footprint(g, slots, on_chip, smaller, true, m).transfer * block_count(extents, smaller);
    if (visitable(plan.block) && f.total <= budget && then > now + now / 8) break;
    plan.block = std::move(smaller);
  }
  plan.fits = f.total <= budget && visitable(plan.block);
  plan.input_bytes = f.inputs;
  plan.output_bytes = f.outputs;
  plan.temp_bytes = f.temps;
  return plan;
}

}  // namespace mrvlc::accel
