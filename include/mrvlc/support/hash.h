// Checksums: SHA-256, SHA-1 and CRC-32C.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace mrvlc {

// SHA-256 (FIPS 180-4).
std::array<uint8_t, 32> sha256(std::span<const std::byte> bytes);
// The same in lower-case hex.
std::string sha256_hex(std::span<const std::byte> bytes);
inline std::string sha256_hex(std::string_view text) {
  return sha256_hex(std::as_bytes(std::span(text.data(), text.size())));
}

// SHA-1 in lower-case hex: no proof of anything, but what SPDX names files by.
std::string sha1_hex(std::span<const std::byte> bytes);

// SHA-256 of bytes that come in pieces.
class Sha256 {
 public:
  Sha256();
  void add(std::span<const std::byte> bytes);
  std::string hex();  // once, after the last piece

 private:
  std::shared_ptr<void> state_;
};

// CRC-32C as the model container wants it: Castagnoli polynomial, reflected, seed 0, no final inversion.
uint32_t crc32c(std::span<const std::byte> bytes);
// The same by tables, for machines without the instruction.
uint32_t crc32c_portable(std::span<const std::byte> bytes);

}  // namespace mrvlc
