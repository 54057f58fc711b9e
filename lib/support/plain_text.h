// Runs of characters that are written as they are, eight at a time: most texts are nothing else.
#pragma once
#include <cstdint>
#include <cstring>
#include <string_view>

namespace mrvlc {

constexpr uint64_t kLowBits = 0x0101010101010101u, kHighBits = 0x8080808080808080u;

// Whether one of the eight bytes is less than `bound`, which is at most 128.
constexpr bool has_byte_below(uint64_t word, unsigned char bound) {
  return ((word - kLowBits * bound) & ~word & kHighBits) != 0;
}
constexpr bool has_byte(uint64_t word, unsigned char byte) {
  return has_byte_below(word ^ kLowBits * byte, 1);
}

// Length of the longest prefix of characters for which `one` holds; `all` says it of eight.
template <class All, class One>
size_t prefix_of(std::string_view text, All all, One one) {
  size_t i = 0;
  uint64_t word = 0;
  auto all_from = [&](size_t at) {
    std::memcpy(&word, text.data() + at, sizeof word);
    return all(word);
  };
  while (i + sizeof word <= text.size() && all_from(i)) i += sizeof word;
  // What is left of a text of eight and more is looked at once more with what stands before it.
  if (text.size() >= sizeof word && i + sizeof word > text.size() && all_from(text.size() - sizeof word))
    return text.size();
  while (i < text.size() && one(text[i])) ++i;
  return i;
}

// Length of the prefix that printable() shows as it is: ASCII without control characters.
inline size_t plain_length(std::string_view text) {
  auto all = [](uint64_t word) {
    return (word & kHighBits) == 0 && !has_byte_below(word, 0x20) && !has_byte(word, 0x7f);
  };
  return prefix_of(text, all, [](char c) { return c >= 0x20 && c < 0x7f; });
}
inline bool is_plain(std::string_view text) {
  return plain_length(text) == text.size();
}

}  // namespace mrvlc
