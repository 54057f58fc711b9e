#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace mrvlc {

// Lower-case hex SHA-256 (FIPS 180-4).
std::string sha256_hex(std::span<const std::byte> bytes);
inline std::string sha256_hex(std::string_view text) {
  return sha256_hex(std::as_bytes(std::span(text.data(), text.size())));
}

// CRC-32C as the model container wants it: Castagnoli polynomial, reflected, seed 0, no final inversion.
uint32_t crc32c(std::span<const std::byte> bytes);

}  // namespace mrvlc
