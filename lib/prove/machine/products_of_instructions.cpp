// Conv and Depthwise.
#include <fmt/format.h>

#include <algorithm>

#include "machine/machine.h"

namespace mrvlc::prove {
namespace {

constexpr uint32_t kNone = 0xffffffffu;

int64_t blocks_of(int64_t channels) {
  return (channels + 15) / 16;
}

}  // namespace

Window Machine::window(const Instruction& i, size_t at) const {
  const auto u = [&](size_t k) { return static_cast<int64_t>(i.u32(at + 4 * k)); };
  Window w;
  w.in_h = u(0);
  w.in_w = u(1);
  w.y0 = i.i32(at + 8);
  w.x0 = i.i32(at + 12);
  w.kernel_h = u(4);
  w.kernel_w = u(5);
  w.stride_h = u(6);
  w.stride_w = u(7);
  w.dilation_h = u(8);
  w.dilation_w = u(9);
  const size_t out = i.op == Opcode::Pool ? 128 : 124;
  w.out_h = i.u32(out);
  w.out_w = i.u32(out + 4);
  const int64_t most = static_cast<int64_t>(4 * std::max<uint64_t>(limits_.ocm_bytes, b_.ocm_bytes));
  if (w.out_h * w.out_w > most || w.kernel_h * w.kernel_w > most)
    throw Refusal{"a window is larger than one can be"};
  if (w.in_h * w.in_w > (int64_t{1} << 28)) throw Refusal{"an image is larger than one can be"};
  return w;
}

// Elements that taps read, 0 elsewhere, as (row, column, channel).
std::vector<uint64_t> Machine::inputs_of(const Instruction& i, const Window& w, int64_t channels) {
  const auto type = static_cast<Type>(i.u8(65));
  const int64_t x = i.u32(68), row = i.u32(72), column = i.u32(76), size = size_of(type);
  const std::vector<bool> rows = w.rows_read(), columns = w.columns_read();
  if (w.in_h * w.in_w * channels > (int64_t{1} << 27)) throw Refusal{"an image is larger than one can be"};
  std::vector<uint64_t> out(static_cast<size_t>(w.in_h * w.in_w * channels), 0);
  const Field& f = v_.field();
  const uint64_t zero = f.neg(f.of(i.i16(200)));
  for (int64_t iy = 0; iy < w.in_h; ++iy)
    for (int64_t ix = 0; ix < w.in_w; ++ix) {
      if (!rows[static_cast<size_t>(iy)] || !columns[static_cast<size_t>(ix)]) continue;
      const auto at = static_cast<uint64_t>(x + iy * row + ix * column);
      touch(at, at + static_cast<uint64_t>(channels * size), false);
      uint64_t* to = out.data() + (iy * w.in_w + ix) * channels;
      memory_.read_elements(space_, at, type, channels, to);
      if (is_byte(type)) std::transform(to, to + channels, to, [&](uint64_t e) { return f.add(e, zero); });
    }
  return out;
}

// Row (tap * channels + c), column n; of Depthwise channels is 1.
std::vector<uint64_t> Machine::weights_of(const Instruction& i, int64_t taps, int64_t channels, int64_t n) {
  const auto type = static_cast<Type>(i.u8(66));
  const int64_t w = i.u32(152), w_k = i.u32(156), w_n = i.u32(160), block = i.u32(164), size = size_of(type);
  const bool depthwise = i.op == Opcode::Depthwise;
  if (taps * channels * n > (int64_t{1} << 27)) throw Refusal{"more weights than fit on chip"};
  std::vector<uint64_t> out(static_cast<size_t>(taps * channels * n));
  const Field& f = v_.field();
  const uint64_t zero = f.neg(f.of(i.i16(202)));
  // Neighbours are read at once.
  const int64_t together = w_n == size ? (depthwise ? n : 16) : 1;
  for (int64_t row = 0; row < taps * channels; ++row)
    for (int64_t k = 0; k < n; k += together) {
      const int64_t count = std::min(together, n - k);
      const auto at = static_cast<uint64_t>(depthwise ? w + row * w_k + k * w_n
                                                      : w + k / 16 * block + row * w_k + k % 16 * w_n);
      touch(at, at + static_cast<uint64_t>(count * size), false);
      memory_.read_elements(space_, at, type, count, &out[static_cast<size_t>(row * n + k)]);
    }
  if (is_byte(type))
    for (uint64_t& e : out) e = f.add(e, zero);
  return out;
}

Machine::Sums& Machine::sums_of(const Instruction& i, const Window& w) {
  Sums& s = sums_[i.tile];
  const int64_t channels = i.u32(148), pixels = w.out_h * w.out_w;
  const bool integers = is_byte(static_cast<Type>(i.u8(65)));
  const auto most = static_cast<int64_t>(limits_.accumulator_pixels);
  const bool kept = !(i.first && i.last);
  if (most > 0 && (pixels > most || (kept && pixels * blocks_of(channels) > most)))
    throw Refusal{"its sums need more accumulators than there are"};
  if (i.first) {
    s = {integers, w.out_h, w.out_w, channels, {}, {}};
    if (integers)
      s.exact.assign(static_cast<size_t>(pixels * channels), 0);
    else
      s.ordered.emplace(v_.field(), pixels, channels);
    return s;
  }
  if (!s.defined()) throw Refusal{"it continues sums that are not defined"};
  if (s.integers != integers || s.out_h != w.out_h || s.out_w != w.out_w || s.channels != channels)
    throw Refusal{"it continues sums of another shape"};
  return s;
}

void Machine::product(const Instruction& i) {
  const Window w = window(i, 80);
  const bool depthwise = i.op == Opcode::Depthwise;
  const int64_t n = i.u32(148), channels = depthwise ? 1 : i.u32(120), taps = w.kernel_h * w.kernel_w;
  if (w.out_h * w.out_w > (int64_t{1} << 26) / n) throw Refusal{"more results than an instruction can have"};
  Sums& sums = sums_of(i, w);
  const std::vector<uint64_t> x = inputs_of(i, w, depthwise ? n : channels);
  const std::vector<uint64_t> weights = weights_of(i, taps, channels, n);
  if (depthwise && sums.integers)
    add_depthwise(v_.field(), w, n, weights, x, sums.exact);
  else if (sums.integers)
    Weights(v_.field(), taps, channels, n, weights).add_sums(w, x, sums.exact);
  else if (depthwise)
    sums.ordered->add_depthwise(w, weights, x);
  else
    sums.ordered->add(w, channels, weights, x);
  if (!i.last) return;
  finish_product(i, w, sums.integers ? sums.exact : sums.ordered->symbols());
  sums = {};
}

// Bias and scale of each channel; a bias of integers as an element of the field.
void Machine::read_channels(const Instruction& i, std::vector<Val>& shift, std::vector<Val>& factor) {
  const Field& f = v_.field();
  const bool integers = is_byte(static_cast<Type>(i.u8(65)));
  const int64_t n = i.u32(148);
  const uint64_t bias = i.u32(168), scales = i.u32(212);
  if (bias != kNone) touch(bias, bias + static_cast<uint64_t>(4 * n), false);
  if (integers) touch(scales, scales + static_cast<uint64_t>(4 * n), false);
  for (int64_t k = 0; k < n; ++k) {
    const uint64_t at = static_cast<uint64_t>(4 * k);
    if (integers) factor[static_cast<size_t>(k)] = memory_.read(space_, scales + at, Type::F32);
    if (bias == kNone) continue;
    if (!integers) {
      shift[static_cast<size_t>(k)] = memory_.read(space_, bias + at, Type::F32);
      continue;
    }
    int32_t b = 0;
    const std::string bytes = memory_.known_bytes(space_, bias + at, 4);
    std::copy(bytes.begin(), bytes.end(), reinterpret_cast<char*>(&b));
    // An integer of 32 bits is a sum of two numbers that fp32 holds.
    shift[static_cast<size_t>(k)] =
        f.add(f.of(static_cast<float>(b / 65536 * 65536)), f.of(static_cast<float>(b % 65536)));
  }
}

void Machine::finish_product(const Instruction& i, const Window& w, const std::vector<uint64_t>& sums) {
  const Field& f = v_.field();
  const bool integers = is_byte(static_cast<Type>(i.u8(65)));
  const auto type = static_cast<Type>(i.u8(64));
  const int64_t n = i.u32(148), size = size_of(type);
  const uint64_t residual = i.u32(172);
  const Epilogue e = epilogue(i, 184);
  std::vector<Val> shift(static_cast<size_t>(n), number(0)), factor(static_cast<size_t>(n), number(1));
  read_channels(i, shift, factor);
  const int64_t out = i.u32(132), out_row = i.u32(136), out_col = i.u32(140), out_channel = i.u32(144);
  for (int64_t p = 0; p < w.out_h * w.out_w; ++p)
    for (int64_t k = 0; k < n; ++k) {
      const int64_t at = out + p / w.out_w * out_row + p % w.out_w * out_col + k * out_channel;
      touch(static_cast<uint64_t>(at), static_cast<uint64_t>(at + size), true);
    }
  check_overlap();
  const int64_t r_row = i.u32(176), r_col = i.u32(180);
  const bool same_view = static_cast<int64_t>(residual) == out && r_row == out_row && r_col == out_col &&
                         out_channel == 2 && type == Type::F16;
  if (residual != kNone) {
    for (int64_t p = 0; p < w.out_h * w.out_w; ++p) {
      const auto at =
          static_cast<uint64_t>(static_cast<int64_t>(residual) + p / w.out_w * r_row + p % w.out_w * r_col);
      touch(at, at + static_cast<uint64_t>(2 * n), false);
    }
    if (!same_view) check_overlap();
  }
  for (int64_t p = 0; p < w.out_h * w.out_w; ++p)
    for (int64_t k = 0; k < n; ++k) {
      uint64_t sum = sums[static_cast<size_t>(p * n + k)];
      Val x = 0;
      if (integers) {
        x = v_.mul(v_.from_sum(f.add(sum, shift[static_cast<size_t>(k)] & kElement)),
                   factor[static_cast<size_t>(k)]);
      } else {
        x = v_.add(sum == 0 ? number(0) : sum, shift[static_cast<size_t>(k)]);
        if (residual != kNone) {
          const int64_t at =
              static_cast<int64_t>(residual) + p / w.out_w * r_row + p % w.out_w * r_col + 2 * k;
          x = v_.add(x, memory_.read(space_, static_cast<uint64_t>(at), Type::F16));
        }
      }
      const int64_t at = out + p / w.out_w * out_row + p % w.out_w * out_col + k * out_channel;
      const Val y = finish(x, e, type, {i.i16(204), i.f32(208)});
      write(static_cast<uint64_t>(at), type, y);
    }
}

}  // namespace mrvlc::prove
