#include "mrvlc/support/json_writer.h"

namespace mrvlc {
namespace {

constexpr size_t kPieceBytes = 64 << 10;

// The letter behind the backslash; 0: none of its own.
char short_escape(char c) {
  constexpr std::string_view kFrom = "\b\t\n\f\r\"\\", kTo = "btnfr\"\\";
  const size_t at = kFrom.find(c);
  return at == kFrom.npos ? '\0' : kTo[at];
}

bool must_escape(char c) {
  return static_cast<unsigned char>(c) < 0x20 || c == '"' || c == '\\';
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
  size_t from = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (!must_escape(text[i])) continue;
    out_.append(text, from, i - from);
    from = i + 1;
    if (const char letter = short_escape(text[i]); letter != '\0') {
      out_ += '\\';
      out_ += letter;
    } else {
      fmt::format_to(std::back_inserter(out_), "\\u{:04x}", static_cast<unsigned>(text[i]));
    }
  }
  out_.append(text, from);
  out_ += '"';
}

void JsonWriter::finish() {
  out_ += '\n';
  sink_(out_);
  out_.clear();
}

}  // namespace mrvlc
