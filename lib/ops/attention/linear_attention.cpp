// LinearAttention (ONNX -27): for each key and value head a state S [k, v] that every step updates and its
// queries read, o = scale * q S; heads / kv_heads query heads share one state.
//   linear       S += k v              delta         S += beta * k (v - k S)
//   gated        S = exp(g) S + k v    gated_delta   S = exp(g) S, then as delta
#include <cmath>

#include "common/emit_util.h"
#include "common/lanes.h"
#include "mrvlc/ops/work.h"
#include "mrvlc/support/diag/ops.h"
#include "mrvlc/support/saturating.h"
#include "product/ref_gemm.h"

namespace mrvlc::ops {
namespace {

using namespace spec;

enum Input : size_t { kQuery, kKey, kValue, kPast, kDecay, kBeta };

struct LinearParams {
  int64_t batch = 0, length = 0, heads = 0, kv_heads = 0, key = 0, value = 0;  // sizes of one head
  bool gated = false, delta = false;
  bool decay_per_head = false, beta_shared = false;
  double scale = 1;

  int64_t step(int64_t b, int64_t t) const { return b * length + t; }
  int64_t decays() const { return decay_per_head ? 1 : key; }  // of a head
  Shape state() const { return {batch, kv_heads, key, value}; }
};

Diag disagree(const InferContext& context, size_t i, std::string_view why) {
  return make_diag<DiagCode::MRV0205>(to_string(context.type(kQuery).shape), to_string(context.type(i).shape),
                                      why);
}

Status read_heads(const InferContext& context, LinearParams& p) {
  for (size_t i : {kQuery, kKey, kValue}) {
    MRVLC_TRY(check_rank(context, i, 3, 3));
    MRVLC_TRY(check_same_elem(context, i));
  }
  const Shape &q = context.type(kQuery).shape, &k = context.type(kKey).shape, &v = context.type(kValue).shape;
  p.batch = q[0], p.length = q[1];
  p.heads = context.int_attr("q_num_heads"), p.kv_heads = context.int_attr("kv_num_heads");
  if (p.heads < 1 || p.kv_heads < 1 || p.heads % p.kv_heads != 0)
    return bad_attr("q_num_heads", fmt::format("of {} is no multiple of {}", p.heads, p.kv_heads));
  if (q[2] % p.heads != 0 || k[2] % p.kv_heads != 0 || v[2] % p.kv_heads != 0)
    return bad_operands("the heads do not divide the operands");
  p.key = q[2] / p.heads, p.value = v[2] / p.kv_heads;
  if (p.key < 1 || p.value < 1) return bad_operands("the heads are empty");
  if (k != Shape{p.batch, p.length, p.kv_heads * p.key})
    return disagree(context, kKey, "queries and keys differ");
  if (v[0] != p.batch || v[1] != p.length) return disagree(context, kValue, "queries and values differ");
  auto state = checked_product(p.state());
  if (!state || *state > kMaxElements) return too_large();
  return {};
}

Status read_rule(const InferContext& context, LinearParams& p) {
  const std::string& rule = context.string_attr("update_rule");
  p.gated = rule == "gated" || rule == "gated_delta";
  p.delta = rule == "delta" || rule == "gated_delta";
  if (!p.gated && !p.delta && rule != "linear")
    return bad_attr("update_rule", fmt::format("has the unknown value '{}'", printable(rule)));
  if (p.gated != context.has(kDecay)) return bad_attr("update_rule", "does not fit the operand decay");
  if (p.delta != context.has(kBeta)) return bad_attr("update_rule", "does not fit the operand beta");
  p.scale = static_cast<double>(context.float_attr("scale"));
  if (p.scale == 0) p.scale = p.key == 0 ? 1 : 1 / std::sqrt(static_cast<double>(p.key));
  return {};
}

Status read_gates(const InferContext& context, LinearParams& p) {
  for (size_t i : {kPast, kDecay, kBeta}) {
    if (context.has(i)) MRVLC_TRY(check_same_elem(context, i));
  }
  if (context.has(kPast) && context.type(kPast).shape != p.state())
    return disagree(context, kPast, "the state has another shape");
  if (p.gated) {
    const Shape& decay = context.type(kDecay).shape;
    p.decay_per_head = decay == Shape{p.batch, p.length, p.kv_heads};
    if (!p.decay_per_head && decay != context.type(kKey).shape)
      return disagree(context, kDecay, "one decay a head or key element is expected");
  }
  if (p.delta) {
    const Shape& beta = context.type(kBeta).shape;
    p.beta_shared = beta == Shape{p.batch, p.length, 1};
    if (!p.beta_shared && beta != Shape{p.batch, p.length, p.kv_heads})
      return disagree(context, kBeta, "one rate a head is expected");
  }
  return {};
}

Result<LinearParams> linear_params(const InferContext& context) {
  LinearParams p;
  MRVLC_TRY(read_heads(context, p));
  MRVLC_TRY(read_rule(context, p));
  MRVLC_TRY(read_gates(context, p));
  return p;
}

Result<std::vector<TensorType>> infer_linear(const InferContext& context) {
  MRVLC_ASSIGN(LinearParams p, linear_params(context));
  const ElementType elem = context.type(kQuery).elem;
  std::vector<TensorType> types{{elem, {p.batch, p.length, p.heads * p.value}}};
  if (context.num_outputs > 1) types.push_back({elem, p.state()});
  return types;
}

struct Head {
  std::vector<double> state, k, v, decay, q, y;
};

// One step of head g of the keys and values: the new state.
void update(const EvalContext& context, const LinearParams& p, int64_t step, int64_t g, Head& h) {
  const int64_t row = step * p.kv_heads + g;
  load_doubles(context.in(kKey), row * p.key, p.key, h.k.data());
  load_doubles(context.in(kValue), row * p.value, p.value, h.v.data());
  if (p.gated) {
    load_doubles(context.in(kDecay), row * p.decays(), p.decays(), h.decay.data());
    for (size_t i = 0; i < h.state.size(); ++i)
      h.state[i] *= std::exp(h.decay[p.decay_per_head ? 0 : i / at(p.value)]);
  }
  if (p.delta) {
    const double beta = context.in(kBeta).as_double(p.beta_shared ? step : row);
    std::vector<double> seen(h.v.size());
    ref_gemm(1, p.value, p.key, h.k.data(), p.key, h.state.data(), p.value, seen.data(), p.value);
    for (size_t e = 0; e < h.v.size(); ++e) h.v[e] = beta * (h.v[e] - seen[e]);
  }
  ref_gemm(p.key, p.value, 1, h.k.data(), 1, h.v.data(), p.value, h.state.data(), p.value);
}

void read_out(const EvalContext& context, const LinearParams& p, int64_t step, int64_t g, Head& h) {
  const int64_t shared = p.heads / p.kv_heads;
  for (int64_t head = g * shared; head < (g + 1) * shared; ++head) {
    load_doubles(context.in(kQuery), (step * p.heads + head) * p.key, p.key, h.q.data());
    for (double& q : h.q) q *= p.scale;
    std::ranges::fill(h.y, 0.0);
    ref_gemm(1, p.value, p.key, h.q.data(), p.key, h.state.data(), p.value, h.y.data(), p.value);
    store_doubles(context.out(), (step * p.heads + head) * p.value, p.value, h.y.data());
  }
}

Status eval_linear(const EvalContext& context) {
  MRVLC_ASSIGN(LinearParams p, linear_params(context.infer_view()));
  const int64_t size = p.key * p.value;
  for (int64_t b = 0; b < p.batch; ++b) {
    for (int64_t g = 0; g < p.kv_heads; ++g) {
      Head h{std::vector<double>(at(size)),    std::vector<double>(at(p.key)),
             std::vector<double>(at(p.value)), std::vector<double>(at(p.decays())),
             std::vector<double>(at(p.key)),   std::vector<double>(at(p.value))};
      const int64_t first = (b * p.kv_heads + g) * size;
      if (context.has(kPast)) load_doubles(context.in(kPast), first, size, h.state.data());
      for (int64_t t = 0; t < p.length; ++t) {
        update(context, p, p.step(b, t), g, h);
        read_out(context, p, p.step(b, t), g, h);
      }
      if (context.outputs->size() > 1) store_doubles(context.out(1), first, size, h.state.data());
    }
  }
  return {};
}

// -- C: state `s`, rows k, v, q, y of one step; `seen` what the state already gives for the key

struct LinearCode {
  EmitContext& c;
  const LinearParams& p;
  ElementType elem;
  std::string_view t, f;

  void pointer(std::string_view name, std::string_view base, std::string_view row, int64_t width) {
    c.line(fmt::format("const {}* {} = {} + ({}) * {};", t, name, base, row, width));
  }
  std::string each(std::string_view var, int64_t n, const std::string& statement) {
    return fmt::format("for (ptrdiff_t {0} = 0; {0} < {1}; ++{0}) {2}", var, n, statement);
  }
};

void emit_update(LinearCode& code) {
  const LinearParams& p = code.p;
  EmitContext& c = code.c;
  const int64_t n = p.value;
  c.line(fmt::format("const ptrdiff_t row = (b * {} + t) * {} + g;", p.length, p.kv_heads));
  code.pointer("k", c.in(kKey), "row", p.key);
  code.pointer("v", c.in(kValue), "row", n);
  if (p.gated) {
    c.loop("i", p.key);
    c.line(fmt::format("const {} keep = exp{}({}[row * {}{}]);", code.t, code.f, c.in(kDecay), p.decays(),
                       p.decay_per_head ? "" : " + i"));
    c.line(code.each("e", n, fmt::format("s[i * {} + e] *= keep;", n)));
    c.close();
  }
  if (p.delta) {
    c.line(fmt::format("const {} beta = {}[{}];", code.t, c.in(kBeta),
                       p.beta_shared ? fmt::format("b * {} + t", p.length) : std::string("row")));
    c.line(code.each("e", n, "seen[e] = 0;"));
    c.loop("i", p.key);
    c.line(code.each("e", n, fmt::format("seen[e] += k[i] * s[i * {} + e];", n)));
    c.close();
    c.line(code.each("e", n, "seen[e] = beta * (v[e] - seen[e]);"));
  }
  c.loop("i", p.key);
  c.line(code.each("e", n, fmt::format("s[i * {} + e] += k[i] * {}[e];", n, p.delta ? "seen" : "v")));
  c.close();
}

void emit_read_out(LinearCode& code) {
  const LinearParams& p = code.p;
  EmitContext& c = code.c;
  const int64_t n = p.value, shared = p.heads / p.kv_heads;
  c.loop("j", shared);
  c.line(fmt::format("const ptrdiff_t head = (b * {} + t) * {} + g * {} + j;", p.length, p.heads, shared));
  code.pointer("q", c.in(kQuery), "head", p.key);
  c.line(fmt::format("{}* y = {} + head * {};", code.t, c.out(0), n));
  c.line(code.each("e", n, "y[e] = 0;"));
  c.loop("i", p.key);
  c.line(fmt::format("const {} w = q[i] * {};", code.t, c_literal(p.scale, code.elem)));
  c.line(code.each("e", n, fmt::format("y[e] += w * s[i * {} + e];", n)));
  c.close();
  c.close();
}

Status emit_linear(EmitContext& context) {
  MRVLC_TRY(require_widened(context));
  MRVLC_ASSIGN(LinearParams p, linear_params(emit_view(context)));
  const ElementType elem = context.in_type(kQuery).elem;
  LinearCode code{context, p, elem, c_type(elem), elem == E::F64 ? "" : "f"};
  const int64_t size = p.key * p.value, bytes = byte_size(elem);
  const bool keeps = context.node().outputs.size() > 1;
  if (p.batch * size == 0) return {};
  if (p.delta)
    context.line(fmt::format("{0}* const seen = ({0}*){1};", code.t, context.scratch(p.value * bytes)));
  if (!keeps) context.line(fmt::format("{0}* const s = ({0}*){1};", code.t, context.scratch(size * bytes)));
  context.loop("b", p.batch);
  context.loop("g", p.kv_heads);
  if (keeps)
    context.line(fmt::format("{}* s = {} + (b * {} + g) * {};", code.t, context.out(1), p.kv_heads, size));
  context.line(context.has(kPast) ? fmt::format("memcpy(s, {} + (b * {} + g) * {}, {});", context.in(kPast),
                                                p.kv_heads, size, size * bytes)
                                  : fmt::format("memset(s, 0, {});", size * bytes));
  context.loop("t", p.length);
  emit_update(code);
  emit_read_out(code);
  for (int i = 0; i < 3; ++i) context.close();
  return {};
}

// How many steps to work on together is left to the implementation.
Status upgrade_linear(RawNode& node) {
  node.take("chunk_size");
  return {};
}

// Of every step and value head the update of the state and, with a delta rule, the product before it; of
// every query head the product with the state.
int64_t linear_attention_macs(const InferContext& c, int64_t) {
  const int64_t heads = c.int_attr("q_num_heads"), kv_heads = c.int_attr("kv_num_heads");
  if (!c.has(2) || c.type(0).rank() != 3 || c.type(2).rank() != 3 || heads < 1 || kv_heads < 1) return 0;
  const Shape &q = c.type(0).shape, &value = c.type(2).shape;
  const int64_t state = saturating_mul(q[2] / heads, value[2] / kv_heads);
  const bool delta = c.has(5);  // beta
  const int64_t updates = delta ? saturating_mul(2, kv_heads) : kv_heads;
  return saturating_mul(saturating_mul(saturating_mul(q[0], q[1]), state), saturating_add(updates, heads));
}

}  // namespace

const OpDef& def_LinearAttention() {
  static const OpDef def = [] {
    OpDef d;
    d.name = "LinearAttention";
    d.macs = linear_attention_macs;
    d.since_min = 27;
    d.attrs = {required("kv_num_heads", ir::AttrKind::Int), required("q_num_heads", ir::AttrKind::Int),
               with_float("scale", 0), with_string("update_rule", "gated_delta")};
    d.min_inputs = 3;
    d.max_inputs = 6;
    d.max_outputs = 2;
    d.types = kFloats;
    d.upgrade = upgrade_linear;
    d.infer = infer_linear;
    d.eval = eval_linear;
    d.emit = emit_linear;
    d.declined = "accelerator: the steps of a recurrence depend on each other; they stay on the host";
    return d;
  }();
  return def;
}

}  // namespace mrvlc::ops
