// Building blocks of element-wise operators: builders that make a definition of a scalar function and a C
// pattern, and the shared broadcasting inference, evaluation and emission behind them.
//
// A C pattern is an fmt text with named fields: {x} {y} {z} the operands, {t} the C type computed in, {u} the
// unsigned type its arithmetic wraps in, {f} the suffix of literals and <math.h> names ("f" or nothing),
// {exp} {expm1} {log} {log1p} {tanh} {erf} {sin} {cos} {tan} functions of the computed type (math_function),
// and the node's float and int attributes by name, as literals of the computed type.
#pragma once
#include <cmath>

#include "common/dims.h"

namespace mrvlc::ops {

using Attrs = std::vector<ir::Attr>;

namespace spec {
inline constexpr TypeSet kBool = types_of({E::Bool});
inline constexpr TypeSet kIntegers = types_of({E::U8, E::I8, E::U16, E::I16, E::I32, E::I64, E::U32, E::U64});
}  // namespace spec

template <size_t N>
struct CText {
  char text[N]{};
  constexpr CText(const char (&s)[N]) {  // NOLINT: a literal is meant to convert
    for (size_t i = 0; i < N; ++i) text[i] = s[i];
  }
  constexpr std::string_view view() const { return {text, N - 1}; }
};

// -- scalar functions and patterns as the plain function pointers of ScalarOp

// Integer results are converted to {t}: C promotes the narrow types.
std::string expand_pattern(std::string_view pattern, EmitContext& context, const std::vector<std::string>& x,
                           ElementType elem);

template <CText Float, CText Int = Float, CText Unsigned = Int>
std::string c_pattern(EmitContext& context, const std::vector<std::string>& x, ElementType elem) {
  bool is_signed = is_signed_integer(elem);
  std::string_view pattern = is_float(elem) ? Float.view() : is_signed ? Int.view() : Unsigned.view();
  return expand_pattern(pattern, context, x, elem);
}

// F(x) or F(x, y), of a generic lambda when it serves integers too.
template <int Arity, class F, class T>
T call_scalar(const T* x, const ir::OpSchema&, const Attrs&) {
  if constexpr (Arity == 1) return static_cast<T>(F{}(x[0]));
  if constexpr (Arity == 2) return static_cast<T>(F{}(x[0], x[1]));
}
// F(x, attrs)
template <class F>
double call_with_attrs(const double* x, const ir::OpSchema&, const Attrs& attrs) {
  return F{}(x[0], attrs);
}

// -- shared facets

Status upgrade_elementwise(
    RawNode& node);  // consumed_inputs of opset 1, broadcast and axis of opsets before 7
Result<std::vector<TensorType>> infer_elementwise(
    const InferContext& context);  // broadcast; element type of input 0
Result<std::vector<TensorType>> infer_predicate(const InferContext& context);  // broadcast; bool
// Broadcast shape of the inputs [first, last).
Result<Shape> broadcast_inputs(const InferContext& context, size_t first, size_t last);
Status eval_elementwise(const EvalContext& context);
// The same over given operands; a variadic operator folds pairs. Results are divided by `divisor` in double.
Status eval_scalar(const ScalarOp& op, const EvalContext& context, const std::vector<const Tensor*>& operands,
                   bool fold, double divisor = 1);
// C of static and dynamic shapes.
Status emit_elementwise(EmitContext& context);
Status emit_scalar(const ScalarOp& op, EmitContext& context, bool fold, double divisor = 1);

// Operators that choose between values compute in the type of the result, all others in that of their
// operands.
ElementType computed_type(const EmitContext& context);
// An expression as it is stored in the result.
std::string stored(const EmitContext& context, const std::string& expr);
// Shapes that are known at run time only (elementwise_dynamic.cpp).
Result<std::vector<TensorType>> infer_dynamic_elementwise(const InferContext& context);
// Fails unless the operands broadcast to the shape of the first.
void require_first_shape(EmitContext& context);

// Loops of a broadcasting operator: dimensions merged where all operands allow it, at least one.
struct BroadcastLoops {
  Shape size;                  // result shape, merged
  std::vector<Shape> strides;  // one a operand
};
// Moves `index` over all loops but the innermost, and `base`, the first element of each operand's run, with
// it.
void next_run(const BroadcastLoops& loops, Shape& index, std::vector<int64_t>& base);
BroadcastLoops broadcast_loops(const Shape& result, const std::vector<Shape>& operands);

// The same as C text: numbers, or what is known at run time only.
struct LoopTexts {
  Texts size;
  std::vector<Texts> strides;
};
// Operands of these dimensions that broadcast to `result`; loops are merged where all is known.
LoopTexts broadcast_texts(EmitContext& context, const Texts& result, const std::vector<Texts>& operands);
// Loops of an element-wise node, whose operands are those that are given; dimensions of its result are set.
LoopTexts element_loops(EmitContext& context);
void set_broadcast_dims(EmitContext& context);
LoopTexts texts_of(const BroadcastLoops& loops);
// Stride of a dimension `own` that is 1 or `whole`; fails when it is neither.
std::string broadcast_step(EmitContext& context, const std::string& own, const std::string& whole,
                           const std::string& stride);
Texts broadcast_steps(EmitContext& context, const Texts& own, const Texts& whole);
// "i0 * 48 + i1"; "0" when every stride is 0.
std::string index_text(const Texts& strides);
inline std::string index_text(const Shape& strides) {
  return index_text(texts_of(strides));
}

// -- builders

// `op` without accelerator layer, and why.
OpDef host_only(OpDef op, std::string_view reason);
inline constexpr std::string_view kIntegersOnHost =
    "accelerator: integer and boolean arithmetic stays on the host";
inline constexpr std::string_view kStepsOnHost = "accelerator: its tables hold no steps";

OpDef elementwise(std::string_view name, int arity, TypeSet types, const ScalarOp& scalar,
                  std::vector<ir::AttrSpec> attrs = {});

template <CText Pattern, class F>
OpDef float_unary(std::string_view name, F) {
  static constexpr ScalarOp scalar{call_scalar<1, F, double>, nullptr, c_pattern<Pattern>};
  return elementwise(name, 1, spec::kFloats, scalar);
}
template <CText Pattern, class F>
OpDef float_unary(std::string_view name, std::vector<ir::AttrSpec> attrs, F) {
  static constexpr ScalarOp scalar{call_with_attrs<F>, nullptr, c_pattern<Pattern>};
  return elementwise(name, 1, spec::kFloats, scalar, std::move(attrs));
}
template <CText Float, CText Int, CText Unsigned, int Arity, class F>
OpDef numeric(std::string_view name, F) {
  static constexpr ScalarOp scalar{call_scalar<Arity, F, double>, call_scalar<Arity, F, int64_t>,
                                   c_pattern<Float, Int, Unsigned>, call_scalar<Arity, F, uint64_t>};
  return elementwise(name, Arity, spec::kNumeric, scalar);
}

// Element of a float attribute slot, as the scalar functions read them.
inline double float_slot(const Attrs& attrs, size_t i) {
  return static_cast<double>(std::get<float>(attrs[i]));
}

// Arithmetic that wraps for the integer types and is itself for floats.
template <class T>
T wrap_add(T a, T b) {
  if constexpr (std::is_same_v<T, int64_t>) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  } else {
    return a + b;
  }
}
template <class T>
T wrap_mul(T a, T b) {
  if constexpr (std::is_same_v<T, int64_t>) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  } else {
    return a * b;
  }
}
template <class T>
bool is_negative(T a) {
  if constexpr (std::is_unsigned_v<T>) {
    return false;
  } else {
    return a < 0;
  }
}
template <class T>
bool is_nan(T a) {
  if constexpr (std::is_floating_point_v<T>) {
    return std::isnan(a);
  } else {
    return false;
  }
}
template <class T>
T wrap_neg(T a) {
  if constexpr (std::is_floating_point_v<T>) {
    return -a;
  } else {
    return static_cast<T>(uint64_t{0} - static_cast<uint64_t>(a));
  }
}

}  // namespace mrvlc::ops
