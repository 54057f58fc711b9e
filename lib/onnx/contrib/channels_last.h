// Channels between the last dimension and the second, and the activation of a fused operator.
#pragma once
#include "contrib/contrib.h"

namespace mrvlc::onnx {

// The channels of x, of that rank, from the last dimension to the second, and back.
std::string channels_first(Decomposition& r, const std::string& x, int64_t rank);
std::string channels_back(Decomposition& r, const std::string& x, int64_t rank);

// `x` through the activation that a fused operator names; its parameters are in `p`, in their order.
Result<std::string> activated(Decomposition& r, const std::string& x, const std::string& name,
                              const std::vector<float>& p);

}  // namespace mrvlc::onnx
