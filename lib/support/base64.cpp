// Encoded here, decoded by OpenSSL; a text that would not be written so is refused.
#include "mrvlc/support/base64.h"

#include <openssl/evp.h>

#include <algorithm>
#include <climits>
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

std::optional<std::string> from_base64(std::string_view text) {
  if (text.size() % 4 != 0 || text.size() > INT_MAX) return std::nullopt;
  std::string out(text.size() / 4 * 3, '\0');
  const int written =
      EVP_DecodeBlock(reinterpret_cast<unsigned char*>(out.data()),
                      reinterpret_cast<const unsigned char*>(text.data()), static_cast<int>(text.size()));
  if (written < 0) return std::nullopt;
  // OpenSSL counts what is padded, and takes blanks and bits that mean nothing.
  const size_t padding = text.ends_with("==") ? 2 : text.ends_with("=") ? 1 : 0;
  out.resize(static_cast<size_t>(written) - std::min(padding, static_cast<size_t>(written)));
  return base64(out) == text ? std::optional(std::move(out)) : std::nullopt;
}

}  // namespace mrvlc
