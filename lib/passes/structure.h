// Structural hashes and equality: of attributes and nodes for cse, of a whole graph for the pass manager's
// check.
#pragma once
#include "mrvlc/ir/graph.h"

namespace mrvlc::passes {

// By type and bits: NaN equals itself, -0 differs from 0.
bool equal_attrs(const ir::Attr& a, const ir::Attr& b);
uint64_t hash_tensor(const Tensor& tensor);  // reads every byte once
uint64_t hash_node(const ir::Node& node);    // operator, attributes, inputs
// Changes when nodes, uses, types, outputs or names of outputs change. Constants count by identity, not by
// bytes.
uint64_t fingerprint(const ir::Graph& graph);

}  // namespace mrvlc::passes
