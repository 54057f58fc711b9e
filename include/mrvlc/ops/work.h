// What values and their computation cost, before either is there. Constants are folded while there is a
// budget for it, so that a small file cannot keep the compiler busy.
#pragma once
#include <span>

#include "mrvlc/ir/graph.h"
#include "mrvlc/support/result.h"

namespace mrvlc::ops {

// Dimensions, elements and, of sequences, bytes are within what the rest may calculate with: MRV0209
// otherwise. Dimensions that nothing bounds yet are left to who bounds them.
Status check_size(const TensorType& type);
// MRV0209: more than kMaxElements.
Diag too_large();

// Steps of the innermost loop or so; an upper bound, at most INT64_MAX. Types are static, null where an
// operand is absent.
int64_t evaluation_work(const ir::OpSchema& op, const std::vector<ir::Attr>& attrs,
                        std::span<const TensorType* const> inputs,
                        std::span<const TensorType* const> outputs);
int64_t evaluation_work(const ir::Graph& graph, const ir::Node& node);

}  // namespace mrvlc::ops
