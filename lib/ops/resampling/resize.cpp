// Resize (ONNX Resize-19) and Upsample (-9, asymmetric coordinates, floor).
#include <algorithm>
#include <cmath>

#include "common/convert.h"
#include "common/dynamic_facets.h"
#include "common/mapped_copy.h"
#include "common/strided_copy.h"
#include "mrvlc/support/saturating.h"
#include "product/ref_gemm.h"
#include "resampling/resample.h"

namespace mrvlc::ops {
namespace {

using namespace spec;

// Resize-10: inputs X, scales; asymmetric coordinates; nearest takes the next pixel when shrinking.
Status upgrade_resize(RawNode& node) {
  if (node.opset >= 11) return {};
  if (node.inputs.size() == 2) node.inputs.insert(node.inputs.begin() + 1, -1);
  node.attrs.emplace_back("coordinate_transformation_mode", ir::Attr(std::string("asymmetric")));
  node.attrs.emplace_back("nearest_mode", ir::Attr(std::string("ceil_when_shrinking")));
  return {};
}

// Upsample-7: the scales are an attribute.
Status upgrade_upsample(RawNode& node) {
  ir::Attr scales = node.take("scales");
  if (!ir::is_set(scales)) return {};
  const auto* values = std::get_if<std::vector<float>>(&scales);
  if (values == nullptr) return bad_attr("scales", "must be a list of numbers");
  node.add_constant_input(1, Tensor::of(ElementType::F32, {static_cast<int64_t>(values->size())}, *values));
  return {};
}

Result<std::vector<TensorType>> infer_resize(const InferContext& context) {
  MRVLC_TRY(check_rank(context, 0, 1));
  MRVLC_ASSIGN(ResizeParams p, resize_params(context));
  if (p.mode != "nearest") MRVLC_TRY(check_elem(context, 0, kResampled));
  for (size_t d = 0; d < p.output.size(); ++d) {
    if (context.type(0).shape[d] == 0 && p.output[d] != 0)
      return bad_operands("an empty dimension cannot grow");
  }
  return one_type(context.type(0).elem, p.output);
}

// Before there is any table: those of nearest are of all dimensions, passes leave out what stays.
Status check_tables(const InferContext& context, const ResizeParams& p) {
  const Filter filter = resize_filter(context);
  std::vector<int64_t> entries;
  for (size_t d = 0; d < p.output.size(); ++d) {
    if (p.mode != "nearest" && p.is_identity(d, context.type(0).shape[d])) continue;
    entries.push_back(saturating_mul(p.output[d], tap_count(p, d, filter)));
  }
  return check_table_sizes(entries);
}

// One interpolation along dimension d of data seen as [outer, in, inner].
struct Pass {
  AxisTaps taps;
  int64_t outer = 1, in = 1, out = 1, inner = 1;
};

std::vector<Pass> passes(const InferContext& context, const ResizeParams& p) {
  Filter filter = resize_filter(context);
  Shape shape = context.type(0).shape;
  std::vector<Pass> list;
  for (size_t d = shape.size(); d-- > 0;) {
    if (keeps_dimension(p, d, shape[d])) continue;
    Pass pass{axis_taps(p, d, shape[d], filter), 1, shape[d], p.output[d], 1};
    auto middle = shape.begin() + static_cast<ptrdiff_t>(d);
    pass.outer = element_count(Shape(shape.begin(), middle));
    pass.inner = element_count(Shape(middle + 1, shape.end()));
    list.push_back(std::move(pass));
    shape[d] = p.output[d];
  }
  return list;
}

MappedCopy nearest_copy(const Shape& in, const ResizeParams& p) {
  MappedCopy copy{in, {}};
  for (size_t d = 0; d < in.size(); ++d) copy.from.push_back(nearest_table(p, d, in[d]));
  return copy;
}

std::vector<double> run_pass(const Pass& p, const std::vector<double>& in) {
  std::vector<double> out(at(p.outer * p.out * p.inner));
  for (int64_t row = 0; row < p.outer * p.out; ++row) {
    for (int64_t t = 0; t < p.taps.taps; ++t) {
      size_t tap = at(row % p.out * p.taps.taps + t);
      const double* from = in.data() + (row / p.out * p.in + p.taps.index[tap]) * p.inner;
      for (int64_t i = 0; i < p.inner; ++i) out[at(row * p.inner + i)] += p.taps.weight[tap] * from[i];
    }
  }
  return out;
}

// f(outer count, inner count, size of the dimension, its outputs outside) for every dimension that has such
// outputs.
template <class F>
void for_outside(const Shape& in, const ResizeParams& p, F f) {
  for (size_t d = 0; d < in.size(); ++d) {
    auto outside = outside_outputs(p, d, in[d]);
    if (outside.empty()) continue;
    auto middle = p.output.begin() + static_cast<ptrdiff_t>(d);
    f(element_count(Shape(p.output.begin(), middle)), element_count(Shape(middle + 1, p.output.end())),
      p.output[d], outside);
  }
}

void extrapolate(const Shape& in, const ResizeParams& p, Tensor& y) {
  for_outside(in, p, [&](int64_t outer, int64_t inner, int64_t size, const std::vector<int64_t>& outside) {
    for (int64_t n = 0; n < outer; ++n) {
      for (int64_t o : outside) {
        for (int64_t i = 0; i < inner; ++i) y.set_double((n * size + o) * inner + i, p.extrapolation);
      }
    }
  });
}

Status eval_resize(const EvalContext& context) {
  InferContext view = context.infer_view();
  MRVLC_ASSIGN(ResizeParams p, resize_params(view));
  const Tensor& x = context.in(0);
  Tensor& y = context.out();
  if (y.elements() == 0) return {};
  MRVLC_TRY(check_tables(view, p));
  if (p.mode == "nearest") {
    run_mapped_copy(nearest_copy(x.shape(), p), x, y);
  } else {
    std::vector<double> data(at(x.elements()));
    load_doubles(x, 0, x.elements(), data.data());
    for (const Pass& pass : passes(view, p)) data = run_pass(pass, data);
    if (!is_float(x.elem())) {
      const IntegerRange range = integer_range(x.elem());
      for (double& v : data)
        v = std::clamp(std::trunc(v + std::copysign(kTruncationSlack, v)), range.low, range.past - 1);
    }
    store_doubles(y, 0, y.elements(), data.data());
  }
  extrapolate(x.shape(), p, y);
  return {};
}

// Row o of a pass with many taps.
void emit_wide_row(EmitContext& context, const Pass& p, const std::string& index, const std::string& weight,
                   ElementType elem) {
  context.line(fmt::format("for (ptrdiff_t i = 0; i < {0}; ++i) to[o * {0} + i] = 0;", p.inner));
  context.loop("t", p.taps.taps);
  context.line(fmt::format("const {} w = {}[o * {} + t];", c_type(elem), weight, p.taps.taps));
  context.line(
      fmt::format("const {}* r = from + {}[o * {} + t] * {};", c_type(elem), index, p.taps.taps, p.inner));
  context.line(fmt::format("for (ptrdiff_t i = 0; i < {0}; ++i) to[o * {0} + i] += w * r[i];", p.inner));
  context.close();
}

// to[o] = sum of weight * from[index]: along rows when there is an inner dimension, else element by element.
void emit_pass(EmitContext& context, const Pass& p, const std::string& in, const std::string& out,
               ElementType elem) {
  int64_t taps = p.taps.taps, entries = static_cast<int64_t>(p.taps.index.size());
  std::string index = context.table(Tensor::of(ElementType::I64, {entries}, p.taps.index));
  std::string weight = context.table(Tensor::of(elem, {entries}, p.taps.weight)), sum;
  context.loop("n", p.outer);
  context.line(fmt::format("const {}* from = {} + n * {};", c_type(elem), in, p.in * p.inner));
  context.line(fmt::format("{}* to = {} + n * {};", c_type(elem), out, p.out * p.inner));
  context.loop("o", p.out);
  if (taps > 4) {
    emit_wide_row(context, p, index, weight, elem);
    context.close();
    context.close();
    return;
  }
  for (int64_t t = 0; t < taps; ++t) {
    context.line(fmt::format("const {} w{} = {}[o * {} + {}];", c_type(elem), t, weight, taps, t));
    context.line(fmt::format("const {0}* r{1} = from + {2}[o * {3} + {1}] * {4};", c_type(elem), t, index,
                             taps, p.inner));
    sum += fmt::format("{}w{} * r{}[i]", t == 0 ? "" : " + ", t, t);
  }
  context.line(fmt::format("for (ptrdiff_t i = 0; i < {}; ++i) to[o * {} + i] = {};", p.inner, p.inner, sum));
  context.close();
  context.close();
}

// From the elements at `from` to the results at `last`.
void emit_passes(EmitContext& context, const std::vector<Pass>& list, ElementType elem, std::string from,
                 const std::string& last) {
  for (size_t i = 0; i < list.size(); ++i) {
    std::string to = last;
    if (i + 1 < list.size()) {
      int64_t elements = list[i].outer * list[i].out * list[i].inner;
      to = fmt::format("t{}", i);
      context.line(fmt::format("{0}* {1} = ({0}*){2};", c_type(elem), to,
                               context.scratch(elements * byte_size(elem))));
    }
    emit_pass(context, list[i], from, to, elem);
    from = to;
  }
}

void emit_extrapolation(EmitContext& context, const ResizeParams& p, const TensorType& x) {
  std::string value = c_literal(p.extrapolation, x.elem);
  for_outside(
      x.shape, p, [&](int64_t outer, int64_t inner, int64_t size, const std::vector<int64_t>& outside) {
        auto count = static_cast<int64_t>(outside.size());
        std::string table = context.table(Tensor::of(ElementType::I64, {count}, outside));
        context.loop("n", outer);
        context.loop("k", count);
        context.line(fmt::format("for (ptrdiff_t i = 0; i < {}; ++i) {}[(n * {} + {}[k]) * {} + i] = {};",
                                 inner, context.out(0), size, table, inner, value));
        context.close();
        context.close();
      });
}

// Integers in double: a copy of the operand, the passes, and the results truncated.
void emit_integers(EmitContext& context, const std::vector<Pass>& list, ElementType elem) {
  const int64_t from = context.in_type(0).elements(), to = context.out_type(0).elements();
  const int64_t size = byte_size(ElementType::F64);
  context.line(fmt::format("double* wide = (double*){};", context.scratch(from * size)));
  context.line(fmt::format("double* sums = (double*){};", context.scratch(to * size)));
  context.line(
      fmt::format("for (ptrdiff_t i = 0; i < {}; ++i) wide[i] = (double){}[i];", from, context.in(0)));
  emit_passes(context, list, ElementType::F64, "wide", "sums");
  emit_truncated(context, "sums", context.out(0), fmt::format("{}", to), elem);
}

Status emit_resize(EmitContext& context) {
  InferContext view = emit_view(context);
  MRVLC_ASSIGN(ResizeParams p, resize_params(view));
  const TensorType& x = context.in_type(0);
  if (context.out_type(0).elements() == 0) return {};
  MRVLC_TRY(check_tables(view, p));
  if (p.mode == "nearest") {
    emit_mapped_copy(context, nearest_copy(x.shape, p));
  } else {
    MRVLC_TRY(require_widened(context));
    auto list = passes(view, p);
    if (list.empty()) {
      emit_copy(context, plain_copy(x.shape), context.in(0), context.out(0), x.elem);
    } else if (is_float(x.elem)) {
      emit_passes(context, list, x.elem, context.in(0), context.out(0));
    } else {
      emit_integers(context, list, x.elem);
    }
  }
  emit_extrapolation(context, p, x);
  return {};
}

}  // namespace

const OpDef& def_Resize() {
  static const OpDef def = [] {
    OpDef d;
    d.name = "Resize";
    d.traits = {.work = Work::Resampled, .passes_size_on = true};
    d.since_min = 10;
    d.attrs = {with_int("antialias", 0),
               optional("axes", ir::AttrKind::Ints),
               with_string("coordinate_transformation_mode", "half_pixel"),
               with_float("cubic_coeff_a", -0.75f),
               with_int("exclude_outside", 0),
               with_float("extrapolation_value", 0),
               with_string("keep_aspect_ratio_policy", "stretch"),
               with_string("mode", "nearest"),
               with_string("nearest_mode", "round_prefer_floor")};
    d.min_inputs = 1;
    d.max_inputs = 4;
    d.types = kOrdinary;
    d.upgrade = upgrade_resize;
    d.infer = infer_resize;
    d.eval = eval_resize;
    d.emit = emit_resize;
    d.infer_dynamic = infer_dynamic_resize;
    d.emit_dynamic = emit_dynamic_resize;
    d.accel = {LayerKind::Resize};
    return d;
  }();
  return def;
}

const OpDef& def_Upsample() {
  static const OpDef def = [] {
    OpDef d;
    d.name = "Upsample";
    d.traits = {.work = Work::Resampled, .passes_size_on = true};
    d.since_min = 7;
    d.since_max = 9;  // deprecated afterwards
    d.attrs = {with_string("mode", "nearest")};
    d.min_inputs = d.max_inputs = 2;
    d.types = kOrdinary;
    d.upgrade = upgrade_upsample;
    d.infer = infer_resize;
    d.eval = eval_resize;
    d.emit = emit_resize;
    d.infer_dynamic = infer_dynamic_resize;
    d.emit_dynamic = emit_dynamic_resize;
    d.accel = {LayerKind::Resize};
    return d;
  }();
  return def;
}

}  // namespace mrvlc::ops
