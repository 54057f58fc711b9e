// Names in Lineage::pass that others ask for. Those of passes stand in passes/passes.def as well (a test
// compares).
#pragma once
#include <string_view>

namespace mrvlc::ir {

inline constexpr std::string_view kImported = "import";  // nodes of the model
inline constexpr std::string_view kFence = "fence";
inline constexpr std::string_view kWidenF16 = "widen-f16";
inline constexpr std::string_view kIntegerProducts = "integer-products";

}  // namespace mrvlc::ir
