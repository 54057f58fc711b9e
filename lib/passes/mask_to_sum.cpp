// mask-to-sum
//   before  %1 = Where(%mask, %x, -1e9)    %2 = Softmax(%1)
//   after   %1 = Add(%x, %bias)            %2 = Softmax(%1)      %bias: 0 where %mask keeps %x, else -inf
//   Where(%mask, -1e9, %x) is the same of the other elements.
// Preconditions: a constant mask that keeps at least one element of every row of the Softmax; a constant of
// one value, -1e9 or less; Softmax reads the result and nobody else does.
// Safe because Softmax makes 0 of an element that lies 104 below the greatest of its row, and of -inf. Scores
// that are kept would have to be near -1e9, all of a row, for the constant to show. What is masked has to be
// no NaN and no infinity: Where drops these, a sum does not.
// For the accelerator, which adds and does not choose. The host chooses as fast as it adds.
#include <algorithm>
#include <limits>

#include "mrvlc/ops/attributes.h"
#include "mrvlc/ops/op_kind.h"
#include "mrvlc/ops/params.h"
#include "passes.h"
#include "util.h"

namespace mrvlc::passes {
namespace {

constexpr double kNoScore = -1e9;  // scores are never as low

struct Mask {
  ValueId scores;
  Tensor kept;  // Bool
};

Tensor inverted(Tensor mask) {
  for (uint8_t& b : mask.mutable_data<uint8_t>()) b = b == 0;
  return mask;
}

std::optional<Mask> mask_of(const Graph& g, const Node& where) {
  const Tensor* condition = g.constant(where.inputs[0]);
  if (condition == nullptr) return std::nullopt;
  for (const size_t fill : {size_t{2}, size_t{1}}) {
    const auto value = uniform_constant(g, where.inputs[fill]);
    if (!value || !(*value <= kNoScore)) continue;
    const ValueId scores = where.inputs[3 - fill];
    if (g.is_constant(scores)) return std::nullopt;
    return Mask{scores, fill == 2 ? *condition : inverted(*condition)};
  }
  return std::nullopt;
}

// `axis` counts from the end, as shapes broadcast: 1 is the last dimension.
bool keeps_of_every_row(const Tensor& kept, int64_t axis) {
  const Shape& shape = kept.shape();
  const auto rank = static_cast<int64_t>(shape.size());
  const auto at = static_cast<size_t>(rank - axis);
  const int64_t length = axis <= rank ? shape[at] : 1;
  int64_t inner = 1;
  for (size_t d = at + 1; axis <= rank && d < shape.size(); ++d) inner *= shape[d];
  if (length == 0 || inner == 0) return false;
  const auto bytes = kept.data<uint8_t>();
  std::vector<bool> row(static_cast<size_t>(kept.elements() / length));
  for (int64_t i = 0; i < kept.elements(); ++i) {
    const int64_t of = i / (inner * length) * inner + i % inner;
    if (bytes[static_cast<size_t>(i)] != 0) row[static_cast<size_t>(of)] = true;
  }
  return std::find(row.begin(), row.end(), false) == row.end();
}

Tensor bias_of(const Tensor& kept, ElementType elem) {
  Tensor bias(TensorType{elem, kept.shape()});
  const auto bytes = kept.data<uint8_t>();
  for (int64_t i = 0; i < kept.elements(); ++i) {
    const bool masked = bytes[static_cast<size_t>(i)] == 0;
    if (masked) bias.set_double(i, -std::numeric_limits<double>::infinity());
  }
  return bias;
}

const Node* softmax_alone(const Graph& g, ValueId value) {
  if (!single_use(g, value) || g.is_output(value)) return nullptr;
  const Node& reader = g.node(g.value(value).users[0]);
  return reader.is(Op::Softmax) ? &reader : nullptr;
}

bool make_sum(Rewriter& rw, NodeId id) {
  const Graph& g = rw.graph();
  const Node& n = g.node(id);
  const TensorType result = type_of(g, n.outputs[0]);
  const Node* softmax = softmax_alone(g, n.outputs[0]);
  if (softmax == nullptr || !is_float(result.elem)) return false;
  const std::optional<Mask> mask = mask_of(g, n);
  if (!mask) return false;
  const auto axis = ops::normalize_axis(ops::attr::axis(*softmax), result.rank());
  const auto shape = broadcast_shapes(type_of(g, mask->scores).shape, mask->kept.shape());
  if (!axis.ok() || shape != result.shape) return false;
  if (!keeps_of_every_row(mask->kept, static_cast<int64_t>(result.rank()) - *axis)) return false;
  const ValueId bias = rw.constant(bias_of(mask->kept, result.elem), origins(g, {id}, {n.inputs[0]}));
  const ValueId sum = make(rw, Op::Add, {mask->scores, bias}, result, {id});
  return bypass(rw, id, sum, "became the sum of its scores and a mask");
}

}  // namespace

Status mask_to_sum(Graph& graph, const PassContext&, bool& changed) {
  changed = rewrite_nodes(graph, "mask-to-sum", is_any<Op::Where>, make_sum);
  return {};
}

}  // namespace mrvlc::passes
