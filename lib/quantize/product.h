// The weights of a layer as matrices, and what they are multiplied by: for each group of output channels,
// rows of weights times columns that are patches of the input (im2col). For a matrix product a patch is a
// row.
#pragma once
#include <Eigen/Core>

#include "mrvlc/ir/graph.h"

namespace mrvlc::quantize {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

struct ProductShape {
  int64_t groups = 1, rows = 0, depth = 0;  // of one group: output channels, weights of each
  bool transposed = false;                  // stored as [depth, rows]
  int64_t channel_axis = 0;                 // of the weights, that output channels lie along

  int64_t channels() const { return groups * rows; }
  // Where weight `k` of output channel `m` (over all groups) lies.
  int64_t at(int64_t m, int64_t k) const { return transposed ? k * channels() + m : m * depth + k; }
};
ProductShape product_shape(const ir::Graph& graph, const ir::Node& layer);

// [channels, depth]
Matrix weight_matrix(const Tensor& weights, const ProductShape& shape);
Tensor weight_tensor(const Matrix& weights, const ProductShape& shape, const Shape& as);

// A layer's patches: at most `limit` of a sample, evenly spread, others of every sample.
class Patches {
 public:
  Patches(const ir::Graph& graph, const ir::Node& layer, int64_t limit);
  // False: sizes are not known; there are no patches.
  bool known() const { return known_; }
  int64_t of_sample() const { return taken_; }
  // [of_sample(), depth] of a group.
  Matrix take(const Tensor& data, int64_t sample, int64_t group) const;

 private:
  int64_t position(int64_t sample, int64_t i) const;
  void fill(const float* image, int64_t group, int64_t position, double* row) const;

  ProductShape shape_;
  bool known_ = false, matrix_ = false;
  int64_t in_channels_ = 0, image_size_ = 0, outputs_ = 0;  // of one image; outputs a channel
  std::vector<int64_t> input_, output_, kernel_, strides_, dilations_, pads_;
  int64_t all_ = 0, taken_ = 0;  // positions
};

}  // namespace mrvlc::quantize
