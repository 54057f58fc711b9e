// How NumPy's .npy files call types of elements (numpy.lib.format, "descr").
#pragma once
#include <string_view>

#include "mrvlc/tensor/element_type.h"

namespace mrvlc {

// "<f4"; of types that NumPy lacks that of the integers that hold them; empty: files hold no such elements.
std::string_view npy_descr(ElementType elem);

}  // namespace mrvlc
