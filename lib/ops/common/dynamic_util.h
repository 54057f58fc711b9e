// Operators whose shapes are known at run time only: dimensions of types in inference, and the C text of
// sizes and copies. The C pieces named here are those of lib/chost/kernels/dynamic.c.
#pragma once
#include <concepts>

#include "common/emit_util.h"
#include "mrvlc/ops/dynamic_shapes.h"

namespace mrvlc::ops {

// One dimension of a type: at most `bound` if it is dynamic, else exactly that.
struct Dim {
  int64_t bound = 1;
  bool dynamic = false;
};
inline constexpr Dim kAnyDim{kNoBound, true};
using Dims = std::vector<Dim>;

inline bool is_empty(Dim dim) {
  return dim.bound == 0 && !dim.dynamic;
}

Dims dims_of(const TensorType& type);
Dim product(const Dims& dims);
Dim sum(Dim a, Dim b);
// The elements of a tensor as the dimension of a vector.
Dim all_elements(const TensorType& type);
// Of two operands that must agree, and where they broadcast.
Dim equal_dim(Dim a, Dim b);
Dim broadcast_dim(Dim a, Dim b);
Dims broadcast_dims(const Dims& a, const Dims& b);
// A type of these dimensions, with at most `elements` elements where that is known (else kNoBound).
TensorType type_of(ElementType elem, const Dims& dims, int64_t elements = kNoBound);
// A list in braces is a Shape.
template <std::same_as<Dims> D>
Result<std::vector<TensorType>> one_type(ElementType elem, const D& dims, int64_t elements = kNoBound) {
  return std::vector<TensorType>{type_of(elem, dims, elements)};
}
// What two operands with so many elements can make at most, each with each.
int64_t all_pairs(int64_t a, int64_t b);

// MRV0208 when an operand is a sequence or an optional.
Status check_tensors(const InferContext& context);
// Number of elements of a vector that decides about a rank; MRV0207 when it is dynamic.
Result<int64_t> known_length(const InferContext& context, size_t i, std::string_view what);
// An operand that holds one integer.
Status check_one_integer(const InferContext& context, size_t i, std::string_view what);
// Values of an operand that may not be given or not be known.
Result<std::optional<std::vector<int64_t>>> ints_if_known(const InferContext& context, size_t i,
                                                          std::string_view what);
// Types of an operator's results from those for static operands of some sizes, for operators without
// infer_dynamic.
Result<std::vector<TensorType>> infer_by_samples(const OpDef& op, const InferContext& context,
                                                 const std::vector<const SampledValue*>& sampled = {});

// -- C text; every dimension is an expression of at most 64 bits

// Is it a function of shapes known at run time only, see RunTimeShapes?
bool is_dynamic(const EmitContext& context);
using Texts = std::vector<std::string>;
// Is the C text a number, and not an expression of sizes known at run time only?
bool is_number(const std::string& text);
Texts texts_of(const Shape& numbers);
// The numbers, when all of them are.
std::optional<Shape> numbers_of(const Texts& texts);
Texts in_dims(const EmitContext& context, size_t i);
Texts out_dims(const EmitContext& context, size_t i = 0);
// "12 * v0->dim[1]"; dimensions [first, past).
std::string product_text(const Texts& dims, size_t first, size_t past);
inline std::string product_text(const Texts& dims) {
  return product_text(dims, 0, dims.size());
}
// "v0->dim[1] + 12"; "0" of none.
std::string sum_text(const Texts& terms);
// "{a, b}", "{0}" of none.
std::string list_text(const Texts& items);
// int64_t NAME[] = {...};
void declare_list(EmitContext& context, std::string_view name, const Texts& items, bool constant = true);
// "NAME[0]", "NAME[1]"...
Texts elements_of(std::string_view name, int64_t count);
// Fails unless two dimensions are equal; nothing for equal texts.
void require_equal(EmitContext& context, const std::string& a, const std::string& b);
// Bytes of `count` elements.
std::string bytes_text(ElementType elem, const std::string& count);
// memcpy of input `i` to an output of the same number of elements.
void emit_same_elements(EmitContext& context, size_t i = 0, size_t output = 0);
// The first operand as the result, unless it is there already: of operators that update it (traits.h).
void emit_operand_to_update(EmitContext& context);
// Row-major strides.
Texts stride_texts(const Texts& dims);

}  // namespace mrvlc::ops
