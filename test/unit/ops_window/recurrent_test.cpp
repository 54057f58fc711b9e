#include <catch2/catch.hpp>
#include <cmath>

#include "../ops/case.h"

namespace mrvlc::ops::test {
namespace {

Tensor lengths(std::vector<int64_t> values) {
  return Tensor::of(ElementType::I32, {static_cast<int64_t>(values.size())}, values);
}

// 3 steps, 2 sequences of 4, 5 hidden; every operand but those of LSTM alone.
Case recurrent(std::string_view name, ElementType elem, std::string direction, int64_t layout,
               std::vector<int64_t> steps = {}) {
  const int64_t d = direction == "bidirectional" ? 2 : 1;
  const int64_t gates = name == "RNN" ? 1 : name == "GRU" ? 3 : 4;
  Shape state = layout != 0 ? Shape{2, d, 5} : Shape{d, 2, 5};
  Case c = Case(name).set("direction", text(std::move(direction))).set("layout", num(layout)).outputs(2);
  c.unknown(random_tensor(elem, layout != 0 ? Shape{2, 3, 4} : Shape{3, 2, 4}, 1));
  c.in(random_tensor(elem, {d, 5 * gates, 4}, 2)).unknown(random_tensor(elem, {d, 5 * gates, 5}, 3));
  c.in(random_tensor(elem, {d, 10 * gates}, 4));
  steps.empty() ? c.absent() : c.unknown(lengths(std::move(steps)));
  return c.unknown(random_tensor(elem, state, 5));
}

ir::Attr names(std::vector<std::string> list) {
  return ir::Attr(std::move(list));
}

}  // namespace

TEST_CASE("RNN and GRU on one hidden element") {
  Case rnn = Case("RNN").outputs(2).unknown(floats({2, 1, 1}, {1, 2})).in(floats({1, 1, 1}, {0.5}));
  rnn.in(floats({1, 1, 1}, {-1})).in(floats({1, 2}, {0.25, 0.25}));
  const double first = std::tanh(1.0), second = std::tanh(1.5 - first);
  CHECK(greatest_error(rnn.value(0), {first, second}) < 1e-6);
  CHECK(greatest_error(rnn.value(1), {second}) < 1e-6);
  // Update and reset gates are 1/2; h' = (n + h) / 2.
  auto gru = [](int64_t after) {
    Case c = Case("GRU").set("linear_before_reset", num(after)).outputs(2).unknown(floats({1, 1, 1}, {1}));
    c.in(floats({1, 3, 1}, {0, 0, 1})).in(floats({1, 3, 1}, {0, 0, 2}));
    return c.in(floats({1, 6}, {0, 0, 0, 0, 0, 3})).absent().in(floats({1, 1, 1}, {0.5}));
  };
  CHECK(greatest_error(gru(0).value(1), {(std::tanh(1 + 0.25 * 2 + 3) + 0.5) / 2}) < 1e-6);
  CHECK(greatest_error(gru(1).value(1), {(std::tanh(1 + 0.5 * (0.5 * 2 + 3)) + 0.5) / 2}) < 1e-6);
}

TEST_CASE("sequences that end early") {
  Case c =
      Case("RNN").set("direction", text("reverse")).outputs(2).unknown(floats({3, 2, 1}, {1, 2, 3, 4, 5, 6}));
  c.in(floats({1, 1, 1}, {1})).in(floats({1, 1, 1}, {10})).absent().unknown(lengths({2, 0}));
  c.set("activations", names({"Affine"}));
  // The first sequence is 3, then 1 + 10 * 3; the second has no step.
  CHECK(greatest_error(c.value(0), {31, 0, 3, 0, 0, 0}) < 1e-6);
  CHECK(greatest_error(c.value(1), {31, 0}) < 1e-6);
}

TEST_CASE("activations take their parameters in order, after the clip") {
  auto run = [](std::string name, std::vector<float> alpha, std::vector<float> beta, double x,
                float clip = 0) {
    Case c = Case("RNN").outputs(2).unknown(floats({1, 1, 1}, {x})).in(floats({1, 1, 1}, {1}));
    c.in(floats({1, 1, 1}, {0})).set("activations", names({std::move(name)}));
    if (!alpha.empty()) c.set("activation_alpha", ir::Attr(std::move(alpha)));
    if (!beta.empty()) c.set("activation_beta", ir::Attr(std::move(beta)));
    if (clip > 0) c.set("clip", clip);
    return c.value(1).as_double(0);
  };
  CHECK(run("affine", {2}, {3}, 5) == 13);
  CHECK(run("Affine", {2}, {3}, 5, 4) == 11);
  CHECK(run("LeakyRelu", {0.5f}, {}, -4) == -2);
  CHECK(run("ThresholdedRelu", {}, {}, 0.5) == 0);
  CHECK(run("HardSigmoid", {}, {}, 9) == 1);
  CHECK(std::fabs(run("ScaledTanh", {2}, {0.5f}, 1) - 2 * std::tanh(0.5)) < 1e-6);
  CHECK(std::fabs(run("Elu", {}, {}, -1) - std::expm1(-1.0)) < 1e-6);
  CHECK(std::fabs(run("Softplus", {}, {}, 100) - 100) < 1e-6);
  // Of two directions, the second's parameters come behind the first's.
  Case c = Case("RNN").set("direction", text("bidirectional")).outputs(2).unknown(floats({1, 1, 1}, {-1}));
  c.in(floats({2, 1, 1}, {1, 1})).in(floats({2, 1, 1}, {0, 0}));
  c.set("activations", names({"LeakyRelu", "LeakyRelu"}))
      .set("activation_alpha", ir::Attr(std::vector<float>{2, 3}));
  CHECK(greatest_error(c.value(1), {-2, -3}) < 1e-6);
}

TEST_CASE("recurrent operators in C") {
  std::vector<Case> cases;
  for (const char* name : {"RNN", "GRU", "LSTM"}) {
    for (const char* direction : {"forward", "reverse", "bidirectional"}) {
      for (int64_t layout : {0, 1}) {
        cases.push_back(recurrent(name, ElementType::F32, direction, layout));
        cases.push_back(recurrent(name, ElementType::F64, direction, layout, {2, 3}));
      }
    }
    cases.push_back(recurrent(name, ElementType::F32, "forward", 0, {0, 3}).set("clip", 0.5f));
  }
  cases.push_back(recurrent("GRU", ElementType::F32, "bidirectional", 0).set("linear_before_reset", num(1)));
  cases.push_back(recurrent("LSTM", ElementType::F32, "forward", 0).set("input_forget", num(1)));
  const std::vector<float> values{0.5f, 0.3f, 0.2f, 0.6f};
  for (const char* name : {"Relu", "Tanh", "Sigmoid", "Affine", "LeakyRelu", "ThresholdedRelu", "ScaledTanh",
                           "HardSigmoid", "Elu", "Softsign", "Softplus"}) {
    cases.push_back(recurrent("RNN", ElementType::F32, "forward", 0).set("activations", names({name})));
    cases.push_back(recurrent("GRU", ElementType::F64, "bidirectional", 0)
                        .set("activations", names({"Sigmoid", name, name, "Tanh"})));
    for (size_t back : {1u, 2u})
      cases[cases.size() - back]
          .set("activation_alpha", ir::Attr(values))
          .set("activation_beta", ir::Attr(values));
  }
  check_generated_code(cases);
}

TEST_CASE("recurrent operators that are refused") {
  auto base = [] { return recurrent("GRU", ElementType::F32, "forward", 0); };
  CHECK(base().refusal().empty());
  CHECK(base().set("activations", names({"Sigmoid"})).refusal() == "MRV0204");
  CHECK(base().set("activations", names({"Sigmoid", "Sine"})).refusal() == "MRV0204");
  CHECK(base().set("activations", names({"Sigmoid", "ScaledTanh"})).refusal() == "MRV0204");
  CHECK(base().set("clip", 0.0f).refusal() == "MRV0204");
  CHECK(base().set("direction", text("up")).refusal() == "MRV0204");
  CHECK(base().set("hidden_size", num(4)).refusal() == "MRV0204");
  CHECK(recurrent("GRU", ElementType::F32, "forward", 0, {1}).refusal() == "MRV0205");
}

}  // namespace mrvlc::ops::test
