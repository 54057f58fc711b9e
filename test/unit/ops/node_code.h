// The C of single nodes, compiled and called.
#pragma once
#include "mrvlc/ops/op.h"
#include "support/c_library.h"

namespace mrvlc::test {

// Code of the function `f<number>` that `emit` of a node's operator writes, for call(); fails the running
// test when there is none.
std::string code_of(const ops::InferContext& node, const std::vector<TensorType>& results, size_t number);
// The same of `emit_dynamic`: int f<number>(const K_view* const* operands, K_view* const* results).
std::string dynamic_code_of(const ops::InferContext& node, const std::vector<TensorType>& results,
                            size_t number);

// One operand a position, nullptr for those not given.
std::vector<Tensor> call(const CLibrary& library, size_t number, const std::vector<const Tensor*>& operands,
                         const std::vector<TensorType>& results);

// Integers and narrow floats are the same, other floats as near as good code in their type comes.
void check_same(const Tensor& expected, const Tensor& actual);

// Values of both signs with zeros and ties, different ones for each seed.
Tensor sample(ElementType elem, const Shape& shape, uint32_t seed = 1);

}  // namespace mrvlc::test
