// Reductions, squares and multiples as matches; whether nobody else reads them; what takes their place.
#include "written_out.h"

#include <algorithm>
#include <cmath>

#include "mrvlc/ops/op_kind.h"
#include "mrvlc/ops/params.h"

namespace mrvlc::passes {
namespace {

Shape kept_shape(const Shape& shape, const std::vector<int64_t>& axes) {
  Shape kept = shape;
  for (int64_t a : axes) kept[static_cast<size_t>(a)] = 1;
  return kept;
}

std::optional<Reduced> reduction_at(const Graph& g, const Node& n, const Shape& result) {
  auto axes = constant_axes(g, n);
  if (!axes || axes->empty() || kept_shape(type_of(g, n.inputs[0]).shape, *axes) != result)
    return std::nullopt;
  return Reduced{n.inputs[0], std::move(*axes), {n.id}};
}

}  // namespace

std::optional<std::vector<int64_t>> constant_axes(const Graph& g, const Node& reduction) {
  ValueId operand = input_or_none(reduction, 1);
  if (!is_static(g, reduction) || (operand.valid() && !g.is_constant(operand))) return std::nullopt;
  if (!is_float(type_of(g, reduction.outputs[0]).elem)) return std::nullopt;
  auto axes = ops::reduce_axes(ops::infer_context(g, reduction));
  return axes.ok() ? std::optional(std::move(axes).value()) : std::nullopt;
}

std::optional<Reduced> reduced(const Graph& g, ValueId value, Op op) {
  const Node* n = producer(g, value);
  if (n == nullptr) return std::nullopt;
  const Shape& result = type_of(g, value).shape;
  if (n->is(op)) return reduction_at(g, *n, result);
  if (ops::traits(*n).moves != ops::Moves::Same) return std::nullopt;
  const Node* first = producer_of(g, n->inputs[0], op);
  auto found = first != nullptr ? reduction_at(g, *first, result) : std::nullopt;
  if (found) found->nodes.push_back(n->id);
  return found;
}

int64_t reduced_count(const Graph& g, ValueId x, const std::vector<int64_t>& axes) {
  int64_t n = 1;
  for (int64_t a : axes) n *= type_of(g, x).shape[static_cast<size_t>(a)];
  return n;
}

ValueId squared_operand(const Graph& g, ValueId value) {
  const Node* n = producer(g, value);
  if (n == nullptr || !n->is(Op::Mul, Op::Pow) || !is_float(type_of(g, value).elem)) return {};
  bool square = n->is(Op::Mul) ? n->inputs[0] == n->inputs[1] : uniform_constant(g, n->inputs[1]) == 2.0;
  return square && type_of(g, n->inputs[0]) == type_of(g, value) ? n->inputs[0] : ValueId();
}

std::optional<Scaled> scaled(const Graph& g, const Node& n) {
  if (!n.is(Op::Mul, Op::Div) || !is_float(type_of(g, n.outputs[0]).elem)) return std::nullopt;
  for (size_t i : {size_t{1}, size_t{0}}) {
    auto c = uniform_constant(g, n.inputs[i]);
    ValueId x = n.inputs[1 - i];
    if (!c || *c == 0 || g.is_constant(x) || !(type_of(g, x) == type_of(g, n.outputs[0]))) continue;
    if (n.is(Op::Mul)) return Scaled{x, *c};
    if (i == 1) return Scaled{x, 1 / *c};
  }
  return std::nullopt;
}

bool divides_by(const Graph& g, const Scaled& s, int64_t n) {
  double rounding = type_of(g, s.x).elem == ElementType::F16 ? 0x1p-10 : 0x1p-23;
  return n > 0 && std::abs(s.factor * static_cast<double>(n) - 1) <= rounding;
}

bool closed(const Graph& g, const Nodes& nodes, NodeId last) {
  auto inside = [&](NodeId id) { return std::find(nodes.begin(), nodes.end(), id) != nodes.end(); };
  return std::ranges::all_of(nodes, [&](NodeId id) {
    return id == last || std::ranges::all_of(g.node(id).outputs, [&](ValueId v) {
             const auto& users = g.value(v).users;
             return !g.is_output(v) && std::ranges::all_of(users, inside);
           });
  });
}

Nodes joined(const Nodes& a, const Nodes& b, NodeId last) {
  Nodes all = a;
  all.insert(all.end(), b.begin(), b.end());
  std::ranges::sort(all);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  std::erase(all, last);
  all.push_back(last);
  return all;
}

void replace(Rewriter& rw, const Nodes& nodes, ValueId now, Because because) {
  bypass(rw, nodes.back(), now, because);
  for (size_t before = nodes.size() + 1, left = nodes.size(); left < before;) {  // readers first
    before = left;
    left = 0;
    for (NodeId id : nodes) {
      erase_if_unused(rw, id, because);
      if (!rw.graph().node(id).erased) ++left;
    }
  }
}

ValueId make_from(Rewriter& rw, Op op, std::vector<ValueId> inputs, TensorType type, const Nodes& nodes,
                  AttrList attrs) {
  const ir::OpSchema& schema = ops::op_def(op);
  std::vector<Attr> slots = ir::default_attrs(schema);
  for (const auto& [attr, value] : attrs) ir::set_attr(schema, slots, attr, value);
  return rw.output(rw.create(schema, std::move(inputs), std::move(slots), {std::move(type)}, nodes));
}

}  // namespace mrvlc::passes
