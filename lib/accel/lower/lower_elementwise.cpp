// Element-wise operators: activations become epilogues, operators with a scalar constant need no second
// operand, other functions of one variable are looked up.
#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string_view>

#include "lower/lowering.h"

namespace mrvlc::accel {
namespace {

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

EpilogueSpec clip_of(const Lowering& l, const ir::Node& node) {
  auto bound = [&](size_t i, double otherwise) {
    return i < node.inputs.size() ? scalar_constant(l.graph(), node.inputs[i]).value_or(otherwise)
                                  : otherwise;
  };
  constexpr double inf = std::numeric_limits<double>::infinity();
  return simple(Activation::Clip, bound(1, -inf), bound(2, inf));
}

// Operators a line per segment cannot follow to the precision of fp16, or that have an instruction of their
// own.
bool has_table(std::string_view name) {
  static const std::set<std::string_view> no = {
      "Round",      "Sign",     "Ceil", "Floor", "Neg",     "Abs",  "Not",  "IsNaN", "IsInf", "Exp",
      "Reciprocal", "Identity", "Clip", "Cast",  "Dropout", "Relu", "Sqrt", "Log",   "Sinh",  "Cosh"};
  return !no.contains(name);
}

EpilogueSpec table_epilogue(Lowering& l, const std::vector<float>& segments) {
  EpilogueSpec e = simple(Activation::Table);
  e.table = l.table(segments);
  return e;
}

EpilogueSpec looked_up(Lowering& l, const ir::Node& node, size_t varying, double other) {
  const ops::ScalarOp* scalar = ops::op_def(node).scalar;
  auto f = [&](double x) {
    double args[2] = {varying == 0 ? x : other, varying == 0 ? other : x};
    return scalar->eval(args, *node.op, node.attrs);
  };
  return table_epilogue(l, make_table(f));
}

struct Binary {
  std::string_view name;
  EwOp op;
  bool negated = false;  // 1 - result
};
constexpr Binary kBinary[] = {{"Add", EwOp::Add},
                              {"Sub", EwOp::Sub},
                              {"Mul", EwOp::Mul},
                              {"Div", EwOp::Div},
                              {"Max", EwOp::Max},
                              {"Min", EwOp::Min},
                              {"Sum", EwOp::Add},
                              {"Mean", EwOp::Add},
                              {"PRelu", EwOp::Prelu},
                              {"Equal", EwOp::Equal},
                              {"Less", EwOp::Less},
                              {"Greater", EwOp::Greater},
                              {"And", EwOp::Mul},
                              {"Or", EwOp::Max},
                              {"LessOrEqual", EwOp::Greater, true},
                              {"GreaterOrEqual", EwOp::Less, true}};

const Binary* find_binary(std::string_view name) {
  auto it = std::ranges::find(kBinary, name, &Binary::name);
  return it == std::end(kBinary) ? nullptr : it;
}

struct Unary {
  std::string_view name;
  EwOp op;
  float alpha = 0, beta = 0;
};
constexpr Unary kUnary[] = {
    {"Identity", EwOp::Copy}, {"Dropout", EwOp::Copy},          {"Cast", EwOp::Copy},
    {"Sqrt", EwOp::Sqrt},     {"Reciprocal", EwOp::Reciprocal}, {"Abs", EwOp::Abs},
    {"Neg", EwOp::Neg},       {"Floor", EwOp::Floor},           {"Not", EwOp::Affine, -1, 1}};

class NodeLowering {
 public:
  NodeLowering(Lowering& l, PeBuilder& b, const ir::Node& node, ir::ValueId current_value,
               const PeOperand& current)
      : l_(l), b_(b), n_(node), current_value_(current_value), current_(current) {}

  Result<PeOperand> run() {
    if (std::optional<EpilogueSpec> e = activation_of(l_, n_, n_.inputs[0])) return activate(*e);
    for (const Unary& u : kUnary)
      if (n_.is(u.name)) return one(u.op, operand(0), u.alpha, u.beta);
    if (n_.is("Ceil")) {
      PeOperand down = one(EwOp::Floor, one(EwOp::Neg, operand(0)));
      return one(EwOp::Neg, down);
    }
    if (n_.is("Exp")) return exponential(operand(0));
    if (n_.is("Log")) return logarithm(operand(0));
    if (n_.is("Cosh")) return hyperbolic_cosine(operand(0));
    if (n_.is("Sinh")) return hyperbolic_sine(operand(0));
    if (n_.is("Sign")) return two(EwOp::Sub, compare_zero(EwOp::Greater), compare_zero(EwOp::Less));
    if (n_.is("Where")) return where();
    if (n_.is("Xor")) return one(EwOp::Abs, two(EwOp::Sub, operand(0), operand(1)));
    if (const Binary* op = find_binary(n_.op->name)) return binary(*op);
    if (n_.inputs.size() == 2) return one_variable();
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

  // Roots of fp16 numbers, subnormal ones too, are normal ones: 2 log(sqrt(x)).
  PeOperand logarithm(const PeOperand& x) {
    auto twice = [](double v) { return 2 * std::log(v); };
    return one(EwOp::Sqrt, x, 0, 0, table_epilogue(l_, make_table(twice)));
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

  // HardSwish is 0 from -3 down; of -infinity, which is what fp16 holds of -1e5, the unit's x * 0 would be NaN.
  PeOperand activate(const EpilogueSpec& e) {
    PeOperand x = operand(0);
    bool stored = x.kind == PeOperand::Kind::External && x.view.type == isa::DataType::F16;
    if (e.activation != Activation::HardSwish || !stored) return b_.activate(x, e);
    return two(EwOp::Max, x, b_.view(l_.constant({-4.0f}, {1}, isa::DataType::F32)), 0, 0, e);
  }

  PeOperand compare_zero(EwOp op) {
    return two(op, operand(0), b_.view(l_.constant({0.0f}, {1}, isa::DataType::F32)));
  }

  Result<PeOperand> binary(const Binary& op) {
    PeOperand x = operand(0);
    if (n_.inputs.size() == 1) return one(EwOp::Copy, x);
    for (size_t i = 1; i < n_.inputs.size(); ++i) {
      std::optional<PeOperand> folded = n_.inputs.size() == 2 ? with_scalar(op) : std::nullopt;
      x = folded ? *folded : two(op.op, x, operand(i));
    }
    if (op.negated) x = one(EwOp::Affine, x, -1, 1);
    if (n_.is("Mean")) x = one(EwOp::Affine, x, 1.0f / static_cast<float>(n_.inputs.size()), 0);
    return x;
  }

  // Operators that are a line in their other operand.
  std::optional<PeOperand> with_scalar(const Binary& op) {
    std::optional<double> left = scalar_constant(l_.graph(), n_.inputs[0]);
    std::optional<double> right = scalar_constant(l_.graph(), n_.inputs[1]);
    if (left.has_value() == right.has_value()) return std::nullopt;
    double c = left ? *left : *right;
    auto line = [&](double alpha, double beta) {
      return one(EwOp::Affine, operand(left ? 1 : 0), static_cast<float>(alpha), static_cast<float>(beta));
    };
    if (op.op == EwOp::Add) return line(1, c);
    if (op.op == EwOp::Sub) return left ? line(-1, c) : line(1, -c);
    if (op.op == EwOp::Mul && std::isfinite(c) && c != 0) return line(c, 0);
    if (op.op == EwOp::Div && right && std::isfinite(1 / c)) return line(1 / c, 0);
    return std::nullopt;
  }

  // Any operator of which one operand is a scalar constant is a function of the other.
  Result<PeOperand> one_variable() {
    std::optional<double> left = scalar_constant(l_.graph(), n_.inputs[0]);
    std::optional<double> right = scalar_constant(l_.graph(), n_.inputs[1]);
    bool table = ops::op_def(n_).scalar != nullptr && (left || right);
    if (!table) return unsupported();
    if (right && n_.is("Pow") && *right == 2) return two(EwOp::Mul, operand(0), operand(0));
    if (right && n_.is("Pow") && *right == 3)
      return two(EwOp::Mul, two(EwOp::Mul, operand(0), operand(0)), operand(0));
    if (right && n_.is("Pow") && *right == 0.5) return root(operand(0));
    size_t varying = right ? 0 : 1;
    return b_.activate(operand(varying), looked_up(l_, n_, varying, right ? *right : *left));
  }

  // Pow takes -infinity to +infinity, and Sqrt would not.
  PeOperand root(const PeOperand& x) {
    auto f = [](double v) { return std::isinf(v) ? std::fabs(v) : v; };
    return one(EwOp::Sqrt, b_.activate(x, table_epilogue(l_, make_table(f))));
  }

  PeOperand where() {
    std::optional<double> x = scalar_constant(l_.graph(), n_.inputs[1]),
                          y = scalar_constant(l_.graph(), n_.inputs[2]);
    PeOperand c = operand(0);
    if (y) return two(EwOp::Select, c, operand(1), static_cast<float>(*y));
    PeOperand inverse = one(EwOp::Affine, c, -1, 1);
    if (x) return two(EwOp::Select, inverse, operand(2), static_cast<float>(*x));
    PeOperand taken = two(EwOp::Select, c, operand(1)), other = two(EwOp::Select, inverse, operand(2));
    return two(EwOp::Add, taken, other);
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
  if (node.is("Relu")) return simple(Activation::Relu);
  if (node.is("Clip")) {
    for (size_t i = 1; i < node.inputs.size(); ++i)
      if (node.inputs[i].valid() && !scalar_constant(l.graph(), node.inputs[i])) return std::nullopt;
    return clip_of(l, node);
  }
  if (node.is("LeakyRelu")) return simple(Activation::Leaky, node.float_attr("alpha"));
  if (node.is("HardSigmoid"))
    return simple(Activation::HardSigmoid, node.float_attr("alpha"), node.float_attr("beta"));
  if (node.is("HardSwish")) return simple(Activation::HardSwish, 1.0 / 6, 0.5);
  bool unary = node.inputs.size() == 1 && ops::op_def(node).scalar != nullptr;
  if (!unary || !has_table(node.op->name)) return std::nullopt;
  return looked_up(l, node, 0, 0);
}

Result<PeOperand> append_node(Lowering& l, PeBuilder& b, const ir::Node& node, ir::ValueId current_value,
                              const PeOperand& current) {
  return NodeLowering(l, b, node, current_value, current).run();
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
    MRVLC_TRY(b.finish(current, l.result(value)));
  }
  return {};
}

Status lower_elementwise(Lowering& l) {
  return lower_chain(l, ir::ValueId(), 0);
}

}  // namespace mrvlc::accel
