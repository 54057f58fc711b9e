// attention-to-products
//   before  %y = Attention(%q, %k, %v)
//   after   %1 = Transpose(%k)   %2 = MatMul(%q, %1)   %3 = Mul(%2, scale)   %4 = Softmax(%3)   %y =
//   MatMul(%4, %v)
// In between a soft cap (Div, Tanh, Mul) and a bias, a constant that is the mask and the causal part: 0 or
// the mask's number where a key is kept, else -inf. Heads of operands of rank 3 are split by Reshape and
// Transpose. Query heads that share a key head become rows of one product. A past is concatenated.
// Preconditions: float32, static shapes, nothing empty; nobody reads the scores; a mask is a constant, and
// keeps a key for every query: Attention makes 0 of a row without keys, Softmax NaN; a bias of at most 4 MiB.
// Safe because these are the definition of the operator.
#include <cmath>
#include <limits>

#include "mrvlc/ops/attention.h"
#include "mrvlc/ops/op_kind.h"
#include "mrvlc/ops/params.h"
#include "mrvlc/support/saturating.h"
#include "passes.h"
#include "util.h"

namespace mrvlc::passes {
namespace {

using P = ops::AttentionParams;

// How many query heads share a key head.
int64_t sharing_heads(const P& p) {
  return p.heads / p.kv_heads;
}

// What is added to the scores [batch, key heads, rows, keys], with dimensions of 1 where it is the same.
class Bias {
 public:
  Bias(const P& p, const Tensor* mask) : p_(p), mask_(mask) {
    const bool by_batch = mask != nullptr && p.mask_strides[0] != 0;
    by_head_ = mask != nullptr && p.mask_strides[1] != 0;
    shape_ = {by_batch ? p.batch : 1, by_head_ ? p.kv_heads : 1, sharing_heads(p) * p.q_length, p.total()};
  }
  bool is_small() const {
    constexpr int64_t kMost = (4 << 20) / 4;
    int64_t elements = 1;
    for (int64_t d : shape_) elements = saturating_mul(elements, d);
    return elements <= kMost;
  }
  // Nothing where a row keeps no key.
  std::optional<Tensor> make() const {
    Tensor bias(TensorType{ElementType::F32, shape_});
    const std::span<float> to = bias.mutable_data<float>();
    size_t at = 0;
    for (int64_t b = 0; b < shape_[0]; ++b) {
      for (int64_t g = 0; g < shape_[1]; ++g) {
        for (int64_t row = 0; row < shape_[2]; ++row, at += static_cast<size_t>(p_.total()))
          if (!fill(b, g, row, to.subspan(at, static_cast<size_t>(p_.total())))) return std::nullopt;
      }
    }
    return bias;
  }

 private:
  bool fill(int64_t b, int64_t g, int64_t row, std::span<float> to) const {
    const int64_t head = g * sharing_heads(p_) + row / p_.q_length, query = row % p_.q_length;
    bool keeps = false;
    for (int64_t key = 0; key < p_.total(); ++key) {
      const float v = value(b, by_head_ ? head : 0, query, key);
      to[static_cast<size_t>(key)] = v;
      keeps = keeps || v != -std::numeric_limits<float>::infinity();
    }
    return keeps;
  }
  float value(int64_t b, int64_t head, int64_t query, int64_t key) const {
    constexpr float kNothing = -std::numeric_limits<float>::infinity();
    if (p_.causal && key > query + p_.past) return kNothing;
    if (mask_ == nullptr) return 0;
    if (key >= p_.mask_length) return kNothing;
    const Shape& s = p_.mask_strides;
    const double v = mask_->as_double(b * s[0] + head * s[1] + query * s[2] + key * s[3]);
    if (mask_->elem() != ElementType::Bool) return static_cast<float>(v);
    return v != 0 ? 0 : kNothing;
  }

  const P& p_;
  const Tensor* mask_;
  bool by_head_;
  Shape shape_;
};

class AttentionWriter {
 public:
  AttentionWriter(Rewriter& rw, NodeId id, const P& p)
      : rw_(rw), id_(id), p_(p), in_(rw.graph().node(id).inputs), out_(rw.graph().node(id).outputs) {}

  void write(std::optional<Tensor> bias) {
    const ValueId k = rows(P::kK, P::kPastKey, p_.size), v = rows(P::kV, P::kPastValue, p_.v_size);
    const ValueId turned = transposed(k, {0, 1, 3, 2}, {p_.batch, p_.kv_heads, p_.size, p_.total()});
    ValueId s = make(rw_, Op::MatMul, {queries(), turned}, scores(), {id_});
    s = make(rw_, Op::Mul, {s, number(p_.scale)}, scores(), {id_});
    if (p_.softcap > 0) s = capped(s);
    if (bias) s = make(rw_, Op::Add, {s, constant(*std::move(bias), "mask")}, scores(), {id_});
    s = make(rw_, Op::Softmax, {s}, scores(), {id_}, {{"axis", Attr(int64_t{-1})}});
    const ValueId y =
        make(rw_, Op::MatMul, {s, v}, type({p_.batch, p_.kv_heads, shared_rows(), p_.v_size}), {id_});
    settle(P::kPresentKey, k);
    settle(P::kPresentValue, v);
    settle(P::kY, joined(y));
    erase_if_unused(rw_, id_, "written as products and Softmax");
  }

 private:
  static TensorType type(Shape shape) { return {ElementType::F32, std::move(shape)}; }
  int64_t shared_rows() const { return sharing_heads(p_) * p_.q_length; }
  TensorType scores() const { return type({p_.batch, p_.kv_heads, shared_rows(), p_.total()}); }
  ValueId constant(Tensor tensor, std::string name) {
    return rw_.constant(std::move(tensor), std::span(&id_, 1), std::move(name));
  }
  ValueId number(double v) { return constant(scalar_tensor(ElementType::F32, v), "scale"); }

  ValueId reshaped(ValueId x, Shape shape) {
    if (type_of(rw_.graph(), x).shape == shape) return x;
    const ValueId to = constant(ints_tensor(shape), "shape");
    return make(rw_, Op::Reshape, {x, to}, type(std::move(shape)), {id_});
  }
  ValueId transposed(ValueId x, std::vector<int64_t> perm, Shape shape) {
    return make(rw_, Op::Transpose, {x}, type(std::move(shape)), {id_}, {{"perm", Attr(std::move(perm))}});
  }
  // [batch, heads, length, size] of an operand.
  ValueId split(ValueId x, int64_t heads, int64_t length, int64_t size) {
    if (!p_.packed) return x;
    return transposed(reshaped(x, {p_.batch, length, heads, size}), {0, 2, 1, 3},
                      {p_.batch, heads, length, size});
  }
  ValueId rows(size_t fresh, size_t past, int64_t size) {
    const ValueId x = split(in_[fresh], p_.kv_heads, p_.kv_length, size);
    if (p_.past == 0) return x;
    return make(rw_, Op::Concat, {in_[past], x}, type(p_.present(size)), {id_}, {{"axis", Attr(int64_t{2})}});
  }
  ValueId queries() {
    const ValueId q = split(in_[P::kQ], p_.heads, p_.q_length, p_.size);
    return reshaped(q, {p_.batch, p_.kv_heads, shared_rows(), p_.size});
  }
  ValueId capped(ValueId s) {
    const ValueId cap = number(p_.softcap), part = make(rw_, Op::Div, {s, cap}, scores(), {id_});
    return make(rw_, Op::Mul, {make(rw_, Op::Tanh, {part}, scores(), {id_}), cap}, scores(), {id_});
  }
  ValueId joined(ValueId y) {
    y = reshaped(y, {p_.batch, p_.heads, p_.q_length, p_.v_size});
    if (!p_.packed) return y;
    y = transposed(y, {0, 2, 1, 3}, {p_.batch, p_.q_length, p_.heads, p_.v_size});
    return reshaped(y, {p_.batch, p_.q_length, p_.heads * p_.v_size});
  }
  // An Identity, as what is present may be an input of the model.
  void settle(size_t output, ValueId now) {
    if (output >= out_.size() || !out_[output].valid() || rw_.graph().use_count(out_[output]) == 0) return;
    rw_.replace_all_uses(out_[output], make(rw_, Op::Identity, {now}, type_of(rw_.graph(), now), {id_}));
  }

  Rewriter& rw_;
  NodeId id_;
  const P& p_;
  const std::vector<ValueId> in_, out_;  // copies: nodes move when others are made
};

bool is_read(const Graph& g, const Node& n, size_t output) {
  return output < n.outputs.size() && n.outputs[output].valid() && g.use_count(n.outputs[output]) != 0;
}

bool has_nothing(const P& p) {
  return p.batch * p.heads * p.q_length * p.size * p.v_size * p.total() == 0;
}

bool take_apart(const PassContext& context, Rewriter& rw, NodeId id) {
  const Graph& g = rw.graph();
  const Node& n = g.node(id);
  if (!is_read(g, n, P::kY) || is_read(g, n, P::kScores) || reserves(context, g, {id})) return false;
  if (type_of(g, n.outputs[0]).elem != ElementType::F32) return false;
  const auto p = ops::attention_params(ops::infer_context(g, n));
  const ValueId mask = input_or_none(n, P::kMask);
  if (!p.ok() || p->has_lengths || has_nothing(*p) || (mask.valid() && !g.is_constant(mask))) return false;
  std::optional<Tensor> bias;
  if (mask.valid() || p->causal) {
    const Bias wanted(*p, mask.valid() ? g.constant(mask) : nullptr);
    if (wanted.is_small()) bias = wanted.make();
    if (!bias) return false;
  }
  AttentionWriter(rw, id, *p).write(std::move(bias));
  return true;
}

}  // namespace

Status attention_to_products(Graph& graph, const PassContext& context, bool& changed) {
  changed = rewrite_nodes(graph, "attention-to-products", is_any<Op::Attention>,
                          [&](Rewriter& rw, NodeId id) { return take_apart(context, rw, id); });
  return {};
}

}  // namespace mrvlc::passes
