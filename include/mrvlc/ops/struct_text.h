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

// What a C compiler makes of a member without initialiser.
inline bool is_zero(std::string_view text) {
  return text == "0" || text == "0u" || text == "{0}" || text == "NULL";
}

// "{.m = 2, .n = n0_1}", or, where that is long, lines of about 100 columns. Members that are 0 are left to
// C.
template <class Struct>
std::string initialiser(const Struct& members) {
  constexpr size_t kColumns = 94, kOneLine = 70;
  std::string out, line;
  members.each([&](std::string_view name, const auto& member) {
    if (member.is_absent() || is_zero(member.text())) return;
    const std::string one = "." + std::string(name) + " = " + member.text();
    if (line.size() + one.size() + 2 > kColumns && !line.empty()) {
      out += line + ",\n      ";
      line.clear();
    }
    line += (line.empty() ? "" : ", ") + one;
  });
  if (line.empty()) return "{0}";
  const bool is_short = out.empty() && line.size() <= kOneLine;
  return (is_short ? "{" : "{\n      ") + out + line + "}";
}

// "const net_gemm_shape p = {.m = 2};" `prefix`: "net".
template <class Struct>
std::string declaration(std::string_view prefix, std::string_view name, const Struct& members,
                        std::string_view qualifier = "const ") {
  return std::string(qualifier) + std::string(prefix) + std::string(Struct::kStruct.substr(1)) + " " +
         std::string(name) + " = " + initialiser(members) + ";";
}

}  // namespace mrvlc::ops::structs
