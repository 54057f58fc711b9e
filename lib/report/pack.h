// Numbers as the page's script unpacks them (page/data.js): LEB128, base64.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace mrvlc::report {

class Packer {
 public:
  void number(uint64_t v) {
    for (; v >= 128; v >>= 7) bytes_.push_back(static_cast<char>(v | 128));
    bytes_.push_back(static_cast<char>(v));
  }
  // Zigzag: small either side of zero stays small.
  void difference(uint64_t from, uint64_t to) {
    number(to >= from ? (to - from) << 1 : ((from - to) << 1) - 1);
  }
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

// A JSON string that is safe in a <script> element too, whatever the bytes: no '<', '>' or '&' stays. What is
// no printable UTF-8 is shown as \xNN; longer texts are cut.
std::string json_string(std::string_view text, size_t max_bytes);
// JSON that is safe in a <script> element.
std::string script_json(std::string_view json);
// Text of an element or an attribute's value, in HTML and SVG.
std::string html_text(std::string_view text, size_t max_bytes);

}  // namespace mrvlc::report
