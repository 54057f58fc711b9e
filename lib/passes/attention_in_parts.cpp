// attention-in-parts
//   before  %s = MatMul(%q, %k)   %p = Softmax(%s)   %y = MatMul(%p, %v)
//   after   the same of Slices of %q, %k and %v, and %y = Concat(...) of the parts
// A part is some matrices of the leading dimensions, or some rows of one matrix. Between MatMul and Softmax
// there may be arithmetic with what is broadcast to the scores; it is sliced as well. Preconditions: static
// shapes; Softmax along the last axis; nobody else reads what is in between; the whole does not fit the
// accelerator's chip, and a part does; rows that its Softmax takes. Safe because matrices, and rows of them,
// are multiplied and normalised each by itself. For the accelerator: scores that leave the chip cross its
// memory four times.
#include <algorithm>
#include <map>
#include <tuple>

#include "mrvlc/ops/attributes.h"
#include "mrvlc/ops/op_kind.h"
#include "mrvlc/support/saturating.h"
#include "passes.h"
#include "util.h"

namespace mrvlc::passes {
namespace {

constexpr int64_t kMostParts = 128;
constexpr int64_t kElement = 2;  // bytes of a score on the accelerator

// First node, arithmetic, Softmax, last product, in order of execution.
struct Attention {
  std::vector<NodeId> nodes;
  Shape scores;
  int64_t beside = 0;   // elements of keys and values that a row of scores needs
  bool masked = false;  // something of the size of the scores is an operand of the arithmetic
};

bool is_arithmetic(const Node& n) {
  return n.is(Op::Add, Op::Sub, Op::Mul, Op::Div, Op::Tanh);
}

// The only reader of the result, of the same shape on the way.
const Node* only_reader(const Graph& g, const Node& n) {
  const ValueId v = n.outputs[0];
  if (!single_use(g, v) || g.is_output(v)) return nullptr;
  return &g.node(g.value(v).users.front());
}

// A product of two computed matrices with as many leading dimensions.
bool multiplies(const Graph& g, const Node& n) {
  if (!n.is(Op::MatMul) || !is_float(type_of(g, n.outputs[0]).elem) || !is_static(g, n)) return false;
  const int64_t rank = type_of(g, n.outputs[0]).rank();
  return rank >= 2 && type_of(g, n.inputs[0]).rank() == rank && type_of(g, n.inputs[1]).rank() == rank &&
         !g.is_constant(n.inputs[1]);
}

bool over_last_axis(const Graph& g, const Node& softmax) {
  const int64_t axis = ops::attr::axis(softmax);
  return axis == -1 || axis == type_of(g, softmax.inputs[0]).rank() - 1;
}

bool has_rows(const Graph& g, ValueId v) {
  const Shape& shape = type_of(g, v).shape;
  return shape.size() >= 2 && shape.back() > 1 && shape[shape.size() - 2] > 1;
}

int64_t matrix_elements(const Graph& g, ValueId v) {
  const Shape& shape = type_of(g, v).shape;
  return saturating_mul(shape[shape.size() - 2], shape.back());
}

std::optional<Attention> attention_from(const Graph& g, const Node& product) {
  if (!multiplies(g, product)) return std::nullopt;
  Attention found{{product.id}, type_of(g, product.outputs[0]).shape};
  const Node* next = only_reader(g, product);
  for (; next != nullptr && is_arithmetic(*next); next = only_reader(g, *next)) {
    if (type_of(g, next->outputs[0]).shape != found.scores) return std::nullopt;
    const ValueId before = g.node(found.nodes.back()).outputs[0];
    for (ValueId v : next->inputs) found.masked = found.masked || (v != before && has_rows(g, v));
    found.nodes.push_back(next->id);
  }
  if (next == nullptr || !next->is(Op::Softmax) || !over_last_axis(g, *next)) return std::nullopt;
  const ValueId weights = next->outputs[0];
  found.nodes.push_back(next->id);
  next = only_reader(g, *next);
  if (next == nullptr || !multiplies(g, *next) || next->inputs[0] != weights) return std::nullopt;
  const Shape& result = type_of(g, next->outputs[0]).shape;
  if (!std::equal(result.begin(), result.end() - 1, found.scores.begin())) return std::nullopt;
  found.nodes.push_back(next->id);
  found.beside = saturating_add(matrix_elements(g, product.inputs[1]), matrix_elements(g, next->inputs[1]));
  return found;
}

// Where scores are cut: dimensions in front of `axis` one by one, `axis` in `parts`.
struct Cut {
  size_t axis;
  int64_t parts;
};

// The memory of all tiles that scores of `rows` rows of `matrices` matrices take, with what Softmax makes of
// them. Tiles share out matrices where each has as many, else rows: then keys and values lie in all.
int64_t bytes_of(const Attention& attention, int64_t matrices, int64_t rows, int64_t tiles) {
  const int64_t copies = attention.masked ? 3 : 2, keys = attention.scores.back();
  const int64_t holders = matrices % tiles == 0 ? 1 : tiles;
  const int64_t matrix = saturating_add(saturating_mul(copies, saturating_mul(rows, keys)),
                                        saturating_mul(holders, attention.beside));
  return saturating_mul(kElement, saturating_mul(matrices, matrix));
}

// As few parts as fit, of equal size: of whole matrices if one of them does, else of rows.
std::optional<Cut> cut_for(const Attention& attention, const PassContext& context) {
  const size_t row_axis = attention.scores.size() - 2;
  if (attention.scores.back() > context.longest_row) return std::nullopt;
  const int64_t bytes = saturating_mul(context.tiles, context.tile_bytes);
  int64_t before = 1;
  for (size_t d = 0; d <= row_axis; before = saturating_mul(before, attention.scores[d++])) {
    int64_t matrices = 1;
    for (size_t k = d + 1; k < row_axis; ++k) matrices = saturating_mul(matrices, attention.scores[k]);
    const int64_t n = attention.scores[d], rows = attention.scores[row_axis];
    const auto fits = [&](int64_t parts) {
      const int64_t of_part = (n + parts - 1) / parts;
      return (d == row_axis
                  ? bytes_of(attention, 1, of_part, context.tiles)
                  : bytes_of(attention, saturating_mul(matrices, of_part), rows, context.tiles)) <= bytes;
    };
    if (before == 1 && fits(1)) return std::nullopt;
    for (int64_t parts = 1; parts <= n && saturating_mul(before, parts) <= kMostParts; ++parts)
      if (fits(parts)) return Cut{d, parts};
  }
  return std::nullopt;
}

class PartWriter {
 public:
  PartWriter(Rewriter& rw, const Attention& attention, Cut cut)
      : rw_(rw), attention_(attention), cut_(cut), from_(attention.scores.size() - 1), past_(from_.size()) {}

  ValueId write(size_t axis = 0) {
    const bool last = axis == cut_.axis;
    const int64_t n = attention_.scores[axis], parts = last ? cut_.parts : n;
    std::vector<ValueId> made;
    for (int64_t i = 0; i < parts; ++i) {
      from_[axis] = n * i / parts;
      past_[axis] = n * (i + 1) / parts;
      made.push_back(last ? part() : write(axis + 1));
    }
    from_[axis] = 0, past_[axis] = n;
    if (made.size() == 1) return made.front();
    Shape shape = shape_of(made.front());
    shape[axis] = n;
    return make(rw_, Op::Concat, made, typed(attention_.nodes.back(), shape), {attention_.nodes.back()},
                {{"axis", Attr(static_cast<int64_t>(axis))}});
  }

 private:
  const Graph& g() const { return rw_.graph(); }
  const Shape& shape_of(ValueId v) const { return type_of(g(), v).shape; }
  TensorType typed(NodeId node, Shape shape) const {
    return {type_of(g(), g().node(node).outputs[0]).elem, std::move(shape)};
  }

  ValueId part() {
    ValueId made;
    for (size_t i = 0; i < attention_.nodes.size(); ++i) {
      const NodeId id = attention_.nodes[i];
      const bool product = i == 0 || i + 1 == attention_.nodes.size();
      const ValueId before = i == 0 ? ValueId() : g().node(attention_.nodes[i - 1]).outputs[0];
      std::vector<ValueId> inputs = g().node(id).inputs;
      for (size_t k = 0; k < inputs.size(); ++k) {
        if (inputs[k] == before) {
          inputs[k] = made;
        } else if (inputs[k].valid()) {
          // Rows are those of the left operand of a product, and of what is added to scores.
          inputs[k] = sliced(id, inputs[k], product && k == 1 ? cut_rows() - 1 : cut_rows());
        }
      }
      made = copy(id, std::move(inputs));
    }
    return made;
  }
  size_t cut_rows() const { return from_.size(); }

  ValueId copy(NodeId id, std::vector<ValueId> inputs) {
    Shape shape = shape_of(g().node(id).outputs[0]);
    for (size_t d = 0; d < cut_.axis + 1; ++d) shape[d] = past_[d] - from_[d];
    const Node& n = g().node(id);
    std::vector<Attr> attrs = n.attrs;
    const NodeId made =
        rw_.create(*n.op, std::move(inputs), std::move(attrs), {typed(id, shape)}, std::span(&id, 1));
    return placed(rw_.output(made));
  }

  // One part after the other: the scores of one are no longer needed when those of the next are made.
  ValueId placed(ValueId v) {
    rw_.place_at(g().value(v).producer, attention_.nodes.back());
    return v;
  }

  // The part of an operand, whose last dimensions are those of the scores: of the first `count` dimensions of
  // these, those that are cut and not broadcast.
  ValueId sliced(NodeId id, ValueId v, size_t count) {
    Shape shape = shape_of(v);
    const size_t lead = attention_.scores.size() - shape.size();
    std::vector<int64_t> from, past, axes;
    for (size_t d = lead; d < std::min(count, cut_.axis + 1); ++d) {
      int64_t& size = shape[d - lead];
      if (size == 1 || past_[d] - from_[d] == attention_.scores[d]) continue;
      from.push_back(from_[d]);
      past.push_back(past_[d]);
      axes.push_back(static_cast<int64_t>(d - lead));
      size = past_[d] - from_[d];
    }
    if (axes.empty()) return v;
    const auto [at, fresh] = slices_.try_emplace({v, from, axes});
    if (fresh) {
      const auto ints = [&](const std::vector<int64_t>& values) {
        return rw_.constant(ints_tensor(values), std::span(&id, 1), "part");
      };
      const ElementType elem = type_of(g(), v).elem;
      at->second = placed(make(rw_, Op::Slice, {v, ints(from), ints(past), ints(axes)}, {elem, shape}, {id}));
    }
    return at->second;
  }

  Rewriter& rw_;
  const Attention& attention_;
  Cut cut_;
  std::vector<int64_t> from_, past_;  // of the part, in each dimension but the last
  std::map<std::tuple<ValueId, std::vector<int64_t>, std::vector<int64_t>>, ValueId> slices_;
};

bool cut_attention(Rewriter& rw, NodeId id, const PassContext& context) {
  const Graph& g = rw.graph();
  const auto attention = attention_from(g, g.node(id));
  const auto cut = attention ? cut_for(*attention, context) : std::nullopt;
  if (!cut || element_count(type_of(g, g.node(attention->nodes.back()).outputs[0]).shape) == 0) return false;
  const ValueId now = PartWriter(rw, *attention, *cut).write();
  rw.replace_all_uses(g.node(attention->nodes.back()).outputs[0], now);
  for (size_t i = attention->nodes.size(); i-- > 0;)
    erase_if_unused(rw, attention->nodes[i], "computed in parts whose scores stay on the accelerator's chip");
  return true;
}

}  // namespace

Status attention_in_parts(Graph& graph, const PassContext& context, bool& changed) {
  if (context.tile_bytes == 0) return {};
  changed = rewrite_nodes(graph, "attention-in-parts", is_any<Op::MatMul>,
                          [&](Rewriter& rw, NodeId id) { return cut_attention(rw, id, context); });
  return {};
}

}  // namespace mrvlc::passes
