// The pieces of C that kernels/*.c consist of, by name. A piece starts at a line "//@ piece NAME: DEPS";
// identifiers in it that start with K_ get the program's prefix. NAMEs are symbols, listed by embed.cmake
// when the compiler is built. Lines between "//@ when NAME" and "//@ end" are for programs that use that
// piece for another reason, those between "//@ unless NAME" and "//@ end" for all others; one may stand in
// another. Comments "// ..." stay here: generated C has the others, which say what a function does. A piece
// whose source has holes ($weight) is here once for every form of it: forms.cmake fills them when the
// compiler is built.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace mrvlc::chost {

enum class Piece : uint8_t {
#define MRVLC_PIECE(name) name,
#include "kernel_pieces.def"
#undef MRVLC_PIECE
};
std::string_view name(Piece piece);
std::optional<Piece> find_piece(std::string_view name);

// A function's name and its lines, 1-based and inclusive, in the text around it.
struct FunctionLines {
  std::string symbol;
  uint32_t first = 0, last = 0;
};

struct KernelPiece {
  std::vector<Piece> deps;
  std::vector<Piece> asks;  // named by "when" and "unless"
  std::string text;         // with these lines
};
const KernelPiece& kernel(Piece piece);

// The text for a program that uses the pieces of which `used` is true.
std::string resolved(std::string_view text, const std::function<bool(Piece)>& used);

// The functions that a kernel's source defines: each has a head that starts in column 0 and ends in "{", and
// a body that ends with "}" in column 0.
std::vector<FunctionLines> functions_of(std::string_view source);

// Replaces K_ at the start of identifiers.
std::string with_prefix(std::string_view text, std::string_view prefix);

}  // namespace mrvlc::chost
