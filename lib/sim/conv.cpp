// Convolution instructions: which runs of inputs and weights each output needs.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "arithmetic.h"
#include "functional.h"
#include "kernels.h"
#include "window.h"

namespace mrvlc::sim {
namespace {

// Taps [begin, end) of a kernel row that are one contiguous run of the packed input, and the output columns
// whose windows have exactly these taps inside the input. Border columns see fewer taps than inner ones,
// hence several runs.
struct TapRun {
  uint32_t begin = 0, end = 0;
  std::vector<uint32_t> columns;
};

std::vector<TapRun> dense_runs(const isa::Conv& c) {
  std::vector<TapRun> runs;
  for (uint32_t ox = 0; ox < c.out_w; ++ox) {
    int64_t ix = c.x0 + int64_t{ox} * c.stride_w;
    int64_t begin = std::max<int64_t>(0, -ix), end = std::min<int64_t>(c.kernel_w, c.in_w - ix);
    if (begin >= end) continue;
    auto b = static_cast<uint32_t>(begin), e = static_cast<uint32_t>(end);
    auto run = std::ranges::find_if(runs, [&](const TapRun& r) { return r.begin == b && r.end == e; });
    if (run == runs.end()) run = runs.insert(run, TapRun{b, e, {}});
    run->columns.push_back(ox);
  }
  return runs;
}

std::vector<TapRun> dilated_runs(const isa::Conv& c) {
  std::vector<TapRun> runs;
  for (uint32_t s = 0; s < c.kernel_w; ++s) {
    TapRun run{s, s + 1, {}};
    for (uint32_t ox = 0; ox < c.out_w; ++ox) {
      int64_t ix = c.x0 + int64_t{ox} * c.stride_w + int64_t{s} * c.dilation_w;
      if (ix >= 0 && ix < c.in_w) run.columns.push_back(ox);
    }
    if (!run.columns.empty()) runs.push_back(std::move(run));
  }
  return runs;
}

class ConvExecution {
 public:
  ConvExecution(const isa::Conv& c, uint8_t tile, Memory& memory, Scratch& scratch)
      : c_(c),
        tile_(tile),
        memory_(memory),
        s_(scratch),
        rows_(rows_of(c)),
        cols_(cols_of(c)),
        depth_(c.depthwise ? c.out_channels : c.channels),
        pixels_(size_t{c.out_h} * c.out_w) {}

  void run() {
    widen_window();
    runs_ = c_.dilation_w == 1 && !c_.depthwise ? dense_runs(c_) : dilated_runs(c_);
    const bool whole = c_.first && c_.last;
    if (whole && !integers_) s_.acc.resize(pixels_ * kLanes);
    if (whole && integers_) s_.integer_acc.resize(pixels_ * kLanes);
    for (uint32_t n = 0; n < c_.out_channels; n += kLanes) {
      auto lanes = std::min<uint32_t>(kLanes, c_.out_channels - n);
      widen_weights(n, lanes);
      if (integers_) {
        block(whole ? s_.integer_acc.data() : memory_.integer_accumulators(tile_).data() + n * pixels_, n,
              lanes);
      } else {
        block(whole ? s_.acc.data() : memory_.accumulators(tile_).data() + n * pixels_, n, lanes);
      }
    }
    if (c_.last) memory_.forget_accumulators(tile_);
  }

 private:
  // Channels n .. n + lanes - 1.
  template <class Sum>
  void block(Sum* acc, uint32_t n, uint32_t lanes) {
    if (c_.first) std::fill_n(acc, pixels_ * kLanes, Sum{0});
    for (uint32_t r = 0; r < c_.kernel_h; ++r)
      for (const TapRun& run : runs_)
        c_.depthwise ? depthwise_taps(acc, n, lanes, r, run) : dense_taps(acc, r, run);
    if (c_.last) drain(acc, n, lanes);
  }

  // Elements of the input, one after the other.
  void widen(const std::byte* in, float* out, size_t count) const {
    if (!integers_) return kernels().widen(in, out, count);
    for (size_t i = 0; i < count; ++i) out[i] = static_cast<float>(integer_at(c_.x_type, in + i) - c_.x_zero);
  }

  // The pixels that some window reaches, and no other: those between may be written meanwhile.
  void widen_window() {
    auto width = static_cast<size_t>(cols_.size()) * depth_;
    s_.x.resize(static_cast<size_t>(rows_.size()) * width);
    std::vector<Range> runs = reached_columns();
    bool packed = c_.x_col == depth_ * isa::data_bytes(c_.x_type);
    for (int64_t iy = rows_.begin; iy < rows_.end; ++iy) {
      if (!reached(iy, c_.y0, c_.out_h, c_.stride_h, c_.kernel_h, c_.dilation_h)) continue;
      float* row = s_.x.data() + static_cast<size_t>(iy - rows_.begin) * width;
      for (const Range& run : runs) {
        float* out = row + static_cast<size_t>(run.begin - cols_.begin) * depth_;
        const std::byte* in = memory_.ocm(
            tile_, c_.x + static_cast<uint64_t>(iy) * c_.x_row + static_cast<uint64_t>(run.begin) * c_.x_col);
        if (packed) {
          widen(in, out, static_cast<size_t>(run.size()) * depth_);
        } else {
          for (int64_t k = 0; k < run.size(); ++k, out += depth_, in += c_.x_col) widen(in, out, depth_);
        }
      }
    }
  }

  std::vector<Range> reached_columns() const {
    std::vector<Range> runs;
    for (int64_t ix = cols_.begin; ix < cols_.end; ++ix) {
      if (!reached(ix, c_.x0, c_.out_w, c_.stride_w, c_.kernel_w, c_.dilation_w)) continue;
      if (runs.empty() || runs.back().end != ix) runs.push_back({ix, ix});
      ++runs.back().end;
    }
    return runs;
  }

  // Weights of channels n .. n + 15 as [reduction][16]; the lanes past the last channel compute on zeros.
  void widen_weights(uint32_t n, uint32_t lanes) {
    size_t taps = size_t{c_.kernel_h} * c_.kernel_w, k = c_.depthwise ? taps : taps * c_.channels;
    s_.w.resize(k * kLanes);
    uint64_t base = c_.depthwise ? c_.w + uint64_t{n} * c_.w_n : c_.w + uint64_t{n} / kLanes * c_.w_block;
    const std::byte* in = memory_.ocm(tile_, base);
    if (!integers_ && c_.w_n == 2 && c_.w_k == 2 * kLanes && lanes == kLanes)
      return kernels().widen(in, s_.w.data(), k * kLanes);
    for (size_t i = 0; i < k; ++i, in += c_.w_k) {
      float* row = s_.w.data() + i * kLanes;
      load(c_.w_type, {c_.w_zero, 1.0f}, in, c_.w_n, row, lanes);
      std::fill(row + lanes, row + kLanes, 0.0f);
    }
  }

  const float* input(int64_t iy, int64_t ix) const {
    return s_.x.data() + static_cast<size_t>((iy - rows_.begin) * cols_.size() + (ix - cols_.begin)) * depth_;
  }

  // f(pixel index, input of the run's first tap) for every pixel whose kernel row r lies inside the input.
  template <class F>
  void each_pixel(uint32_t r, const TapRun& run, F f) {
    for (uint32_t oy = 0; oy < c_.out_h; ++oy) {
      int64_t iy = c_.y0 + int64_t{oy} * c_.stride_h + int64_t{r} * c_.dilation_h;
      if (iy < 0 || iy >= c_.in_h) continue;
      for (uint32_t ox : run.columns) {
        int64_t ix = c_.x0 + int64_t{ox} * c_.stride_w + int64_t{run.begin} * c_.dilation_w;
        f(size_t{oy} * c_.out_w + ox, input(iy, ix));
      }
    }
  }

  // What the run's pixels read, and where each sums.
  template <class Sum>
  void gather(Sum* acc, uint32_t r, const TapRun& run, std::vector<Sum*>& sums) {
    s_.pixels.clear();
    sums.clear();
    each_pixel(r, run, [&](size_t pixel, const float* x) {
      s_.pixels.push_back(x);
      sums.push_back(acc + pixel * kLanes);
    });
  }

  void dense_taps(float* acc, uint32_t r, const TapRun& run) {
    gather(acc, r, run, s_.sums);
    const float* w = s_.w.data() + (size_t{r} * c_.kernel_w + run.begin) * c_.channels * kLanes;
    size_t length = size_t{run.end - run.begin} * c_.channels;
    kernels().fma_block(s_.pixels.data(), s_.sums.data(), s_.pixels.size(), w, length);
  }

  // Sums of products of integers, exact: fp32 holds those of 256 products of numbers up to 255.
  void dense_taps(int32_t* acc, uint32_t r, const TapRun& run) {
    gather(acc, r, run, s_.integer_sums);
    const float* w = s_.w.data() + (size_t{r} * c_.kernel_w + run.begin) * c_.channels * kLanes;
    s_.acc.resize(s_.pixels.size() * kLanes);
    s_.sums.resize(s_.pixels.size());
    for (size_t p = 0; p < s_.sums.size(); ++p) s_.sums[p] = s_.acc.data() + p * kLanes;
    constexpr size_t kExact = 256;
    for (size_t left = size_t{run.end - run.begin} * c_.channels; left > 0;) {
      const size_t length = std::min(left, kExact);
      std::ranges::fill(s_.acc, 0.0f);
      kernels().fma_block(s_.pixels.data(), s_.sums.data(), s_.pixels.size(), w, length);
      for (size_t p = 0; p < s_.sums.size(); ++p)
        for (size_t i = 0; i < kLanes; ++i) add(s_.integer_sums[p][i], s_.sums[p][i]);
      for (const float*& x : s_.pixels) x += length;
      w += length * kLanes;
      left -= length;
    }
  }

  // Modulo 2^32.
  static void add(int32_t& sum, float exact) {
    sum =
        static_cast<int32_t>(static_cast<uint32_t>(sum) + static_cast<uint32_t>(static_cast<int32_t>(exact)));
  }

  void depthwise_taps(int32_t* acc, uint32_t n, uint32_t lanes, uint32_t r, const TapRun& run) {
    const float* w = s_.w.data() + (size_t{r} * c_.kernel_w + run.begin) * kLanes;
    each_pixel(r, run, [&](size_t pixel, const float* x) {
      for (size_t i = 0; i < lanes; ++i) add(acc[pixel * kLanes + i], x[n + i] * w[i]);
    });
  }

  void depthwise_taps(float* acc, uint32_t n, uint32_t lanes, uint32_t r, const TapRun& run) {
    const float* w = s_.w.data() + (size_t{r} * c_.kernel_w + run.begin) * kLanes;
    each_pixel(r, run, [&](size_t pixel, const float* x) {
      kernels().fma_channels(acc + pixel * kLanes, x + n, w, lanes);
    });
  }

  // Integer sums are scaled, and go on as those of numbers do.
  void drain(int32_t* acc, uint32_t n, uint32_t lanes) {
    int32_t bias[kLanes] = {};
    float scales[kLanes] = {};
    if (c_.bias != isa::kNoAddress)
      std::memcpy(bias, memory_.ocm(tile_, c_.bias + uint64_t{n} * 4), lanes * 4);
    std::memcpy(scales, memory_.ocm(tile_, c_.scales + uint64_t{n} * 4), lanes * 4);
    for (size_t p = 0; p < pixels_; ++p) {
      float v[kLanes] = {};
      for (size_t i = 0; i < lanes; ++i) {
        const uint32_t sum = static_cast<uint32_t>(acc[p * kLanes + i]) + static_cast<uint32_t>(bias[i]);
        v[i] = static_cast<float>(static_cast<int32_t>(sum)) * scales[i];
      }
      finish(p, v, n, lanes);
    }
  }

  void drain(float* acc, uint32_t n, uint32_t lanes) {
    float bias[kLanes] = {}, residual[kLanes] = {};
    if (c_.bias != isa::kNoAddress)
      load(isa::DataType::F32, {}, memory_.ocm(tile_, c_.bias + uint64_t{n} * 4), 4, bias, lanes);
    for (size_t p = 0; p < pixels_; ++p) {
      uint64_t oy = p / c_.out_w, ox = p % c_.out_w;
      float* v = acc + p * kLanes;
      if (c_.bias != isa::kNoAddress)
        for (size_t i = 0; i < lanes; ++i) v[i] += bias[i];
      if (c_.residual != isa::kNoAddress) {
        uint64_t at = c_.residual + oy * c_.residual_row + ox * c_.residual_col + uint64_t{n} * 2;
        kernels().widen(memory_.ocm(tile_, at), residual, lanes);
        for (size_t i = 0; i < lanes; ++i) v[i] += residual[i];
      }
      finish(p, v, n, lanes);
    }
  }

  // Activation, rounding, storing of pixel p.
  void finish(size_t p, float* v, uint32_t n, uint32_t lanes) {
    const std::byte* table =
        isa::table_bytes(c_.epilogue.activation) > 0 ? memory_.ocm(tile_, c_.epilogue.table) : nullptr;
    float sums[kLanes];
    std::copy_n(v, lanes, sums);
    activate(c_.epilogue, table, v, lanes);
    flag(sums, v, lanes);
    const uint64_t oy = p / c_.out_w, ox = p % c_.out_w;
    uint64_t at = c_.out + oy * c_.out_row + ox * c_.out_col + uint64_t{n} * c_.out_channel;
    store(stored_as(c_.out_type, c_.out_quantization, c_.epilogue, table), memory_.ocm(tile_, at),
          c_.out_channel, v, lanes);
  }

  // Products of fp16 do not overflow fp32 in any number that an instruction may have: a sum that is infinite
  // has an infinite operand.
  void flag(const float* sums, const float* values, uint32_t lanes) {
    if (!flag_stored(c_.out_type, values, lanes, s_.flags)) return;
    for (size_t i = 0; i < lanes; ++i)
      if (stored_infinite(c_.out_type, values[i]) && std::isfinite(sums[i])) raise(Flag::Overflow, s_.flags);
  }

  const isa::Conv& c_;
  const bool integers_ = c_.of_integers();
  uint8_t tile_;
  Memory& memory_;
  Scratch& s_;
  Range rows_, cols_;
  uint32_t depth_;
  size_t pixels_;
  std::vector<TapRun> runs_;
};

}  // namespace

void execute_conv(const isa::Conv& c, uint8_t tile, Memory& memory, Scratch& scratch) {
  ConvExecution(c, tile, memory, scratch).run();
}

}  // namespace mrvlc::sim
