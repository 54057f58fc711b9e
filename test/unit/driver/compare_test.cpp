// The comparison that everything else is judged by: what it lets through, nothing else sees.
#include "mrvlc/driver/compare.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

using namespace mrvlc;
using driver::compare;
using driver::Difference;
using driver::Limits;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Tensor floats(const std::vector<double>& values, ElementType elem = ElementType::F32) {
  return Tensor::of<double>(elem, {static_cast<int64_t>(values.size())}, values);
}

Tensor ints(const std::vector<int64_t>& values, ElementType elem = ElementType::I64) {
  return Tensor::of<int64_t>(elem, {static_cast<int64_t>(values.size())}, values);
}

Tensor texts(std::vector<std::string> values) {
  const auto n = static_cast<int64_t>(values.size());
  return Tensor::strings({n}, std::move(values));
}

Tensor wrapped(Wrapper wrapper, std::vector<Tensor> items, ElementType elem = ElementType::F32) {
  TensorType type{items.empty() ? elem : items.front().elem(), {}};
  type.wrapper = wrapper;
  type.length = static_cast<int64_t>(items.size());
  return Tensor::wrapped(type, std::move(items));
}

bool same(const Tensor& actual, const Tensor& expected, const Limits& limits = {}) {
  const Difference d = compare(actual, expected, limits);
  CHECK(d.same() == (d.text.empty()));
  CHECK((d.same() || d.error > d.limit));
  return d.same();
}

}  // namespace

TEST_CASE("a NaN equals a NaN and nothing else") {
  for (ElementType elem : {ElementType::F32, ElementType::F64, ElementType::F16, ElementType::BF16}) {
    CHECK(same(floats({1, kNan}, elem), floats({1, kNan}, elem)));
    CHECK_FALSE(same(floats({1, kNan}, elem), floats({1, 2}, elem)));  // only ours
    CHECK_FALSE(same(floats({1, 2}, elem), floats({1, kNan}, elem)));  // only theirs
    CHECK_FALSE(same(floats({kNan}, elem), floats({0}, elem)));
    CHECK_FALSE(same(floats({kNan}, elem), floats({kInf}, elem)));
    CHECK_FALSE(same(floats({kInf}, elem), floats({kNan}, elem)));
  }
  const Limits generous{1e30, 1e30, 1e18};
  CHECK_FALSE(same(floats({kNan}), floats({1}), generous));
  CHECK_FALSE(same(floats({1}), floats({kNan}), generous));
  CHECK_FALSE(same(floats({kInf}), floats({1}), generous));
}

TEST_CASE("infinities have a sign") {
  CHECK(same(floats({kInf, -kInf}), floats({kInf, -kInf})));
  CHECK_FALSE(same(floats({kInf}), floats({-kInf})));
  CHECK_FALSE(same(floats({-kInf}), floats({kInf})));
  CHECK_FALSE(same(floats({kInf}), floats({3e38})));
  CHECK_FALSE(same(floats({3e38}), floats({kInf})));
}

TEST_CASE("near misses on both sides of the limit") {
  const Limits limits{1e-3, 1e-2, 0};
  for (double b : {0.0, 1.0, -7.0, 1e6}) {
    const double room = 1e-3 * (1 + std::abs(b));
    CHECK(same(floats({b + 0.99 * room}, ElementType::F64), floats({b}, ElementType::F64), limits));
    CHECK(same(floats({b - 0.99 * room}, ElementType::F64), floats({b}, ElementType::F64), limits));
    CHECK_FALSE(same(floats({b + 1.01 * room}, ElementType::F64), floats({b}, ElementType::F64), limits));
    CHECK_FALSE(same(floats({b - 1.01 * room}, ElementType::F64), floats({b}, ElementType::F64), limits));
  }
  CHECK(same(floats({1.0009}), floats({1}), limits) == true);
  CHECK_FALSE(same(floats({1.0025}), floats({1}), limits));
  CHECK(same(floats({1.015}, ElementType::F16), floats({1}, ElementType::F16), limits));
  CHECK_FALSE(same(floats({1.025}, ElementType::F16), floats({1}, ElementType::F16), limits));
  CHECK_FALSE(same(floats({1.03125}, ElementType::BF16), floats({1}, ElementType::BF16), limits));
}

TEST_CASE("a limit of zero is equality, one that is no number lets nothing through") {
  const Limits zero{0, 0, 0};
  CHECK(same(floats({0.1}), floats({0.1}), zero));
  CHECK_FALSE(same(floats({0.1}), floats({std::nextafter(0.1f, 1.0f)}), zero));
  CHECK_FALSE(compare(floats({1}), floats({1}), {kNan, kNan, kNan}).same());
}

TEST_CASE("integers are equal, at both ends of their types too") {
  CHECK(same(ints({-3, 4}), ints({-3, 4})));
  CHECK_FALSE(same(ints({1000000}), ints({1000001})));
  CHECK_FALSE(same(ints({INT64_MAX}), ints({INT64_MAX - 1})));
  CHECK_FALSE(same(ints({INT64_MIN}), ints({INT64_MAX})));
  CHECK_FALSE(same(ints({-1}, ElementType::U64), ints({-2}, ElementType::U64)));
  CHECK_FALSE(same(ints({200}, ElementType::U8), ints({201}, ElementType::U8)));
  CHECK(compare(ints({-1}, ElementType::U64), ints({0}, ElementType::U64), {}).error > 1e19);
  CHECK(compare(ints({INT64_MIN}), ints({INT64_MAX}), {}).error > 1e19);
  CHECK(compare(ints({5}), ints({3}), {}).error == 2);
  CHECK(same(ints({5}), ints({3}), {0, 0, 2}));
  CHECK_FALSE(same(ints({6}), ints({3}), {0, 0, 2}));
  // A tolerance of floats is none of integers.
  CHECK_FALSE(same(ints({1000000}), ints({1000001}), {1, 1, 0}));
}

TEST_CASE("truth values are 0 or 1") {
  const auto bools = [](std::vector<uint8_t> bytes) {
    return Tensor({ElementType::Bool, {static_cast<int64_t>(bytes.size())}},
                  std::string(bytes.begin(), bytes.end()));
  };
  CHECK(same(bools({0, 1}), bools({0, 1})));
  CHECK_FALSE(same(bools({0, 1}), bools({1, 1})));
  CHECK_FALSE(same(bools({0, 1}), bools({0, 0})));
  CHECK_FALSE(same(bools({2}), bools({1})));
  CHECK_FALSE(same(bools({255}), bools({1})));
  CHECK_FALSE(same(bools({2}), bools({2})));
}

TEST_CASE("texts and floats of eight bits are equal") {
  CHECK(same(texts({"a", ""}), texts({"a", ""})));
  CHECK_FALSE(same(texts({"a", "b"}), texts({"a", "B"})));
  CHECK_FALSE(same(texts({"a"}), texts({std::string("a\0", 2)})));
  CHECK(same(floats({1.5}, ElementType::F8E4M3FN), floats({1.5}, ElementType::F8E4M3FN)));
  CHECK_FALSE(same(floats({448}, ElementType::F8E4M3FN), floats({416}, ElementType::F8E4M3FN), {1, 1, 1}));
}

TEST_CASE("types and shapes agree") {
  CHECK_FALSE(same(floats({1, 2}).reshaped({1, 2}), floats({1, 2})));
  CHECK_FALSE(same(floats({1, 2}).reshaped({2, 1}), floats({1, 2}).reshaped({1, 2})));
  CHECK_FALSE(same(floats({1}), floats({1, 2})));
  CHECK_FALSE(same(floats({1, 2}), floats({1})));
  CHECK_FALSE(same(floats({1}).reshaped({}), floats({1})));
  CHECK_FALSE(same(floats({1}), floats({1}, ElementType::F64)));
  CHECK_FALSE(same(ints({1}), ints({1}, ElementType::I32)));
  CHECK_FALSE(same(ints({1}, ElementType::U8), ints({1}, ElementType::Bool)));
  CHECK(compare(floats({1}), floats({1, 2}), {}).error == kInf);
}

TEST_CASE("empty tensors agree when their shapes do") {
  CHECK(same(floats({}), floats({})));
  CHECK(same(floats({}).reshaped({0, 3}), floats({}).reshaped({0, 3})));
  CHECK_FALSE(same(floats({}).reshaped({0, 3}), floats({}).reshaped({3, 0})));
  CHECK_FALSE(same(floats({}), floats({0})));
  CHECK_FALSE(same(floats({0}), floats({})));
}

TEST_CASE("sequences and optionals agree item by item") {
  const auto sequence = [](std::vector<Tensor> items) {
    return wrapped(Wrapper::Sequence, std::move(items));
  };
  CHECK(same(sequence({floats({1}), floats({2, 3})}), sequence({floats({1}), floats({2, 3})})));
  CHECK_FALSE(same(sequence({floats({1}), floats({2, 3})}), sequence({floats({1}), floats({2, 4})})));
  CHECK_FALSE(same(sequence({floats({1})}), sequence({floats({2})})));
  CHECK_FALSE(same(sequence({floats({1}), floats({2})}), sequence({floats({1})})));
  CHECK_FALSE(same(sequence({floats({1})}), sequence({floats({1}), floats({2})})));
  CHECK_FALSE(same(sequence({floats({1})}), sequence({})));
  CHECK_FALSE(same(sequence({floats({1, 2})}), sequence({floats({1, 2}).reshaped({2, 1})})));
  CHECK_FALSE(same(sequence({floats({kNan})}), sequence({floats({1})})));
  CHECK(same(sequence({}), sequence({})));
  const Tensor nothing = wrapped(Wrapper::Optional, {});
  CHECK(same(nothing, nothing));
  CHECK_FALSE(same(nothing, wrapped(Wrapper::Optional, {floats({1})})));
  CHECK_FALSE(same(wrapped(Wrapper::Optional, {floats({1})}), nothing));
  CHECK_FALSE(same(wrapped(Wrapper::Optional, {floats({1})}), wrapped(Wrapper::Optional, {floats({2})})));
  CHECK_FALSE(same(wrapped(Wrapper::Optional, {floats({1})}), sequence({floats({1})})));
  CHECK_FALSE(same(floats({1}), sequence({floats({1})})));
  const Tensor none = wrapped(Wrapper::OptionalSequence, {}),
               some = wrapped(Wrapper::OptionalSequence, {sequence({})});
  CHECK_FALSE(same(none, some));
  CHECK_FALSE(same(some, wrapped(Wrapper::OptionalSequence, {sequence({floats({1})})})));
}

TEST_CASE("the text says where, and the worst") {
  Difference d =
      compare(floats({1, 2, 3, 4, 5, 7}).reshaped({2, 3}), floats({1, 2, 3, 4, 6, 9}).reshaped({2, 3}), {});
  CHECK(d.text == "element [1,2] is 7, not 9; 2 of 6 elements differ");
  CHECK(d.elements == 2);
  CHECK(d.error == Approx(0.2));
  CHECK(d.limit == 1e-3);
  CHECK(compare(floats({1, kNan}), floats({100, 2}), {}).text ==
        "element [1] is nan, not 2; 2 of 2 elements differ");
  CHECK(compare(floats({1}).reshaped({}), floats({2}).reshaped({}), {}).text == "element [] is 1, not 2");
  CHECK(compare(ints({-1}, ElementType::U64), ints({1}, ElementType::U64), {}).text ==
        "element [0] is 18446744073709551615, not 1");
  CHECK(compare(wrapped(Wrapper::Sequence, {floats({1}), floats({2})}),
                wrapped(Wrapper::Sequence, {floats({1}), floats({5})}), {})
            .text == "item 1: element [0] is 2, not 5");
  CHECK(compare(texts({"a"}), texts({"b"}), {}).text == "element [0] is 'a', not 'b'");
  CHECK(compare(floats({1}), ints({1}), {}).text == "it is f32[1], not i64[1]");
  // Within the limit the largest error is told all the same.
  d = compare(floats({1, 2.001}), floats({1, 2}), {});
  CHECK(d.same());
  CHECK(d.error == Approx(0.001 / 3).epsilon(1e-3));
}

TEST_CASE("what is allowed is allowed element by element, and jumps by their number and size") {
  const auto row = [](const std::vector<double>& values) {
    return Tensor::of<double>(ElementType::F32, {static_cast<int64_t>(values.size())}, values);
  };
  const Tensor expected = row({1, 2, 3}), actual = row({1, 2.3, 3});
  driver::Allowance allowed;
  CHECK_FALSE(compare(actual, expected, {}, allowed).same());
  allowed.by = {1, 0, 1};
  CHECK_FALSE(compare(actual, expected, {}, allowed).same());
  allowed.by = {0, 0.6, 0};  // of 1 + |2|
  CHECK(compare(actual, expected, {}, allowed).same());
  CHECK(compare(actual, expected, {}, allowed).limit == Approx(0.201));
  allowed = {{}, 1, 0.33};
  CHECK(compare(actual, expected, {}, allowed).same());
  CHECK_FALSE(compare(row({1.5, 2.3, 3}), expected, {}, allowed).same());  // two of them
  allowed.jump = 0.27;
  CHECK_FALSE(compare(actual, expected, {}, allowed).same());
}

TEST_CASE("units in the last place lie between values, across 0 too") {
  const auto ulps = [](ElementType elem, double a, double b) {
    return driver::ulps_between(Tensor::of<double>(elem, {1}, {a}), Tensor::of<double>(elem, {1}, {b}), 0);
  };
  CHECK(ulps(ElementType::F32, 1, 1 + 0x1p-23) == 1);
  CHECK(ulps(ElementType::F64, 1, 1 + 0x1p-52) == 1);
  CHECK(ulps(ElementType::F16, 1, 1 + 0x1p-10) == 1);
  CHECK(ulps(ElementType::F32, -0.0, 0.0) == 0);
  CHECK(ulps(ElementType::F32, -0x1p-149, 0x1p-149) == 2);
  CHECK(std::isinf(ulps(ElementType::F32, NAN, 1)));
  CHECK(ulps(ElementType::F32, NAN, NAN) == 0);
}
