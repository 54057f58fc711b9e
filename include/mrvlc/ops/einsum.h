// What an Einsum says, for passes that write it as products of matrices.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "mrvlc/ops/op.h"

namespace mrvlc::ops {

// Labels of dimensions: a letter, or '0'..'9' for dimensions that dots stand for, the last being '0'.
struct EinsumLabels {
  std::vector<std::string> operands;  // a label for each dimension of each operand
  std::string result;
  std::map<char, int64_t> sizes;  // by label; an operand may have 1 there: it is repeated
};
// Of a node whose shapes are known. Errors: those of the operator (equation, ranks, sizes).
Result<EinsumLabels> einsum_labels(const InferContext& context);

}  // namespace mrvlc::ops
