// MaxRoiPool (ONNX -22): the maxima of a grid of bins over each region, [batch index, x1, y1, x2, y2] with
// both ends included and rounded to elements (Girshick, Fast R-CNN, 2015). Bins overlap by rounding outwards;
// one that lies outside is 0.
#include <algorithm>
#include <cmath>

#include "common/emit_util.h"
#include "common/lanes.h"
#include "mrvlc/support/diag/ops.h"
#include "product/ref_gemm.h"

namespace mrvlc::ops {
namespace {

using namespace spec;

// Corners of regions lie within, wherever they are rounded to.
constexpr double kMostPlace = 0x1p62;

struct MaxRoiParams {
  int64_t batch = 0, channels = 0, regions = 0;
  int64_t size[2] = {0, 0}, pooled[2] = {0, 0};  // height, width
  double scale = 1;
};

Result<MaxRoiParams> max_roi_params(const InferContext& context) {
  MRVLC_TRY(check_rank(context, 0, 4, 4));
  MRVLC_TRY(check_rank(context, 1, 2, 2));
  MRVLC_TRY(check_same_elem(context, 1));
  const Shape &x = context.type(0).shape, &rois = context.type(1).shape;
  if (rois[1] != 5) return bad_operands("a region has five numbers");
  MaxRoiParams p{x[0],         x[1],   rois[0],
                 {x[2], x[3]}, {0, 0}, static_cast<double>(context.float_attr("spatial_scale"))};
  const std::vector<int64_t>& pooled = context.ints_attr("pooled_shape");
  if (pooled.size() != 2) return bad_attr("pooled_shape", "must have two entries");
  for (size_t d = 0; d < 2; ++d) {
    if (pooled[d] < 1 || pooled[d] > kMaxExtent || p.size[d] < 1 || p.size[d] > kMaxExtent)
      return bad_attr("pooled_shape", "or the data's size is out of range");
    p.pooled[d] = pooled[d];
  }
  if (p.batch < 1 && p.regions > 0) return bad_operands("regions of no data");
  return p;
}

Result<std::vector<TensorType>> infer_roi(const InferContext& context) {
  MRVLC_ASSIGN(MaxRoiParams p, max_roi_params(context));
  return one_type(context.type(0).elem, {p.regions, p.channels, p.pooled[0], p.pooled[1]});
}

struct Bin {
  int64_t low = 0, high = 0;
};

// Bin k along dimension d of a region from `first` to `last`.
Bin bin_of(const MaxRoiParams& p, size_t d, double first, double last, int64_t k) {
  const double far = static_cast<double>(kMaxExtent),
               begin = std::clamp(std::round(first * p.scale), -far, far);
  const double end = std::clamp(std::round(last * p.scale), -far, far);
  const double width = std::max(end - begin + 1, 1.0) / static_cast<double>(p.pooled[d]);
  const auto size = static_cast<double>(p.size[d]);
  auto inside = [&](double v) { return static_cast<int64_t>(std::clamp(v + begin, 0.0, size)); };
  return {inside(std::floor(static_cast<double>(k) * width)),
          inside(std::ceil(static_cast<double>(k + 1) * width))};
}

Status eval_roi(const EvalContext& context) {
  MRVLC_ASSIGN(MaxRoiParams p, max_roi_params(context.infer_view()));
  const int64_t plane = p.size[0] * p.size[1];
  std::vector<double> x(at(plane)), roi(5);
  int64_t out = 0;
  for (int64_t r = 0; r < p.regions; ++r) {
    load_doubles(context.in(1), r * 5, 5, roi.data());
    if (!(roi[0] >= 0 && roi[0] < static_cast<double>(p.batch)) ||
        std::any_of(roi.begin() + 1, roi.end(),
                    [](double v) { return !(v >= -kMostPlace && v < kMostPlace); }))
      return bad_operands(fmt::format("region {} is not one of the data", r));
    for (int64_t c = 0; c < p.channels; ++c) {
      load_doubles(context.in(0), (static_cast<int64_t>(roi[0]) * p.channels + c) * plane, plane, x.data());
      for (int64_t k = 0; k < p.pooled[0] * p.pooled[1]; ++k) {
        Bin rows = bin_of(p, 0, roi[2], roi[4], k / p.pooled[1]);
        Bin columns = bin_of(p, 1, roi[1], roi[3], k % p.pooled[1]);
        bool empty = rows.low >= rows.high || columns.low >= columns.high;
        double peak = empty ? 0 : -INFINITY;
        for (int64_t i = rows.low; i < rows.high; ++i) {
          for (int64_t j = columns.low; j < columns.high; ++j)
            peak = larger_or_nan(peak, x[at(i * p.size[1] + j)]);
        }
        context.out().set_double(out++, peak);
      }
    }
  }
  return {};
}

// ptrdiff_t NAMElow, NAMEhigh: the bin VAR along dimension d.
void emit_bin(EmitContext& context, const MaxRoiParams& p, size_t d, std::string_view var) {
  const ElementType elem = context.in_type(0).elem;
  const std::string_view t = c_type(elem), f = elem == E::F64 ? "" : "f";
  const int first = d == 0 ? 2 : 1;
  const std::string far = c_literal(kMaxExtent, elem), scale = c_literal(p.scale, elem);
  context.line(fmt::format("const {0} {1}0 = fmin{2}(fmax{2}(round{2}(roi[{3}] * {4}), -{5}), {5});", t, var,
                           f, first, scale, far));
  context.line(fmt::format("const {0} {1}1 = fmin{2}(fmax{2}(round{2}(roi[{3}] * {4}), -{5}), {5});", t, var,
                           f, first + 2, scale, far));
  context.line(fmt::format("const {0} {1}w = fmax{2}({1}1 - {1}0 + 1, 1) / {3};", t, var, f,
                           c_literal(p.pooled[d], elem)));
  for (auto [bound, expr] :
       {std::pair{"low", "floor{2}(({0}){1} * {1}w)"}, std::pair{"high", "ceil{2}(({0})({1} + 1) * {1}w)"}}) {
    context.line(fmt::format("const ptrdiff_t {0}{1} = (ptrdiff_t)fmin{2}(fmax{2}({3} + {0}0, 0), {4});", var,
                             bound, f, fmt::format(fmt::runtime(expr), t, var, f),
                             c_literal(p.size[d], elem)));
  }
}

Status emit_roi(EmitContext& context) {
  MRVLC_TRY(require_widened(context));
  MRVLC_ASSIGN(MaxRoiParams p, max_roi_params(emit_view(context)));
  context.check_elements({1, p.regions, 0, p.batch - 1, 0, 5});
  for (int64_t k = 1; k < 5; ++k)
    context.check_elements({1, p.regions, -(int64_t{1} << 62), (int64_t{1} << 62) - 1, k, 5});
  if (context.out_type(0).elements() == 0) return {};
  const ElementType elem = context.in_type(0).elem;
  const std::string_view t = c_type(elem), f = elem == E::F64 ? "" : "f";
  context.loop("r", p.regions);
  context.line(fmt::format("const {}* roi = {} + r * 5;", t, context.in(1)));
  context.line(fmt::format("const ptrdiff_t n = (ptrdiff_t)fmin{0}(fmax{0}(roi[0], 0), {1});", f,
                           c_literal(p.batch - 1, elem)));
  context.loop("c", p.channels);
  context.line(fmt::format("const {}* x = {} + (n * {} + c) * {};", t, context.in(0), p.channels,
                           p.size[0] * p.size[1]));
  context.loop("h", p.pooled[0]);
  emit_bin(context, p, 0, "h");
  context.loop("w", p.pooled[1]);
  emit_bin(context, p, 1, "w");
  context.line(fmt::format("{} peak = hlow < hhigh && wlow < whigh ? -INFINITY : 0;", t));
  context.open("for (ptrdiff_t i = hlow; i < hhigh; ++i)");
  context.open("for (ptrdiff_t j = wlow; j < whigh; ++j)");
  context.line(larger_text(elem, "peak", fmt::format("x[i * {} + j]", p.size[1])));
  context.close();
  context.close();
  context.line(fmt::format("{}[((r * {} + c) * {} + h) * {} + w] = peak;", context.out(0), p.channels,
                           p.pooled[0], p.pooled[1]));
  for (int i = 0; i < 4; ++i) context.close();
  return {};
}

}  // namespace

const OpDef& def_MaxRoiPool() {
  static const OpDef def = [] {
    OpDef d;
    d.name = "MaxRoiPool";
    d.attrs = {required("pooled_shape", ir::AttrKind::Ints), with_float("spatial_scale", 1)};
    d.min_inputs = d.max_inputs = 2;
    d.types = kFloats;
    d.infer = infer_roi;
    d.eval = eval_roi;
    d.emit = emit_roi;
    d.declined = "accelerator: windows that data places stay on the host";
    return d;
  }();
  return def;
}

}  // namespace mrvlc::ops
