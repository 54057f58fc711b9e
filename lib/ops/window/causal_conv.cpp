// CausalConvWithState (ONNX -27): a depthwise convolution over time that sees the last k - 1 elements of what
// came before: y[t] = activation(bias + sum_j w[j] * s[t + j]) with s the state followed by the input, whose
// last k - 1 elements are the next state.
#include <cmath>

#include "common/emit_util.h"
#include "macs.h"
#include "mrvlc/support/diag/ops.h"
#include "product/ref_gemm.h"

namespace mrvlc::ops {
namespace {

using namespace spec;

enum Input : size_t { kX, kW, kBias, kPast };

struct CausalParams {
  int64_t batch = 0, channels = 0, length = 0, taps = 0;
  bool silu = false;
  int64_t state() const { return taps - 1; }
};

Status check_shape(const InferContext& context, size_t i, const Shape& expected) {
  if (!context.has(i)) return {};
  MRVLC_TRY(check_same_elem(context, i));
  if (context.type(i).shape == expected) return {};
  return make_diag<DiagCode::MRV0205>(to_string(expected), to_string(context.type(i).shape),
                                      fmt::format("input {} must have the first", i));
}

Result<CausalParams> causal_params(const InferContext& context) {
  MRVLC_TRY(check_rank(context, kX, 3, 3));
  MRVLC_TRY(check_rank(context, kW, 3, 3));
  const Shape& x = context.type(kX).shape;
  CausalParams p{x[0], x[1], x[2], context.type(kW).shape[2], false};
  if (p.taps < 1 || p.taps > kMaxExtent) return bad_operands("the kernel is empty or too large");
  MRVLC_TRY(check_shape(context, kW, {p.channels, 1, p.taps}));
  MRVLC_TRY(check_shape(context, kBias, {p.channels}));
  MRVLC_TRY(check_shape(context, kPast, {p.batch, p.channels, p.state()}));
  const std::string& activation = context.string_attr("activation");
  p.silu = activation == "silu" || activation == "swish";
  if (!p.silu && activation != "none")
    return bad_attr("activation", fmt::format("has the unknown value '{}'", printable(activation)));
  return p;
}

Result<std::vector<TensorType>> infer_causal(const InferContext& context) {
  MRVLC_ASSIGN(CausalParams p, causal_params(context));
  std::vector<TensorType> types{context.type(kX)};
  if (context.num_outputs > 1) types.push_back({types[0].elem, {p.batch, p.channels, p.state()}});
  return types;
}

Status eval_causal(const EvalContext& context) {
  MRVLC_ASSIGN(CausalParams p, causal_params(context.infer_view()));
  std::vector<double> s(at(p.state() + p.length)), w(at(p.taps)), y(at(p.length));
  for (int64_t row = 0; row < p.batch * p.channels; ++row) {
    const int64_t channel = row % p.channels;
    std::fill_n(s.begin(), p.state(), 0.0);
    if (context.has(kPast)) load_doubles(context.in(kPast), row * p.state(), p.state(), s.data());
    load_doubles(context.in(kX), row * p.length, p.length, s.data() + p.state());
    load_doubles(context.in(kW), channel * p.taps, p.taps, w.data());
    const double bias = context.has(kBias) ? context.in(kBias).as_double(channel) : 0;
    for (int64_t t = 0; t < p.length; ++t) {
      double sum = bias;
      for (int64_t j = 0; j < p.taps; ++j) sum += w[at(j)] * s[at(t + j)];
      y[at(t)] = p.silu ? sum / (1 + std::exp(-sum)) : sum;
    }
    store_doubles(context.out(), row * p.length, p.length, y.data());
    if (context.outputs->size() > 1)
      store_doubles(context.out(1), row * p.state(), p.state(), s.data() + p.length);
  }
  return {};
}

// Element `index` of the state followed by the input, both rows of the dynamic loop.
std::string element(const EmitContext& context, const CausalParams& p, std::string_view index) {
  if (p.state() == 0) return fmt::format("x[{}]", index);
  return fmt::format("({0}) < {1} ? {2} : x[({0}) - {1}]", index, p.state(),
                     context.has(kPast) ? fmt::format("past[{}]", index) : std::string("0"));
}

Status emit_causal(EmitContext& context) {
  MRVLC_TRY(require_widened(context));
  MRVLC_ASSIGN(CausalParams p, causal_params(emit_view(context)));
  const ElementType elem = context.in_type(kX).elem;
  const std::string_view t = c_type(elem), f = elem == E::F64 ? "" : "f";
  const bool keeps = context.node().outputs.size() > 1 && p.state() > 0;
  if (p.batch * p.channels == 0) return {};
  context.loop("row", p.batch * p.channels);
  context.line(fmt::format("const {}* x = {} + row * {};", t, context.in(kX), p.length));
  if (context.has(kPast) && p.state() > 0)
    context.line(fmt::format("const {}* past = {} + row * {};", t, context.in(kPast), p.state()));
  context.line(fmt::format("const {}* w = {} + row % {} * {};", t, context.in(kW), p.channels, p.taps));
  context.loop("t", p.length);
  context.line(
      fmt::format("{} sum = {};", t,
                  context.has(kBias) ? fmt::format("{}[row % {}]", context.in(kBias), p.channels) : "0"));
  context.line(fmt::format("for (ptrdiff_t j = 0; j < {}; ++j) sum += w[j] * ({});", p.taps,
                           element(context, p, "t + j")));
  context.line(fmt::format("{}[row * {} + t] = {};", context.out(0), p.length,
                           p.silu ? fmt::format("sum / (1 + exp{}(-sum))", f) : "sum"));
  context.close();
  if (keeps) {
    context.line(fmt::format("for (ptrdiff_t j = 0; j < {0}; ++j) {1}[row * {0} + j] = {2};", p.state(),
                             context.out(1), element(context, p, fmt::format("j + {}", p.length))));
  }
  context.close();
  return {};
}

}  // namespace

const OpDef& def_CausalConvWithState() {
  static const OpDef def = [] {
    OpDef d;
    d.name = "CausalConvWithState";
    d.macs = conv_macs;
    d.since_min = 27;
    d.attrs = {with_string("activation", "none")};
    d.min_inputs = 2;
    d.max_inputs = 4;
    d.max_outputs = 2;
    d.types = kFloats;
    d.infer = infer_causal;
    d.eval = eval_causal;
    d.emit = emit_causal;
    d.declined = "accelerator: the state between calls lives on the host";
    return d;
  }();
  return def;
}

}  // namespace mrvlc::ops
