// Shapes and shape operands as C expressions of type ptrdiff_t: literals where they are known at compile
// time, so that one emission serves both kinds of functions (emit.h).
#pragma once
#include "common/dynamic_util.h"

namespace mrvlc::ops {

// "3", or "(ptrdiff_t)v0->dim[1]".
std::string dim_text(const std::string& dim);
Texts in_sizes(const EmitContext& context, size_t i);
Texts out_sizes(const EmitContext& context, size_t i);
// Product of the factors [from, to), literals multiplied, in parentheses where it is not one word; "1" when
// there are none.
std::string size_product(const Texts& factors, size_t from, size_t to);
inline std::string size_product(const Texts& factors) {
  return size_product(factors, 0, factors.size());
}
// Element k of an integer operand, as int64_t: a literal when it is known.
std::string int_operand(EmitContext& context, size_t i, int64_t k = 0);
// An int64_t that says which axis, as a ptrdiff_t, which may have fewer bits: those beyond [-rank, rank] are
// brought there.
std::string axis_text(const std::string& axis, int64_t rank);
// Fails when an element of a vector operand, "v" in the C condition, is not allowed.
void fail_if_any(EmitContext& context, size_t i, std::string_view condition);
// The same as require_widened, for a result whose type an attribute names.
Status require_widened_result(const EmitContext& context, size_t output = 0);

}  // namespace mrvlc::ops
