// The kernel library of one program: pieces, each written once when first asked for, with their dependencies
// in front.
#pragma once
#include <set>
#include <string>

#include "c_source.h"
#include "kernel_pieces.h"

namespace mrvlc::chost {

class Library {
 public:
  explicit Library(std::string prefix) : prefix_(std::move(prefix)) {}
  // Adds the piece and what it needs; `expr` is noted as the expression its functions were first emitted for.
  void require(Piece piece, ir::ExprId expr);
  const CSource& source() const { return source_; }

 private:
  std::string prefix_;
  CSource source_;
  std::set<Piece> done_;
};

// A piece with the program's prefix. Its functions are those of `expr`.
CSource instantiate(Piece piece, std::string_view prefix, ir::ExprId expr);

}  // namespace mrvlc::chost
