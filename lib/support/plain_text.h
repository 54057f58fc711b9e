// Characters by how they show. Runs of those that are written as they are, eight at a time: most texts are
// nothing else.
#pragma once
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>

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

// Length of the UTF-8 sequence at the start of `s` with its code point, or 0 when it is malformed.
inline size_t decode_utf8(std::string_view s, uint32_t& code_point) {
  auto byte = [&](size_t i) { return static_cast<uint32_t>(static_cast<unsigned char>(s[i])); };
  uint32_t b = byte(0);
  size_t n = b < 0x80                ? 1
             : b >= 0xc2 && b < 0xe0 ? 2
             : b >= 0xe0 && b < 0xf0 ? 3
             : b >= 0xf0 && b < 0xf5 ? 4
                                     : 0;
  if (n == 0 || s.size() < n) return 0;
  code_point = n == 1 ? b : b & (0x7fu >> n);
  for (size_t i = 1; i < n; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
    code_point = code_point << 6 | (byte(i) & 0x3f);
  }
  // Longer than need be, a surrogate, or beyond Unicode: readers of UTF-8 refuse them.
  constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  if (code_point < kLeast[n] || code_point > 0x10ffff || (code_point >= 0xd800 && code_point < 0xe000))
    return 0;
  return n;
}

// What does not show, or changes how its neighbours show: control characters, zero-width and bidirectional
// ones, separators of lines, the byte order mark, fillers and marks of annotations, tags.
constexpr bool is_hidden(uint32_t c) {
  constexpr std::pair<uint32_t, uint32_t> kRanges[] = {
      {0x00, 0x1f},       {0x7f, 0x9f},      {0xad, 0xad},     {0x34f, 0x34f},   {0x61c, 0x61c},
      {0x115f, 0x1160},   {0x17b4, 0x17b5},  {0x180b, 0x180f}, {0x200b, 0x200f}, {0x2028, 0x202e},
      {0x2060, 0x206f},   {0x3164, 0x3164},  {0xfeff, 0xfeff}, {0xffa0, 0xffa0}, {0xfff0, 0xfffb},
      {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff}};
  for (const auto& [first, last] : kRanges)
    if (c >= first && c <= last) return true;
  return false;
}

}  // namespace mrvlc
