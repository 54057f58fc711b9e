// The kernel library: pieces of C text from kernels/*.c, emitted once for a program when first asked for,
// with their dependencies in front. A piece starts at a line "//@ piece NAME: DEPS"; identifiers in it that
// start with K_ get the program's prefix.
#pragma once
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "mrvlc/ir/graph.h"

namespace mrvlc::chost {

class Library {
 public:
  explicit Library(std::string prefix) : prefix_(std::move(prefix)) {}
  static bool has(std::string_view piece);
  // Adds the piece and what it needs; `expr` is noted as the expression its functions were first emitted for.
  void require(std::string_view piece, ir::NodeId expr);
  const std::string& text() const { return text_; }
  // Expression that asked first for the function of this name (prefix included); invalid when it is not of
  // the library.
  ir::NodeId owner(const std::string& symbol) const;
  // A piece as it is written, K_ not replaced; empty when there is none of that name.
  static const std::string& piece_text(std::string_view piece);
  // Replaces K_ at the start of identifiers.
  static std::string with_prefix(std::string_view text, std::string_view prefix);

 private:
  std::string prefix_, text_;
  std::set<std::string, std::less<>> done_;
  std::map<std::string, ir::NodeId> owners_;
};

// Names and lines (1-based, inclusive) of the functions defined in C text as this generator writes it: a head
// that starts in column 0 and ends in "{", a body that ends with "}" in column 0.
struct FunctionLines {
  std::string symbol;
  uint32_t first = 0, last = 0;
};
std::vector<FunctionLines> find_functions(std::string_view text);

}  // namespace mrvlc::chost
