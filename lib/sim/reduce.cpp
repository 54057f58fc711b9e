// Reductions and pools of the vector unit.
#include <algorithm>
#include <cmath>

#include "arithmetic.h"
#include "functional.h"
#include "window.h"

namespace mrvlc::sim {
namespace {

using isa::ReduceOp;

float combine(ReduceOp op, float v, float a) {
  switch (op) {
    case ReduceOp::Sum:
      return v + a;
    case ReduceOp::Max:
      return maximum(v, a);
    case ReduceOp::Min:
      return minimum(v, a);
    case ReduceOp::SumOfSquares:
      return std::fma(a, a, v);
    case ReduceOp::Prod:
      return v * a;
  }
  return v;
}

const std::byte* table_of(const isa::Epilogue& e, uint8_t tile, Memory& memory) {
  return isa::table_bytes(e.activation) > 0 ? memory.ocm(tile, e.table) : nullptr;
}

class ReduceExecution {
 public:
  ReduceExecution(const isa::Reduce& r, uint8_t tile, Memory& memory, Scratch& scratch)
      : r_(r), tile_(tile), memory_(memory), s_(scratch) {
    for (size_t k = 5; k-- > 0;) {
      if (r.dst.strides[k] == 0) continue;
      step_[k] = results_;
      results_ *= r.dims[k];
    }
  }

  void run() {
    s_.acc.resize(results_);
    s_.row_a.resize(r_.dims[4]);
    visit([&](const Index& i) {
      load(r_.a.type, r_.a.quantization, at(r_.a, i), r_.a.strides[4], s_.row_a.data(), r_.dims[4]);
      row(i);
    });
    for (float& v : s_.acc) v = std::fma(r_.alpha, v, r_.beta);
    const std::byte* table = table_of(r_.epilogue, tile_, memory_);
    const Stored as = stored_as(r_.dst.type, r_.dst.quantization, r_.epilogue, table);
    activate(r_.epilogue, table, s_.acc.data(), results_);
    if (flag_stored(r_.dst.type, s_.acc.data(), results_, s_.flags)) flag_overflow();
    visit([&](const Index& i) {
      if (reduced_before(i)) return;
      size_t n = step_[4] == 0 ? 1 : r_.dims[4];
      store(as, at(r_.dst, i), r_.dst.strides[4], s_.acc.data() + result(i), n);
    });
  }

 private:
  using Index = std::array<uint32_t, 4>;

  template <class F>
  void visit(F f) {
    Index i{};
    for (i[0] = 0; i[0] < r_.dims[0]; ++i[0])
      for (i[1] = 0; i[1] < r_.dims[1]; ++i[1])
        for (i[2] = 0; i[2] < r_.dims[2]; ++i[2])
          for (i[3] = 0; i[3] < r_.dims[3]; ++i[3]) f(i);
  }

  std::byte* at(const isa::Operand& o, const Index& i) {
    int64_t address = o.address;
    for (size_t k = 0; k < 4; ++k) address += int64_t{i[k]} * o.strides[k];
    return memory_.ocm(tile_, static_cast<uint64_t>(address));
  }

  size_t result(const Index& i) const {
    size_t at = 0;
    for (size_t k = 0; k < 4; ++k) at += i[k] * step_[k];
    return at;
  }

  // Some reduced dimension is past its first element.
  bool reduced_before(const Index& i) const {
    for (size_t k = 0; k < 4; ++k)
      if (step_[k] == 0 && i[k] != 0) return true;
    return false;
  }

  void flag_overflow() {
    if (std::isinf(r_.alpha) || std::isinf(r_.beta)) return;
    std::vector<bool> has_infinite(results_);
    visit([&](const Index& i) {
      load(r_.a.type, r_.a.quantization, at(r_.a, i), r_.a.strides[4], s_.row_a.data(), r_.dims[4]);
      for (uint32_t j = 0; j < r_.dims[4]; ++j)
        if (std::isinf(s_.row_a[j])) has_infinite[result(i) + j * step_[4]] = true;
    });
    for (size_t k = 0; k < results_; ++k)
      if (stored_infinite(r_.dst.type, s_.acc[k]) && !has_infinite[k]) raise(Flag::Overflow, s_.flags);
  }

  void row(const Index& i) {
    bool first = !reduced_before(i);
    float* v = s_.acc.data() + result(i);
    for (uint32_t j = 0; j < r_.dims[4]; ++j) {
      float& sum = v[j * step_[4]];
      float a = s_.row_a[j];
      bool start = first && (step_[4] != 0 || j == 0);
      if (start)
        sum = r_.op == ReduceOp::SumOfSquares ? std::fma(a, a, 0.0f) : a;
      else
        sum = combine(r_.op, sum, a);
    }
  }

  const isa::Reduce& r_;
  uint8_t tile_;
  Memory& memory_;
  Scratch& s_;
  std::array<size_t, 5> step_{};  // of the results, dense and row-major; 0 for a reduced dimension
  size_t results_ = 1;
};

class PoolExecution {
 public:
  PoolExecution(const isa::Pool& p, uint8_t tile, Memory& memory, Scratch& scratch)
      : p_(p), tile_(tile), memory_(memory), s_(scratch) {}

  // All results before the first is stored, so that the output may lie over the input.
  void run() {
    s_.acc.resize(size_t{p_.out_h} * p_.out_w * p_.channels);
    s_.row_a.resize(p_.channels);
    float* out = s_.acc.data();
    for (uint32_t oy = 0; oy < p_.out_h; ++oy)
      for (uint32_t ox = 0; ox < p_.out_w; ++ox, out += p_.channels) pixel(oy, ox, out);
    const std::byte* table = table_of(p_.epilogue, tile_, memory_);
    const Stored as = stored_as(p_.out_type, p_.out_quantization, p_.epilogue, table);
    activate(p_.epilogue, table, s_.acc.data(), s_.acc.size());
    out = s_.acc.data();
    if (flag_stored(p_.out_type, out, s_.acc.size(), s_.flags)) flag_overflow();
    for (uint32_t oy = 0; oy < p_.out_h; ++oy)
      for (uint32_t ox = 0; ox < p_.out_w; ++ox, out += p_.channels) {
        uint64_t at = p_.out + uint64_t{oy} * p_.out_row + uint64_t{ox} * p_.out_col;
        store(as, memory_.ocm(tile_, at), isa::data_bytes(p_.out_type), out, p_.channels);
      }
  }

 private:
  // f(iy, ix) for the taps of a window that lie inside the input; how many.
  template <class F>
  uint32_t each_tap(uint32_t oy, uint32_t ox, F f) {
    uint32_t taps = 0;
    for (uint32_t r = 0; r < p_.kernel_h; ++r) {
      int64_t iy = p_.y0 + int64_t{oy} * p_.stride_h + int64_t{r} * p_.dilation_h;
      if (iy < 0 || iy >= p_.in_h) continue;
      for (uint32_t s = 0; s < p_.kernel_w; ++s) {
        int64_t ix = p_.x0 + int64_t{ox} * p_.stride_w + int64_t{s} * p_.dilation_w;
        if (ix < 0 || ix >= p_.in_w) continue;
        f(static_cast<uint64_t>(iy), static_cast<uint64_t>(ix), taps == 0);
        ++taps;
      }
    }
    return taps;
  }

  void pixel(uint32_t oy, uint32_t ox, float* v) {
    finish(v, each_tap(oy, ox, [&](uint64_t iy, uint64_t ix, bool first) { tap(iy, ix, first, v); }));
  }

  void flag_overflow() {
    if (p_.op == isa::PoolOp::AverageFixed && std::isinf(p_.alpha)) return;
    const float* out = s_.acc.data();
    std::vector<bool> excused(p_.channels);
    for (uint32_t oy = 0; oy < p_.out_h; ++oy)
      for (uint32_t ox = 0; ox < p_.out_w; ++ox, out += p_.channels) {
        std::fill(excused.begin(), excused.end(), false);
        const uint32_t taps = each_tap(oy, ox, [&](uint64_t iy, uint64_t ix, bool) {
          read(iy, ix, s_.row_a.data());
          for (uint32_t c = 0; c < p_.channels; ++c)
            if (std::isinf(s_.row_a[c])) excused[c] = true;
        });
        for (uint32_t c = 0; c < p_.channels && taps > 0; ++c)
          if (stored_infinite(p_.out_type, out[c]) && !excused[c]) raise(Flag::Overflow, s_.flags);
      }
  }

  void read(uint64_t iy, uint64_t ix, float* values) {
    load(p_.x_type, p_.x_quantization, memory_.ocm(tile_, p_.x + iy * p_.x_row + ix * p_.x_col),
         isa::data_bytes(p_.x_type), values, p_.channels);
  }

  void tap(uint64_t iy, uint64_t ix, bool first, float* v) {
    float* x = first ? v : s_.row_a.data();
    read(iy, ix, x);
    if (first) return;
    if (p_.op == isa::PoolOp::Max)
      for (uint32_t c = 0; c < p_.channels; ++c) v[c] = maximum(v[c], x[c]);
    else
      for (uint32_t c = 0; c < p_.channels; ++c) v[c] += x[c];
  }

  void finish(float* v, uint32_t taps) {
    if (taps == 0) std::fill_n(v, p_.channels, p_.op == isa::PoolOp::Max ? -INFINITY : 0.0f);
    if (p_.op == isa::PoolOp::AverageValid && taps > 0)
      for (uint32_t c = 0; c < p_.channels; ++c) v[c] /= static_cast<float>(taps);
    if (p_.op == isa::PoolOp::AverageFixed)
      for (uint32_t c = 0; c < p_.channels; ++c) v[c] *= p_.alpha;
  }

  const isa::Pool& p_;
  uint8_t tile_;
  Memory& memory_;
  Scratch& s_;
};

}  // namespace

void execute_reduce(const isa::Reduce& r, uint8_t tile, Memory& memory, Scratch& scratch) {
  ReduceExecution(r, tile, memory, scratch).run();
}

void execute_pool(const isa::Pool& p, uint8_t tile, Memory& memory, Scratch& scratch) {
  PoolExecution(p, tile, memory, scratch).run();
}

}  // namespace mrvlc::sim
