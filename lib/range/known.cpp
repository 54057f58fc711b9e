// What is proved, or was observed, of one value.
#include "mrvlc/range/known.h"

#include "transfer.h"

namespace mrvlc::range {

std::string_view word(How how) {
  constexpr std::string_view kWords[] = {"unknown", "observed", "proved"};
  return kWords[static_cast<size_t>(how)];
}

Interval Knowledge::proved(const ir::Graph& graph, ir::ValueId value) const {
  const Tensor* constant = graph.constant(value);
  return constant != nullptr ? of_constant(*constant, -1)[0] : ranges_.of(value);
}

Known Knowledge::of(const ir::Graph& graph, ir::ValueId value) const {
  const Interval proof = proved(graph, value);
  if (proof.bounded() && proof.max_abs() <= kFp16Most) return {How::Proved, proof};
  if (const auto seen = observed_.find(value); seen != observed_.end()) return {How::Observed, seen->second};
  return {proof.bounded() ? How::Proved : How::Unknown, proof};
}

}  // namespace mrvlc::range
