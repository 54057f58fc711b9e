// Blocks and loop orders of a window operation tried; the fastest by estimate that fits.
#include "plan/window_plan.h"

#include <algorithm>
#include <cmath>

#include "mrvlc/support/checked.h"
#include "primitive/cost_limits.h"
#include "primitive/transfer.h"

namespace mrvlc::accel {
namespace {

constexpr double kStepCycles = 48;  // what starting one more block costs beyond its work

struct Reach {
  int64_t lowest = 0, highest = 0;  // of input offsets over all phases and taps, for output 0 of each phase
};

Reach reach(const WindowOp& op, bool rows) {
  Reach r{INT64_MAX, INT64_MIN};
  for (const WindowPhase& p : op.phases) {
    int64_t origin = rows ? p.y0 : p.x0;
    int64_t span = ((rows ? p.kernel_h : p.kernel_w) - 1) * (rows ? op.dilation_h : op.dilation_w);
    r.lowest = std::min(r.lowest, origin);
    r.highest = std::max(r.highest, origin + span);
  }
  return r;
}

// Candidates from `all` down by halves.
std::vector<int64_t> halvings(int64_t all) {
  std::vector<int64_t> out;
  for (int64_t v = std::max<int64_t>(all, 1);; v = ceil_div(v, 2)) {
    out.push_back(v);
    if (v == 1) return out;
  }
}

// Largest range of input rows (or columns) that `outputs` adjacent outputs can touch.
int64_t input_extent(int64_t outputs, int64_t lattice, int64_t stride, int64_t lowest, int64_t highest,
                     int64_t size) {
  // Phases may start up to one lattice point apart.
  int64_t points = ceil_div(outputs, lattice) - 1 + (lattice > 1 ? 1 : 0);
  return std::clamp<int64_t>(points * stride + highest - lowest + 1, 1, size);
}

class PlanSearch {
 public:
  PlanSearch(const WindowOp& op, const Cut& cut, const Streams& streams, int64_t budget,
             const target::Machine& m)
      : op_(cut.sparse ? sparse_rows(op, 0) : op),
        cut_(cut),
        s_(streams),
        budget_(budget),
        m_(m),
        g_(op_),
        rows_(reach(op_, true)),
        cols_(reach(op_, false)) {
    for (uint32_t t = 0; t < cut.parts(); t += static_cast<uint32_t>(cut.channels)) {
      runs_.emplace_back();
      for (const RowRun& r : row_runs(op, cut, tile_rows(op, cut, t))) runs_.back().push_back(r.rows.size());
    }
  }

  std::optional<WindowPlan> run() {
    int64_t rows_tile = longest_run(), units_tile = tile_units(g_, cut_, 0).size();
    WindowPlan p;
    bool found = false;
    // Blocks as high as they are wide read least around their edges. But results that stay on chip are sent
    // by whole rows.
    for (int64_t cols : halvings(op_.out_w)) {
      if (found && !(s_.out && cut_.parted)) break;
      found = try_blocks(p, rows_tile, units_tile, cols, g_.all_channels) || found;
    }
    if (!found && op_.kind == WindowOp::Kind::Conv && op_.phases.size() == 1)
      try_split(p, rows_tile, units_tile);
    return best_;
  }

 private:
  int64_t longest_run() const {
    int64_t most = 1;
    for (const std::vector<int64_t>& tile : runs_)
      for (int64_t rows : tile) most = std::max(most, rows);
    return most;
  }

  bool keeps_input() const { return s_.x && g_.shared_input && cut_.parted; }
  bool streamed() const { return s_.x || s_.out || (op_.has_residual && s_.residual); }

  bool try_blocks(WindowPlan p, int64_t rows_tile, int64_t units_tile, int64_t cols, int64_t k) {
    bool found = false;
    p.cols = cols;
    p.k = k;
    for (int64_t units : halvings(units_tile))
      for (int64_t rows : halvings(rows_tile)) {
        // With nothing to stream there is nothing to overlap with: the largest blocks, which come first, are
        // best.
        if (found && !streamed()) return true;
        for (bool outer : {true, false}) {
          p.units = units;
          p.rows = rows;
          p.weights_outer = outer;
          p.keep_x = false;
          found = consider(p, units_tile) || found;
        }
        // All blocks of the input stay, while weights pass.
        p.weights_outer = p.keep_x = true;
        if (keeps_input() && units < units_tile && !p.split) found = consider(p, units_tile) || found;
      }
    return found;
  }

  // Tap by tap and, within a tap, some channels at a time: the order of summation stays.
  void try_split(WindowPlan p, int64_t rows_tile, int64_t units_tile) {
    p.split = true;
    for (int64_t cols : halvings(op_.out_w))
      for (int64_t k : halvings(ceil_div(g_.all_channels, 16))) {
        k = std::min(k * 16, g_.all_channels);
        if (k == g_.all_channels && g_.taps == 1) continue;
        if (try_blocks(p, rows_tile, op_.groups > 1 ? 1 : units_tile, cols, k)) return;
      }
  }

  bool consider(WindowPlan p, int64_t units_tile) {
    bool split = p.split;
    int64_t out_channels = std::min(p.units * g_.unit_out, op_.out_channels());
    // From one part of the sum to the next, the sums of all its pixels stay in the accumulators.
    if (split && p.rows * p.cols * ceil_div(out_channels, 16) > m_.accumulator_pixels) return false;
    if (op_.kind == WindowOp::Kind::Pool && pixels_at_once(op_, out_channels, m_) == 0) return false;
    sizes(p, out_channels, split);
    int64_t pixel_blocks = pixel_blocks_of(p), unit_blocks = ceil_div(units_tile, p.units);
    int64_t k_blocks = ceil_div(g_.all_channels, p.k) * (split ? g_.taps : 1);
    int64_t steps = pixel_blocks * unit_blocks * k_blocks;
    int64_t x_loads = x_load_count(p, pixel_blocks, unit_blocks, k_blocks);
    int64_t w_loads = w_load_count(p, pixel_blocks, unit_blocks, k_blocks);
    // Twice, where a second one is fetched while the first is at work.
    p.x_depth = static_cast<uint32_t>(p.keep_x ? pixel_blocks : std::min<int64_t>(x_loads, 2));
    p.w_depth = w_loads > 1 ? 2 : 1;
    p.out_depth = pixel_blocks * unit_blocks > 1 ? 2 : 1;
    p.weights_once = op_.kind != WindowOp::Kind::Pool && !op_.dynamic_weights && k_blocks == 1 &&
                     (unit_blocks == 1 || pixel_blocks == 1 || p.weights_outer);
    bool constant = op_.kind != WindowOp::Kind::Pool && !op_.dynamic_weights;
    if (constant && !streamed() && !p.weights_once && k_blocks == 1) return false;
    int64_t chunk = p.w_bytes + p.bias_bytes;
    if (p.weights_once && p.units > 1 && chunk > weight_chunk_bytes(m_)) return false;
    int64_t total = p.workspace() + (p.weights_once ? chunk * p.w_depth : 0);
    total += op_.epilogue.table_bytes();
    if (total > budget_) return false;
    p.cycles = estimate(p, out_channels, static_cast<double>(steps), static_cast<double>(x_loads),
                        static_cast<double>(w_loads), static_cast<double>(pixel_blocks * unit_blocks));
    constexpr double kParts = 1.03;  // whole rows unless parts of them are that much faster
    const double cost = p.cycles * (p.cols < op_.out_w ? kParts : 1);
    if (!best_ || cost < least_) {
      best_ = p;
      least_ = cost;
    }
    return true;
  }

  void sizes(WindowPlan& p, int64_t out_channels, bool split) const {
    int64_t in_rows =
        input_extent(p.rows, op_.lattice_h, op_.stride_h, rows_.lowest, rows_.highest, op_.in_h);
    int64_t in_cols =
        input_extent(p.cols, op_.lattice_w, op_.stride_w, cols_.lowest, cols_.highest, op_.in_w);
    int64_t channels = g_.shared_input || split ? p.k : std::min(p.units * g_.unit_in, op_.in_channels());
    p.x_bytes = s_.x ? aligned(in_rows * in_cols * channels * op_.x.element_bytes(), m_) : 0;
    p.w_bytes = op_.dynamic_weights && !s_.w ? 0 : aligned(weight_bytes(p, out_channels), m_);
    p.bias_bytes = op_.bias >= 0 ? aligned(op_.constant_bytes(out_channels), m_) : 0;
    int64_t elements = p.rows * p.cols * out_channels;
    p.out_bytes = s_.out ? aligned(elements * op_.out.element_bytes(), m_) : 0;
    p.residual_bytes = op_.has_residual && s_.residual ? aligned(elements * 2, m_) : 0;
  }

  int64_t weight_bytes(const WindowPlan& p, int64_t out_channels) const {
    if (op_.kind == WindowOp::Kind::Pool) return 0;
    if (op_.kind == WindowOp::Kind::Depthwise) return g_.taps * out_channels * op_.weight_bytes();
    if (op_.dynamic_weights) return p.k * out_channels * 2;
    return p.units * g_.unit_blocks * (p.split ? 1 : g_.taps) * p.k * op_.lane_bytes();
  }

  int64_t pixel_blocks_of(const WindowPlan& p) const {
    int64_t most = 1;
    for (const std::vector<int64_t>& tile : runs_) {
      int64_t blocks = 0;
      for (int64_t rows : tile) blocks += ceil_div(rows, p.rows);
      most = std::max(most, blocks);
    }
    return most * ceil_div(op_.out_w, p.cols);
  }

  int64_t x_load_count(const WindowPlan& p, int64_t pixels, int64_t units, int64_t k) const {
    if (!g_.shared_input) return pixels * units * k;
    if (pixels * k == 1) return 1;
    if (p.keep_x) return pixels;
    return p.weights_outer || k > 1 ? pixels * units * k : pixels;
  }

  int64_t w_load_count(const WindowPlan& p, int64_t pixels, int64_t units, int64_t k) const {
    if (op_.kind == WindowOp::Kind::Pool) return 0;
    if (units * k == 1 && (!op_.dynamic_weights || op_.batch() == 1)) return 1;
    return p.weights_outer && k == 1 && !(op_.dynamic_weights && op_.batch() > 1) ? units
                                                                                  : pixels * units * k;
  }

  double estimate(const WindowPlan& p, int64_t out_channels, double steps, double x_loads, double w_loads,
                  double blocks) const {
    auto as_double = [](int64_t v) { return static_cast<double>(v); };
    double channel_parts = as_double(cut_.channels), row_parts = as_double(cut_.rows);
    double x = as_double(p.x_bytes) * x_loads * row_parts * (g_.shared_input ? 1 : channel_parts);
    x *= burst_factor(g_.shared_input ? p.k : std::min(p.units * g_.unit_in, op_.in_channels()),
                      op_.in_channels());
    double w = as_double(p.w_bytes) * w_loads * channel_parts;
    double out = as_double(p.out_bytes + p.residual_bytes) * blocks * channel_parts * row_parts;
    out *= burst_factor(out_channels, op_.out_channels());
    double ddr = (x + w + out) / m_.ddr_rate();
    double fill = (x / std::max(1.0, x_loads) + w / std::max(1.0, w_loads) + out / blocks) / m_.ddr_rate();
    double compute =
        window_cycles(op_, g_, p.rows, p.cols, p.units, p.k, m_) / (p.split ? as_double(g_.taps) : 1);
    return std::max(ddr, compute * steps) + fill + steps * kStepCycles;
  }

  // A block with some of the channels is moved pixel by pixel, each run rounded up to bursts.
  double burst_factor(int64_t channels, int64_t all) const {
    if (channels >= all) return 1;
    const int64_t bytes = op_.x.element_bytes();
    return static_cast<double>(round_up(channels * bytes, m_.ddr_burst)) /
           static_cast<double>(channels * bytes);
  }

  const WindowOp op_;  // of one residue, where the cut is sparse
  const Cut& cut_;
  const Streams& s_;
  int64_t budget_;
  const target::Machine& m_;
  WindowGeometry g_;
  Reach rows_, cols_;
  std::vector<std::vector<int64_t>> runs_;  // rows of each, by tile: of one image, and residue
  std::optional<WindowPlan> best_;
  double least_ = 0;
};

}  // namespace

std::optional<WindowPlan> plan_window(const WindowOp& op, const Cut& cut, const Streams& streams,
                                      int64_t budget, const target::Machine& machine) {
  return PlanSearch(op, cut, streams, budget, machine).run();
}

bool window_fits(const WindowOp& op, const target::Machine& machine) {
  return plan_window(op, {}, {}, machine.ocm_bytes, machine).has_value();
}

int64_t weight_chunk_bytes(const target::Machine& machine) {
  return std::max<int64_t>(machine.ocm_bytes / 16, 4096);
}

double window_cycles(const WindowOp& op, const WindowGeometry& g, int64_t rows, int64_t cols, int64_t units,
                     int64_t k, const target::Machine& m) {
  auto as_double = [](int64_t v) { return static_cast<double>(v); };
  int64_t out_channels = std::min(units * g.unit_out, op.out_channels());
  double pixels = as_double(rows * cols), phases = as_double(op.lattice_h * op.lattice_w);
  double channels = as_double(round_up(out_channels, 16)), lanes = m.pe_lanes;
  if (op.kind == WindowOp::Kind::Pool)
    return std::ceil(pixels * as_double(g.taps * out_channels) / lanes) + m.instruction_overhead;
  double cycles = 0;
  const int64_t depth = op.integers ? 32 : 16;  // reduction elements at once
  const double rate = op.integers ? m.int8_macs : m.fp16_macs;
  for (const WindowPhase& ph : op.phases) {
    bool dense = op.dilation_w == 1 && g.shared_input;
    int64_t runs = dense ? ph.kernel_h * ceil_div(ph.kernel_w * k, depth)
                         : ph.kernel_h * ph.kernel_w * ceil_div(k, depth);
    double px = std::max(1.0, pixels / phases), most = m.accumulator_pixels / 2.0;
    double instructions =
        std::ceil(px / most) * (op.groups > 1 && op.kind == WindowOp::Kind::Conv ? as_double(units) : 1);
    double drain = px / std::ceil(px / most) * 16 / lanes;
    if (op.kind == WindowOp::Kind::Depthwise) {
      double work = px * as_double(ph.kernel_h * ph.kernel_w) * channels /
                    (op.integers ? m.int8_depthwise_macs : m.depthwise_macs);
      cycles += std::max(work, px * channels / lanes) +
                instructions * (m.instruction_overhead + m.accumulation_fill + drain);
      continue;
    }
    double least = op.dynamic_weights ? m.strided_weight_block_cycles : m.weight_block_cycles;
    double block = std::max(px * 16 * as_double(depth) / rate, std::ceil(px / most) * least);
    double work = as_double(runs) * block, blocks = as_double(units * g.unit_blocks);
    cycles += std::max(work, px * 16 / lanes) * blocks +
              instructions * (m.instruction_overhead + m.accumulation_fill + drain);
  }
  return cycles;
}

}  // namespace mrvlc::accel
