// Elementwise, Reduce and Pool.
#include <fmt/format.h>

#include <algorithm>

#include "machine/machine.h"

namespace mrvlc::prove {
namespace {

std::array<uint32_t, 5> dims_of(const Instruction& i) {
  std::array<uint32_t, 5> d{};
  for (size_t k = 0; k < 5; ++k) d[k] = i.u32(76 + 4 * k);
  return d;
}

// Calls f(index) for all indices in row-major order.
template <class F>
void for_all(const std::array<uint32_t, 5>& dims, F f) {
  std::array<uint32_t, 5> at{};
  for (;;) {
    f(at);
    size_t d = 5;
    for (; d > 0; --d) {
      if (++at[d - 1] < dims[d - 1]) break;
      at[d - 1] = 0;
    }
    if (d == 0) return;
  }
}

template <class Operand>
uint64_t address(const Operand& o, const std::array<uint32_t, 5>& at) {
  int64_t a = static_cast<int64_t>(o.at);
  for (size_t d = 0; d < 5; ++d) a += at[d] * o.strides[d];
  return static_cast<uint64_t>(a);
}

bool reads_a(uint8_t op) {
  return op != 1;
}
bool reads_b(uint8_t op) {
  return (op >= 2 && op <= 9) || (op >= 15 && op <= 17) || op == 19;
}

}  // namespace

Val Machine::operation(const Instruction& i, Val a, Val b) {
  const Val alpha = number(i.f32(68)), beta = number(i.f32(72));
  switch (i.u8(64)) {
    case 0:
      return a;
    case 1:
      return alpha;
    case 2:
      return v_.add(a, b);
    case 3:
      return v_.sub(a, b);
    case 4:
      return v_.mul(a, b);
    case 5:
      return v_.div(a, b);
    case 6:
      return v_.max(a, b);
    case 7:
      return v_.min(a, b);
    case 8:
      return v_.fma(alpha, a, v_.mul(beta, b));
    case 9:
      return v_.prelu(a, b);
    case 10:
      return v_.fma(alpha, a, beta);
    case 11:
      return v_.sqrt(a);
    case 12:
      return v_.div(number(1), a);
    case 13:
      return v_.abs(a);
    case 14:
      return v_.neg(a);
    case 18:
      return v_.floor(a);
    case 19:
      return v_.select(a, b, i.f32(68));
    default:
      return v_.compare(i.u8(64), a, b);
  }
}

void Machine::elementwise(const Instruction& i) {
  const uint8_t op = i.u8(64);
  const auto dims = dims_of(i);
  const Operand dst = operand(i, 96, 196), a = operand(i, 124, 200), b = operand(i, 152, 204);
  const Epilogue e = epilogue(i, 180);
  const bool has_table = e.activation >= 6;
  if (reads_a(op)) touch_operand(a, dims, false);
  if (reads_b(op)) touch_operand(b, dims, false);
  touch_operand(dst, dims, true);
  const uint64_t table_end = e.table + (e.activation == 6 ? 16384 : 256);
  const bool moves = op == 0 && e.activation == 0 && a.type == dst.type && a.quantum == dst.quantum;
  for_all(dims, [&](const std::array<uint32_t, 5>& at) {
    const uint64_t to = address(dst, at), size = size_of(dst.type);
    if (has_table && to < table_end && to + size > e.table) throw Refusal{"its result overlaps its table"};
    if (moves) return write(to, dst.type, memory_.read(space_, address(a, at), a.type));
    const Val x = reads_a(op) ? read(a, address(a, at)) : number(0);
    const Val y = reads_b(op) ? read(b, address(b, at)) : number(0);
    write(to, dst.type, finish(operation(i, x, y), e, dst.type, dst.quantum));
  });
}

void Machine::reduce(const Instruction& i) {
  const auto dims = dims_of(i);
  const Operand dst = operand(i, 96, 168), a = operand(i, 124, 172);
  const Epilogue e = epilogue(i, 152);
  const uint8_t op = i.u8(64);
  touch_operand(a, dims, false);
  touch_operand(dst, dims, true);
  std::map<uint64_t, Val> results;
  std::map<uint64_t, std::vector<Val>> members;  // of maxima and minima
  for_all(dims, [&](const std::array<uint32_t, 5>& at) {
    const Val x = read(a, address(a, at));
    if (op == 1 || op == 2) {
      members[address(dst, at)].push_back(x);
      return;
    }
    const auto [found, first] = results.try_emplace(address(dst, at), op == 3 ? v_.mul(x, x) : x);
    if (first) return;
    Val& v = found->second;
    switch (op) {
      case 0:
        v = v_.add(v, x);
        break;
      case 3:
        v = v_.fma(x, x, v);
        break;
      default:
        v = v_.mul(v, x);
        break;
    }
  });
  for (const auto& [at, all] : members) results[at] = v_.extreme_of(all, op == 1);
  for (const auto& [at, v] : results)
    write(at, dst.type, finish(v_.fma(number(i.f32(68)), v, number(i.f32(72))), e, dst.type, dst.quantum));
}

void Machine::pool(const Instruction& i) {
  const Window w = window(i, 84);
  const uint8_t op = i.u8(64);
  const auto x_type = static_cast<Type>(i.u8(65)), type = static_cast<Type>(i.u8(66));
  const Quantum from{i.i16(164), i.f32(168)}, to{i.i16(166), i.f32(172)};
  const int64_t n = i.u32(124), x = i.u32(72), row = i.u32(76), col = i.u32(80), size = size_of(x_type);
  const int64_t out = i.u32(136), out_row = i.u32(140), out_col = i.u32(144);
  const Epilogue e = epilogue(i, 148);
  const std::vector<bool> rows = w.rows_read(), columns = w.columns_read();
  for (int64_t iy = 0; iy < w.in_h; ++iy)
    for (int64_t ix = 0; ix < w.in_w; ++ix) {
      if (!rows[static_cast<size_t>(iy)] || !columns[static_cast<size_t>(ix)]) continue;
      const auto at = static_cast<uint64_t>(x + iy * row + ix * col);
      touch(at, at + static_cast<uint64_t>(n * size), false);
    }
  std::vector<Val> results;
  for (int64_t p = 0; p < w.out_h * w.out_w; ++p)
    for (int64_t k = 0; k < n; ++k) {
      Val v = op == 0 ? number(-kInfinity) : number(0);
      std::vector<Val> members;
      int64_t taps = 0;
      for (int64_t r = 0; r < w.kernel_h; ++r)
        for (int64_t s = 0; s < w.kernel_w; ++s) {
          const int64_t iy = w.row(p / w.out_w, r), ix = w.column(p % w.out_w, s);
          if (!w.inside(iy, ix)) continue;
          Val tap = memory_.read(space_, static_cast<uint64_t>(x + iy * row + ix * col + k * size), x_type);
          if (is_byte(x_type)) tap = v_.read(tap, from);
          if (op == 0)
            members.push_back(tap);
          else
            v = taps++ == 0 ? tap : v_.add(v, tap);
        }
      if (!members.empty()) v = v_.extreme_of(members, true);
      if (op == 1 && taps > 0) v = v_.div(v, number(static_cast<float>(taps)));
      if (op == 2) v = v_.mul(v, number(i.f32(68)));
      results.push_back(finish(v, e, type, to));
    }
  for (int64_t p = 0; p < w.out_h * w.out_w; ++p) {
    const auto at = static_cast<uint64_t>(out + p / w.out_w * out_row + p % w.out_w * out_col);
    touch(at, at + static_cast<uint64_t>(n * size_of(type)), true);
    for (int64_t k = 0; k < n; ++k)
      write(at + static_cast<uint64_t>(k) * size_of(type), type, results[static_cast<size_t>(p * n + k)]);
  }
}

}  // namespace mrvlc::prove
