// Structs of kernels (lib/chost/kernels/*.c) as the text of C99 initialisers, ".channels = 64, .rows = 8".
// The build makes mrvlc/ops/kernel_structs.h of the kernels' sources: a C++ struct for each of theirs, with
// members of the types below. An emitter sets them by name, in their order:
//   structs::GemmShape{.m = m, .n = p.n, ...}
// A member that is unknown, unset, set twice or out of order is an error of the C++ compiler: no member has a
// default.
#pragma once
#include <concepts>
#include <string>
#include <string_view>
#include <utility>

namespace mrvlc::ops::structs {

// What has its C text, such as a size that is known at run time only.
template <class T>
concept HasText = requires(const T& value) {
  { value.text() } -> std::convertible_to<std::string>;
};

// C text: pointers, numbers of floating point, structs.
class TextMember {
 public:
  TextMember(std::string text) : text_(std::move(text)) {}  // NOLINT: implicit by design
  TextMember(std::string_view text) : text_(text) {}        // NOLINT
  TextMember(const char* text) : text_(text) {}             // NOLINT
  template <std::integral T>
  TextMember(T) = delete;  // 0 is no text
  const std::string& text() const { return text_; }
  bool is_absent() const { return false; }

 private:
  std::string text_;
};

// An integer, or C text for one.
class IntegerMember : public TextMember {
 public:
  using TextMember::TextMember;
  template <std::integral T>
  IntegerMember(T value) : TextMember(std::to_string(value)) {}  // NOLINT
  template <HasText T>
  IntegerMember(const T& value) : TextMember(value.text()) {}  // NOLINT
};

// An array: its elements, "2, 3"; those that are missing are 0.
class ListMember : public TextMember {
 public:
  ListMember(std::string_view elements) : TextMember("{" + std::string(elements) + "}") {}  // NOLINT
  ListMember(const std::string& elements) : ListMember(std::string_view(elements)) {}       // NOLINT
  ListMember(const char* elements) : ListMember(std::string_view(elements)) {}              // NOLINT
};

// A member that the struct has in some programs only. It says so where the program has none.
struct Absent {};
inline constexpr Absent kAbsent;

template <class Member>
class Optional {
 public:
  Optional(Absent) : absent_(true) {}  // NOLINT
  template <class T>
  requires std::convertible_to<T, Member> Optional(T value)
      : text_(Member(std::move(value)).text()) {}  // NOLINT
  const std::string& text() const { return text_; }
  bool is_absent() const { return absent_; }

 private:
  std::string text_;
  bool absent_ = false;
};

// "{.m = 2, .n = n0_1}", in lines of about 106 columns; the first begins at `column`. All members are
// written, those that are 0 too: GCC makes other code of a constant that is given in part.
template <class Struct>
std::string initialiser(const Struct& members, size_t column = 0) {
  constexpr size_t kColumns = 106;
  std::string out = "{", separator;
  size_t at = column + 1;
  members.each([&](std::string_view name, const auto& member) {
    if (member.is_absent()) return;
    const std::string one = "." + std::string(name) + " = " + member.text();
    const bool fits = separator.empty() || at + one.size() + 3 <= kColumns;
    out += fits ? separator : separator.substr(0, 1) + "\n    ";
    out += one;
    at = (fits ? at + separator.size() : 4) + one.size();
    separator = ", ";
  });
  return out + "}";
}

// "const net_gemm_shape p = {.m = 2};" `prefix`: "net".
template <class Struct>
std::string declaration(std::string_view prefix, std::string_view name, const Struct& members,
                        std::string_view qualifier = "const ") {
  const std::string head = std::string(qualifier) + std::string(prefix) +
                           std::string(Struct::kStruct.substr(1)) + " " + std::string(name) + " = ";
  return head + initialiser(members, head.size() + 2) + ";";
}

}  // namespace mrvlc::ops::structs
