// Names made printable (control characters, broken UTF-8), messages as lines, the exit code of a list.
#include "mrvlc/support/diag.h"

#include <algorithm>

#include "mrvlc/support/printable.h"
#include "plain_text.h"

namespace mrvlc {
namespace {

constexpr std::string_view kSeverityNames[] = {"note", "warning", "error"};

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

namespace {

bool is_plain_line(char c) {
  return (c >= 0x20 && c < 0x7f) || c == '\n' || c == '\t';
}

}  // namespace

std::string printable_lines(std::string_view text) {
  if (std::ranges::all_of(text, is_plain_line)) return std::string(text);
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
