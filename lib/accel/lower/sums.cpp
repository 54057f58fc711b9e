// Reductions dimension by dimension and part by part.
#include "lower/sums.h"

#include <algorithm>

#include "mrvlc/support/checked.h"

namespace mrvlc::accel {
namespace {

// What is reduced. Differences are computed where they are needed: stored, they would be fp32.
PeOperand operand(PeBuilder& b, const View& x, const std::optional<View>& less) {
  if (!less) return b.view(x);
  PeOperand t = b.temp();
  b.apply(isa::EwOp::Sub, t, b.view(x), b.view(*less));
  return t;
}

// Images (the last two of four dimensions) are summed row by row: tiles can share the work. What is left to
// reduce, in fp32: dimension 2.
Result<View> sum_rows(Lowering& l, const View& images, const Reduction& r, ir::NodeId expr) {
  Dims dims = images.dims;
  dims[3] = 1;
  View sums = l.scratch(dims, channels_last_perm(4), isa::DataType::F32);
  PeBuilder b(l, images.dims, expr);
  PeOperand t = b.reduced_temp({3});
  b.reduce(r.op, t, operand(b, images, r.less));
  MRVLC_TRY(b.finish(t, sums));
  return sums;
}

using isa::ReduceOp;

// The smallest block of a part fits any memory, however far apart its elements lie.
constexpr int64_t kPart = 1024;

bool order_matters(ReduceOp op) {
  return op != ReduceOp::Max && op != ReduceOp::Min;
}

// What combines results of `op`.
ReduceOp further(ReduceOp op) {
  return op == ReduceOp::SumOfSquares ? ReduceOp::Sum : op;
}

Status reduce_one(Lowering& l, const View& x, size_t axis, const Reduction& r, const View& out,
                  ir::NodeId expr) {
  PeBuilder b(l, x.dims, expr);
  PeOperand t = b.reduced_temp({static_cast<int64_t>(axis)});
  b.reduce(r.op, t, operand(b, x, r.less), r.alpha, r.beta);
  return b.finish(t, out);
}

View sums_of(Lowering& l, Dims dims, size_t axis, int64_t count) {
  dims[axis] = count;
  return l.scratch(dims, identity_perm(dims.size()), isa::DataType::F32);
}

// One sum for each kPart elements along `axis`; the last has what is left.
Result<View> parts_of(Lowering& l, const View& x, size_t axis, const Reduction& r, ir::NodeId expr) {
  int64_t n = x.dims[axis], whole = n / kPart, rest = n % kPart;
  View sums = sums_of(l, x.dims, axis, ceil_div(n, kPart));
  View full = slice(x, axis, 0, 1, whole * kPart);
  Dims split = full.dims;
  split[axis] = whole;
  split.insert(split.begin() + static_cast<std::ptrdiff_t>(axis) + 1, kPart);
  View to = unsqueezed(slice(sums, axis, 0, 1, whole), axis + 1);
  Reduction part{r.op, {}}, last{r.op, {}};
  if (r.less) part.less = unsqueezed(*r.less, axis);
  last.less = r.less;
  MRVLC_TRY(reduce_one(l, *reshaped(full, split), axis + 1, part, to, expr));
  if (rest > 0) {
    View tail = slice(x, axis, whole * kPart, 1, rest);
    MRVLC_TRY(reduce_one(l, tail, axis, last, slice(sums, axis, whole, 1, 1), expr));
  }
  return sums;
}

}  // namespace

bool at_once(const Dims& dims, const Reduction& r) {
  if (!order_matters(r.op)) return true;
  int64_t wide = 0;
  bool whole = true;
  for (int64_t a : r.axes) {
    int64_t n = dims[static_cast<size_t>(a)];
    wide += n > 1 ? 1 : 0;
    whole = whole && (!r.parts || n <= kPart);
  }
  return wide < 2 && whole;
}

Status reduce_to(Lowering& l, View x, Reduction r, const View& out, ir::NodeId expr) {
  if (at_once(x.dims, r)) {
    PeBuilder b(l, x.dims, expr);
    PeOperand t = b.reduced_temp(r.axes);
    b.reduce(r.op, t, operand(b, x, r.less), r.alpha, r.beta);
    return b.finish(t, out);
  }
  std::erase_if(r.axes, [&](int64_t a) { return x.dims[static_cast<size_t>(a)] == 1; });
  const auto go_on = [&] {  // with sums of the first step
    r.op = further(r.op);
    r.less = std::nullopt;
  };
  for (size_t i = r.axes.size(); i-- > 0; go_on()) {
    auto axis = static_cast<size_t>(r.axes[i]);
    if (r.parts && x.dims[axis] > kPart) {
      MRVLC_ASSIGN(x, parts_of(l, x, axis, r, expr));
      go_on();
    }
    if (i == 0) return reduce_one(l, x, axis, r, out, expr);
    if (axis == 3 && x.dims.size() == 4) {
      MRVLC_ASSIGN(x, sum_rows(l, x, r, expr));
    } else {
      View sums = sums_of(l, x.dims, axis, 1);
      Reduction step{r.op, {}};
      step.less = r.less;
      MRVLC_TRY(reduce_one(l, x, axis, step, sums, expr));
      x = sums;
    }
  }
  return {};
}

}  // namespace mrvlc::accel
