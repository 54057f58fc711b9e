// Types, reference and work of Attention.
#include "attention/attention.h"

#include <algorithm>
#include <cmath>

#include "common/index_util.h"
#include "mrvlc/ops/work.h"
#include "mrvlc/support/diag/ops.h"
#include "mrvlc/support/saturating.h"
#include "product/ref_gemm.h"

namespace mrvlc::ops {
namespace {

using namespace spec;
using P = AttentionParams;

Diag disagree(const InferContext& context, size_t a, size_t b, std::string_view why) {
  return make_diag<DiagCode::MRV0205>(to_string(context.type(a).shape), to_string(context.type(b).shape),
                                      why);
}

// [batch, heads, length, size] of operand i, packed or not.
Result<Shape> unpacked(const InferContext& context, size_t i, int64_t heads) {
  Shape s = context.type(i).shape;
  if (s.size() == 4) return s;
  if (heads < 1 || s[2] % heads != 0) {
    return bad_operands(fmt::format("input {} of width {} does not split into {} heads", i, s[2], heads));
  }
  return Shape{s[0], heads, s[1], s[2] / heads};
}

Result<int64_t> head_count(const InferContext& context, std::string_view attr, bool packed) {
  if (!packed) return int64_t{0};
  if (!is_attr_set(context, attr)) return bad_attr(attr, "is missing; operands of rank 3 need it");
  return context.int_attr(attr);
}

Status read_operands(const InferContext& context, P& p) {
  MRVLC_TRY(check_rank(context, P::kQ, 3, 4));
  for (size_t i : {P::kK, P::kV}) {
    MRVLC_TRY(check_rank(context, i, context.type(P::kQ).rank(), context.type(P::kQ).rank()));
    MRVLC_TRY(check_same_elem(context, i));
  }
  p.packed = context.type(P::kQ).rank() == 3;
  MRVLC_ASSIGN(int64_t heads, head_count(context, "q_num_heads", p.packed));
  MRVLC_ASSIGN(int64_t kv_heads, head_count(context, "kv_num_heads", p.packed));
  MRVLC_ASSIGN(Shape q, unpacked(context, P::kQ, heads));
  MRVLC_ASSIGN(Shape k, unpacked(context, P::kK, kv_heads));
  MRVLC_ASSIGN(Shape v, unpacked(context, P::kV, kv_heads));
  p.batch = q[0], p.heads = q[1], p.q_length = q[2], p.size = q[3];
  p.kv_heads = k[1], p.kv_length = k[2], p.v_size = v[3];
  if (k[0] != p.batch || k[3] != p.size) return disagree(context, P::kQ, P::kK, "queries and keys differ");
  if (!std::equal(k.begin(), k.begin() + 3, v.begin()))
    return disagree(context, P::kK, P::kV, "keys and values differ");
  if (p.kv_heads < 1 || p.heads < 1 || p.heads % p.kv_heads != 0) {
    return bad_operands(
        fmt::format("{} query heads cannot share {} key and value heads", p.heads, p.kv_heads));
  }
  return {};
}

Status read_past(const InferContext& context, P& p) {
  if (context.has(P::kPastKey) != context.has(P::kPastValue))
    return bad_operands("past_key and past_value must be given together");
  if (!context.has(P::kPastKey)) return {};
  MRVLC_TRY(check_rank(context, P::kPastKey, 4, 4));
  p.past = context.type(P::kPastKey).shape[2];
  for (auto [i, width] : {std::pair{P::kPastKey, p.size}, std::pair{P::kPastValue, p.v_size}}) {
    MRVLC_TRY(check_same_elem(context, i));
    if (context.type(i).shape != Shape{p.batch, p.kv_heads, p.past, width})
      return disagree(context, i, i == P::kPastKey ? P::kK : P::kV, "past and new rows differ");
  }
  return {};
}

Status read_mask(const InferContext& context, P& p) {
  if (!context.has(P::kMask)) return {};
  MRVLC_TRY(check_rank(context, P::kMask, 2, 4));
  if (context.type(P::kMask).elem != E::Bool) MRVLC_TRY(check_same_elem(context, P::kMask));
  const Shape& mask = context.type(P::kMask).shape;
  p.mask_length = mask.back();
  Shape target = p.scores();
  // A shorter mask masks what it does not reach; one of length 1 could mean that, or be repeated.
  bool fits = p.mask_length == p.total() || (p.mask_length > 1 && p.mask_length < p.total());
  target.back() = p.mask_length;
  auto merged = broadcast_shapes(mask, target);
  if (!fits || !merged || *merged != target) {
    return make_diag<DiagCode::MRV0205>(to_string(mask), to_string(p.scores()),
                                        "the mask does not fit the attention scores");
  }
  p.mask_strides = broadcast_strides(mask, target);
  return {};
}

Status read_lengths(const InferContext& context, P& p) {
  if (!context.has(P::kLengths)) return {};
  MRVLC_TRY(check_elem(context, P::kLengths, types_of({E::I64})));
  if (context.has(P::kPastKey)) return bad_operands("nonpad_kv_seqlen and past_key exclude each other");
  if (context.type(P::kLengths).shape != Shape{p.batch})
    return disagree(context, P::kQ, P::kLengths, "one length a batch is expected");
  p.has_lengths = true;
  return check_known(context, {P::kLengths, p.batch, 0, p.total()});
}

Status read_attrs(const InferContext& context, P& p) {
  p.causal = context.int_attr("is_causal") != 0;
  p.mode = context.int_attr("qk_matmul_output_mode");
  if (p.mode < 0 || p.mode > 3) return bad_attr("qk_matmul_output_mode", fmt::format("is {}", p.mode));
  p.scale = p.size == 0 ? 1 : 1 / std::sqrt(static_cast<double>(p.size));
  if (is_attr_set(context, "scale")) p.scale = static_cast<double>(context.float_attr("scale"));
  p.softcap = static_cast<double>(context.float_attr("softcap"));
  if (!(p.softcap >= 0)) return bad_attr("softcap", "must not be negative");
  return {};
}

Result<std::vector<TensorType>> infer_attention(const InferContext& context) {
  MRVLC_ASSIGN(P p, attention_params(context));
  const ElementType elem = context.type(P::kQ).elem;
  Shape y = context.type(P::kQ).shape;
  y.back() = p.packed ? p.heads * p.v_size : p.v_size;
  std::vector<TensorType> types{
      {elem, y}, {elem, p.present(p.size)}, {elem, p.present(p.v_size)}, {elem, p.scores()}};
  types.resize(std::max<size_t>(context.num_outputs, 1));
  return types;
}

// -- reference

struct HeadData {
  std::vector<double> k, v;  // all rows, past and new
};

// Rows of one head: the past, then the new ones.
std::vector<double> gather_rows(const EvalContext& context, const P& p, size_t fresh, size_t past, int64_t b,
                                int64_t h, int64_t width) {
  std::vector<double> out(at(p.total() * width));
  if (p.past > 0) load_doubles(context.in(past), p.past_rows(width).at(b, h, 0), p.past * width, out.data());
  HeadRows rows = head_rows(p.packed, p.kv_heads, p.kv_length, width);
  for (int64_t j = 0; j < p.kv_length; ++j)
    load_doubles(context.in(fresh), rows.at(b, h, j), width, out.data() + (p.past + j) * width);
  return out;
}

double bias_of(const EvalContext& context, const P& p, int64_t b, int64_t h, int64_t i, int64_t j) {
  int64_t length = p.has_lengths ? context.in(P::kLengths).as_int(b) : p.total();
  int64_t offset = p.has_lengths ? length - p.q_length : p.past;
  if (j >= length || (p.causal && j > i + offset)) return -INFINITY;
  if (!context.has(P::kMask)) return 0;
  if (j >= p.mask_length) return -INFINITY;
  const Shape& s = p.mask_strides;
  double value = context.in(P::kMask).as_double(b * s[0] + h * s[1] + i * s[2] + j * s[3]);
  if (context.in(P::kMask).elem() != E::Bool) return value;
  return value != 0 ? 0 : -INFINITY;
}

void softmax_row(std::vector<double>& s) {
  double peak = *std::max_element(s.begin(), s.end()), sum = 0;
  for (double& v : s) sum += v = std::exp(v - peak);
  for (double& v : s) v /= sum;
}

// `s` holds Q K^T of one row and becomes the probabilities; stages that the output kScores asks for are kept.
void score_row(const EvalContext& context, const P& p, int64_t b, int64_t h, int64_t i,
               std::vector<double>& s) {
  auto keep = [&](int64_t stage) {
    if (stage != p.mode || context.outputs->size() <= P::kScores) return;
    store_doubles(context.out(P::kScores), ((b * p.heads + h) * p.q_length + i) * p.total(), p.total(),
                  s.data());
  };
  bool any = false;
  for (double& v : s) v *= p.scale;
  keep(0);
  if (p.softcap > 0) {
    for (double& v : s) v = p.softcap * std::tanh(v / p.softcap);
  }
  keep(1);
  for (int64_t j = 0; j < p.total(); ++j) {
    double bias = bias_of(context, p, b, h, i, j);
    any = any || bias != -INFINITY;
    s[at(j)] += bias;
  }
  keep(2);
  if (any) {
    softmax_row(s);
  } else {
    std::ranges::fill(s, 0.0);
  }
  keep(3);
}

void attend(const EvalContext& context, const P& p, int64_t b, int64_t h, const HeadData& head) {
  std::vector<double> q(at(p.size)), s(at(p.total())), y(at(p.v_size));
  for (int64_t i = 0; i < p.q_length; ++i) {
    load_doubles(context.in(P::kQ), p.q().at(b, h, i), p.size, q.data());
    std::ranges::fill(s, 0.0);
    std::ranges::fill(y, 0.0);
    ref_gemm(p.total(), 1, p.size, head.k.data(), p.size, q.data(), 1, s.data(), 1);
    score_row(context, p, b, h, i, s);
    ref_gemm(1, p.v_size, p.total(), s.data(), p.total(), head.v.data(), p.v_size, y.data(), p.v_size);
    store_doubles(context.out(P::kY), p.y().at(b, h, i), p.v_size, y.data());
  }
}

Status eval_attention(const EvalContext& context) {
  MRVLC_ASSIGN(P p, attention_params(context.infer_view()));
  for (int64_t b = 0; b < p.batch; ++b) {
    for (int64_t g = 0; g < p.kv_heads; ++g) {
      HeadData head{gather_rows(context, p, P::kK, P::kPastKey, b, g, p.size),
                    gather_rows(context, p, P::kV, P::kPastValue, b, g, p.v_size)};
      const int64_t first = (b * p.kv_heads + g) * p.total(), shared = p.heads / p.kv_heads;
      if (context.outputs->size() > P::kPresentKey)
        store_doubles(context.out(P::kPresentKey), first * p.size, p.total() * p.size, head.k.data());
      if (context.outputs->size() > P::kPresentValue)
        store_doubles(context.out(P::kPresentValue), first * p.v_size, p.total() * p.v_size, head.v.data());
      for (int64_t h = g * shared; h < (g + 1) * shared; ++h) attend(context, p, b, h, head);
    }
  }
  return {};
}

}  // namespace

HeadRows head_rows(bool packed, int64_t heads, int64_t length, int64_t size) {
  if (packed) return {length * heads * size, size, heads * size};
  return {heads * length * size, length * size, size};
}

std::string HeadRows::text(std::string_view b, std::string_view h, std::string_view i) const {
  return fmt::format("{} * {} + {} * {} + {} * {}", b, batch, h, head, i, row);
}

Result<AttentionParams> attention_params(const InferContext& context) {
  P p;
  MRVLC_TRY(read_operands(context, p));
  MRVLC_TRY(read_past(context, p));
  MRVLC_TRY(read_attrs(context, p));
  auto scores = checked_product(p.scores());
  if (!scores || *scores > kMaxElements) return too_large();
  MRVLC_TRY(read_mask(context, p));
  MRVLC_TRY(read_lengths(context, p));
  return p;
}

namespace {

// Scores, and values weighted with them.
int64_t attention_macs(const InferContext& context, int64_t) {
  auto p = attention_params(context);
  if (!p.ok()) return 0;
  return saturating_mul(
      saturating_mul(saturating_mul(p->batch, p->heads), saturating_mul(p->q_length, p->total())),
      p->size + p->v_size);
}

}  // namespace

const OpDef& def_Attention() {
  static const OpDef def = [] {
    OpDef d;
    d.name = "Attention";
    d.macs = attention_macs;
    d.traits = {.sums_products = true};
    d.since_min = 23;
    d.attrs = {with_int("is_causal", 0),
               optional("kv_num_heads", ir::AttrKind::Int),
               optional("q_num_heads", ir::AttrKind::Int),
               with_int("qk_matmul_output_mode", 0),
               optional("scale", ir::AttrKind::Float),
               with_float("softcap", 0),
               optional("softmax_precision", ir::AttrKind::Int)};
    d.min_inputs = 3;
    d.max_inputs = 7;
    d.max_outputs = 4;
    d.types = kFloats;
    d.infer = infer_attention;
    d.eval = eval_attention;
    d.emit = emit_attention;
    d.declined = "accelerator: taken as products and softmax, where every row of a constant mask keeps a key";
    return d;
  }();
  return def;
}

}  // namespace mrvlc::ops
