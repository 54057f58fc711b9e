// C functions of operators whose shapes are known at run time only, against the reference: the same function
// runs on tensors of many shapes, each of which stands at the end of a page behind which nothing may be
// touched.
#pragma once
#include "node_code.h"
#include "one_node.h"

namespace mrvlc::test {

// An operand as the compiler sees it: a type, or a constant.
struct DynamicOperand {
  TensorType type;
  std::optional<Tensor> constant;

  DynamicOperand() = default;  // not given
  DynamicOperand(TensorType t) : type(std::move(t)) {}
  DynamicOperand(Tensor t) : type(t.type()), constant(std::move(t)) {}
};

// A type; dimensions below 0 are dynamic, at most their absolute value.
inline TensorType dynamic_type(E elem, Shape dims, int64_t capacity = -1) {
  TensorType type{elem, std::move(dims), 0, capacity};
  for (size_t d = 0; d < type.shape.size(); ++d) {
    if (type.shape[d] >= 0) continue;
    type.shape[d] = -type.shape[d];
    type.dynamic |= 1u << d;
  }
  return type;
}

// One function, run on each list of tensors (of the operands that are no constants). The reference, to which
// every operand is known, says what is expected: its results, or an error where it refuses or a result
// exceeds its type.
struct DynamicCase {
  std::string op;
  std::vector<DynamicOperand> operands;
  std::vector<std::vector<Tensor>> runs;
  AttrList attrs = {};
  size_t outputs = 1;
};

// Bound of a result's dimension that inference leaves without one.
inline constexpr int64_t kTestBound = 24;

void check_dynamic(const std::vector<DynamicCase>& cases);
// Types of a node's results.
Result<std::vector<TensorType>> dynamic_types(const std::string& op,
                                              const std::vector<DynamicOperand>& operands,
                                              const AttrList& attrs = {}, size_t outputs = 1);

}  // namespace mrvlc::test
