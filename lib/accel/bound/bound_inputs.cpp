// Windows inside their input, elements that anybody reads, values that need all of an input.
#include "bound/bound_inputs.h"

#include <algorithm>

#include "mrvlc/ops/attributes.h"
#include "mrvlc/ops/op_kind.h"
#include "mrvlc/support/checked.h"

namespace mrvlc::accel {
namespace {

int64_t floor_div(int64_t a, int64_t b) {
  return a >= 0 ? a / b : -((-a + b - 1) / b);
}

template <class Params>
int64_t touched_by_windows(const Result<Params>& p, int64_t all) {
  if (!p.ok()) return 0;
  for (size_t d = 0; d < p->kernel.size(); ++d) all = all / p->input[d] * axis_of(*p, d).positions;
  return all;
}

// No window lies in the padding altogether.
bool meets(const ops::WindowParams& p) {
  for (size_t d = 0; d < p.kernel.size(); ++d) {
    int64_t before = p.pads_begin[d], last = (p.output[d] - 1) * p.strides[d] - before;
    if (p.dilations[d] != 1 && (before > 0 || p.pads_end[d] > 0) && p.input[d] < p.dilations[d]) return false;
    if (before >= (p.kernel[d] - 1) * p.dilations[d] + 1 || last >= p.input[d]) return false;
  }
  return true;
}

// Every position is in a window.
bool covers(const ops::WindowParams& p) {
  for (size_t d = 0; d < p.kernel.size(); ++d)
    if (axis_of(p, d).positions < p.input[d]) return false;
  return true;
}

}  // namespace

Axis axis_of(const ops::WindowParams& p, size_t d) {
  Axis a;
  int64_t most = 0, in = p.input[d], out = p.output[d], stride = p.strides[d];
  for (int64_t r = 0; r < p.kernel[d]; ++r) {
    int64_t at = p.pads_begin[d] - r * p.dilations[d];  // output y reads y * stride - at
    int64_t first = std::max<int64_t>(0, -floor_div(-at, stride));
    int64_t last = std::min(out - 1, floor_div(in - 1 + at, stride));
    int64_t n = std::max<int64_t>(0, last - first + 1);
    a.taps += n > 0;
    a.pairs += n;
    most = std::max(most, n);
  }
  bool dense = p.dilations[d] == 1 && stride <= p.kernel[d];
  int64_t end = std::min(in, (out - 1) * stride - p.pads_begin[d] + p.kernel[d]);
  a.positions = dense ? std::max(most, end - std::max<int64_t>(0, -p.pads_begin[d])) : most;
  return a;
}

int64_t reduction_of(const ir::Graph& graph, const ir::Node& n) {
  const Shape& a = graph.value(n.inputs[0]).type.shape;
  return n.is(Op::Gemm) ? a[ops::attr::trans_a(n) ? 0 : 1] : a.back();
}

// Moves that keep every element, moves that keep each element at most once, and those that may leave any out.
bool rearranges(const ir::Node& n) {
  ops::Moves moves = ops::traits(n).moves;
  return moves == ops::Moves::Same || moves == ops::Moves::Rearranged;
}
bool selects(const ir::Node& n) {
  return ops::traits(n).moves == ops::Moves::Selected;
}
bool copies(const ir::Node& n) {
  return ops::traits(n).moves == ops::Moves::Copied || n.is(Op::Resize, Op::Upsample);
}

TouchedElements::TouchedElements(const ir::Graph& graph, const partition::Region& region)
    : graph_(graph), outputs_(region.outputs.begin(), region.outputs.end()) {
  for (const partition::Layer& l : region.layers) inside_.insert(l.nodes.begin(), l.nodes.end());
}

int64_t TouchedElements::operator()(ir::ValueId v, int depth) {
  if (auto known = known_.find(v); known != known_.end()) return known->second;
  const ir::Value& value = graph_.value(v);
  int64_t most = outputs_.contains(v) ? value.type.elements() : 0;
  if (depth < kDeepest)
    for (ir::NodeId user : value.users)
      if (inside_.contains(user)) most = std::max(most, by(graph_.node(user), v, depth));
  known_[v] = most;
  return most;
}

int64_t TouchedElements::by(const ir::Node& n, ir::ValueId v, int depth) {
  int64_t all = graph_.value(v).type.elements(), most = 0;
  if (rearranges(n)) {
    int64_t untouched = graph_.value(n.outputs[0]).type.elements() - (*this)(n.outputs[0], depth + 1);
    return std::max<int64_t>(0, all - untouched);
  }
  if (selects(n)) {
    for (ir::ValueId o : n.outputs)
      if (o.valid()) most = std::max(most, (*this)(o, depth + 1));
    return most;
  }
  if (copies(n)) return 0;
  if (n.is(Op::Conv) && n.inputs[0] == v)
    return touched_by_windows(ops::conv_params(ops::infer_context(graph_, n)), all);
  if (n.is(Op::MaxPool, Op::AveragePool))
    return touched_by_windows(ops::pool_params(ops::infer_context(graph_, n)), all);
  return all;
}

Reach::Reach(const ir::Graph& graph, const partition::Region& region,
             const std::map<ir::ValueId, int64_t>& strides)
    : graph_(&graph), strides_(&strides) {
  for (ir::ValueId v : region.inputs) {
    const TensorType& type = graph.value(v).type;
    if (!input_.valid() || type.elements() > graph.value(input_).type.elements()) input_ = v;
  }
  if (!input_.valid()) return;
  const Shape& shape = graph.value(input_).type.shape;
  if (shape.empty() || shape[0] != 1)
    input_ = ir::ValueId();
  else
    levels_[input_] = Level::Covers;
}

int64_t Reach::elements() const {
  return input_.valid() ? graph_->value(input_).type.elements() : 0;
}

Reach::Level Reach::level(ir::ValueId v) const {
  auto known = levels_.find(v);
  return known == levels_.end() ? Level::None : known->second;
}

void Reach::add(const ir::Node& n) {
  if (Level l = of(n); l != Level::None)
    for (ir::ValueId v : n.outputs)
      if (v.valid()) levels_[v] = strides_->contains(v) && l != Level::All ? Level::None : l;
}

Reach::Level Reach::of(const ir::Node& n) const {
  Level x = n.inputs.empty() || !n.inputs[0].valid() ? Level::None : level(n.inputs[0]);
  if (n.is(Op::Concat)) return of_concat(n);
  if (n.is(Op::MatMul, Op::Gemm)) return of_product(n, x);
  if (ops::op_def(n).scalar != nullptr) return of_elements(n);
  if (n.is(Op::Conv, Op::MaxPool, Op::AveragePool)) return of_windows(n, x);
  if (n.is(Op::GlobalAveragePool, Op::GlobalMaxPool, Op::ReduceMean, Op::ReduceMax))
    return of_reduction(n, x);
  if (rearranges(n)) return x == Level::Mixes ? Level::Covers : x;
  if (n.is(Op::Pad, Op::ConvTranspose)) return Level::None;  // some results may need nothing
  return x == Level::All ? x : Level::None;
}

Reach::Level Reach::of_windows(const ir::Node& n, Level x) const {
  ops::InferContext context = ops::infer_context(*graph_, n);
  if (n.is(Op::Conv)) {
    auto p = ops::conv_params(context);
    if (!p.ok() || !meets(*p)) return Level::None;
    if (x == Level::All) return x;
    if (!covers(*p)) return Level::None;
    return p->group == 1 && x == Level::Covers ? Level::Mixes : x;
  }
  auto p = ops::pool_params(context);
  if (!p.ok() || !meets(*p)) return Level::None;
  return x == Level::All || covers(*p) ? of_reduction(n, x) : Level::None;
}

// To one element a channel.
Reach::Level Reach::of_reduction(const ir::Node& n, Level x) const {
  const Shape& in = graph_->value(n.inputs[0]).type.shape;
  bool one = in.size() > 2 && in[0] == 1 && graph_->value(n.outputs[0]).type.elements() == in[1];
  bool spatial =
      graph_->value(n.outputs[0]).type.shape.size() > 1 && graph_->value(n.outputs[0]).type.shape[1] == in[1];
  if (x == Level::All) return x;
  if (n.is(Op::ReduceMean, Op::ReduceMax))
    return x == Level::Mixes && one && spatial ? Level::All : Level::None;
  return x == Level::Mixes && one ? Level::All : x;
}

Reach::Level Reach::of_product(const ir::Node& n, Level x) const {
  if (x == Level::All || level(n.inputs[1]) == Level::All) return Level::All;
  bool one_row = graph_->value(n.inputs[0]).type.elements() == reduction_of(*graph_, n);
  return x != Level::None && one_row ? Level::All : Level::None;
}

Reach::Level Reach::of_concat(const ir::Node& n) const {
  Level least = Level::All, most = Level::None;
  for (ir::ValueId v : n.inputs) {
    least = std::min(least, level(v));
    most = std::max(most, level(v));
  }
  return least >= Level::Mixes ? least : std::min(most, Level::Covers);
}

Reach::Level Reach::of_elements(const ir::Node& n) const {
  Level most = Level::None;
  int64_t results = graph_->value(n.outputs[0]).type.elements();
  for (ir::ValueId v : n.inputs)
    if (v.valid() && (level(v) == Level::All || graph_->value(v).type.elements() == results))
      most = std::max(most, level(v));
  return most;
}

}  // namespace mrvlc::accel
