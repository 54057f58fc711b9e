// JSON text written piece by piece, for documents with an entry for every node of a model: as a tree of
// values they would be the largest thing in memory. The layout is that of nlohmann's dump(1).
#pragma once
#include <fmt/format.h>

#include <concepts>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>

namespace mrvlc {

class JsonWriter {
 public:
  // Gets the text in order, in pieces of about 64 KiB.
  using Sink = std::function<void(std::string_view)>;
  explicit JsonWriter(Sink sink) : sink_(std::move(sink)) {}
  // What `fill` writes as one value inside of `depth` brackets: for verbatim(), wherever it recurs.
  static std::string text(size_t depth, const std::function<void(JsonWriter&)>& fill);
  size_t depth() const { return closers_.size(); }

  void object() { begin('{'); }
  void array() { begin('['); }
  void end();
  // In front of a member's value.
  JsonWriter& key(std::string_view name);
  // What does not show in it, and what is no UTF-8, is written as escaped_json() of json_document.h has it.
  void value(std::string_view text);
  void value(const char* text) { value(std::string_view(text)); }
  void value(bool truth);
  void value(double number);  // as few digits as tell it apart; what is not finite is null
  // printable(text, max_bytes), which most texts are as they are.
  void printable_value(std::string_view text, size_t max_bytes);
  template <std::integral T>
  void value(T number) {
    element();
    const fmt::format_int digits(number);
    put({digits.data(), digits.size()});
  }
  // A value's own text, of text() at this depth.
  void verbatim(std::string_view json) {
    element();
    put(json);
  }
  template <class T>
  void member(std::string_view name, const T& v) {
    key(name).value(v);
  }
  // The end of the document: a new line, and the last piece.
  void finish();

 private:
  void begin(char bracket);
  void element();  // what stands in front of an element of an array or of a member's value
  void new_line(bool comma);
  void quoted(std::string_view text, std::string_view behind = {});
  void hand_over();
  // Where the next `n` characters go.
  char* room(size_t n) {
    if (used_ + n > out_.size()) out_.resize(2 * (used_ + n));
    char* const at = out_.data() + used_;
    used_ += n;
    return at;
  }
  void put(std::string_view text) {
    if (!text.empty()) std::memcpy(room(text.size()), text.data(), text.size());
  }
  void put(char c) { *room(1) = c; }

  Sink sink_;
  std::string out_;      // room for what is not handed over yet
  size_t used_ = 0;      // characters of it
  std::string closers_;  // of what is open, innermost last
  bool empty_ = true;    // the innermost has nothing yet
  bool keyed_ = false;   // a key was written, its value was not
};

}  // namespace mrvlc
