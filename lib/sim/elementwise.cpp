// Element-wise instructions of the vector unit.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "arithmetic.h"
#include "functional.h"

namespace mrvlc::sim {
namespace {

using isa::EwOp;
using Dims = std::array<uint32_t, 5>;

template <class F>
void binary(float* a, const float* b, size_t n, F f) {
  for (size_t i = 0; i < n; ++i) a[i] = f(a[i], b[i]);
}

template <class F>
void unary(float* a, size_t n, F f) {
  for (size_t i = 0; i < n; ++i) a[i] = f(a[i]);
}

// a = op(a, b), element by element.
void apply(const isa::Elementwise& e, float* a, const float* b, size_t n) {
  const float alpha = e.alpha, beta = e.beta;
  switch (e.op) {
    case EwOp::Copy:
      return;
    case EwOp::Fill:
      return unary(a, n, [=](float) { return alpha; });
    case EwOp::Add:
      return binary(a, b, n, [](float x, float y) { return x + y; });
    case EwOp::Sub:
      return binary(a, b, n, [](float x, float y) { return x - y; });
    case EwOp::Mul:
      return binary(a, b, n, [](float x, float y) { return x * y; });
    case EwOp::Div:
      return binary(a, b, n, [](float x, float y) { return x / y; });
    case EwOp::Max:
      return binary(a, b, n, maximum);
    case EwOp::Min:
      return binary(a, b, n, minimum);
    case EwOp::AxpBy:
      return binary(a, b, n, [=](float x, float y) { return std::fma(alpha, x, beta * y); });
    case EwOp::Prelu:
      return binary(a, b, n, [](float x, float y) { return x < 0 ? x * y : x; });
    case EwOp::Affine:
      return unary(a, n, [=](float x) { return std::fma(alpha, x, beta); });
    case EwOp::Sqrt:
      return unary(a, n, [](float x) { return std::sqrt(x); });
    case EwOp::Reciprocal:
      return unary(a, n, [](float x) { return 1.0f / x; });
    case EwOp::Abs:
      return unary(a, n, [](float x) { return std::fabs(x); });
    case EwOp::Neg:
      return unary(a, n, [](float x) { return -x; });
    case EwOp::Equal:
      return binary(a, b, n, [](float x, float y) { return x == y ? 1.0f : 0.0f; });
    case EwOp::Less:
      return binary(a, b, n, [](float x, float y) { return x < y ? 1.0f : 0.0f; });
    case EwOp::Greater:
      return binary(a, b, n, [](float x, float y) { return x > y ? 1.0f : 0.0f; });
    case EwOp::Floor:
      return unary(a, n, [](float x) { return std::floor(x); });
    case EwOp::Select:
      return binary(a, b, n, [=](float x, float y) { return x != 0 ? y : alpha; });
  }
}

int64_t row_offset(const isa::Operand& o, const std::array<uint32_t, 4>& index) {
  int64_t offset = o.address;
  for (size_t k = 0; k < 4; ++k) offset += int64_t{index[k]} * o.strides[k];
  return offset;
}

// Bytes [first, second) that a view covers.
std::pair<int64_t, int64_t> hull(const isa::Operand& o, const Dims& dims) {
  int64_t low = o.address, high = low + isa::data_bytes(o.type);
  for (size_t k = 0; k < 5; ++k) {
    int64_t reach = (int64_t{dims[k]} - 1) * o.strides[k];
    (reach < 0 ? low : high) += reach;
  }
  return {low, high};
}

// Whether a whole row may be read before it is written: the result differs from one element at a time only
// when an element written is read later in the row.
bool rows_independent(const isa::Operand& dst, const isa::Operand& in, const Dims& dims) {
  auto [dst_low, dst_high] = hull(dst, dims);
  auto [in_low, in_high] = hull(in, dims);
  if (dst_high <= in_low || in_high <= dst_low) return true;
  auto size = static_cast<int64_t>(isa::data_bytes(dst.type));
  bool same =
      dst.address == in.address && data_bytes(dst.type) == data_bytes(in.type) && dst.strides == in.strides;
  return same && std::abs(int64_t{dst.strides[4]}) >= size;
}

class ElementwiseExecution {
 public:
  ElementwiseExecution(const isa::Elementwise& e, uint8_t tile, Memory& memory, Scratch& scratch)
      : e_(e), tile_(tile), memory_(memory), s_(scratch), operands_(isa::operand_count(e.op)) {}

  void run() {
    bool rows = (operands_ < 1 || rows_independent(e_.dst, e_.a, e_.dims)) &&
                (operands_ < 2 || rows_independent(e_.dst, e_.b, e_.dims));
    size_t chunk = rows ? std::min<size_t>(e_.dims[4], kChunk) : 1;
    s_.row_a.resize(chunk);
    s_.row_b.resize(chunk);
    bool move = e_.op == EwOp::Copy && e_.dst.type == e_.a.type && e_.dst.quantization == e_.a.quantization &&
                e_.epilogue.activation == isa::Activation::None;
    std::array<uint32_t, 4> i{};
    for (i[0] = 0; i[0] < e_.dims[0]; ++i[0])
      for (i[1] = 0; i[1] < e_.dims[1]; ++i[1])
        for (i[2] = 0; i[2] < e_.dims[2]; ++i[2])
          for (i[3] = 0; i[3] < e_.dims[3]; ++i[3])
            for (size_t at = 0; at < e_.dims[4]; at += chunk)
              part(i, at, std::min<size_t>(chunk, e_.dims[4] - at), move);
  }

 private:
  static constexpr size_t kChunk = 4096;

  std::byte* at(const isa::Operand& o, const std::array<uint32_t, 4>& index, size_t column) {
    int64_t address = row_offset(o, index) + static_cast<int64_t>(column) * o.strides[4];
    return memory_.ocm(tile_, static_cast<uint64_t>(address));
  }

  void part(const std::array<uint32_t, 4>& index, size_t column, size_t n, bool move) {
    std::byte* out = at(e_.dst, index, column);
    if (move) return move_bits(out, at(e_.a, index, column), n);
    if (operands_ >= 1)
      load(e_.a.type, e_.a.quantization, at(e_.a, index, column), e_.a.strides[4], s_.row_a.data(), n);
    if (operands_ >= 2)
      load(e_.b.type, e_.b.quantization, at(e_.b, index, column), e_.b.strides[4], s_.row_b.data(), n);
    apply(e_, s_.row_a.data(), s_.row_b.data(), n);
    const std::byte* table =
        isa::table_bytes(e_.epilogue.activation) > 0 ? memory_.ocm(tile_, e_.epilogue.table) : nullptr;
    activate(e_.epilogue, table, s_.row_a.data(), n);
    if (flag_stored(e_.dst.type, s_.row_a.data(), n, s_.flags)) flag_overflow(index, column, n);
    store(stored_as(e_.dst.type, e_.dst.quantization, e_.epilogue, table), out, e_.dst.strides[4],
          s_.row_a.data(), n);
  }

  // Before the row is stored, which may be over its operands.
  void flag_overflow(const std::array<uint32_t, 4>& index, size_t column, size_t n) {
    const auto names_alpha =
        e_.op == EwOp::Fill || e_.op == EwOp::AxpBy || e_.op == EwOp::Affine || e_.op == EwOp::Select;
    const bool names_beta = e_.op == EwOp::AxpBy || e_.op == EwOp::Affine;
    if ((names_alpha && std::isinf(e_.alpha)) || (names_beta && std::isinf(e_.beta))) return;
    auto infinite = [&](const isa::Operand& o, size_t k) {
      float v = 0;
      load(o.type, o.quantization, at(o, index, column + k), 0, &v, 1);
      return std::isinf(v);
    };
    for (size_t k = 0; k < n; ++k) {
      if (!stored_infinite(e_.dst.type, s_.row_a[k])) continue;
      if (operands_ >= 1 && infinite(e_.a, k)) continue;
      if (operands_ >= 2 && infinite(e_.b, k)) continue;
      raise(Flag::Overflow, s_.flags);
    }
  }

  // A copy between equal types keeps every bit, NaN payloads included.
  void move_bits(std::byte* out, const std::byte* in, size_t n) {
    size_t size = isa::data_bytes(e_.dst.type);
    auto width = static_cast<int64_t>(size);
    if (e_.dst.strides[4] == width && e_.a.strides[4] == width) {
      std::memmove(out, in, n * size);
      return;
    }
    for (size_t k = 0; k < n; ++k, out += e_.dst.strides[4], in += e_.a.strides[4])
      std::memmove(out, in, size);
  }

  const isa::Elementwise& e_;
  uint8_t tile_;
  Memory& memory_;
  Scratch& s_;
  int operands_;
};

}  // namespace

void execute_elementwise(const isa::Elementwise& e, uint8_t tile, Memory& memory, Scratch& scratch) {
  ElementwiseExecution(e, tile, memory, scratch).run();
}

}  // namespace mrvlc::sim
