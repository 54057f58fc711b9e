// RoiAlign (ONNX RoiAlign-22): means or maxima of interpolated samples in the bins of regions. Batch indices
// out of range are errors (see index_util.h).
#include <algorithm>
#include <cmath>
#include <utility>

#include "common/dims.h"
#include "common/index_util.h"
#include "common/lanes.h"

namespace mrvlc::ops {
namespace {

using namespace spec;

// Samples of a bin along one axis at most: their number may follow from the size of a region, which is data.
constexpr int64_t kMaxSamples = 1024;

// Opset 10 had no half pixels.
Status upgrade_roi_align(RawNode& node) {
  if (node.opset < 16)
    node.attrs.emplace_back("coordinate_transformation_mode", ir::Attr(std::string("output_half_pixel")));
  return {};
}

struct RoiParams {
  int64_t height = 1, width = 1, samples = 0;  // samples 0: as the region's size asks
  double scale = 1;
  bool half_pixel = true, max = false;
};

Status read_roi_attrs(const InferContext& context, RoiParams& p) {
  p.height = context.int_attr("output_height");
  p.width = context.int_attr("output_width");
  p.samples = context.int_attr("sampling_ratio");
  p.scale = static_cast<double>(context.float_attr("spatial_scale"));
  if (p.height < 1 || p.height > kMaxExtent) return bad_attr("output_height", fmt::format("is {}", p.height));
  if (p.width < 1 || p.width > kMaxExtent) return bad_attr("output_width", fmt::format("is {}", p.width));
  if (p.samples < 0 || p.samples > kMaxSamples)
    return bad_attr("sampling_ratio", fmt::format("is {}, outside 0 to {}", p.samples, kMaxSamples));
  const std::string &mode = context.string_attr("mode"),
                    &coordinates = context.string_attr("coordinate_transformation_mode");
  if (mode != "avg" && mode != "max")
    return bad_attr("mode", fmt::format("has the unknown value '{}'", printable(mode)));
  if (coordinates != "half_pixel" && coordinates != "output_half_pixel") {
    return bad_attr("coordinate_transformation_mode",
                    fmt::format("has the unknown value '{}'", printable(coordinates)));
  }
  p.max = mode == "max";
  p.half_pixel = coordinates == "half_pixel";
  return {};
}

Result<RoiParams> roi_params(const InferContext& context) {
  RoiParams p;
  MRVLC_TRY(check_rank(context, 0, 4, 4));
  MRVLC_TRY(check_rank(context, 1, 2, 2));
  MRVLC_TRY(check_rank(context, 2, 1, 1));
  MRVLC_TRY(check_same_elem(context, 1));
  MRVLC_TRY(check_elem(context, 2, types_of({E::I64})));
  MRVLC_TRY(read_roi_attrs(context, p));
  return p;
}

Result<std::vector<TensorType>> infer_roi_align(const InferContext& context) {
  MRVLC_ASSIGN(RoiParams p, roi_params(context));
  const Shape &x = context.type(0).shape, &rois = context.type(1).shape;
  if (rois[1] != 4 || context.type(2).shape[0] != rois[0])
    return bad_operands(
        fmt::format("regions of {} with {} batch indices", to_string(rois), context.type(2).shape[0]));
  if ((x[0] == 0 || x[2] == 0 || x[3] == 0) && rois[0] != 0)
    return bad_operands("nothing can be sampled from an empty dimension");
  MRVLC_TRY(check_known_indices(context, 2, {x[0], false}));
  return one_type(context.type(0).elem, {rois[0], x[1], p.height, p.width});
}

// One axis of a region: where its bins begin, their size, and samples in each. Computed in the precision of
// generated code, because rounding decides about the number of samples.
template <class R>
struct RoiAxis {
  R start = 0, bin = 0;
  int64_t samples = 0;

  RoiAxis(const RoiParams& p, double from, double to, int64_t bins) {
    R offset = p.half_pixel ? R(0.5) : R(0), scale = static_cast<R>(p.scale);
    start = static_cast<R>(from) * scale - offset;
    R length = static_cast<R>(to) * scale - offset - start;
    if (!p.half_pixel) length = length > 1 ? length : 1;
    bin = length / static_cast<R>(bins);
    R wanted = std::ceil(bin);
    samples = p.samples > 0 ? p.samples
              : wanted > 0  ? static_cast<int64_t>(std::min<R>(wanted, kMaxSamples))
                            : 0;
  }
  // The samples that can lie in the map; their places grow with their numbers. What lies beside it is 0.
  std::pair<int64_t, int64_t> inside(int64_t b, int64_t size) const {
    if (!(bin > 0)) return {0, samples};
    auto count = [&](auto&& holds) {
      int64_t low = 0;
      for (int64_t n = samples; n > 0;) {
        const int64_t half = n / 2;
        n = holds(sample(b, low + half)) ? (low += half + 1, n - half - 1) : half;
      }
      return low;
    };
    const int64_t first = count([](R place) { return place < -1; });
    return {first, std::max(first, count([&](R place) { return place <= static_cast<R>(size); }))};
  }
  R sample(int64_t b, int64_t i) const {
    return start + static_cast<R>(b) * bin + (static_cast<R>(i) + R(0.5)) * bin / static_cast<R>(samples);
  }
};

// Two neighbours along an axis; both weights are 0 outside.
struct Neighbours {
  int64_t low = 0, high = 0;
  double wlow = 0, whigh = 0;

  Neighbours(double v, int64_t size) {
    if (!(v >= -1 && v <= static_cast<double>(size))) return;
    v = std::clamp(v, 0.0, static_cast<double>(size - 1));
    low = static_cast<int64_t>(v);
    high = std::min(low + 1, size - 1);
    whigh = v - static_cast<double>(low);
    wlow = 1 - whigh;
  }
};

template <class R>
double roi_bin(const RoiParams& p, const Tensor& x, int64_t plane, const RoiAxis<R>& ay, const RoiAxis<R>& ax,
               int64_t row, int64_t col) {
  int64_t h = x.shape()[2], w = x.shape()[3];
  double sum = 0, most = -INFINITY;
  const auto [first_y, past_y] = ay.inside(row, h);
  const auto [first_x, past_x] = ax.inside(col, w);
  if (past_y - first_y < ay.samples || past_x - first_x < ax.samples) most = 0;
  for (int64_t i = first_y; i < past_y; ++i) {
    Neighbours y(static_cast<double>(ay.sample(row, i)), h);
    for (int64_t j = first_x; j < past_x; ++j) {
      Neighbours c(static_cast<double>(ax.sample(col, j)), w);
      auto term = [&](int64_t r, int64_t k, double weight) {
        double v = weight == 0 ? 0 : weight * x.as_double((plane * h + r) * w + k);
        sum += v;
        most = larger_or_nan(most, v);
      };
      term(y.low, c.low, y.wlow * c.wlow);
      term(y.low, c.high, y.wlow * c.whigh);
      term(y.high, c.low, y.whigh * c.wlow);
      term(y.high, c.high, y.whigh * c.whigh);
    }
  }
  int64_t count = ay.samples * ax.samples;
  if (count == 0) return 0;
  return p.max ? most : sum / static_cast<double>(count);
}

template <class R>
void align(const EvalContext& context, const RoiParams& p, const std::vector<int64_t>& batch) {
  const Tensor &x = context.in(0), &rois = context.in(1);
  Tensor& y = context.out();
  int64_t channels = x.shape()[1];
  for (int64_t r = 0; r < rois.shape()[0]; ++r) {
    RoiAxis<R> ax(p, rois.as_double(r * 4), rois.as_double(r * 4 + 2), p.width);
    RoiAxis<R> ay(p, rois.as_double(r * 4 + 1), rois.as_double(r * 4 + 3), p.height);
    for (int64_t i = 0; i < channels * p.height * p.width; ++i) {
      int64_t c = i / (p.height * p.width);
      double v = roi_bin(p, x, batch[at(r)] * channels + c, ay, ax, i / p.width % p.height, i % p.width);
      y.set_double(r * channels * p.height * p.width + i, v);
    }
  }
}

Status eval_roi_align(const EvalContext& context) {
  MRVLC_ASSIGN(RoiParams p, roi_params(context.infer_view()));
  MRVLC_ASSIGN(auto batch, read_indices(context.in(2), context.in(0).shape()[0]));
  context.in(0).elem() == E::F64 ? align<double>(context, p, batch) : align<float>(context, p, batch);
  return {};
}

// -- C. The names of an axis end in x or y.

void emit_axis(EmitContext& context, const RoiParams& p, std::string_view a, int first, int64_t bins,
               ElementType elem) {
  std::string_view type = c_type(elem), f = elem == E::F32 ? "f" : "";
  std::string offset = p.half_pixel ? fmt::format(" - 0.5{}", f) : "", scale = c_literal(p.scale, elem);
  context.line(fmt::format("const {} start{} = g[{}] * {}{};", type, a, first, scale, offset));
  std::string length = fmt::format("g[{}] * {}{} - start{}", first + 2, scale, offset, a);
  context.line(fmt::format("const {} length{} = {};", type, a, length));
  length = fmt::format("length{}", a);
  if (!p.half_pixel) length = fmt::format("({0} > 1 ? {0} : 1)", length);
  context.line(fmt::format("const {} bin{} = {} / {};", type, a, length, bins));
  if (p.samples > 0) {
    context.line(fmt::format("const ptrdiff_t samples{} = {};", a, p.samples));
    return;
  }
  context.line(fmt::format("const {} want{} = ceil{}(bin{});", type, a, f, a));
  context.line(fmt::format(
      "const ptrdiff_t samples{0} = want{0} > 0 ? (ptrdiff_t)(want{0} < {1} ? want{0} : {1}) : 0;", a,
      kMaxSamples));
}

// Leaves from and to: the samples of bin b{a} that can lie in the map, and one more on either side. Their
// places grow with their numbers, so that a region of any size takes no longer than one of the map's.
void emit_inside(EmitContext& context, std::string_view a, const std::string& size, ElementType elem) {
  std::string_view type = c_type(elem), f = elem == E::F32 ? "f" : "";
  context.line(fmt::format("ptrdiff_t from{0} = 0, to{0} = samples{0};", a));
  context.open(fmt::format("for (ptrdiff_t n = samples{} > 2 ? samples{} : 0; n > 0;)", a, a));
  context.line(fmt::format("const ptrdiff_t half = n / 2, i = from{} + half;", a));
  const std::string place =
      fmt::format("start{1} + ({0})b{1} * bin{1} + (({0})i + 0.5{2}) * bin{1} / ({0})samples{1}", type, a, f);
  context.line(fmt::format("if ({0} < -1) from{1} = i + 1, n -= half + 1; else n = half;", place, a));
  context.close();
  context.open(fmt::format("for (ptrdiff_t low = from{0}, n = samples{0} > 2 ? to{0} - low : 0; n > 0;)", a));
  context.line("const ptrdiff_t half = n / 2, i = low + half;");
  context.line(
      fmt::format("if ({0} <= ({1}){2}) low = i + 1, n -= half + 1; else n = half;", place, type, size));
  context.line(fmt::format("to{} = low;", a));
  context.close();
  context.line(fmt::format("if (from{0} > 0) --from{0};", a));
  context.line(fmt::format("if (to{0} < samples{0}) ++to{0};", a));
}

// Leaves low and high, and weights, of sample i{a} of bin b{a}.
void emit_neighbours(EmitContext& context, std::string_view a, const std::string& size, ElementType elem) {
  std::string_view type = c_type(elem), f = elem == E::F32 ? "f" : "";
  context.line(fmt::format(
      "{0} p{1} = start{1} + ({0})b{1} * bin{1} + (({0})i{1} + 0.5{2}) * bin{1} / ({0})samples{1};", type, a,
      f));
  context.line(fmt::format("const int in{0} = p{0} >= -1 && p{0} <= ({1}){2};", a, type, size));
  context.line(fmt::format("p{0} = !in{0} || p{0} < 0 ? 0 : p{0} < ({1})({2} - 1) ? p{0} : ({1})({2} - 1);",
                           a, type, size));
  context.line(fmt::format(
      "const ptrdiff_t low{0} = (ptrdiff_t)p{0}, high{0} = low{0} + 1 < {1} ? low{0} + 1 : low{0};", a,
      size));
  context.line(
      fmt::format("const {0} h{1} = in{1} ? p{1} - ({0})low{1} : 0, l{1} = in{1} ? 1 - h{1} : 0;", type, a));
}

// Adds the sample, or takes its greatest term, for every channel.
void emit_sample(EmitContext& context, const RoiParams& p, const std::string& w, ElementType elem) {
  constexpr std::string_view kCorners[][2] = {{"l", "l"}, {"l", "h"}, {"h", "l"}, {"h", "h"}};
  context.line(fmt::format("const {} v[4] = {{ly * lx, ly * hx, hy * lx, hy * hx}};", c_type(elem)));
  std::string places;
  for (const auto& c : kCorners) {
    places += fmt::format("{}{}y * {} + {}x", places.empty() ? "" : ", ", c[0] == "l" ? "low" : "high", w,
                          c[1] == "l" ? "low" : "high");
  }
  context.line(fmt::format("const ptrdiff_t at[4] = {{{}}};", places));
  context.open("for (ptrdiff_t c = 0; c < channels; ++c)");
  context.open("for (ptrdiff_t k = 0; k < 4; ++k)");
  context.line(
      fmt::format("const {} t = v[k] > 0 || v[k] < 0 ? v[k] * x[c * plane + at[k]] : 0;", c_type(elem)));
  // Those that are left out beside the map are 0, as y is.
  const std::string_view first =
      p.samples > 0 ? "iy == 0 && ix == 0 && k == 0" : "!cut && iy == 0 && ix == 0 && k == 0";
  context.line(p.max ? fmt::format("if (({}) || t > y[c * bins] || isnan(t)) y[c * bins] = t;", first)
                     : "y[c * bins] += t;");
  context.close();
  context.close();
}

Status emit_roi_align(EmitContext& context) {
  MRVLC_TRY(require_widened(context));
  MRVLC_ASSIGN(RoiParams p, roi_params(emit_view(context)));
  ElementType elem = context.in_type(0).elem;
  std::string_view type = c_type(elem);
  Texts x = in_sizes(context, 0);
  require_equal(context, context.in_dim(1, 1), "4");
  require_equal(context, context.in_dim(1, 0), context.in_dim(2, 0));
  context.fail_if(fmt::format("{} == 0", size_product({x[0], x[2], x[3]})));
  fail_if_any(context, 2, fmt::format("v < -{0} || v >= {0}", x[0]));
  MRVLC_ASSIGN(const RangeCheck check, require_indices(context, 2, x[0]));
  context.set_dims(0, {context.in_dim(1, 0), context.in_dim(0, 1), fmt::format("{}", p.height),
                       fmt::format("{}", p.width)});
  if (context.out_type(0).elements() == 0) return {};
  context.line(fmt::format("const ptrdiff_t channels = {}, plane = {}, bins = {};", x[1],
                           size_product(x, 2, 4), p.height * p.width));
  context.open(fmt::format("for (ptrdiff_t r = 0; r < {}; ++r)", dim_text(context.in_dim(1, 0))));
  context.line(fmt::format("const {}* g = {} + r * 4;", type, context.in(1)));
  // Before it is made a ptrdiff_t, which may have fewer bits.
  const std::string which = fmt::format("{}[r]", context.in(2));
  context.line(
      fmt::format("ptrdiff_t batch = (ptrdiff_t){};",
                  check != RangeCheck::None
                      ? which
                      : fmt::format("({0} < -{1} ? -{1} : {0} < {1} ? {0} : {1} - 1)", which, x[0])));
  context.line(fmt::format("if (batch < 0) batch += {};", x[0]));
  context.line(fmt::format("const {}* x = {} + batch * channels * plane;", type, context.in(0)));
  emit_axis(context, p, "x", 0, p.width, elem);
  emit_axis(context, p, "y", 1, p.height, elem);
  context.loop("by", p.height);
  context.loop("bx", p.width);
  context.line(
      fmt::format("{}* y = {} + r * channels * bins + by * {} + bx;", type, context.out(0), p.width));
  context.line("for (ptrdiff_t c = 0; c < channels; ++c) y[c * bins] = 0;");
  if (p.samples == 0) {
    for (std::string_view a : {"y", "x"}) emit_inside(context, a, x[a == "y" ? 2 : 3], elem);
    if (p.max) context.line("const int cut = fromy + fromx > 0 || toy < samplesy || tox < samplesx;");
  }
  for (std::string_view a : {"y", "x"}) {
    context.open(p.samples > 0 ? fmt::format("for (ptrdiff_t i{0} = 0; i{0} < samples{0}; ++i{0})", a)
                               : fmt::format("for (ptrdiff_t i{0} = from{0}; i{0} < to{0}; ++i{0})", a));
    emit_neighbours(context, a, x[a == "y" ? 2 : 3], elem);
  }
  emit_sample(context, p, x[3], elem);
  context.close();
  context.close();
  if (!p.max) {
    context.line("const ptrdiff_t count = samplesy * samplesx > 0 ? samplesy * samplesx : 1;");
    context.line(fmt::format("for (ptrdiff_t c = 0; c < channels; ++c) y[c * bins] /= ({})count;", type));
  }
  context.close();
  context.close();
  context.close();
  return {};
}

}  // namespace

const OpDef& def_RoiAlign() {
  static const OpDef def = [] {
    OpDef d;
    d.name = "RoiAlign";
    d.since_min = 10;
    d.attrs = {with_string("coordinate_transformation_mode", "half_pixel"),
               with_string("mode", "avg"),
               with_int("output_height", 1),
               with_int("output_width", 1),
               with_int("sampling_ratio", 0),
               with_float("spatial_scale", 1)};
    d.min_inputs = d.max_inputs = 3;
    d.types = kFloats;
    d.upgrade = upgrade_roi_align;
    d.infer = infer_roi_align;
    d.eval = eval_roi_align;
    d.emit = d.emit_dynamic = emit_roi_align;
    d.declined = "the accelerator has no reads at computed addresses";
    return d;
  }();
  return def;
}

}  // namespace mrvlc::ops
