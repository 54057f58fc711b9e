// Every function of one operand that the accelerator takes, over all 65 536 numbers of fp16, against the
// reference interpreter.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "harness.h"
#include "mrvlc/interp/interp.h"
#include "mrvlc/tensor/float16.h"

namespace mrvlc::accel_test {
namespace {

// Of max(1, |y|). Rounding to fp16 alone is half a unit in the last place, 2^-11 of |y| at most.
constexpr double kRounded = 0x1p-11;           // computed in fp32, one rounding
constexpr double kTable = kRounded + 1.15e-4;  // and a chord, 1.1e-4 off where the curve is bent most
constexpr double kSharp = 6e-4;                // the most that exponentials may be off

struct Sweep {
  const char* op;
  AttrList attrs;
  std::vector<double> constants;  // operands after the first
  double tolerance;
  bool constant_first = false;
  bool zero_times_infinity = false;  // by its definition, at -infinity: the machine gives the limit, 0
};

const std::vector<Sweep>& sweeps() {
  static const std::vector<Sweep> all = {
      // Instructions: one rounding.
      {"Relu", {}, {}, kRounded},
      {"Clip", {}, {-1.5, 2.25}, kRounded},
      {"Clip", {}, {0, 6}, kRounded},
      {"Clip", {}, {-70000, 3}, kRounded},
      {"LeakyRelu", {}, {}, kRounded},
      {"LeakyRelu", {{"alpha", 0.3f}}, {}, kRounded},
      {"HardSigmoid", {}, {}, kRounded},
      {"HardSigmoid", {{"alpha", 1.0f / 6}, {"beta", 0.5f}}, {}, kRounded},
      {"HardSwish", {}, {}, kRounded, false, true},
      {"Abs", {}, {}, kRounded},
      {"Neg", {}, {}, kRounded},
      {"Sqrt", {}, {}, kRounded},
      {"Reciprocal", {}, {}, kRounded},
      {"Floor", {}, {}, kRounded},
      {"Ceil", {}, {}, kRounded},
      {"Pow", {}, {0.5}, kRounded},
      {"Pow", {}, {2}, kRounded},
      {"Pow", {}, {3}, kRounded},
      {"Add", {}, {0.1}, kRounded},
      {"Sub", {}, {1000.5}, kRounded, true},
      {"Mul", {}, {-3.7}, kRounded},
      {"Div", {}, {1}, kRounded, true},
      {"Div", {}, {7}, kRounded},
      {"Max", {}, {0.25}, kRounded},
      {"Min", {}, {-2}, kRounded},
      {"PRelu", {}, {0.2}, kRounded + 0x1p-12},  // the slope is an fp16 operand
      // Tables.
      {"Sigmoid", {}, {}, kTable},
      {"Tanh", {}, {}, kTable},
      {"Elu", {}, {}, kTable},
      {"Elu", {{"alpha", 0.25f}}, {}, kTable},
      {"Selu", {}, {}, kTable},
      {"Celu", {}, {}, kTable},
      {"Celu", {{"alpha", 0.5f}}, {}, kTable},
      {"Softplus", {}, {}, kTable},
      {"Softsign", {}, {}, kTable},
      {"Gelu", {}, {}, kTable, false, true},
      {"Gelu", {{"approximate", std::string("tanh")}}, {}, kTable, false, true},
      {"Mish", {}, {}, kTable, false, true},
      {"Swish", {}, {}, kTable, false, true},
      {"Swish", {{"alpha", 1.702f}}, {}, kTable, false, true},
      {"Erf", {}, {}, kTable},
      {"Atan", {}, {}, kTable},
      {"Asinh", {}, {}, kTable},
      // Several instructions and tables.
      {"Exp", {}, {}, kSharp},
      {"Log", {}, {}, kSharp},
      {"Sinh", {}, {}, kSharp},
      {"Cosh", {}, {}, kSharp},
  };
  return all;
}

Tensor every_half() {
  Tensor x({ElementType::F32, {64, 1024}});
  std::span<float> to = x.mutable_data<float>();
  for (size_t i = 0; i < to.size(); ++i) to[i] = half_to_float(static_cast<uint16_t>(i));
  return x;
}

Net net_of(const Sweep& s) {
  Net net(1);
  std::vector<ir::ValueId> operands{net.input({64, 1024})};
  for (double c : s.constants) operands.push_back(net.values({}, {c}));
  if (s.constant_first) std::swap(operands[0], operands[1]);
  net.output(net.layer("elementwise", s.op, operands, s.attrs));
  return net;
}

// How far `got` is off, as a share of max(1, |y|); infinity where it is of another kind.
double error_of(const Sweep& s, float x, float got, float wanted) {
  constexpr double kOverflow = 65520;  // rounds to infinity
  double a = static_cast<double>(got), y = static_cast<double>(wanted), size = std::fabs(y);
  if (std::isinf(x) && x < 0 && s.zero_times_infinity) return std::fabs(a) == 0 ? 0 : INFINITY;
  // infinity / infinity: the table holds the value of 65504.
  if (std::isinf(x) && std::isnan(y)) return 0;
  if (std::isnan(a) || std::isnan(y)) return std::isnan(a) && std::isnan(y) ? 0 : INFINITY;
  if (std::isinf(a) || size >= kOverflow) {
    bool near = std::isfinite(y) && std::fabs(size - kOverflow) <= s.tolerance * size;
    bool same = std::isinf(a) && size >= kOverflow;
    return (same || near) && std::signbit(a) == std::signbit(y) ? 0 : INFINITY;
  }
  return std::fabs(a - y) / std::max(1.0, size);
}

std::string title(const Sweep& s) {
  std::string text = s.op;
  for (const auto& [name, value] : s.attrs) text += " " + name;
  for (double c : s.constants) text += " " + std::to_string(c);
  return text;
}

float at(const Tensor& t, uint16_t half) {
  return t.data<float>()[half];
}

}  // namespace

TEST_CASE("functions of one operand over all numbers of fp16") {
  const Tensor x = every_half();
  for (const Sweep& s : sweeps()) {
    INFO(title(s));
    Net net = net_of(s);
    auto expected = interp::run(net.graph, std::vector<Tensor>{x});
    REQUIRE(expected.ok());
    auto got = outputs_of(net, {x});
    REQUIRE(got.ok());
    double worst = 0;
    float where = 0;
    for (int64_t i = 0; i < x.elements(); ++i) {
      auto k = static_cast<size_t>(i);
      float in = x.data<float>()[k];
      double e = error_of(s, in, (*got)[0].data<float>()[k], (*expected)[0].data<float>()[k]);
      if (e > worst) {
        worst = e;
        where = in;
      }
    }
    if (std::getenv("MRVLC_TEST_VERBOSE") != nullptr)
      std::printf("%-32s %9.2e at %g\n", title(s).c_str(), worst, static_cast<double>(where));
    INFO("worst at " << where);
    CHECK(worst <= s.tolerance);
  }
}

TEST_CASE("values of functions that are exact") {
  const Tensor x = every_half();
  auto values = [&](const char* op) {
    auto got = outputs_of(net_of({op, {}, {}, 0}), {x});
    REQUIRE(got.ok());
    return (*got)[0];
  };
  constexpr uint16_t zero = 0, minus_zero = 0x8000, one = 0x3c00, inf = 0x7c00, minus_inf = 0xfc00;
  Tensor log = values("Log"), exp = values("Exp"), sinh = values("Sinh"), cosh = values("Cosh");
  CHECK(at(log, zero) == -INFINITY);
  CHECK(at(log, minus_zero) == -INFINITY);
  CHECK(at(log, one) == 0);
  CHECK(at(log, inf) == INFINITY);
  CHECK(std::isnan(at(log, 0x8001)));  // of the smallest negative number
  CHECK(at(exp, zero) == 1);
  CHECK(at(exp, minus_zero) == 1);
  CHECK(at(exp, inf) == INFINITY);
  CHECK(at(exp, minus_inf) == 0);
  CHECK(at(sinh, zero) == 0);
  CHECK(at(cosh, zero) == 1);
  CHECK(at(values("Tanh"), zero) == 0);
  CHECK(at(values("Sigmoid"), zero) == 0.5f);
}

// What is between the functions of a chain is fp32: nothing overflows that comes back.
TEST_CASE("a sigmoid and a softplus that are written out") {
  const Tensor x = every_half();
  Net net(1);
  ir::ValueId e = net.layer("elementwise", "Neg", {net.input({64, 1024})});
  e = net.epilogue("Exp", {e});
  net.epilogue("Add", {e, net.values({}, {1})});
  net.output(net.epilogue("Reciprocal", {net.graph.node(net.region.layers[0].nodes.back()).outputs[0]}));
  auto got = outputs_of(net, {x});
  REQUIRE(got.ok());
  for (uint32_t h = 0; h < 0x10000; ++h) {
    double in = static_cast<double>(half_to_float(static_cast<uint16_t>(h)));
    double y = static_cast<double>(at((*got)[0], static_cast<uint16_t>(h)));
    if (std::isnan(in)) continue;
    if (std::fabs(y - 1 / (1 + std::exp(-in))) <= kTable) continue;
    FAIL("sigmoid of " << in << " is " << y);
  }
}

}  // namespace mrvlc::accel_test
