// Base64 (RFC 4648, with padding).
#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace mrvlc {

std::string base64(std::string_view bytes);
// nullopt: base64() writes no such text.
std::optional<std::string> from_base64(std::string_view text);

}  // namespace mrvlc
