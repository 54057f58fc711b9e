// What a layer costs the device and the compiler, estimated from shapes alone and from below, so that no
// estimate keeps a layer from the accelerator that it could run (docs/decisions/0013).
#include "mrvlc/accel/layer_cost.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "legal/kinds.h"
#include "mrvlc/ops/attributes.h"
#include "mrvlc/ops/op_kind.h"
#include "mrvlc/ops/params.h"
#include "mrvlc/support/checked.h"

namespace mrvlc::accel {
namespace {

constexpr int64_t kBlock = 16;                 // channels that the matrix unit takes at a time
constexpr int64_t kVisits = int64_t{1} << 26;  // elements that one instruction of the vector unit may visit

int64_t times(int64_t a, int64_t b) {
  return std::min(kCostCeiling, checked_mul(a, b).value_or(kCostCeiling));
}
int64_t plus(int64_t a, int64_t b) {
  return std::min(kCostCeiling, a + b);
}

class Estimate {
 public:
  Estimate(const ir::Graph& graph, const Layer& layer, const target::Machine& machine)
      : graph_(graph),
        layer_(layer),
        m_(machine),
        anchor_(graph.node(layer.anchor)),
        // Half of the accumulators are drained while the other half is filled.
        pixels_(std::max<int64_t>(1, machine.accumulator_pixels / 2)) {}

  LayerCost run() {
    values();
    cost_.instructions = times(2, cost_.device_bytes / m_.ocm_bytes);
    of_kind(ops::infer_context(graph_, anchor_));
    return cost_;
  }

 private:
  void of_kind(const ops::InferContext& context) {
    switch (layer_.kind) {
      case LayerKind::Conv:
        if (auto p = ops::conv_params(context); p.ok()) convolution(*p, false);
        return;
      case LayerKind::ConvTranspose:
        if (auto p = ops::conv_transpose_params(context); p.ok()) convolution(*p, true);
        return;
      case LayerKind::QlinearConv:
      case LayerKind::IntegerConv:
        if (auto p = ops::integer_conv_params(graph_, anchor_); p.ok()) convolution(*p, false);
        return;
      case LayerKind::Pool:
        if (anchor_.is(Op::GlobalAveragePool, Op::GlobalMaxPool)) return;
        if (auto p = ops::pool_params(context); p.ok()) pool(*p);
        return;
      case LayerKind::Fc:
      case LayerKind::Matmul:
        return product();
      case LayerKind::Resize:
        if (auto p = ops::resize_params(context); p.ok()) resize(*p);
        return;
      case LayerKind::Move:
        if (anchor_.is(Op::Tile)) tile();
        if (anchor_.is(Op::DepthToSpace, Op::SpaceToDepth)) blocks();
        return;
      case LayerKind::Dequantize:
      case LayerKind::Elementwise:
      case LayerKind::Reduce:
      case LayerKind::Softmax:
      case LayerKind::Norm:
      case LayerKind::Concat:
      case LayerKind::Reshape:
        return;
    }
  }
  const Shape& shape(ir::ValueId v) const { return graph_.value(v).type.shape; }
  static int64_t elements(const Shape& s) {
    int64_t n = 1;
    for (int64_t d : s) n = times(n, d);
    return n;
  }
  const Shape& in(size_t i) const { return shape(anchor_.inputs[i]); }
  const Shape& out() const { return shape(anchor_.outputs[0]); }
  bool constant(size_t i) const { return graph_.is_constant(anchor_.inputs[i]); }

  // Of an element: fp16, or integers as they are, which numbers made of them are read as.
  int64_t stored_bytes(ir::ValueId v) const {
    const ir::Value& value = graph_.value(v);
    const bool result = value.kind == ir::ValueKind::Result;
    if (result && graph_.node(value.producer).is(Op::DequantizeLinear)) return 1;
    return is_byte(value.type.elem) ? 1 : 2;
  }
  int64_t operand_bytes() const { return stored_bytes(anchor_.inputs[0]); }

  // What the layer reads and makes, each value once; values inside of it are not stored.
  void values() {
    std::set<ir::ValueId> inside, seen;
    for (ir::NodeId n : layer_.nodes)
      for (ir::ValueId v : graph_.node(n).outputs) inside.insert(v);
    const auto& last = graph_.node(layer_.nodes.back()).outputs;
    seen.insert(last.begin(), last.end());
    for (ir::NodeId n : layer_.nodes)
      for (ir::ValueId v : graph_.node(n).inputs)
        if (v.valid() && !inside.contains(v)) seen.insert(v);
    for (ir::ValueId v : seen) {
      if (!v.valid()) continue;
      int64_t bytes = times(graph_.value(v).type.elements(), stored_bytes(v));
      int64_t& sum = graph_.is_constant(v) ? cost_.weight_bytes : cost_.device_bytes;
      sum = plus(sum, bytes);
    }
  }

  // Instructions for `rows` x `cols` outputs, each at most `most` pixels.
  static int64_t pieces(int64_t rows, int64_t cols, int64_t most) {
    if (cols >= most) return times(rows, ceil_div(cols, most));
    return ceil_div(rows, most / std::max<int64_t>(cols, 1));
  }

  static int64_t size(const std::vector<int64_t>& list, size_t from_end) {
    return list.size() > from_end ? list[list.size() - 1 - from_end] : 1;
  }

  // Products of one instruction: its pixels with weights that lie on chip.
  int64_t by_products(int64_t macs) const {
    int64_t weights = m_.ocm_bytes / 2;
    return macs / std::max<int64_t>(1, times(pixels_, weights));
  }

  void convolution(const ops::ConvParams& p, bool transposed) {
    int64_t group_in = p.in_channels / p.group, group_out = p.out_channels / p.group, taps = 1;
    for (int64_t k : p.kernel) taps = times(taps, k);
    bool depthwise = group_in == 1 && p.group > 1;
    int64_t rows = size(p.output, 1), cols = size(p.output, 0), phase_rows = 1, phase_cols = 1;
    if (transposed) {
      phase_rows = std::min(size(p.strides, 1), rows);
      phase_cols = std::min(size(p.strides, 0), cols);
      // Phases of a row may be channels of one operation.
      bool merged = p.group == 1 && times(phase_cols, group_out) <= kBlock;
      rows = ceil_div(rows, phase_rows);
      cols = ceil_div(cols, phase_cols);
      if (merged) phase_cols = 1;
    }
    bool pointwise = taps == 1 && size(p.strides, 0) == 1 && size(p.strides, 1) == 1;
    int64_t each = pointwise ? pieces(times(rows, cols), 1, pixels_) : pieces(rows, cols, pixels_);
    cost_.copies = cost_.entries = times(phase_rows, phase_cols);
    if (!transposed) window_block(p, depthwise || p.group == 1 ? kBlock : group_in);
    int64_t parts = depthwise ? group_out : p.group;
    int64_t count = times(times(times(p.batch, parts), cost_.entries), each);
    int64_t weights =
        depthwise ? times(times(taps, p.group), times(group_out, operand_bytes()))
                  : times(times(p.group, ceil_div(group_out, kBlock)),
                          times(std::max(taps, cost_.entries), times(group_in, operand_bytes() * kBlock)));
    cost_.weight_bytes = weights;
    int64_t macs = times(times(times(rows, cols), times(p.batch, taps)), times(group_in, p.out_channels));
    cost_.instructions = plus(cost_.instructions, std::max(count, depthwise ? 0 : by_products(macs)));
  }

  // The input of a single output, and of the next when there is one, which comes while this one is computed.
  void window_block(const ops::WindowParams& p, int64_t channels) {
    int64_t bytes = times(channels, operand_bytes());
    bool several = false;
    for (size_t d = 0; d < p.kernel.size(); ++d) {
      int64_t span = plus(times(p.kernel[d] - 1, p.dilations[d]), 1);
      bytes = times(bytes, std::clamp<int64_t>(p.input[d], 1, span));
      several = several || p.output[d] > 1;
    }
    cost_.block = times(bytes, several ? 2 : 1);
  }

  void pool(const ops::PoolParams& p) {
    int64_t taps = 1;
    window_block(p, std::min(kBlock, p.channels));
    for (int64_t k : p.kernel) taps = times(taps, k);
    int64_t most = std::clamp<int64_t>(kVisits / times(taps, kBlock), 1, pixels_);
    int64_t each = pieces(size(p.output, 1), size(p.output, 0), most);
    cost_.instructions = plus(cost_.instructions, times(p.batch, each));
  }

  void product() {
    const Shape &a = in(0), &b = in(1);
    bool gemm = anchor_.is(Op::Gemm), transposed = gemm && ops::attr::trans_a(anchor_);
    int64_t k = a.empty() ? 1 : transposed ? a[0] : a.back();
    int64_t columns = out().empty() ? 1 : out().back(), rows = 1, batch = 1;
    for (size_t d = 0; d + 1 < out().size(); ++d) rows = times(rows, out()[d]);
    for (size_t d = 0; d + 2 < out().size(); ++d) batch = times(batch, out()[d]);
    bool weights = constant(1) && b.size() <= 2;
    if (weights) cost_.weight_bytes = times(times(ceil_div(columns, kBlock), k), 2 * kBlock);
    // Rows of matrices with the same weights follow each other; else each matrix has its own load and store.
    int64_t each = ceil_div(rows, std::max<int64_t>(batch, 1));
    int64_t count = weights ? ceil_div(rows, pixels_) : times(batch, plus(3, ceil_div(each, pixels_)));
    bool streams = cost_.device_bytes > times(m_.max_tiles, m_.ocm_bytes);
    if (!weights && streams) {
      // Two blocks of either operand on chip at a time; each pair of blocks has two loads and a product.
      int64_t side = std::max<int64_t>(1, m_.ocm_bytes / times(8, std::max<int64_t>(k, 1)));
      count = std::max(count, times(times(batch, 3), times(ceil_div(each, side), ceil_div(columns, side))));
    }
    cost_.entries = batch;
    cost_.instructions =
        plus(cost_.instructions, std::max(count, by_products(times(times(rows, columns), k))));
  }

  // Stretches of outputs whose sources advance evenly, about.
  static int64_t stretches(const ops::ResizeParams& p, size_t d, int64_t input) {
    constexpr int64_t kLargestPeriod = 16;
    int64_t n = p.output[d], period = n / std::max<int64_t>(1, std::gcd(n, input));
    if (n == input || n <= 1) return 1;
    if (period <= kLargestPeriod || p.mode != "nearest" || n > kLayerLimits.entries)
      return std::min(n, period);
    int64_t count = 1, step = -1;
    auto source = [&](int64_t o) { return static_cast<int64_t>(std::floor(p.source(d, o, input))); };
    for (int64_t o = 1, before = source(0); o < n; ++o) {
      int64_t now = source(o), by = now - before;
      if (by != step && step >= 0) ++count;
      step = by;
      before = now;
    }
    return count;
  }

  void resize(const ops::ResizeParams& p) {
    cost_.copies = 1;
    bool rows = false, cols = false;
    for (size_t d = 0; d < p.output.size(); ++d) {
      int64_t n = stretches(p, d, in(0)[d]);
      cost_.copies = p.mode == "nearest" ? times(cost_.copies, n) : plus(cost_.copies, n);
      if (p.output[d] == in(0)[d]) continue;
      cost_.entries = std::max(cost_.entries, p.output[d]);
      (d + 1 == p.output.size() ? cols : rows) = true;
    }
    // Linear: one dimension after the other, in fp32 between.
    if (p.mode != "nearest" && rows && cols)
      cost_.device_bytes =
          plus(cost_.device_bytes, times(times(elements(out()) / out().back(), in(0).back()), 4));
    // Through DDR each is cut over tiles and blocks, with loads and a store: more than 80 were counted.
    constexpr int64_t kStreamed = 64;
    bool streams = cost_.device_bytes > times(m_.max_tiles, m_.ocm_bytes);
    cost_.instructions = plus(cost_.instructions, times(cost_.copies, streams ? kStreamed : 1));
  }

  void tile() {
    cost_.copies = 1;
    for (size_t d = 0; d < out().size(); ++d) {
      if (out()[d] == in(0)[d]) continue;
      if (in(0)[d] != 1) cost_.copies = times(cost_.copies, out()[d] / std::max<int64_t>(1, in(0)[d]));
      cost_.entries = std::max(cost_.entries, out()[d]);
    }
    cost_.instructions = plus(cost_.instructions, cost_.copies);
  }

  // Six dimensions, of which a copy has three and its run.
  void blocks() {
    int64_t b = ops::attr::blocksize(anchor_);
    const Shape& wide = anchor_.is(Op::DepthToSpace) ? out() : in(0);
    if (wide.size() != 4 || b < 1) return;
    int64_t dims[] = {wide[1], wide[2] / b, b, wide[3] / b, b};
    std::ranges::sort(dims);
    cost_.instructions = plus(cost_.instructions, times(wide[0], dims[0]));
  }

  const ir::Graph& graph_;
  const Layer& layer_;
  const target::Machine& m_;
  const ir::Node& anchor_;
  int64_t pixels_;
  LayerCost cost_;
};

}  // namespace

LayerCost layer_cost(const ir::Graph& graph, const Layer& layer, const target::Machine& machine) {
  return Estimate(graph, layer, machine).run();
}

}  // namespace mrvlc::accel
