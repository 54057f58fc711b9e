#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "arithmetic.h"
#include "program.h"

using namespace mrvlc;
using namespace mrvlc::sim;
using isa::EwOp;

namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
const float kNan = std::numeric_limits<float>::quiet_NaN();

// in (a at 0, b at 512) -> PE instruction -> out at 4096.
template <class Body>
std::vector<float> pe(Body body, std::vector<float> a, const std::vector<float>& b, size_t results) {
  std::string data = halves(a);
  data.resize(512);
  data += halves(b);
  auto program = binary({load_ocm(kInputAt, 0, 2048),
                         {0, Queue::Pe, {{0, Queue::DmaIn, 1}}, body},
                         store_ddr(4096, kOutputAt, 512, {{0, Queue::Pe, 1}})});
  Report report;
  auto out = bits(run(program, data, &report));
  CHECK(report.hazards.empty());
  std::vector<float> r;
  for (size_t i = 0; i < results; ++i) r.push_back(half_to_float(out[i]));
  return r;
}

std::vector<float> binary_op(EwOp op, const std::vector<float>& a, const std::vector<float>& b,
                             float alpha = 0, float beta = 0) {
  isa::Elementwise e = ew(op, static_cast<uint32_t>(a.size()), 4096, 0, 512);
  e.alpha = alpha, e.beta = beta;
  return pe(e, a, b, a.size());
}

float act(isa::Epilogue e, float v, const std::byte* table = nullptr) {
  activate(e, table, &v, 1);
  return v;
}

}  // namespace

TEST_CASE("element-wise operations by hand") {
  using V = std::vector<float>;
  V a = {1, -2, 4, 0.5f}, b = {2, 3, -8, 0.25f};
  CHECK(binary_op(EwOp::Copy, a, b) == a);
  CHECK(binary_op(EwOp::Fill, a, b, 7) == V{7, 7, 7, 7});
  CHECK(binary_op(EwOp::Add, a, b) == V{3, 1, -4, 0.75f});
  CHECK(binary_op(EwOp::Sub, a, b) == V{-1, -5, 12, 0.25f});
  CHECK(binary_op(EwOp::Mul, a, b) == V{2, -6, -32, 0.125f});
  CHECK(binary_op(EwOp::Div, a, b) == V{0.5f, half_to_float(float_to_half(-2.0f / 3)), -0.5f, 2});
  CHECK(binary_op(EwOp::Max, a, b) == V{2, 3, 4, 0.5f});
  CHECK(binary_op(EwOp::Min, a, b) == V{1, -2, -8, 0.25f});
  CHECK(binary_op(EwOp::AxpBy, a, b, 2, 10) == V{22, 26, -72, 3.5f});
  CHECK(binary_op(EwOp::Prelu, a, b) == V{1, -6, 4, 0.5f});
  CHECK(binary_op(EwOp::Affine, a, b, 2, 10) == V{12, 6, 18, 11});
  CHECK(binary_op(EwOp::Sqrt, {4, 9, 2.25f, 0}, b) == V{2, 3, 1.5f, 0});
  CHECK(binary_op(EwOp::Reciprocal, a, b) == V{1, -0.5f, 0.25f, 2});
  CHECK(binary_op(EwOp::Abs, a, b) == V{1, 2, 4, 0.5f});
  CHECK(binary_op(EwOp::Neg, a, b) == V{-1, 2, -4, -0.5f});
  CHECK(binary_op(EwOp::Equal, a, {1, 1, 4, 1}) == V{1, 0, 1, 0});
  CHECK(binary_op(EwOp::Less, a, b) == V{1, 1, 0, 0});
  CHECK(binary_op(EwOp::Greater, a, b) == V{0, 0, 1, 1});
  CHECK(binary_op(EwOp::Floor, {1.5f, -1.5f, 2, -0.25f}, b) == V{1, -2, 2, -1});
  CHECK(binary_op(EwOp::Select, {1, 0, -3, 0}, b, 9) == V{2, 9, -8, 9});
}

TEST_CASE("NaN and rounding of results") {
  auto r = binary_op(EwOp::Max, {kNan, 1}, {1, kNan});
  CHECK(std::isnan(r[0]));
  CHECK(std::isnan(r[1]));
  // 2049 and 2051 lie halfway between fp16 neighbours: to even.
  CHECK(binary_op(EwOp::Add, {2048, 2050}, {1, 1}) == std::vector<float>{2048, 2052});
  CHECK(binary_op(EwOp::Mul, {60000}, {2})[0] == kInf);
}

TEST_CASE("a copy between equal types keeps every bit; arithmetic stores the canonical NaN") {
  std::string odd = {'\x01', '\xfd'};  // 0xfd01
  isa::Elementwise copy = ew(EwOp::Copy, 1, 4096, 0);
  auto program = [](const isa::Elementwise& e) {
    return binary({load_ocm(kInputAt, 0, 2048),
                   {0, Queue::Pe, {{0, Queue::DmaIn, 1}}, e},
                   store_ddr(4096, kOutputAt, 512, {{0, Queue::Pe, 1}})});
  };
  CHECK(bits(run(program(copy), odd))[0] == 0xfd01);
  CHECK(bits(run(program(ew(EwOp::Neg, 1, 4096, 0)), odd))[0] == 0x7e00);
}

TEST_CASE("activations") {
  using isa::Activation;
  CHECK(act({Activation::Relu}, -1) == 0);
  CHECK_FALSE(std::signbit(act({Activation::Relu}, -0.0f)));
  CHECK(std::isnan(act({Activation::Relu}, kNan)));
  CHECK(act({Activation::Clip, 0, 6}, 8) == 6);
  CHECK(act({Activation::Clip, -1, 6}, -8) == -1);
  CHECK(std::isnan(act({Activation::Clip, 0, 6}, kNan)));
  CHECK(act({Activation::Leaky, 0.5f, 0}, -4) == -2);
  CHECK(act({Activation::HardSigmoid, 0.5f, 0.5f}, 0.25f) == 0.625f);
  CHECK(act({Activation::HardSwish, 0.5f, 0.5f}, 4) == 4);
  std::vector<float> table(2 * isa::kTableSegments, 0.0f);
  table[2 * (0x3c00 / 32)] = 10, table[2 * (0x3c00 / 32) + 1] = 2;  // the segment of 1.0
  table[2 * (0x7c00 / 32)] = 1;                                     // of infinity and NaN
  auto bytes = reinterpret_cast<const std::byte*>(table.data());
  CHECK(act({Activation::Table}, 1.0f, bytes) == 12);
  CHECK(act({Activation::Table}, 1.01f, bytes) == std::fma(2.0f, 1.01f, 10.0f));
  CHECK(act({Activation::Table}, kInf, bytes) == 1);
  CHECK(act({Activation::Table}, 1e30f, bytes) == 1);
  CHECK(std::isnan(act({Activation::Table}, kNan, bytes)));
}

TEST_CASE("overlapping views act one element after the other") {
  isa::Elementwise e = ew(EwOp::Add, 4, 2, 0, 512);  // dst[i] = a[i] + b[i] with dst = a shifted by one
  e.dst.address = 2;
  isa::Elementwise out = ew(EwOp::Copy, 5, 4096, 0);
  auto program = binary({load_ocm(kInputAt, 0, 2048),
                         {0, Queue::Pe, {{0, Queue::DmaIn, 1}}, e},
                         {0, Queue::Pe, {}, out},
                         store_ddr(4096, kOutputAt, 10, {{0, Queue::Pe, 2}})});
  std::string data = halves({1, 9, 9, 9, 9});
  data.resize(512);
  data += halves({1, 1, 1, 1});
  auto r = bits(run(program, data));
  for (size_t i = 0; i < 5; ++i) CHECK(half_to_float(r[i]) == static_cast<float>(i + 1));
}

TEST_CASE("reductions by hand, in row-major order") {
  isa::Reduce r;
  r.dims = {1, 1, 2, 3, 2};
  r.a = {0, isa::DataType::F16, {0, 0, 12, 4, 2}};
  r.dst = {4096, isa::DataType::F16, {0, 0, 0, 2, 0}};
  std::vector<float> a = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  CHECK(pe(r, a, {}, 3) == std::vector<float>{18, 26, 34});
  r.op = isa::ReduceOp::Max;
  CHECK(pe(r, a, {}, 3) == std::vector<float>{8, 10, 12});
  r.op = isa::ReduceOp::Min;
  CHECK(pe(r, a, {}, 3) == std::vector<float>{1, 3, 5});
  r.op = isa::ReduceOp::SumOfSquares;
  r.alpha = 0.5f, r.beta = 1;
  CHECK(pe(r, a, {}, 3) == std::vector<float>{60, 104, 164});
  r.op = isa::ReduceOp::Prod;
  r.alpha = 1, r.beta = 0;
  r.dst.strides = {0, 0, 0, 0, 2};
  CHECK(pe(r, {1, 2, 3, 1, 1, 1, 2, 1, 1, 1, 1, 5}, {}, 2) == std::vector<float>{6, 10});
}

TEST_CASE("pooling by hand") {
  isa::Pool p;
  p.in_h = p.in_w = 3, p.channels = 1, p.x_row = 6, p.x_col = 2;
  p.kernel_h = p.kernel_w = 2, p.stride_h = p.stride_w = 2, p.y0 = p.x0 = -1;
  p.out_h = p.out_w = 2, p.out = 4096, p.out_row = 4, p.out_col = 2;
  std::vector<float> a = {-1, -2, -3, -4, -5, -6, -7, -8, -9};
  CHECK(pe(p, a, {}, 4) == std::vector<float>{-1, -2, -4, -5});
  p.op = isa::PoolOp::AverageValid;
  CHECK(pe(p, a, {}, 4) == std::vector<float>{-1, -2.5f, -5.5f, -7});
  p.op = isa::PoolOp::AverageFixed;
  p.alpha = 0.25f;
  CHECK(pe(p, a, {}, 4) == std::vector<float>{-0.25f, -1.25f, -2.75f, -7});
  p.y0 = 10;
  CHECK(pe(p, a, {}, 1) == std::vector<float>{0});
  p.op = isa::PoolOp::Max;
  CHECK(pe(p, a, {}, 1) == std::vector<float>{-kInf});
}

TEST_CASE("copies: strides, multicast, a shift within one memory") {
  isa::Dma d;
  d.dst_tiles = 0b11;
  d.src = kInputAt, d.run_bytes = 2, d.dims = {1, 3, 2}, d.src_strides = {0, 2, 6}, d.dst_strides = {0, 4, 2};
  isa::Dma across;  // tile 1 sends its copy to itself and to tile 0
  across.src_space = isa::Space::Ocm, across.dst_tiles = 0b11, across.src = 0, across.dst = 2,
  across.run_bytes = 12;
  auto b = binary({{0, Queue::DmaIn, {}, d},
                   {1, Queue::DmaOut, {{0, Queue::DmaIn, 1}}, across},
                   store_ddr(0, kOutputAt, 14, {{1, Queue::DmaOut, 1}}),
                   store_ddr(0, kOutputAt + 16, 14, {}, 1)},
                  2);
  Report report;
  auto out = bits(run(b, halves({0, 1, 2, 3, 4, 5}), &report));
  CHECK(report.hazards.empty());
  const float expected[] = {0, 0, 3, 1, 4, 2, 5};
  for (size_t i = 0; i < 7; ++i) {
    CHECK(half_to_float(out[i]) == expected[i]);
    CHECK(out[8 + i] == out[i]);
  }
}

TEST_CASE("what nobody wrote reads as NaN") {
  auto b = binary({store_ddr(64, kOutputAt, 32)});
  CHECK((bits(run(b, ""))[0] & 0x7fff) > 0x7c00);
}
