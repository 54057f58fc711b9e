// Names of element types in files of NumPy.
#pragma once
#include <string_view>

#include "mrvlc/tensor/shape.h"

namespace mrvlc::chost {

// "<f4", on machines of either byte order that of little-endian ones; empty: files of NumPy hold no such
// values (texts, sequences, optionals). Types that NumPy does not have are the unsigned integers of their
// bits.
std::string_view numpy_type(const TensorType& type);

}  // namespace mrvlc::chost
