// GroupQueryAttention and RotaryEmbedding.
#include <cmath>

#include "contrib/attention.h"
#include "mrvlc/support/diag/onnx.h"
#include "mrvlc/support/diag/ops.h"

namespace mrvlc::onnx {
namespace {

// x [batch, heads, length, size], or with `packed_heads` [batch, length, heads * size], turned by the angles
// of `positions` [batch, length].
std::string turn(Decomposition& r, const std::string& x, size_t cosines, size_t sines,
                 const std::string& positions, int64_t packed_heads) {
  std::string y = r.add("RotaryEmbedding", {x, r.in(cosines), r.in(sines), positions});
  if (packed_heads > 0) r.set("num_heads", packed_heads);
  return y;
}

// -- RotaryEmbedding. Inputs: x, positions (or the first one), cosines, sines.

Status rotary_embedding(Decomposition& r) {
  MRVLC_TRY(r.expect("is_packed_batching", 0));
  if (const float scale = r.float_attr("scale", 1); scale != 1)
    return make_diag<DiagCode::MRV0140>("scale", fmt::format("{} is not supported", scale));
  MRVLC_ASSIGN(int64_t half, known_width(r, 2, "cos_cache"));
  const int64_t rank = r.type(0).rank(), part = r.int_attr("rotary_embedding_dim", 0);
  int64_t heads = r.int_attr("num_heads", 0);
  if (rank != 3 && rank != 4) return make_diag<DiagCode::MRV0208>("the input is of rank 3 or 4");
  if (rank == 3 && heads == 0) {
    if (part != 0) return make_diag<DiagCode::MRV0140>("num_heads", "is required with rotary_embedding_dim");
    MRVLC_ASSIGN(int64_t width, known_width(r, 0, "input"));
    heads = width / (2 * half);
  }
  std::string length = r.size(r.in(0), rank == 3 ? 1 : 2), positions = r.in(1);
  if (r.type(1).rank() == 1) {
    std::string from = r.add("Add", {r.in(1), r.count(length)});
    positions = r.add("Expand", {from, r.concat({r.size(r.in(0), 0), length}, 0)});
  }
  std::string y = turn(r, r.in(0), 2, 3, positions, rank == 3 ? heads : 0);
  if (part != 0) r.set("rotary_embedding_dim", part);
  r.set("interleaved", r.int_attr("interleaved", 0));
  r.result(0, y);
  return {};
}

// -- GroupQueryAttention

enum GroupQuery : size_t {
  kQuery,
  kKey,
  kValue,
  kKeyCache,
  kValueCache,
  kLengths,
  kTotal,
  kCosines,
  kSines,
  kPositions,
  kGroupBias,
  kSink,
  kKeyScale,
  kValueScale,
  kQueryNorm,
  kKeyNorm
};

struct Grouped {
  int64_t heads, kv_heads, size;
  bool causal;
  int64_t window;
};

Status refuse_quantized_cache(const Decomposition& r) {
  for (const char* name : {"k_quant_type", "v_quant_type"}) {
    const std::string type = r.string_attr(name);
    if (!type.empty() && type != "NONE")
      return make_diag<DiagCode::MRV0140>(name, fmt::format("'{}' is not supported", printable(type)));
  }
  r.int_attr("kv_cache_bit_width", 0);  // of quantised caches alone
  MRVLC_TRY(r.refuse(kKeyScale, "k_scale"));
  return r.refuse(kValueScale, "v_scale");
}

Status check_group_query(const Decomposition& r) {
  MRVLC_TRY(refuse_quantized_cache(r));
  MRVLC_TRY(r.expect("sliding_window_cache", 0));
  MRVLC_TRY(r.expect("qk_output", 0));
  if (r.has(kKey) != r.has(kValue))
    return make_diag<DiagCode::MRV0208>("key and value must be given together");
  if (r.has(kKeyCache) != r.has(kValueCache))
    return make_diag<DiagCode::MRV0208>("past_key and past_value must be given together");
  if (r.has(kQueryNorm) != r.has(kKeyNorm))
    return make_diag<DiagCode::MRV0208>("q_norm_weight and k_norm_weight must be given together");
  if (r.type(kQuery).rank() != 3) return make_diag<DiagCode::MRV0208>("the query is of rank 3");
  if (!r.has(kLengths) || !r.has(kTotal))
    return make_diag<DiagCode::MRV0208>("seqlens_k and total_sequence_length are required");
  if (r.int_attr("do_rotary", 0) != 0 && (!r.has(kCosines) || !r.has(kSines)))
    return make_diag<DiagCode::MRV0140>("do_rotary", "needs cos_cache and sin_cache");
  return {};
}

Result<Grouped> grouped(const Decomposition& r) {
  Grouped g{};
  MRVLC_ASSIGN(g.heads, head_count(r, "num_heads"));
  MRVLC_ASSIGN(g.kv_heads, head_count(r, "kv_num_heads"));
  MRVLC_ASSIGN(int64_t width, known_width(r, kQuery, "query"));
  const int64_t parts = r.has(kKey) ? g.heads : g.heads + 2 * g.kv_heads;
  if (g.heads % g.kv_heads != 0)
    return make_diag<DiagCode::MRV0140>("kv_num_heads", fmt::format("does not divide {} heads", g.heads));
  if (width % parts != 0)
    return make_diag<DiagCode::MRV0140>("num_heads", fmt::format("{} heads do not divide {}", parts, width));
  g.size = width / parts;
  g.causal = r.int_attr("causal", 1) != 0;
  g.window = r.int_attr("local_window_size", -1);
  if (!g.causal && g.window > 0)
    return make_diag<DiagCode::MRV0140>("local_window_size", "is not supported without a causal mask");
  MRVLC_TRY(check_group_query(r));
  return g;
}

// Queries, keys and values of heads, from three inputs or one.
Heads split_groups(Decomposition& r, const Grouped& g) {
  Heads h;
  if (r.has(kKey)) {
    h.q = split_heads(r, r.in(kQuery), g.heads);
    h.k = split_heads(r, r.in(kKey), g.kv_heads);
    h.v = split_heads(r, r.in(kValue), g.kv_heads);
    return h;
  }
  const int64_t q = g.heads * g.size, k = q + g.kv_heads * g.size, v = k + g.kv_heads * g.size;
  h.q = split_heads(r, r.slice(r.in(kQuery), 0, q, 2), g.heads);
  h.k = split_heads(r, r.slice(r.in(kQuery), q, k, 2), g.kv_heads);
  h.v = split_heads(r, r.slice(r.in(kQuery), k, v, 2), g.kv_heads);
  return h;
}

void normalize_heads(Decomposition& r, Heads& h) {
  const float epsilon = r.float_attr("qk_norm_epsilon", 1e-6f);
  if (!r.has(kQueryNorm)) return;
  for (auto& [x, weight] : {std::pair<std::string&, size_t>{h.q, kQueryNorm}, {h.k, kKeyNorm}}) {
    x = r.add("RMSNormalization", {x, r.in(weight)});
    r.set("axis", int64_t{-1}).set("epsilon", epsilon);
  }
}

void rotate_heads(Decomposition& r, const std::string& past, Heads& h) {
  const int64_t interleaved = r.int_attr("rotary_interleaved", 0);
  if (r.int_attr("do_rotary", 0) == 0) return;
  std::string length = r.size(h.q, 2), positions = r.in(kPositions);
  if (!r.has(kPositions)) {
    std::string from = r.add("Add", {r.add("Unsqueeze", {past, r.constant({1})}), r.count(length)});
    positions = from;
  }
  const TensorType& cosines = r.type(kCosines);
  const int64_t rank = cosines.rank();
  const int64_t size = rank == 0 ? 0 : 2 * cosines.shape[static_cast<size_t>(rank - 1)];
  for (std::string* x : {&h.q, &h.k}) {
    *x = turn(r, *x, kCosines, kSines, positions, 0);
    r.set("interleaved", interleaved).set("rotary_embedding_dim", size);
  }
}

// New rows behind those of the past: a cache with room for them is written to, others grow by them.
std::string extend_cache(Decomposition& r, size_t cache, const std::string& rows, const std::string& past) {
  std::string old = r.in(cache), total = r.cast(r.in(kTotal), ElementType::I64);
  std::string room = r.add("Sub", {r.reshape(total, {1}), r.size(old, 2)});
  room = r.add("Max", {room, r.constant({0})});
  std::string tail = r.add(
      "Expand", {r.scalar(0, rows), r.concat({r.size(old, 0), r.size(old, 1), room, r.size(old, 3)}, 0)});
  std::string written = r.add("TensorScatter", {r.concat({old, tail}, 2), rows, past});
  r.set("axis", int64_t{2});
  // What lies behind the new rows is no longer of this text.
  std::string end = r.reshape(r.add("Add", {past, r.size(rows, 2)}), {-1, 1, 1, 1});
  std::string row = r.reshape(r.count(r.size(written, 2)), {1, 1, -1, 1});
  return r.add("Where", {r.add("Less", {row, end}), written, r.scalar(0, rows)});
}

// Each key and value head, once for every query head that shares it.
std::string shared(Decomposition& r, const std::string& x, const Grouped& g) {
  const int64_t times = g.heads / g.kv_heads;
  if (times == 1) return x;
  std::vector<int64_t> places;
  for (int64_t h = 0; h < g.heads; ++h) places.push_back(h / times);
  std::string y = r.add("Gather", {x, r.constant(places)});
  r.set("axis", int64_t{1});
  return y;
}

// Which keys a query sees, [batch, 1, queries, keys]: those that are there, not behind it, in its window.
std::string visible(Decomposition& r, const Grouped& g, const Heads& h, const std::string& past) {
  std::string columns = r.reshape(r.count(r.size(h.k, 2)), {1, 1, 1, -1});
  std::string rows = r.reshape(r.count(r.size(h.q, 2)), {1, 1, -1, 1});
  std::string row = r.add("Add", {rows, r.reshape(past, {-1, 1, 1, 1})});
  if (!g.causal) {
    std::string lengths = r.reshape(r.cast(r.in(kLengths), ElementType::I64), {-1, 1, 1, 1});
    return r.add("LessOrEqual", {columns, lengths});
  }
  std::string keep = r.add("LessOrEqual", {columns, row});
  if (g.window <= 0) return keep;
  std::string first = r.add("Sub", {row, r.constant({g.window})});
  return r.add("And", {keep, r.add("Greater", {columns, first})});
}

// Keys that each text has already: its length without the new rows; none where all rows are new.
std::string past_lengths(Decomposition& r, const Heads& h) {
  std::string all =
      r.add("Add", {r.cast(r.reshape(r.in(kLengths), {-1}), ElementType::I64), r.constant({1})});
  return r.add("Max", {r.add("Sub", {all, r.size(h.q, 2)}), r.constant({0})});
}

Status group_query_attention(Decomposition& r) {
  MRVLC_ASSIGN(Grouped g, grouped(r));
  Heads h = split_groups(r, g);
  std::string past = past_lengths(r, h);
  normalize_heads(r, h);
  rotate_heads(r, past, h);
  if (r.has(kKeyCache)) {
    h.k = extend_cache(r, kKeyCache, h.k, past);
    h.v = extend_cache(r, kValueCache, h.v, past);
  }
  r.result(1, h.k);
  r.result(2, h.v);
  h.biases.push_back(bias_where(r, visible(r, g, h, past), -INFINITY, h.q));
  if (r.has(kGroupBias)) h.biases.push_back(r.in(kGroupBias));
  h.scale = attention_scale(r, g.size);
  h.softcap = r.float_attr("softcap", 0);
  h.k = shared(r, h.k, g);
  h.v = shared(r, h.v, g);
  const bool smooth = r.int_attr("smooth_softmax", 0) == 1;
  if (r.has(kSink)) {
    h.sink = r.in(kSink);
  } else if (smooth) {
    h.sink = r.add("Expand", {r.scalar(0, h.q), r.constant({g.heads})});
  }
  r.result(0, attend(r, h).y);
  return {};
}

}  // namespace

const std::vector<ContribOp>& contrib_group_query() {
  static constexpr std::string_view kDomain = "com.microsoft";
  static const std::vector<ContribOp> ops = {
      {kDomain, "GroupQueryAttention", 7, 16, group_query_attention,
       "RotaryEmbedding, TensorScatter, MatMul, Softmax, MatMul"},
      {kDomain, "RotaryEmbedding", 4, 4, rotary_embedding, "RotaryEmbedding"},
  };
  return ops;
}

}  // namespace mrvlc::onnx
