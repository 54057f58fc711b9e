// fold-constants
//   before  %1 = DequantizeLinear(%q, %s, %z)    %2 = Conv(%x, %1)          (%q, %s, %z constant)
//   after   %2 = Conv(%x, %3)                                               (%3 constant)
// Preconditions: every input is constant (Shape and Size need only the type of theirs), results are not
// random, the context does not ask for the node, and they are within its limit and its budget. A small
// constant that would swell (Expand, ConstantOfShape, Tile) stays computed at run time: its bytes would only
// make the binaries larger. Safe because the reference semantics of the operator table compute the result. An
// evaluation that fails leaves the node as it is. Where a result is an output of the model, an Identity of
// the constant carries its name.
//
// fold-quantized: the same, but for DequantizeLinear, in graphs that have one
//   before  %1 = QuantizeLinear(%f, %s, %z)    %2 = DequantizeLinear(%1, %s, %z)    %3 = Conv(%x, %2)
//   after   %2 = DequantizeLinear(%q, %s, %z)    %3 = Conv(%x, %2)             (%f, %q, %s, %z constant)
// so that weights that training quantises within the graph are the integers that they would be in a file, and
// scales and zero points that nodes make are constants. For what knows quantised networks, which runs before
// DequantizeLinear is folded to floats.
#include <algorithm>

#include "mrvlc/interp/interp.h"
#include "mrvlc/ops/op_kind.h"
#include "mrvlc/ops/random.h"
#include "mrvlc/ops/work.h"
#include "passes.h"
#include "util.h"

namespace mrvlc::passes {
namespace {

constexpr int64_t kSwellFloor = int64_t{1} << 20;  // bytes; below, swelling does not matter
constexpr int64_t kSwellFactor = 8;

bool inputs_constant(const Graph& g, const Node& n) {
  return std::all_of(n.inputs.begin(), n.inputs.end(),
                     [&](ValueId v) { return !v.valid() || g.is_constant(v); });
}

bool carries_interface_name(const Graph& g, const Node& n) {
  return n.is(Op::Identity) && g.is_output(n.outputs[0]);
}

bool within_limits(const Graph& g, const Node& n, const PassContext& context) {
  int64_t in = 0, out = 0;
  for (ValueId v : n.inputs) {
    if (v.valid()) in += type_of(g, v).bytes();
  }
  for (ValueId v : n.outputs) {
    int64_t bytes = type_of(g, v).bytes();
    if (bytes > context.max_folded_bytes) return false;
    out += bytes;
  }
  if (!n.inputs.empty() && out > kSwellFloor && out / kSwellFactor > in) return false;
  return out <= context.max_folded_bytes;
}

// What it costs is taken from the budget.
bool affordable(const Graph& g, const Node& n, const PassContext& context) {
  if (context.fold_budget == nullptr) return true;
  int64_t bytes = 0;
  for (ValueId v : n.outputs) bytes += type_of(g, v).bytes();
  const int64_t work = ops::evaluation_work(g, n);
  FoldBudget& left = *context.fold_budget;
  if (work > left.work || bytes > left.bytes) return false;
  left.work -= work;
  left.bytes -= bytes;
  return true;
}

// Shape's start and end count as in ONNX: negative from the back, clamped.
std::vector<int64_t> shape_slice(const Node& n, const Shape& shape) {
  auto rank = static_cast<int64_t>(shape.size());
  auto clamp = [&](std::string_view attr, int64_t otherwise) {
    int64_t v = n.op->attr_index(attr) >= 0 && n.has_attr(attr) ? n.int_attr(attr) : otherwise;
    return std::clamp<int64_t>(v < 0 ? v + rank : v, 0, rank);
  };
  int64_t start = clamp("start", 0), end = clamp("end", rank);
  if (start >= end) return {};
  return {shape.begin() + start, shape.begin() + end};
}

Result<std::vector<Tensor>> evaluate(const Graph& g, const Node& n) {
  if (n.is(Op::Shape)) return std::vector<Tensor>{ints_tensor(shape_slice(n, type_of(g, n.inputs[0]).shape))};
  if (n.is(Op::Size))
    return std::vector<Tensor>{
        Tensor::of(ElementType::I64, {}, std::vector<int64_t>{type_of(g, n.inputs[0]).elements()})};
  std::vector<const Tensor*> inputs;
  for (ValueId v : n.inputs) inputs.push_back(g.constant(v));
  return interp::evaluate(g, n, inputs);
}

void put_in_place(Rewriter& rw, NodeId id, ValueId out, Tensor tensor) {
  std::vector<NodeId> from{id};
  ValueId folded = rw.constant(std::move(tensor), from);
  if (!rw.graph().is_output(out)) return rw.replace_all_uses(out, folded);
  ValueId named = make(rw, Op::Identity, {folded}, type_of(rw.graph(), folded), {id});
  rw.replace_all_uses(out, named);
  rw.replace_all_uses(named, folded);
}

bool foldable(const Graph& g, const Node& n, const PassContext& context) {
  auto is_static = [&](ValueId v) { return !v.valid() || type_of(g, v).is_static(); };
  if (!std::all_of(n.inputs.begin(), n.inputs.end(), is_static) || !ir::bodies_of(n).empty()) return false;
  if (!std::all_of(n.outputs.begin(), n.outputs.end(), is_static)) return false;
  if (n.outputs.empty() || ops::is_random(n) || carries_interface_name(g, n)) return false;
  if (context.stays && context.stays(g, n)) return false;
  bool of_type = n.is(Op::Shape, Op::Size);
  return (of_type || inputs_constant(g, n)) && within_limits(g, n, context);
}

bool fold_constant(Rewriter& rw, NodeId id, const PassContext& context) {
  const Graph& g = rw.graph();
  if (!foldable(g, g.node(id), context)) return false;
  const bool of_type = g.node(id).is(Op::Shape) || g.node(id).is(Op::Size);
  if (!of_type && !affordable(g, g.node(id), context)) return false;
  auto results = evaluate(g, g.node(id));
  if (!results.ok()) return false;
  std::vector<ValueId> outputs = g.node(id).outputs;
  if (results->size() < outputs.size()) return false;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!((*results)[i].type() == type_of(g, outputs[i]))) return false;
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (g.use_count(outputs[i]) != 0) put_in_place(rw, id, outputs[i], std::move((*results)[i]));
  }
  rw.erase(id, ir::folded(of_type ? "folded: shapes are known at compile time"
                                  : "folded: every input is constant"));
  return true;
}

bool makes_numbers(const Node& n) {
  return n.is(Op::DequantizeLinear);
}

}  // namespace

Status fold_quantized(Graph& graph, const PassContext& context, bool& changed) {
  if (!has_anchor(graph, makes_numbers)) return {};
  const auto foldable_by_inputs = [&](const Node& n) {
    return !makes_numbers(n) && inputs_constant(graph, n);
  };
  changed = rewrite_nodes(graph, "fold-quantized", foldable_by_inputs, [&](Rewriter& rw, NodeId id) {
    return !reserves(context, rw.graph(), {id}) && fold_constant(rw, id, context);
  });
  return {};
}

Status fold_constants(Graph& graph, const PassContext& context, bool& changed) {
  auto foldable_by_inputs = [&](const Node& n) {
    return n.is(Op::Shape, Op::Size) || inputs_constant(graph, n);
  };
  changed = rewrite_nodes(graph, "fold-constants", foldable_by_inputs,
                          [&](Rewriter& rw, NodeId id) { return fold_constant(rw, id, context); });
  return {};
}

}  // namespace mrvlc::passes
