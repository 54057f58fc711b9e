// QuantizeLinear: saturate(round_even(x / scale) + zero_point); DequantizeLinear: (x - zero_point) * scale
// (ONNX -21), per tensor or per axis. Arithmetic in float, like the runtimes whose results models were
// calibrated against.
#include <algorithm>
#include <cmath>
#include <limits>

#include "emit_util.h"
#include "mrvlc/support/diag/ops.h"
#include "quantized.h"

namespace mrvlc::ops {
namespace {

using namespace spec;

constexpr TypeSet kQuantised = types_of({E::U8, E::I8, E::U16, E::I16});
constexpr std::string_view kAbsorbed = "it becomes part of the layers around it";

struct QuantSizes {
  int64_t outer = 1, dim = 1, inner = 1;  // one scale for each of `dim`
};

Result<QuantSizes> quant_sizes(const InferContext& context) {
  const TensorType &x = context.type(0), &scale = context.type(1);
  if (context.int_attr("block_size") != 0)
    return bad_attr("block_size", "is set; blocked quantisation is not supported");
  if (context.has(2) && context.type(2).elements() != scale.elements()) {
    return make_diag<DiagCode::MRV0205>(to_string(scale.shape), to_string(context.type(2).shape),
                                        "scale and zero point must have one shape");
  }
  QuantSizes s;
  s.outer = x.elements();
  if (scale.elements() == 1) return s;
  MRVLC_TRY(check_rank(context, 1, 1, 1));
  MRVLC_ASSIGN(int64_t axis, normalize_axis(context.int_attr("axis"), x.rank()));
  s.dim = x.shape[at(axis)];
  if (scale.shape[0] != s.dim) {
    return make_diag<DiagCode::MRV0205>(to_string(x.shape), to_string(scale.shape),
                                        fmt::format("along axis {}", axis));
  }
  s.outer = element_count(Shape(x.shape.begin(), x.shape.begin() + axis));
  s.inner = element_count(Shape(x.shape.begin() + axis + 1, x.shape.end()));
  return s;
}

Result<std::vector<TensorType>> infer_quantize(const InferContext& context) {
  MRVLC_TRY(check_elem(context, 1, types_of({E::F32, E::F16, E::BF16})));
  ElementType elem = context.has(2) ? context.type(2).elem : E::U8;
  if (is_attr_set(context, "output_dtype")) {
    auto asked = std::get<ElementType>(context.attr("output_dtype"));
    if (asked != E::Undefined) {
      if (context.has(2) && asked != elem)
        return bad_attr("output_dtype", "differs from the zero point's type");
      elem = asked;
    }
  }
  if (!kQuantised.has(elem))
    return bad_operands(fmt::format("quantisation to {} is not supported", name(elem)));
  MRVLC_TRY(quant_sizes(context));
  return one_type(elem, context.type(0).shape);
}

Result<std::vector<TensorType>> infer_dequantize(const InferContext& context) {
  MRVLC_TRY(check_elem(context, 1, types_of({E::F32, E::F16, E::BF16})));
  if (context.has(2)) MRVLC_TRY(check_same_elem(context, 2));
  MRVLC_TRY(quant_sizes(context));
  return one_type(context.type(1).elem, context.type(0).shape);
}

IntRange range_of(ElementType elem) {
  switch (elem) {
    case E::I8:
      return {-128, 127};
    case E::U8:
      return {0, 255};
    case E::I16:
      return {-32768, 32767};
    default:
      return {0, 65535};
  }
}

Status eval_quantize(const EvalContext& context) {
  MRVLC_ASSIGN(QuantSizes s, quant_sizes(context.infer_view()));
  const Tensor& x = context.in(0);
  IntRange range = range_of(context.out().elem());
  for (int64_t i = 0; i < x.elements(); ++i) {
    int64_t c = i / s.inner % s.dim, zero = context.has(2) ? context.in(2).as_int(c) : 0;
    auto scale = static_cast<float>(context.in(1).as_double(c));
    context.out().set_int(i, quantized(static_cast<float>(x.as_double(i)), scale, zero, range));
  }
  return {};
}

Status eval_dequantize(const EvalContext& context) {
  MRVLC_ASSIGN(QuantSizes s, quant_sizes(context.infer_view()));
  const Tensor& x = context.in(0);
  for (int64_t i = 0; i < x.elements(); ++i) {
    int64_t c = i / s.inner % s.dim, zero = context.has(2) ? context.in(2).as_int(c) : 0;
    auto scale = static_cast<float>(context.in(1).as_double(c));
    context.out().set_double(i, static_cast<double>(static_cast<float>(x.as_int(i) - zero) * scale));
  }
  return {};
}

// Loops with `c` the channel; leaves the innermost loop open at element i.
void open_elements(EmitContext& context, const QuantSizes& s, bool dequantize) {
  context.loop("o", s.inner == 1 && s.dim == 1 ? 1 : s.outer);
  context.loop("c", s.dim);
  context.line(fmt::format("const float scale = {}[c];", context.in(1)));
  bool small = byte_size(context.in_type(0).elem) < 4;
  std::string_view zero_type = dequantize && !small ? "int64_t" : "int32_t";
  std::string zero = context.has(2) ? fmt::format("({}){}[c]", zero_type, context.in(2)) : "0";
  context.line(fmt::format("const {} zero = {};", zero_type, zero));
  int64_t run = s.inner == 1 && s.dim == 1 ? s.outer : s.inner;
  context.line(fmt::format("const ptrdiff_t base = (o * {} + c) * {};", s.dim, run));
  context.line(fmt::format("const {}* x = {} + base;", c_type(context.in_type(0).elem), context.in(0)));
  context.line(fmt::format("{}* y = {} + base;", c_type(context.out_type(0).elem), context.out(0)));
}

void close_elements(EmitContext& context) {
  for (int i = 0; i < 3; ++i) context.close();
}

Status check_emit(const EmitContext& context) {
  MRVLC_TRY(require_widened(context, 0));
  return require_widened(context, 1);
}

// Adding and subtracting 1.5 * 2^23 rounds to nearest even for magnitudes below 2^22: the clamp comes first.
Status emit_quantize(EmitContext& context) {
  MRVLC_TRY(check_emit(context));
  MRVLC_ASSIGN(QuantSizes s, quant_sizes(emit_view(context)));
  if (context.out_type(0).elements() == 0) return {};
  ElementType elem = context.out_type(0).elem;
  IntRange range = range_of(elem);
  open_elements(context, s, false);
  context.line(
      fmt::format("const float low = (float)({} - zero), high = (float)({} - zero);", range.low, range.high));
  context.loop("i", s.inner == 1 && s.dim == 1 ? s.outer : s.inner);
  context.line("float v = (float)x[i] / scale;");
  context.line("v = v > low ? v : low;");
  context.line("v = v < high ? v : high;");
  context.line("v = (v + 12582912.0f) - 12582912.0f;");
  context.line(fmt::format("y[i] = ({})((int32_t)v + zero);", c_type(elem)));
  close_elements(context);
  return {};
}

Status emit_dequantize(EmitContext& context) {
  MRVLC_TRY(check_emit(context));
  MRVLC_ASSIGN(QuantSizes s, quant_sizes(emit_view(context)));
  if (context.out_type(0).elements() == 0) return {};
  open_elements(context, s, true);
  context.loop("i", s.inner == 1 && s.dim == 1 ? s.outer : s.inner);
  context.line("y[i] = (float)(x[i] - zero) * scale;");
  close_elements(context);
  return {};
}

std::vector<ir::AttrSpec> quant_attrs() {
  return {with_int("axis", 1), with_int("block_size", 0)};
}

}  // namespace

const OpDef& def_QuantizeLinear() {
  static const OpDef def = [] {
    OpDef d;
    d.name = "QuantizeLinear";
    d.since_min = 10;
    d.attrs = quant_attrs();
    d.attrs.push_back(optional("output_dtype", ir::AttrKind::Type));
    d.attrs.push_back(with_int("saturate", 1));
    d.min_inputs = 2;
    d.max_inputs = 3;
    d.types = types_of({E::F32, E::F16, E::BF16, E::I32});
    d.infer = infer_quantize;
    d.eval = eval_quantize;
    d.emit = emit_quantize;
    d.declined = kAbsorbed;
    return d;
  }();
  return def;
}

const OpDef& def_DequantizeLinear() {
  static const OpDef def = [] {
    OpDef d;
    d.name = "DequantizeLinear";
    d.since_min = 10;
    d.attrs = quant_attrs();
    d.min_inputs = 2;
    d.max_inputs = 3;
    d.types = types_of({E::U8, E::I8, E::U16, E::I16, E::I32});
    d.infer = infer_dequantize;
    d.eval = eval_dequantize;
    d.emit = emit_dequantize;
    d.declined = kAbsorbed;
    return d;
  }();
  return def;
}

}  // namespace mrvlc::ops
