// DynamicQuantizeLinear (ONNX -11): scale and zero point from the range of the data, zero included, then
// QuantizeLinear to uint8. Data that are all zero have the scale 1.
#include <algorithm>

#include "common/dynamic_util.h"
#include "common/lanes.h"
#include "mrvlc/ops/quantized.h"

namespace mrvlc::ops {
namespace {

using namespace spec;

constexpr IntRange kByte{0, 255};

Result<std::vector<TensorType>> infer_dynamic_quantize(const InferContext& context) {
  return std::vector<TensorType>{{E::U8, context.type(0).shape}, {E::F32, {}}, {E::U8, {}}};
}

Status eval_dynamic_quantize(const EvalContext& context) {
  const auto x = context.in(0).data<float>();
  float low = 0, high = 0;
  for (float v : x) {
    low = std::min(low, v);
    high = std::max(high, v);
  }
  const float scale = low == high ? 1.0f : (high - low) / 255.0f;
  const int64_t zero = quantized(-low, scale, 0, kByte);
  auto y = context.out(0).mutable_data<uint8_t>();
  for (size_t i = 0; i < x.size(); ++i) y[i] = static_cast<uint8_t>(quantized(x[i], scale, zero, kByte));
  if (context.outputs->size() > 1) context.out(1).set_double(0, static_cast<double>(scale));
  if (context.outputs->size() > 2) context.out(2).set_int(0, zero);
  return {};
}

// Clamped to [low, high] first, so that adding and subtracting 1.5 * 2^23 rounds to nearest even; NaN becomes
// low.
void emit_rounded(EmitContext& context, std::string_view v, std::string_view value, std::string_view low,
                  std::string_view high) {
  context.line(fmt::format("float {} = {};", v, value));
  context.line(fmt::format("{0} = {0} > {1} ? {0} : {1};", v, low));
  context.line(fmt::format("{0} = {0} < {1} ? {0} : {1};", v, high));
  context.line(fmt::format("{0} = ({0} + 12582912.0f) - 12582912.0f;", v));
}

Status emit_dynamic_quantize(EmitContext& context) {
  set_same_dims(context);
  for (size_t i = 1; i < context.node().outputs.size(); ++i) context.set_dims(i, {});
  const std::string n = named_size(context, "count", product_text(in_dims(context, 0)));
  const std::string x = context.in(0);
  context.line("float low = 0.0f, high = 0.0f;");
  open_loop(context, "i", n);
  context.line(fmt::format("low = {0}[i] < low ? {0}[i] : low;", x));
  context.line(fmt::format("high = {0}[i] > high ? {0}[i] : high;", x));
  context.close();
  context.line("const float scale = high > low ? (high - low) / 255.0f : 1.0f;");
  emit_rounded(context, "z", "-low / scale", "0.0f", "255.0f");
  context.line("const int32_t zero = (int32_t)z;");
  context.line("const float first = (float)(0 - zero), last = (float)(255 - zero);");
  open_loop(context, "i", n);
  emit_rounded(context, "v", x + "[i] / scale", "first", "last");
  context.line(fmt::format("{}[i] = (uint8_t)((int32_t)v + zero);", context.out(0)));
  context.close();
  if (context.node().outputs.size() > 1) context.line(fmt::format("{}[0] = scale;", context.out(1)));
  if (context.node().outputs.size() > 2) context.line(fmt::format("{}[0] = (uint8_t)zero;", context.out(2)));
  return {};
}

}  // namespace

const OpDef& def_DynamicQuantizeLinear() {
  static const OpDef def = [] {
    OpDef d;
    d.name = "DynamicQuantizeLinear";
    d.traits = {.work = Work::Linear, .rounds = true, .quantised = true};
    d.since_min = 11;
    d.max_outputs = 3;
    d.types = types_of({E::F32});
    d.infer = infer_dynamic_quantize;
    d.eval = eval_dynamic_quantize;
    d.emit = d.emit_dynamic = emit_dynamic_quantize;
    d.declined = "accelerator: the scale is known at run time only";
    return d;
  }();
  return def;
}

}  // namespace mrvlc::ops
