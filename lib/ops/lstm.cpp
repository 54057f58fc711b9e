// LSTM (ONNX -22), gates in the order input, output, forget, cell; S the sigmoid:
//   i = S(x Wi + h Ri + Pi * c + Bi)   f = S(x Wf + h Rf + Pf * c + Bf)   g = tanh(x Wg + h Rg + Bg)
//   c' = f * c + i * g                 o = S(x Wo + h Ro + Po * c' + Bo)   h' = o * tanh(c')
#include <algorithm>
#include <cmath>

#include "emit_util.h"
#include "mrvlc/support/diag/ops.h"
#include "ref_gemm.h"

namespace mrvlc::ops {
namespace {

using namespace spec;

enum Input : size_t { kX, kW, kR, kB, kLengths, kInitialH, kInitialC, kPeepholes };

struct LstmParams {
  int64_t steps = 0, batch = 0, input = 0, hidden = 0, directions = 1;
  bool batch_first = false, reverse = false;  // `reverse`: the first direction runs backwards

  bool backwards(int64_t d) const { return reverse || d == 1; }
  // Row of X of a step; row of Y of a step and direction; row of the states.
  int64_t x_row(int64_t t, int64_t b) const { return batch_first ? b * steps + t : t * batch + b; }
  int64_t y_row(int64_t t, int64_t d, int64_t b) const {
    return batch_first ? (b * steps + t) * directions + d : (t * directions + d) * batch + b;
  }
  int64_t state_row(int64_t d, int64_t b) const { return batch_first ? b * directions + d : d * batch + b; }
};

Status check_variant(const InferContext& context, const LstmParams& p) {
  static constexpr std::string_view kDefault[] = {"sigmoid", "tanh", "tanh"};
  if (is_attr_set(context, "activations")) {
    const auto& names = std::get<std::vector<std::string>>(context.attr("activations"));
    bool usual = names.size() == static_cast<size_t>(3 * p.directions);
    for (size_t i = 0; usual && i < names.size(); ++i) {
      std::string lower = names[i];
      for (char& c : lower) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
      usual = lower == kDefault[i % 3];
    }
    if (!usual) return bad_attr("activations", "is not Sigmoid, Tanh, Tanh for each direction");
  }
  if (is_attr_set(context, "clip")) return bad_attr("clip", "is set; clipped gates are not supported");
  if (context.int_attr("input_forget") != 0)
    return bad_attr("input_forget", "is set; coupled gates are not supported");
  return {};
}

// Sequences may have lengths when all are the whole.
Status check_lengths(const InferContext& context, const LstmParams& p) {
  if (!context.has(kLengths)) return {};
  const Tensor* lengths = context.constant(kLengths);
  if (lengths == nullptr)
    return make_diag<DiagCode::MRV0207>(fmt::format("{} (sequence_lens)", size_t{kLengths}));
  for (int64_t i = 0; i < lengths->elements(); ++i) {
    if (lengths->elem() != E::I32 || lengths->elements() != p.batch || lengths->as_int(i) != p.steps)
      return bad_operands("sequences of different lengths are not supported");
  }
  return {};
}

Status check_shape(const InferContext& context, size_t i, const Shape& expected) {
  if (!context.has(i)) return {};
  MRVLC_TRY(check_same_elem(context, i));
  if (context.type(i).shape == expected) return {};
  return make_diag<DiagCode::MRV0205>(to_string(expected), to_string(context.type(i).shape),
                                      fmt::format("input {} must have the first", i));
}

Result<LstmParams> lstm_params(const InferContext& context) {
  MRVLC_TRY(check_rank(context, kX, 3, 3));
  MRVLC_TRY(check_rank(context, kR, 3, 3));
  LstmParams p;
  const std::string& direction = context.string_attr("direction");
  if (direction != "forward" && direction != "reverse" && direction != "bidirectional")
    return bad_attr("direction", fmt::format("has the unknown value '{}'", printable(direction)));
  p.reverse = direction == "reverse";
  p.directions = direction == "bidirectional" ? 2 : 1;
  p.batch_first = context.int_attr("layout") != 0;
  const Shape& x = context.type(kX).shape;
  p.steps = x[p.batch_first ? 1 : 0];
  p.batch = x[p.batch_first ? 0 : 1];
  p.input = x[2];
  p.hidden = context.type(kR).shape[2];
  if (p.hidden < 1 || p.hidden > kMaxExtent / 8) return bad_operands("the hidden size is out of range");
  if (is_attr_set(context, "hidden_size") && context.int_attr("hidden_size") != p.hidden)
    return bad_attr("hidden_size", fmt::format("differs from the {} of the recurrent weights", p.hidden));
  MRVLC_TRY(check_variant(context, p));
  MRVLC_TRY(check_lengths(context, p));
  MRVLC_TRY(check_shape(context, kW, {p.directions, 4 * p.hidden, p.input}));
  MRVLC_TRY(check_shape(context, kR, {p.directions, 4 * p.hidden, p.hidden}));
  MRVLC_TRY(check_shape(context, kB, {p.directions, 8 * p.hidden}));
  MRVLC_TRY(check_shape(context, kPeepholes, {p.directions, 3 * p.hidden}));
  Shape state =
      p.batch_first ? Shape{p.batch, p.directions, p.hidden} : Shape{p.directions, p.batch, p.hidden};
  MRVLC_TRY(check_shape(context, kInitialH, state));
  MRVLC_TRY(check_shape(context, kInitialC, state));
  return p;
}

Result<std::vector<TensorType>> infer_lstm(const InferContext& context) {
  MRVLC_ASSIGN(LstmParams p, lstm_params(context));
  const ElementType elem = context.type(kX).elem;
  Shape y = p.batch_first ? Shape{p.batch, p.steps, p.directions, p.hidden}
                          : Shape{p.steps, p.directions, p.batch, p.hidden};
  Shape state =
      p.batch_first ? Shape{p.batch, p.directions, p.hidden} : Shape{p.directions, p.batch, p.hidden};
  return std::vector<TensorType>{{elem, y}, {elem, state}, {elem, state}};
}

double sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}

// One direction: its weights, and the state of one sequence.
struct Direction {
  std::vector<double> w, r, b, peepholes, h, c, gates, x;
};

// Elements [first, first + count) of an optional input; zeros when it is absent.
std::vector<double> part(const EvalContext& context, size_t i, int64_t first, int64_t count) {
  std::vector<double> out(at(count), 0.0);
  if (context.has(i)) load_doubles(context.in(i), first, count, out.data());
  return out;
}

void step(const LstmParams& p, Direction& d) {
  const size_t n = at(p.hidden);
  for (size_t k = 0; k < 4 * n; ++k) d.gates[k] = d.b[k] + d.b[4 * n + k];
  ref_gemm(4 * p.hidden, 1, p.input, d.w.data(), p.input, d.x.data(), 1, d.gates.data(), 1);
  ref_gemm(4 * p.hidden, 1, p.hidden, d.r.data(), p.hidden, d.h.data(), 1, d.gates.data(), 1);
  for (size_t j = 0; j < n; ++j) {
    double in = sigmoid(d.gates[j] + d.peepholes[j] * d.c[j]);
    double forget = sigmoid(d.gates[2 * n + j] + d.peepholes[2 * n + j] * d.c[j]);
    d.c[j] = forget * d.c[j] + in * std::tanh(d.gates[3 * n + j]);
    d.h[j] = sigmoid(d.gates[n + j] + d.peepholes[n + j] * d.c[j]) * std::tanh(d.c[j]);
  }
}

void run_sequence(const EvalContext& context, const LstmParams& p, int64_t d, int64_t b, Direction& weights) {
  const int64_t n = p.hidden, state = p.state_row(d, b) * n;
  weights.h = part(context, kInitialH, state, n);
  weights.c = part(context, kInitialC, state, n);
  for (int64_t i = 0; i < p.steps; ++i) {
    int64_t t = p.backwards(d) ? p.steps - 1 - i : i;
    weights.x = part(context, kX, p.x_row(t, b) * p.input, p.input);
    step(p, weights);
    store_doubles(context.out(0), p.y_row(t, d, b) * n, n, weights.h.data());
  }
  if (context.outputs->size() > 1) store_doubles(context.out(1), state, n, weights.h.data());
  if (context.outputs->size() > 2) store_doubles(context.out(2), state, n, weights.c.data());
}

Status eval_lstm(const EvalContext& context) {
  MRVLC_ASSIGN(LstmParams p, lstm_params(context.infer_view()));
  const int64_t n = p.hidden;
  for (int64_t d = 0; d < p.directions; ++d) {
    Direction weights;
    weights.w = part(context, kW, d * 4 * n * p.input, 4 * n * p.input);
    weights.r = part(context, kR, d * 4 * n * n, 4 * n * n);
    weights.b = part(context, kB, d * 8 * n, 8 * n);
    weights.peepholes = part(context, kPeepholes, d * 3 * n, 3 * n);
    weights.gates.resize(at(4 * n));
    for (int64_t b = 0; b < p.batch; ++b) run_sequence(context, p, d, b, weights);
  }
  return {};
}

// -- generated code: loops d, b, i over directions, sequences, steps; gates, h and c lie in scratch memory

// "g[j]" plus the peephole's part, through the sigmoid; `gate` counts as in the weights.
std::string gate_text(const EmitContext& context, const LstmParams& p, int64_t gate) {
  const std::string_view f = context.in_type(kX).elem == ElementType::F64 ? "" : "f";
  std::string sum = fmt::format("g[{} + j]", gate * p.hidden);
  if (context.has(kPeepholes))
    sum +=
        fmt::format(" + {}[d * {} + {} + j] * c[j]", context.in(kPeepholes), 3 * p.hidden, gate * p.hidden);
  return fmt::format("1.0{0} / (1.0{0} + exp{0}(-({1})))", f, sum);
}

void emit_gates(EmitContext& context, const LstmParams& p) {
  const std::string_view t = c_type(context.in_type(kX).elem);
  const int64_t n = p.hidden;
  context.loop("k", 4 * n);
  context.line(fmt::format("const {}* w = {} + (d * {} + k) * {};", t, context.in(kW), 4 * n, p.input));
  context.line(fmt::format("const {}* r = {} + (d * {} + k) * {};", t, context.in(kR), 4 * n, n));
  context.line(context.has(kB) ? fmt::format("{0} v = {1}[d * {2} + k] + {1}[d * {2} + {3} + k];", t,
                                             context.in(kB), 8 * n, 4 * n)
                               : fmt::format("{} v = 0;", t));
  context.line(fmt::format("for (ptrdiff_t j = 0; j < {}; ++j) v += x[j] * w[j];", p.input));
  context.line(fmt::format("for (ptrdiff_t j = 0; j < {}; ++j) v += h[j] * r[j];", n));
  context.line("g[k] = v;");
  context.close();
}

void emit_update(EmitContext& context, const LstmParams& p) {
  const ElementType elem = context.in_type(kX).elem;
  const std::string_view t = c_type(elem), f = elem == ElementType::F64 ? "" : "f";
  context.loop("j", p.hidden);
  context.line(fmt::format("const {} in = {};", t, gate_text(context, p, 0)));
  context.line(fmt::format("const {} forget = {};", t, gate_text(context, p, 2)));
  context.line(fmt::format("c[j] = forget * c[j] + in * tanh{}(g[{} + j]);", f, 3 * p.hidden));
  context.line(fmt::format("const {} out = {};", t, gate_text(context, p, 1)));
  context.line(fmt::format("h[j] = out * tanh{}(c[j]);", f));
  context.line("y[j] = h[j];");
  context.close();
}

// h or c from its initial value.
std::string initial_text(const EmitContext& context, size_t i, int64_t hidden) {
  return context.has(i) ? fmt::format("{}[state * {} + j]", context.in(i), hidden) : "0";
}

void emit_steps(EmitContext& context, const LstmParams& p) {
  const std::string_view t = c_type(context.in_type(kX).elem);
  context.loop("i", p.steps);
  context.line(fmt::format("const ptrdiff_t t = {} ? {} - i : i;", p.reverse ? "1" : "d == 1", p.steps - 1));
  context.line(fmt::format(
      "const {}* x = {} + ({}) * {};", t, context.in(kX),
      p.batch_first ? fmt::format("b * {} + t", p.steps) : fmt::format("t * {} + b", p.batch), p.input));
  context.line(fmt::format("{}* y = {} + ({}) * {};", t, context.out(0),
                           p.batch_first ? fmt::format("(b * {} + t) * {} + d", p.steps, p.directions)
                                         : fmt::format("(t * {} + d) * {} + b", p.directions, p.batch),
                           p.hidden));
  emit_gates(context, p);
  emit_update(context, p);
  context.close();
}

Status emit_lstm(EmitContext& context) {
  MRVLC_TRY(require_widened(context));
  MRVLC_ASSIGN(LstmParams p, lstm_params(emit_view(context)));
  const ElementType elem = context.in_type(kX).elem;
  const int64_t n = p.hidden;
  if (p.batch == 0) return {};
  context.line(fmt::format("{0}* const g = ({0}*){1};", c_type(elem),
                           context.scratch(6 * n * static_cast<int64_t>(byte_size(elem)))));
  context.line(fmt::format("{0}* const h = g + {1}, *const c = g + {2};", c_type(elem), 4 * n, 5 * n));
  context.loop("d", p.directions);
  context.loop("b", p.batch);
  context.line(fmt::format("const ptrdiff_t state = {};", p.batch_first
                                                              ? fmt::format("b * {} + d", p.directions)
                                                              : fmt::format("d * {} + b", p.batch)));
  context.loop("j", n);
  context.line(fmt::format("h[j] = {};", initial_text(context, kInitialH, n)));
  context.line(fmt::format("c[j] = {};", initial_text(context, kInitialC, n)));
  context.close();
  emit_steps(context, p);
  context.loop("j", n);
  if (context.node().outputs.size() > 1)
    context.line(fmt::format("{}[state * {} + j] = h[j];", context.out(1), n));
  if (context.node().outputs.size() > 2)
    context.line(fmt::format("{}[state * {} + j] = c[j];", context.out(2), n));
  for (int i = 0; i < 3; ++i) context.close();
  return {};
}

// LSTM-1 says whether Y is wanted; its absence among the outputs says the same.
Status upgrade_lstm(RawNode& node) {
  node.take("output_sequence");
  return {};
}

}  // namespace

const OpDef& def_LSTM() {
  static const OpDef def = [] {
    OpDef d;
    d.name = "LSTM";
    d.attrs = {optional("activation_alpha", ir::AttrKind::Floats),
               optional("activation_beta", ir::AttrKind::Floats),
               optional("activations", ir::AttrKind::Strings),
               optional("clip", ir::AttrKind::Float),
               with_string("direction", "forward"),
               optional("hidden_size", ir::AttrKind::Int),
               with_int("input_forget", 0),
               with_int("layout", 0)};
    d.min_inputs = 3;
    d.max_inputs = 8;
    d.max_outputs = 3;
    d.types = kFloats;
    d.upgrade = upgrade_lstm;
    d.infer = infer_lstm;
    d.eval = eval_lstm;
    d.emit = emit_lstm;
    d.declined = "accelerator: the steps of a recurrence depend on each other; they stay on the host";
    return d;
  }();
  return def;
}

}  // namespace mrvlc::ops
