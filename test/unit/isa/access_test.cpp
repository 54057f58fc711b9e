#include <catch2/catch.hpp>
#include <set>

#include "random_instruction.h"

using namespace mrvlc;
using namespace mrvlc::isa;

namespace {

struct Span {
  uint64_t begin, end;
  uint64_t run, stride = 0;
  bool operator==(const Span&) const = default;
  bool has(uint64_t byte) const {
    if (byte < begin || byte >= end) return false;
    return stride == 0 || (byte - begin) % stride < run;
  }
};

std::vector<Span> spans(const Instruction& i, bool write) {
  std::vector<Span> out;
  for (const Access& a : accesses(i))
    if (a.write == write) out.push_back({a.begin, a.end, a.run, a.stride});
  return out;
}

// Every byte the definition of the convolution touches.
std::set<uint64_t> touched(const Conv& c, bool write) {
  std::set<uint64_t> bytes;
  auto add = [&](uint64_t at, uint64_t n) {
    for (uint64_t k = 0; k < n; ++k) bytes.insert(at + k);
  };
  for (uint32_t oy = 0; oy < c.out_h; ++oy)
    for (uint32_t ox = 0; ox < c.out_w; ++ox)
      for (uint32_t n = 0; n < c.out_channels; ++n) {
        if (write) add(c.out + oy * c.out_row + ox * c.out_col + n * c.out_channel, 2);
        if (!write && c.residual != kNoAddress)
          add(c.residual + oy * c.residual_row + ox * c.residual_col + n * 2, 2);
        for (uint32_t r = 0; r < c.kernel_h && !write; ++r)
          for (uint32_t s = 0; s < c.kernel_w; ++s) {
            int64_t iy = c.y0 + int64_t{oy} * c.stride_h + r * c.dilation_h;
            int64_t ix = c.x0 + int64_t{ox} * c.stride_w + s * c.dilation_w;
            if (iy < 0 || iy >= c.in_h || ix < 0 || ix >= c.in_w) continue;
            auto pixel = c.x + static_cast<uint64_t>(iy) * c.x_row + static_cast<uint64_t>(ix) * c.x_col;
            add(pixel, c.channels * 2);
            for (uint32_t k = 0; k < c.channels; ++k)
              add(c.w + n / 16 * c.w_block + ((r * c.kernel_w + s) * c.channels + k) * c.w_k + n % 16 * c.w_n,
                  2);
          }
      }
  return bytes;
}

}  // namespace

TEST_CASE("the hulls of a convolution cover what it touches and stay within its clipped input") {
  RandomInstruction random(4);
  for (int n = 0; n < 200; ++n) {
    Conv c;
    c.in_h = 1 + random.below(6), c.in_w = 1 + random.below(6), c.channels = 1 + random.below(5);
    c.kernel_h = 1 + random.below(3), c.kernel_w = 1 + random.below(3);
    c.stride_h = 1 + random.below(2), c.stride_w = 1 + random.below(2);
    c.dilation_h = 1 + random.below(2), c.dilation_w = 1 + random.below(2);
    c.y0 = -static_cast<int32_t>(random.below(3)), c.x0 = -static_cast<int32_t>(random.below(3));
    c.out_h = 1 + random.below(4), c.out_w = 1 + random.below(4), c.out_channels = 1 + random.below(20);
    c.x = 1000, c.x_col = c.channels * 2 + random.below(8), c.x_row = c.x_col * c.in_w + random.below(40);
    c.w = 100000, c.w_k = 32 + random.below(9), c.w_block = c.kernel_h * c.kernel_w * c.channels * c.w_k;
    c.out = 500000, c.out_col = 64, c.out_row = c.out_col * c.out_w + random.below(64);
    c.residual = n % 2 == 0 ? kNoAddress : 900000, c.residual_col = c.out_channels * 2 + random.below(8);
    c.residual_row = c.residual_col * c.out_w + random.below(64);
    for (bool write : {false, true}) {
      auto hulls = spans({0, Queue::Pod, {}, c}, write);
      for (uint64_t b : touched(c, write))
        REQUIRE(std::any_of(hulls.begin(), hulls.end(), [&](Span s) { return s.has(b); }));
      for (Span s : hulls) {
        uint64_t x_end = c.x + (c.in_h - 1) * c.x_row + (c.in_w - 1) * c.x_col + c.channels * 2;
        if (s.begin < c.w) REQUIRE((s.begin >= c.x && s.end <= x_end));
      }
    }
  }
}

TEST_CASE("rows that do not touch are runs at a distance") {
  Dma d;
  d.dst_tiles = 0b101;
  d.src = 0, d.dst = 256, d.run_bytes = 96, d.dims = {1, 1, 3}, d.src_strides = {0, 0, 96},
  d.dst_strides = {0, 0, 128};
  Instruction i{0, Queue::DmaIn, {}, d};
  CHECK(spans(i, false) == std::vector<Span>{{0, 288, 288}});
  CHECK(spans(i, true) == std::vector<Span>{{256, 608, 96, 128}, {256, 608, 96, 128}});
}

TEST_CASE("a slice of channels is not the hull of the whole image") {
  Elementwise e;
  e.dims = {1, 1, 4, 4, 8};
  e.dst = {0, DataType::F16, {0, 0, 1024, 64, 2}};
  e.a = {8192, DataType::F16, {0, 0, 64, 16, 2}};
  auto w = spans({0, Queue::Pe, {}, e}, true);
  CHECK(w == std::vector<Span>{{0, 3 * 1024 + 3 * 64 + 16, 16, 64}});
  CHECK(spans({0, Queue::Pe, {}, e}, false) == std::vector<Span>{{8192, 8448, 256}});
}

TEST_CASE("rows that are no whole number of strides apart count as their hull") {
  Elementwise e;
  e.dims = {1, 1, 4, 4, 8};
  e.dst = {0, DataType::F16, {0, 0, 1000, 64, 2}};
  e.a = e.dst;
  CHECK(spans({0, Queue::Pe, {}, e}, true) == std::vector<Span>{{0, 3208, 3208}});
}

TEST_CASE("an address that wraps covers everything") {
  Elementwise e;
  e.op = EwOp::Fill;
  e.dims = {1, 1, 1, 1, 4};
  e.dst = {4, DataType::F16, {0, 0, 0, 0, -2}};
  CHECK(spans({0, Queue::Pe, {}, e}, true) == std::vector<Span>{{0, UINT64_MAX, UINT64_MAX}});
  e.dst.address = 6;
  CHECK(spans({0, Queue::Pe, {}, e}, true) == std::vector<Span>{{0, 8, 8}});
  RandomInstruction random(5);
  for (int n = 0; n < 5000; ++n) CHECK(accesses(random()).size() <= 9 * isa::kMaxTiles);
}
