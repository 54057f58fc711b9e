// Resolved parameters of operators, the one place that interprets their attributes (auto_pad, defaults,
// negative axes...). Used by inference, reference, C emission, rules and the accelerator alike. Spatial
// vectors have one entry a spatial dimension; pads are split in begin and end.
#pragma once
#include "mrvlc/ops/op.h"

namespace mrvlc::ops {

struct WindowParams {  // Conv, ConvTranspose, pools: over `rank` spatial dimensions
  std::vector<int64_t> input, kernel, strides, dilations, pads_begin, pads_end, output;
};

struct ConvParams : WindowParams {
  int64_t batch = 0, in_channels = 0, out_channels = 0, group = 1;
  std::vector<int64_t> output_padding;  // ConvTranspose only
};
Result<ConvParams> conv_params(const InferContext& context);  // Conv: X [N,C,...], W [M,C/group,...]
Result<ConvParams> conv_transpose_params(const InferContext& context);  // W [C,M/group,...]

// Positions of QLinearConv's and QLinearMatMul's operands.
struct QlinearInput {
  enum Position : size_t { kA, kScaleA, kZeroA, kB, kScaleB, kZeroB, kScaleY, kZeroY, kBias };
};
struct IntegerConvParams : ConvParams {
  size_t x = 0, zero_x = 2, weights = 0, zero_weights = 0;  // positions of operands
};
Result<IntegerConvParams> integer_conv_params(const ir::Graph& graph,
                                              const ir::Node& node);  // QLinearConv, ConvInteger

struct PoolParams : WindowParams {
  int64_t batch = 0, channels = 0;
  bool count_include_pad = false, ceil_mode = false, is_max = false;
};
Result<PoolParams> pool_params(
    const InferContext& context);  // MaxPool, AveragePool, GlobalMaxPool, GlobalAveragePool

// What an attribute of Conv, ConvTranspose or a pool that is not given stands for ("kernel_shape", "strides",
// "dilations", "pads"), by ONNX's defaults; nullopt: another operator or attribute, or sizes not known yet.
std::optional<std::vector<int64_t>> window_default(const ir::Graph& graph, const ir::Node& node,
                                                   std::string_view attribute);

struct GemmParams {
  int64_t m = 0, n = 0, k = 0;
  bool trans_a = false, trans_b = false;
  float alpha = 1, beta = 1;
};
Result<GemmParams> gemm_params(const InferContext& context);

struct SliceParams {  // one entry a dimension of the data
  std::vector<int64_t> start, step, size;
};
Result<SliceParams> slice_params(const InferContext& context);
struct PadParams {  // one entry a dimension; negative crops
  std::vector<int64_t> begin, end;
  std::string mode;  // constant, reflect, edge, wrap
  double value = 0;
  // Index of dimension d, of `size` elements, that result index o copies; -1 where it has the value. What is
  // cropped is no source.
  int64_t source(size_t d, int64_t o, int64_t size) const;
};
Result<PadParams> pad_params(const InferContext& context);
struct ResizeParams {         // one entry a dimension
  std::vector<double> scale;  // output / input as the operator uses it
  // The scale as a ratio of sizes, also where it is given as a number that is such a ratio rounded to float:
  // positions are exact then. {0, 0}: it is none.
  struct Ratio {
    int64_t out = 0, in = 0;
  };
  std::vector<Ratio> ratio;
  std::vector<int64_t> output;
  std::string mode, coordinate_mode, nearest_mode;
  double cubic_a = -0.75, extrapolation = 0;
  std::vector<double> roi_begin, roi_end;  // tf_crop_and_resize
  // Every output index of dimension d stands for itself, whatever the modes.
  bool is_identity(size_t d, int64_t input_size) const;
  // Input coordinate of output index o along dimension d.
  double source(size_t d, int64_t o, int64_t input_size) const;
  // Input index that mode nearest takes for it.
  int64_t nearest(size_t d, int64_t o, int64_t input_size) const;
};
Result<ResizeParams> resize_params(const InferContext& context);
// Axis in [0, rank) or an MRV0206.
Result<int64_t> normalize_axis(int64_t axis, int64_t rank);
// Reduced axes of Reduce*, sorted; all axes when none are given and noop_with_empty_axes is 0.
Result<std::vector<int64_t>> reduce_axes(const InferContext& context);

}  // namespace mrvlc::ops
