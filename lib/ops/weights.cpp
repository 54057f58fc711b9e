// Groups, outer, channel and inner sizes of the weights of Conv, ConvTranspose, Gemm and MatMul.
#include "mrvlc/ops/weights.h"

#include "mrvlc/ops/op_kind.h"

namespace mrvlc::ops {
namespace {

int64_t product_from(const Shape& shape, size_t first) {
  int64_t p = 1;
  for (size_t d = first; d < shape.size(); ++d) p *= shape[d];
  return p;
}

}  // namespace

std::optional<WeightLayout> weight_layout(const ir::Node& n, const Shape& w) {
  if (n.is(Op::Conv) && w.size() >= 2) return WeightLayout{1, 1, w[0], product_from(w, 1)};
  if (n.is(Op::ConvTranspose) && w.size() >= 2) {
    int64_t group = n.int_attr("group");
    if (group < 1 || w[0] % group != 0) return std::nullopt;
    return WeightLayout{group, w[0] / group, w[1], product_from(w, 2), false};
  }
  if (w.size() != 2) return std::nullopt;
  if (n.is(Op::Gemm) && n.int_attr("transB") != 0) return WeightLayout{1, 1, w[0], w[1]};
  if (n.is(Op::Gemm, Op::MatMul)) return WeightLayout{1, w[0], w[1], 1};
  return std::nullopt;
}

}  // namespace mrvlc::ops
