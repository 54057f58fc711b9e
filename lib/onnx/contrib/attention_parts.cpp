// Heads, masks and the weighted sum that operators of attention are made of.
#include <cmath>

#include "contrib/attention.h"
#include "mrvlc/support/diag/onnx.h"
#include "mrvlc/support/diag/ops.h"

namespace mrvlc::onnx {

std::string split_heads(Decomposition& r, const std::string& x, int64_t heads) {
  return r.transpose(r.reshape(x, {0, 0, heads, -1}), {0, 2, 1, 3});
}

float attention_scale(const Decomposition& r, int64_t size) {
  // ONNX Runtime takes 0 as not given.
  const float given = r.float_attr("scale", 0);
  return given == 0 ? 1 / std::sqrt(static_cast<float>(size)) : given;
}

std::string bias_where(Decomposition& r, const std::string& keep, float otherwise, const std::string& like) {
  return r.add("Where", {keep, r.scalar(0, like), r.scalar(otherwise, like)});
}

std::string causal_keep(Decomposition& r, const std::string& q, const std::string& k) {
  std::string rows = r.size(q, 2), columns = r.size(k, 2);
  std::string last = r.add("Add", {r.count(rows), r.add("Sub", {columns, rows})});
  return r.add("LessOrEqual", {r.count(columns), r.add("Unsqueeze", {last, r.constant({1})})});
}

// The softmax of the scores, with a column for the sink, whose probability is dropped.
static std::string softmax_with_sink(Decomposition& r, const std::string& scores, const std::string& sink) {
  std::string shape = r.concat({r.size(scores, 0), r.constant({1}), r.size(scores, 2), r.constant({1})}, 0);
  std::string column = r.add("Expand", {r.reshape(sink, {1, -1, 1, 1}), shape});
  std::string all = r.add("Softmax", {r.concat({scores, column}, -1)});
  r.set("axis", int64_t{-1});
  return r.slice(all, 0, -1, 3);
}

Attended attend(Decomposition& r, const Heads& heads) {
  Attended result;
  std::string s = r.add("MatMul", {heads.q, r.transpose(heads.k, {0, 1, 3, 2})});
  if (heads.scale != 1) s = r.add("Mul", {s, r.scalar(heads.scale, heads.q)});
  if (heads.softcap > 0) {
    std::string cap = r.scalar(heads.softcap, heads.q);
    s = r.add("Mul", {r.add("Tanh", {r.add("Div", {s, cap})}), cap});
  }
  for (const std::string& bias : heads.biases) s = r.add("Add", {s, bias});
  result.scores = s;
  std::string p;
  if (heads.sink.empty()) {
    p = r.add("Softmax", {s});
    r.set("axis", int64_t{-1});
  } else {
    p = softmax_with_sink(r, s, heads.sink);
  }
  std::string y = r.transpose(r.add("MatMul", {p, heads.v}), {0, 2, 1, 3});
  result.y = r.reshape(y, {0, 0, -1});
  return result;
}

Result<int64_t> head_count(const Decomposition& r, std::string_view name) {
  const int64_t heads = r.int_attr(name, 0);
  if (heads >= 1 && heads <= 65536) return heads;
  return make_diag<DiagCode::MRV0140>(name,
                                      r.attribute(name) == nullptr ? "is required" : "must be positive");
}

Result<int64_t> known_width(const Decomposition& r, size_t k, std::string_view name) {
  const TensorType& type = r.type(k);
  const int64_t rank = type.rank();
  if (!r.has(k)) return make_diag<DiagCode::MRV0208>(fmt::format("input {} ({}) is required", k, name));
  const int64_t width = rank == 0 ? 0 : type.shape[static_cast<size_t>(rank - 1)];
  if (width < 1 || type.is_dynamic(rank - 1))
    return make_diag<DiagCode::MRV0208>(
        fmt::format("the last dimension of input {} ({}) is not known", k, name));
  return width;
}

}  // namespace mrvlc::onnx
