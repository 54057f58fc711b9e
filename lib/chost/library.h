// The kernel library of one program: pieces, each written once, in the order in which they were asked for,
// with their dependencies in front.
#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

#include "c_source.h"
#include "kernel_pieces.h"

namespace mrvlc::chost {

class Library {
 public:
  explicit Library(std::string prefix) : prefix_(std::move(prefix)) {}
  // Adds the piece and what it needs; `expr` is noted as the expression its functions were first emitted for.
  void require(Piece piece, ir::ExprId expr);
  // Pieces that others ask about ("when") stand in front of these, unless they depend on them.
  CSource source() const;

 private:
  void write(Piece piece, std::set<Piece>& written, CSource& out) const;

  std::string prefix_;
  std::map<Piece, ir::ExprId> used_;
  std::vector<Piece> order_;
};

// A piece that asks about no other, with the program's prefix. Its functions are those of `expr`.
CSource instantiate(Piece piece, std::string_view prefix, ir::ExprId expr);

}  // namespace mrvlc::chost
