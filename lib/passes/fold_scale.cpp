// fold-scale
//   before  %1 = Conv(%x, %w)    %2 = Mul(%1, %s)    %3 = Add(%2, %t)       (%s, %t constant, [C,1,1])
//   after   %3 = Conv(%x, %w2, %b2)
// Preconditions and safety as for fold-batchnorm; the constants vary along the channel axis at most. Where
// the result is rounded to an integer next (Floor, Ceil, Round, Cast), nothing is folded: networks in integer
// arithmetic written with floats count on exact intermediate values, and a rounding that moves by one unit in
// the last place becomes a whole step.
#include <algorithm>

#include "affine.h"
#include "passes.h"

namespace mrvlc::passes {
namespace {

bool rounds(const Graph& g, const Node& n) {
  if (n.is("Cast")) return is_integer(type_of(g, n.outputs[0]).elem);
  return n.is("Floor") || n.is("Ceil") || n.is("Round");
}

// Whether a reader of `value` rounds it to an integer, arithmetic with constants in between included.
bool is_rounded_next(const Graph& g, ValueId value) {
  constexpr int kMostSteps = 4;  // scale, shift, and the same once more
  for (int step = 0; step < kMostSteps; ++step) {
    const auto& users = g.value(value).users;
    if (std::any_of(users.begin(), users.end(), [&](NodeId u) { return rounds(g, g.node(u)); })) return true;
    ValueId data;
    if (users.size() != 1 || !arithmetic_affine(g, g.node(users[0]), data)) return false;
    value = g.node(users[0]).outputs[0];
  }
  return false;
}

bool fold(Rewriter& rw, NodeId id) {
  const Graph& g = rw.graph();
  ValueId data;
  auto affine = arithmetic_affine(g, g.node(id), data);
  if (!affine || is_rounded_next(g, g.node(id).outputs[0])) return false;
  return fold_into_producer(rw, id, data, *affine, "folded into the weights of the layer before it");
}

}  // namespace

Status fold_scale(Graph& graph, const PassContext&, bool& changed) {
  changed = rewrite_all_nodes(graph, "fold-scale", fold);
  return {};
}

}  // namespace mrvlc::passes
