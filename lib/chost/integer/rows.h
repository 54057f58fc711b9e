// Products of bytes by constant weights: rows of weights, and what the kernels of kernels/integer_*.c read
// beside them.
#pragma once
#include "function.h"

namespace mrvlc::chost {

// Rows of weights of convolutions and of matrices, as bytes. x has 128 added where it is signed, w as much
// taken away where it is not: the sums of (x - zx)(w - zw) stay what they are.
class IntegerRows {
 public:
  // A row has `depth` weights, `step` apart; the first of row r is element r * stride.
  struct Layout {
    int64_t rows, depth, stride, step;
  };
  IntegerRows(const ir::Graph& graph, const ir::Node& node, Layout layout);

  uint32_t flip() const { return unsigned_x_ ? 0 : 0x80808080u; }
  int outside() const { return zero_x_ & 255; }
  // Scale, bias and zero point of the next row; rows behind the last are fillers.
  void add_row(int64_t row);
  // Weight k of a row, behind the last one what adds nothing.
  std::byte weight(int64_t row, int64_t k) const;
  // Declares `c`, the constants, and `e` of type K_scales; returns the weights as C text.
  std::string declare(Function& f, const std::vector<std::byte>& weights) const;

 private:
  const Tensor& constant(size_t input) const { return *graph_.constant(node_.inputs[input]); }
  int number(int64_t row, int64_t k) const;
  int zero_of(int64_t row) const;
  float scale_of(int64_t row) const;

  const ir::Graph& graph_;
  const ir::Node& node_;
  const Layout layout_;
  bool scaled_ = false, unsigned_x_ = false, unsigned_w_ = false;
  size_t w_ = 0, zero_w_ = 0;
  int zero_x_ = 0;
  std::vector<uint32_t> bias_, centre_;
  std::vector<float> scale_;
};

Status emit_integer_conv(Function& f);
Status emit_integer_matrix(Function& f);

}  // namespace mrvlc::chost
