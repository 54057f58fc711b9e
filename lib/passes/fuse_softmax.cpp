// fuse-softmax
//   Exp(x) / ReduceSum(Exp(x)), Exp(x) * Reciprocal(ReduceSum(Exp(x)))   ->  Softmax(x)
//   Log(Softmax(x)), x - Log(ReduceSum(Exp(x))), x - ReduceLogSumExp(x)  ->  LogSoftmax(x)
//   Log(ReduceSum(Exp(x)))                                               ->  ReduceLogSumExp(x)
//   Softmax(x - m), LogSoftmax(x - m), ReduceLogSumExp(x - m) + m        ->  the same of x
// m is ReduceMax(x), along the same axis at least. Preconditions: floating point; sums, and what is divided
// by them, along one and the same constant axis; nobody else reads the values in
// between; rows no longer than the accelerator takes at once. Safe because these are the definitions of the
// operators, and none of them depends on what is taken from a whole row. Where Exp leaves the type the
// written forms are NaN or infinite and the operators are not: they take the maximum away before, and the
// accelerator keeps all in between in fp32.
#include <algorithm>

#include "mrvlc/ops/attributes.h"
#include "mrvlc/ops/op_kind.h"
#include "mrvlc/ops/params.h"
#include "passes.h"
#include "written_out.h"

namespace mrvlc::passes {
namespace {

class Softmaxes {
 public:
  Softmaxes(Rewriter& rw, int64_t longest_row) : rw_(rw), g_(rw.graph()), longest_row_(longest_row) {}

  bool rewrite(NodeId id) {
    const Node& n = g_.node(id);
    if (n.outputs.empty() || g_.use_count(n.outputs[0]) == 0) return false;
    switch (n.kind()) {
      case Op::Div:
        return quotient(n, n.inputs[0], n.inputs[1], {});
      case Op::Mul:
        return product(n);
      case Op::Log:
        return log_of_softmax(n) || log_of_sum(n);
      case Op::Sub:
        return difference(n);
      case Op::Add:
        return sum_with_maximum(n);
      case Op::Softmax:
      case Op::LogSoftmax:
        return shifted(n);
      default:
        return false;
    }
  }

 private:
  // The operand of Exp; invalid: `v` is none.
  ValueId exponent(ValueId v) const {
    const Node* exp = producer_of(g_, v, Op::Exp);
    return exp != nullptr && is_float(type_of(g_, v).elem) ? exp->inputs[0] : ValueId();
  }

  // Along one axis, in rows that are not too long, of nodes that read each other alone.
  bool is_whole(const Nodes& nodes, ValueId x, const std::vector<int64_t>& axes) const {
    int64_t row = reduced_count(g_, x, axes);
    return axes.size() == 1 && row > 0 && row <= longest_row_ && closed(g_, nodes, nodes.back());
  }

  // The operator on x, or on what x was before its maximum was taken away.
  bool put(Nodes nodes, Op op, ValueId x, int64_t axis) {
    if (auto shift = less_maximum(x, {axis})) {
      Nodes all = joined(nodes, shift->nodes, nodes.back());
      if (closed(g_, all, all.back())) {
        x = shift->x;
        nodes = std::move(all);
      }
    }
    ValueId now = make_from(rw_, op, {x}, type_of(g_, x), nodes, {{"axis", Attr(axis)}});
    replace(rw_, nodes, now, "recognised as part of " + std::string(ops::op_def(op).name));
    return true;
  }

  // e / sum, where e is Exp(x) and the sum that of Exp(x), be it another node.
  bool quotient(const Node& n, ValueId e, ValueId sum, Nodes nodes) {
    ValueId x = exponent(e);
    auto total = x.valid() ? reduced(g_, sum, Op::ReduceSum) : std::nullopt;
    if (!total || exponent(total->x) != x || !(type_of(g_, e) == type_of(g_, n.outputs[0]))) return false;
    nodes = joined(nodes, total->nodes, n.id);
    nodes = joined(nodes, {producer(g_, e)->id, producer(g_, total->x)->id}, n.id);
    return is_whole(nodes, x, total->axes) && put(nodes, Op::Softmax, x, total->axes[0]);
  }

  bool product(const Node& n) {
    for (size_t i : {size_t{0}, size_t{1}}) {
      const Node* inverse = producer_of(g_, n.inputs[i], Op::Reciprocal);
      if (inverse != nullptr && quotient(n, n.inputs[1 - i], inverse->inputs[0], {inverse->id})) return true;
    }
    return false;
  }

  bool log_of_softmax(const Node& n) {
    const Node* softmax = producer_of(g_, n.inputs[0], Op::Softmax);
    if (softmax == nullptr || !single_use(g_, n.inputs[0])) return false;
    ValueId x = softmax->inputs[0];
    auto axis = ops::normalize_axis(ops::attr::axis(*softmax), type_of(g_, x).rank());
    return axis.ok() && put({softmax->id, n.id}, Op::LogSoftmax, x, *axis);
  }

  bool log_of_sum(const Node& n) {
    auto sum = reduced(g_, n.inputs[0], Op::ReduceSum);
    int64_t keepdims = sum ? 1 : 0;
    if (!sum) sum = dropped_sum(n.inputs[0]);
    ValueId x = sum ? exponent(sum->x) : ValueId();
    if (!x.valid()) return false;
    Nodes nodes = joined(sum->nodes, {producer(g_, sum->x)->id}, n.id);
    if (!is_whole(nodes, x, sum->axes)) return false;
    ValueId axes = rw_.constant(ints_tensor(sum->axes), std::span(&n.id, 1), "axes");
    ValueId now =
        make_from(rw_, Op::ReduceLogSumExp, {x, axes}, type_of(g_, g_.node(nodes.back()).outputs[0]), nodes,
                  {{"keepdims", Attr(keepdims)}});
    replace(rw_, nodes, now, "recognised as part of ReduceLogSumExp");
    return true;
  }

  // A sum whose result is without the dimensions.
  std::optional<Reduced> dropped_sum(ValueId value) const {
    const Node* n = producer_of(g_, value, Op::ReduceSum);
    auto axes = n != nullptr && ops::attr::keepdims(*n) == 0 ? constant_axes(g_, *n) : std::nullopt;
    return axes ? std::optional(Reduced{n->inputs[0], *axes, {n->id}}) : std::nullopt;
  }

  // x - ReduceLogSumExp(x)
  bool difference(const Node& n) {
    ValueId x = n.inputs[0];
    auto log = reduced(g_, n.inputs[1], Op::ReduceLogSumExp);
    if (!log || log->x != x || !(type_of(g_, x) == type_of(g_, n.outputs[0]))) return false;
    Nodes nodes = joined(log->nodes, {}, n.id);
    return is_whole(nodes, x, log->axes) && put(nodes, Op::LogSoftmax, x, log->axes[0]);
  }

  // x - m, where m is the maximum along `axes` at least.
  struct Shifted {
    ValueId x, maximum;
    Nodes nodes;
  };
  std::optional<Shifted> less_maximum(ValueId value, const std::vector<int64_t>& axes) const {
    const Node* sub = producer_of(g_, value, Op::Sub);
    auto max = sub != nullptr ? reduced(g_, sub->inputs[1], Op::ReduceMax) : std::nullopt;
    if (!max || max->x != sub->inputs[0] || !std::ranges::includes(max->axes, axes)) return std::nullopt;
    return Shifted{max->x, sub->inputs[1], joined(max->nodes, {}, sub->id)};
  }

  bool shifted(const Node& n) {
    auto axis = ops::normalize_axis(ops::attr::axis(n), type_of(g_, n.inputs[0]).rank());
    auto shift = axis.ok() ? less_maximum(n.inputs[0], {*axis}) : std::nullopt;
    if (!shift || !closed(g_, joined(shift->nodes, {}, n.id), n.id)) return false;
    return put({n.id}, n.kind(), n.inputs[0], *axis);
  }

  // What `value` becomes with dimensions of 1 left out or put in.
  ValueId unreshaped(ValueId value, Nodes& nodes) const {
    const Node* n = producer(g_, value);
    if (n == nullptr || ops::traits(*n).moves != ops::Moves::Same) return value;
    nodes.push_back(n->id);
    return n->inputs[0];
  }

  // ReduceLogSumExp(x - m) + m, with the reduced dimensions or, on both sides, without.
  bool sum_with_maximum(const Node& n) {
    for (size_t i : {size_t{0}, size_t{1}}) {
      const Node* log = producer_of(g_, n.inputs[i], Op::ReduceLogSumExp);
      auto axes = log != nullptr ? constant_axes(g_, *log) : std::nullopt;
      auto shift = axes ? less_maximum(log->inputs[0], *axes) : std::nullopt;
      if (!shift || !(type_of(g_, n.inputs[i]) == type_of(g_, n.outputs[0]))) continue;
      Nodes nodes{log->id};
      ValueId m = n.inputs[1 - i];
      if (m != shift->maximum) m = unreshaped(m, nodes);
      if (m != shift->maximum && !is_maximum(m, *shift, nodes)) continue;
      if (reduced_count(g_, shift->x, *axes) * type_of(g_, m).elements() != type_of(g_, shift->x).elements())
        continue;
      nodes = joined(nodes, shift->nodes, n.id);
      if (!closed(g_, nodes, n.id)) continue;
      return put_log_sum(*log, shift->x, nodes);
    }
    return false;
  }

  // The maximum itself, where the subtraction reads it in another shape.
  bool is_maximum(ValueId m, const Shifted& shift, Nodes& nodes) const {
    const Node* max = producer_of(g_, m, Op::ReduceMax);
    if (max == nullptr || std::ranges::find(shift.nodes, max->id) == shift.nodes.end()) return false;
    nodes.push_back(max->id);
    return true;
  }

  bool put_log_sum(const Node& log, ValueId x, const Nodes& nodes) {
    std::vector<ValueId> inputs = log.inputs;
    inputs[0] = x;
    AttrList attrs = {{"keepdims", Attr(ops::attr::keepdims(log))}};
    TensorType type = type_of(g_, log.outputs[0]);
    ValueId now = make_from(rw_, Op::ReduceLogSumExp, std::move(inputs), std::move(type), nodes, attrs);
    replace(rw_, nodes, now, "recognised as part of ReduceLogSumExp");
    return true;
  }

  Rewriter& rw_;
  const Graph& g_;
  int64_t longest_row_;
};

}  // namespace

Status fuse_softmax(Graph& graph, const PassContext& context, bool& changed) {
  changed = rewrite_nodes(
      graph, "fuse-softmax", is_any<Op::Div, Op::Mul, Op::Log, Op::Sub, Op::Add, Op::Softmax, Op::LogSoftmax>,
      [&](Rewriter& rw, NodeId id) { return Softmaxes(rw, context.longest_row).rewrite(id); });
  return {};
}

}  // namespace mrvlc::passes
