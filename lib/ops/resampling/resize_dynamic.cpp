// Resize and Upsample of sizes that are known at run time only: one pass over the data for every dimension
// that changes, whose positions and weights are computed on the way, by the formulas of params/resize.cpp.
#include <algorithm>
#include <cmath>

#include "common/dynamic_facets.h"
#include "mrvlc/ops/op_kind.h"
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
  if (r.modes.mode != "nearest") MRVLC_TRY(check_elem(context, 0, kResampled));
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

// -- C. own[], size[], scale[] and, to crop, begin[] and end[] hold what resize_params finds; up[] and down[]
// are ResizeParams::ratio.

// Products of two sizes and 2 fit in int64_t; positions of larger ones are computed in double.
constexpr int64_t kMostExact = int64_t{1} << 30;

void emit_scales(EmitContext& context, const ResizeOperands& r) {
  for (size_t i = 0; i < r.axes.size(); ++i) {
    std::string s = fmt::format("{}[{}]", context.in(r.scales), i);
    context.fail_if(fmt::format("!({0} > 0) || {0} > {1}", s, c_literal(1e9, E::F32)));
    context.line(fmt::format("scale[{0}] = (double){1};", r.axes[i], s));
    context.fail_if(fmt::format("(float)own[{}] * {} > {}", r.axes[i], s,
                                c_literal(static_cast<double>(kMaxExtent), E::F32)));
    context.line(fmt::format("size[{0}] = (int64_t)floorf((float)own[{0}] * {1});", r.axes[i], s));
    if (r.crop) continue;
    context.open(fmt::format("if (size[{0}] > 0 && own[{0}] > 0 && size[{0}] <= {1} && own[{0}] <= {1})",
                             r.axes[i], kMostExact));
    context.line(fmt::format("const float q = (float)((double)size[{0}] / (double)own[{0}]);", r.axes[i]));
    context.line(
        fmt::format("if ({1} >= nextafterf(q, 0) && {1} <= nextafterf(q, INFINITY)) up[{0}] = size[{0}], "
                    "down[{0}] = own[{0}];",
                    r.axes[i], s));
    context.close();
  }
}

void emit_wanted_sizes(EmitContext& context, const ResizeOperands& r, const std::string& policy) {
  for (size_t i = 0; i < r.axes.size(); ++i) {
    context.line(fmt::format("size[{}] = {}[{}];", r.axes[i], context.in(r.sizes), i));
    context.fail_if(fmt::format("size[{0}] < 1 || size[{0}] > {1} || own[{0}] < 1", r.axes[i], kMaxExtent));
    context.line(fmt::format("scale[{0}] = (double)size[{0}] / (double)own[{0}];", r.axes[i]));
  }
  const size_t first = at(r.axes.empty() ? 0 : r.axes[0]);
  if (policy != "stretch" && !r.axes.empty()) {
    context.line(fmt::format("int best = {};", first));
    for (int64_t d : r.axes) {
      context.line(
          fmt::format("if (scale[{0}] {1} scale[best]) best = {0};", d, policy == "not_larger" ? "<" : ">"));
    }
    context.line("const double one_scale = scale[best];");
    context.line("const int64_t one_up = size[best], one_down = own[best];");
    for (int64_t d : r.axes) {
      context.line(fmt::format("scale[{0}] = one_scale;", d));
      context.fail_if(fmt::format("one_scale * (double)own[{}] > {}", d, kMaxExtent));
      if (!r.crop) context.line(fmt::format("up[{0}] = one_up, down[{0}] = one_down;", d));
      context.fail_if(fmt::format("one_up > {0} || one_down > {0} || own[{1}] > {0}", kMostExact, d));
      context.line(fmt::format("size[{0}] = (2 * one_up * own[{0}] + one_down) / (2 * one_down);", d));
    }
    return;
  }
  for (int64_t d : r.axes) {
    if (r.crop) break;
    context.line(
        fmt::format("if (size[{0}] <= {1} && own[{0}] <= {1}) up[{0}] = size[{0}], down[{0}] = own[{0}];", d,
                    kMostExact));
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
  if (!r.crop) {
    context.line(fmt::format("int64_t up[{0}], down[{0}];", rank));
    context.line(fmt::format("for (int d = 0; d < {}; ++d) up[d] = down[d] = 0;", rank));
  }
  if (r.scales != 0) {
    emit_scales(context, r);
  } else {
    emit_wanted_sizes(context, r, context.node().string_attr("keep_aspect_ratio_policy"));
  }
  if (r.crop) {
    context.line(fmt::format("double begin[{0}], end[{0}];", rank));
    context.line(fmt::format("for (int d = 0; d < {}; ++d) begin[d] = 0, end[d] = 1;", rank));
    for (size_t i = 0; i < r.axes.size(); ++i) {
      context.line(fmt::format("begin[{0}] = (double){1}[{2}], end[{0}] = (double){1}[{3}];", r.axes[i],
                               context.in(1), i, i + r.axes.size()));
      context.fail_if(fmt::format("!(fabs(begin[{0}]) < {1} && fabs(end[{0}]) < {1})", r.axes[i],
                                  c_literal(1e6, E::F64)));
    }
  }
  context.open(fmt::format("for (int d = 0; d < {}; ++d)", rank));
  context.line(fmt::format("keep[d] = own[d] == size[d] && scale[d] == 1{};",
                           r.crop ? " && !(begin[d] < 0 || begin[d] > 0 || end[d] < 1 || end[d] > 1)" : ""));
  context.line("bad |= own[d] == 0 && size[d] != 0;");
  context.close();
  context.fail_if("bad");
}

// Where output o of dimension d lies in the input, in double, by the scale.
std::string rounded_place(const ResizeParams& p) {
  const std::string half = "(xo + 0.5) / s - 0.5", &mode = p.coordinate_mode;
  if (mode == "asymmetric") return "xo / s";
  if (mode == "pytorch_half_pixel") return fmt::format("size[d] > 1 ? {} : 0", half);
  if (mode == "align_corners") return "size[d] > 1 ? xo * (n - 1) / (len - 1) : 0";
  if (mode == "tf_half_pixel_for_nn") return "(xo + 0.5) / s";
  if (mode == "half_pixel_symmetric")
    return fmt::format("n / 2 * (1 - (double)size[d] / (s * n)) + {}", half);
  if (mode != "tf_crop_and_resize") return half;
  return "size[d] > 1 ? begin[d] * (n - 1) + xo * (end[d] - begin[d]) * (n - 1) / (len - 1) : 0.5 * "
         "(begin[d] "
         "+ end[d]) * (n - 1)";
}

// double place: rounded_place.
void emit_place(EmitContext& context, const ResizeParams& p) {
  const std::string text = rounded_place(p);
  auto reads = [&](const char* word) { return text.find(word) != std::string::npos; };
  context.line("const double xo = (double)o;");
  if (reads(" s") || reads("(s")) context.line("const double s = scale[d];");
  if (reads("(n") || reads("n /")) context.line("const double n = (double)own[d];");
  if (reads("len")) {
    context.line("const double part = scale[d] * (double)own[d], whole = (double)size[d];");
    context.line(fmt::format("const double len = fabs(part - whole) < {} * whole ? whole : part;",
                             c_literal(1e-4, E::F64)));
  }
  context.line(fmt::format("const double place = {};", text));
}

// The same as a fraction t / u for a scale of up / down: params/resize.cpp, exact_position.
std::pair<std::string, std::string> exact_place(const ResizeParams& p) {
  const std::string half = "(2 * o + 1) * down[d] - up[d]", &mode = p.coordinate_mode;
  if (mode == "asymmetric") return {"o * down[d]", "up[d]"};
  if (mode == "tf_half_pixel_for_nn") return {"(2 * o + 1) * down[d]", "2 * up[d]"};
  if (mode == "pytorch_half_pixel") return {fmt::format("size[d] > 1 ? {} : 0", half), "2 * up[d]"};
  if (mode == "half_pixel_symmetric") return {half + " + own[d] * up[d] - size[d] * down[d]", "2 * up[d]"};
  if (mode == "align_corners") return {"size[d] > 1 ? o * (own[d] - 1) : 0", "size[d] > 1 ? size[d] - 1 : 1"};
  return {half, "2 * up[d]"};
}

// int exact: is the place t / u? Where corners are aligned only if the size is no rounded one.
void emit_exact(EmitContext& context, const ResizeParams& p) {
  const auto [t, u] = exact_place(p);
  context.line(p.coordinate_mode == "align_corners"
                   ? "const int exact = up[d] == size[d] && down[d] == own[d];"
                   : "const int exact = up[d] > 0;");
  context.line(fmt::format("const int64_t t = exact ? {} : 0, u = exact ? {} : 1;",
                           t.find('?') == std::string::npos ? t : "(" + t + ")",
                           u.find('?') == std::string::npos ? u : "(" + u + ")"));
}

// double pos: where output o of dimension d lies in the input.
void emit_position(EmitContext& context, const ResizeParams& p) {
  emit_place(context, p);
  if (p.coordinate_mode == "tf_crop_and_resize") return context.line("const double pos = place;");
  emit_exact(context, p);
  context.line("const int64_t low = t / u - (t % u < 0);");
  context.line("const double pos = exact ? (double)low + (double)(t - low * u) / (double)u : place;");
}

// Row o from the nearest row: of any type.
void emit_nearest(EmitContext& context, const ResizeParams& p) {
  const bool crop = p.coordinate_mode == "tf_crop_and_resize";
  // Of a place as a number; and of t / u as the floor of a / b, or as its negative.
  std::string text = "floor(place)", a = "t", b = "u", negative = "0";
  if (p.nearest_mode == "round_prefer_floor")
    text = "ceil(place - 0.5)", a = "u - 2 * t", b = "2 * u", negative = "1";
  if (p.nearest_mode == "round_prefer_ceil") text = "floor(place + 0.5)", a = "2 * t + u", b = "2 * u";
  if (p.nearest_mode == "ceil") text = "ceil(place)", a = "-t", negative = "1";
  if (p.nearest_mode == "ceil_when_shrinking")
    text = "scale[d] < 1 ? ceil(place) : floor(place)", a = "scale[d] < 1 ? -t : t",
    negative = "scale[d] < 1";
  emit_place(context, p);
  if (!crop) emit_exact(context, p);
  context.line(fmt::format("double near = {};", text));
  if (!crop) {
    context.open("if (exact)");
    context.line(fmt::format("const int64_t a = {}, b = {}, q = a / b - (a % b < 0);", a, b));
    context.line(negative == "0"   ? "near = (double)q;"
                 : negative == "1" ? "near = (double)-q;"
                                   : fmt::format("near = (double)({} ? -q : q);", negative));
    context.close();
  } else {
    context.line("const double pos = place;");
  }
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

// The buffers that passes read and write in turn; integers are computed in double, from a copy.
void emit_buffers(EmitContext& context, ElementType elem, ElementType computed) {
  const TensorType &x = context.in_type(0), &y = context.out_type(0);
  const bool wide = elem != computed;
  std::string_view type = c_type(computed);
  int64_t elements = most_between(x, y);
  if (wide) elements = std::max({elements, x.elements(), y.elements()});
  const int64_t bytes = elements * byte_size(computed);
  const std::string a = context.scratch(bytes), b = context.scratch(bytes);
  context.line(fmt::format("{0} *ready = ({0}*){1}, *spare = ({0}*){2};", type, a, b));
  if (!wide) return context.line(fmt::format("const {}* from = {};", type, context.in(0)));
  const std::string c = context.scratch(x.elements() * byte_size(computed));
  const std::string count = product_text(elements_of("own", x.rank()));
  context.line(fmt::format("double* copied = (double*){};", c));
  context.line(fmt::format("const int64_t of_x = {};", count));
  context.line(fmt::format("for (int64_t i = 0; i < of_x; ++i) copied[i] = (double){}[i];", context.in(0)));
  context.line("const double* from = copied;");
}

void emit_passes(EmitContext& context, const ResizeOperands& r, const Filter& filter) {
  const ElementType elem = context.in_type(0).elem;
  const bool wide = r.modes.mode != "nearest" && !is_float(elem);
  const ElementType computed = wide ? ElementType::F64 : elem;
  std::string_view type = c_type(computed);
  size_t rank = context.in_type(0).shape.size();
  const std::string count = product_text(elements_of("size", static_cast<int64_t>(rank)));
  emit_buffers(context, elem, computed);
  context.line("int64_t inner = 1;");
  if (!wide) {
    context.line("int64_t left = 0;");
    context.line(fmt::format("for (int d = 0; d < {}; ++d) left += !keep[d];", rank));
    context.line(fmt::format("if (left == 0) memcpy({0}, from, (size_t)({1}) * sizeof *from);",
                             context.out(0), count));
  }
  context.open(fmt::format("for (int d = {}; d >= 0; inner *= size[d], --d)", rank - 1));
  context.line("if (keep[d]) continue;");
  context.line(wide ? std::string("double* to = ready;")
                    : fmt::format("{}* to = --left == 0 ? {} : ready;", type, context.out(0)));
  context.line("int64_t outer = 1;");
  context.line("for (int k = 0; k < d; ++k) outer *= own[k];");
  context.open("for (int64_t o = 0; o < size[d]; ++o)");
  if (r.modes.mode == "nearest") {
    emit_nearest(context, r.modes);
  } else {
    emit_position(context, r.modes);
    emit_weighted(context, r.modes, filter, computed);
  }
  if (r.crop) emit_outside(context, r.modes, computed);
  context.close();
  context.line("from = to;");
  context.line("ready = spare;");
  context.line("spare = to;");
  context.close();
  if (!wide) return;
  context.line(fmt::format("const int64_t of_y = {};", count));
  emit_truncated(context, "from", context.out(0), "of_y", elem);
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
