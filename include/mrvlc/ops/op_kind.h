// The operators as symbols, one for each line of ops.def: n.is(Op::Conv). Symbols of all domains differ. What
// is known of an operator stands in its OpDef (op.h); the IR only carries the symbol (ir/schema.h).
#pragma once
#include <cstdint>

namespace mrvlc {

// GCC takes the names of a scoped enumeration for ones that hide others, e.g. the type Shape.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
enum class Op : uint16_t {
  None,  // of no operator of the table
#define MRVLC_OP(name) name,
#include "mrvlc/ops/ops.def"
#undef MRVLC_OP
};
#pragma GCC diagnostic pop

}  // namespace mrvlc
