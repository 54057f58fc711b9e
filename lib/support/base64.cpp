#include "mrvlc/support/base64.h"

#include <cstdint>

namespace mrvlc {

std::string base64(std::string_view bytes) {
  constexpr const char* kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  auto at = [&](size_t i) { return i < bytes.size() ? uint32_t{static_cast<uint8_t>(bytes[i])} : 0u; };
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t word = at(i) << 16 | at(i + 1) << 8 | at(i + 2);
    out.push_back(kDigits[word >> 18]);
    out.push_back(kDigits[word >> 12 & 63]);
    out.push_back(i + 1 < bytes.size() ? kDigits[word >> 6 & 63] : '=');
    out.push_back(i + 2 < bytes.size() ? kDigits[word & 63] : '=');
  }
  return out;
}

}  // namespace mrvlc
