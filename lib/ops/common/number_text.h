// Numbers as strings and back, as Cast between strings and numbers has them.
#pragma once
#include <optional>
#include <string>

#include "mrvlc/tensor/tensor.h"

namespace mrvlc::ops {

// As NumPy's str() writes it, which ONNX's reference results are made with: the fewest digits that read back
// to the same element, "1.0", "1e-07", "inf", "nan", "True".
std::string number_text(const Tensor& tensor, int64_t i);
// Plain and scientific numbers, INF, +INF, -INF and NaN in any case, True and False; nullopt for other
// strings.
std::optional<double> parse_number(std::string_view text);
// Integers of 64 bits that a double might not hold; nullopt for other strings.
std::optional<int64_t> parse_integer(std::string_view text);

}  // namespace mrvlc::ops
