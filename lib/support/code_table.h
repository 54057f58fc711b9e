// Made of include/mrvlc/support/diag/ and codes/ when the component is built.
#pragma once
#include <span>
#include <string_view>

#include "mrvlc/support/diag.h"

namespace mrvlc {

// Headers in the order of their names.
extern const std::span<const DiagId> kCodes;
// Pages: a line with the code, then the lines "what: ", "why: " and "do: "; blank lines between pages.
extern const std::span<const std::string_view> kCodePages;

}  // namespace mrvlc
