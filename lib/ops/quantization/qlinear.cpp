// QLinearConv (ONNX -10) and QLinearMatMul (ONNX -21) on 8-bit integers, and the latter on float8:
//   y = saturate(round_even((sum (a - za) (b - zb) + bias) * (sa * sb / sy)) + zy)
// The products are those of ConvInteger and MatMulInteger; the scales are multiplied and applied in float. To
// a float8 the product is rounded at once, and its zero point is zero (as QuantizeLinear's).
#include "common/convert.h"
#include "common/dynamic_util.h"
#include "common/emit_util.h"
#include "macs.h"
#include "mrvlc/ops/op_kind.h"
#include "mrvlc/ops/quantized.h"
#include "mrvlc/support/diag/ops.h"
#include "window/conv_dynamic.h"
#include "window/window_attrs.h"

namespace mrvlc::ops {
namespace {

using namespace spec;

using enum QlinearInput::Position;
constexpr IntegerProduct kProduct{{kA, kZeroA}, {kB, kZeroB}};
constexpr TypeSet kByteCodes{kBytes.bits | kFloatCodes.bits};
constexpr IntegerProduct kMatrices{{kA, kZeroA}, {kB, kZeroB}, kByteCodes};

// Scales go with the zero points of their operands: of A and Y one a row, of B one a column or channel.
Status check_scales(const InferContext& context, int64_t rows, int64_t columns, TypeSet codes) {
  MRVLC_TRY(check_elem(context, kZeroY, codes));
  for (size_t i : {kScaleA, kScaleB, kScaleY}) {
    MRVLC_TRY(check_elem(context, i, types_of({E::F32, E::F16, E::BF16})));
    MRVLC_TRY(check_one_or_each(context, i, kA, i == kScaleB ? columns : rows));
  }
  return check_one_or_each(context, kZeroY, kA, rows);
}

Result<ConvParams> conv_of(const InferContext& context) {
  MRVLC_ASSIGN(ConvParams p, integer_conv_params(context, kProduct));
  MRVLC_TRY(check_scales(context, 1, p.out_channels, kBytes));
  if (!context.has(kBias)) return p;
  MRVLC_TRY(check_elem(context, kBias, types_of({E::I32})));
  if (context.type(kBias).shape == Shape{p.out_channels}) return p;
  return make_diag<DiagCode::MRV0205>(to_string(context.type(kB).shape), to_string(context.type(kBias).shape),
                                      "the bias must have one element a channel");
}

Result<MatMulShape> matmul_of(const InferContext& context) {
  MRVLC_ASSIGN(MatMulShape s, integer_matmul_shape(context, kMatrices));
  MRVLC_TRY(check_scales(context, s.m, s.n, kByteCodes));
  return s;
}

Result<std::vector<TensorType>> infer_conv(const InferContext& context) {
  MRVLC_ASSIGN(ConvParams p, conv_of(context));
  Shape shape{p.batch, p.out_channels};
  shape.insert(shape.end(), p.output.begin(), p.output.end());
  return one_type(context.type(kZeroY).elem, std::move(shape));
}

Result<std::vector<TensorType>> infer_matmul(const InferContext& context) {
  MRVLC_ASSIGN(MatMulShape s, matmul_of(context));
  return one_type(context.type(kZeroY).elem, s.result);
}

// Element k of an operand that is one number or one for each k.
double element(const Tensor& tensor, int64_t k) {
  return tensor.as_double(tensor.elements() == 1 ? 0 : k);
}

// Output element i, in row `row` and column (or channel) `column`, of its sum.
void requantize(const EvalContext& context, int64_t i, float sum, int64_t row, int64_t column) {
  auto scale_at = [&](size_t input, int64_t k) { return static_cast<float>(element(context.in(input), k)); };
  const float scale = scale_at(kScaleA, row) * scale_at(kScaleB, column) / scale_at(kScaleY, row);
  if (kFloatCodes.has(context.out().elem()))
    return context.out().set_double(i, static_cast<double>(sum * scale));
  const auto zero = static_cast<int64_t>(element(context.in(kZeroY), row));
  context.out().set_int(i, quantized(sum * scale, 1.0f, zero, range_of(context.out().elem())));
}

Status eval_conv(const EvalContext& context) {
  MRVLC_ASSIGN(ConvParams p, conv_of(context.infer_view()));
  const Tensor sums = eval_integer_conv(context, p, kProduct);
  const int64_t positions = element_count(p.output);
  for (int64_t i = 0; i < sums.elements(); ++i) {
    const int64_t channel = i / positions % p.out_channels;
    const int64_t bias = context.has(kBias) ? context.in(kBias).as_int(channel) : 0;
    const auto sum = static_cast<int32_t>(static_cast<uint32_t>(sums.as_int(i) + bias));
    requantize(context, i, static_cast<float>(sum), 0, channel);
  }
  return {};
}

Status eval_matmul(const EvalContext& context) {
  MRVLC_ASSIGN(MatMulShape s, matmul_of(context.infer_view()));
  const Tensor sums = eval_integer_matmul(context, s, kMatrices);
  for (int64_t i = 0; i < sums.elements(); ++i)
    requantize(context, i, static_cast<float>(sums.as_double(i)), i / s.n % s.m, i % s.n);
  return {};
}

// C texts of the scales and the zero point of one output element.
struct ScaleTexts {
  std::string a, b, y, zero;
};

ScaleTexts scale_texts(EmitContext& context, std::string_view row, const std::string& rows,
                       std::string_view column, const std::string& columns) {
  return {one_or_each(context, kScaleA, row, rows), one_or_each(context, kScaleB, column, columns),
          one_or_each(context, kScaleY, row, rows), one_or_each(context, kZeroY, row, rows)};
}

// Adding and subtracting 1.5 * 2^23 rounds to nearest even for magnitudes below 2^22: the clamp comes first.
void emit_requantize(EmitContext& context, const std::string& index, const ScaleTexts& texts,
                     std::string_view sum) {
  const ElementType elem = context.out_type(0).elem;
  context.line(fmt::format("const float scale = {} * {} / {};", texts.a, texts.b, texts.y));
  context.line(fmt::format("float v = (float){} * scale;", sum));
  if (kFloatCodes.has(elem)) {
    context.line(
        fmt::format("{}[{}] = {};", context.out(0), index, encoded_text(context, "v", E::F32, elem)));
    return;
  }
  const IntRange range = range_of(elem);
  context.line(fmt::format("const int32_t zy = {};", texts.zero));
  context.line(
      fmt::format("const float low = (float)({} - zy), high = (float)({} - zy);", range.low, range.high));
  context.line("v = v > low ? v : low;");
  context.line("v = v < high ? v : high;");
  context.line("v = (v + 12582912.0f) - 12582912.0f;");
  context.line(fmt::format("{}[{}] = ({})((int32_t)v + zy);", context.out(0), index, c_type(elem)));
}

StoreSum store_conv(EmitContext& context, const ScaleTexts& texts) {
  return [&context, texts](const std::string& index) {
    if (context.has(kBias)) context.line(fmt::format("sum += (uint32_t){}[m];", context.in(kBias)));
    emit_requantize(context, index, texts, "(int32_t)sum");
  };
}

StoreSum store_matmul(EmitContext& context, const ScaleTexts& texts) {
  const std::string_view sum = zero_type(context, kMatrices) == "double" ? "sum" : "(int32_t)sum";
  return [&context, texts, sum](const std::string& index) { emit_requantize(context, index, texts, sum); };
}

Status check_scale_types(const EmitContext& context) {
  for (size_t i : {kScaleA, kScaleB, kScaleY}) MRVLC_TRY(require_widened(context, i));
  return {};
}

Status emit_conv(EmitContext& context) {
  MRVLC_TRY(check_scale_types(context));
  MRVLC_ASSIGN(ConvParams p, conv_of(emit_view(context)));
  const std::string channels = fmt::format("{}", p.out_channels);
  emit_integer_conv(context, p, kProduct, store_conv(context, scale_texts(context, "0", "1", "m", channels)));
  return {};
}

Status emit_dynamic_qlinear_conv(EmitContext& context) {
  MRVLC_TRY(check_scale_types(context));
  const std::string channels = context.in_dim(kB, 0);
  if (context.has(kBias)) require_equal(context, context.in_dim(kBias, 0), channels);
  return emit_dynamic_integer_product(
      context, kProduct, [&] { return store_conv(context, scale_texts(context, "0", "1", "m", channels)); });
}

Status emit_matmul(EmitContext& context) {
  MRVLC_TRY(check_scale_types(context));
  const MatMulText s(context, kA, kB);
  return emit_integer_matmul(context, s, kMatrices,
                             store_matmul(context, scale_texts(context, "i", s.m, "j", s.n)));
}

OpDef qlinear(std::string_view name, int max_inputs) {
  OpDef d;
  d.name = name;
  d.since_min = 10;
  d.min_inputs = 8;
  d.max_inputs = max_inputs;
  d.types = kBytes;
  return d;
}

}  // namespace

Result<IntegerConvParams> integer_conv_params(const ir::Graph& graph, const ir::Node& node) {
  const InferContext context = infer_context(graph, node);
  const bool plain = node.is(Op::ConvInteger);
  const IntegerProduct& product = plain ? kConvInteger : kProduct;
  MRVLC_ASSIGN(ConvParams p, plain ? integer_conv_params(context, product) : conv_of(context));
  return IntegerConvParams{std::move(p), product.a.data, product.a.zero, product.b.data, product.b.zero};
}

const OpDef& def_QLinearConv() {
  static const OpDef def = [] {
    OpDef d = qlinear("QLinearConv", 9);
    d.macs = qlinear_conv_macs;
    d.attrs = conv_attrs();
    d.infer = infer_conv;
    d.eval = eval_conv;
    d.emit = emit_conv;
    d.emit_dynamic = emit_dynamic_qlinear_conv;
    d.traits = {.work = Work::Windows, .quantised = true, .by_channel = true};
    d.accel = {LayerKind::QlinearConv};
    d.declined = {};
    return d;
  }();
  return def;
}

const OpDef& def_QLinearMatMul() {
  static const OpDef def = [] {
    OpDef d = qlinear("QLinearMatMul", 8);
    d.declined = "accelerator: products of integers are those of QLinearConv";
    d.macs = matmul_macs;
    d.types = kByteCodes;
    d.infer = infer_matmul;
    d.eval = eval_matmul;
    d.emit = d.emit_dynamic = emit_matmul;
    d.traits = {.work = Work::Product, .quantised = true};
    return d;
  }();
  return def;
}

}  // namespace mrvlc::ops
