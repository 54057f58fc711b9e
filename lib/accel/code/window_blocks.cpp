// The blocks of a WindowOp, tile by tile, in the order of the plan's loops.
#include <algorithm>

#include "code/window_block.h"
#include "mrvlc/support/checked.h"
#include "primitive/cost_limits.h"

namespace mrvlc::accel {
namespace {

class BlockLister {
 public:
  explicit BlockLister(const WindowTask& task)
      : t_(task), op_(task.op), p_(task.plan), tiles_(task.context.writer.tiles()) {
    const target::Machine& machine = t_.context.writer.machine();
    bool one_stripe = t_.rows(0).size() * op_.out_w * 2 <= machine.accumulator_pixels;
    waited_for_ = !t_.streams.out && p_.weights_once && one_stripe && shared_out();
    for (uint32_t t = 0; t < tiles_; ++t) {
      pixel_steps_ = std::max(pixel_steps_, pixel_blocks(t_.rows(t)).size());
      unit_steps_ = std::max(unit_steps_, unit_parts(t_.units(t)).size());
    }
  }

  std::vector<std::vector<WindowBlock>> run() const {
    std::vector<std::vector<WindowBlock>> blocks;
    for (uint32_t t = 0; t < tiles_; ++t) blocks.push_back(of_tile(t));
    return blocks;
  }

 private:
  std::vector<WindowBlock> of_tile(uint32_t tile) const {
    std::vector<WindowBlock> out;
    Span rows = t_.rows(tile), units = t_.units(tile);
    if (rows.empty() || units.empty()) return out;
    std::vector<WindowBlock> pixels = pixel_blocks(rows);
    pixels.resize(pixel_steps_);
    std::vector<Span> parts = unit_parts(units);
    parts.resize(unit_steps_);
    if (p_.weights_outer) {
      for (Span u : parts)
        for (const WindowBlock& b : pixels) add_sums(b, u, out);
    } else {
      for (const WindowBlock& b : pixels)
        for (Span u : parts) add_sums(b, u, out);
    }
    return out;
  }

  // The block of these pixels and channels: one, or as many as its reduction is split into.
  void add_sums(WindowBlock b, Span units, std::vector<WindowBlock>& out) const {
    b.units = units;
    int64_t taps = t_.taps_apart(), all = t_.geometry.all_channels;
    for (int64_t tap = 0; tap < taps; ++tap)
      for (int64_t k = 0; k < all; k += p_.k) {
        b.k = {k, std::min(all, k + p_.k)};
        b.tap = p_.split ? tap : -1;
        b.first = tap == 0 && k == 0;
        b.last = tap + 1 == taps && b.k.end == all;
        out.push_back(b);
      }
  }

  // The last part is small when others wait for it: what comes before it is on its way by then.
  std::vector<Span> unit_parts(Span units) const {
    std::vector<Span> parts;
    for (int64_t u = units.begin; u < units.end; u += p_.units)
      parts.push_back({u, std::min(units.end, u + p_.units)});
    if (waited_for_ && !parts.empty() && parts.back().size() > 1 && op_.kind == WindowOp::Kind::Conv) {
      int64_t cut = parts.back().end - 1;
      parts.push_back({cut, cut + 1});
      parts[parts.size() - 2].end = cut;
    }
    return parts;
  }

  std::vector<WindowBlock> pixel_blocks(Span rows) const {
    std::vector<WindowBlock> out;
    for (const RowRun& run : row_runs(op_, t_.cut, rows))
      for (int64_t y = run.rows.begin; y < run.rows.end; y += p_.rows)
        for (int64_t x = 0; x < op_.out_w; x += p_.cols) {
          WindowBlock b;
          b.image = run.image;
          b.residue = run.residue;
          b.rows = {y, std::min(run.rows.end, y + p_.rows)};
          b.cols = {x, std::min(op_.out_w, x + p_.cols)};
          b.x_rows = input_range(t_.at(b), b.rows, true);
          b.x_cols = input_range(op_, b.cols, false);
          out.push_back(b);
        }
    return out;
  }

  // Whether some tile needs what another one makes.
  bool shared_out() const {
    const CodegenContext& c = t_.context;
    const Residence& h = c.residences[op_.out.buffer];
    for (uint32_t t = 0; t < tiles_; ++t)
      for (const Touch& touch : touches(c.program.primitives[c.primitive], t_.cut, t, c.program))
        if (touch.write && (!h.copies.empty() || !contains(touch.rect, h.need[t]))) return true;
    return false;
  }

  const WindowTask& t_;
  const WindowOp& op_;
  const WindowPlan& p_;
  uint32_t tiles_;
  bool waited_for_ = false;  // other tiles need what a tile makes
  size_t pixel_steps_ = 0, unit_steps_ = 0;
};

// Of the tile with most to do; each has an instruction at least.
int64_t least_steps(const WindowTask& t) {
  const WindowPlan& p = t.plan;
  int64_t pixels = ceil_div(t.rows(0).size(), p.rows) * ceil_div(t.op.out_w, p.cols);
  int64_t parts = ceil_div(t.units(0).size(), p.units);
  int64_t sums = ceil_div(t.geometry.all_channels, p.k) * t.taps_apart();
  int64_t most = kMostInstructions + 1;
  return std::min(most, std::min(most, pixels) * std::min(most, parts) * std::min(most, sums));
}

}  // namespace

Span WindowTask::channels_in(const WindowBlock& b) const {
  if (geometry.shared_input) return b.k;
  if (op.kind != WindowOp::Kind::Conv || !plan.split) return in_channels(op, geometry, b.units);
  int64_t group = b.units.begin * op.group_in;
  return {group + b.k.begin, group + b.k.end};
}

Result<std::vector<std::vector<WindowBlock>>> window_blocks(const WindowTask& task) {
  if (least_steps(task) > kMostInstructions / task.cut.parts()) return too_many_instructions();
  return BlockLister(task).run();
}

}  // namespace mrvlc::accel
