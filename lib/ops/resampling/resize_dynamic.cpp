// Resize and Upsample of sizes that are known at run time only: one pass over the data for every dimension
// that changes, whose positions and weights are computed on the way, by the formulas of params_resize.cpp.
#include <algorithm>
#include <cmath>

#include "common/dynamic_facets.h"
#include "mrvlc/support/diag/ops.h"
#include "resampling/resample.h"

namespace mrvlc::ops {
namespace {

using namespace spec;

struct ResizeOperands {
  ResizeParams modes;
  std::vector<int64_t> axes;
  size_t scales = 0, sizes = 0;  // number of the input that is given; 0: it is not
  bool crop = false, upsample = false;
};

Status check_count(const InferContext& context, size_t i, size_t count) {
  MRVLC_TRY(check_rank(context, i, 1, 1));
  if (context.type(i).dynamic == 0 && context.type(i).shape[0] == static_cast<int64_t>(count)) return {};
  return bad_operands(
      fmt::format("input {} is {}, expected {} numbers", i, to_string(context.type(i)), count));
}

Result<ResizeOperands> resize_operands(const InferContext& context) {
  ResizeOperands r;
  MRVLC_TRY(check_tensors(context));
  MRVLC_TRY(check_rank(context, 0, 1));
  MRVLC_ASSIGN(r.modes, resize_modes(context));
  MRVLC_ASSIGN(r.axes, resize_axes(context));
  if (r.modes.mode != "nearest") MRVLC_TRY(check_elem(context, 0, kFloats));
  r.upsample = context.op->kind == Op::Upsample;
  auto given = [&](size_t i) { return context.has(i) && (context.type(i).elements() != 0); };
  if (r.upsample) {
    r.scales = 1;
  } else {
    if (given(2) == given(3)) return bad_operands("exactly one of scales and sizes must be given");
    (given(2) ? r.scales : r.sizes) = given(2) ? 2 : 3;
  }
  size_t i = r.scales + r.sizes;
  MRVLC_TRY(check_count(context, i, r.axes.size()));
  MRVLC_TRY(check_elem(context, i, r.scales != 0 ? types_of({E::F32}) : types_of({E::I64})));
  r.crop = r.modes.coordinate_mode == "tf_crop_and_resize";
  if (r.crop) {
    if (!context.has(1)) return bad_operands("roi is not given");
    MRVLC_TRY(check_elem(context, 1, types_of({E::F32, E::F64})));
    MRVLC_TRY(check_count(context, 1, 2 * r.axes.size()));
  }
  return r;
}

Dim resized(const InferContext& context, const ResizeOperands& r, size_t i, Dim x) {
  const Tensor* known = context.constant(r.scales + r.sizes);
  auto k = static_cast<int64_t>(i);
  if (known == nullptr) return kAnyDim;
  if (r.sizes != 0) {
    bool stretch = context.string_attr("keep_aspect_ratio_policy") == "stretch";
    return stretch ? Dim{known->as_int(k), false} : kAnyDim;
  }
  double size = std::floor(static_cast<double>(x.bound) * known->as_double(k));
  if (x.bound == kNoBound || !(size >= 0) || size > static_cast<double>(kMaxElements)) return kAnyDim;
  return {static_cast<int64_t>(size), x.dynamic};
}

// -- C. own[], size[], scale[] and, to crop, begin[] and end[] hold what resize_params finds.

void emit_scales(EmitContext& context, const ResizeOperands& r) {
  for (size_t i = 0; i < r.axes.size(); ++i) {
    std::string s = fmt::format("{}[{}]", context.in(r.scales), i);
    context.fail_if(fmt::format("!({0} > 0) || {0} > {1}", s, c_literal(1e9, E::F32)));
    context.line(fmt::format("scale[{0}] = (double){1};", r.axes[i], s));
    context.fail_if(fmt::format("(float)own[{}] * {} > {}", r.axes[i], s,
                                c_literal(static_cast<double>(kMaxExtent), E::F32)));
    context.line(fmt::format("size[{0}] = (int64_t)floorf((float)own[{0}] * {1});", r.axes[i], s));
  }
}

void emit_wanted_sizes(EmitContext& context, const ResizeOperands& r, const std::string& policy) {
  for (size_t i = 0; i < r.axes.size(); ++i) {
    context.line(fmt::format("size[{}] = {}[{}];", r.axes[i], context.in(r.sizes), i));
    context.fail_if(fmt::format("size[{0}] < 1 || size[{0}] > {1} || own[{0}] < 1", r.axes[i], kMaxExtent));
    context.line(fmt::format("scale[{0}] = (double)size[{0}] / (double)own[{0}];", r.axes[i]));
  }
  if (policy == "stretch") return;
  context.line(fmt::format("double best = scale[{}];", r.axes[0]));
  for (int64_t d : r.axes) {
    context.line(
        fmt::format("if (scale[{0}] {1} best) best = scale[{0}];", d, policy == "not_larger" ? "<" : ">"));
  }
  for (int64_t d : r.axes) {
    context.line(fmt::format("scale[{0}] = best;", d));
    context.fail_if(fmt::format("best * (double)own[{}] > {}", d, kMaxExtent));
    context.line(
        fmt::format("size[{0}] = (int64_t)floor(best * (double)own[{0}] + {1});", d, c_literal(0.5, E::F64)));
  }
}

void emit_operands(EmitContext& context, const ResizeOperands& r) {
  Texts dims = in_dims(context, 0);
  size_t rank = dims.size();
  declare_list(context, "own", dims);
  declare_list(context, "size", dims, false);
  declare_list(context, "keep", Texts(rank, "1"), false);
  context.line(fmt::format("double scale[{0}];", rank));
  context.line(fmt::format("for (int d = 0; d < {}; ++d) scale[d] = 1;", rank));
  if (r.scales != 0) {
    emit_scales(context, r);
  } else {
    emit_wanted_sizes(context, r, context.node().string_attr("keep_aspect_ratio_policy"));
  }
  if (r.crop) {
    context.line(fmt::format("float begin[{0}], end[{0}];", rank));
    context.line(fmt::format("for (int d = 0; d < {}; ++d) begin[d] = 0, end[d] = 1;", rank));
    for (size_t i = 0; i < r.axes.size(); ++i) {
      context.line(fmt::format("begin[{0}] = (float){1}[{2}], end[{0}] = (float){1}[{3}];", r.axes[i],
                               context.in(1), i, i + r.axes.size()));
      context.fail_if(fmt::format("!(fabsf(begin[{0}]) < {1} && fabsf(end[{0}]) < {1})", r.axes[i],
                                  c_literal(1e6, E::F32)));
    }
  }
  context.open(fmt::format("for (int d = 0; d < {}; ++d)", rank));
  context.line(fmt::format("keep[d] = own[d] == size[d] && scale[d] == 1{};",
                           r.crop ? " && !(begin[d] < 0 || begin[d] > 0 || end[d] < 1 || end[d] > 1)" : ""));
  context.line("bad |= own[d] == 0 && size[d] != 0;");
  context.close();
  context.fail_if("bad");
}

// double pos: where output o of dimension d lies in the input.
void emit_position(EmitContext& context, const ResizeParams& p) {
  auto number = [](double v) { return c_literal(v, E::F32); };
  std::string half = fmt::format("(xo + {0}) / s - {0}", number(0.5));
  bool corners = p.coordinate_mode == "align_corners", crop = p.coordinate_mode == "tf_crop_and_resize";
  context.line("const float xo = (float)o, s = (float)scale[d], n = (float)own[d];");
  if (corners || crop) {
    context.line("const double exact = scale[d] * (double)own[d], whole = (double)size[d];");
    context.line(fmt::format("const float len = (float)(fabs(exact - whole) < {} * whole ? whole : exact);",
                             c_literal(1e-4, E::F64)));
  }
  std::string text = half;
  if (p.coordinate_mode == "asymmetric") text = "xo / s";
  if (p.coordinate_mode == "pytorch_half_pixel") text = fmt::format("size[d] > 1 ? {} : 0", half);
  if (corners) text = "size[d] > 1 ? xo * (n - 1) / (len - 1) : 0";
  if (p.coordinate_mode == "tf_half_pixel_for_nn") text = fmt::format("(xo + {}) / s", number(0.5));
  if (p.coordinate_mode == "half_pixel_symmetric")
    text = fmt::format("n / 2 * (1 - (float)size[d] / (s * n)) + {}", half);
  if (crop) {
    text = fmt::format(
        "size[d] > 1 ? begin[d] * (n - 1) + xo * (end[d] - begin[d]) * (n - 1) / (len - 1) : {} * (begin[d] "
        "+ "
        "end[d]) * (n - 1)",
        number(0.5));
  }
  bool uses_s = text.find(" s") != std::string::npos || text.find("(s") != std::string::npos;
  if (!uses_s) context.line("(void)s;");
  if (text.find('n') == std::string::npos) context.line("(void)n;");
  context.line(fmt::format("const float place = {};", text));
  context.line(crop ? "const double pos = (double)place;"
                    : "const double pos = own[d] == size[d] && scale[d] == 1 ? (double)o : (double)place;");
}

// Row o from the nearest row: of any type.
void emit_nearest(EmitContext& context, const ResizeParams& p) {
  std::string half = c_literal(0.5, E::F64), text = "floor(pos)";
  if (p.nearest_mode == "round_prefer_floor") text = fmt::format("ceil(pos - {})", half);
  if (p.nearest_mode == "round_prefer_ceil") text = fmt::format("floor(pos + {})", half);
  if (p.nearest_mode == "ceil") text = "ceil(pos)";
  if (p.nearest_mode == "ceil_when_shrinking") text = "scale[d] < 1 ? ceil(pos) : floor(pos)";
  context.line(fmt::format("const double near = {};", text));
  context.line("const int64_t i = near > 0 ? near < (double)(own[d] - 1) ? (int64_t)near : own[d] - 1 : 0;");
  context.line("for (int64_t m = 0; m < outer; ++m)");
  context.line(
      "  memcpy(to + (m * size[d] + o) * inner, from + (m * own[d] + i) * inner, (size_t)inner * sizeof "
      "*to);");
}

// double weight of element i.
void emit_kernel(EmitContext& context, const ResizeParams& p, const Filter& filter) {
  auto number = [](double v) { return c_literal(v, E::F64); };
  context.line("const double t = fabs((double)i - pos) * stretch;");
  std::string text = "t < 1 ? 1 - t : 0";
  if (p.mode == "cubic") {
    double a = p.cubic_a;
    text = fmt::format("t < 1 ? ({} * t - {}) * t * t + 1 : t < 2 ? (({} * t - {}) * t + {}) * t - {} : 0",
                       number(a + 2), number(a + 3), number(a), number(5 * a), number(8 * a), number(4 * a));
  }
  if (filter.exclude_outside) text = fmt::format("i < 0 || i >= own[d] ? 0 : {}", text);
  context.line(fmt::format("const double weight = {};", text));
}

// Row o as the weighted sum of the rows in reach; the first round finds the sum of the weights.
void emit_weighted(EmitContext& context, const ResizeParams& p, const Filter& filter, ElementType elem) {
  context.line(filter.antialias ? "const double stretch = scale[d] < 1 ? scale[d] : 1;"
                                : "const double stretch = 1;");
  context.line(fmt::format("const double reach = {} / stretch;", p.mode == "cubic" ? "2" : "1"));
  context.line("const int64_t first = (int64_t)ceil(pos - reach), last = (int64_t)floor(pos + reach);");
  context.line("double sum = 0;");
  context.open("for (int64_t i = first; i <= last; ++i)");
  emit_kernel(context, p, filter);
  context.line("sum += weight;");
  context.close();
  context.line("for (int64_t m = 0; m < outer; ++m)");
  context.line("  for (int64_t k = 0; k < inner; ++k) to[(m * size[d] + o) * inner + k] = 0;");
  context.open("for (int64_t i = first; i <= last; ++i)");
  emit_kernel(context, p, filter);
  context.line(fmt::format("const {0} w = ({0})(sum > 0 || sum < 0 ? weight / sum : 0);", c_type(elem)));
  context.line("const int64_t r = i < 0 ? 0 : i < own[d] ? i : own[d] - 1;");
  context.line("for (int64_t m = 0; m < outer; ++m)");
  context.line(
      "  for (int64_t k = 0; k < inner; ++k) to[(m * size[d] + o) * inner + k] += w * from[(m * own[d] + r) "
      "* "
      "inner + k];");
  context.close();
}

void emit_outside(EmitContext& context, const ResizeParams& p, ElementType elem) {
  context.open("if (pos < 0 || pos > (double)(own[d] - 1))");
  context.line("for (int64_t m = 0; m < outer; ++m)");
  context.line(fmt::format("  for (int64_t k = 0; k < inner; ++k) to[(m * size[d] + o) * inner + k] = {};",
                           c_literal(p.extrapolation, elem)));
  context.close();
}

// Elements of the dimensions [first, last) at most, as a part of a tensor that is not empty.
int64_t most_of(const TensorType& type, size_t first, size_t last) {
  const auto at_dim = [&](size_t d) { return type.shape.begin() + static_cast<ptrdiff_t>(d); };
  const auto count = checked_product(Shape(at_dim(first), at_dim(last)));
  return count ? std::min(*count, type.elements()) : type.elements();
}

// Elements of an intermediate result at most: dimensions [0, d) are still the input's.
int64_t most_between(const TensorType& x, const TensorType& y) {
  int64_t most = 1;
  const size_t rank = x.shape.size();
  for (size_t d = 1; d < rank; ++d)
    most = std::max(most, checked_mul(most_of(x, 0, d), most_of(y, d, rank)).value_or(kMaxElements));
  return most;
}

void emit_passes(EmitContext& context, const ResizeOperands& r, const Filter& filter) {
  ElementType elem = context.in_type(0).elem;
  std::string_view type = c_type(elem);
  size_t rank = context.in_type(0).shape.size();
  int64_t bytes = most_between(context.in_type(0), context.out_type(0)) * byte_size(elem);
  std::string a = context.scratch(bytes), b = context.scratch(bytes);
  context.line(fmt::format("{0} *ready = ({0}*){1}, *spare = ({0}*){2};", type, a, b));
  context.line(fmt::format("const {}* from = {};", type, context.in(0)));
  context.line("int64_t inner = 1, left = 0;");
  context.line(fmt::format("for (int d = 0; d < {}; ++d) left += !keep[d];", rank));
  context.line(fmt::format("if (left == 0) memcpy({0}, from, (size_t)({1}) * sizeof *from);", context.out(0),
                           product_text(elements_of("size", static_cast<int64_t>(rank)))));
  context.open(fmt::format("for (int d = {}; d >= 0; inner *= size[d], --d)", rank - 1));
  context.line("if (keep[d]) continue;");
  context.line(fmt::format("{}* to = --left == 0 ? {} : ready;", type, context.out(0)));
  context.line("int64_t outer = 1;");
  context.line("for (int k = 0; k < d; ++k) outer *= own[k];");
  context.open("for (int64_t o = 0; o < size[d]; ++o)");
  emit_position(context, r.modes);
  r.modes.mode == "nearest" ? emit_nearest(context, r.modes) : emit_weighted(context, r.modes, filter, elem);
  if (r.crop) emit_outside(context, r.modes, elem);
  context.close();
  context.line("from = to;");
  context.line("ready = spare;");
  context.line("spare = to;");
  context.close();
}

}  // namespace

DynamicTypes infer_dynamic_resize(const InferContext& context) {
  MRVLC_ASSIGN(ResizeOperands r, resize_operands(context));
  Dims dims = dims_of(context.type(0));
  for (size_t i = 0; i < r.axes.size(); ++i)
    dims[at(r.axes[i])] = resized(context, r, i, dims[at(r.axes[i])]);
  return std::vector<TensorType>{type_of(context.type(0).elem, dims)};
}

Status emit_dynamic_resize(EmitContext& context) {
  InferContext view = emit_view(context);
  MRVLC_ASSIGN(ResizeOperands r, resize_operands(view));
  if (r.modes.mode != "nearest") MRVLC_TRY(require_widened(context));
  context.line("int bad = 0;");
  emit_operands(context, r);
  context.set_dims(0, elements_of("size", context.in_type(0).rank()));
  emit_passes(context, r, resize_filter(view));
  return {};
}

}  // namespace mrvlc::ops
