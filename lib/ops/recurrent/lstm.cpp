// LSTM (ONNX -22), gates in the order input, output, forget, cell; activations f, g, h are by default S, the
// sigmoid, and tanh twice:
//   i = f(x Wi + h Ri + Pi * c + Bi)   k = f(x Wf + h Rf + Pf * c + Bf)   z = g(x Wg + h Rg + Bg)
//   c' = k * c + i * z                 o = f(x Wo + h Ro + Po * c' + Bo)   h' = o * h(c')
// With input_forget k = 1 - i.
#include "common/emit_util.h"
#include "macs.h"
#include "mrvlc/support/diag/ops.h"
#include "recurrent/recurrent.h"

namespace mrvlc::ops {

using P = RecurrentParams;

namespace {

enum Gate : int64_t { kInputGate, kOutputGate, kForgetGate, kCellGate };

const RecurrentForm& lstm_form() {
  static const RecurrentForm f{4, {"sigmoid", "tanh", "tanh"}};
  return f;
}

Result<RecurrentParams> lstm_params(const InferContext& context) {
  MRVLC_ASSIGN(P p, recurrent_params(context, lstm_form()));
  MRVLC_TRY(check_recurrent_input(context, P::kInitialC, p.state_shape()));
  MRVLC_TRY(check_recurrent_input(context, P::kPeepholes, {p.directions, 3 * p.hidden}));
  return p;
}

Result<std::vector<TensorType>> infer_lstm(const InferContext& context) {
  MRVLC_ASSIGN(P p, lstm_params(context));
  return recurrent_types(context, p);
}

Status eval_lstm(const EvalContext& context) {
  const InferContext view = context.infer_view();
  MRVLC_ASSIGN(P p, lstm_params(view));
  const bool coupled = view.int_attr("input_forget") != 0;
  const size_t n = at(p.hidden);
  return run_recurrent(context, p, [&](int64_t d, RecurrentState& s) {
    s.sum_gates(p, 0, 4 * p.hidden, s.h);
    for (size_t j = 0; j < n; ++j) {
      auto gate = [&](size_t which, double peephole, size_t activation) {
        return p.activation(d, activation).apply(p.clipped(s.gates[which * n + j] + peephole * s.c[j]));
      };
      double in = gate(kInputGate, s.peepholes[j], 0);
      double forget = coupled ? 1 - in : gate(kForgetGate, s.peepholes[2 * n + j], 0);
      s.c[j] = forget * s.c[j] + in * gate(kCellGate, 0, 1);
      s.h[j] = gate(kOutputGate, s.peepholes[n + j], 0) * p.activation(d, 2).apply(s.c[j]);
    }
  });
}

// "g[j]" plus the peephole's part.
std::string gate_text(const RecurrentCode& code, Gate gate) {
  const EmitContext& context = code.c;
  const P& p = code.p;
  std::string sum = fmt::format("g[{} + j]", gate * code.pitch);
  if (context.has(P::kPeepholes) && gate != kCellGate) {
    sum += fmt::format(" + {}[d * {} + {} + j] * c[j]", context.in(P::kPeepholes), 3 * p.hidden,
                       gate * p.hidden);
  }
  return sum;
}

void emit_lstm_cell(RecurrentCode& code, bool coupled) {
  EmitContext& c = code.c;
  const P& p = code.p;
  code.sum_gates(0, 4, "h");
  c.loop("j", p.hidden);
  c.line(fmt::format("{} in, forget, out, now;", code.t));
  code.activate("in", gate_text(code, kInputGate), 0);
  if (coupled) {
    c.line("forget = 1 - in;");
  } else {
    code.activate("forget", gate_text(code, kForgetGate), 0);
  }
  code.activate("now", gate_text(code, kCellGate), 1);
  c.line("c[j] = forget * c[j] + in * now;");
  code.activate("out", gate_text(code, kOutputGate), 0);
  code.activate("now", "c[j]", 2, false);
  c.line("h[j] = out * now;");
  c.close();
}

Status emit_lstm(EmitContext& context) {
  MRVLC_TRY(require_widened(context));
  const InferContext view = emit_view(context);
  MRVLC_ASSIGN(P p, lstm_params(view));
  RecurrentCode code(context, p);
  code.emit([&] { emit_lstm_cell(code, view.int_attr("input_forget") != 0); });
  return {};
}

}  // namespace

const OpDef& def_LSTM() {
  static const OpDef def = [] {
    OpDef d;
    d.name = "LSTM";
    d.macs = recurrent_macs;
    d.traits = {.sums_products = true};
    d.attrs = recurrent_attrs();
    d.attrs.push_back(spec::with_int("input_forget", 0));
    d.min_inputs = 3;
    d.max_inputs = 8;
    d.max_outputs = 3;
    d.types = spec::kFloats;
    d.upgrade = upgrade_recurrent;
    d.infer = infer_lstm;
    d.eval = eval_lstm;
    d.emit = d.emit_dynamic = emit_lstm;
    d.declined = "accelerator: the steps of a recurrence depend on each other; they stay on the host";
    return d;
  }();
  return def;
}

}  // namespace mrvlc::ops
