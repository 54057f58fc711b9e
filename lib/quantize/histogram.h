// How the elements of tensors are distributed, taken in one tensor after the other. Bins are powers of two
// wide and get wider as the range grows, so that nothing has to be seen twice.
#pragma once
#include "mrvlc/tensor/tensor.h"

namespace mrvlc::quantize {

class Histogram {
 public:
  void add(const Tensor& tensor);  // of F32; what is not finite is left out

  bool empty() const { return total_ == 0; }
  int64_t total() const { return total_; }
  double min() const { return min_; }  // 0 when empty
  double max() const { return max_; }
  // Bin i holds count(i) values from left(i) to right(i), the outer ones no further than min and max.
  size_t bins() const { return counts_.size(); }
  int64_t count(size_t i) const { return counts_[i]; }
  double left(size_t i) const;
  double right(size_t i) const;
  double centre(size_t i) const { return (left(i) + right(i)) / 2; }

 private:
  void cover(double low, double high);
  void widen();

  int exponent_ = 0;   // bins are 2^exponent_ wide
  int64_t first_ = 0;  // bin 0 begins at first_ * 2^exponent_
  std::vector<int64_t> counts_;
  int64_t total_ = 0;
  double min_ = 0, max_ = 0;
};

}  // namespace mrvlc::quantize
