// SHA-256 and SHA-1 by OpenSSL; CRC-32C by the instruction of SSE 4.2, or by eight tables (slicing-by-8).
#include "mrvlc/support/hash.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <array>
#include <cstring>

namespace mrvlc {
namespace {

using Digest = std::array<uint8_t, 32>;

std::string to_hex(std::span<const uint8_t> digest) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string hex;
  for (uint8_t b : digest) {
    hex += kDigits[b >> 4];
    hex += kDigits[b & 15];
  }
  return hex;
}

EVP_MD_CTX* context(const std::shared_ptr<void>& state) {
  return static_cast<EVP_MD_CTX*>(state.get());
}

}  // namespace

std::array<uint8_t, 32> sha256(std::span<const std::byte> bytes) {
  Digest digest{};
  EVP_Digest(bytes.data(), bytes.size(), digest.data(), nullptr, EVP_sha256(), nullptr);
  return digest;
}

std::string sha256_hex(std::span<const std::byte> bytes) {
  return to_hex(sha256(bytes));
}

std::string sha1_hex(std::span<const std::byte> bytes) {
  std::array<uint8_t, 20> digest{};
  EVP_Digest(bytes.data(), bytes.size(), digest.data(), nullptr, EVP_sha1(), nullptr);
  return to_hex(digest);
}

Sha256::Sha256() : state_(EVP_MD_CTX_new(), [](void* s) { EVP_MD_CTX_free(static_cast<EVP_MD_CTX*>(s)); }) {
  EVP_DigestInit_ex(context(state_), EVP_sha256(), nullptr);
}

void Sha256::add(std::span<const std::byte> bytes) {
  EVP_DigestUpdate(context(state_), bytes.data(), bytes.size());
}

std::string Sha256::hex() {
  Digest digest{};
  EVP_DigestFinal_ex(context(state_), digest.data(), nullptr);
  return to_hex(digest);
}

namespace {

// Slicing by eight: the binaries are tens of megabytes and the CRC must not dominate writing them.
struct Crc32cTables {
  std::array<std::array<uint32_t, 256>, 8> t{};
  constexpr Crc32cTables() {
    for (uint32_t i = 0; i < 256; ++i) {
      uint32_t c = i;
      // The polynomial of Castagnoli, its bits reversed (RFC 3720).
      for (int k = 0; k < 8; ++k) c = (c & 1) != 0 ? 0x82f63b78u ^ (c >> 1) : c >> 1;
      t[0][i] = c;
    }
    for (size_t s = 1; s < 8; ++s)
      for (size_t i = 0; i < 256; ++i) t[s][i] = (t[s - 1][i] >> 8) ^ t[0][t[s - 1][i] & 0xff];
  }
};
constexpr Crc32cTables kTables;

#if defined(__x86_64__)
// The instruction takes eight bytes in the time of one look-up.
__attribute__((target("sse4.2"))) uint32_t crc32c_by_instruction(std::span<const std::byte> bytes) {
  uint64_t crc = 0;
  size_t i = 0;
  for (; i + 8 <= bytes.size(); i += 8) {
    uint64_t word = 0;
    std::memcpy(&word, bytes.data() + i, sizeof word);
    crc = __builtin_ia32_crc32di(crc, word);
  }
  auto last = static_cast<uint32_t>(crc);
  for (; i < bytes.size(); ++i) last = __builtin_ia32_crc32qi(last, std::to_integer<unsigned char>(bytes[i]));
  return last;
}
#endif

}  // namespace

uint32_t crc32c_portable(std::span<const std::byte> bytes) {
  const auto& t = kTables.t;
  auto at = [&](size_t i) { return static_cast<uint32_t>(bytes[i]); };
  uint32_t crc = 0;
  size_t i = 0;
  for (; i + 8 <= bytes.size(); i += 8) {
    uint32_t lo = crc ^ (at(i) | at(i + 1) << 8 | at(i + 2) << 16 | at(i + 3) << 24);
    crc = t[7][lo & 0xff] ^ t[6][lo >> 8 & 0xff] ^ t[5][lo >> 16 & 0xff] ^ t[4][lo >> 24] ^ t[3][at(i + 4)] ^
          t[2][at(i + 5)] ^ t[1][at(i + 6)] ^ t[0][at(i + 7)];
  }
  for (; i < bytes.size(); ++i) crc = t[0][(crc ^ at(i)) & 0xff] ^ (crc >> 8);
  return crc;
}

uint32_t crc32c(std::span<const std::byte> bytes) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("sse4.2")) return crc32c_by_instruction(bytes);
#endif
  return crc32c_portable(bytes);
}

}  // namespace mrvlc
