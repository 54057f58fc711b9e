// Attention, its quantised form, and MultiHeadAttention.
#include "contrib/attention.h"

#include <limits>

#include "mrvlc/support/diag/onnx.h"
#include "mrvlc/support/diag/ops.h"

namespace mrvlc::onnx {
namespace {

Diag bad_mask(const Decomposition& r, size_t k) {
  return make_diag<DiagCode::MRV0208>(fmt::format(
      "the mask (input {}) of type {} is none of the forms that are supported", k, to_string(r.type(k))));
}

// Column numbers [1, 1, 1, columns].
std::string columns_of(Decomposition& r, const std::string& k) {
  return r.reshape(r.count(r.size(k, 2)), {1, 1, 1, -1});
}

// Lengths as [batch, 1, 1, 1].
std::string by_batch(Decomposition& r, const std::string& lengths, const std::string& q) {
  std::string shape = r.concat({r.size(q, 0), r.constant({1, 1, 1})}, 0);
  return r.add("Reshape", {r.cast(lengths, ElementType::I64), shape});
}

// Where the mask of rank 1 keeps keys: their number, or ends and then starts.
Result<std::string> keep_by_lengths(Decomposition& r, size_t mask, const Heads& h) {
  const TensorType &type = r.type(mask), &batched = r.type(0);
  const bool open = type.is_dynamic(0) || batched.is_dynamic(0);
  const int64_t given = type.shape[0], batch = batched.shape[0];
  std::string columns = columns_of(r, h.k);
  if (given == batch) return r.add("Less", {columns, by_batch(r, r.in(mask), h.q)});
  if (open || given != 2 * batch) return bad_mask(r, mask);
  std::string ends = by_batch(r, r.slice(r.in(mask), 0, batch, 0), h.q);
  std::string starts = by_batch(r, r.slice(r.in(mask), batch, 2 * batch, 0), h.q);
  return r.add("And", {r.add("Less", {columns, ends}), r.add("GreaterOrEqual", {columns, starts})});
}

// True where the mask keeps a key; of a shape that broadcasts to that of the scores.
Result<std::string> mask_keep(Decomposition& r, size_t mask, const Heads& h) {
  if (r.type(mask).elem != ElementType::I32) return bad_mask(r, mask);
  const int64_t rank = r.type(mask).rank();
  if (rank == 1) return keep_by_lengths(r, mask, h);
  if (rank < 2 || rank > 4) return bad_mask(r, mask);
  std::string keep = r.add("Greater", {r.in(mask), r.cast(r.number(0), ElementType::I32)});
  if (rank == 2) return r.add("Unsqueeze", {keep, r.constant({1, 2})});
  if (rank == 3) return r.add("Unsqueeze", {keep, r.constant({1})});
  // Of all positions: the rows of these queries, the columns of these keys.
  std::string columns = r.size(h.k, 2), past = r.add("Sub", {columns, r.size(h.q, 2)});
  return r.slice(r.slice(keep, past, columns, 2), r.constant({0}), columns, 3);
}

// The biases that mask, `unidirectional` and an input ask for.
Status add_biases(Decomposition& r, size_t mask, size_t bias, Heads& h) {
  const float filter = r.float_attr("mask_filter_value", -10000.0f);
  if (r.has(mask)) {
    MRVLC_ASSIGN(std::string keep, mask_keep(r, mask, h));
    h.biases.push_back(bias_where(r, keep, filter, h.q));
  }
  if (r.has(bias)) h.biases.push_back(r.in(bias));
  if (r.int_attr("unidirectional", 0) != 0) {
    const float lowest =
        r.type(0).elem == ElementType::F16 ? -65504.0f : std::numeric_limits<float>::lowest();
    h.biases.push_back(bias_where(r, causal_keep(r, h.q, h.k), lowest, h.q));
  }
  return {};
}

// `past` [2, batch, heads, length, size] in front of keys and values, and `present` of the same form.
void join_past(Decomposition& r, size_t past, Heads& h) {
  if (r.has(past)) {
    h.k = r.concat({r.pick(r.in(past), 0, 0), h.k}, 2);
    h.v = r.concat({r.pick(r.in(past), 1, 0), h.v}, 2);
  }
  if (!r.wants(1)) return;
  std::string front = r.constant({0});
  r.result(1, r.concat({r.add("Unsqueeze", {h.k, front}), r.add("Unsqueeze", {h.v, front})}, 0));
}

// Attention over queries, keys and values that lie side by side in `qkv`.
Status attend_packed(Decomposition& r, const std::string& qkv, const std::vector<int64_t>& widths,
                     int64_t heads, size_t mask, size_t past, size_t bias) {
  MRVLC_TRY(r.expect("do_rotary", 0));
  MRVLC_TRY(r.expect("past_present_share_buffer", 0));
  r.int_attr("rotary_embedding_dim", 0);  // says nothing without do_rotary
  Heads h;
  const int64_t q = widths[0], k = q + widths[1], v = k + widths[2];
  h.q = split_heads(r, r.slice(qkv, 0, q, 2), heads);
  h.k = split_heads(r, r.slice(qkv, q, k, 2), heads);
  h.v = split_heads(r, r.slice(qkv, k, v, 2), heads);
  h.scale = attention_scale(r, q / heads);
  join_past(r, past, h);
  MRVLC_TRY(add_biases(r, mask, bias, h));
  r.result(0, attend(r, h).y);
  return {};
}

Result<std::vector<int64_t>> packed_widths(const Decomposition& r, size_t weights, int64_t heads) {
  MRVLC_ASSIGN(int64_t all, known_width(r, weights, "weights"));
  std::vector<int64_t> widths(3, all / 3);
  const auto* given = r.attribute("qkv_hidden_sizes");
  if (given != nullptr && given->ints_size() > 0) widths.assign(given->ints().begin(), given->ints().end());
  const bool positive = widths.size() == 3 && std::all_of(widths.begin(), widths.end(),
                                                          [&](int64_t w) { return w > 0 && w <= all; });
  if (!positive || widths[0] != widths[1] || widths[0] + widths[1] + widths[2] != all ||
      widths[0] % heads != 0 || widths[2] % heads != 0) {
    return make_diag<DiagCode::MRV0140>(
        given == nullptr ? "num_heads" : "qkv_hidden_sizes",
        fmt::format("does not fit weights of width {} and {} heads", all, heads));
  }
  return widths;
}

Status check_batched(const Decomposition& r, size_t k) {
  if (r.type(k).rank() == 3) return {};
  return make_diag<DiagCode::MRV0208>(fmt::format("input {} is no tensor of rank 3", k));
}

// Inputs: x, weights, bias, mask, past, bias of scores, length of the past in a shared buffer.
Status attention(Decomposition& r) {
  MRVLC_TRY(check_batched(r, 0));
  MRVLC_TRY(r.refuse(6, "past_sequence_length"));
  MRVLC_ASSIGN(int64_t heads, head_count(r, "num_heads"));
  MRVLC_ASSIGN(std::vector<int64_t> widths, packed_widths(r, 1, heads));
  std::string qkv = r.add("MatMul", {r.in(0), r.in(1)});
  if (r.has(2)) qkv = r.add("Add", {qkv, r.in(2)});
  return attend_packed(r, qkv, widths, heads, 3, 4, 5);
}

// Inputs: x, weights, bias, scale of x, scale of the weights, mask, zero of x, zero of the weights, past.
Status quantized_attention(Decomposition& r) {
  MRVLC_TRY(check_batched(r, 0));
  MRVLC_ASSIGN(int64_t heads, head_count(r, "num_heads"));
  MRVLC_ASSIGN(std::vector<int64_t> widths, packed_widths(r, 1, heads));
  std::string sum = r.add("MatMulInteger", {r.in(0), r.in(1), r.in(6), r.in(7)});
  std::string scale = r.add("Mul", {r.in(3), r.in(4)});
  std::string qkv = r.add("Mul", {r.add("CastLike", {sum, r.in(3)}), scale});
  qkv = r.add("Add", {qkv, r.in(2)});
  return attend_packed(r, qkv, widths, heads, 5, 8, r.inputs());
}

// -- MultiHeadAttention

enum MultiHead : size_t { kQ, kK, kV, kBias, kMask, kScoreBias, kPastKey, kPastValue, kPastLength, kBeams };

// A part of the packed bias, `from` the first of it, for heads [batch, length, heads, size] or a whole row.
std::string with_packed_bias(Decomposition& r, const std::string& x, int64_t from, int64_t width,
                             int64_t heads) {
  if (!r.has(kBias)) return x;
  std::string bias = r.slice(r.in(kBias), from, from + width, 0);
  if (heads > 0) bias = r.reshape(bias, {heads, -1});
  return r.add("Add", {x, bias});
}

// Place `at` of operand k [batch, length, heads, parts, size], with a bias.
std::string packed_part(Decomposition& r, size_t k, int64_t at, int64_t bias_at, int64_t heads) {
  const int64_t width = heads * r.type(k).shape[4];
  return r.transpose(with_packed_bias(r, r.pick(r.in(k), at, 3), bias_at * width, width, heads),
                     {0, 2, 1, 3});
}

struct MultiHeadForm {
  int64_t heads, width, v_width;  // of all heads
  bool packed_qkv, packed_kv, cached;
};

Status check_form(const Decomposition& r, const MultiHeadForm& f) {
  const int64_t q = r.type(kQ).rank(), k = r.type(kK).rank(), v = r.type(kV).rank();
  const bool fits = f.packed_qkv  ? q == 5 && !r.has(kK) && !r.has(kV)
                    : f.packed_kv ? q == 3 && k == 5 && !r.has(kV)
                                  : q == 3 && k == v && (k == 3 || k == 4);
  const bool packed_fits =
      (!f.packed_qkv || (r.type(kQ).shape[2] == f.heads && r.type(kQ).shape[3] == 3)) &&
      (!f.packed_kv || !fits || (r.type(kK).shape[2] == f.heads && r.type(kK).shape[3] == 2));
  if (!fits || !packed_fits)
    return make_diag<DiagCode::MRV0208>("query, key and value are of none of the forms that are supported");
  if (f.width % f.heads != 0 || f.v_width % f.heads != 0)
    return make_diag<DiagCode::MRV0140>("num_heads",
                                        fmt::format("does not divide {} and {}", f.width, f.v_width));
  if (r.has(kPastKey) != r.has(kPastValue))
    return make_diag<DiagCode::MRV0208>("past_key and past_value must be given together");
  if (f.cached && r.has(kPastKey))
    return make_diag<DiagCode::MRV0208>("keys and values of rank 4 take no past");
  return {};
}

Result<MultiHeadForm> multi_head_form(const Decomposition& r) {
  MultiHeadForm f{};
  MRVLC_ASSIGN(f.heads, head_count(r, "num_heads"));
  MRVLC_ASSIGN(f.width, known_width(r, kQ, "query"));
  f.packed_qkv = r.type(kQ).rank() == 5;
  f.packed_kv = r.type(kK).rank() == 5;
  f.cached = r.type(kK).rank() == 4;
  if (f.packed_qkv) f.width *= f.heads;
  f.v_width = f.width;
  if (!f.packed_qkv && !f.packed_kv) {
    MRVLC_ASSIGN(f.v_width, known_width(r, kV, "value"));
    if (f.cached) f.v_width *= f.heads;
  }
  MRVLC_TRY(check_form(r, f));
  return f;
}

Heads multi_heads(Decomposition& r, const MultiHeadForm& f) {
  Heads h;
  if (f.packed_qkv) {
    h.q = packed_part(r, kQ, 0, 0, f.heads);
    h.k = packed_part(r, kQ, 1, 1, f.heads);
    h.v = packed_part(r, kQ, 2, 2, f.heads);
    return h;
  }
  h.q = split_heads(r, with_packed_bias(r, r.in(kQ), 0, f.width, 0), f.heads);
  if (f.packed_kv) {
    h.k = packed_part(r, kK, 0, 1, f.heads);
    h.v = packed_part(r, kK, 1, 2, f.heads);
  } else if (f.cached) {
    h.k = r.in(kK), h.v = r.in(kV);
  } else {
    h.k = split_heads(r, with_packed_bias(r, r.in(kK), f.width, f.width, 0), f.heads);
    h.v = split_heads(r, with_packed_bias(r, r.in(kV), 2 * f.width, f.v_width, 0), f.heads);
  }
  return h;
}

Status multi_head_attention(Decomposition& r) {
  MRVLC_TRY(r.refuse(kPastLength, "past_sequence_length"));
  MRVLC_TRY(r.refuse(kBeams, "cache_indirection"));
  MRVLC_ASSIGN(MultiHeadForm f, multi_head_form(r));
  Heads h = multi_heads(r, f);
  h.scale = attention_scale(r, f.width / f.heads);
  if (r.has(kPastKey)) {
    h.k = r.concat({r.in(kPastKey), h.k}, 2);
    h.v = r.concat({r.in(kPastValue), h.v}, 2);
  }
  r.result(1, h.k);
  r.result(2, h.v);
  MRVLC_TRY(add_biases(r, kMask, kScoreBias, h));
  Attended attended = attend(r, h);
  r.result(0, attended.y);
  r.result(3, attended.scores);
  return {};
}

}  // namespace

const std::vector<ContribOp>& contrib_attention() {
  static constexpr std::string_view kDomain = "com.microsoft";
  static constexpr std::string_view kParts = "MatMul, Softmax, MatMul";
  static const std::vector<ContribOp> ops = {
      {kDomain, "Attention", 2, 7, attention, kParts},
      {kDomain, "MultiHeadAttention", 1, 10, multi_head_attention, kParts},
      {kDomain, "QAttention", 5, 9, quantized_attention, "MatMulInteger, MatMul, Softmax, MatMul"},
  };
  return ops;
}

}  // namespace mrvlc::onnx
