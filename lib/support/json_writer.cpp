// Commas, indentation and escapes of JSON; text goes to the sink in pieces of 64 KiB.
#include "mrvlc/support/json_writer.h"

#include <algorithm>
#include <cmath>

#include "mrvlc/support/diag.h"
#include "mrvlc/support/json_document.h"
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

// An ASCII character that needs no backslash; of eight at once, whether all are.
bool is_bare(char c) {
  return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}
bool all_bare(uint64_t word) {
  return (word & kHighBits) == 0 && !has_byte_below(word, 0x20) && !has_byte(word, '"') &&
         !has_byte(word, '\\') && !has_byte(word, 0x7f);
}

// As JSON spells a code point: in two halves beyond the first 65536.
std::string unicode_escape(uint32_t c) {
  if (c < 0x10000) return fmt::format("\\u{:04x}", c);
  return fmt::format("\\u{:04x}\\u{:04x}", 0xd7c0 + (c >> 10), 0xdc00 + (c & 0x3ff));
}

// The next character of a text of JSON, which is not ASCII that shows; its bytes are taken off.
std::string next_character(std::string_view& text) {
  uint32_t c = 0;
  const size_t n = decode_utf8(text, c);
  const std::string_view as_it_is = text.substr(0, n);
  text.remove_prefix(std::max<size_t>(n, 1));
  if (n == 0) return unicode_escape(0xfffd);
  return is_hidden(c) ? unicode_escape(c) : std::string(as_it_is);
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
    text.remove_prefix(bare);
    if (const char letter = short_escape(text.front()); letter != '\0') {
      put('\\');
      put(letter);
      text.remove_prefix(1);
    } else {
      put(next_character(text));
    }
  }
  put('"');
  put(behind);
}

std::string escaped_json(std::string json) {
  const auto shows = [](char c) { return c == '\n' || (c >= 0x20 && c < 0x7f); };
  if (std::ranges::all_of(json, shows)) return json;
  std::string out;
  for (std::string_view rest = json; !rest.empty();) {
    const auto end = std::ranges::find_if_not(rest, shows);
    const auto n = static_cast<size_t>(end - rest.begin());
    out += rest.substr(0, n);
    rest.remove_prefix(n);
    if (rest.empty()) break;
    if (const char c = rest.front(); c == '\t' || c == '\r') {  // between values
      out += c;
      rest.remove_prefix(1);
    } else {
      out += next_character(rest);
    }
  }
  return out;
}

void JsonWriter::finish() {
  put('\n');
  hand_over();
}

}  // namespace mrvlc
