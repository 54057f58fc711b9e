// RNN (ONNX -22): h' = f(x W + h R + b).
#include "common/emit_util.h"
#include "macs.h"
#include "recurrent/recurrent.h"

namespace mrvlc::ops {
namespace {

const RecurrentForm& rnn_form() {
  static const RecurrentForm f{1, {"tanh"}};
  return f;
}

Result<std::vector<TensorType>> infer_rnn(const InferContext& context) {
  MRVLC_ASSIGN(RecurrentParams p, recurrent_params(context, rnn_form()));
  return recurrent_types(context, p);
}

Status eval_rnn(const EvalContext& context) {
  MRVLC_ASSIGN(RecurrentParams p, recurrent_params(context.infer_view(), rnn_form()));
  return run_recurrent(context, p, [&](int64_t d, RecurrentState& s) {
    s.sum_gates(p, 0, p.hidden, s.h);
    for (size_t j = 0; j < s.h.size(); ++j) s.h[j] = p.activation(d, 0).apply(p.clipped(s.gates[j]));
  });
}

Status emit_rnn(EmitContext& context) {
  MRVLC_TRY(require_widened(context));
  MRVLC_ASSIGN(RecurrentParams p, recurrent_params(emit_view(context), rnn_form()));
  RecurrentCode code(context, p);
  code.emit([&] {
    code.sum_gates(0, 1, "h");
    context.loop("j", p.hidden);
    code.activate("h[j]", "g[j]", 0);
    context.close();
  });
  return {};
}

}  // namespace

const OpDef& def_RNN() {
  static const OpDef def = [] {
    OpDef d;
    d.name = "RNN";
    d.macs = recurrent_macs;
    d.traits = {.sums_products = true};
    d.attrs = recurrent_attrs();
    d.min_inputs = 3;
    d.max_inputs = 6;
    d.max_outputs = 2;
    d.types = spec::kFloats;
    d.upgrade = upgrade_recurrent;
    d.infer = infer_rnn;
    d.eval = eval_rnn;
    d.emit = d.emit_dynamic = emit_rnn;
    d.declined = "accelerator: the steps of a recurrence depend on each other; they stay on the host";
    return d;
  }();
  return def;
}

}  // namespace mrvlc::ops
