// JSON text written piece by piece, for documents with an entry for every node of a model: as a tree of
// values they would be the largest thing in memory. The layout is that of nlohmann's dump(1).
#pragma once
#include <fmt/format.h>

#include <concepts>
#include <functional>
#include <iterator>
#include <string>
#include <string_view>

namespace mrvlc {

class JsonWriter {
 public:
  // Gets the text in order, in pieces of about 64 KiB.
  using Sink = std::function<void(std::string_view)>;
  explicit JsonWriter(Sink sink) : sink_(std::move(sink)) {}

  void object() { begin('{'); }
  void array() { begin('['); }
  void end();
  // In front of a member's value.
  JsonWriter& key(std::string_view name);
  // Must be UTF-8 (printable.h makes it so).
  void value(std::string_view text);
  void value(const char* text) { value(std::string_view(text)); }
  void value(bool truth);
  void value(double number);  // finite, with as many digits as tell it from others
  // printable(text, max_bytes), which most texts are as they are.
  void printable_value(std::string_view text, size_t max_bytes);
  template <std::integral T>
  void value(T number) {
    element();
    fmt::format_to(std::back_inserter(out_), "{}", number);
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
  void new_line();
  void quoted(std::string_view text);

  Sink sink_;
  std::string out_;
  std::string closers_;  // of what is open, innermost last
  bool empty_ = true;    // the innermost has nothing yet
  bool keyed_ = false;   // a key was written, its value was not
};

}  // namespace mrvlc
