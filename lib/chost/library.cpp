// What pieces ask about is known when all of a program has been emitted: only then is their text made.
#include "library.h"

#include <algorithm>

namespace mrvlc::chost {
namespace {

CSource with_functions(const std::string& text, std::string_view prefix, ir::ExprId expr) {
  std::vector<HostFunction> functions;
  for (const FunctionLines& f : functions_of(text))
    functions.push_back({with_prefix(f.symbol, prefix), {}, f.first, f.last, expr, {}});
  CSource out;
  out.add(with_prefix(text, prefix), functions);
  return out;
}

bool depends(Piece piece, Piece on) {
  return std::ranges::any_of(kernel(piece).deps, [&](Piece dep) { return dep == on || depends(dep, on); });
}

}  // namespace

CSource instantiate(Piece piece, std::string_view prefix, ir::ExprId expr) {
  return with_functions(kernel(piece).text, prefix, expr);
}

void Library::require(Piece piece, ir::ExprId expr) {
  if (!used_.emplace(piece, expr).second) return;
  for (Piece dep : kernel(piece).deps) require(dep, expr);
  order_.push_back(piece);
}

void Library::write(Piece piece, std::set<Piece>& written, CSource& out) const {
  if (!used_.contains(piece) || !written.insert(piece).second) return;
  const KernelPiece& k = kernel(piece);
  for (Piece dep : k.deps) write(dep, written, out);
  for (Piece asked : k.asks)
    if (!depends(asked, piece)) write(asked, written, out);
  const std::string text = resolved(k.text, [&](Piece p) { return used_.contains(p); });
  if (text.empty()) return;
  out.add("\n");
  out.add(with_functions(text, prefix_, used_.at(piece)));
}

CSource Library::source() const {
  CSource out;
  std::set<Piece> written;
  for (Piece piece : order_) write(piece, written, out);
  return out;
}

}  // namespace mrvlc::chost
