// The types of values that meet where bodies end, or go round a loop.
#include "mrvlc/ops/control_flow.h"

#include <algorithm>

#include "mrvlc/ops/dynamic_shapes.h"

namespace mrvlc::ops {
namespace {

// Tensors of a sequence may have different ranks.
TensorType any_rank(const TensorType& a, const TensorType& b) {
  TensorType joined = a;
  joined.shape.clear();
  joined.dynamic = kDynamicRank;
  joined.capacity = std::max(a.elements(), b.elements());
  joined.length = std::max(a.length, b.length);
  return joined;
}

}  // namespace

std::optional<TensorType> join_types(const TensorType& a, const TensorType& b) {
  if (a == b) return a;
  if (a.elem != b.elem || a.wrapper != b.wrapper) return std::nullopt;
  // An empty sequence says nothing of its tensors.
  if (holds_sequence(a) && a.length == 0) return b;
  if (holds_sequence(a) && b.length == 0) return a;
  if (a.rank() != b.rank() || a.has_rank() != b.has_rank())
    return holds_sequence(a) ? std::optional(any_rank(a, b)) : std::nullopt;
  TensorType joined = a;
  joined.length = std::max(a.length, b.length);
  joined.dynamic |= b.dynamic;
  for (size_t d = 0; d < a.shape.size(); ++d) {
    if (a.shape[d] == b.shape[d]) continue;
    joined.dynamic |= 1u << d;
    const bool unbounded = a.shape[d] == kNoBound || b.shape[d] == kNoBound;
    joined.shape[d] = unbounded ? kNoBound : std::max(a.shape[d], b.shape[d]);
  }
  const bool capped = joined.dynamic != 0 && (a.capacity >= 0 || b.capacity >= 0);
  joined.capacity = capped ? std::max(a.elements(), b.elements()) : -1;
  return joined;
}

std::optional<TensorType> widen_state(const TensorType& state, const TensorType& given) {
  auto joined = join_types(state, given);
  if (!joined) return joined;
  if (holds_sequence(*joined)) {
    // One that grows has no bound of its own.
    if (given.length > state.length) joined->length = kNoBound;
    return joined;
  }
  for (size_t d = 0; d < joined->shape.size(); ++d) {
    if (!joined->is_dynamic(static_cast<int64_t>(d))) continue;
    // What grows has no bound of its own; one that was given before is kept.
    const bool was_dynamic = state.rank() == joined->rank() && state.is_dynamic(static_cast<int64_t>(d));
    joined->shape[d] = was_dynamic ? state.shape[d] : kNoBound;
  }
  if (joined->dynamic != 0) joined->capacity = state.dynamic != 0 ? state.capacity : -1;
  return joined;
}

}  // namespace mrvlc::ops
