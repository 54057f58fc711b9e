// Base64 (RFC 4648, with padding).
#pragma once
#include <string>
#include <string_view>

namespace mrvlc {

std::string base64(std::string_view bytes);

}  // namespace mrvlc
