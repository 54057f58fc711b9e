// Pieces are written in the order in which they are asked for, dependencies first.
#include "library.h"

namespace mrvlc::chost {

CSource instantiate(Piece piece, std::string_view prefix, ir::ExprId expr) {
  const KernelPiece& k = kernel(piece);
  std::vector<HostFunction> functions;
  for (const FunctionLines& f : k.functions)
    functions.push_back({with_prefix(f.symbol, prefix), {}, f.first, f.last, expr, {}});
  CSource out;
  out.add(with_prefix(k.text, prefix), functions);
  return out;
}

void Library::require(Piece piece, ir::ExprId expr) {
  if (!done_.insert(piece).second) return;
  for (Piece dep : kernel(piece).deps) require(dep, expr);
  source_.add("\n");
  source_.add(instantiate(piece, prefix_, expr));
}

}  // namespace mrvlc::chost
