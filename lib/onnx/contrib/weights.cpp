// Weights of few bits: rows that are looked up, and the LSTM with quantised weights.
#include "contrib/weights.h"

#include "mrvlc/support/diag/onnx.h"
#include "mrvlc/support/diag/ops.h"

namespace mrvlc::onnx {

std::string unpack_bits(Decomposition& r, const std::string& packed, int64_t bits, int64_t rank) {
  if (bits == 8) return packed;
  std::vector<std::string> numbers;
  std::string last = r.constant({-1}), base = r.cast(r.constant({int64_t{1} << bits}), ElementType::U8);
  for (int64_t shift = 0; shift < 8; shift += bits) {
    std::string from = packed;
    if (shift > 0) from = r.add("Div", {from, r.cast(r.constant({int64_t{1} << shift}), ElementType::U8)});
    if (shift + bits < 8) from = r.add("Mod", {from, base});
    numbers.push_back(r.add("Unsqueeze", {from, last}));
  }
  if (rank < 1) return packed;
  std::vector<int64_t> dims(static_cast<size_t>(rank - 1), 0);
  dims.push_back(-1);
  return r.reshape(r.concat(numbers, -1), dims);
}

namespace {

// -- GatherBlockQuantized. Inputs: data, indices, scales, zeros.

struct BlockedTable {
  int64_t rank, gather, quantize, bits, block;
  bool packed;              // numbers of `bits` in bytes, along the last dimension
  int64_t numbers, blocks;  // along the quantised dimension
  // Where the quantised dimension is behind the lookup, whose indices have that rank.
  int64_t axis(int64_t index_rank) const { return quantize < gather ? quantize : quantize + index_rank - 1; }
};

Status check_table(const Decomposition& r, const BlockedTable& t) {
  if (t.bits != 2 && t.bits != 4 && t.bits != 8)
    return make_diag<DiagCode::MRV0140>("bits", fmt::format("{} is not supported", t.bits));
  if (t.block < 16 || t.block > (int64_t{1} << 30) || (t.block & (t.block - 1)) != 0)
    return make_diag<DiagCode::MRV0140>("block_size", "must be a power of two from 16 on");
  if (t.rank < 1 || t.gather < 0 || t.gather >= t.rank)
    return make_diag<DiagCode::MRV0140>("gather_axis", "is no dimension of the data");
  if (t.quantize < 0 || t.quantize >= t.rank)
    return make_diag<DiagCode::MRV0140>("quantize_axis", "is no dimension of the data");
  if (t.packed && t.gather == t.rank - 1 && t.bits != 8)
    return make_diag<DiagCode::MRV0140>("gather_axis", "is the dimension along which numbers are packed");
  if (r.type(0).dynamic != 0 || r.type(2).dynamic != 0 || r.type(2).rank() != t.rank)
    return make_diag<DiagCode::MRV0205>(to_string(r.type(0)), to_string(r.type(2)),
                                        "data and scales are not of one rank and of known shapes");
  return {};
}

Result<BlockedTable> blocked_table(const Decomposition& r) {
  const ElementType elem = r.type(0).elem;
  BlockedTable t{};
  t.rank = r.type(0).rank();
  auto axis = [&](std::string_view name, int64_t otherwise) {
    const int64_t given = r.int_attr(name, otherwise);
    return given < 0 ? given + t.rank : given;
  };
  t.gather = axis("gather_axis", 0);
  t.quantize = axis("quantize_axis", 1);
  t.bits = r.int_attr("bits", 4);
  t.block = r.int_attr("block_size", 128);
  t.packed = elem == ElementType::U8;
  if (!t.packed && elem != ElementType::I4 && elem != ElementType::U4)
    return make_diag<DiagCode::MRV0208>(fmt::format("data of type {} are not supported", name(elem)));
  MRVLC_TRY(check_table(r, t));
  const auto at = static_cast<size_t>(t.quantize);
  t.numbers = r.type(0).shape[at] * (t.packed && t.quantize == t.rank - 1 ? 8 / t.bits : 1);
  t.blocks = r.type(2).shape[at];
  if (t.blocks != t.numbers / t.block + (t.numbers % t.block != 0))
    return make_diag<DiagCode::MRV0205>(to_string(r.type(0)), to_string(r.type(2)),
                                        fmt::format("{} numbers are no {} blocks", t.numbers, t.blocks));
  return t;
}

std::string looked_up(Decomposition& r, const BlockedTable& t, size_t k) {
  std::string y = r.add("Gather", {r.in(k), r.in(1)});
  r.set("axis", t.gather);
  return y;
}

// The rows of input k as numbers of the type of the scales.
std::string numbers_of(Decomposition& r, const BlockedTable& t, size_t k, const std::string& rows,
                       int64_t rank) {
  std::string y = t.packed ? unpack_bits(r, rows, t.bits, rank) : rows;
  if (t.packed && t.bits != 8 && k == 3 && t.quantize == t.rank - 1) y = r.slice(y, 0, t.blocks, rank - 1);
  return r.add("CastLike", {y, r.in(2)});
}

// A number a block as a number an element, along `axis`.
std::string by_element(Decomposition& r, const BlockedTable& t, const std::string& x, int64_t axis) {
  std::vector<int64_t> places;
  for (int64_t i = 0; i < t.numbers; ++i) places.push_back(i / t.block);
  std::string y = r.add("Gather", {x, r.constant(places)});
  r.set("axis", axis);
  return y;
}

Status gather_block_quantized(Decomposition& r) {
  MRVLC_ASSIGN(BlockedTable t, blocked_table(r));
  const bool same = t.gather == t.quantize;  // blocks along the rows: all of the table becomes numbers first
  const int64_t index_rank = r.type(1).rank(), rank = same ? t.rank : t.rank - 1 + index_rank;
  const int64_t axis = same ? t.quantize : t.axis(index_rank);
  auto rows = [&](size_t k) { return same ? r.in(k) : looked_up(r, t, k); };
  std::string y = numbers_of(r, t, 0, rows(0), rank);
  if (r.has(3)) {
    y = r.add("Sub", {y, by_element(r, t, numbers_of(r, t, 3, rows(3), rank), axis)});
  } else if (t.packed) {
    y = r.add("Sub", {y, r.scalar(static_cast<float>(1 << (t.bits - 1)), r.in(2))});
  }
  y = r.add("Mul", {y, by_element(r, t, rows(2), axis)});
  if (same) {
    y = r.add("Gather", {y, r.in(1)});
    r.set("axis", t.gather);
  }
  r.result(0, y);
  return {};
}

// -- MatMulBnb4: A B^T, B of numbers of four bits, each the place in a table of floats, and a factor a block.
// Inputs: A, B as bytes with the first number in the high bits, the factors. Rows of B follow each other, and
// blocks do not begin with rows.

constexpr float kFp4[16] = {
    0.0f,  5.208333333e-03f,  0.66666667f,  1.0f,  0.33333333f,  0.5f,  0.16666667f,  0.25f,
    -0.0f, -5.208333333e-03f, -0.66666667f, -1.0f, -0.33333333f, -0.5f, -0.16666667f, -0.25f};
// Sixteen quantiles of a normal distribution, scaled to [-1, 1].
constexpr float kNf4[16] = {-1.0f,
                            -0.6961928009986877f,
                            -0.5250730514526367f,
                            -0.39491748809814453f,
                            -0.28444138169288635f,
                            -0.18477343022823334f,
                            -0.09105003625154495f,
                            0.0f,
                            0.07958029955625534f,
                            0.16093020141124725f,
                            0.24611230194568634f,
                            0.33791524171829224f,
                            0.44070982933044434f,
                            0.5626170039176941f,
                            0.7229568362236023f,
                            1.0f};

struct TableWeights {
  int64_t k, n, block;
  int64_t numbers() const { return k * n; }
  int64_t blocks() const { return numbers() / block + (numbers() % block != 0); }
};

Result<TableWeights> table_weights(const Decomposition& r) {
  const TableWeights w{r.int_attr("K", 0), r.int_attr("N", 0), r.int_attr("block_size", 0)};
  constexpr int64_t kMost = int64_t{1} << 31;
  if (w.k < 1 || w.k > kMost || w.n < 1 || w.n > kMost || w.k > (int64_t{1} << 40) / w.n)
    return make_diag<DiagCode::MRV0140>("K, N", "must be positive sizes");
  if (w.block < 16 || w.block > (int64_t{1} << 30) || (w.block & (w.block - 1)) != 0)
    return make_diag<DiagCode::MRV0140>("block_size", "must be a power of two from 16 on");
  const auto has = [&](size_t k, int64_t elements) {
    return r.type(k).dynamic == 0 && r.type(k).elements() == elements;
  };
  if (!has(1, (w.numbers() + 1) / 2) || !has(2, w.blocks()))
    return make_diag<DiagCode::MRV0205>(
        to_string(r.type(1)), to_string(r.type(2)),
        fmt::format("{} x {} numbers in blocks of {} are {} bytes and {} factors", w.n, w.k, w.block,
                    (w.numbers() + 1) / 2, w.blocks()));
  return w;
}

// The bytes as numbers from 0 to 15.
std::string high_first(Decomposition& r, const std::string& bytes) {
  const std::string last = r.constant({-1}), base = r.cast(r.constant({16}), ElementType::U8);
  const std::string high = r.add("Unsqueeze", {r.add("Div", {bytes, base}), last});
  const std::string low = r.add("Unsqueeze", {r.add("Mod", {bytes, base}), last});
  return r.reshape(r.concat({high, low}, -1), {-1});
}

Status matmul_bnb4(Decomposition& r) {
  MRVLC_ASSIGN(const TableWeights w, table_weights(r));
  MRVLC_TRY(r.expect("transB", 1));
  r.int_attr("training_mode", 0);  // what ONNX Runtime keeps for a gradient
  const int64_t kind = r.int_attr("quant_type", 1);
  if (kind != 0 && kind != 1)
    return make_diag<DiagCode::MRV0140>("quant_type",
                                        fmt::format("{} is not supported; 0 (FP4) and 1 (NF4) are", kind));
  std::string places = r.slice(high_first(r, r.reshape(r.in(1), {-1})), 0, w.numbers(), 0);
  const std::string table = r.add("Constant", {});
  r.set("value_floats", std::span<const float>(kind == 0 ? kFp4 : kNf4));
  std::string y = r.add("Gather", {table, r.cast(places, ElementType::I32)});
  if (w.numbers() % w.block != 0) y = r.add("Pad", {y, r.constant({0, w.blocks() * w.block - w.numbers()})});
  const std::string factors = r.cast(r.reshape(r.in(2), {-1, 1}), ElementType::F32);
  y = r.add("Mul", {r.reshape(y, {w.blocks(), w.block}), factors});
  y = r.reshape(r.slice(r.reshape(y, {-1}), 0, w.numbers(), 0), {w.n, w.k});
  r.result(0, r.add("MatMul", {r.in(0), r.transpose(r.add("CastLike", {y, r.in(0)}), {1, 0})}));
  return {};
}

// -- DynamicQuantizeLSTM. Inputs: those of LSTM, then scale and zero of W, scale and zero of R. W and R are
// [directions, size, 4 hidden].

std::string dequantized(Decomposition& r, size_t weights, size_t scale) {
  auto by_column = [&](size_t k) {
    return r.add("CastLike", {r.add("Unsqueeze", {r.in(k), r.constant({1})}), r.in(scale)});
  };
  auto spread = [&](size_t k) {
    return r.type(k).rank() == 2 ? by_column(k)
                                 : r.add("CastLike", {r.reshape(r.in(k), {-1, 1, 1}), r.in(scale)});
  };
  std::string y = r.add("CastLike", {r.in(weights), r.in(scale)});
  if (r.has(scale + 1)) y = r.add("Sub", {y, spread(scale + 1)});
  return r.transpose(r.add("Mul", {y, spread(scale)}), {0, 2, 1});
}

// ONNX Runtime rounds inputs and states to eight bits as it goes; here they are exact.
Status dynamic_quantize_lstm(Decomposition& r) {
  for (size_t k : {size_t{8}, size_t{10}}) {
    if (!r.has(k)) return make_diag<DiagCode::MRV0208>(fmt::format("input {} (scale) is required", k));
  }
  std::string w = dequantized(r, 1, 8), rec = dequantized(r, 2, 10);
  std::string y = r.add("LSTM", {r.in(0), w, rec, r.in(3), r.in(4), r.in(5), r.in(6), r.in(7)}, 3);
  r.pass({"activation_alpha", "activation_beta", "activations", "clip", "direction", "hidden_size",
          "input_forget"});
  for (int k = 0; k < 3; ++k) r.result(k, k == 0 ? y : Decomposition::also(y, k));
  return {};
}

}  // namespace

const std::vector<ContribOp>& contrib_weights() {
  static constexpr std::string_view kDomain = "com.microsoft";
  static const std::vector<ContribOp> ops = {
      {kDomain, "GatherBlockQuantized", 3, 4, gather_block_quantized, "Gather, Sub, Mul"},
      {kDomain, "MatMulBnb4", 3, 3, matmul_bnb4, "the weights in floats, MatMul"},
      {kDomain, "DynamicQuantizeLSTM", 11, 12, dynamic_quantize_lstm, "LSTM with weights in floats"},
  };
  return ops;
}

}  // namespace mrvlc::onnx
