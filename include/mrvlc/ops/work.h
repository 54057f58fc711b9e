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

// Multiply-accumulates of a node, as its operator defines them: the products that are summed in convolutions
// (taps in the padding count), matrix products, recurrences, attention and Einsum. 0 for all other operators.
// Of a control flow node those of its bodies, body_rounds() times each (both branches of an If). Dimensions
// known at run time only count with their bounds; at most INT64_MAX.
int64_t macs(const ir::Graph& graph, const ir::Node& node);
// Whether results are long sums of products (of control flow, whether anything in it is). Those of few terms
// are arithmetic: a position times frequencies, coordinates times a small matrix.
bool sums_many_products(const ir::Graph& graph, const ir::Node& node);
// How often the bodies of a control flow node run: the trip count of a Loop where it is constant, the length
// of what Scan and SequenceMap walk along; 1 where nothing is known, of an If, and for all other operators.
int64_t body_rounds(const ir::Graph& graph, const ir::Node& node);

}  // namespace mrvlc::ops
