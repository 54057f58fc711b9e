// Names made printable (control characters, broken UTF-8), messages as lines, the exit code of a list.
#include "mrvlc/support/diag.h"

#include <algorithm>

#include "mrvlc/support/printable.h"
#include "plain_text.h"

namespace mrvlc {
namespace {

constexpr std::string_view kSeverityNames[] = {"note", "warning", "error"};

// Length of the UTF-8 sequence at the start of `s` with its code point, or 0 when it is malformed.
size_t decode_utf8(std::string_view s, uint32_t& code_point) {
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

// Control characters, zero-width and bidirectional ones, separators of lines, the byte order mark.
bool is_hidden(uint32_t c) {
  return c < 0x20 || (c >= 0x7f && c < 0xa0) || (c >= 0x200b && c <= 0x200f) ||
         (c >= 0x2028 && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f) || c == 0xfeff;
}

}  // namespace

std::string printable(std::string_view name, size_t max_bytes) {
  std::string out;
  for (size_t i = 0; i < name.size();) {
    if (out.size() >= max_bytes) return out + "...";
    if (const size_t plain = plain_length(name.substr(i, max_bytes - out.size())); plain != 0) {
      out.append(name, i, plain);
      i += plain;
      continue;
    }
    uint32_t c = 0;
    size_t n = decode_utf8(name.substr(i), c);
    if (n == 0) {
      out += fmt::format("\\x{:02x}", static_cast<unsigned>(static_cast<unsigned char>(name[i++])));
      continue;
    }
    if (is_hidden(c)) {
      out += c < 0x80 ? fmt::format("\\x{:02x}", c) : fmt::format("\\u{{{:x}}}", c);
    } else {
      out.append(name.substr(i, n));
    }
    i += n;
  }
  return out;
}

std::string printable_lines(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    size_t end = std::min(text.find_first_of("\n\t"), text.size());
    out += printable(text.substr(0, end), SIZE_MAX);
    if (end < text.size()) out += text[end++];
    text.remove_prefix(end);
  }
  return out;
}

namespace {

// A message is one line, whatever names of files and nodes are in it. Only those that repeat what a program
// printed have more, indented so that none looks like a message.
std::string message_text(const Diag& diag) {
  if (diag_info(diag.code).text.find('\n') == std::string_view::npos)
    return printable(diag.message, SIZE_MAX);
  std::string_view message = diag.message;
  while (message.ends_with('\n')) message.remove_suffix(1);
  std::string out;
  for (char c : printable_lines(message)) {
    out += c;
    if (c == '\n') out += "  ";
  }
  return out;
}

}  // namespace

std::string format_diag(std::string_view file, const Diag& diag) {
  std::string where = printable(file, 4096);
  if (!diag.node.empty() || !diag.op_type.empty()) {
    where += fmt::format(": node '{}' ({})", printable(diag.node), printable(diag.op_type));
  }
  return fmt::format("{}: {} {}: {}", where, kSeverityNames[static_cast<size_t>(diag.severity())],
                     diag_info(diag.code).name, message_text(diag));
}

bool Diagnostics::has_errors() const {
  return exit_code() != 0;
}

int Diagnostics::exit_code() const {
  auto it =
      std::find_if(list_.begin(), list_.end(), [](const Diag& d) { return d.severity() == Severity::Error; });
  return it == list_.end() ? 0 : static_cast<int>(it->exit_class());
}

}  // namespace mrvlc
