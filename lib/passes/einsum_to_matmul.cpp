// einsum-to-matmul
//   before  %1 = Einsum(%a, %b)  "bhqd,bhkd->bhqk"
//   after   %2 = Transpose(%b)   %1 = MatMul(%a, %2)
// Labels of two operands are of four kinds: both have it and somebody reads it later (a batch), both have it
// and nobody does (it is summed over), or one has it. Dimensions are brought into the order batch, own,
// summed (and batch, summed, own of the right operand), dimensions of a kind are made one, and the product is
// brought into the order of the result. What one operand alone has and nobody reads is summed first. Without
// a label to sum over it is a product of elements. More operands are multiplied from the left. Preconditions:
// static shapes, a type that MatMul takes, no diagonals, nothing empty, and no product on the way larger than
// what it is made of and what it becomes. Safe because products and sums may be regrouped in real numbers,
// and integers wrap.
#include <algorithm>
#include <optional>

#include "mrvlc/ops/attributes.h"
#include "mrvlc/ops/einsum.h"
#include "mrvlc/ops/op_kind.h"
#include "mrvlc/ops/params.h"
#include "mrvlc/support/saturating.h"
#include "passes.h"
#include "util.h"

namespace mrvlc::passes {
namespace {

using Labels = std::string;
using Sizes = std::map<char, int64_t>;

bool has(const Labels& labels, char c) {
  return labels.find(c) != Labels::npos;
}

// Those of `labels` for which `keep` holds, in order.
Labels those(const Labels& labels, const auto& keep) {
  Labels out;
  std::ranges::copy_if(labels, std::back_inserter(out), keep);
  return out;
}

int64_t product_of(const Labels& labels, const Sizes& sizes) {
  int64_t n = 1;
  for (char c : labels) n = saturating_mul(n, sizes.at(c));
  return n;
}

// A value and what its dimensions larger than 1 are called.
struct Labelled {
  ValueId value;
  Labels labels;
};

// The kinds of labels of a product, each in the order of the result where it is there.
struct Kinds {
  Labels batch, left, right, summed;

  Kinds(const Labels& a, const Labels& b, const Labels& needed) {
    for (char c : needed) {
      if (has(a, c) && has(b, c))
        batch += c;
      else if (has(a, c))
        left += c;
      else if (has(b, c))
        right += c;
    }
    summed = those(a, [&](char c) { return has(b, c) && !has(needed, c); });
  }
};

// The labels that somebody reads behind operand `i`: the result's, then those of operands to come.
Labels needed_behind(const ops::EinsumLabels& e, const std::vector<Labels>& operands, size_t i) {
  Labels needed = e.result;
  for (size_t k = i + 1; k < operands.size(); ++k)
    for (char c : operands[k])
      if (!has(needed, c)) needed += c;
  return needed;
}

// Each label once, and only those of dimensions larger than 1; nullopt: a diagonal, or nothing to compute.
std::optional<std::vector<Labels>> plain_operands(const Graph& g, const Node& n, const ops::EinsumLabels& e) {
  std::vector<Labels> out;
  for (size_t i = 0; i < n.inputs.size(); ++i) {
    Labels labels;
    const Shape& shape = type_of(g, n.inputs[i]).shape;
    for (size_t d = 0; d < shape.size(); ++d) {
      const char c = e.operands[i][d];
      if (shape[d] == 0 || std::ranges::count(e.operands[i], c) != 1) return std::nullopt;
      if (shape[d] != 1) labels += c;
    }
    out.push_back(std::move(labels));
  }
  return out;
}

// No product on the way has more elements than the largest operand, or the result.
bool is_small_on_the_way(const ops::EinsumLabels& e, const std::vector<Labels>& operands) {
  int64_t most = product_of(e.result, e.sizes);
  for (const Labels& labels : operands) most = std::max(most, product_of(labels, e.sizes));
  Labels made = operands.front();
  for (size_t i = 1; i < operands.size(); ++i) {
    const Labels needed = needed_behind(e, operands, i);
    made = those(needed, [&](char c) { return has(made, c) || has(operands[i], c); });
    if (product_of(made, e.sizes) > most) return false;
  }
  return true;
}

class Writer {
 public:
  Writer(Rewriter& rw, NodeId id, const ops::EinsumLabels& e) : rw_(rw), id_(id), e_(e) {}

  ValueId write(const std::vector<ValueId>& values, const std::vector<Labels>& operands) {
    Labelled made{values[0], operands[0]};
    made = sum(made, needed_behind(e_, operands, 0));
    for (size_t i = 1; i < values.size(); ++i) {
      const Labels needed = needed_behind(e_, operands, i);
      // What the product so far has counts as read by this operand.
      made = product(made, sum({values[i], operands[i]}, needed + made.labels), needed);
    }
    return finish(made);
  }

 private:
  TensorType type(Shape shape) const { return {type_of(rw_.graph(), graph_output()).elem, std::move(shape)}; }
  ValueId graph_output() const { return rw_.graph().node(id_).outputs[0]; }
  ValueId ints(const std::vector<int64_t>& values, std::string name) {
    return rw_.constant(ints_tensor(values), std::span(&id_, 1), std::move(name));
  }

  Shape shape_of(const Labels& labels) const {
    Shape shape;
    for (char c : labels) shape.push_back(e_.sizes.at(c));
    return shape;
  }

  ValueId reshaped(ValueId value, Shape shape) {
    if (type_of(rw_.graph(), value).shape == shape) return value;
    const ValueId to = ints(shape, "shape");
    return make(rw_, Op::Reshape, {value, to}, type(std::move(shape)), {id_});
  }

  // In this order of its labels, without dimensions of 1.
  ValueId ordered(const Labelled& x, const Labels& order) {
    const ValueId plain = reshaped(x.value, shape_of(x.labels));
    if (order == x.labels) return plain;
    std::vector<int64_t> perm;
    for (char c : order) perm.push_back(static_cast<int64_t>(x.labels.find(c)));
    return make(rw_, Op::Transpose, {plain}, type(shape_of(order)), {id_}, {{"perm", Attr(perm)}});
  }

  // Without the labels that nobody reads.
  Labelled sum(const Labelled& x, const Labels& read) {
    const Labels kept = those(x.labels, [&](char c) { return has(read, c); });
    if (kept == x.labels) return x;
    std::vector<int64_t> axes;
    for (size_t d = 0; d < x.labels.size(); ++d)
      if (!has(read, x.labels[d])) axes.push_back(static_cast<int64_t>(d));
    const ValueId plain = reshaped(x.value, shape_of(x.labels)), over = ints(axes, "axes");
    return {make(rw_, Op::ReduceSum, {plain, over}, type(shape_of(kept)), {id_},
                 {{"keepdims", Attr(int64_t{0})}}),
            kept};
  }

  Labelled product(Labelled a, Labelled b, const Labels& needed) {
    Kinds k(a.labels, b.labels, needed);
    // The result has the right operand's dimensions first: then that is the left one.
    const auto first = std::ranges::find_if(needed, [&](char c) { return has(k.left + k.right, c); });
    if (first != needed.end() && has(k.right, *first)) {
      std::swap(a, b);
      std::swap(k.left, k.right);
    }
    const Labels made = k.batch + k.left + k.right;
    if (k.summed.empty()) return {elementwise(a, b, k), made};
    const auto n = [&](const Labels& labels) { return product_of(labels, e_.sizes); };
    Shape left{n(k.left), n(k.summed)}, right{n(k.summed), n(k.right)}, both{n(k.left), n(k.right)};
    if (!k.batch.empty())
      for (Shape* s : {&left, &right, &both}) s->insert(s->begin(), n(k.batch));
    const ValueId x = reshaped(ordered(a, k.batch + k.left + k.summed), left);
    const ValueId y = reshaped(ordered(b, k.batch + k.summed + k.right), right);
    return {reshaped(make(rw_, Op::MatMul, {x, y}, type(both), {id_}), shape_of(made)), made};
  }

  ValueId elementwise(const Labelled& a, const Labelled& b, const Kinds& k) {
    const Labels of_a = k.batch + k.left, of_b = k.batch + k.right;
    Shape left = shape_of(of_a), right = shape_of(of_b);
    left.insert(left.end(), k.right.size(), 1);
    right.insert(right.begin() + static_cast<ptrdiff_t>(k.batch.size()), k.left.size(), 1);
    const ValueId x = reshaped(ordered(a, of_a), left), y = reshaped(ordered(b, of_b), right);
    return make(rw_, Op::Mul, {x, y}, type(shape_of(of_a + k.right)), {id_});
  }

  ValueId finish(const Labelled& made) {
    const Labels order = those(e_.result, [&](char c) { return has(made.labels, c); });
    return reshaped(ordered(made, order), type_of(rw_.graph(), graph_output()).shape);
  }

  Rewriter& rw_;
  NodeId id_;
  const ops::EinsumLabels& e_;
};

// Those that MatMul takes as well.
bool is_product_type(ElementType elem) {
  return is_float(elem) || (is_integer(elem) && byte_size(elem) >= 4);
}

bool write_products(Rewriter& rw, NodeId id) {
  const Graph& g = rw.graph();
  const Node& n = g.node(id);
  if (g.use_count(n.outputs[0]) == 0 || !is_product_type(type_of(g, n.outputs[0]).elem)) return false;
  const auto e = ops::einsum_labels(ops::infer_context(g, n));
  const auto operands = e.ok() ? plain_operands(g, n, *e) : std::nullopt;
  if (!operands || !is_small_on_the_way(*e, *operands)) return false;
  const std::vector<ValueId> values = n.inputs;  // a copy: nodes move when others are made
  return bypass(rw, id, Writer(rw, id, *e).write(values, *operands), "written as products of matrices");
}

}  // namespace

Status einsum_to_matmul(Graph& graph, const PassContext&, bool& changed) {
  changed = rewrite_nodes(graph, "einsum-to-matmul", is_any<Op::Einsum>, write_products);
  return {};
}

}  // namespace mrvlc::passes
