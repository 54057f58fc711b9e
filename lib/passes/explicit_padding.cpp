// explicit-padding
//   before  Conv(%x, %w) {auto_pad = "SAME_UPPER"}
//   after   Conv(%x, %w) {auto_pad = "NOTSET", pads = [0, 0, 1, 1]}
// Preconditions: inference gives the new node the type of the old one, and no pad is negative (SAME with a
// stride larger than the kernel asks for one). Safe because the pads are those that the operator table itself
// resolves auto_pad to.
#include <algorithm>

#include "mrvlc/ops/attributes.h"
#include "mrvlc/ops/op_kind.h"
#include "mrvlc/ops/params.h"
#include "passes.h"
#include "util.h"

namespace mrvlc::passes {
namespace {

template <class Params>
std::optional<ops::WindowParams> window(Result<Params> params) {
  if (!params.ok()) return std::nullopt;
  return static_cast<ops::WindowParams>(*params);
}

std::optional<ops::WindowParams> window_of(const Graph& g, const Node& n) {
  ops::InferContext context = ops::infer_context(g, n);
  if (n.is(Op::Conv)) return window(ops::conv_params(context));
  if (n.is(Op::ConvTranspose)) return window(ops::conv_transpose_params(context));
  if (n.is(Op::MaxPool, Op::AveragePool)) return window(ops::pool_params(context));
  return std::nullopt;
}

// The attributes with auto_pad resolved.
std::vector<Attr> resolved(const Node& n, const ops::WindowParams& w) {
  std::vector<int64_t> pads = w.pads_begin;
  pads.insert(pads.end(), w.pads_end.begin(), w.pads_end.end());
  std::vector<Attr> attrs = n.attrs;
  ir::set_attr(*n.op, attrs, "auto_pad", Attr(std::string("NOTSET")));
  ir::set_attr(*n.op, attrs, "pads", Attr(std::move(pads)));
  // Both only help to find the pads, which are there now.
  if (n.op->attr_index("output_shape") >= 0) ir::set_attr(*n.op, attrs, "output_shape", {});
  if (n.op->attr_index("ceil_mode") >= 0) ir::set_attr(*n.op, attrs, "ceil_mode", Attr(int64_t{0}));
  return attrs;
}

bool any_negative(const std::vector<int64_t>& v) {
  return std::any_of(v.begin(), v.end(), [](int64_t x) { return x < 0; });
}

bool resolve(Rewriter& rw, NodeId id) {
  const Graph& g = rw.graph();
  const Node& n = g.node(id);
  if (!ops::attr::pads_by_itself(n) || n.outputs.size() != 1) return false;
  auto w = window_of(g, n);
  if (!w || any_negative(w->pads_begin) || any_negative(w->pads_end)) return false;
  std::vector<Attr> attrs = resolved(n, *w);
  ops::InferContext context = ops::infer_context(g, n);
  context.attrs = &attrs;
  auto types = ops::infer_types(ops::op_def(n), context);
  TensorType type = type_of(g, n.outputs[0]);
  if (!types.ok() || !(types->at(0) == type)) return false;
  NodeId now = rw.create(*n.op, n.inputs, std::move(attrs), {type}, std::span(&id, 1));
  return bypass(rw, id, rw.output(now), "rewritten with explicit pads");
}

}  // namespace

Status explicit_padding(Graph& graph, const PassContext&, bool& changed) {
  changed = rewrite_nodes(graph, "explicit-padding",
                          is_any<Op::Conv, Op::ConvTranspose, Op::MaxPool, Op::AveragePool>, resolve);
  return {};
}

}  // namespace mrvlc::passes
