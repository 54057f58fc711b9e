// Add, Sub, Mul, Div, Mod, Pow, PRelu. Integers wrap; division truncates, and by zero gives zero.
#include "common/convert.h"
#include "elementwise/elementwise.h"
#include "mrvlc/support/diag/ops.h"

namespace mrvlc::ops {
namespace {

template <class T>
T divide(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    return a / b;
  } else {
    if (b == 0) return 0;
    // The quotient of the lowest value by -1 does not exist.
    if (std::is_signed_v<T> && b == static_cast<T>(-1)) return wrap_neg(a);
    return a / b;
  }
}

// Sign of the divisor as in Python, or of the dividend as C's fmod.
double eval_mod(const double* x, const ir::OpSchema&, const Attrs&) {
  return std::fmod(x[0], x[1]);
}

int64_t eval_mod_int(const int64_t* x, const ir::OpSchema&, const Attrs& attrs) {
  if (x[1] == 0 || x[1] == -1) return 0;
  int64_t r = x[0] % x[1];
  bool like_divisor = std::get<int64_t>(attrs[0]) == 0;
  return like_divisor && r != 0 && (r < 0) != (x[1] < 0) ? r + x[1] : r;
}

uint64_t eval_mod_uint(const uint64_t* x, const ir::OpSchema&, const Attrs&) {
  return x[1] == 0 ? 0 : x[0] % x[1];
}

std::string mod_text(EmitContext& c, const std::vector<std::string>& x, ElementType elem) {
  std::string_view pattern = "{y} == 0 ? 0 : {x} % {y}";
  if (is_float(elem)) {
    pattern = "fmod{f}({x}, {y})";
  } else if (is_signed_integer(elem)) {
    pattern = c.node().int_attr("fmod") != 0 ? "{y} == 0 || {y} == -1 ? 0 : {x} % {y}"
                                             : "{y} == 0 || {y} == -1 ? 0 : {x} % {y} != 0 && ({x} % {y} < "
                                               "0) != ({y} < 0) ? {x} % {y} + {y} : {x} % {y}";
  }
  return expand_pattern(pattern, c, x, elem);
}

Result<std::vector<TensorType>> infer_mod(const InferContext& c) {
  if (is_float(c.type(0).elem) && c.int_attr("fmod") == 0)
    return bad_attr("fmod", "must be 1 for floating point");
  return infer_elementwise(c);
}

template <class T>
T power(T base, T exponent) {
  if (is_negative(exponent)) {
    if (base == 1) return 1;
    return base == static_cast<T>(-1) ? (exponent % 2 == 0 ? T{1} : base) : T{0};
  }
  T result = 1;
  for (; exponent != 0; exponent /= 2) {
    if (exponent % 2 != 0) result = wrap_mul(result, base);
    base = wrap_mul(base, base);
  }
  return result;
}

double eval_pow(const double* x, const ir::OpSchema&, const Attrs&) {
  return std::pow(x[0], x[1]);
}
template <class T>
T eval_pow_int(const T* x, const ir::OpSchema&, const Attrs&) {
  return power(x[0], x[1]);
}

// The result has the type of the base; any numeric exponent does.
Result<std::vector<TensorType>> infer_pow(const InferContext& c) {
  MRVLC_TRY(check_elem(c, 1, spec::kNumeric));
  MRVLC_ASSIGN(Shape shape, broadcast_inputs(c, 0, 2));
  return one_type(c.type(0).elem, std::move(shape));
}

std::string pow_float_text(EmitContext& c, const std::vector<std::string>& x, ElementType elem) {
  const Tensor* exponent = c.constant(1);
  if (exponent != nullptr && exponent->elements() == 1) {
    double e = exponent->as_double(0);
    if (e == 1) return x[0];
    if (e == 2) return expand_pattern("{x} * {x}", c, x, elem);
    if (e == 3) return expand_pattern("{x} * {x} * {x}", c, x, elem);
    if (e == 0.5) return expand_pattern("sqrt{f}({x})", c, x, elem);
  }
  return expand_pattern("pow{f}({x}, ({t}){y})", c, x, elem);
}

// The helper takes signed exponents. Modulo 2^64 an odd base to the 2^62 is 1 and an even one 0, so exponents
// beyond that range may be cut to their low 62 bits plus 2^62.
std::string exponent_text(const std::string& y, ElementType elem) {
  if (elem != ElementType::U64) return fmt::format("(int64_t){}", y);
  return fmt::format("(int64_t)({0} >> 62 == 0 ? {0} : ({0} & UINT64_MAX >> 2) | UINT64_C(1) << 62)", y);
}

std::string pow_text(EmitContext& c, const std::vector<std::string>& x, ElementType elem) {
  if (is_float(elem)) return pow_float_text(c, x, elem);
  if (is_float(c.in_type(1).elem)) {  // in double, and back as the reference stores it
    std::string power = fmt::format("pow((double){}, (double){})", x[0], x[1]);
    return fmt::format("({})({})", c_type(elem), saturated_text(power, ElementType::F64, ElementType::I64));
  }
  return fmt::format("({}){}((int64_t){}, {})", c_type(elem), c.helper("pow_int"), x[0],
                     exponent_text(x[1], c.in_type(1).elem));
}

template <class T>
T prelu(T x, T slope) {
  return is_negative(x) ? wrap_mul(x, slope) : x;
}

// The slope broadcasts to the data, never the other way round.
Result<std::vector<TensorType>> infer_prelu(const InferContext& c) {
  MRVLC_ASSIGN(auto types, infer_elementwise(c));
  if (types[0].shape != c.type(0).shape) {
    return make_diag<DiagCode::MRV0205>(to_string(c.type(0).shape), to_string(c.type(1).shape),
                                        "the slope must broadcast to the data");
  }
  return types;
}

Status emit_prelu(EmitContext& c) {
  require_first_shape(c);
  return emit_elementwise(c);
}

// Before opset 7 the slope was a vector over dimension 1.
Status upgrade_prelu(RawNode& node) {
  node.take("consumed_inputs");
  const TensorType *x = node.input_type(0), *slope = node.input_type(1);
  if (node.opset >= 7 || x == nullptr || slope == nullptr || slope->rank() != 1 || x->rank() < 3) return {};
  Shape shape(static_cast<size_t>(x->rank() - 1), 1);
  shape[0] = slope->shape[0];
  node.reshapes.emplace_back(1, std::move(shape));
  return {};
}

}  // namespace

const OpDef& def_Add() {
  static const OpDef op = with_traits(numeric<"{x} + {y}", "({u}){x} + ({u}){y}", "({u}){x} + ({u}){y}", 2>(
                                          "Add", [](auto a, auto b) { return wrap_add(a, b); }),
                                      {.commutative = true});
  return op;
}

const OpDef& def_Sub() {
  static const OpDef op = numeric<"{x} - {y}", "({u}){x} - ({u}){y}", "({u}){x} - ({u}){y}", 2>(
      "Sub", [](auto a, auto b) { return wrap_add(a, wrap_neg(b)); });
  return op;
}

const OpDef& def_Mul() {
  static const OpDef op = with_traits(numeric<"{x} * {y}", "({u}){x} * ({u}){y}", "({u}){x} * ({u}){y}", 2>(
                                          "Mul", [](auto a, auto b) { return wrap_mul(a, b); }),
                                      {.commutative = true});
  return op;
}

const OpDef& def_Div() {
  static const OpDef op =
      numeric<"{x} / {y}", "{y} == 0 ? 0 : {y} == -1 ? ({t})(0 - ({u}){x}) : ({t})({x} / {y})",
              "{y} == 0 ? 0 : {x} / {y}", 2>("Div", [](auto a, auto b) { return divide(a, b); });
  return op;
}

const OpDef& def_Mod() {
  static constexpr ScalarOp scalar{eval_mod, eval_mod_int, mod_text, eval_mod_uint};
  static const OpDef op = [] {
    OpDef d = elementwise("Mod", 2, spec::kNumeric, scalar, {spec::with_int("fmod", 0)});
    d.traits.periodic = true;
    d.infer = infer_mod;
    return host_only(std::move(d), kIntegersOnHost);
  }();
  return op;
}

const OpDef& def_Pow() {
  static constexpr ScalarOp scalar{eval_pow, eval_pow_int<int64_t>, pow_text, eval_pow_int<uint64_t>};
  static const OpDef op = [] {
    OpDef d = elementwise("Pow", 2, spec::kNumeric, scalar);
    d.infer = infer_pow;
    return d;
  }();
  return op;
}

const OpDef& def_PRelu() {
  static const OpDef op = [] {
    OpDef d = numeric<"{x} < 0 ? {x} * {y} : {x}", "{x} < 0 ? ({t})(({u}){x} * ({u}){y}) : {x}", "{x}", 2>(
        "PRelu", [](auto x, auto slope) { return prelu(x, slope); });
    d.upgrade = upgrade_prelu;
    d.infer = infer_prelu;
    d.emit = d.emit_dynamic = emit_prelu;
    return d;
  }();
  return op;
}

}  // namespace mrvlc::ops
