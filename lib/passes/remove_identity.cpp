// remove-identity
//   before  %1 = Transpose(%x) {perm = [0, 1, 2]}    %2 = Relu(%1)
//   after   %2 = Relu(%x)
// Preconditions: the node's first output has the type of its first input and, by its parameters, the same
// elements in the same places. A Slice that reverses, or a Pad that crops as much as it adds, keeps the type
// but not the elements. Safe because readers see the same tensor. Where the result is an output of the model
// and the input has a name of its own to keep, an Identity stays.
#include <algorithm>
#include <cmath>

#include "mrvlc/ops/attributes.h"
#include "mrvlc/ops/op_kind.h"
#include "mrvlc/ops/params.h"
#include "passes.h"
#include "util.h"

namespace mrvlc::passes {
namespace {

bool all_equal(const std::vector<int64_t>& v, int64_t value) {
  return std::all_of(v.begin(), v.end(), [&](int64_t x) { return x == value; });
}

bool pad_is_empty(const Graph& g, const Node& n) {
  auto p = ops::pad_params(ops::infer_context(g, n));
  return p.ok() && all_equal(p->begin, 0) && all_equal(p->end, 0);
}

bool slice_is_whole(const Graph& g, const Node& n) {
  auto p = ops::slice_params(ops::infer_context(g, n));
  return p.ok() && all_equal(p->step, 1);
}

// Scale 1 maps every output coordinate onto an input coordinate exactly, in every mode but the cropping one.
bool resize_is_exact(const Graph& g, const Node& n) {
  auto p = ops::resize_params(ops::infer_context(g, n));
  if (!p.ok() || p->coordinate_mode == "tf_crop_and_resize") return false;
  return std::all_of(p->scale.begin(), p->scale.end(), [](double s) { return s == 1.0; });
}

bool pool_is_point(const Graph& g, const Node& n) {
  if (n.outputs.size() > 1) return false;
  auto p = ops::pool_params(ops::infer_context(g, n));
  return p.ok() && all_equal(p->kernel, 1) && all_equal(p->strides, 1) && all_equal(p->pads_begin, 0) &&
         all_equal(p->pads_end, 0);
}

bool transpose_keeps_order(const Node& n, int64_t rank) {
  const auto& perm = ops::attr::perm(n);
  if (perm.empty()) return rank <= 1;
  return std::is_sorted(perm.begin(), perm.end());
}

bool dropout_is_off(const Graph& g, const Node& n) {
  ValueId training = input_or_none(n, 2);
  if (!training.valid()) return true;
  const Tensor* t = g.constant(training);
  return t != nullptr && t->elements() == 1 && t->as_int(0) == 0;
}

// x*1, x/1, x-0, x+(-0): exact for every x; x+0 is not for x = -0 in floating point. Only the right operand
// is looked at for Sub and Div.
bool has_neutral_operand(const Graph& g, const Node& n, size_t data) {
  size_t other = 1 - data;
  auto c = uniform_constant(g, n.inputs[other]);
  if (!c) return false;
  if (n.is(Op::Mul)) return *c == 1;
  if (n.is(Op::Div)) return data == 0 && *c == 1;
  if (n.is(Op::Sub)) return data == 0 && *c == 0 && !std::signbit(*c);
  bool exact_zero = *c == 0 && (std::signbit(*c) || is_integer(type_of(g, n.inputs[other]).elem));
  return n.is(Op::Add) && exact_zero;
}

// Only asked when the first output has the type of the first input.
bool passes_input_on(const Graph& g, const Node& n) {
  if (ops::traits(n).moves == ops::Moves::Same) return true;
  switch (n.kind()) {
    case Op::Expand:
    case Op::Tile:
    case Op::Cast:
    case Op::CastLike:
      return true;
    case Op::Dropout:
      return dropout_is_off(g, n);
    case Op::Transpose:
      return transpose_keeps_order(n, type_of(g, n.inputs[0]).rank());
    case Op::Concat:
    case Op::Sum:
    case Op::Max:
    case Op::Min:
    case Op::Mean:
      return n.inputs.size() == 1;
    case Op::Clip:
      return !input_or_none(n, 1).valid() && !input_or_none(n, 2).valid();
    case Op::Pad:
      return pad_is_empty(g, n);
    case Op::Slice:
      return slice_is_whole(g, n);
    case Op::Resize:
      return resize_is_exact(g, n);
    case Op::MaxPool:
    case Op::AveragePool:
      return pool_is_point(g, n);
    case Op::Relu:
      return producer_of(g, n.inputs[0], Op::Relu) != nullptr;
    default:
      return false;
  }
}

// Operators that passes_input_on or has_neutral_operand may hold for.
bool may_pass_on(const Node& n) {
  return n.is(Op::Mul, Op::Div, Op::Add, Op::Sub, Op::Expand, Op::Tile, Op::Cast, Op::CastLike, Op::Dropout,
              Op::Transpose, Op::Concat, Op::Sum, Op::Max, Op::Min, Op::Mean, Op::Clip, Op::Pad, Op::Slice,
              Op::Resize, Op::MaxPool, Op::AveragePool, Op::Relu) ||
         ops::traits(n).moves == ops::Moves::Same;
}

bool remove_one(Rewriter& rw, NodeId id) {
  const Graph& g = rw.graph();
  const Node& n = g.node(id);
  if (n.inputs.empty() || n.outputs.empty() || !n.inputs[0].valid()) return false;
  if (n.inputs.size() == 2 && n.is(Op::Mul, Op::Div, Op::Add, Op::Sub)) {
    for (size_t data : {size_t{0}, size_t{1}}) {
      if (!has_neutral_operand(g, n, data)) continue;
      if (bypass(rw, id, n.inputs[data], "it changes nothing")) return true;
    }
    return false;
  }
  if (!(type_of(g, n.inputs[0]) == type_of(g, n.outputs[0])) || !passes_input_on(g, n)) return false;
  return bypass(rw, id, n.inputs[0], "it passes its input on unchanged");
}

}  // namespace

Status remove_identity(Graph& graph, const PassContext&, bool& changed) {
  changed = rewrite_nodes(graph, "remove-identity", may_pass_on, remove_one);
  return {};
}

}  // namespace mrvlc::passes
