// Resize and Upsample. Coordinates: ONNX Resize-19, "coordinate_transformation_mode". Rounding decides which
// pixel `nearest` takes: where scales are ratios of sizes, positions are fractions, computed exactly.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "mrvlc/ops/op_kind.h"
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

__extension__ using Wide = __int128;  // products of three sizes

Wide floor_div(Wide a, Wide b) {
  const Wide q = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? q - 1 : q;
}

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

// A scale that is out / in, but for the rounding to float of who wrote it: half a unit, or one more where the
// quotient was computed in another way.
bool is_rounded_ratio(double scale, int64_t out, int64_t in) {
  if (out < 1 || in < 1) return false;
  const auto ratio = static_cast<float>(static_cast<double>(out) / static_cast<double>(in));
  const auto given = static_cast<float>(scale);
  return given >= std::nextafter(ratio, 0.0f) && given <= std::nextafter(ratio, INFINITY);
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
    const bool ratio = is_rounded_ratio(scales[i], p.output[d], shape[d]);
    p.ratio[d] = ratio ? ResizeParams::Ratio{p.output[d], shape[d]} : ResizeParams::Ratio{};
  }
  return {};
}

// One scale for all axes: the least or the greatest of theirs. Sizes are rounded, halves up.
Status keep_aspect(ResizeParams& p, const Shape& shape, const std::vector<int64_t>& axes, bool least) {
  if (axes.empty()) return {};
  size_t best = at(axes[0]);
  for (int64_t d : axes)
    if (least ? p.scale[at(d)] < p.scale[best] : p.scale[at(d)] > p.scale[best]) best = at(d);
  const double scale = p.scale[best];
  const ResizeParams::Ratio ratio = p.ratio[best];
  for (int64_t axis : axes) {
    const size_t d = at(axis);
    const Wide size = floor_div(2 * Wide{ratio.out} * shape[d] + ratio.in, 2 * Wide{ratio.in});
    if (size > kMaxElements) return too_large();
    p.scale[d] = scale;
    p.ratio[d] = ratio;
    p.output[d] = static_cast<int64_t>(size);
  }
  return {};
}

Status apply_sizes(ResizeParams& p, const Shape& shape, const std::vector<int64_t>& axes,
                   const std::vector<int64_t>& sizes, const std::string& policy) {
  if (sizes.size() != axes.size())
    return bad_operands(fmt::format("{} sizes for {} axes", sizes.size(), axes.size()));
  for (size_t i = 0; i < axes.size(); ++i) {
    size_t d = at(axes[i]);
    if (sizes[i] > kMaxElements) return too_large();
    if (sizes[i] < 1 || shape[d] == 0) {
      return bad_operands(fmt::format("a size of {} for a dimension of {}", sizes[i], shape[d]));
    }
    p.output[d] = sizes[i];
    p.scale[d] = static_cast<double>(sizes[i]) / static_cast<double>(shape[d]);
    p.ratio[d] = {sizes[i], shape[d]};
  }
  return policy == "stretch" ? Status() : keep_aspect(p, shape, axes, policy == "not_larger");
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
  p.ratio.assign(shape.size(), {1, 1});
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
double resized_length(double scale, int64_t input, int64_t output) {
  double exact = scale * static_cast<double>(input), whole = static_cast<double>(output);
  return std::fabs(exact - whole) < 1e-4 * whole ? whole : exact;
}

}  // namespace

bool ResizeParams::is_identity(size_t d, int64_t input_size) const {
  return coordinate_mode != "tf_crop_and_resize" && output[d] == input_size && scale[d] == 1.0;
}

namespace {

// A position as a fraction; the denominator is positive.
struct Fraction {
  Wide num = 0, den = 1;
};

// By the formulas of ONNX, for a scale of out / in; nullopt: the scale is no ratio, or a region is resized.
std::optional<Fraction> exact_position(const ResizeParams& p, size_t d, int64_t o, int64_t input) {
  const Wide in = p.ratio[d].in, out = p.ratio[d].out, size = p.output[d];
  const std::string& mode = p.coordinate_mode;
  if (in == 0 || mode == "tf_crop_and_resize") return std::nullopt;
  if (mode == "asymmetric") return Fraction{o * in, out};
  if (mode == "tf_half_pixel_for_nn") return Fraction{(2 * o + 1) * in, 2 * out};
  if (mode == "pytorch_half_pixel" && size == 1) return Fraction{};
  const Fraction half{(2 * o + 1) * in - out, 2 * out};
  if (mode == "half_pixel_symmetric")  // in / 2 * (1 - size / (scale * in)) is half of in - size / scale
    return Fraction{half.num + input * out - size * in, 2 * out};
  if (mode != "align_corners") return half;
  if (size == 1) return Fraction{};
  // ONNX's size is scale * input, fraction and all.
  if (out != size || in != input) return std::nullopt;
  return Fraction{o * (in - 1), out - 1};
}

// The same in double for any scale.
double rounded_position(const ResizeParams& p, size_t d, int64_t o, int64_t input_size) {
  const auto x = static_cast<double>(o), in = static_cast<double>(input_size);
  const double s = p.scale[d], half = (x + 0.5) / s - 0.5;
  const double out = resized_length(s, input_size, p.output[d]);
  const std::string& mode = p.coordinate_mode;
  if (mode == "asymmetric") return x / s;
  if (mode == "pytorch_half_pixel") return p.output[d] > 1 ? half : 0;
  if (mode == "align_corners") return p.output[d] > 1 ? x * (in - 1) / (out - 1) : 0;
  if (mode == "tf_half_pixel_for_nn") return (x + 0.5) / s;
  if (mode == "half_pixel_symmetric")
    return in / 2 * (1 - static_cast<double>(p.output[d]) / (s * in)) + half;
  if (mode != "tf_crop_and_resize") return half;
  const double begin = p.roi_begin[d], end = p.roi_end[d];
  if (p.output[d] > 1) return begin * (in - 1) + x * (end - begin) * (in - 1) / (out - 1);
  return 0.5 * (begin + end) * (in - 1);
}

int64_t nearest_of(const std::string& mode, bool shrinks, const Fraction& x) {
  auto up = [](Wide a, Wide b) { return -floor_div(-a, b); };
  Wide i = 0;
  if (mode == "round_prefer_floor") {
    i = up(2 * x.num - x.den, 2 * x.den);
  } else if (mode == "round_prefer_ceil") {
    i = floor_div(2 * x.num + x.den, 2 * x.den);
  } else {
    i = mode == "ceil" || (mode == "ceil_when_shrinking" && shrinks) ? up(x.num, x.den)
                                                                     : floor_div(x.num, x.den);
  }
  return static_cast<int64_t>(std::clamp<Wide>(i, -1, kMaxElements));
}

double nearest_of(const std::string& mode, bool shrinks, double x) {
  if (mode == "round_prefer_floor") return std::ceil(x - 0.5);
  if (mode == "round_prefer_ceil") return std::floor(x + 0.5);
  return mode == "ceil" || (mode == "ceil_when_shrinking" && shrinks) ? std::ceil(x) : std::floor(x);
}

}  // namespace

double ResizeParams::source(size_t d, int64_t o, int64_t input_size) const {
  if (is_identity(d, input_size)) return static_cast<double>(o);
  if (auto x = exact_position(*this, d, o, input_size)) {
    const Wide whole = floor_div(x->num, x->den);
    return static_cast<double>(whole) +
           static_cast<double>(x->num - whole * x->den) / static_cast<double>(x->den);
  }
  return rounded_position(*this, d, o, input_size);
}

int64_t ResizeParams::nearest(size_t d, int64_t o, int64_t input_size) const {
  if (is_identity(d, input_size)) return o;
  if (auto x = exact_position(*this, d, o, input_size))
    return std::clamp<int64_t>(nearest_of(nearest_mode, scale[d] < 1, *x), 0, input_size - 1);
  const double i = nearest_of(nearest_mode, scale[d] < 1, rounded_position(*this, d, o, input_size));
  return static_cast<int64_t>(std::clamp(i, 0.0, static_cast<double>(input_size - 1)));
}

}  // namespace mrvlc::ops
