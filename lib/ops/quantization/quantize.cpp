// QuantizeLinear: saturate(round_even(x / scale) + zero_point); DequantizeLinear: (x - zero_point) * scale
// (ONNX -25), per tensor, per axis or per block of an axis. Arithmetic in float, like the runtimes whose
// results models were calibrated against, whatever `precision` asks for.
#include <algorithm>
#include <cmath>
#include <limits>

#include "common/convert.h"
#include "common/dynamic_util.h"
#include "common/lanes.h"
#include "mrvlc/ops/quantized.h"
#include "mrvlc/support/diag/ops.h"

namespace mrvlc::ops {
namespace {

using namespace spec;

constexpr TypeSet kIntegerCodes = types_of({E::U8, E::I8, E::U16, E::I16, E::U4, E::I4, E::U2, E::I2});
constexpr TypeSet kFloatCodes = types_of({E::F8E4M3FN, E::F8E4M3FNUZ, E::F8E5M2, E::F8E5M2FNUZ, E::F4E2M1});
constexpr TypeSet kCodes{kIntegerCodes.bits | kFloatCodes.bits};
constexpr TypeSet kScales = types_of({E::F32, E::F16, E::BF16, E::I32, E::F8E8M0});

// Element (o, a, i) of [outer, axis, inner] has scale number 0, a, or (o * groups + a / block) * inner + i.
struct QuantSizes {
  enum class Per : uint8_t { Tensor, Axis, Block } per = Per::Tensor;
  int64_t outer = 1, axis = 1, inner = 1;
  int64_t block = 1, groups = 1;

  int64_t scale_of(int64_t element) const {
    if (per == Per::Tensor) return 0;
    const int64_t a = element / inner % axis;
    if (per == Per::Axis) return a;
    return (element / inner / axis * groups + a / block) * inner + element % inner;
  }
};

Diag mismatch(const TensorType& x, const TensorType& scale, std::string why) {
  return make_diag<DiagCode::MRV0205>(to_string(x.shape), to_string(scale.shape), std::move(why));
}

Status split_blocks(const TensorType& x, const TensorType& scale, int64_t axis, QuantSizes& s) {
  s.per = QuantSizes::Per::Block;
  s.groups = s.axis / s.block + (s.axis % s.block != 0 ? 1 : 0);
  Shape expected = x.shape;
  expected[at(axis)] = s.groups;
  if (scale.shape != expected) return mismatch(x, scale, fmt::format("in blocks of {}", s.block));
  return {};
}

Result<QuantSizes> quant_sizes(const InferContext& context) {
  const TensorType &x = context.type(0), &scale = context.type(1);
  const int64_t block = context.int_attr("block_size");
  if (block < 0 || block > kMaxExtent) return bad_attr("block_size", fmt::format("is {}", block));
  if (context.has(2)) {
    const TensorType& zero = context.type(2);
    if (zero.elements() != scale.elements() || (zero.elements() != 1 && zero.shape != scale.shape))
      return mismatch(scale, zero, "scale and zero point must have one shape");
  }
  QuantSizes s;
  s.outer = x.elements();
  if (scale.elements() == 1 && block == 0) return s;
  MRVLC_ASSIGN(int64_t axis, normalize_axis(context.int_attr("axis"), x.rank()));
  s.axis = x.shape[at(axis)];
  s.outer = element_count(Shape(x.shape.begin(), x.shape.begin() + axis));
  s.inner = element_count(Shape(x.shape.begin() + axis + 1, x.shape.end()));
  s.block = std::max<int64_t>(block, 1);
  if (block != 0) {
    MRVLC_TRY(split_blocks(x, scale, axis, s));
    return s;
  }
  MRVLC_TRY(check_rank(context, 1, 1, 1));
  s.per = QuantSizes::Per::Axis;
  if (scale.shape[0] != s.axis) return mismatch(x, scale, fmt::format("along axis {}", axis));
  return s;
}

// The type an optional attribute names; Undefined is ONNX's 0.
std::optional<ElementType> asked_type(const InferContext& context, std::string_view attr) {
  if (!is_attr_set(context, attr)) return std::nullopt;
  auto asked = std::get<ElementType>(context.attr(attr));
  return asked == E::Undefined ? std::nullopt : std::optional(asked);
}

Result<std::vector<TensorType>> infer_quantize(const InferContext& context) {
  MRVLC_TRY(check_elem(context, 1, kScales));
  ElementType elem = context.has(2) ? context.type(2).elem : E::U8;
  if (auto asked = asked_type(context, "output_dtype")) {
    if (context.has(2) && *asked != elem)
      return bad_attr("output_dtype", "differs from the zero point's type");
    elem = *asked;
  }
  if (!kCodes.has(elem)) return bad_operands(fmt::format("quantisation to {} is not supported", name(elem)));
  if (auto precision = asked_type(context, "precision"); precision && !kScales.has(*precision))
    return bad_attr("precision", fmt::format("is {}", name(*precision)));
  MRVLC_TRY(quant_sizes(context));
  return one_type(elem, context.type(0).shape);
}

Result<std::vector<TensorType>> infer_dequantize(const InferContext& context) {
  MRVLC_TRY(check_elem(context, 1, types_of({E::F32, E::F16, E::BF16, E::F8E8M0})));
  if (context.has(2)) MRVLC_TRY(check_same_elem(context, 2));
  MRVLC_TRY(quant_sizes(context));
  ElementType elem = asked_type(context, "output_dtype").value_or(context.type(1).elem);
  if (!types_of({E::F32, E::F16, E::BF16}).has(elem))
    return bad_attr("output_dtype", fmt::format("makes the result {}", name(elem)));
  return one_type(elem, context.type(0).shape);
}

// To a narrow float. A zero point of float8 is zero (ONNX says so); adding it would lose the sign of -0.
uint8_t quantized_float(float ratio, const Tensor* zero, int64_t at, ElementType elem, bool saturate) {
  if (zero != nullptr && elem == E::F4E2M1) ratio += static_cast<float>(zero->as_double(at));
  return double_to_narrow(static_cast<double>(ratio), elem, saturate);
}

Status eval_quantize(const EvalContext& context) {
  const InferContext view = context.infer_view();
  MRVLC_ASSIGN(QuantSizes s, quant_sizes(view));
  const Tensor &x = context.in(0), *zeros = context.has(2) ? &context.in(2) : nullptr;
  const ElementType elem = context.out().elem();
  const bool saturate = view.int_attr("saturate") != 0;
  const IntRange range = range_of(elem);
  for (int64_t i = 0; i < x.elements(); ++i) {
    const int64_t c = s.scale_of(i);
    auto scale = static_cast<float>(context.in(1).as_double(c)), v = static_cast<float>(x.as_double(i));
    if (kFloatCodes.has(elem)) {
      context.out().mutable_data<uint8_t>()[at(i)] = quantized_float(v / scale, zeros, c, elem, saturate);
    } else {
      context.out().set_int(i, quantized(v, scale, zeros != nullptr ? zeros->as_int(c) : 0, range));
    }
  }
  return {};
}

Status eval_dequantize(const EvalContext& context) {
  MRVLC_ASSIGN(QuantSizes s, quant_sizes(context.infer_view()));
  const Tensor &x = context.in(0), *zeros = context.has(2) ? &context.in(2) : nullptr;
  const bool floats = kFloatCodes.has(x.elem());
  for (int64_t i = 0; i < x.elements(); ++i) {
    const int64_t c = s.scale_of(i);
    auto scale = static_cast<float>(context.in(1).as_double(c));
    auto v = static_cast<float>(
        floats ? x.as_double(i) - (zeros != nullptr ? zeros->as_double(c) : 0)
               : static_cast<double>(x.as_int(i) - (zeros != nullptr ? zeros->as_int(c) : 0)));
    context.out().set_double(i, static_cast<double>(v * scale));
  }
  return {};
}

// -- C

// Sizes as C text: numbers, or names of constants where they are known at run time only.
struct SizeTexts {
  QuantSizes::Per per = QuantSizes::Per::Tensor;
  std::string outer = "1", axis = "1", inner = "1", groups = "1";
  int64_t block = 1;
};

bool is_one_scale(const InferContext& view) {
  return view.type(1).is_static() && view.type(1).elements() == 1 && view.int_attr("block_size") == 0;
}

// Scale and zero point must have the sizes that quant_sizes asks for.
void check_scales(EmitContext& context, const SizeTexts& s, size_t axis) {
  Texts x = in_dims(context, 0), scale = in_dims(context, 1);
  for (size_t d = 0; d < scale.size(); ++d) {
    bool block = s.per == QuantSizes::Per::Block;
    std::string expected = block && d == axis ? s.groups : block ? x[d] : x[axis];
    require_equal(context, scale[d], expected);
    if (context.has(2)) require_equal(context, in_dims(context, 2)[d], scale[d]);
  }
}

Result<SizeTexts> sizes_of(EmitContext& context) {
  const InferContext view = emit_view(context);
  SizeTexts s;
  if (is_one_scale(view)) {
    s.outer = named_size(context, "count", product_text(in_dims(context, 0)));
    return s;
  }
  MRVLC_ASSIGN(int64_t axis, axis_attr(context));
  const int64_t block = view.int_attr("block_size");
  s.per = block != 0 ? QuantSizes::Per::Block : QuantSizes::Per::Axis;
  MRVLC_TRY(check_rank(view, 1, block != 0 ? view.type(0).rank() : 1, block != 0 ? view.type(0).rank() : 1));
  if (context.has(2)) MRVLC_TRY(check_rank(view, 2, view.type(1).rank(), view.type(1).rank()));
  s.block = std::max<int64_t>(block, 1);
  AxisText lanes(context, 0, axis);
  s.outer = lanes.outer, s.axis = lanes.n, s.inner = lanes.inner;
  s.groups = quotient(plus(s.axis, s.block - 1), s.block);
  check_scales(context, s, at(axis));
  return s;
}

// Loops around elements x[i], y[i] of a run with one scale and one zero point, left open; how many.
struct Run {
  int loops = 0;
  bool dequantize = false;
};

std::string_view zero_type(const EmitContext& context, const Run& run) {
  const ElementType code = run.dequantize ? context.in_type(0).elem : context.out_type(0).elem;
  if (kFloatCodes.has(code)) return "float";
  return run.dequantize && byte_size(code) == 4 ? "int64_t" : "int32_t";
}

void declare_scale(EmitContext& context, const Run& run, std::string_view index) {
  const ElementType scale = context.in_type(1).elem;
  std::string value = decoded_text(context, fmt::format("{}[{}]", context.in(1), index), scale);
  context.line(fmt::format("const float scale = {}{};", scale == E::I32 ? "(float)" : "", value));
  std::string_view type = zero_type(context, run);
  std::string zero = "0";
  if (context.has(2)) {
    zero = fmt::format(
        "({}){}", type,
        decoded_text(context, fmt::format("{}[{}]", context.in(2), index), context.in_type(2).elem));
  }
  context.line(fmt::format("const {} zero = {};", type, zero));
}

void open_run(EmitContext& context, const SizeTexts& s, Run& run) {
  const std::string& n = s.per == QuantSizes::Per::Tensor ? s.outer : s.inner;
  if (s.per == QuantSizes::Per::Tensor) {
    declare_scale(context, run, "0");
    context.line(fmt::format("const {}* x = {};", c_type(context.in_type(0).elem), context.in(0)));
    context.line(fmt::format("{}* y = {};", c_type(context.out_type(0).elem), context.out(0)));
    open_loop(context, "i", n);
    run.loops = 1;
    return;
  }
  open_loop(context, "o", s.outer);
  open_loop(context, "a", s.axis);
  if (s.per == QuantSizes::Per::Axis) declare_scale(context, run, "a");
  context.line(fmt::format("const ptrdiff_t base = (o * {} + a) * {};", s.axis, n));
  context.line(fmt::format("const {}* x = {} + base;", c_type(context.in_type(0).elem), context.in(0)));
  context.line(fmt::format("{}* y = {} + base;", c_type(context.out_type(0).elem), context.out(0)));
  open_loop(context, "i", n);
  if (s.per == QuantSizes::Per::Block)
    declare_scale(context, run, fmt::format("(o * ({}) + a / {}) * {} + i", s.groups, s.block, s.inner));
  run.loops = 3;
}

void close_run(EmitContext& context, const Run& run) {
  for (int i = 0; i < run.loops; ++i) context.close();
}

Status check_widened(const EmitContext& context) {
  MRVLC_TRY(require_widened(context, 0));
  return require_widened(context, 1);
}

// Adding and subtracting 1.5 * 2^23 rounds to nearest even for magnitudes below 2^22: the clamp comes first.
void store_integer(EmitContext& context, ElementType elem) {
  const IntRange range = range_of(elem);
  context.line(
      fmt::format("const float low = (float)({} - zero), high = (float)({} - zero);", range.low, range.high));
  context.line("v = v > low ? v : low;");
  context.line("v = v < high ? v : high;");
  context.line("v = (v + 12582912.0f) - 12582912.0f;");
  context.line(fmt::format("y[i] = ({})((int32_t)v + zero);", c_type(elem)));
}

void emit_codes(EmitContext& context, const SizeTexts& s) {
  const InferContext view = emit_view(context);
  const ElementType elem = context.out_type(0).elem;
  Run run;
  open_run(context, s, run);
  context.line("float v = (float)x[i] / scale;");
  if (!kFloatCodes.has(elem)) {
    store_integer(context, elem);
  } else {
    const CastMode mode{view.int_attr("saturate") != 0, ScaleRounding::Up};
    context.line(elem == E::F4E2M1 ? "v += zero;" : "(void)zero;");
    context.line(fmt::format("y[i] = {};", encoded_text(context, "v", E::F32, elem, mode)));
  }
  close_run(context, run);
}

void emit_values(EmitContext& context, const SizeTexts& s) {
  Run run{0, true};
  open_run(context, s, run);
  context.line(fmt::format("y[i] = (float)({} - zero) * scale;",
                           decoded_text(context, "x[i]", context.in_type(0).elem)));
  close_run(context, run);
}

template <auto Emit>
Status emit(EmitContext& context) {
  MRVLC_TRY(check_widened(context));
  set_same_dims(context);
  if (context.out_type(0).elements() == 0) return {};
  MRVLC_ASSIGN(SizeTexts s, sizes_of(context));
  Emit(context, s);
  return {};
}

std::vector<ir::AttrSpec> quant_attrs() {
  return {with_int("axis", 1), with_int("block_size", 0), optional("output_dtype", ir::AttrKind::Type)};
}

}  // namespace

const OpDef& def_QuantizeLinear() {
  static const OpDef def = [] {
    OpDef d;
    d.name = "QuantizeLinear";
    d.traits = {.work = Work::Linear, .rounds = true, .quantised = true};
    d.since_min = 10;
    d.attrs = quant_attrs();
    d.attrs.push_back(optional("precision", ir::AttrKind::Type));
    d.attrs.push_back(with_int("saturate", 1));
    d.min_inputs = 2;
    d.max_inputs = 3;
    d.types = types_of({E::F32, E::F16, E::BF16, E::I32});
    d.infer = infer_quantize;
    d.eval = eval_quantize;
    d.emit = d.emit_dynamic = emit<emit_codes>;
    d.accel = {LayerKind::Elementwise};
    return d;
  }();
  return def;
}

const OpDef& def_DequantizeLinear() {
  static const OpDef def = [] {
    OpDef d;
    d.name = "DequantizeLinear";
    d.traits = {.work = Work::Linear, .quantised = true};
    d.since_min = 10;
    d.attrs = quant_attrs();
    d.min_inputs = 2;
    d.max_inputs = 3;
    d.types = TypeSet{kCodes.bits | types_of({E::I32}).bits};
    d.infer = infer_dequantize;
    d.eval = eval_dequantize;
    d.emit = d.emit_dynamic = emit<emit_values>;
    d.accel = {LayerKind::Dequantize};
    return d;
  }();
  return def;
}

}  // namespace mrvlc::ops
