// Resize and Upsample. Coordinates: ONNX Resize-19, "coordinate_transformation_mode". They are computed in
// float like the common runtimes do, because rounding decides which pixel `nearest` takes.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "mrvlc/ops/work.h"
#include "mrvlc/support/diag/ops.h"
#include "resampling/resample.h"

namespace mrvlc::ops {
namespace {

constexpr std::string_view kCoordinateModes[] = {
    "half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners",
    "asymmetric", "tf_half_pixel_for_nn", "tf_crop_and_resize"};
// "ceil_when_shrinking" is not ONNX's: Resize-10 takes the next pixel when it shrinks and truncates
// otherwise.
constexpr std::string_view kNearestModes[] = {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil",
                                              "ceil_when_shrinking"};

template <size_t N>
bool one_of(const std::string& text, const std::string_view (&list)[N]) {
  return std::find(std::begin(list), std::end(list), text) != std::end(list);
}

// A vector of positive finite numbers, one an axis.
Result<std::vector<double>> read_scales(const InferContext& context, size_t i, size_t count) {
  const Tensor* tensor = context.constant(i);
  if (tensor == nullptr) return make_diag<DiagCode::MRV0207>(fmt::format("{} (scales)", i));
  if (!is_float(tensor->elem()))
    return make_diag<DiagCode::MRV0202>(i, name(tensor->elem()), context.op->name);
  if (tensor->elements() != static_cast<int64_t>(count)) {
    return bad_operands(fmt::format("{} scales for {} axes", tensor->elements(), count));
  }
  auto scales = tensor->to_doubles();
  for (double s : scales) {
    if (!(s > 0) || std::isinf(s)) return bad_operands(fmt::format("a scale of {}", s));
  }
  return scales;
}

Status apply_scales(ResizeParams& p, const Shape& shape, const std::vector<int64_t>& axes,
                    const std::vector<double>& scales) {
  for (size_t i = 0; i < axes.size(); ++i) {
    size_t d = at(axes[i]);
    float size = std::floor(static_cast<float>(shape[d]) * static_cast<float>(scales[i]));
    if (!(size >= 0)) return bad_operands(fmt::format("a scale of {}", scales[i]));
    if (size > static_cast<float>(kMaxElements)) return too_large();
    p.scale[d] = scales[i];
    p.output[d] = static_cast<int64_t>(size);
  }
  return {};
}

Status apply_sizes(ResizeParams& p, const Shape& shape, const std::vector<int64_t>& axes,
                   const std::vector<int64_t>& sizes, const std::string& policy) {
  if (sizes.size() != axes.size())
    return bad_operands(fmt::format("{} sizes for {} axes", sizes.size(), axes.size()));
  double least = INFINITY, greatest = 0;
  for (size_t i = 0; i < axes.size(); ++i) {
    size_t d = at(axes[i]);
    if (sizes[i] > kMaxElements) return too_large();
    if (sizes[i] < 1 || shape[d] == 0) {
      return bad_operands(fmt::format("a size of {} for a dimension of {}", sizes[i], shape[d]));
    }
    p.output[d] = sizes[i];
    p.scale[d] = static_cast<double>(sizes[i]) / static_cast<double>(shape[d]);
    least = std::min(least, p.scale[d]);
    greatest = std::max(greatest, p.scale[d]);
  }
  if (policy == "stretch") return {};
  double scale = policy == "not_larger" ? least : greatest;
  for (int64_t axis : axes) {
    double size = std::floor(scale * static_cast<double>(shape[at(axis)]) + 0.5);
    if (size > static_cast<double>(kMaxElements)) return too_large();
    p.scale[at(axis)] = scale;
    p.output[at(axis)] = static_cast<int64_t>(size);
  }
  return {};
}

Status read_roi(const InferContext& context, ResizeParams& p, const std::vector<int64_t>& axes) {
  if (p.coordinate_mode != "tf_crop_and_resize") return {};
  const Tensor* roi = context.constant(1);
  if (roi == nullptr) return make_diag<DiagCode::MRV0207>("1 (roi)");
  if (!is_float(roi->elem()) || roi->elements() != static_cast<int64_t>(2 * axes.size())) {
    return bad_operands(fmt::format("{} entries of roi for {} axes", roi->elements(), axes.size()));
  }
  for (size_t i = 0; i < axes.size(); ++i) {
    p.roi_begin[at(axes[i])] = roi->as_double(static_cast<int64_t>(i));
    p.roi_end[at(axes[i])] = roi->as_double(static_cast<int64_t>(i + axes.size()));
  }
  for (size_t d = 0; d < p.roi_begin.size(); ++d) {
    if (!(std::fabs(p.roi_begin[d]) < 1e6 && std::fabs(p.roi_end[d]) < 1e6))
      return bad_operands("roi is out of range");
  }
  return {};
}

Status read_modes(const InferContext& context, ResizeParams& p) {
  p.mode = context.string_attr("mode");
  if (p.mode == "bilinear") p.mode = "linear";
  if (p.mode != "nearest" && p.mode != "linear" && p.mode != "cubic") {
    return bad_attr("mode", fmt::format("has the unknown value '{}'", printable(p.mode)));
  }
  if (context.op->kind == Op::Upsample) {
    p.coordinate_mode = "asymmetric";
    p.nearest_mode = "floor";
    return {};
  }
  p.coordinate_mode = context.string_attr("coordinate_transformation_mode");
  p.nearest_mode = context.string_attr("nearest_mode");
  p.cubic_a = static_cast<double>(context.float_attr("cubic_coeff_a"));
  p.extrapolation = static_cast<double>(context.float_attr("extrapolation_value"));
  if (!one_of(p.coordinate_mode, kCoordinateModes)) {
    return bad_attr("coordinate_transformation_mode",
                    fmt::format("has the unknown value '{}'", printable(p.coordinate_mode)));
  }
  if (!one_of(p.nearest_mode, kNearestModes)) {
    return bad_attr("nearest_mode", fmt::format("has the unknown value '{}'", printable(p.nearest_mode)));
  }
  return {};
}

// Resize: exactly one of scales and sizes, each possibly given as an empty vector.
Status resize_sizes(const InferContext& context, ResizeParams& p, const std::vector<int64_t>& axes) {
  const Shape& shape = context.type(0).shape;
  auto given = [&](size_t i) { return context.has(i) && context.type(i).elements() != 0; };
  if (given(2) == given(3)) return bad_operands("exactly one of scales and sizes must be given");
  if (given(2)) {
    MRVLC_ASSIGN(auto scales, read_scales(context, 2, axes.size()));
    return apply_scales(p, shape, axes, scales);
  }
  MRVLC_ASSIGN(auto sizes, known_ints(context, 3, "sizes", kMaxRank));
  return apply_sizes(p, shape, axes, sizes, context.string_attr("keep_aspect_ratio_policy"));
}

}  // namespace

Result<ResizeParams> resize_modes(const InferContext& context) {
  ResizeParams p;
  MRVLC_TRY(read_modes(context, p));
  if (context.op->kind == Op::Upsample) return p;
  const std::string& policy = context.string_attr("keep_aspect_ratio_policy");
  if (policy != "stretch" && policy != "not_larger" && policy != "not_smaller") {
    return bad_attr("keep_aspect_ratio_policy", fmt::format("has the unknown value '{}'", printable(policy)));
  }
  return p;
}

Result<std::vector<int64_t>> resize_axes(const InferContext& context) {
  bool given = context.op->kind == Op::Resize && !context.ints_attr("axes").empty();
  if (given) return normalize_axes(context.ints_attr("axes"), context.type(0).rank());
  std::vector<int64_t> axes(at(context.type(0).rank()));
  std::iota(axes.begin(), axes.end(), int64_t{0});
  return axes;
}

Result<ResizeParams> resize_params(const InferContext& context) {
  const Shape& shape = context.type(0).shape;
  MRVLC_ASSIGN(ResizeParams p, resize_modes(context));
  p.output = shape;
  p.scale.assign(shape.size(), 1.0);
  p.roi_begin.assign(shape.size(), 0.0);
  p.roi_end.assign(shape.size(), 1.0);
  for (int64_t dim : shape) MRVLC_TRY(check_dim(dim, "a dimension"));
  MRVLC_ASSIGN(auto axes, resize_axes(context));
  if (context.op->kind == Op::Upsample) {
    MRVLC_ASSIGN(auto scales, read_scales(context, 1, axes.size()));
    MRVLC_TRY(apply_scales(p, shape, axes, scales));
    return p;
  }
  MRVLC_TRY(resize_sizes(context, p, axes));
  MRVLC_TRY(read_roi(context, p, axes));
  return p;
}

namespace {

// ONNX's length_resized is scale * length, fraction and all: its conformance data for align_corners with
// scales that leave one have it so. Where a whole number was meant, the rounding of a float scale must not
// shift coordinates.
float resized_length(double scale, int64_t input, int64_t output) {
  double exact = scale * static_cast<double>(input), whole = static_cast<double>(output);
  return static_cast<float>(std::fabs(exact - whole) < 1e-4 * whole ? whole : exact);
}

}  // namespace

bool ResizeParams::is_identity(size_t d, int64_t input_size) const {
  return coordinate_mode != "tf_crop_and_resize" && output[d] == input_size && scale[d] == 1.0;
}

double ResizeParams::source(size_t d, int64_t o, int64_t input_size) const {
  if (is_identity(d, input_size)) return static_cast<double>(o);
  auto x = static_cast<float>(o), s = static_cast<float>(scale[d]), in = static_cast<float>(input_size);
  float out = resized_length(scale[d], input_size, output[d]);
  float half = (x + 0.5f) / s - 0.5f;
  if (coordinate_mode == "asymmetric") return static_cast<double>(x / s);
  if (coordinate_mode == "pytorch_half_pixel") return output[d] > 1 ? static_cast<double>(half) : 0.0;
  if (coordinate_mode == "align_corners")
    return output[d] > 1 ? static_cast<double>(x * (in - 1) / (out - 1)) : 0.0;
  if (coordinate_mode == "tf_half_pixel_for_nn") return static_cast<double>((x + 0.5f) / s);
  if (coordinate_mode == "half_pixel_symmetric") {
    float adjustment = static_cast<float>(output[d]) / (s * in);
    return static_cast<double>(in / 2 * (1 - adjustment) + half);
  }
  if (coordinate_mode == "tf_crop_and_resize") {
    auto begin = static_cast<float>(roi_begin[d]), end = static_cast<float>(roi_end[d]);
    if (output[d] > 1)
      return static_cast<double>(begin * (in - 1) + x * (end - begin) * (in - 1) / (out - 1));
    return static_cast<double>(0.5f * (begin + end) * (in - 1));
  }
  return static_cast<double>(half);
}

}  // namespace mrvlc::ops
