// C expressions that convert elements between types, for Cast and the quantising operators.
#pragma once
#include "common/infer_util.h"
#include "mrvlc/tensor/narrow.h"

namespace mrvlc::ops {

// How a Cast treats what its target cannot represent (ONNX Cast-24): narrow floats only.
struct CastMode {
  bool saturate = true;
  ScaleRounding rounding = ScaleRounding::Up;
};

struct IntegerRange {
  double low, past;  // representable values v have low <= v < past
};
IntegerRange integer_range(ElementType elem);
// C expression of the float `x` (a primary expression, which it repeats) as an integer of type `to`:
// truncated, NaN becomes 0, what is out of range the nearest value.
std::string saturated_text(const std::string& x, ElementType from, ElementType to);

// Types that compute as they are; half and narrow floats compute in F32, narrow integers and bool in those of
// eight bits.
ElementType computing_type(ElementType elem);
// The stored `x` as a value of computing_type(from).
std::string decoded_text(EmitContext& context, const std::string& x, ElementType from);
// `x`, a primary expression of computing type `from`, which may be repeated, as an element to be stored.
std::string encoded_text(EmitContext& context, const std::string& x, ElementType from, ElementType to,
                         const CastMode& mode = {});

// The same for one element in the reference: floats truncate to integers, and saturate to those of eight bits
// and more.
void convert_element(const Tensor& from, int64_t i, Tensor& to, int64_t k, const CastMode& mode);

}  // namespace mrvlc::ops
