// Interpolation along one dimension as a sparse matrix: every output is a weighted sum of a fixed number of
// inputs. Linear and cubic resizing in any number of dimensions are one such pass a dimension.
#pragma once
#include "common/infer_util.h"

namespace mrvlc::ops {

// What linear and cubic take. Integers are computed in double; a result is truncated, as ONNX Runtime and
// ONNX's reference do, and what an integer cannot hold saturates.
inline constexpr TypeSet kResampled{spec::kFloats.bits |
                                    types_of({ElementType::I8, ElementType::U8, ElementType::I16,
                                              ElementType::U16, ElementType::I32, ElementType::U32})
                                        .bits};
// What a sum of rounded weights may lack: it is added before a result is truncated.
inline constexpr double kTruncationSlack = 0x1p-20;
// C: count doubles at `from` become elements of `to`, which are integers.
void emit_truncated(EmitContext& context, const std::string& from, const std::string& to,
                    const std::string& count, ElementType elem);

struct AxisTaps {
  int64_t taps = 1;            // inputs an output reads
  std::vector<int64_t> index;  // [output * taps]
  std::vector<double> weight;  // [output * taps]
};

// Keys' cubic convolution kernel at distances s + 1, s, 1 - s, 2 - s (ONNX Resize-19, cubic_coeff_a).
void cubic_weights(double s, double a, double* w);
struct Filter {
  bool exclude_outside = false;  // elements outside have no weight
  bool antialias = false;        // the filter is as wide as an element of the result (ONNX Resize-18)
};
Filter resize_filter(const InferContext& context);
// AxisTaps::taps of dimension d.
int64_t tap_count(const ResizeParams& params, size_t d, const Filter& filter);
// Weights of dimension d; modes linear and cubic.
AxisTaps axis_taps(const ResizeParams& params, size_t d, int64_t input_size, const Filter& filter);
// The parameters that attributes alone give, and the axes that are resized; resize_params has the rest.
Result<ResizeParams> resize_modes(const InferContext& context);
Result<std::vector<int64_t>> resize_axes(const InferContext& context);
// Input index of dimension d for mode nearest.
std::vector<int64_t> nearest_table(const ResizeParams& params, size_t d, int64_t input_size);
// Outputs of dimension d whose coordinate lies outside the input, where tf_crop_and_resize extrapolates;
// empty: none.
std::vector<int64_t> outside_outputs(const ResizeParams& params, size_t d, int64_t input_size);
// The dimension keeps every index, so that no pass is needed.
bool keeps_dimension(const ResizeParams& params, size_t d, int64_t input_size);

}  // namespace mrvlc::ops
