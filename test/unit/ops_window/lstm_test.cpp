#include <catch2/catch.hpp>
#include <cmath>

#include "../ops/case.h"

namespace mrvlc::ops::test {
namespace {

Tensor of(ElementType elem, Shape shape, uint64_t seed) {
  return random_tensor(elem, std::move(shape), seed);
}

// 3 steps, 2 sequences of 4, 5 hidden.
Case random_lstm(ElementType elem, std::string direction, int64_t layout, bool all_inputs) {
  const int64_t d = direction == "bidirectional" ? 2 : 1;
  Shape state = layout != 0 ? Shape{2, d, 5} : Shape{d, 2, 5};
  Case c = Case("LSTM").set("direction", text(std::move(direction))).set("layout", num(layout)).outputs(3);
  c.unknown(of(elem, layout != 0 ? Shape{2, 3, 4} : Shape{3, 2, 4}, 1));
  c.in(of(elem, {d, 20, 4}, 2)).unknown(of(elem, {d, 20, 5}, 3));
  if (!all_inputs) return c;
  return c.in(of(elem, {d, 40}, 4))
      .absent()
      .unknown(of(elem, state, 5))
      .in(of(elem, state, 6))
      .in(of(elem, {d, 15}, 7));
}

// One sequence, one hidden element; only the cell gate sees x: c' = c / 2 + tanh(x) / 2, h = tanh(c') / 2.
Case halving(std::string direction) {
  return Case("LSTM")
      .set("direction", text(std::move(direction)))
      .outputs(3)
      .unknown(floats({2, 1, 1}, {1, -3}))
      .in(floats({1, 4, 1}, {0, 0, 0, 1}))
      .in(floats({1, 4, 1}, {0, 0, 0, 0}));
}

}  // namespace

TEST_CASE("LSTM steps through a sequence in its direction") {
  const double first = std::tanh(1.0) / 2, second = first / 2 + std::tanh(-3.0) / 2;
  Case forward = halving("forward");
  CHECK(greatest_error(forward.value(0), {std::tanh(first) / 2, std::tanh(second) / 2}) < 1e-6);
  CHECK(greatest_error(forward.value(1), {std::tanh(second) / 2}) < 1e-6);
  CHECK(greatest_error(forward.value(2), {second}) < 1e-6);
  const double last = std::tanh(-3.0) / 2, then = last / 2 + std::tanh(1.0) / 2;
  Case reverse = halving("reverse");
  CHECK(greatest_error(reverse.value(0), {std::tanh(then) / 2, std::tanh(last) / 2}) < 1e-6);
  CHECK(greatest_error(reverse.value(2), {then}) < 1e-6);
}

TEST_CASE("LSTM starts from the given states and has peepholes") {
  Case c = halving("forward").absent().absent().in(floats({1, 1, 1}, {9})).in(floats({1, 1, 1}, {4}));
  const double cell = 2 + std::tanh(1.0) / 2;
  CHECK(std::fabs(c.value(0).as_double(0) - std::tanh(cell) / 2) < 1e-6);
  c.in(floats({1, 3}, {100, 100, -100}));  // with c = 4: input gate 1, forget gate 0; then output gate 1
  CHECK(std::fabs(c.value(0).as_double(0) - std::tanh(std::tanh(1.0))) < 1e-6);
}

TEST_CASE("LSTM in C") {
  std::vector<Case> cases;
  for (ElementType elem : {ElementType::F32, ElementType::F64}) {
    for (const char* direction : {"forward", "reverse", "bidirectional"}) {
      for (int64_t layout : {0, 1}) {
        cases.push_back(random_lstm(elem, direction, layout, true));
        cases.push_back(random_lstm(elem, direction, layout, false).outputs(1));
      }
    }
  }
  check_generated_code(cases);
}

TEST_CASE("variants of LSTM that are refused") {
  auto base = [] { return random_lstm(ElementType::F32, "forward", 0, false); };
  CHECK(base().refusal().empty());
  CHECK(base().set("activations", std::vector<std::string>{"sigmoid", "Tanh", "Tanh"}).refusal().empty());
  CHECK(base().set("activations", std::vector<std::string>{"Sine", "Tanh", "Tanh"}).refusal() == "MRV0204");
  CHECK(base().set("direction", text("up")).refusal() == "MRV0204");
  CHECK(base().set("hidden_size", num(4)).refusal() == "MRV0204");
  CHECK(base().in(floats({1, 39}, {})).refusal() == "MRV0205");
}

}  // namespace mrvlc::ops::test
