// MaxPool, AveragePool and the global ones (reductions).
#include <algorithm>
#include <limits>

#include "lower/axis_map.h"
#include "lower/conv_lowering.h"
#include "lower/sums.h"
#include "mrvlc/ops/op_kind.h"
#include "mrvlc/ops/params.h"
#include "mrvlc/support/checked.h"

namespace mrvlc::accel {
namespace {

// All of the image in one window: the order of summing is that of any other pool.
ops::PoolParams whole_image(const View& x, bool is_max) {
  ops::PoolParams p;
  p.batch = x.dims[0];
  p.channels = x.dims[1];
  p.is_max = is_max;
  p.input.assign(x.dims.begin() + 2, x.dims.end());
  p.kernel = p.input;
  p.strides = p.dilations = p.output = Dims(p.input.size(), 1);
  p.pads_begin = p.pads_end = Dims(p.input.size(), 0);
  return p;
}

Status lower_global(Lowering& l, const ir::Node& node, bool is_max) {
  View x = l.read(node.inputs[0]);
  Reduction r;
  int64_t count = 1;
  for (size_t d = 2; d < x.dims.size(); ++d) {
    r.axes.push_back(static_cast<int64_t>(d));
    count *= x.dims[d];
  }
  if (is_max) {
    r.op = isa::ReduceOp::Max;
  } else {
    r.alpha = 1.0f / static_cast<float>(count);
  }
  return reduce_to(l, x, r, l.last_result(), node.id);
}

// Padded positions (within the declared padding) that a window of an average covers, along one axis.
int64_t covered(const ops::PoolParams& p, size_t d, int64_t o) {
  int64_t left = p.pads_begin[d] + p.input[d] + p.pads_end[d] - o * p.strides[d];
  return std::clamp<int64_t>(ceil_div(std::max<int64_t>(left, 0), p.dilations[d]), 0, p.kernel[d]);
}

// In ceil mode the last windows may reach past the padding; those positions do not count.
Status correct_counts(Lowering& l, const ir::Node& node, const ops::PoolParams& p, const View& out) {
  Dims dims(out.dims.size(), 1);
  for (size_t d = 0; d < p.output.size(); ++d) dims[d + 2] = p.output[d];
  bool plane = p.output.size() == 2;
  bool needed = false;  // the last window covers least
  for (size_t d = 0; d < p.output.size(); ++d)
    needed = needed || covered(p, d, p.output[d] - 1) != p.kernel[d];
  if (!needed) return {};
  std::vector<float> factor;
  for (int64_t y = 0; y < (plane ? p.output[0] : 1); ++y)
    for (int64_t x = 0; x < p.output.back(); ++x) {
      int64_t all = p.kernel.back() * (plane ? p.kernel[0] : 1);
      int64_t n = covered(p, p.output.size() - 1, x) * (plane ? covered(p, 0, y) : 1);
      factor.push_back(static_cast<float>(all) / static_cast<float>(std::max<int64_t>(n, 1)));
    }
  PeBuilder b(l, out.dims, node.id);
  PeOperand t = b.temp();
  b.apply(isa::EwOp::Mul, t, b.view(out), b.view(l.constant(factor, dims, isa::DataType::F32)));
  return b.finish(t, out);
}

Status lower_window(Lowering& l, const ir::Node& node, const ops::PoolParams& p, const FoldedEpilogue& f) {
  WindowOp op;
  op.kind = WindowOp::Kind::Pool;
  op.owner = l.owner(node.id);
  set_window(op, p);
  op.groups = p.channels;
  op.pool = p.is_max              ? isa::PoolOp::Max
            : p.count_include_pad ? isa::PoolOp::AverageFixed
                                  : isa::PoolOp::AverageValid;
  const WindowPhase& phase = op.phases[0];
  op.pool_alpha = 1.0f / static_cast<float>(phase.kernel_h * phase.kernel_w);
  const View x = l.read(node.inputs[0]);
  op.x = image_of(isa::is_integer(x.type) ? l.with_inner(x, 1, node.id)
                                          : left_operand(l, x, 1, 1, product_terms({}, {}), 0, node.id));
  View out = writable(l, f.value, 1);
  out.quantization = l.last_result().quantization;
  op.out = image_of(out);
  op.epilogue = f.activation;
  l.add(std::move(op));
  if (!p.is_max && p.count_include_pad) MRVLC_TRY(correct_counts(l, node, p, out));
  out.quantization = l.result(f.value).quantization;  // moved as they are
  settle(l, f.value, out, node.id);
  return {};
}

// The greatest of each window along dimension d: the instruction for pools reads and writes fp16, the others
// have fp32. Positions outside are -infinity, which is greater than nothing.
Status max_along(Lowering& l, const ops::PoolParams& p, size_t axis, View& x, const View& to,
                 ir::NodeId expr) {
  size_t d = axis + 2;
  int64_t begin = p.pads_begin[axis], size = x.dims[d];
  int64_t needed = (p.output[axis] - 1) * p.strides[axis] + (p.kernel[axis] - 1) * p.dilations[axis] + 1;
  int64_t padded = std::max(needed, begin + size);
  if (padded != size) {
    std::vector<std::vector<Source>> maps;
    for (int64_t n : x.dims) maps.push_back(identity_map(n));
    maps[d].clear();
    for (int64_t o = 0; o < padded; ++o) {
      int64_t i = o < begin || o >= begin + size ? kFill : o - begin;
      maps[d].push_back({i, i, 0});
    }
    Dims dims = x.dims;
    dims[d] = padded;
    View wide = l.scratch(dims, channels_last_perm(dims.size()), isa::DataType::F32);
    copy_mapped(l, x, wide, maps, -std::numeric_limits<float>::infinity(), expr);
    x = wide;
  }
  PeBuilder b(l, to.dims, expr);
  auto tap = [&](int64_t k) {
    return b.view(slice(x, d, k * p.dilations[axis], p.strides[axis], p.output[axis]));
  };
  PeOperand most = tap(0);
  for (int64_t k = 1; k < p.kernel[axis]; ++k) {
    PeOperand next = b.temp();
    b.apply(isa::EwOp::Max, next, most, tap(k));
    most = next;
  }
  return b.finish(most, to);
}

// Columns, then rows.
Status max_of_floats(Lowering& l, const ir::Node& node, const ops::PoolParams& p) {
  View x = l.read(node.inputs[0]);
  for (size_t axis = p.input.size(); axis-- > 0;) {
    Dims dims = x.dims;
    dims[axis + 2] = p.output[axis];
    View to = axis == 0 ? l.result(node.outputs[0])
                        : l.scratch(dims, channels_last_perm(dims.size()), isa::DataType::F32);
    MRVLC_TRY(max_along(l, p, axis, x, to, node.id));
    x = to;
  }
  return {};
}

}  // namespace

Status lower_pool(Lowering& l) {
  const ir::Node& node = l.graph().node(l.layer().anchor);
  FoldedEpilogue f;
  f.value = l.last();
  const View x = l.read(node.inputs[0]);
  const bool global = node.is(Op::GlobalAveragePool, Op::GlobalMaxPool);
  if (global && isa::is_integer(x.type) && x.dims.size() <= 4) {
    MRVLC_TRY(lower_window(l, node, whole_image(x, node.is(Op::GlobalMaxPool)), f));
  } else if (global) {
    MRVLC_TRY(lower_global(l, node, node.is(Op::GlobalMaxPool)));
  } else {
    MRVLC_ASSIGN(ops::PoolParams p, ops::pool_params(ops::infer_context(l.graph(), node)));
    if (p.input.empty() || p.input.size() > 2)
      return make_diag<DiagCode::MRV0502>("pooling over " + std::to_string(p.input.size()) + " dimensions");
    bool whole = p.is_max && l.is_asked(f.value);
    MRVLC_TRY(whole ? max_of_floats(l, node, p) : lower_window(l, node, p, f));
  }
  return {};
}

}  // namespace mrvlc::accel
