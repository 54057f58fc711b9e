// Names of enumerators as text has them, by value.
#pragma once

namespace mrvlc::isa {

inline constexpr const char* kTypeNames[] = {"f16", "f32", "i8", "i32", "u8"};
inline constexpr const char* kActivationNames[] = {"none",        "relu",      "clip",  "leaky",
                                                   "hardsigmoid", "hardswish", "table", "bytes"};
inline constexpr const char* kEwNames[] = {"copy", "fill",  "add",   "sub",     "mul",   "div",        "max",
                                           "min",  "axpby", "prelu", "affine",  "sqrt",  "reciprocal", "abs",
                                           "neg",  "equal", "less",  "greater", "floor", "select"};
inline constexpr const char* kReduceNames[] = {"sum", "max", "min", "sumsq", "prod"};
inline constexpr const char* kPoolNames[] = {"max", "avgvalid", "avgfixed"};

}  // namespace mrvlc::isa
