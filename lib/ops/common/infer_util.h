// Pieces the definitions of window, movement and quantisation operators share: attribute rows, element type
// sets, and the checks that read a compile-time operand.
#pragma once
#include "mrvlc/ops/op.h"
#include "mrvlc/ops/params.h"

namespace mrvlc::ops::spec {

using E = ElementType;

// Ordinary numbers and bool: what arithmetic is defined on.
inline constexpr TypeSet kOrdinary = types_of(
    {E::F32, E::U8, E::I8, E::U16, E::I16, E::I32, E::I64, E::Bool, E::F16, E::F64, E::U32, E::U64, E::BF16});
inline constexpr TypeSet kFloat8 =
    types_of({E::F8E4M3FN, E::F8E4M3FNUZ, E::F8E5M2, E::F8E5M2FNUZ, E::F8E8M0});
// Integers and floats of less than eight bits.
inline constexpr TypeSet kSubByte = types_of({E::U4, E::I4, E::U2, E::I2, E::F4E2M1});
// Every type whose elements have a size: data movement takes them all.
inline constexpr TypeSet kFixedSize{kOrdinary.bits | kFloat8.bits | kSubByte.bits};
inline constexpr TypeSet kNumeric =
    types_of({E::F32, E::U8, E::I8, E::U16, E::I16, E::I32, E::I64, E::F16, E::F64, E::U32, E::U64, E::BF16});
inline constexpr TypeSet kFloats = types_of({E::F32, E::F16, E::F64, E::BF16});
inline constexpr TypeSet kIndices = types_of({E::I32, E::I64});

inline ir::AttrSpec required(std::string_view name, ir::AttrKind kind) {
  return {name, kind, {}, true};
}
inline ir::AttrSpec optional(std::string_view name, ir::AttrKind kind) {
  return {name, kind, {}, false};
}
inline ir::AttrSpec with_int(std::string_view name, int64_t value) {
  return {name, ir::AttrKind::Int, ir::Attr(value), false};
}
inline ir::AttrSpec with_float(std::string_view name, float value) {
  return {name, ir::AttrKind::Float, ir::Attr(value), false};
}
inline ir::AttrSpec with_string(std::string_view name, std::string value) {
  return {name, ir::AttrKind::String, ir::Attr(std::move(value)), false};
}

}  // namespace mrvlc::ops::spec

namespace mrvlc::ops {

// Sizes and positions that attributes may ask for; sums and products of two of them cannot overflow.
inline constexpr int64_t kMaxExtent = int64_t{1} << 31;

// MRV0204 and MRV0208 with the text built by the caller.
Diag bad_attr(std::string_view attr, std::string text);
Diag bad_operands(std::string text);

// MRV0203 unless the rank of input i lies in [at_least, at_most].
Status check_rank(const InferContext& context, size_t i, int64_t at_least, int64_t at_most = kMaxRank);
// MRV0202 unless the element type of input i is in the set / equals that of input `like`.
Status check_elem(const InferContext& context, size_t i, TypeSet allowed);
Status check_same_elem(const InferContext& context, size_t i, size_t like = 0);
// A scalar or a vector of at most `max_count` integers known at compile time: MRV0207 when it is not known.
Result<std::vector<int64_t>> known_ints(const InferContext& context, size_t i, std::string_view what,
                                        int64_t max_count);
// The same for one number.
Result<int64_t> known_int(const InferContext& context, size_t i, std::string_view what);
Result<double> known_number(const InferContext& context, size_t i, std::string_view what);
// Axes normalised to [0, rank), each at most once, in the order given.
Result<std::vector<int64_t>> normalize_axes(const std::vector<int64_t>& axes, int64_t rank);
// A dimension computed from untrusted numbers: MRV0208 when negative, MRV0209 beyond kMaxElements.
Status check_dim(int64_t dim, std::string_view what);

inline bool is_attr_set(const InferContext& context, std::string_view name) {
  return ir::is_set(context.attr(name));
}

// One output of the given type.
inline Result<std::vector<TensorType>> one_type(ElementType elem, Shape shape) {
  return std::vector<TensorType>{TensorType{elem, std::move(shape)}};
}

inline size_t at(int64_t i) {
  return static_cast<size_t>(i);
}

// An attribute that became an input: moves it to input `position` as a vector of i64. Nothing when it is
// absent.
Status attr_to_input(RawNode& node, std::string_view attr, size_t position);

}  // namespace mrvlc::ops
