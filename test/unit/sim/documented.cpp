#include "documented.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace mrvlc::documented {
using isa::DataType;

size_t size_of(DataType type) {
  if (type == DataType::F16) return 2;
  return type == DataType::F32 ? 4 : 1;
}

bool integers(DataType type) {
  return size_of(type) == 1;
}

int operands_of(isa::EwOp op) {
  switch (static_cast<int>(op)) {
    case 1:
      return 0;
    case 0:
    case 10:
    case 11:
    case 12:
    case 13:
    case 14:
    case 18:
      return 1;
    default:
      return 2;
  }
}

namespace {

// IEEE binary16 from its definition.
float from_half(uint16_t h) {
  int exponent = h >> 10 & 31, mantissa = h & 1023;
  double v = exponent == 31  ? (mantissa == 0 ? INFINITY : NAN)
             : exponent == 0 ? std::ldexp(mantissa, -24)
                             : std::ldexp(1024 + mantissa, exponent - 25);
  return static_cast<float>((h & 0x8000) != 0 ? -v : v);
}

// To nearest even, overflow giving infinity; NaN is 0x7e00.
uint16_t to_half(float f) {
  if (std::isnan(f)) return 0x7e00;
  auto sign = static_cast<uint16_t>(std::signbit(f) ? 0x8000 : 0);
  double v = std::fabs(static_cast<double>(f));
  if (v >= 65520) return static_cast<uint16_t>(sign | 0x7c00);
  int exponent = v < std::ldexp(1, -14) ? -14 : std::ilogb(v);
  auto steps = static_cast<uint32_t>(std::nearbyint(std::ldexp(v, 10 - exponent)));  // 1024 and up: normal
  return static_cast<uint16_t>(sign | (static_cast<uint32_t>(exponent + 14) * 1024 + steps));
}

using Bytes = std::vector<uint8_t>;

// A number of so many bytes, lowest first.
uint32_t raw(const Bytes& memory, int64_t at, size_t size) {
  uint32_t bits = 0;
  for (size_t i = size; i-- > 0;) bits = bits << 8 | memory.at(static_cast<size_t>(at) + i);
  return bits;
}

int32_t integer(const Bytes& memory, int64_t at, DataType type) {
  const auto byte = static_cast<int32_t>(raw(memory, at, 1));
  return type == DataType::I8 && byte > 127 ? byte - 256 : byte;
}

float read(const Bytes& memory, int64_t at, DataType type, const isa::Quantization& q = {}) {
  if (integers(type)) return static_cast<float>(integer(memory, at, type) - q.zero) * q.scale;
  const uint32_t bits = raw(memory, at, size_of(type));
  return type == DataType::F16 ? from_half(static_cast<uint16_t>(bits)) : std::bit_cast<float>(bits);
}

// `lookup`: of Bytes, where its table lies; else -1.
void write(Bytes& memory, int64_t at, DataType type, float v, const isa::Quantization& q = {},
           int64_t lookup = -1) {
  uint32_t bits = 0;
  if (integers(type)) {
    const double low = type == DataType::I8 ? -128 : 0;
    const float quotient = v / q.scale;
    const double n =
        std::isnan(quotient) ? low : std::clamp(std::nearbyint(double{quotient}) + q.zero, low, low + 255);
    bits = static_cast<uint32_t>(static_cast<int>(n)) & 255;
    if (lookup >= 0) bits = memory.at(static_cast<size_t>(lookup) + bits);
  } else {
    bits = type == DataType::F16 ? to_half(v) : std::isnan(v) ? 0x7fc00000 : std::bit_cast<uint32_t>(v);
  }
  for (size_t i = 0; i < size_of(type); ++i)
    memory.at(static_cast<size_t>(at) + i) = static_cast<uint8_t>(bits >> 8 * i);
}

int64_t lookup_of(const isa::Epilogue& e) {
  return e.activation == isa::Activation::Bytes ? int64_t{e.table} : -1;
}

float max_of(float a, float b) {
  if (std::isnan(a) || std::isnan(b)) return NAN;
  return a > b ? a : b;
}
float min_of(float a, float b) {
  if (std::isnan(a) || std::isnan(b)) return NAN;
  return a < b ? a : b;
}
float clip(float v, float lo, float hi) {
  if (v < lo) v = lo;
  return v > hi ? hi : v;
}

float finish(const isa::Epilogue& e, const std::vector<uint8_t>& ocm, float x) {
  switch (e.activation) {
    case isa::Activation::None:
      return x;
    case isa::Activation::Relu:
      return x > 0 || std::isnan(x) ? x : 0.0f;
    case isa::Activation::Clip:
      return clip(x, e.alpha, e.beta);
    case isa::Activation::Leaky:
      return x < 0 ? e.alpha * x : x;
    case isa::Activation::HardSigmoid:
      return clip(std::fma(e.alpha, x, e.beta), 0, 1);
    case isa::Activation::HardSwish:
      return x * clip(std::fma(e.alpha, x, e.beta), 0, 1);
    case isa::Activation::Table: {
      int64_t at = int64_t{e.table} + 8 * (to_half(x) >> 5);
      float c0 = read(ocm, at, DataType::F32), c1 = read(ocm, at + 4, DataType::F32);
      return c1 == 0 && !std::isnan(x) ? c0 : std::fma(c1, x, c0);
    }
    case isa::Activation::Bytes:
      return x;
  }
  return x;
}

// f(index) for every index below dims, the last one fastest.
template <class F>
void each(const std::array<uint32_t, 5>& dims, F f) {
  std::array<uint32_t, 5> i{};
  for (i[0] = 0; i[0] < dims[0]; ++i[0])
    for (i[1] = 0; i[1] < dims[1]; ++i[1])
      for (i[2] = 0; i[2] < dims[2]; ++i[2])
        for (i[3] = 0; i[3] < dims[3]; ++i[3])
          for (i[4] = 0; i[4] < dims[4]; ++i[4]) f(i);
}

int64_t place(const isa::Operand& o, const std::array<uint32_t, 5>& i) {
  int64_t at = o.address;
  for (size_t k = 0; k < 5; ++k) at += int64_t{i[k]} * o.strides[k];
  return at;
}

float value(isa::EwOp op, float alpha, float beta, float a, float b) {
  switch (static_cast<int>(op)) {
    case 0:
      return a;
    case 1:
      return alpha;
    case 2:
      return a + b;
    case 3:
      return a - b;
    case 4:
      return a * b;
    case 5:
      return a / b;
    case 6:
      return max_of(a, b);
    case 7:
      return min_of(a, b);
    case 8:
      return std::fma(alpha, a, beta * b);
    case 9:
      return a < 0 ? a * b : a;
    case 10:
      return std::fma(alpha, a, beta);
    case 11:
      return std::sqrt(a);
    case 12:
      return 1 / a;
    case 13:
      return std::fabs(a);
    case 14:
      return -a;
    case 15:
      return a == b ? 1 : 0;
    case 16:
      return a < b ? 1 : 0;
    case 17:
      return a > b ? 1 : 0;
    case 18:
      return std::floor(a);
    default:
      return a != 0 ? b : alpha;
  }
}

void run(const isa::Elementwise& e, std::vector<uint8_t>& ocm) {
  bool moves = e.op == isa::EwOp::Copy && e.dst.type == e.a.type && e.dst.quantization == e.a.quantization &&
               e.epilogue.activation == isa::Activation::None;
  each(e.dims, [&](const auto& i) {
    if (moves) {
      uint8_t bytes[4] = {};
      size_t size = size_of(e.dst.type);
      for (size_t k = 0; k < size; ++k) bytes[k] = ocm.at(static_cast<size_t>(place(e.a, i)) + k);
      for (size_t k = 0; k < size; ++k) ocm.at(static_cast<size_t>(place(e.dst, i)) + k) = bytes[k];
      return;
    }
    float a = operands_of(e.op) > 0 ? read(ocm, place(e.a, i), e.a.type, e.a.quantization) : 0;
    float b = operands_of(e.op) > 1 ? read(ocm, place(e.b, i), e.b.type, e.b.quantization) : 0;
    write(ocm, place(e.dst, i), e.dst.type, finish(e.epilogue, ocm, value(e.op, e.alpha, e.beta, a, b)),
          e.dst.quantization, lookup_of(e.epilogue));
  });
}

void run(const isa::Reduce& r, std::vector<uint8_t>& ocm) {
  std::map<std::array<uint32_t, 5>, float> results;  // by index, 0 where reduced; ascending is row-major
  each(r.dims, [&](auto i) {
    float a = read(ocm, place(r.a, i), r.a.type, r.a.quantization);
    for (size_t k = 0; k < 5; ++k)
      if (r.dst.strides[k] == 0) i[k] = 0;
    auto [it, first] = results.try_emplace(i, a);
    float& v = it->second;
    switch (static_cast<int>(r.op)) {
      case 0:
        v = first ? a : v + a;
        break;
      case 1:
        v = first ? a : max_of(v, a);
        break;
      case 2:
        v = first ? a : min_of(v, a);
        break;
      case 3:
        v = std::fma(a, a, first ? 0.0f : v);
        break;
      default:
        v = first ? a : v * a;
        break;
    }
  });
  for (auto& [i, v] : results) v = finish(r.epilogue, ocm, std::fma(r.alpha, v, r.beta));
  for (auto& [i, v] : results)
    write(ocm, place(r.dst, i), r.dst.type, v, r.dst.quantization, lookup_of(r.epilogue));
}

// f(iy, ix, tap) for the taps of a window inside the input.
template <class W, class F>
void taps(const W& w, uint32_t oy, uint32_t ox, F f) {
  for (uint32_t r = 0; r < w.kernel_h; ++r)
    for (uint32_t s = 0; s < w.kernel_w; ++s) {
      int64_t iy = w.y0 + int64_t{oy} * w.stride_h + int64_t{r} * w.dilation_h;
      int64_t ix = w.x0 + int64_t{ox} * w.stride_w + int64_t{s} * w.dilation_w;
      if (iy >= 0 && iy < w.in_h && ix >= 0 && ix < w.in_w) f(iy, ix, int64_t{r} * w.kernel_w + s);
    }
}

void run(const isa::Pool& p, std::vector<uint8_t>& ocm) {
  const std::vector<uint8_t> before = ocm;
  for (uint32_t oy = 0; oy < p.out_h; ++oy)
    for (uint32_t ox = 0; ox < p.out_w; ++ox)
      for (uint32_t c = 0; c < p.channels; ++c) {
        int count = 0;
        const auto in = static_cast<int64_t>(size_of(p.x_type)),
                   to = static_cast<int64_t>(size_of(p.out_type));
        float v = p.op == isa::PoolOp::Max ? -INFINITY : 0.0f;
        taps(p, oy, ox, [&](int64_t iy, int64_t ix, int64_t) {
          float x = read(before, p.x + iy * p.x_row + ix * p.x_col + in * c, p.x_type, p.x_quantization);
          v = count++ == 0 ? x : p.op == isa::PoolOp::Max ? max_of(v, x) : v + x;
        });
        if (p.op == isa::PoolOp::AverageValid && count > 0) v = v / static_cast<float>(count);
        if (p.op == isa::PoolOp::AverageFixed) v = v * p.alpha;
        write(ocm, int64_t{p.out} + int64_t{oy} * p.out_row + int64_t{ox} * p.out_col + to * c, p.out_type,
              finish(p.epilogue, before, v), p.out_quantization, lookup_of(p.epilogue));
      }
}

// The sum of products of integers for one pixel and channel, or what was kept and more.
void run_integers(const isa::Conv& c, Tile& tile) {
  const Bytes before = tile.ocm;
  for (uint32_t n = 0; n < c.out_channels; ++n)
    for (uint32_t oy = 0; oy < c.out_h; ++oy)
      for (uint32_t ox = 0; ox < c.out_w; ++ox) {
        int64_t& kept = tile.integer_sums[{n, oy, ox}];
        int64_t sum = c.first ? 0 : kept;
        taps(c, oy, ox, [&](int64_t iy, int64_t ix, int64_t tap) {
          const int64_t pixel = c.x + iy * c.x_row + ix * c.x_col;
          for (uint32_t k = 0; k < (c.depthwise ? 1 : c.channels); ++k) {
            const int64_t x = c.depthwise ? pixel + n : pixel + k;
            const int64_t w = c.depthwise ? c.w + tap * c.w_k + int64_t{n} * c.w_n
                                          : c.w + int64_t{n / 16} * c.w_block +
                                                (tap * c.channels + k) * c.w_k + int64_t{n % 16} * c.w_n;
            sum +=
                int64_t{integer(before, x, c.x_type) - c.x_zero} * (integer(before, w, c.w_type) - c.w_zero);
          }
        });
        kept = sum;
        if (!c.last) continue;
        if (c.bias != isa::kNoAddress) sum += static_cast<int32_t>(raw(before, c.bias + 4 * int64_t{n}, 4));
        const auto wrapped = static_cast<int32_t>(static_cast<uint32_t>(static_cast<uint64_t>(sum)));
        const float v = static_cast<float>(wrapped) * read(before, c.scales + 4 * int64_t{n}, DataType::F32);
        write(tile.ocm,
              int64_t{c.out} + int64_t{oy} * c.out_row + int64_t{ox} * c.out_col + int64_t{n} * c.out_channel,
              c.out_type, finish(c.epilogue, before, v), c.out_quantization, lookup_of(c.epilogue));
      }
}

void run(const isa::Conv& c, Tile& tile) {
  if (integers(c.x_type)) return run_integers(c, tile);
  const std::vector<uint8_t> before = tile.ocm;
  uint32_t pixels = c.out_h * c.out_w;
  for (uint32_t n = 0; n < c.out_channels; ++n)
    for (uint32_t p = 0; p < pixels; ++p) {
      uint32_t oy = p / c.out_w, ox = p % c.out_w;
      float once = 0;  // kept only where another instruction goes on
      float& acc = c.first && c.last ? once : tile.sums.at((size_t{n / 16} * pixels + p) * 16 + n % 16);
      if (c.first) acc = 0;
      taps(c, oy, ox, [&](int64_t iy, int64_t ix, int64_t tap) {
        int64_t x = c.x + iy * c.x_row + ix * c.x_col;
        if (c.depthwise) {
          float weight = read(before, c.w + tap * c.w_k + int64_t{n} * c.w_n, DataType::F16);
          acc = std::fma(read(before, x + 2 * int64_t{n}, DataType::F16), weight, acc);
          return;
        }
        for (uint32_t k = 0; k < c.channels; ++k) {
          int64_t w =
              c.w + int64_t{n / 16} * c.w_block + (tap * c.channels + k) * c.w_k + int64_t{n % 16} * c.w_n;
          acc =
              std::fma(read(before, x + 2 * int64_t{k}, DataType::F16), read(before, w, DataType::F16), acc);
        }
      });
      if (!c.last) continue;
      float v = acc;
      if (c.bias != isa::kNoAddress) v = v + read(before, c.bias + 4 * int64_t{n}, DataType::F32);
      if (c.residual != isa::kNoAddress)
        v = v +
            read(before,
                 c.residual + int64_t{oy} * c.residual_row + int64_t{ox} * c.residual_col + 2 * int64_t{n},
                 DataType::F16);
      write(tile.ocm,
            int64_t{c.out} + int64_t{oy} * c.out_row + int64_t{ox} * c.out_col + int64_t{n} * c.out_channel,
            c.out_type, finish(c.epilogue, before, v), c.out_quantization, lookup_of(c.epilogue));
    }
}

void run(const isa::Dma& d, uint8_t own, State& state) {
  std::vector<uint8_t> bytes;
  auto runs = [&](const std::array<int64_t, 3>& strides, uint64_t base, auto f) {
    for (int64_t i = 0; i < d.dims[0]; ++i)
      for (int64_t j = 0; j < d.dims[1]; ++j)
        for (int64_t k = 0; k < d.dims[2]; ++k)
          for (uint32_t b = 0; b < d.run_bytes; ++b)
            f(static_cast<size_t>(static_cast<int64_t>(base) + i * strides[0] + j * strides[1] +
                                  k * strides[2] + b));
  };
  const auto& from = d.src_space == isa::Space::Ddr ? state.ddr : state.tiles[own].ocm;
  runs(d.src_strides, d.src, [&](size_t at) { bytes.push_back(from.at(at)); });
  auto put = [&](std::vector<uint8_t>& to) {
    size_t next = 0;
    runs(d.dst_strides, d.dst, [&](size_t at) { to.at(at) = bytes[next++]; });
  };
  if (d.dst_space == isa::Space::Ddr) return put(state.ddr);
  for (size_t t = 0; t < state.tiles.size(); ++t)
    if ((d.dst_tiles >> t & 1) != 0) put(state.tiles[t].ocm);
}

}  // namespace

void execute(const isa::Instruction& i, State& state) {
  if (const auto* d = std::get_if<isa::Dma>(&i.body)) return run(*d, i.tile, state);
  Tile& tile = state.tiles[i.tile];
  if (const auto* c = std::get_if<isa::Conv>(&i.body)) run(*c, tile);
  if (const auto* e = std::get_if<isa::Elementwise>(&i.body)) run(*e, tile.ocm);
  if (const auto* r = std::get_if<isa::Reduce>(&i.body)) run(*r, tile.ocm);
  if (const auto* p = std::get_if<isa::Pool>(&i.body)) run(*p, tile.ocm);
}

}  // namespace mrvlc::documented
