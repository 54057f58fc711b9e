// Unary operators that serve integers and booleans too, or answer with booleans.
#include "elementwise/elementwise.h"

namespace mrvlc::ops {
namespace {

constexpr std::string_view kPredicateOnHost = "accelerator: boolean results stay on the host";

// Bitwise and logical scalars have no meaning on floats: inference refuses those.
template <class F>
int64_t int_unary(const int64_t* x, const ir::OpSchema&, const Attrs&) {
  return F{}(x[0]);
}

bool infinity_of_interest(double x, const Attrs& attrs) {
  return std::isinf(x) && std::get<int64_t>(attrs[x > 0 ? 1 : 0]) != 0;
}

double eval_is_inf(const double* x, const ir::OpSchema&, const Attrs& attrs) {
  return infinity_of_interest(x[0], attrs);
}

template <class T>
T sign_of(T x) {
  if (is_negative(x)) return static_cast<T>(-1);
  return x > 0 ? T{1} : x;
}

OpDef predicate(OpDef op) {
  op.infer = infer_predicate;
  return host_only(std::move(op), kPredicateOnHost);
}

}  // namespace

const OpDef& def_Abs() {
  static const OpDef op = with_traits(numeric<"fabs{f}({x})", "{x} < 0 ? 0 - ({u}){x} : ({u}){x}", "{x}", 1>(
                                          "Abs",
                                          [](auto x) {
                                            if constexpr (std::is_floating_point_v<decltype(x)>)
                                              return std::fabs(x);
                                            return is_negative(x) ? wrap_neg(x) : x;
                                          }),
                                      {.passes_size_on = true});
  return op;
}

const OpDef& def_Neg() {
  static const OpDef op = with_traits(
      numeric<"-{x}", "0 - ({u}){x}", "0 - ({u}){x}", 1>("Neg", [](auto x) { return wrap_neg(x); }),
      {.passes_size_on = true});
  return op;
}

// NaN stays NaN.
const OpDef& def_Sign() {
  static const OpDef op =
      host_only(numeric<"{x} > 0 ? 1 : {x} < 0 ? -1 : {x}", "({x} > 0) - ({x} < 0)", "{x} > 0", 1>(
                    "Sign", [](auto x) { return sign_of(x); }),
                kStepsOnHost);
  return op;
}

const OpDef& def_IsNaN() {
  static const OpDef op =
      predicate(float_unary<"isnan({x})">("IsNaN", [](double x) { return std::isnan(x) ? 1.0 : 0.0; }));
  return op;
}

const OpDef& def_IsInf() {
  static constexpr ScalarOp scalar{
      eval_is_inf, nullptr, c_pattern<"isinf({x}) && ({x} > 0 ? {detect_positive} : {detect_negative}) > 0">};
  static const OpDef op =
      predicate(elementwise("IsInf", 1, spec::kFloats, scalar,
                            {spec::with_int("detect_negative", 1), spec::with_int("detect_positive", 1)}));
  return op;
}

const OpDef& def_Not() {
  static constexpr auto negate = [](int64_t x) { return int64_t{x == 0}; };
  static constexpr ScalarOp scalar{nullptr, int_unary<decltype(negate)>, c_pattern<"!{x}">};
  static const OpDef op = host_only(elementwise("Not", 1, spec::kBool, scalar), kIntegersOnHost);
  return op;
}

const OpDef& def_BitwiseNot() {
  static constexpr auto invert = [](int64_t x) { return ~x; };
  static constexpr ScalarOp scalar{nullptr, int_unary<decltype(invert)>, c_pattern<"~({u}){x}">};
  static const OpDef op = host_only(elementwise("BitwiseNot", 1, spec::kIntegers, scalar), kIntegersOnHost);
  return op;
}

}  // namespace mrvlc::ops
