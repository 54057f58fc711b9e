#include "mrvlc/passes/round_weights.h"

#include <cmath>

#include "mrvlc/tensor/float16.h"
#include "util.h"

namespace mrvlc::passes {
namespace {

// Weights seen as rows of one output channel: element (o, k) at o * row + k * step.
struct Rows {
  int64_t count = 0, length = 0, row = 0, step = 0;
};

Rows rows_of(const Node& n, const Shape& w) {
  if (n.is("Conv") && !w.empty()) {
    int64_t length = w[0] == 0 ? 0 : element_count(w) / w[0];
    return {w[0], length, length, 1};
  }
  if (w.size() != 2) return {};
  if (n.is("Gemm") && n.int_attr("transB") != 0) return {w[0], w[1], w[1], 1};
  if (n.is("Gemm") || n.is("MatMul")) return {w[1], w[0], 1, w[1]};
  return {};
}

void round_row(std::span<float> w, int64_t at, const Rows& rows) {
  float carry = 0;
  for (int64_t k = 0; k < rows.length; ++k) {
    float& x = w[static_cast<size_t>(at + k * rows.step)];
    if (x == 0) continue;
    float wanted = x + carry, rounded = half_to_float(float_to_half(wanted));
    if (!std::isfinite(rounded)) return;  // the back end reports weights beyond fp16
    carry = wanted - rounded;
    x = rounded;
  }
}

bool all_half(const Tensor& t) {
  for (float x : t.data<float>()) {
    if (half_to_float(float_to_half(x)) != x) return false;
  }
  return true;
}

}  // namespace

void round_weights(ir::Graph& graph, const std::function<bool(const ir::Node&)>& chosen) {
  Rewriter rw(graph, "round-weights");
  for (NodeId id : graph.topological_order()) {
    const Node& n = graph.node(id);
    if (n.inputs.size() < 2 || !chosen(n)) continue;
    const Tensor* w = graph.constant(n.inputs[1]);
    if (w == nullptr || w->elem() != ElementType::F32) continue;
    Rows rows = rows_of(n, w->shape());
    if (rows.count == 0 || all_half(*w)) continue;
    Tensor rounded = *w;
    auto data = rounded.mutable_data<float>();
    for (int64_t o = 0; o < rows.count; ++o) round_row(data, o * rows.row, rows);
    NodeId from[] = {id};
    ValueId now = rw.constant(std::move(rounded), from);
    rw.set_input(id, 1, now);
  }
}

}  // namespace mrvlc::passes
