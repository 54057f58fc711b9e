#include <catch2/catch.hpp>
#include <cmath>

#include "../ops/case.h"

namespace mrvlc::ops::test {
namespace {

Tensor some(Shape shape, uint64_t seed, ElementType elem = ElementType::F32) {
  return random_tensor(elem, std::move(shape), seed);
}

Tensor bools(Shape shape, std::vector<int64_t> values) {
  return Tensor::of(ElementType::Bool, std::move(shape), values);
}

// 2 batches, 4 query heads that share 2, 3 queries, 5 keys.
Case attention(ElementType elem = ElementType::F32) {
  return Case("Attention")
      .unknown(some({2, 4, 3, 6}, 1, elem))
      .unknown(some({2, 2, 5, 6}, 2, elem))
      .unknown(some({2, 2, 5, 7}, 3, elem));
}

// One head of size 1 with scale 1: two queries of 0, so that keys weigh the same; values 1, 2, 4.
Case even(std::optional<Tensor> mask, int64_t causal = 0) {
  Case c = Case("Attention").set("is_causal", num(causal)).outputs(4).set("qk_matmul_output_mode", num(3));
  c.unknown(floats({1, 1, 2, 1}, {0, 0})).unknown(floats({1, 1, 3, 1}, {1, 1, 1}));
  c.unknown(floats({1, 1, 3, 1}, {1, 2, 4}));
  return mask ? c.unknown(*mask) : c;
}

}  // namespace

TEST_CASE("Attention weighs values") {
  CHECK(greatest_error(even({}).value(0), {7.0 / 3, 7.0 / 3}) < 1e-6);
  CHECK(greatest_error(even({}, 1).value(0), {1, 1.5}) < 1e-6);
  CHECK(greatest_error(even(bools({2, 3}, {0, 1, 1, 0, 0, 0})).value(0), {3, 0}) < 1e-6);
  CHECK(greatest_error(even(bools({2, 3}, {0, 1, 1, 0, 0, 0})).value(3), {0, 0.5, 0.5, 0, 0, 0}) < 1e-6);
  CHECK(greatest_error(even(floats({1, 2}, {0, std::log(3.0)})).value(0), {1.75, 1.75}) < 1e-6);
}

TEST_CASE("Attention appends to what is past") {
  Case c = Case("Attention").set("is_causal", num(1)).outputs(3).unknown(floats({1, 1, 1, 1}, {0}));
  c.unknown(floats({1, 1, 1, 1}, {5})).unknown(floats({1, 1, 1, 1}, {6})).absent();
  c.unknown(floats({1, 1, 2, 1}, {1, 2})).unknown(floats({1, 1, 2, 1}, {3, 0}));
  CHECK(greatest_error(c.value(0), {3}) < 1e-6);
  CHECK(greatest_error(c.value(1), {1, 2, 5}) < 1e-6);
  CHECK(greatest_error(c.value(2), {3, 0, 6}) < 1e-6);
}

TEST_CASE("lengths of Attention and of recurrent layers out of range are errors") {
  for (int64_t length : {-1, 77})
    CHECK(attention().absent().absent().absent().unknown(ints({length, 1})).eval().ok() == false);
}

TEST_CASE("Attention in C") {
  std::vector<Case> cases{attention(), attention(ElementType::F64)};
  for (int64_t mode : {0, 1, 2, 3}) {
    cases.push_back(attention().set("qk_matmul_output_mode", num(mode)).set("softcap", 0.5f).outputs(4));
    cases.back().set("is_causal", num(mode % 2)).unknown(some({4, 1, 5}, 4));
  }
  cases.push_back(attention().set("scale", 0.3f).unknown(bools({3, 2}, {1, 0, 0, 0, 1, 1})));
  cases.push_back(attention().set("is_causal", num(1)).absent().absent().absent().unknown(ints({5, 2})));
  cases.push_back(attention().absent().absent().absent().unknown(ints({0, 1})));
  Case past = attention().outputs(3).absent().unknown(some({2, 2, 2, 6}, 5)).unknown(some({2, 2, 2, 7}, 6));
  cases.push_back(past);
  cases.push_back(past.set("is_causal", num(1)));
  Case packed = Case("Attention").set("q_num_heads", num(4)).set("kv_num_heads", num(2)).outputs(3);
  packed.unknown(some({2, 3, 24}, 1)).unknown(some({2, 5, 12}, 2)).unknown(some({2, 5, 14}, 3));
  cases.push_back(packed);
  cases.push_back(packed.absent().unknown(some({2, 2, 2, 6}, 5)).unknown(some({2, 2, 2, 7}, 6)));
  check_generated_code(cases);
}

TEST_CASE("Attention that is refused") {
  CHECK(attention().refusal().empty());
  CHECK(attention().unknown(some({3, 1}, 4)).refusal() == "MRV0205");
  CHECK(attention().unknown(some({2, 5}, 4)).refusal() == "MRV0205");
  CHECK(attention().absent().unknown(some({2, 2, 2, 6}, 5)).refusal() == "MRV0208");
  CHECK(attention().set("qk_matmul_output_mode", num(4)).refusal() == "MRV0204");
  CHECK(attention().set("softcap", -1.0f).refusal() == "MRV0204");
  Case packed = Case("Attention").unknown(some({2, 3, 24}, 1)).unknown(some({2, 5, 12}, 2));
  CHECK(packed.unknown(some({2, 5, 14}, 3)).refusal() == "MRV0204");
}

TEST_CASE("LinearAttention keeps a state") {
  // The state is 2 after the first step, 3/2 * 2 + 2 * 5 after the second; exp(log(1.5)) is the decay.
  Case c = Case("LinearAttention").set("q_num_heads", num(1)).set("kv_num_heads", num(1)).outputs(2);
  c.set("update_rule", text("gated")).set("scale", 1.0f);
  c.unknown(floats({1, 2, 1}, {1, 10})).unknown(floats({1, 2, 1}, {1, 2})).unknown(floats({1, 2, 1}, {2, 5}));
  c.absent().unknown(floats({1, 2, 1}, {7, std::log(1.5)}));
  CHECK(greatest_error(c.value(0), {2, 130}) < 1e-4);
  CHECK(greatest_error(c.value(1), {13}) < 1e-5);
}

TEST_CASE("LinearAttention, RotaryEmbedding and CausalConvWithState in C") {
  std::vector<Case> cases;
  for (const char* rule : {"linear", "gated", "delta", "gated_delta"}) {
    const std::string name = rule;
    for (size_t outputs : {1u, 2u}) {
      Case c =
          Case("LinearAttention").set("q_num_heads", num(4)).set("kv_num_heads", num(2)).outputs(outputs);
      c.set("update_rule", text(name)).unknown(some({2, 3, 20}, 1)).unknown(some({2, 3, 10}, 2));
      c.unknown(some({2, 3, 6}, 3));
      outputs == 1 ? c.absent() : c.unknown(some({2, 2, 5, 3}, 4));
      name.find("gated") == 0 ? c.unknown(some({2, 3, outputs == 1 ? 2 : 10}, 5)) : c.absent();
      if (name.find("delta") != std::string::npos) c.unknown(some({2, 3, outputs == 1 ? 1 : 2}, 6));
      cases.push_back(c);
    }
  }
  for (int64_t interleaved : {0, 1}) {
    Case c = Case("RotaryEmbedding").set("interleaved", num(interleaved));
    cases.push_back(c.unknown(some({2, 3, 4, 6}, 1)).unknown(some({2, 4, 3}, 2)).unknown(some({2, 4, 3}, 3)));
    Case packed = Case("RotaryEmbedding").set("interleaved", num(interleaved)).set("num_heads", num(3));
    packed.set("rotary_embedding_dim", num(4)).unknown(some({2, 4, 18}, 1)).unknown(some({9, 2}, 2));
    packed.unknown(some({9, 2}, 3));
    cases.push_back(
        packed.unknown(Tensor::of(ElementType::I64, {2, 4}, std::vector<int64_t>{8, 1, 0, 3, 3, 4, 5, 7})));
  }
  for (int64_t length : {1, 6}) {
    Case c = Case("CausalConvWithState").set("activation", text("silu")).outputs(2);
    c.unknown(some({2, 3, length}, 1)).in(some({3, 1, 4}, 2));
    cases.push_back(c);
    cases.push_back(c.unknown(some({3}, 3)).unknown(some({2, 3, 3}, 4)));
  }
  cases.push_back(Case("CausalConvWithState").outputs(2).unknown(some({2, 3, 4}, 1)).in(some({3, 1, 1}, 2)));
  check_generated_code(cases);
}

}  // namespace mrvlc::ops::test
