// Sticky flags, against docs/isa.md (Flags): by hand, and random instructions against a scalar reading of the
// page.
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <limits>
#include <random>

#include "program.h"

using namespace mrvlc;
using namespace mrvlc::sim;
using isa::EwOp;

namespace {

using Body = decltype(Instruction::body);

constexpr float kInf = std::numeric_limits<float>::infinity();
const float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr uint32_t kOverflow = 1, kInvalid = 2;

// `input` (fp16, 512 values at 0) -> the instruction, which writes at 4096 -> out.
uint32_t flags_of(Body body, const std::vector<float>& input, unsigned jobs = 1) {
  const Queue queue = std::holds_alternative<isa::Conv>(body) ? Queue::Pod : Queue::Pe;
  const isa::Binary program = binary({load_ocm(kInputAt, 0, 1024),
                                      {0, queue, {{0, Queue::DmaIn, 1}}, std::move(body)},
                                      store_ddr(4096, kOutputAt, 1024, {{0, queue, 1}})});
  auto simulator = Simulator::create(program, machine());
  REQUIRE(simulator.ok());
  std::string data = halves(input);
  data.resize(program.inputs[0].elements() * 2);
  const std::vector<std::span<const std::byte>> inputs = {std::as_bytes(std::span(data.data(), data.size()))};
  std::vector<std::string> outputs;
  Options options;
  options.jobs = jobs;
  auto report = simulator->run(inputs, outputs, options);
  REQUIRE(report.ok());
  return report->flags;
}

uint32_t of(EwOp op, float a, float b, float alpha = 0, float beta = 0,
            isa::DataType out = isa::DataType::F16) {
  isa::Elementwise e = ew(op, 1, 4096, 0, 2);
  e.alpha = alpha, e.beta = beta, e.dst.type = out;
  return flags_of(e, {a, b});
}

}  // namespace

TEST_CASE("flags of element-wise instructions by hand") {
  CHECK(of(EwOp::Add, 65504, 15) == 0);
  CHECK(of(EwOp::Add, 65504, 16) == kOverflow);
  CHECK(of(EwOp::Sub, -65504, 16) == kOverflow);
  CHECK(of(EwOp::Add, 65504, 16, 0, 0, isa::DataType::F32) == 0);
  CHECK(of(EwOp::Add, kInf, 1) == 0);
  CHECK(of(EwOp::Add, 1, -kInf) == 0);
  CHECK(of(EwOp::Sub, kInf, kInf) == kInvalid);
  CHECK(of(EwOp::Add, kNan, 1) == kInvalid);
  CHECK(of(EwOp::Mul, 0, kInf) == kInvalid);
  CHECK(of(EwOp::Div, 1, 0) == kOverflow);
  CHECK(of(EwOp::Div, 0, 0) == kInvalid);
  CHECK(of(EwOp::Reciprocal, 0, kInf) == kOverflow);
  CHECK(of(EwOp::Sqrt, -1, 0) == kInvalid);
  CHECK(of(EwOp::Fill, 0, 0, -kInf) == 0);
  CHECK(of(EwOp::Fill, 0, 0, 1e6f) == kOverflow);
  CHECK(of(EwOp::Affine, 1, 0, 1, kInf) == 0);
  CHECK(of(EwOp::Select, 0, 1, -kInf) == 0);
  CHECK(of(EwOp::Affine, 60000, 0, 3e38f, 0, isa::DataType::F32) == kOverflow);
  CHECK(of(EwOp::Max, kNan, 1) == kInvalid);
  CHECK(of(EwOp::Equal, kNan, 1) == 0);
  // Moves of bits, and conversions to a wider type, compute nothing.
  CHECK(of(EwOp::Copy, kNan, 1) == 0);
  CHECK(of(EwOp::Copy, kInf, 1, 0, 0, isa::DataType::F32) == 0);
}

TEST_CASE("the activation's result counts, not what goes into it") {
  isa::Elementwise e = ew(EwOp::Mul, 1, 4096, 0, 2);
  e.epilogue = {isa::Activation::Clip, 0, 6, 0};
  CHECK(flags_of(e, {60000, 60000}) == 0);
  e.epilogue = {isa::Activation::Leaky, 4, 0, 0};
  CHECK(flags_of(e, {-200, 100}) == kOverflow);
}

TEST_CASE("flags are of one run, and of its threads together") {
  isa::Elementwise wide = ew(EwOp::Add, 1, 4096, 0, 2);
  for (unsigned jobs : {1u, 2u, 4u}) {
    CHECK(flags_of(wide, {65504, 65504}, jobs) == kOverflow);
    CHECK(flags_of(wide, {1, 1}, jobs) == 0);
  }
}

namespace {

struct Random {
  std::mt19937 engine{20};
  uint32_t below(uint32_t n) { return static_cast<uint32_t>(engine() % n); }
  // Mostly harmless, so that all outcomes occur.
  float value() {
    static const float edges[] = {0, -0.0f, 65504, -65504, 300, -300, 1e-7f, kInf, -kInf, kNan};
    return below(12) == 0 ? edges[below(10)] : static_cast<float>(below(200)) / 16.0f - 4.0f;
  }
  std::vector<float> values(size_t n) {
    std::vector<float> v(n);
    const float scale = below(2) == 0 ? 1.0f : 64.0f;
    for (float& x : v) x = half_to_float(float_to_half(value() * scale));
    return v;
  }
};

// What a result raises: `operands` are those it is computed from, constants too.
uint32_t raised(float result, isa::DataType type, const std::vector<float>& operands) {
  const float stored = type == isa::DataType::F16 ? half_to_float(float_to_half(result)) : result;
  if (std::isnan(stored)) return kInvalid;
  bool excused = false;
  for (float o : operands) excused = excused || std::isinf(o);
  return std::isinf(stored) && !excused ? kOverflow : 0;
}

float larger(float a, float b) {
  return std::isnan(a) || std::isnan(b) ? kNan : std::max(a, b);
}

}  // namespace

TEST_CASE("flags of random element-wise instructions are those of the page") {
  using F = std::function<float(float, float, float, float)>;
  struct Row {
    EwOp op;
    bool a, b, alpha, beta;
    F f;
  };
  const std::vector<Row> rows = {
      {EwOp::Add, true, true, false, false, [](float a, float b, float, float) { return a + b; }},
      {EwOp::Mul, true, true, false, false, [](float a, float b, float, float) { return a * b; }},
      {EwOp::Div, true, true, false, false, [](float a, float b, float, float) { return a / b; }},
      {EwOp::Max, true, true, false, false, [](float a, float b, float, float) { return larger(a, b); }},
      {EwOp::AxpBy, true, true, true, true,
       [](float a, float b, float p, float q) { return std::fma(p, a, q * b); }},
      {EwOp::Affine, true, false, true, true,
       [](float a, float, float p, float q) { return std::fma(p, a, q); }},
      {EwOp::Fill, false, false, true, false, [](float, float, float p, float) { return p; }},
      {EwOp::Select, true, true, true, false,
       [](float a, float b, float p, float) { return a != 0 ? b : p; }},
      {EwOp::Sqrt, true, false, false, false, [](float a, float, float, float) { return std::sqrt(a); }}};
  Random r;
  uint32_t seen = 0;
  for (int n = 0; n < 2000; ++n) {
    const Row& row = rows[r.below(static_cast<uint32_t>(rows.size()))];
    const uint32_t size = 1 + r.below(30);
    isa::Elementwise e = ew(row.op, size, 4096, 0, 512);
    e.dst.type = r.below(3) == 0 ? isa::DataType::F32 : isa::DataType::F16;
    e.dst.strides[4] = static_cast<int32_t>(isa::data_bytes(e.dst.type));
    const std::vector<float> constants = r.values(2);
    e.alpha = constants[0], e.beta = constants[1];
    if (r.below(3) == 0) e.dst = e.a;  // in place
    const std::vector<float> data = r.values(512);
    uint32_t expected = 0;
    for (uint32_t i = 0; i < size; ++i) {
      std::vector<float> operands;
      if (row.a) operands.push_back(data[i]);
      if (row.b) operands.push_back(data[256 + i]);
      if (row.alpha) operands.push_back(e.alpha);
      if (row.beta) operands.push_back(e.beta);
      expected |= raised(row.f(data[i], data[256 + i], e.alpha, e.beta), e.dst.type, operands);
    }
    CAPTURE(n, static_cast<int>(row.op), size);
    REQUIRE(flags_of(e, data) == expected);
    seen |= 1u << expected;
  }
  CHECK(seen == 0xf);
}

TEST_CASE("flags of random reductions and pools are those of the page") {
  Random r;
  uint32_t seen = 0;
  for (int n = 0; n < 1000; ++n) {
    const uint32_t rows = 1 + r.below(6), columns = 1 + r.below(12);
    const std::vector<float> data = r.values(512);
    uint32_t expected = 0;
    Body body;
    if (r.below(2) == 0) {  // sums of rows
      isa::Reduce s;
      s.op = isa::ReduceOp::Sum, s.alpha = 64, s.beta = r.below(9) == 0 ? kInf : 1;
      s.dims = {1, 1, 1, rows, columns};
      s.a = {0, isa::DataType::F16, {0, 0, 0, static_cast<int32_t>(columns * 2), 2}};
      s.dst = {4096, isa::DataType::F16, {0, 0, 0, 2, 0}};
      body = s;
      for (uint32_t i = 0; i < rows; ++i) {
        std::vector<float> operands(data.begin() + i * columns, data.begin() + (i + 1) * columns);
        float sum = operands[0];
        for (size_t k = 1; k < operands.size(); ++k) sum += operands[k];
        operands.push_back(s.beta);
        expected |= raised(std::fma(s.alpha, sum, s.beta), isa::DataType::F16, operands);
      }
    } else {  // windows of three rows over an image one pixel wide, 40 channels
      isa::Pool p;
      p.op = r.below(2) == 0 ? isa::PoolOp::Max : isa::PoolOp::AverageFixed;
      p.alpha = 100, p.channels = columns, p.in_h = rows, p.in_w = 1, p.kernel_h = 3, p.kernel_w = 1;
      p.y0 = r.below(3) == 0 ? -5 : -1;
      p.x_row = p.x_col = p.out_row = p.out_col = columns * 2, p.out_h = rows, p.out_w = 1, p.out = 4096;
      body = p;
      for (uint32_t y = 0; y < rows; ++y)
        for (uint32_t c = 0; c < columns; ++c) {
          std::vector<float> taps;
          for (int k = 0; k < 3; ++k) {
            const int at = p.y0 + static_cast<int>(y) + k;
            if (at >= 0 && at < static_cast<int>(rows))
              taps.push_back(data[static_cast<size_t>(at) * columns + c]);
          }
          if (taps.empty()) continue;  // Max: no operand, and no flag; the average is 0
          float v = taps[0];
          for (size_t k = 1; k < taps.size(); ++k)
            v = p.op == isa::PoolOp::Max ? larger(v, taps[k]) : v + taps[k];
          expected |= raised(p.op == isa::PoolOp::Max ? v : v * p.alpha, isa::DataType::F16, taps);
        }
    }
    CAPTURE(n, rows, columns);
    REQUIRE(flags_of(body, data) == expected);
    seen |= 1u << expected;
  }
  CHECK(seen == 0xf);
}

TEST_CASE("flags of random convolutions are those of the page") {
  Random r;
  uint32_t seen = 0;
  for (int n = 0; n < 1000; ++n) {
    const uint32_t width = 1 + r.below(6), channels = 1 + r.below(4), outputs = 1 + r.below(20);
    isa::Conv c = conv(1, width, channels, outputs);
    c.w = 512, c.w_k = 32, c.w_n = 2, c.out = 4096, c.first = c.last = true;
    c.out_type = r.below(3) == 0 ? isa::DataType::F32 : isa::DataType::F16;
    c.out_channel = static_cast<uint32_t>(isa::data_bytes(c.out_type));
    c.out_col = outputs * c.out_channel, c.out_row = width * c.out_col;
    const std::vector<float> data = r.values(512);
    uint32_t expected = 0;
    for (uint32_t x = 0; x < width; ++x)
      for (uint32_t o = 0; o < outputs; ++o) {
        float sum = 0;
        std::vector<float> operands;
        for (uint32_t k = 0; k < channels; ++k) {
          const float value = data[x * channels + k];
          const float weight = data[256 + o / 16 * (c.w_block / 2) + k * 16 + o % 16];
          sum = std::fma(value, weight, sum);
          operands.insert(operands.end(), {value, weight});
        }
        expected |= raised(sum, c.out_type, operands);
      }
    CAPTURE(n, width, channels, outputs);
    REQUIRE(flags_of(c, data) == expected);
    seen |= 1u << expected;
  }
  CHECK(seen == 0xf);
}
