// Commas, indentation and escapes of JSON; text goes to the sink in pieces of 64 KiB.
#include "mrvlc/support/json_writer.h"

#include <cmath>

#include "mrvlc/support/diag.h"
#include "plain_text.h"

namespace mrvlc {
namespace {

constexpr size_t kPieceBytes = 64 << 10;

// The letter behind the backslash; 0: none of its own.
char short_escape(char c) {
  constexpr std::string_view kFrom = "\b\t\n\f\r\"\\", kTo = "btnfr\"\\";
  const size_t at = kFrom.find(c);
  return at == kFrom.npos ? '\0' : kTo[at];
}

// A character that needs no backslash; of eight at once, whether all are.
bool is_bare(char c) {
  return static_cast<unsigned char>(c) >= 0x20 && c != '"' && c != '\\';
}
bool all_bare(uint64_t word) {
  return !has_byte_below(word, 0x20) && !has_byte(word, '"') && !has_byte(word, '\\');
}

}  // namespace

void JsonWriter::begin(char bracket) {
  element();
  out_ += bracket;
  closers_ += bracket == '{' ? '}' : ']';
  empty_ = true;
}

void JsonWriter::end() {
  const char closer = closers_.back();
  closers_.pop_back();
  if (!empty_) new_line();
  out_ += closer;
  empty_ = false;
  if (out_.size() < kPieceBytes) return;
  sink_(out_);
  out_.clear();
}

JsonWriter& JsonWriter::key(std::string_view name) {
  element();
  quoted(name);
  out_ += ": ";
  keyed_ = true;
  return *this;
}

void JsonWriter::value(std::string_view text) {
  element();
  quoted(text);
}

void JsonWriter::value(bool truth) {
  element();
  out_ += truth ? "true" : "false";
}

void JsonWriter::value(double number) {
  element();
  if (std::isfinite(number))
    fmt::format_to(std::back_inserter(out_), "{}", number);
  else
    out_ += "null";
}

void JsonWriter::printable_value(std::string_view text, size_t max_bytes) {
  if (text.size() <= max_bytes && is_plain(text)) return value(text);
  value(printable(text, max_bytes));
}

void JsonWriter::element() {
  if (keyed_ || closers_.empty()) {
    keyed_ = false;
    return;
  }
  if (!empty_) out_ += ',';
  empty_ = false;
  new_line();
}

void JsonWriter::new_line() {
  out_ += '\n';
  out_.append(closers_.size(), ' ');
}

void JsonWriter::quoted(std::string_view text) {
  out_ += '"';
  for (;;) {
    const size_t bare = prefix_of(text, all_bare, is_bare);
    out_.append(text.data(), bare);
    if (bare == text.size()) break;
    const char c = text[bare];
    if (const char letter = short_escape(c); letter != '\0') {
      out_ += '\\';
      out_ += letter;
    } else {
      fmt::format_to(std::back_inserter(out_), "\\u{:04x}", static_cast<unsigned>(c));
    }
    text.remove_prefix(bare + 1);
  }
  out_ += '"';
}

void JsonWriter::finish() {
  out_ += '\n';
  sink_(out_);
  out_.clear();
}

}  // namespace mrvlc
