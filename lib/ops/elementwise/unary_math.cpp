// Functions of one float. Those that networks use most are of lib/chost/kernels/math.c, so that loops over
// them become vector code; the C library has the others.
#include "elementwise/elementwise.h"

namespace mrvlc::ops {
namespace {

// Why the accelerator's tables, lines over 2048 segments of the float16 numbers, do not hold a function.
constexpr std::string_view kPeriodic = "accelerator: a segment of a table spans several periods";
constexpr std::string_view kSteep = "accelerator: its tables hold no vertical tangent and no pole";

OpDef periodic(OpDef op) {
  return with_traits(host_only(std::move(op), kPeriodic), {.periodic = true});
}

}  // namespace

const OpDef& def_Exp() {
  static const OpDef op = float_unary<"{exp}({x})">("Exp", [](double x) { return std::exp(x); });
  return op;
}

const OpDef& def_Log() {
  static const OpDef op = float_unary<"{log}({x})">("Log", [](double x) { return std::log(x); });
  return op;
}

const OpDef& def_Sqrt() {
  static const OpDef op = float_unary<"sqrt{f}({x})">("Sqrt", [](double x) { return std::sqrt(x); });
  return op;
}

const OpDef& def_Reciprocal() {
  static const OpDef op = float_unary<"1.0{f} / {x}">("Reciprocal", [](double x) { return 1 / x; });
  return op;
}

const OpDef& def_Erf() {
  static const OpDef op = numeric<"{erf}({x})", "erf((double){x})", "erf((double){x})", 1>(
      "Erf", [](auto x) { return static_cast<decltype(x)>(std::erf(static_cast<double>(x))); });
  return op;
}

const OpDef& def_Sin() {
  static const OpDef op = periodic(float_unary<"{sin}({x})">("Sin", [](double x) { return std::sin(x); }));
  return op;
}

const OpDef& def_Cos() {
  static const OpDef op = periodic(float_unary<"{cos}({x})">("Cos", [](double x) { return std::cos(x); }));
  return op;
}

const OpDef& def_Tan() {
  static const OpDef op = periodic(float_unary<"{tan}({x})">("Tan", [](double x) { return std::tan(x); }));
  return op;
}

const OpDef& def_Asin() {
  static const OpDef op =
      host_only(float_unary<"asin{f}({x})">("Asin", [](double x) { return std::asin(x); }), kSteep);
  return op;
}

const OpDef& def_Acos() {
  static const OpDef op =
      host_only(float_unary<"acos{f}({x})">("Acos", [](double x) { return std::acos(x); }), kSteep);
  return op;
}

const OpDef& def_Atan() {
  static const OpDef op = float_unary<"atan{f}({x})">("Atan", [](double x) { return std::atan(x); });
  return op;
}

const OpDef& def_Sinh() {
  static const OpDef op = float_unary<"sinh{f}({x})">("Sinh", [](double x) { return std::sinh(x); });
  return op;
}

const OpDef& def_Cosh() {
  static const OpDef op = float_unary<"cosh{f}({x})">("Cosh", [](double x) { return std::cosh(x); });
  return op;
}

const OpDef& def_Tanh() {
  static const OpDef op = float_unary<"{tanh}({x})">("Tanh", [](double x) { return std::tanh(x); });
  return op;
}

const OpDef& def_Asinh() {
  static const OpDef op = float_unary<"asinh{f}({x})">("Asinh", [](double x) { return std::asinh(x); });
  return op;
}

const OpDef& def_Acosh() {
  static const OpDef op =
      host_only(float_unary<"acosh{f}({x})">("Acosh", [](double x) { return std::acosh(x); }), kSteep);
  return op;
}

const OpDef& def_Atanh() {
  static const OpDef op =
      host_only(float_unary<"atanh{f}({x})">("Atanh", [](double x) { return std::atanh(x); }), kSteep);
  return op;
}

const OpDef& def_Floor() {
  static const OpDef op = with_traits(
      float_unary<"floor{f}({x})">("Floor", [](double x) { return std::floor(x); }), {.rounds = true});
  return op;
}

const OpDef& def_Ceil() {
  static const OpDef op = with_traits(
      float_unary<"ceil{f}({x})">("Ceil", [](double x) { return std::ceil(x); }), {.rounds = true});
  return op;
}

// Halves to even, which is the rounding mode a program starts in.
const OpDef& def_Round() {
  static const OpDef op =
      with_traits(host_only(float_unary<"rint{f}({x})">("Round", [](double x) { return std::nearbyint(x); }),
                            kStepsOnHost),
                  {.rounds = true});
  return op;
}

}  // namespace mrvlc::ops
