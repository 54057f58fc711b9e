// Matrix products.
#include <cmath>

#include "model.h"
#include "mrvlc/ops/op_kind.h"
#include "mrvlc/support/diag/accel.h"

namespace mrvlc::accel_random {
namespace {

// One product of a batch; `order`: in which order the elements of a row are summed up.
struct Rows {
  std::vector<std::pair<const float*, const float*>> terms;  // halves of both operands
  int64_t n = 0, a_step = 1, b_k = 0, b_n = 1;
  const std::vector<int64_t>* order = nullptr;
  float sum(int64_t column) const {
    float acc = 0;
    for (auto [a, b] : terms)
      for (int64_t k : *order) acc = std::fma(a[k * a_step], b[k * b_k + column * b_n], acc);
    return acc;
  }
};

std::vector<int64_t> counted(int64_t n) {
  std::vector<int64_t> v;
  for (int64_t i = 0; i < n; ++i) v.push_back(i);
  return v;
}

}  // namespace

// Columns of a flattened image in the order in which the image is stored, if nobody but matrix products with
// constant weights reads the flattened value.
Status Model::product_order(ir::ValueId value, std::vector<int64_t>& order) const {
  const ir::Value& flat = graph_.value(value);
  if (flat.kind != ir::ValueKind::Result || graph_.is_output(value)) return {};
  const ir::Node& reshape = graph_.node(flat.producer);
  bool change = false;
  for (Op op : {Op::Reshape, Op::Flatten, Op::Squeeze, Op::Unsqueeze, Op::Identity})
    change = change || reshape.is(op);
  if (!change) return {};
  const Shape& image = shape(reshape.inputs[0]);
  if (image.size() < 3 || flat.type.shape.size() != 2 || image[0] != flat.type.shape[0]) return {};
  for (ir::NodeId user : flat.users) {
    const partition::Layer* reads = nullptr;
    for (const partition::Layer& l : region_.layers)
      if (l.anchor == user && l.kind == LayerKind::Fc) reads = &l;
    const ir::Node& node = graph_.node(user);
    if (reads == nullptr || node.inputs[0] != value || (node.is(Op::Gemm) && node.int_attr("transA") != 0))
      return {};
  }
  int64_t pixels = element_count(image) / image[0] / image[1];
  if (image[1] == 1 || pixels == 1) return {};
  std::optional<std::vector<size_t>> dims = storage_.order(reshape.inputs[0]);
  if (!dims || storage_.in_place(reshape.inputs[0]))
    return make_diag<DiagCode::MRV0502>("the order of a flattened view");
  if (dims->back() != 1) return {};
  order.clear();
  for (int64_t p = 0; p < pixels; ++p)
    for (int64_t c = 0; c < image[1]; ++c) order.push_back(c * pixels + p);
  return {};
}

Status Model::product(const partition::Layer& layer) {
  const ir::Node& node = graph_.node(layer.anchor);
  bool gemm = node.is(Op::Gemm);
  const Tensor* weights = graph_.constant(node.inputs[1]);
  bool constant = weights != nullptr && weights->shape().size() == 2;
  const Shape& out = shape(node.outputs[0]);
  const Shape& wide = shape(node.inputs[1]);
  ops::GemmParams g;
  if (gemm) {
    MRVLC_ASSIGN(g, ops::gemm_params(ops::infer_context(graph_, node)));
  } else {
    g.n = wide.back();
    g.k = wide[wide.size() - 2];
    g.m = out.size() < 2 ? 1 : out[out.size() - 2];
  }
  const Tensor* c = gemm && node.inputs.size() > 2 ? graph_.constant(node.inputs[2]) : nullptr;
  bool per_column = c == nullptr || c->shape().size() < 2 || c->shape()[0] == 1;
  Tail tail;
  tail.value = node.outputs[0];
  if (per_column) tail = tail_of(graph_, layer, out.size() - 1, constant, true, false, wide_, asked_);

  Tensor b = zeros(wide), low_b = zeros(wide), p = zeros(wide);
  auto column_of = [&](int64_t i) { return g.trans_b ? i / g.k : i % g.n; };
  for (int64_t i = 0; i < p.elements() && constant; ++i)
    p.mutable_data<float>()[static_cast<size_t>(i)] = static_cast<float>(weights->as_double(i)) * g.alpha;
  if (per_column) {
    take_power(layer, out.size() - 1, constant ? &p : nullptr, column_of, tail);
  } else {
    Tail own = tail;
    take_power(layer, out.size() - 1, &p, column_of, own);
    tail.of_weights = own.of_weights;
    tail.after = own.after;
    if (tail.after != 0) tail.of_weights.clear();
  }
  std::span<float> bw = b.mutable_data<float>(), bl = low_b.mutable_data<float>();
  WeightRounding rounded(true);
  for (int64_t i = 0; i < b.elements() && constant; ++i) {
    int64_t column = column_of(i);
    float w = p.data<float>()[static_cast<size_t>(i)];
    if (!tail.of_weights.empty()) w *= tail.of_weights[static_cast<size_t>(column)];
    float stored = bw[static_cast<size_t>(i)] = rounded(w, column);
    bl[static_cast<size_t>(i)] = std::isfinite(stored) ? narrow(w - stored) : 0;
  }
  std::vector<int64_t> order = counted(g.k);
  if (constant && !g.trans_a) MRVLC_TRY(product_order(node.inputs[0], order));

  const std::vector<Term> terms = left_terms(node.inputs[0], node.inputs[1]);
  const Tensor& a = terms[0].halves;
  if (!constant) b = high(node.inputs[1]), low_b = low(node.inputs[1]);
  const float* residual = tail.residual.valid() ? get(tail.residual).data<float>().data() : nullptr;
  Tensor result = zeros(out);
  float* y = result.mutable_data<float>().data();
  int64_t batches = element_count(out) / (g.m * g.n);
  int64_t a_batches = a.elements() / (g.m * g.k), b_batches = b.elements() / (g.k * g.n);
  for (int64_t i = 0; i < batches * g.m; ++i) {
    int64_t batch = i / g.m, row = i % g.m;
    Rows r;
    r.a_step = g.trans_a ? g.m : 1;
    for (const Term& t : terms)
      r.terms.emplace_back(
          t.halves.data<float>().data() + batch % a_batches * g.m * g.k + (g.trans_a ? row : row * g.k),
          (t.right_low ? low_b : b).data<float>().data() + batch % b_batches * g.k * g.n);
    r.b_k = g.trans_b ? 1 : g.n;
    r.b_n = g.trans_b ? g.k : 1;
    r.order = &order;
    for (int64_t n = 0; n < g.n; ++n, ++y) {
      auto column = static_cast<size_t>(n);
      float add = 0;
      if (c != nullptr && per_column)
        add = g.beta * static_cast<float>(c->as_double(c->elements() == 1 ? 0 : n));
      if (!tail.scale.empty()) add = add * tail.scale[column] + tail.shift[column];
      float v = std::fma(std::ldexp(1.0f, tail.after), r.sum(n), 0.0f) + add;
      if (residual != nullptr) v += *residual++;
      *y = tail.activation ? tail.activation(v) : v;
    }
  }
  store(tail.value, result);
  if (!per_column) {  // its own step on the stored product
    const Tensor& added = operand(node.inputs[2], layer);
    result = get(tail.value);
    Shape strides = broadcast_strides(added.shape(), out);
    std::span<float> v = result.mutable_data<float>();
    each_index(out, [&](const Shape& index, int64_t i) {
      float& e = v[static_cast<size_t>(i)];
      float term = g.beta * added.data<float>()[static_cast<size_t>(position(index, strides))];
      e = std::fma(1.0f, e, term);
    });
    store(tail.value, result);
  }
  return chain(layer, tail.taken, tail.value);
}

}  // namespace mrvlc::accel_random
