// Activations; formulas of the ONNX operator specification.
#include "elementwise/elementwise.h"

namespace mrvlc::ops {
namespace {

double sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}
// log(1 + e^x) without overflow.
double softplus(double x) {
  return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
}
double clamp01(double x) {
  return x < 0 ? 0 : x > 1 ? 1 : x;
}

}  // namespace

const OpDef& def_Relu() {
  static const OpDef op = with_traits(numeric<"{x} < 0 ? 0 : {x}", "{x} < 0 ? 0 : {x}", "{x}", 1>(
                                          "Relu", [](auto x) { return is_negative(x) ? decltype(x){0} : x; }),
                                      {.passes_size_on = true});
  return op;
}

const OpDef& def_LeakyRelu() {
  static const OpDef op =
      with_traits(float_unary<"{x} < 0 ? {alpha} * {x} : {x}">(
                      "LeakyRelu", {spec::with_float("alpha", 0.01f)},
                      [](double x, const Attrs& a) { return x < 0 ? float_slot(a, 0) * x : x; }),
                  {.passes_size_on = true});
  return op;
}

const OpDef& def_ThresholdedRelu() {
  static const OpDef op =
      host_only(float_unary<"{x} > {alpha} ? {x} : 0">(
                    "ThresholdedRelu", {spec::with_float("alpha", 1)},
                    [](double x, const Attrs& a) { return x > float_slot(a, 0) ? x : 0; }),
                kStepsOnHost);
  return op;
}

const OpDef& def_Sigmoid() {
  static const OpDef op =
      float_unary<"1.0{f} / (1.0{f} + {exp}(-{x}))">("Sigmoid", [](double x) { return sigmoid(x); });
  return op;
}

const OpDef& def_HardSigmoid() {
  static const OpDef op =
      float_unary<"{alpha} * {x} + {beta} < 0 ? 0 : {alpha} * {x} + {beta} > 1 ? 1 : {alpha} * {x} + {beta}">(
          "HardSigmoid", {spec::with_float("alpha", 0.2f), spec::with_float("beta", 0.5f)},
          [](double x, const Attrs& a) { return clamp01(float_slot(a, 0) * x + float_slot(a, 1)); });
  return op;
}

// x * max(0, min(1, x / 6 + 1/2)), so NaN of -inf.
const OpDef& def_HardSwish() {
  static const OpDef op = float_unary<"{x} <= -3 ? {x} * 0 : {x} >= 3 ? {x} : {x} * ({x} / 6 + 0.5{f})">(
      "HardSwish", [](double x) { return x <= -3  ? x * 0
                                         : x >= 3 ? x
                                                  : x * (x / 6 + 0.5); });
  return op;
}

// x * sigmoid(alpha * x)
const OpDef& def_Swish() {
  static const OpDef op = float_unary<"{x} / (1.0{f} + {exp}(-{alpha} * {x}))">(
      "Swish", {spec::with_float("alpha", 1)},
      [](double x, const Attrs& a) { return x * sigmoid(float_slot(a, 0) * x); });
  return op;
}

const OpDef& def_Elu() {
  static const OpDef op = float_unary<"{x} < 0 ? {alpha} * {expm1}({x}) : {x}">(
      "Elu", {spec::with_float("alpha", 1)},
      [](double x, const Attrs& a) { return x < 0 ? float_slot(a, 0) * std::expm1(x) : x; });
  return op;
}

const OpDef& def_Celu() {
  static const OpDef op = float_unary<"{x} < 0 ? {alpha} * {expm1}({x} / {alpha}) : {x}">(
      "Celu", {spec::with_float("alpha", 1)}, [](double x, const Attrs& a) {
        return x < 0 ? float_slot(a, 0) * std::expm1(x / float_slot(a, 0)) : x;
      });
  return op;
}

namespace {

// Before opset 6 the constants had five digits.
Status upgrade_selu(RawNode& node) {
  if (node.opset < 6) {
    if (node.find("alpha") == nullptr) node.attrs.emplace_back("alpha", ir::Attr(1.6732f));
    if (node.find("gamma") == nullptr) node.attrs.emplace_back("gamma", ir::Attr(1.0507f));
  }
  return upgrade_elementwise(node);
}

}  // namespace

const OpDef& def_Selu() {
  static const OpDef op = [] {
    OpDef d = float_unary<"{gamma} * ({x} < 0 ? {alpha} * {expm1}({x}) : {x})">(
        "Selu",
        {spec::with_float("alpha", 1.67326319217681884765625f),
         spec::with_float("gamma", 1.05070102214813232421875f)},
        [](double x, const Attrs& a) {
          return float_slot(a, 1) * (x < 0 ? float_slot(a, 0) * std::expm1(x) : x);
        });
    d.upgrade = upgrade_selu;
    return d;
  }();
  return op;
}

const OpDef& def_Softplus() {
  static const OpDef op = float_unary<"({x} > 0 ? {x} : 0) + {log1p}({exp}(-fabs{f}({x})))">(
      "Softplus", [](double x) { return softplus(x); });
  return op;
}

const OpDef& def_Softsign() {
  static const OpDef op = float_unary<"{x} / (1.0{f} + fabs{f}({x}))">(
      "Softsign", [](double x) { return x / (1 + std::fabs(x)); });
  return op;
}

const OpDef& def_Mish() {
  static const OpDef op = float_unary<"{x} * {tanh}(({x} > 0 ? {x} : 0) + {log1p}({exp}(-fabs{f}({x}))))">(
      "Mish", [](double x) { return x * std::tanh(softplus(x)); });
  return op;
}

// Pulls towards zero by `bias` outside [-lambd, lambd], zero inside.
const OpDef& def_Shrink() {
  static const OpDef op =
      host_only(float_unary<"{x} < -{lambd} ? {x} + {bias} : {x} > {lambd} ? {x} - {bias} : 0">(
                    "Shrink", {spec::with_float("bias", 0), spec::with_float("lambd", 0.5f)},
                    [](double x, const Attrs& a) {
                      double bias = float_slot(a, 0), lambd = float_slot(a, 1);
                      return x < -lambd ? x + bias : x > lambd ? x - bias : 0;
                    }),
                kStepsOnHost);
  return op;
}

namespace {

constexpr double kSqrt2OverPi = 0.79788456080286535588, kSqrtHalf = 0.70710678118654752440;

bool is_tanh(const Attrs& attrs) {
  return std::get<std::string>(attrs[0]) == "tanh";
}

// 1 + erf(v) = erfc(-v) and 1 + tanh(v) = 2 / (1 + e^-2v): below zero the sums would leave no digits.
double eval_gelu(const double* x, const ir::OpSchema&, const Attrs& attrs) {
  if (is_tanh(attrs))
    return x[0] / (1 + std::exp(-2 * kSqrt2OverPi * (x[0] + 0.044715 * x[0] * x[0] * x[0])));
  return 0.5 * x[0] * std::erfc(-x[0] * kSqrtHalf);
}

std::string gelu_text(EmitContext& c, const std::vector<std::string>& x, ElementType elem) {
  if (is_tanh(c.node().attrs))
    return expand_pattern(
        "{x} / (1.0{f} + {exp}(-1.595769121605730711{f} * ({x} + 0.044715{f} * {x} * {x} * {x})))", c, x,
        elem);
  if (elem == ElementType::F32 && !c.wants_little_text())
    return fmt::format("{}({})", c.helper("gelu"), x[0]);
  return expand_pattern("0.5{f} * {x} * erfc{f}(-{x} * 0.707106781186547524{f})", c, x, elem);
}

Result<std::vector<TensorType>> infer_gelu(const InferContext& c) {
  const std::string& approximate = c.string_attr("approximate");
  if (approximate != "none" && approximate != "tanh")
    return bad_attr("approximate", "is neither none nor tanh");
  return infer_elementwise(c);
}

}  // namespace

const OpDef& def_Gelu() {
  static constexpr ScalarOp scalar{eval_gelu, nullptr, gelu_text};
  static const OpDef op = [] {
    OpDef d = elementwise("Gelu", 1, spec::kFloats, scalar, {spec::with_string("approximate", "none")});
    d.infer = infer_gelu;
    return d;
  }();
  return op;
}

}  // namespace mrvlc::ops
