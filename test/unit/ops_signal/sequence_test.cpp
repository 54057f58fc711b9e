// Sequences at their ends: the positions that there are, and one further.
#include <catch2/catch.hpp>

#include "../ops/case.h"

namespace mrvlc::ops::test {
namespace {

using Ints = std::vector<int64_t>;

Tensor at(int64_t position) {
  return Tensor::of<int64_t>(ElementType::I64, {}, {position});
}

// One tensor for each value.
Tensor sequence(const Ints& values) {
  std::vector<Tensor> items;
  for (int64_t v : values) items.push_back(ints({v}));
  TensorType type{ElementType::I64, {1}};
  type.wrapper = Wrapper::Sequence;
  type.length = 8;
  return Tensor::wrapped(type, std::move(items));
}

// Values of the result's tensors; nullopt: refused.
std::optional<Ints> result(const Case& c) {
  auto results = c.eval();
  if (!results.ok()) return std::nullopt;
  const Tensor& t = results->at(0);
  if (t.type().wrapper == Wrapper::None) return t.to_ints();
  Ints values;
  for (const Tensor& item : t.items()) values.push_back(item.as_int(0));
  return values;
}

Case on(const char* op, const Ints& values) {
  Case c(op);
  c.unknown(sequence(values));
  return c;
}

}  // namespace

TEST_CASE("SequenceAt at the ends of a sequence") {
  auto read = [](int64_t position) { return result(on("SequenceAt", {10, 11, 12}).unknown(at(position))); };
  CHECK(read(0) == Ints{10});
  CHECK(read(2) == Ints{12});
  CHECK(read(-1) == Ints{12});
  CHECK(read(-3) == Ints{10});
  for (int64_t outside : {int64_t{3}, int64_t{-4}, INT64_MAX, INT64_MIN})
    CHECK(read(outside) == std::nullopt);
}

TEST_CASE("SequenceInsert puts a tensor before every one, and behind the last") {
  auto insert = [](std::optional<int64_t> position) {
    Case c = on("SequenceInsert", {10, 11});
    c.unknown(ints({7}));
    if (position) c.unknown(at(*position));
    return result(c);
  };
  CHECK(insert(std::nullopt) == Ints{10, 11, 7});
  CHECK(insert(0) == Ints{7, 10, 11});
  CHECK(insert(1) == Ints{10, 7, 11});
  CHECK(insert(2) == Ints{10, 11, 7});
  CHECK(insert(-1) == Ints{10, 7, 11});
  CHECK(insert(-2) == Ints{7, 10, 11});
  CHECK(insert(3) == std::nullopt);
  CHECK(insert(-3) == std::nullopt);
}

TEST_CASE("SequenceErase takes the last one away, or the one at a position") {
  auto erase = [](std::optional<int64_t> position) {
    Case c = on("SequenceErase", {10, 11, 12});
    if (position) c.unknown(at(*position));
    return result(c);
  };
  CHECK(erase(std::nullopt) == Ints{10, 11});
  CHECK(erase(0) == Ints{11, 12});
  CHECK(erase(2) == Ints{10, 11});
  CHECK(erase(-3) == Ints{11, 12});
  CHECK(erase(3) == std::nullopt);
  CHECK(erase(-4) == std::nullopt);
  CHECK(result(on("SequenceErase", {})) == std::nullopt);
}

TEST_CASE("SequenceLength counts what is there, not what there is room for") {
  CHECK(result(on("SequenceLength", {1, 2, 3})) == Ints{3});
  CHECK(result(on("SequenceLength", {})) == Ints{0});
}

}  // namespace mrvlc::ops::test
