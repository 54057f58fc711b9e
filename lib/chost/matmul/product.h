// What a Gemm or a MatMul multiplies: sizes and strides, numbers or C expressions.
#pragma once
#include "function.h"
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

// Of the head of the function, a MatMul or a Gemm. Dimensions known at run time only become constants of the
// function, results get their dimensions, and a line fails where operands do not fit each other.
Product matmul_product(Function& f);
Product gemm_product(Function& f);
// The pointer to operand `i`, or to what it is a transposed view of.
std::string read_operand(Function& f, size_t i);
// An element of C, broadcast: "x2[i * 4 + j * 1]".
std::string added_operand(Function& f, const Product& p);

}  // namespace mrvlc::chost
