// Numbers and texts as the page takes them.
#include "pack.h"

#include "mrvlc/support/diag.h"

namespace mrvlc::report {

std::string json_string(std::string_view text, size_t max_bytes) {
  std::string out = "\"";
  for (char c : printable(text, max_bytes)) {
    if (c == '"' || c == '\\') {
      out += {'\\', c};
    } else if (c == '<' || c == '>' || c == '&' || static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(static_cast<unsigned char>(c)));
    } else {
      out.push_back(c);
    }
  }
  return out + "\"";
}

std::string script_json(std::string_view json) {
  std::string out;
  // Outside of texts JSON has none of these; in them they would end the element that holds it.
  for (const char c : json) {
    if (c == '<' || c == '>' || c == '&')
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    else
      out += c;
  }
  return out;
}

std::string html_text(std::string_view text, size_t max_bytes) {
  std::string out;
  for (char c : printable(text, max_bytes)) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else
      out += c;
  }
  return out;
}

}  // namespace mrvlc::report
