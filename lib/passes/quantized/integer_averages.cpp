// integer-averages
//   before  %1 = DequantizeLinear(%x, %s, %z)    %2 = AveragePool(%1)    %3 = QuantizeLinear(%2, %t, %u)
//   after   %1 = DequantizeLinear(%x, 1, %z)     %2 = AveragePool(%1)    %3 = QuantizeLinear(%2, %t / %s, %u)
// and so GlobalAveragePool, ReduceMean and ReduceSum.
// Preconditions: one scale for %x and for %3, both above 0; float32 between; no sum beyond 2^24; nothing else
// reads what lies between. A fence there does not matter: each node stays where it is, and must give the same
// wherever that is. Safe because a sum of scaled numbers is the scaled sum. Sums of %x - %z are exact in fp32
// whatever their order, where those of scaled numbers are rounded, in an order that ONNX leaves open: with
// one scale on both sides, as is usual, averages of an even number of terms often lie right between two
// integers.
#include <cfloat>
#include <numeric>

#include "mrvlc/ops/op_kind.h"
#include "mrvlc/ops/params.h"
#include "mrvlc/passes/fences.h"
#include "mrvlc/support/saturating.h"
#include "passes.h"
#include "written_out.h"

namespace mrvlc::passes {
namespace {

constexpr int64_t kExact = int64_t{1} << 24;  // integers up to here are numbers of fp32

struct Average {
  QuantizeStep x, y;
  NodeId node;
  float scale = 1, ratio = 1;
};

// The node that makes `value` for nobody else.
const Node* sole_producer(const Graph& g, ValueId value) {
  for (;;) {
    const Node* n = single_use(g, value) ? producer(g, value) : nullptr;
    if (n == nullptr || !is_fence(*n)) return n;
    value = n->inputs[0];
  }
}

// How many terms a sum has; 0: not known.
int64_t terms(const Graph& g, const Node& n) {
  if (n.is(Op::ReduceMean, Op::ReduceSum)) {
    const auto axes = constant_axes(g, n);
    return axes ? reduced_count(g, n.inputs[0], *axes) : 0;
  }
  const auto p = ops::pool_params(ops::infer_context(g, n));
  if (!p.ok()) return 0;
  return std::accumulate(p->kernel.begin(), p->kernel.end(), int64_t{1}, saturating_mul);
}

float scale_of(const Graph& g, const QuantizeStep& step) {
  return static_cast<float>(g.constant(step.scale)->as_double(0));
}

bool within(float v) {
  return v >= FLT_MIN && v <= FLT_MAX;
}

std::optional<Average> find(const Graph& g, const Node& quantize) {
  Average a;
  const Node* n = sole_producer(g, quantize.inputs[0]);
  if (n == nullptr || !n->is(Op::AveragePool, Op::GlobalAveragePool, Op::ReduceMean, Op::ReduceSum) ||
      !is_static(g, *n))
    return std::nullopt;
  const Node* d = sole_producer(g, n->inputs[0]);
  if (d == nullptr || !d->is(Op::DequantizeLinear)) return std::nullopt;
  a.node = n->id;
  a.x = quantize_step(g, d, true);
  a.y = quantize_step(g, &quantize, true);
  if (!a.x || !a.y || g.is_constant(a.x.data)) return std::nullopt;
  const ElementType from = type_of(g, a.x.data).elem;
  if (!is_integer(from) || !is_integer(type_of(g, quantize.outputs[0]).elem) || byte_size(from) > 2)
    return std::nullopt;
  for (ValueId numbers : {n->inputs[0], n->outputs[0]})
    if (type_of(g, numbers).elem != ElementType::F32) return std::nullopt;
  const int64_t count = terms(g, *n), codes = int64_t{1} << 8 * byte_size(from);
  if (count <= 0 || saturating_mul(count, codes) > kExact) return std::nullopt;
  a.scale = scale_of(g, a.x);
  a.ratio = scale_of(g, a.y) / a.scale;
  return within(a.scale) && within(a.ratio) ? std::optional(a) : std::nullopt;
}

constexpr std::string_view kWhy = "averages integers before they are scaled";

// The same node with another operand, or scale, in its place: its result is another number, and has no name.
ValueId replaced(Rewriter& rw, NodeId id, size_t input, ValueId now) {
  const Graph& g = rw.graph();
  const NodeId from[] = {id};
  std::vector<ValueId> inputs = g.node(id).inputs;
  inputs[input] = now;
  const ir::OpSchema& schema = *g.node(id).op;
  std::vector<Attr> attrs = g.node(id).attrs;
  const TensorType type = type_of(g, g.node(id).outputs[0]);
  const ValueId out = rw.output(rw.create(schema, std::move(inputs), std::move(attrs), {type}, from));
  bypass(rw, id, out, kWhy);
  return out;
}

ValueId scale_constant(Rewriter& rw, NodeId of, float scale) {
  const NodeId from[] = {of};
  return rw.constant(scalar_tensor(ElementType::F32, static_cast<double>(scale)), from);
}

bool scale_once(Rewriter& rw, NodeId id, const PassContext& context) {
  const std::optional<Average> a = find(rw.graph(), rw.graph().node(id));
  if (!a || a->scale == 1 || reserves(context, rw.graph(), {a->node, id})) return false;
  replaced(rw, a->x.node, 1, scale_constant(rw, a->x.node, 1));
  replaced(rw, a->node, 0, rw.graph().node(a->node).inputs[0]);
  replaced(rw, id, 1, scale_constant(rw, id, a->ratio));
  return true;
}

}  // namespace

Status integer_averages(Graph& graph, const PassContext& context, bool& changed) {
  const auto scale = [&](Rewriter& rw, NodeId id) { return scale_once(rw, id, context); };
  changed = rewrite_nodes(graph, "integer-averages", is_any<Op::QuantizeLinear>, scale);
  return {};
}

}  // namespace mrvlc::passes
