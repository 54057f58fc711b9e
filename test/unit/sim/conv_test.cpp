#include <catch2/catch.hpp>
#include <chrono>
#include <cmath>
#include <random>

#include "functional.h"
#include "kernels.h"
#include "program.h"

using namespace mrvlc;
using namespace mrvlc::sim;

namespace {

struct Rng {
  std::mt19937 r{7};
  uint32_t below(uint32_t n) { return static_cast<uint32_t>(r() % n); }
  float value() { return static_cast<float>(static_cast<int>(below(4001)) - 2000) / 512.0f; }
};

float half_at(Memory& m, uint64_t at) {
  uint16_t h = 0;
  std::memcpy(&h, m.ocm(0, at), 2);
  return half_to_float(h);
}

// The definition in isa.h, one fused multiply-add after the other.
float definition(const isa::Conv& c, Memory& m, uint32_t oy, uint32_t ox, uint32_t n) {
  float acc = 0;
  for (uint32_t r = 0; r < c.kernel_h; ++r)
    for (uint32_t s = 0; s < c.kernel_w; ++s) {
      int64_t iy = c.y0 + int64_t{oy} * c.stride_h + r * c.dilation_h,
              ix = c.x0 + int64_t{ox} * c.stride_w + s * c.dilation_w;
      if (iy < 0 || iy >= c.in_h || ix < 0 || ix >= c.in_w) continue;
      uint64_t x = c.x + static_cast<uint64_t>(iy) * c.x_row + static_cast<uint64_t>(ix) * c.x_col;
      uint64_t tap = r * c.kernel_w + s;
      if (c.depthwise) {
        acc = std::fma(half_at(m, x + n * 2), half_at(m, c.w + tap * c.w_k + n * c.w_n), acc);
        continue;
      }
      for (uint32_t k = 0; k < c.channels; ++k)
        acc = std::fma(half_at(m, x + k * 2),
                       half_at(m, c.w + n / 16 * c.w_block + (tap * c.channels + k) * c.w_k + n % 16 * c.w_n),
                       acc);
    }
  if (c.bias != isa::kNoAddress) {
    float bias = 0;
    std::memcpy(&bias, m.ocm(0, c.bias + n * 4), 4);
    acc += bias;
  }
  if (c.residual != isa::kNoAddress)
    acc += half_at(m, c.residual + oy * c.residual_row + ox * c.residual_col + n * 2);
  return c.epilogue.activation == isa::Activation::Relu ? (acc > 0 ? acc : 0.0f) : acc;
}

isa::Conv random_conv(Rng& r, bool depthwise) {
  isa::Conv c;
  c.depthwise = depthwise;
  c.in_h = 1 + r.below(12), c.in_w = 1 + r.below(12), c.channels = 1 + r.below(20);
  c.out_channels = 1 + r.below(40);
  uint32_t depth = depthwise ? c.out_channels : c.channels;
  c.kernel_h = 1 + r.below(4), c.kernel_w = 1 + r.below(4), c.stride_h = 1 + r.below(3),
  c.stride_w = 1 + r.below(3);
  c.dilation_h = 1 + r.below(2), c.dilation_w = 1 + r.below(2);
  c.y0 = static_cast<int32_t>(r.below(6)) - 4, c.x0 = static_cast<int32_t>(r.below(6)) - 4;
  c.out_h = 1 + r.below(7), c.out_w = 1 + r.below(7);
  c.x = 2 * r.below(50), c.x_col = depth * 2 + 2 * r.below(3), c.x_row = c.x_col * c.in_w + 2 * r.below(9);
  c.w = 100000;
  if (r.below(2) == 0) c.w_k = 34, c.w_n = 2;
  if (r.below(4) == 0) c.w_k = 2, c.w_n = 2 * c.kernel_h * c.kernel_w * c.channels;
  if (depthwise) c.w_n = 2, c.w_k = c.out_channels * 2;
  c.w_block = 300000;
  c.bias = r.below(2) == 0 ? isa::kNoAddress : 80000u;
  if (r.below(2) == 0)
    c.residual = 90000, c.residual_col = 2 * c.out_channels, c.residual_row = c.out_w * c.residual_col;
  c.out = 60000, c.out_col = 2 * c.out_channels, c.out_row = c.out_w * c.out_col;
  if (r.below(2) == 0) c.epilogue.activation = isa::Activation::Relu;
  return c;
}

void fill(Rng& r, Memory& m) {
  for (uint64_t a = 0; a < 1 << 20; a += 2) {
    uint16_t h = float_to_half(r.value());
    std::memcpy(m.ocm(0, a), &h, 2);
  }
  for (uint64_t a = 80000; a < 80200; a += 4) {
    float f = r.value() / 3;
    std::memcpy(m.ocm(0, a), &f, 4);
  }
}

}  // namespace

TEST_CASE("convolutions have the bits of their definition") {
  Rng r;
  isa::Binary b = binary({});
  Memory m(b, machine());
  Scratch scratch;
  for (int n = 0; n < 150; ++n) {
    fill(r, m);
    isa::Conv c = random_conv(r, n % 3 == 0);
    std::vector<uint16_t> expected;
    for (uint32_t oy = 0; oy < c.out_h; ++oy)
      for (uint32_t ox = 0; ox < c.out_w; ++ox)
        for (uint32_t k = 0; k < c.out_channels; ++k)
          expected.push_back(float_to_half(definition(c, m, oy, ox, k)));
    execute_conv(c, 0, m, scratch);
    std::vector<uint16_t> got(expected.size());
    std::memcpy(got.data(), m.ocm(0, c.out), got.size() * 2);
    REQUIRE(got == expected);
  }
}

TEST_CASE("a reduction cut into instructions has the bits of the whole") {
  Rng r;
  isa::Binary b = binary({});
  Memory m(b, machine());
  Scratch scratch;
  fill(r, m);
  isa::Conv whole = conv(5, 6, 24, 33);
  whole.w = 400000, whole.out = 20000, whole.bias = 80000;
  execute_conv(whole, 0, m, scratch);
  std::string expected(reinterpret_cast<const char*>(m.ocm(0, 20000)), 30 * 33 * 2);
  isa::Conv part = whole;
  part.out = 30000, part.channels = 10, part.last = false;
  execute_conv(part, 0, m, scratch);
  part.first = false, part.last = true, part.channels = 14, part.x = 20, part.w = whole.w + 10 * 32;
  execute_conv(part, 0, m, scratch);
  CHECK(std::string(reinterpret_cast<const char*>(m.ocm(0, 30000)), expected.size()) == expected);
  // After `last` the sums are gone.
  execute_conv(part, 0, m, scratch);
  CHECK(bits(std::string(reinterpret_cast<const char*>(m.ocm(0, 30000)), 2))[0] == 0x7e00);
}

TEST_CASE("order and rounding of the accumulation are those of fp32 fused multiply-adds") {
  // 2048 * 2048 = 2^22; adding 2^-4 eight times to it in fp32 (spacing 2^-1) is lost, adding it first is not.
  std::vector<float> x(16, 0.0f), w(16 * 16, 0.0f);
  for (size_t k = 0; k < 9; ++k) x[k] = k == 0 ? 2048.0f : 0.25f, w[k * 16] = k == 0 ? 2048.0f : 0.25f;
  for (size_t k = 0; k < 9; ++k) w[k * 16 + 1] = 0;
  x[9] = 2048, w[9 * 16] = -2048;  // cancels the first product
  isa::Conv c = conv(1, 1, 16, 16);
  c.w = 1024, c.out = 8192;
  std::string data = halves(x);
  data.resize(1024);
  data += halves(w);
  auto b = binary({load_ocm(kInputAt, 0, 2048),
                   {0, Queue::Pod, {{0, Queue::DmaIn, 1}}, c},
                   store_ddr(8192, kOutputAt, 32, {{0, Queue::Pod, 1}})});
  Report report;
  CHECK(half_to_float(bits(run(b, data, &report))[0]) == 0.0f);
  CHECK(report.hazards.empty());
  CHECK(report.macs == 256);
  std::swap(x[0], x[8]);
  w[0] = 0.25f, w[8 * 16] = 2048;
  data = halves(x);
  data.resize(1024);
  data += halves(w);
  CHECK(half_to_float(bits(run(b, data))[0]) == 0.5f);
}

TEST_CASE("vector and portable inner loops agree bit for bit") {
  Rng r;
  std::vector<float> x(4096), w(16 * 300), a(16 * 21), b;
  for (auto* v : {&x, &w, &a})
    for (float& f : *v) f = r.value() * std::exp2(static_cast<float>(r.below(40)) - 20.0f);
  b = a;
  std::vector<const float*> px;
  std::vector<float*> pa, pb;
  for (size_t p = 0; p < 21; ++p)
    px.push_back(x.data() + 37 * p), pa.push_back(a.data() + 16 * p), pb.push_back(b.data() + 16 * p);
  kernels().fma_block(px.data(), pa.data(), 21, w.data(), 300);
  portable_kernels().fma_block(px.data(), pb.data(), 21, w.data(), 300);
  CHECK(std::memcmp(a.data(), b.data(), a.size() * 4) == 0);
  kernels().fma_channels(a.data(), x.data(), w.data(), 29);
  portable_kernels().fma_channels(b.data(), x.data(), w.data(), 29);
  CHECK(std::memcmp(a.data(), b.data(), a.size() * 4) == 0);
  std::vector<uint16_t> all(0x7c01);
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<uint16_t>(i);
  std::vector<float> u(all.size()), v(all.size());
  kernels().widen(reinterpret_cast<const std::byte*>(all.data()), u.data(), all.size());
  portable_kernels().widen(reinterpret_cast<const std::byte*>(all.data()), v.data(), all.size());
  CHECK(u == v);
}

TEST_CASE("vector and portable rounding to fp16 agree for every number near a boundary") {
  std::vector<float> in;
  for (uint32_t h = 0; h <= 0x7c00; ++h) {
    const float at = half_to_float(static_cast<uint16_t>(h)),
                next = half_to_float(static_cast<uint16_t>(h + 1));
    const float middle = h < 0x7bff ? at + (next - at) / 2 : 65520.0f;
    for (float f : {at, middle, std::nextafter(middle, 0.0f), std::nextafter(middle, 1e30f)})
      in.push_back(f), in.push_back(-f);
  }
  for (uint32_t bits :
       {0x7f800001u, 0xffc00001u, 0x7fffffffu, 1u, 0x80000001u, 0x7f7fffffu, 0x33000000u, 0x33000001u})
    in.push_back(std::bit_cast<float>(bits));
  std::vector<uint16_t> u(in.size()), v(in.size());
  kernels().narrow(in.data(), reinterpret_cast<std::byte*>(u.data()), in.size());
  portable_kernels().narrow(in.data(), reinterpret_cast<std::byte*>(v.data()), in.size());
  CHECK(u == v);
}

TEST_CASE("speed of the functional simulation", "[.speed]") {
  isa::Binary b = binary({});
  Memory m(b, machine());
  Scratch scratch;
  Rng r;
  fill(r, m);
  struct Shape {
    uint32_t size, c, n, kernel;
  };
  for (Shape s : {Shape{28, 128, 64, 3}, Shape{14, 512, 128, 1}, Shape{7, 512, 48, 3}, Shape{32, 3, 64, 7}}) {
    isa::Conv c = conv(s.size, s.size, s.c, s.n, s.kernel);
    c.w = 250000, c.out = 900000;
    auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < 5; ++i) execute_conv(c, 0, m, scratch);
    std::chrono::duration<double> t = std::chrono::steady_clock::now() - begin;
    double macs = 5.0 * s.size * s.size * s.c * s.n * s.kernel * s.kernel;
    WARN(kernels().name << " " << s.size << " " << s.c << " " << s.n << " k" << s.kernel << ": "
                        << macs / t.count() / 1e9 << " GMAC/s");
  }
}
