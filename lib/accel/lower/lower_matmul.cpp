// Gemm and MatMul as 1x1 convolutions whose pixels are the rows of the left operand.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "lower/conv_lowering.h"
#include "mrvlc/ops/op_kind.h"
#include "mrvlc/ops/params.h"
#include "mrvlc/support/checked.h"

namespace mrvlc::accel {
namespace {

struct Product {
  View x;  // [batch..., M, K]
  int64_t k = 0, n = 0;
  int64_t w_k = 0, w_n = 0;  // element (k, n) of constant weights at k * w_k + n * w_n
  std::vector<ProductTerm> terms = product_terms({}, {});
  int32_t shift = 0;             // x is kept times 2^-shift
  std::vector<int64_t> k_order;  // where the k-th stored element of a row stands logically; empty: in order
  std::vector<float> bias;
  ir::ValueId added;  // a constant that is not per column, to be added with beta; invalid: none
  float beta = 1;
};

class ProductLowering {
 public:
  ProductLowering(Lowering& l, const ir::Node& node) : l_(l), n_(node) {}

  Status constant_weights(Product p) {
    bool more = p.added.valid();
    size_t column = l_.shape(n_.outputs[0]).size() - 1;
    FoldedEpilogue f;
    if (more) {
      f.value = n_.outputs[0];
      f.taken = anchor_position() + 1;
      take_power(l_, p.shift, f);
    } else {
      f = fold_epilogue(l_, true, p.shift);
    }
    WindowOp op = base(p.k * static_cast<int64_t>(p.terms.size()), p.n);
    op.x = rows(p.x);
    op.in_h = op.out_h = p.x.dims[p.x.dims.size() - 2];
    const bool sums = f.after != 0;
    View out = sums ? sums_of(l_, f.value, column) : writable(l_, f.value, column);
    op.out = rows(matrix(out));
    residual(op, f, column);
    for (size_t i = 0; i < p.bias.size(); ++i) {
      float b = p.bias[i];
      if (!f.scale.empty()) b = b * f.scale[i] + f.shift[i];
      p.bias[i] = b;
    }
    if (!sums) op.bias = pack_bias(l_, p.bias);
    op.phases[0].weights = pack(p, f.of_weights);
    op.epilogue = f.activation;
    flatten_pixels(op);
    l_.add(std::move(op));
    if (sums) {
      MRVLC_TRY(settle_sums(l_, f, out, p.bias, column, n_.id));
      out = l_.read(f.value);
    } else {
      settle(l_, f.value, out, n_.id);
    }
    if (more) MRVLC_TRY(add_constant(p, out));
    return f.taken < l_.layer().nodes.size() ? lower_chain(l_, f.value, f.taken) : Status();
  }

  Status activations(const View& a, const View& b) {
    size_t column = l_.shape(n_.outputs[0]).size() - 1;
    const partition::Precision left = l_.precision(n_.inputs[0]), right = l_.precision(n_.inputs[1]);
    FoldedEpilogue f = fold_epilogue(l_, true, left.shift + right.shift);
    Dims batch(l_.shape(n_.outputs[0]).begin(), l_.shape(n_.outputs[0]).end());
    int64_t m = a.dims[a.dims.size() - 2], k = a.dims.back(), n = b.dims.back();
    if (l_.shape(n_.outputs[0]).size() < 2) return make_diag<DiagCode::MRV0502>("a product of vectors");
    auto with_batch = [&](const View& v) {
      Dims dims = batch;
      dims[dims.size() - 2] = v.dims[v.dims.size() - 2];
      dims.back() = v.dims.back();
      return broadcast(v, dims);
    };
    const std::vector<ProductTerm> terms = product_terms(left, right);
    WindowOp op = base(k * static_cast<int64_t>(terms.size()), n);
    View x = left_operand(l_, a, a.dims.size() - 1, 1, terms, left.shift, n_.id);
    op.x = rows(with_batch(x));
    op.in_h = op.out_h = m;
    op.dynamic_weights = true;
    View w = with_batch(right_operand(b, terms, right.shift));
    op.w = rows(w);
    op.w.stride_w = w.strides.back();
    const bool sums = f.after != 0;
    View out = sums ? sums_of(l_, f.value, column) : writable(l_, f.value, column);
    op.out = rows(out);
    residual(op, f, column);
    if (!sums && !f.shift.empty()) op.bias = pack_bias(l_, f.shift);
    op.epilogue = f.activation;
    l_.add(std::move(op));
    if (sums) MRVLC_TRY(settle_sums(l_, f, out, f.shift, column, n_.id));
    if (!sums) settle(l_, f.value, out, n_.id);
    return f.taken < l_.layer().nodes.size() ? lower_chain(l_, f.value, f.taken) : Status();
  }

  // A result of rank 1 (a vector times a matrix) as a matrix of one row.
  static View matrix(const View& v) { return v.dims.size() < 2 ? unsqueezed(v, 0) : v; }

 private:
  size_t anchor_position() const {
    const std::vector<ir::NodeId>& nodes = l_.layer().nodes;
    return static_cast<size_t>(std::ranges::find(nodes, l_.layer().anchor) - nodes.begin());
  }

  View right_operand(const View& b, const std::vector<ProductTerm>& terms, int32_t shift) {
    if (terms.size() > 1 || b.type != isa::DataType::F16) {
      std::vector<bool> low;
      for (const ProductTerm& t : terms) low.push_back(t.w_low);
      return l_.halves({b, b.dims.size() - 2, 1, low, shift}, n_.id);
    }
    bool backwards = std::ranges::any_of(b.strides, [](int64_t s) { return s < 0; });
    return backwards ? l_.with_inner(b, b.dims.size() - 1, n_.id) : b;
  }

  WindowOp base(int64_t k, int64_t n) const {
    WindowOp op;
    op.owner = l_.owner(n_.id);
    op.group_in = k;
    op.group_out = n;
    op.phases.resize(1);
    return op;
  }

  // Rows are the image's height, everything outside the batch.
  static WindowOp::Image rows(const View& v) {
    std::vector<size_t> batch(v.dims.size() - 2);
    std::iota(batch.begin(), batch.end(), size_t{0});
    WindowOp::Image i = image_of(v, batch, static_cast<int>(v.dims.size()) - 2, -1);
    i.stride_w = i.stride_h;
    return i;
  }

  void residual(WindowOp& op, const FoldedEpilogue& f, size_t column) {
    if (!f.residual.valid()) return;
    op.residual = rows(matrix(l_.with_inner(l_.read(f.residual), column, n_.id)));
    op.has_residual = true;
  }

  int64_t pack(const Product& p, const std::vector<float>& scale) {
    const RoundedWeights weights = l_.rounded_weights(n_, scale);
    auto n_terms = static_cast<int64_t>(p.terms.size());
    int64_t blocks = ceil_div(p.n, 16), depth = p.k * n_terms, at = l_.reserve_weights(blocks * depth * 32);
    for (int64_t row = 0; row < depth; ++row) {
      int64_t k = row % p.k;
      int64_t from = (p.k_order.empty() ? k : p.k_order[static_cast<size_t>(k)]) * p.w_k;
      const auto& halves = p.terms[static_cast<size_t>(row / p.k)].w_low ? weights.low : weights.high;
      for (int64_t n = 0; n < p.n; ++n)
        std::memcpy(l_.weights_at(at + (n / 16 * depth + row) * 32 + n % 16 * 2),
                    &halves[static_cast<size_t>(from + n * p.w_n)], 2);
    }
    return at;
  }

  Status add_constant(const Product& p, const View& out) {
    PeBuilder b(l_, out.dims, n_.id);
    PeOperand t = b.temp();
    b.apply(isa::EwOp::AxpBy, t, b.view(out), b.view(l_.read_operand(p.added)), 1, p.beta);
    return b.finish(t, out);
  }

  Lowering& l_;
  const ir::Node& n_;
};

// The left operand: a flattening that was put off is undone here, its order of elements becomes the order of
// weights.
bool take_deferred(Lowering& l, ir::ValueId value, Product& p) {
  std::optional<View> source = l.deferred(value);
  if (!source) return false;
  size_t rank = source->dims.size();
  std::vector<size_t> order(rank - 1);
  std::iota(order.begin(), order.end(), size_t{1});
  std::ranges::stable_sort(order,
                           [&](size_t a, size_t b) { return source->strides[a] > source->strides[b]; });
  Dims logical = dense_strides(source->dims, identity_perm(rank));
  p.k_order = {0};
  for (size_t d : order) {
    std::vector<int64_t> more;
    more.reserve(p.k_order.size() * static_cast<size_t>(source->dims[d]));
    for (int64_t base : p.k_order)
      for (int64_t i = 0; i < source->dims[d]; ++i) more.push_back(base + i * logical[d]);
    p.k_order = std::move(more);
  }
  p.x = *source;
  p.x.dims = {source->dims[0], p.k};
  p.x.strides = {source->strides[0], 1};
  return true;
}

void take_terms(Lowering& l, const ir::Node& node, Product& p) {
  const partition::Precision x = l.precision(node.inputs[0]);
  p.terms = product_terms(x, l.precision(node.inputs[1]));
  p.shift = x.shift;
  p.x = left_operand(l, p.x, p.x.dims.size() - 1, 1, p.terms, p.shift, node.id);
}

// A constant that is a pair is taken apart like any other operand.
View whole(Lowering& l, ir::ValueId v) {
  const Tensor* t = l.graph().constant(v);
  bool pair = t != nullptr && l.precision(v).kind == partition::Precision::Kind::Pair;
  return pair ? l.constant(*t, l.perm_of(v), isa::DataType::F32) : l.read(v);
}

Status lower_gemm(Lowering& l, const ir::Node& node) {
  MRVLC_ASSIGN(ops::GemmParams g, ops::gemm_params(ops::infer_context(l.graph(), node)));
  Product p;
  p.k = g.k;
  p.n = g.n;
  p.beta = g.beta;
  if (!l.graph().is_constant(node.inputs[1]))
    return make_diag<DiagCode::MRV0502>("Gemm with computed weights");
  p.w_k = g.trans_b ? 1 : g.n;
  p.w_n = g.trans_b ? g.k : 1;
  p.bias.assign(static_cast<size_t>(g.n), 0.0f);
  if (node.inputs.size() > 2 && node.inputs[2].valid()) {
    const Tensor* c = l.graph().constant(node.inputs[2]);
    if (c == nullptr) return make_diag<DiagCode::MRV0502>("Gemm with a computed bias");
    bool row = c->shape().size() < 2 || c->shape()[0] == 1;
    if (!row) p.added = node.inputs[2];
    for (size_t i = 0; row && i < p.bias.size(); ++i)
      p.bias[i] = g.beta * static_cast<float>(c->as_double(c->elements() == 1 ? 0 : static_cast<int64_t>(i)));
  }
  if (g.trans_a || !take_deferred(l, node.inputs[0], p)) {
    View x = l.read(node.inputs[0]);
    int64_t swap[] = {1, 0};
    p.x = g.trans_a ? permuted(x, swap) : x;
  }
  take_terms(l, node, p);
  return ProductLowering(l, node).constant_weights(std::move(p));
}

}  // namespace

Status lower_matmul(Lowering& l) {
  const ir::Node& node = l.graph().node(l.layer().anchor);
  if (node.is(Op::Gemm)) return lower_gemm(l, node);
  const Tensor* w = l.graph().constant(node.inputs[1]);
  if (w == nullptr || w->shape().size() > 2) {
    if (l.shape(node.inputs[0]).size() < 2 || l.shape(node.inputs[1]).size() < 2)
      return make_diag<DiagCode::MRV0502>("a product with a vector computed at run time");
    return ProductLowering(l, node).activations(whole(l, node.inputs[0]), whole(l, node.inputs[1]));
  }
  Product p;
  p.k = w->shape()[0];
  p.n = w->shape().size() == 2 ? w->shape()[1] : 1;
  p.w_k = p.n;
  p.w_n = 1;
  p.bias.assign(static_cast<size_t>(p.n), 0.0f);
  if (w->shape().size() != 2) return make_diag<DiagCode::MRV0502>("a product with a constant vector");
  if (!take_deferred(l, node.inputs[0], p)) {
    p.x = ProductLowering::matrix(l.read(node.inputs[0]));
  }
  take_terms(l, node, p);
  return ProductLowering(l, node).constant_weights(std::move(p));
}

}  // namespace mrvlc::accel
