// From outputs backwards, through what moves and scales elements.
#include "accuracy/fronts.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "mrvlc/ops/attributes.h"
#include "mrvlc/ops/op.h"
#include "mrvlc/ops/op_kind.h"
#include "mrvlc/tensor/tensor.h"

namespace mrvlc::driver {
namespace {

constexpr int kFarthestFront = 12;

// The largest slope of a saturating operator. Softmax: that of one result by one operand, as often as there
// are signs.
std::optional<double> slope_of(const ir::Node& node) {
  if (node.is(Op::Sigmoid)) return 0.25;
  if (node.is(Op::Softmax)) return 0.5;
  if (node.is(Op::Tanh, Op::Clip, Op::Softsign)) return 1;
  if (node.is(Op::HardSigmoid)) return std::abs(static_cast<double>(ops::attr::alpha(node)));
  return std::nullopt;
}

bool selects(const ir::Node& node) {
  return node.is(Op::ArgMax, Op::ArgMin, Op::TopK, Op::Less, Op::LessOrEqual, Op::Greater,
                 Op::GreaterOrEqual);
}

double largest(const Tensor& t) {
  double most = 0;
  for (int64_t i = 0; i < t.elements(); ++i) most = std::max(most, std::abs(t.as_double(i)));
  return most;
}

class FrontFinder {
 public:
  FrontFinder(const ir::Graph& graph, std::vector<Front>& out) : graph_(graph), out_(out) {}

  void look(size_t output, ir::ValueId value, double slope, int depth) {
    const ir::NodeId producer = graph_.value(value).producer;
    if (depth > kFarthestFront || !producer.valid()) return;
    const ir::Node& node = graph_.node(producer);
    if (const auto own = slope_of(node)) return add(output, node.inputs[0], slope * *own);
    if (selects(node)) return add_all(output, node, slope);
    if (node.is(Op::Mul, Op::Div, Op::Add, Op::Sub)) return scaled(output, node, slope, depth);
    if (node.is(Op::Cast) || ops::op_def(node).traits.moves != ops::Moves::None)
      for (ir::ValueId in : node.inputs)
        if (in.valid() && !graph_.is_constant(in)) look(output, in, slope, depth + 1);
  }

 private:
  void add(size_t output, ir::ValueId value, double slope) {
    const TensorType& type = graph_.value(value).type;
    if (type.wrapper != Wrapper::None || !is_float(type.elem) || graph_.is_constant(value)) return;
    const auto known =
        std::ranges::find_if(out_, [&](const Front& f) { return f.output == output && f.value == value; });
    if (known != out_.end()) return void(known->slope = std::max(known->slope, slope));
    out_.push_back({output, value, slope});
  }

  void add_all(size_t output, const ir::Node& node, double slope) {
    for (ir::ValueId in : node.inputs)
      if (in.valid()) add(output, in, slope);
  }

  void scaled(size_t output, const ir::Node& node, double slope, int depth) {
    for (size_t i = 0; i < 2; ++i) {
      const Tensor* other = graph_.constant(node.inputs[1 - i]);
      const bool data = !graph_.is_constant(node.inputs[i]);
      if (!data || (node.is(Op::Div) && i == 1)) continue;
      double factor = 1;
      if (node.is(Op::Mul) || node.is(Op::Div)) {
        // Of two that are not known, one is to be no larger than 1.
        if (other == nullptr && !at_most_one(node.inputs[1 - i])) continue;
        if (other != nullptr) factor = largest(*other);
        if (node.is(Op::Div)) factor = factor > 0 ? 1 / factor : 0;
        // Errors are relative to what is large.
        if (factor > 1) factor = 2 * factor / (1 + factor);
      }
      look(output, node.inputs[i], slope * factor, depth + 1);
    }
  }

  bool at_most_one(ir::ValueId value) const {
    const ir::NodeId producer = graph_.value(value).producer;
    if (!producer.valid()) return false;
    const ir::Node& node = graph_.node(producer);
    if (node.is(Op::Cast)) return graph_.value(node.inputs[0]).type.elem == ElementType::Bool;
    return node.is(Op::Sigmoid, Op::Softmax, Op::Tanh, Op::HardSigmoid);
  }

  const ir::Graph& graph_;
  std::vector<Front>& out_;
};

}  // namespace

std::vector<Front> fronts_of(const ir::Graph& graph) {
  std::vector<Front> out;
  FrontFinder finder(graph, out);
  for (size_t i = 0; i < graph.outputs().size(); ++i) finder.look(i, graph.outputs()[i], 1, 0);
  return out;
}

}  // namespace mrvlc::driver
