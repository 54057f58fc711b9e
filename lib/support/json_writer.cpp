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

std::string JsonWriter::text(size_t depth, const std::function<void(JsonWriter&)>& fill) {
  std::string all;
  JsonWriter out([&](std::string_view piece) { all += piece; });
  out.closers_.assign(depth, ' ');
  out.keyed_ = true;  // who puts it in writes what stands in front
  fill(out);
  out.hand_over();
  return all;
}

void JsonWriter::begin(char bracket) {
  element();
  put(bracket);
  closers_ += bracket == '{' ? '}' : ']';
  empty_ = true;
}

void JsonWriter::end() {
  const char closer = closers_.back();
  closers_.pop_back();
  if (!empty_) new_line(false);
  put(closer);
  empty_ = false;
  if (used_ >= kPieceBytes) hand_over();
}

void JsonWriter::hand_over() {
  sink_({out_.data(), used_});
  used_ = 0;
}

JsonWriter& JsonWriter::key(std::string_view name) {
  element();
  quoted(name, ": ");
  keyed_ = true;
  return *this;
}

void JsonWriter::value(std::string_view text) {
  element();
  quoted(text);
}

void JsonWriter::value(bool truth) {
  element();
  put(truth ? std::string_view("true") : "false");
}

void JsonWriter::value(double number) {
  element();
  put(std::isfinite(number) ? fmt::format("{}", number) : "null");
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
  new_line(!empty_);
  empty_ = false;
}

void JsonWriter::new_line(bool comma) {
  const size_t depth = closers_.size();
  char* const at = room(depth + 2);
  std::memset(at, ' ', depth + 2);
  at[0] = ',';
  at[comma ? 1 : 0] = '\n';
  if (!comma) --used_;
}

void JsonWriter::quoted(std::string_view text, std::string_view behind) {
  put('"');
  for (;;) {
    const size_t bare = prefix_of(text, all_bare, is_bare);
    put(text.substr(0, bare));
    if (bare == text.size()) break;
    const char c = text[bare];
    if (const char letter = short_escape(c); letter != '\0') {
      put('\\');
      put(letter);
    } else {
      put(fmt::format("\\u{:04x}", static_cast<unsigned>(c)));
    }
    text.remove_prefix(bare + 1);
  }
  put('"');
  put(behind);
}

void JsonWriter::finish() {
  put('\n');
  hand_over();
}

}  // namespace mrvlc
