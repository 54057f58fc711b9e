// Rows, depth and groups of a layer's product, weights as a matrix and back, patches of an input (im2col).
#include "product.h"

#include <algorithm>
#include <cmath>

#include "mrvlc/ops/attributes.h"
#include "mrvlc/ops/op_kind.h"
#include "mrvlc/ops/params.h"

namespace mrvlc::quantize {

ProductShape product_shape(const ir::Graph& graph, const ir::Node& layer) {
  const Tensor& w = *graph.constant(layer.inputs[1]);
  ProductShape s;
  if (layer.is(Op::Conv)) {
    s.groups = ops::attr::group(layer);
    s.rows = w.shape()[0] / s.groups;
    s.depth = w.elements() / w.shape()[0];
    return s;
  }
  s.transposed = layer.is(Op::MatMul) || !ops::attr::trans_b(layer);
  s.channel_axis = s.transposed ? 1 : 0;
  s.rows = w.shape()[s.transposed ? 1 : 0];
  s.depth = w.shape()[s.transposed ? 0 : 1];
  return s;
}

Matrix weight_matrix(const Tensor& weights, const ProductShape& shape) {
  const auto data = weights.data<float>();
  Matrix out(shape.channels(), shape.depth);
  for (int64_t m = 0; m < shape.channels(); ++m)
    for (int64_t k = 0; k < shape.depth; ++k)
      out(m, k) = static_cast<double>(data[static_cast<size_t>(shape.at(m, k))]);
  return out;
}

Tensor weight_tensor(const Matrix& weights, const ProductShape& shape, const Shape& as) {
  Tensor out(TensorType{ElementType::F32, as});
  const auto data = out.mutable_data<float>();
  for (int64_t m = 0; m < shape.channels(); ++m)
    for (int64_t k = 0; k < shape.depth; ++k)
      data[static_cast<size_t>(shape.at(m, k))] = static_cast<float>(weights(m, k));
  return out;
}

Patches::Patches(const ir::Graph& graph, const ir::Node& layer, int64_t limit)
    : shape_(product_shape(graph, layer)) {
  const TensorType& type = graph.value(layer.inputs[0]).type;
  if (!type.is_static() || type.elements() == 0) return;
  if (!layer.is(Op::Conv)) {
    matrix_ = known_ = true;
    all_ = type.elements() / shape_.depth;
    taken_ = std::min(all_, limit);
    return;
  }
  auto params = ops::conv_params(ops::infer_context(graph, layer));
  if (!params.ok()) return;
  input_ = params->input;
  output_ = params->output;
  kernel_ = params->kernel;
  strides_ = params->strides;
  dilations_ = params->dilations;
  pads_ = params->pads_begin;
  in_channels_ = params->in_channels;
  image_size_ = element_count(input_);
  outputs_ = element_count(output_);
  known_ = outputs_ > 0;
  all_ = params->batch * outputs_;
  taken_ = std::min(all_, limit);
}

// A grid that is moved by another part of a step for every sample: the golden ratio's multiples fill the
// circle evenly.
int64_t Patches::position(int64_t sample, int64_t i) const {
  constexpr double kGolden = 0.6180339887498949;
  const double turn = static_cast<double>(sample) * kGolden, moved = turn - std::floor(turn);
  const double at =
      (static_cast<double>(i) + moved) * static_cast<double>(all_) / static_cast<double>(taken_);
  return std::min(static_cast<int64_t>(at), all_ - 1);
}

void Patches::fill(const float* image, int64_t group, int64_t position, double* row) const {
  const size_t rank = input_.size();
  std::vector<int64_t> origin(rank), tap(rank, 0);
  for (size_t d = rank; d-- > 0; position /= output_[d])
    origin[d] = position % output_[d] * strides_[d] - pads_[d];
  const int64_t channels = in_channels_ / shape_.groups, taps = element_count(kernel_);
  for (int64_t t = 0; t < taps; ++t) {
    int64_t offset = 0, rest = t;
    bool inside = true;
    for (size_t d = rank; d-- > 0; rest /= kernel_[d]) tap[d] = rest % kernel_[d];
    for (size_t d = 0; d < rank; ++d) {
      const int64_t x = origin[d] + tap[d] * dilations_[d];
      inside = inside && x >= 0 && x < input_[d];
      offset = offset * input_[d] + x;
    }
    for (int64_t c = 0; c < channels; ++c)
      row[c * taps + t] =
          inside ? static_cast<double>(image[(group * channels + c) * image_size_ + offset]) : 0;
  }
}

Matrix Patches::take(const Tensor& data, int64_t sample, int64_t group) const {
  Matrix out(taken_, shape_.depth);
  const float* x = data.data<float>().data();
  for (int64_t i = 0; i < taken_; ++i) {
    const int64_t p = position(sample, i);
    double* row = out.data() + i * shape_.depth;
    if (matrix_) {
      std::copy_n(x + p * shape_.depth, shape_.depth, row);
    } else {
      fill(x + p / outputs_ * in_channels_ * image_size_, group, p % outputs_, row);
    }
  }
  return out;
}

}  // namespace mrvlc::quantize
