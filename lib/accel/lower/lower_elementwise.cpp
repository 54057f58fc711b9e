// Element-wise operators: activations become epilogues, operators with a scalar constant need no second
// operand, other functions of one variable are looked up.
#include <algorithm>
#include <cmath>
#include <limits>

#include "lower/lowering.h"
#include "mrvlc/accel/vector_unit.h"
#include "mrvlc/ops/attributes.h"

namespace mrvlc::accel {
namespace {

using accel::VectorForm;
using isa::Activation;
using isa::EwOp;

std::optional<double> scalar_constant(const ir::Graph& graph, ir::ValueId v) {
  const Tensor* t = v.valid() ? graph.constant(v) : nullptr;
  if (t == nullptr || t->elements() != 1) return std::nullopt;
  return t->as_double(0);
}

EpilogueSpec simple(Activation a, double alpha = 0, double beta = 0) {
  return {a, static_cast<float>(alpha), static_cast<float>(beta), -1};
}

// nullopt: a bound that is no constant.
std::optional<EpilogueSpec> clip_of(const Lowering& l, const ir::Node& node) {
  for (size_t i = 1; i < node.inputs.size(); ++i)
    if (node.inputs[i].valid() && !scalar_constant(l.graph(), node.inputs[i])) return std::nullopt;
  auto bound = [&](size_t i, double otherwise) {
    return i < node.inputs.size() ? scalar_constant(l.graph(), node.inputs[i]).value_or(otherwise)
                                  : otherwise;
  };
  constexpr double inf = std::numeric_limits<double>::infinity();
  return simple(Activation::Clip, bound(1, -inf), bound(2, inf));
}

EpilogueSpec table_epilogue(Lowering& l, const std::vector<float>& segments) {
  EpilogueSpec e = simple(Activation::Table);
  e.table = l.table(segments);
  return e;
}

EpilogueSpec looked_up(Lowering& l, const ir::Node& node) {
  const ops::ScalarOp* scalar = ops::op_def(node).scalar;
  return table_epilogue(l, make_table([&](double x) { return scalar->eval(&x, *node.op, node.attrs); }));
}

// Of operators that are one instruction.
EwOp instruction_of(Op op) {
  switch (op) {
#define MRVLC_INSTRUCTION(op, instruction) \
  case Op::op:                             \
    return EwOp::instruction;
#define MRVLC_BINARY(op, instruction) \
  case Op::op:                        \
    return EwOp::instruction;
#include "mrvlc/accel/vector_unit.def"
    default:
      return EwOp::Copy;
  }
}

class NodeLowering {
 public:
  NodeLowering(Lowering& l, PeBuilder& b, const ir::Node& node, ir::ValueId current_value,
               const PeOperand& current)
      : l_(l), b_(b), n_(node), current_value_(current_value), current_(current) {}

  Result<PeOperand> run() {
    if (std::optional<EpilogueSpec> e = activation_of(l_, n_, n_.inputs[0])) return activate(*e);
    switch (accel::vector_form(n_.kind())) {
      case VectorForm::Instruction:
        return one(instruction_of(n_.kind()), operand(0));
      case VectorForm::Sequence:
        return sequence();
      case VectorForm::Binary:
        return binary(instruction_of(n_.kind()));
      case VectorForm::Power:
        return power();
      case VectorForm::Quantize:  // done where it is stored
        return operand(0);
      case VectorForm::None:
      case VectorForm::Activation:  // of other than the first operand, or with bounds that are no constants
      case VectorForm::Table:
        break;
    }
    return unsupported();
  }

 private:
  Diag unsupported() const {
    return make_diag<DiagCode::MRV0502>("operator " + std::string(n_.op->name) + " with these operands");
  }

  PeOperand operand(size_t i) {
    if (n_.inputs[i] == current_value_) return current_;
    return b_.view(l_.read_operand(n_.inputs[i]));
  }
  PeOperand one(EwOp op, const PeOperand& a, float alpha = 0, float beta = 0, const EpilogueSpec& e = {}) {
    PeOperand t = b_.temp();
    b_.apply(op, t, a, {}, alpha, beta, e);
    return t;
  }
  PeOperand two(EwOp op, const PeOperand& a, const PeOperand& b, float alpha = 0, float beta = 0,
                const EpilogueSpec& e = {}) {
    PeOperand t = b_.temp();
    b_.apply(op, t, a, b, alpha, beta, e);
    return t;
  }

  Result<PeOperand> sequence() {
    switch (n_.kind()) {
#define MRVLC_SEQUENCE(op, function) \
  case Op::op:                       \
    return function(operand(0));
#include "mrvlc/accel/vector_unit.def"
      default:
        return unsupported();
    }
  }

  PeOperand ceiling(const PeOperand& x) {
    PeOperand down = one(EwOp::Floor, one(EwOp::Neg, x));
    return one(EwOp::Neg, down);
  }

  // e^x = e^2n e^f with n = floor(x / 2): 2n stands at the beginning of a segment of steps, and where f lies
  // a chord is within 6e-5. Beyond +-128, which is 0 or infinite in fp32, n stays and f says the same.
  PeOperand exponential(const PeOperand& x) {
    constexpr double kFar = 64;
    auto exp = [](double v) { return std::exp(v); };
    PeOperand n = one(EwOp::Floor, one(EwOp::Affine, x, 0.5f, 0, simple(Activation::Clip, -kFar, kFar)));
    PeOperand rest = two(EwOp::AxpBy, x, n, 1, -2, table_epilogue(l_, make_table(exp)));
    auto square = [](double v) { return std::exp(2 * v); };
    PeOperand whole = one(EwOp::Copy, n, 0, 0, table_epilogue(l_, make_steps(square)));
    return two(EwOp::Mul, whole, rest);
  }

  // Roots of fp16 numbers, subnormal ones too, are normal ones: 2 log(sqrt(x)). What may be beyond the square
  // of 65504 takes another root.
  PeOperand logarithm(PeOperand x) {
    bool large = l_.is_asked(n_.inputs[0]) || l_.is_asked(l_.last());
    if (large) x = one(EwOp::Sqrt, x);
    auto root = [times = large ? 4.0 : 2.0](double v) { return times * std::log(v); };
    return one(EwOp::Sqrt, x, 0, 0, table_epilogue(l_, make_table(root)));
  }

  PeOperand hyperbolic_cosine(const PeOperand& x) {
    PeOperand e = exponential(one(EwOp::Abs, x));
    return two(EwOp::AxpBy, e, one(EwOp::Reciprocal, e), 0.5f, 0.5f);
  }

  // tanh(x) cosh(x): exact where x is small, unlike the difference of two exponentials.
  PeOperand hyperbolic_sine(const PeOperand& x) {
    auto tanh = [](double v) { return std::tanh(v); };
    PeOperand sign = one(EwOp::Copy, x, 0, 0, table_epilogue(l_, make_table(tanh)));
    return two(EwOp::Mul, sign, hyperbolic_cosine(x));
  }

  // HardSwish is 0 from -3 down; of -infinity, which is what fp16 holds of -1e5, the unit's x * 0 would be
  // NaN.
  PeOperand activate(const EpilogueSpec& e) {
    PeOperand x = operand(0);
    bool stored = x.kind == PeOperand::Kind::External && x.view.type == isa::DataType::F16;
    if (e.activation != Activation::HardSwish || !stored) return b_.activate(x, e);
    return two(EwOp::Max, x, b_.view(l_.constant({-4.0f}, {1}, isa::DataType::F32)), 0, 0, e);
  }

  Result<PeOperand> binary(EwOp op) {
    if (n_.inputs.size() != 2) return unsupported();
    PeOperand x = operand(0);
    if (std::optional<PeOperand> line = with_scalar(op)) return *line;
    return two(op, x, operand(1));
  }

  // Operators that are a line in their other operand.
  std::optional<PeOperand> with_scalar(EwOp op) {
    std::optional<double> left = scalar_constant(l_.graph(), n_.inputs[0]);
    std::optional<double> right = scalar_constant(l_.graph(), n_.inputs[1]);
    if (left.has_value() == right.has_value()) return std::nullopt;
    double c = left ? *left : *right;
    auto line = [&](double alpha, double beta) {
      return one(EwOp::Affine, operand(left ? 1 : 0), static_cast<float>(alpha), static_cast<float>(beta));
    };
    if (op == EwOp::Add) return line(1, c);
    if (op == EwOp::Sub) return left ? line(-1, c) : line(1, -c);
    if (op == EwOp::Mul && std::isfinite(c) && c != 0) return line(c, 0);
    if (op == EwOp::Div && right && std::isfinite(1 / c)) return line(1 / c, 0);
    return std::nullopt;
  }

  Result<PeOperand> power() {
    std::optional<double> exponent = scalar_constant(l_.graph(), n_.inputs[1]);
    if (exponent == 2) return two(EwOp::Mul, operand(0), operand(0));
    if (exponent == 3) return two(EwOp::Mul, two(EwOp::Mul, operand(0), operand(0)), operand(0));
    if (exponent == 0.5) return root(operand(0));
    return unsupported();
  }

  // Pow takes -infinity to +infinity, and Sqrt would not.
  PeOperand root(const PeOperand& x) {
    auto f = [](double v) { return std::isinf(v) ? std::fabs(v) : v; };
    return one(EwOp::Sqrt, b_.activate(x, table_epilogue(l_, make_table(f))));
  }

  Lowering& l_;
  PeBuilder& b_;
  const ir::Node& n_;
  ir::ValueId current_value_;
  PeOperand current_;
};

}  // namespace

std::optional<EpilogueSpec> activation_of(Lowering& l, const ir::Node& node, ir::ValueId operand) {
  bool of_first = !node.inputs.empty() && node.inputs[0] == operand;
  if (!of_first) return std::nullopt;
  if (accel::vector_form(node.kind()) == VectorForm::Table) return looked_up(l, node);
  switch (node.kind()) {
    case Op::Relu:
      return simple(Activation::Relu);
    case Op::Clip:
      return clip_of(l, node);
    case Op::LeakyRelu:
      return simple(Activation::Leaky, ops::attr::alpha(node));
    case Op::HardSigmoid:
      return simple(Activation::HardSigmoid, ops::attr::alpha(node), ops::attr::beta(node));
    case Op::HardSwish:
      return simple(Activation::HardSwish, 1.0 / 6, 0.5);
    default:
      return std::nullopt;
  }
}

Result<PeOperand> append_node(Lowering& l, PeBuilder& b, const ir::Node& node, ir::ValueId current_value,
                              const PeOperand& current) {
  return NodeLowering(l, b, node, current_value, current).run();
}

Status finish_layer(Lowering& l, ir::ValueId value) {
  return l.layer().nodes.size() > 1 ? lower_chain(l, value, 1) : Status();
}

Status lower_chain(Lowering& l, ir::ValueId value, size_t from) {
  const std::vector<ir::NodeId>& nodes = l.layer().nodes;
  while (from < nodes.size()) {
    // One group while the shape stays; a node that broadcasts to a larger shape starts another.
    const Dims& dims = l.shape(l.graph().node(nodes[from]).outputs[0]);
    PeBuilder b(l, dims, nodes[from]);
    bool stored = value.valid();
    PeOperand current = stored ? b.view(l.read(value)) : PeOperand{};
    for (; from < nodes.size(); ++from) {
      const ir::Node& node = l.graph().node(nodes[from]);
      if (l.shape(node.outputs[0]) != dims) break;
      b.set_expr(nodes[from]);
      MRVLC_ASSIGN(current, append_node(l, b, node, value, current));
      value = node.outputs[0];
    }
    MRVLC_TRY(b.finish(current, from == nodes.size() ? l.last_result() : l.result(value)));
  }
  return {};
}

Status lower_elementwise(Lowering& l) {
  return maps_codes(l) ? lower_codes(l) : lower_chain(l, ir::ValueId(), 0);
}

}  // namespace mrvlc::accel
