// Numbers of few bits in bytes.
#pragma once
#include "contrib/contrib.h"

namespace mrvlc::onnx {

// Bytes as numbers of 2, 4 or 8 bits (u8), the low ones first, along the last dimension of `rank`.
std::string unpack_bits(Decomposition& r, const std::string& packed, int64_t bits, int64_t rank);

}  // namespace mrvlc::onnx
