// What a Gemm or a MatMul multiplies: sizes and strides, numbers or C expressions.
#pragma once
#include "function.h"
#include "mrvlc/ops/kernel_blocks.h"
#include "size.h"

namespace mrvlc::chost {

// y[m][n] = a[m][k] * b[k][n], element strides as given; `batch` such products.
struct Product {
  Size m = 1, n = 1, k = 1;
  Size a_row = 0, a_k = 1, b_k = 0, b_n = 1;
  Sizes batch;             // leading dimensions of the result
  Sizes a_batch, b_batch;  // strides in elements for each of them
  float alpha = 1;         // folded into a constant right operand
};

inline constexpr int64_t kLanes = ops::kPanelColumns;

// Of a MatMul of the function, or of the Gemm at its head. Dimensions known at run time only become constants
// of the function, results get their dimensions, and a line fails where operands do not fit each other.
Product matmul_product(Function& f, const ir::Node& node);
Product gemm_product(Function& f);
// The pointer to operand `i` of a MatMul or a Gemm, or to what it is a transposed view of.
std::string read_operand(Function& f, const ir::Node& node, size_t i, std::string name);
// An element of C, broadcast: "x2[i * 4 + j * 1]".
std::string added_operand(Function& f, const Product& p);
// How far the matrices of g0, g1, ... lie behind the first: "g0 * 12 + g1 * 3", or "0".
std::string batch_offset(const Sizes& strides);
// Elements of the depth taken at a time: blocks of one size when it is known.
Size block_of(const Size& k);
// K_gemm's shape for m rows of it, `block_m` of them at a time; `packed`: K_gemm_shape::b_packed.
structs::GemmShape gemm_shape(const Product& p, const std::string& m, const std::string& block_m,
                              const Size& block_k, int packed);
// Whether K_gemm takes twelve rows of two panels at a time, where vectors are wide enough.
bool takes_pairs(const Function& f, const Product& p);

}  // namespace mrvlc::chost
