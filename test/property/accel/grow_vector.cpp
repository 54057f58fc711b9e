#include <algorithm>
#include <cmath>

#include "builder.h"

namespace mrvlc::accel_random {

ir::ValueId fully_connected(Builder& b, ir::ValueId x) {
  int64_t k = b.shape(x).back(), n = b.dice.size(1, 600), rows = b.elements(x) / k;
  bool gemm = b.rank(x) == 2 && b.dice.chance(60), trans_a = gemm && b.dice.chance(15);
  if (trans_a) std::swap(k, rows);
  if (!b.spend(rows * k * n)) return {};
  double bound = 1.7 / std::sqrt(static_cast<double>(k));
  if (!gemm) return b.add("MatMul", {x, b.constant({k, n}, -bound, bound)});
  bool trans_b = b.dice.chance(50);
  std::vector<ir::ValueId> inputs = {x, b.constant(trans_b ? Shape{n, k} : Shape{k, n}, -bound, bound)};
  if (b.dice.chance(75))
    inputs.push_back(b.constant(
        b.dice.of({Shape{n}, Shape{n}, Shape{1, n}, Shape{1}, Shape{rows, n}, Shape{rows, 1}}), -1, 1));
  AttrList attrs = {{"transA", int64_t{trans_a}}, {"transB", int64_t{trans_b}}};
  if (b.dice.chance(20)) attrs.emplace_back("alpha", static_cast<float>(b.dice.real(0.5, 2)));
  if (b.dice.chance(20)) attrs.emplace_back("beta", static_cast<float>(b.dice.real(0.5, 2)));
  return b.add("Gemm", inputs, attrs);
}

// Of two activations, or of one and a constant that is no matrix.
ir::ValueId matrix_product(Builder& b, ir::ValueId x) {
  Shape left = b.shape(x), right = left;
  size_t r = left.size();
  int64_t n = b.dice.size(1, 90);
  right[r - 2] = left[r - 1];
  right[r - 1] = n;
  if (b.dice.chance(20)) right.erase(right.begin(), right.end() - 2);
  if (element_count(right) > 60000 || !b.spend(b.elements(x) * n)) return {};
  double bound = 1.7 / std::sqrt(static_cast<double>(left[r - 1]));
  bool constant = right.size() > 2 && b.dice.chance(15);
  ir::ValueId other = constant ? b.constant(right, -bound, bound) : b.net.input(right);
  return b.add("MatMul", {x, other});
}

namespace {

constexpr const char* kFunctions[] = {"Relu",       "Relu", "Clip",  "LeakyRelu", "HardSigmoid", "HardSwish",
                                      "Sigmoid",    "Tanh", "Elu",   "Selu",      "Celu",        "Softplus",
                                      "Softsign",   "Gelu", "Mish",  "Swish",     "Erf",         "Exp",
                                      "Log",        "Atan", "Asinh", "Sinh",      "Cosh",        "Sqrt",
                                      "Reciprocal", "Abs",  "Neg",   "Floor",     "Ceil"};
constexpr const char* kBinaries[] = {"Add", "Add", "Sub", "Mul", "Mul", "Div", "Max", "Min", "PRelu"};

template <size_t N>
const char* one_of(Builder& b, const char* const (&list)[N]) {
  return list[b.dice.pick(0, N - 1)];
}

ir::ValueId function(Builder& b, const std::string& op, ir::ValueId x) {
  if (op == "Clip") {
    ir::ValueId low = b.dice.chance(80) ? b.scalar(b.dice.real(-1, 0)) : ir::ValueId();
    return b.add(op, {x, low, b.scalar(b.dice.real(0, 2))});
  }
  AttrList attrs;
  if (op == "LeakyRelu" || op == "Elu")
    attrs.emplace_back("alpha", static_cast<float>(b.dice.real(0.01, 0.5)));
  return b.add(op, {x}, attrs);
}

// A shape that broadcasts to `s`; `keep` may also be dropped to fewer dimensions.
Shape smaller(Builder& b, Shape s) {
  for (int64_t& d : s)
    if (b.dice.chance(40)) d = 1;
  if (b.dice.chance(30)) s.erase(s.begin(), s.begin() + b.dice.pick(0, static_cast<int64_t>(s.size())));
  return s;
}

}  // namespace

ir::ValueId activation(Builder& b, ir::ValueId x) {
  return function(b, kFunctions[b.dice.pick(0, b.dice.chance(70) ? 7 : 28)], x);
}

ir::ValueId unary(Builder& b, ir::ValueId x) {
  if (!b.spend(b.elements(x))) return {};
  return function(b, one_of(b, kFunctions), x);
}

ir::ValueId binary(Builder& b, ir::ValueId x) {
  if (!b.spend(2 * b.elements(x))) return {};
  if (b.dice.chance(8)) return b.add("Pow", {x, b.scalar(b.dice.of({0.5, 2.0, 3.0}))});
  std::string op = one_of(b, kBinaries);
  Shape s = b.dice.chance(40) ? b.shape(x) : smaller(b, b.shape(x));
  ir::ValueId other;
  if (b.dice.chance(15)) {
    other = b.scalar(b.dice.of({0.5, -2.0, 0.0, 1.0, 8192.0, 0x1p-13, 1e6, b.dice.real(-3, 3)}));
  } else if (b.dice.chance(40)) {
    other = b.constant(s, op == "Div" ? 0.5 : -1, 2);
  } else {
    other = b.dice.chance(15) ? x : b.net.input(s);
  }
  bool swap = op != "PRelu" && b.dice.chance(25);
  ir::ValueId y = swap ? b.add(op, {other, x}) : b.add(op, {x, other});
  return b.dice.chance(40) ? activation(b, y) : y;
}

ir::ValueId reduce(Builder& b, ir::ValueId x) {
  Ints axes;
  int share = b.dice.chance(25) ? 90 : 45;
  for (int64_t d = 0; d < b.rank(x); ++d)
    if (b.dice.chance(share)) axes.push_back(d);
  if (axes.empty()) axes.push_back(b.dice.pick(0, b.rank(x) - 1));
  std::string op = b.dice.of({std::string("ReduceMean"), std::string("ReduceMean"), std::string("ReduceSum"),
                              std::string("ReduceSumSquare"), std::string("ReduceProd"),
                              std::string("ReduceMax"), std::string("ReduceMin")});
  return b.add(op, {x, b.ints(axes)}, {{"keepdims", b.dice.chance(70) ? int64_t{1} : int64_t{0}}});
}

ir::ValueId softmax(Builder& b, ir::ValueId x) {
  int64_t axis = b.dice.chance(60) ? -1 : b.dice.pick(0, b.rank(x) - 1);
  if (b.dice.chance(25)) {
    return b.add("ReduceLogSumExp", {x, b.ints({axis})},
                 {{"keepdims", b.dice.chance(70) ? int64_t{1} : int64_t{0}}});
  }
  return b.add(b.dice.chance(75) ? "Softmax" : "LogSoftmax", {x}, {{"axis", axis}});
}

ir::ValueId norm(Builder& b, ir::ValueId x) {
  const Shape s = b.shape(x);
  bool plain = b.dice.chance(15);  // 1 and 0 are left out of what is computed
  auto scale = [&](const Shape& of) { return b.constant(of, plain ? 1 : 0.5, plain ? 1 : 2); };
  auto bias = [&](const Shape& of) { return b.constant(of, plain ? 0 : -1, plain ? 0 : 1); };
  int64_t kind = b.rank(x) < 3 ? 0 : b.dice.pick(0, 2);
  if (kind == 0) {
    int64_t axis = b.dice.chance(75) ? b.rank(x) - 1 : b.dice.pick(0, b.rank(x) - 1);
    Shape row(s.begin() + axis, s.end());
    std::vector<ir::ValueId> inputs = {x, scale(row)};
    if (b.dice.chance(35)) return b.add("RMSNormalization", inputs, {{"axis", axis}});
    if (b.dice.chance(80)) inputs.push_back(bias(row));
    return b.add("LayerNormalization", inputs, {{"axis", axis}});
  }
  Shape c = {s[1]};
  if (kind == 1) return b.add("InstanceNormalization", {x, scale(c), bias(c)});
  return b.add("BatchNormalization", {x, b.constant(c, 0.5, 2), b.constant(c, -1, 1),
                                      b.constant(c, -0.5, 0.5), b.constant(c, 0.2, 2)});
}

ir::ValueId epilogue(Builder& b, ir::ValueId x, size_t channel) {
  const Shape s = b.shape(x);
  bool residual = false;
  for (int64_t i = b.dice.pick(0, 4); i > 0; --i) {
    if (b.dice.chance(45)) {
      x = activation(b, x);
      continue;
    }
    if (b.dice.chance(6)) {
      x = b.add("Pow", {x, b.scalar(b.dice.of({0.5, 2.0, 3.0}))});
      continue;
    }
    std::string op = one_of(b, kBinaries);
    bool swap = op != "PRelu" && b.dice.chance(25);
    ir::ValueId other;
    if (!residual && b.dice.chance(40)) {
      op = b.dice.of({std::string("Add"), std::string("Add"), std::string("Sub"), std::string("Mul")});
      other = b.net.input(s);
      residual = true;
    } else {
      Shape c(s.size(), 1);
      if (b.dice.chance(75)) c[channel] = s[channel];
      if (b.dice.chance(50) && channel > 0) c.erase(c.begin());
      other = b.constant(c, op == "Div" ? 0.5 : -1, 2);
    }
    x = swap ? b.add(op, {other, x}) : b.add(op, {x, other});
  }
  return x;
}

}  // namespace mrvlc::accel_random
