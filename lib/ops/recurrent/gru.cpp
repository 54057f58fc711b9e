// GRU (ONNX -22), gates in the order update, reset, hidden:
//   z = f(x Wz + h Rz + bz)   r = f(x Wr + h Rr + br)   h' = (1 - z) * n + z * h
//   n = g(x Wn + (r * h) Rn + bn), or with linear_before_reset g(x Wn + bWn + r * (h Rn + bRn))
#include "common/emit_util.h"
#include "macs.h"
#include "product/ref_gemm.h"
#include "recurrent/recurrent.h"

namespace mrvlc::ops {
namespace {

const RecurrentForm& gru_form() {
  static const RecurrentForm f{3, {"sigmoid", "tanh"}};
  return f;
}

Result<std::vector<TensorType>> infer_gru(const InferContext& context) {
  MRVLC_ASSIGN(RecurrentParams p, recurrent_params(context, gru_form()));
  return recurrent_types(context, p);
}

// gates[2n..3n) = W x + bW + r * (R h + bR).
void reset_after_product(const RecurrentParams& p, RecurrentState& s) {
  const int64_t n = p.hidden, first = 2 * n;
  std::vector<double> product(s.b.begin() + 5 * n, s.b.end());
  ref_gemm(n, 1, n, s.r.data() + first * n, n, s.h.data(), 1, product.data(), 1);
  for (int64_t j = 0; j < n; ++j)
    s.gates[at(first + j)] = s.b[at(first + j)] + s.gates[at(n + j)] * product[at(j)];
  ref_gemm(n, 1, p.input, s.w.data() + first * p.input, p.input, s.x.data(), 1, s.gates.data() + first, 1);
}

void reset_before_product(const RecurrentParams& p, RecurrentState& s) {
  std::vector<double> kept(s.h.size());
  for (size_t j = 0; j < kept.size(); ++j) kept[j] = s.gates[at(p.hidden) + j] * s.h[j];
  s.sum_gates(p, 2 * p.hidden, p.hidden, kept);
}

Status eval_gru(const EvalContext& context) {
  const InferContext view = context.infer_view();
  MRVLC_ASSIGN(RecurrentParams p, recurrent_params(view, gru_form()));
  const bool after = view.int_attr("linear_before_reset") != 0;
  const size_t n = at(p.hidden);
  return run_recurrent(context, p, [&](int64_t d, RecurrentState& s) {
    s.sum_gates(p, 0, 2 * p.hidden, s.h);
    for (size_t j = 0; j < 2 * n; ++j) s.gates[j] = p.activation(d, 0).apply(p.clipped(s.gates[j]));
    after ? reset_after_product(p, s) : reset_before_product(p, s);
    for (size_t j = 0; j < n; ++j) {
      double z = s.gates[j], now = p.activation(d, 1).apply(p.clipped(s.gates[2 * n + j]));
      s.h[j] = (1 - z) * now + z * s.h[j];
    }
  });
}

void emit_gru_cell(RecurrentCode& code, bool after) {
  EmitContext& c = code.c;
  const int64_t n = code.p.hidden, pitch = code.pitch;
  code.sum_gates(0, 2, "h");
  c.loop("j", pitch + n);
  code.activate("g[j]", "g[j]", 0);
  c.close();
  if (after) {
    code.sum_scaled_gate(2, 1);
  } else {
    c.line(fmt::format("for (ptrdiff_t j = 0; j < {0}; ++j) q[j] = g[{1} + j] * h[j];", n, pitch));
    code.sum_gates(2, 1, "q");
  }
  c.loop("j", n);
  code.activate("q[j]", fmt::format("g[{} + j]", 2 * pitch), 1);
  c.line("h[j] = (1 - g[j]) * q[j] + g[j] * h[j];");
  c.close();
}

Status emit_gru(EmitContext& context) {
  MRVLC_TRY(require_widened(context));
  const InferContext view = emit_view(context);
  MRVLC_ASSIGN(RecurrentParams p, recurrent_params(view, gru_form()));
  RecurrentCode code(context, p);
  const bool after = view.int_attr("linear_before_reset") != 0;
  code.scales_last = after;
  code.emit([&] { emit_gru_cell(code, after); });
  return {};
}

}  // namespace

const OpDef& def_GRU() {
  static const OpDef def = [] {
    OpDef d;
    d.name = "GRU";
    d.macs = recurrent_macs;
    d.traits = {.sums_products = true};
    d.attrs = recurrent_attrs();
    d.attrs.push_back(spec::with_int("linear_before_reset", 0));
    d.min_inputs = 3;
    d.max_inputs = 6;
    d.max_outputs = 2;
    d.types = spec::kFloats;
    d.upgrade = upgrade_recurrent;
    d.infer = infer_gru;
    d.eval = eval_gru;
    d.emit = d.emit_dynamic = emit_gru;
    d.declined = "accelerator: the steps of a recurrence depend on each other; they stay on the host";
    return d;
  }();
  return def;
}

}  // namespace mrvlc::ops
