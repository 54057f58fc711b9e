// Keywords by name, macros by the forms that the C standard (7.31, reserved names) and POSIX (2.2.2) give
// them.
#include "mrvlc/support/c_words.h"

#include <algorithm>
#include <array>

#include "mrvlc/support/characters.h"

namespace mrvlc {
namespace {

constexpr auto kKeywords = std::to_array<std::string_view>({"alignas",
                                                            "alignof",
                                                            "and",
                                                            "and_eq",
                                                            "asm",
                                                            "auto",
                                                            "bitand",
                                                            "bitor",
                                                            "bool",
                                                            "break",
                                                            "case",
                                                            "catch",
                                                            "char",
                                                            "char16_t",
                                                            "char32_t",
                                                            "char8_t",
                                                            "class",
                                                            "co_await",
                                                            "co_return",
                                                            "co_yield",
                                                            "compl",
                                                            "concept",
                                                            "const",
                                                            "const_cast",
                                                            "consteval",
                                                            "constexpr",
                                                            "constinit",
                                                            "continue",
                                                            "decltype",
                                                            "default",
                                                            "delete",
                                                            "do",
                                                            "double",
                                                            "dynamic_cast",
                                                            "else",
                                                            "enum",
                                                            "explicit",
                                                            "export",
                                                            "extern",
                                                            "false",
                                                            "float",
                                                            "for",
                                                            "friend",
                                                            "goto",
                                                            "if",
                                                            "inline",
                                                            "int",
                                                            "long",
                                                            "mutable",
                                                            "namespace",
                                                            "new",
                                                            "noexcept",
                                                            "not",
                                                            "not_eq",
                                                            "nullptr",
                                                            "operator",
                                                            "or",
                                                            "or_eq",
                                                            "private",
                                                            "protected",
                                                            "public",
                                                            "register",
                                                            "reinterpret_cast",
                                                            "requires",
                                                            "restrict",
                                                            "return",
                                                            "short",
                                                            "signed",
                                                            "sizeof",
                                                            "static",
                                                            "static_assert",
                                                            "static_cast",
                                                            "struct",
                                                            "switch",
                                                            "template",
                                                            "this",
                                                            "thread_local",
                                                            "throw",
                                                            "true",
                                                            "try",
                                                            "typedef",
                                                            "typeid",
                                                            "typename",
                                                            "typeof",
                                                            "typeof_unqual",
                                                            "union",
                                                            "unsigned",
                                                            "using",
                                                            "virtual",
                                                            "void",
                                                            "volatile",
                                                            "wchar_t",
                                                            "while",
                                                            "xor",
                                                            "xor_eq"});

// Macros in lower case; `signature` is a member of the generated structures, the last line Windows' own.
constexpr auto kMacros = std::to_array<std::string_view>({"assert",    "complex",
                                                          "errno",     "h_addr",
                                                          "i386",      "imaginary",
                                                          "linux",     "math_errhandling",
                                                          "noreturn",  "sched_priority",
                                                          "signature", "st_atime",
                                                          "st_ctime",  "st_mtime",
                                                          "stderr",    "stdin",
                                                          "stdout",    "unix",
                                                          "I",         "B0",
                                                          "cdecl",     "far",
                                                          "hyper",     "interface",
                                                          "near",      "pascal",
                                                          "small"});

constexpr auto kMacroPrefixes =
    std::to_array<std::string_view>({"L_", "M_", "P_", "s6_", "sa_", "si_", "sigev_"});

template <size_t N>
bool is_one_of(const std::array<std::string_view, N>& words, std::string_view word) {
  return std::ranges::find(words, word) != words.end();
}

bool is_upper(char c) {
  return c >= 'A' && c <= 'Z';
}

// Two capitals at the front, or no other letters ("E2BIG"); speeds of <termios.h> ("B50").
bool looks_like_a_macro(std::string_view word) {
  if (word.size() < 2 || !is_upper(word[0]) || word.back() == '_') return false;
  if (is_upper(word[1])) return true;
  const bool lower = std::ranges::any_of(word, [](char c) { return is_letter(c) && !is_upper(c); });
  if (!lower && std::ranges::count_if(word, is_upper) > 1) return true;
  return word[0] == 'B' && word.size() > 2 && std::ranges::all_of(word.substr(1), is_digit);
}

}  // namespace

bool is_keyword(std::string_view word) {
  return is_one_of(kKeywords, word);
}

bool is_taken_word(std::string_view word) {
  if (is_keyword(word) || is_one_of(kMacros, word) || looks_like_a_macro(word)) return true;
  return !word.ends_with('_') && std::ranges::any_of(kMacroPrefixes, [&](std::string_view prefix) {
    return word.starts_with(prefix);
  });
}

}  // namespace mrvlc
