// Classes of mistakes that a weaker checker misses, one by one.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <set>

#include "functions.h"
#include "machine/machine.h"
#include "paths.h"
#include "subject.h"

using namespace mrvlc;
using namespace mrvlc::prove;

namespace {

const Field& field() {
  static const Field f("classes");
  return f;
}

void set(Instruction& i, size_t at, uint32_t v) {
  std::memcpy(&i.body[at - 64], &v, 4);
}
void set_byte(Instruction& i, size_t at, uint8_t v) {
  i.body[at - 64] = v;
}

// From weights to on-chip memory of tile 0.
Instruction load(uint32_t from, uint32_t to, uint32_t bytes) {
  Instruction i;
  i.op = Opcode::Dma;
  set_byte(i, 65, 1);
  set_byte(i, 66, 1);
  set(i, 68, bytes);
  set(i, 72, from);
  set(i, 80, to);
  for (size_t at : {88, 92, 96}) set(i, at, 1);
  return i;
}

// One fp16 number, copied with an activation.
Instruction copy(uint32_t from, uint32_t to, uint8_t activation, uint32_t table, std::vector<Wait> waits) {
  Instruction i;
  i.op = Opcode::Elementwise;
  i.queue = 3;
  i.waits = std::move(waits);
  for (size_t at = 76; at < 96; at += 4) set(i, at, 1);
  set(i, 96, to);
  set(i, 124, from);
  set_byte(i, 180, activation);
  set(i, 192, table);
  return i;
}

struct Program {
  std::string weights;
  Binary binary;

  explicit Program(std::string bytes) : weights(std::move(bytes)) {
    binary.ocm_bytes = 1 << 16;
    binary.weights = {0, weights.size()};
    const uint64_t end = weights.size();
    binary.inputs = binary.outputs = binary.scratch = {end, end};
    binary.weight_bytes = weights;
  }
  // What the machine refuses, or empty.
  std::string run(Values& values) {
    for (const auto& list : binary.sections)
      for (const Instruction& i : list) check_encoding(i, 1);
    Machine m(binary, values, {}, false);
    try {
      m.run([](uint32_t, uint32_t, Val) {});
    } catch (const Located& l) {
      return l.text;
    }
    return "";
  }
};

std::string bytes_of(const std::vector<float>& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * 4};
}

}  // namespace

TEST_CASE("prove: a factor of 2^61 is seen") {
  CHECK(field().of(1.0f) != field().of(0x1p61f));
  CHECK(field().prime() != (uint64_t{1} << 61) - 1);
}

TEST_CASE("prove: the order of a sum is seen") {
  Values v(field());
  const std::vector<uint64_t> x{v.symbol(1, 0), v.symbol(1, 1)}, swapped{x[1], x[0]};
  const std::vector<uint64_t> w{field().of(2.0f), field().of(3.0f)}, also{w[1], w[0]};
  const Window one;
  const auto ordered = [&](const auto& xs, const auto& ws) {
    OrderedSums sums(field(), 1, 1);
    sums.add(one, 2, ws, xs);
    return sums.symbols()[0];
  };
  const auto plain = [&](const auto& xs, const auto& ws) {
    std::vector<uint64_t> acc(1, 0);
    Weights(field(), 1, 2, 1, ws).add_sums(one, xs, acc);
    return acc[0];
  };
  CHECK(ordered(x, w) != ordered(swapped, also));
  CHECK(ordered(x, w) != ordered(swapped, w));
  CHECK(ordered(x, w) != ordered(x, also));
  CHECK(ordered(x, w) == ordered(w, x));
  CHECK(plain(x, w) == plain(swapped, also));
}

TEST_CASE("prove: sums go on where an instruction stopped") {
  Values v(field());
  std::vector<uint64_t> x, w;
  for (uint64_t i = 0; i < 70; ++i) {
    x.push_back(v.symbol(1, i));
    w.push_back(v.symbol(2, i));
  }
  const Window one;
  OrderedSums at_once(field(), 1, 1), in_parts(field(), 1, 1);
  at_once.add(one, 70, w, x);
  for (const auto& [begin, end] : {std::pair{0, 33}, std::pair{33, 70}}) {
    const std::vector<uint64_t> xs(x.begin() + begin, x.begin() + end),
        ws(w.begin() + begin, w.begin() + end);
    in_parts.add(one, end - begin, ws, xs);
  }
  CHECK(at_once.symbols() == in_parts.symbols());
}

TEST_CASE("prove: sums go on at the border of an image, tap by tap") {
  Values v(field());
  Window all, part;
  all.in_h = all.out_h = part.in_h = part.out_h = 4;
  all.kernel_h = 3;
  all.y0 = -1;
  std::vector<uint64_t> x, weights;
  for (uint64_t i = 0; i < 8; ++i) x.push_back(v.symbol(1, i));
  for (uint64_t i = 0; i < 12; ++i) weights.push_back(v.symbol(2, i));
  const std::span<const uint64_t> w(weights);
  OrderedSums dense(field(), 4, 2), dense_parts(field(), 4, 2), wide(field(), 4, 2),
      wide_parts(field(), 4, 2);
  dense.add(all, 2, w, x);
  wide.add_depthwise(all, w.first(6), x);
  for (size_t tap = 0; tap < 3; ++tap) {
    part.y0 = static_cast<int64_t>(tap) - 1;
    dense_parts.add(part, 2, w.subspan(4 * tap, 4), x);
    wide_parts.add_depthwise(part, w.subspan(2 * tap, 2), x);
  }
  CHECK(dense.symbols() == dense_parts.symbols());
  CHECK(wide.symbols() == wide_parts.symbols());
}

TEST_CASE("prove: a depthwise sum is that of a convolution of one channel") {
  Values v(field());
  Window w;
  w.in_h = w.in_w = w.out_h = w.out_w = 4;
  w.kernel_h = w.kernel_w = 3;
  w.y0 = w.x0 = -1;
  std::vector<uint64_t> x, weights;
  for (uint64_t i = 0; i < 16; ++i) x.push_back(v.symbol(1, i));
  for (uint64_t i = 0; i < 9; ++i) weights.push_back(v.symbol(2, i));
  OrderedSums dense(field(), 16, 1), depthwise(field(), 16, 1);
  dense.add(w, 1, weights, x);
  depthwise.add_depthwise(w, weights, x);
  CHECK(dense.symbols() == depthwise.symbols());
  const std::vector<uint64_t> sums = dense.symbols();
  CHECK(std::set<uint64_t>(sums.begin(), sums.end()).size() == 16);
}

TEST_CASE("prove: a sum of nothing but zeros is the number") {
  Values v(field());
  const Window one;
  OrderedSums sums(field(), 1, 2);
  sums.add(one, 1, std::vector<uint64_t>{0, field().of(2)}, std::vector<uint64_t>{v.symbol(1, 0)});
  CHECK(sums.symbols()[0] == 0);
  CHECK(sums.symbols()[1] != 0);
}

TEST_CASE("prove: a rounding that is missing, or one too many, is seen") {
  Values v(field());
  const Val a = v.symbol(1, 0), b = v.symbol(1, 1), c = v.symbol(1, 2);
  CHECK_FALSE(v.same(v.half(v.add(a, b)), v.add(a, b)));
  CHECK_FALSE(v.same(v.half(v.add(v.half(v.add(a, b)), c)), v.half(v.add(v.add(a, b), c))));
  CHECK(v.same(v.half(v.half(a)), v.half(a)));
  CHECK_FALSE(v.same(v.add(v.add(a, b), c), v.add(a, v.add(b, c))));
  CHECK_FALSE(v.same(v.fma(a, b, c), v.add(v.mul(a, b), c)));
}

TEST_CASE("prove: maximum, Relu and saturation keep their laws") {
  Values v(field());
  const Val a = v.symbol(1, 0), b = v.symbol(1, 1), c = v.symbol(1, 2);
  CHECK(v.same(v.max(v.max(a, b), c), v.max(c, v.max(b, v.max(a, b)))));
  CHECK_FALSE(v.same(v.max(a, b), v.max(a, c)));
  CHECK(v.same(v.max(a, number(-kInfinity)), a));
  const Quantum q{-128, 0.5f};
  CHECK(v.same(v.store(v.clip(a, 0, kInfinity), q, Type::I8), v.store(a, q, Type::I8)));
  CHECK_FALSE(v.same(v.store(v.clip(a, 0, kInfinity), {3, 0.5f}, Type::I8), v.store(a, {3, 0.5f}, Type::I8)));
  const Val integer = v.symbol(1, 3);
  CHECK(v.same(v.store(v.read(integer, q), q, Type::I8), integer));
  CHECK_FALSE(v.same(v.store(v.read(integer, q), {-127, 0.5f}, Type::I8), integer));
}

TEST_CASE("prove: halves of a pair that change places are seen") {
  Values v(field());
  const Val x = v.symbol(1, 0), high = v.half(x), low = v.half(v.sub(x, high));
  const uint64_t w = field().of(3.0f);
  const Window one;
  const auto sum = [&](Val first, Val second) {
    OrderedSums sums(field(), 1, 1);
    sums.add(one, 2, std::vector<uint64_t>{w, w}, std::vector<uint64_t>{v.element(first), v.element(second)});
    return sums.symbols()[0];
  };
  CHECK(sum(high, low) != sum(low, high));
}

TEST_CASE("prove: a reserved field is seen") {
  Instruction i = load(0, 0, 16);
  CHECK_NOTHROW(check_encoding(i, 1));
  for (size_t at : {67, 101, 103, 153, 200, 255}) {
    Instruction changed = i;
    set_byte(changed, at, 1);
    INFO(at);
    CHECK_THROWS_AS(check_encoding(changed, 1), Refusal);
  }
}

TEST_CASE("prove: what init left is not written later") {
  Values v(field());
  Program p(std::string(64, 'x'));
  p.binary.sections[0] = {load(0, 0, 16)};
  p.binary.sections[1] = {load(16, 64, 16)};
  CHECK(p.run(v) == "");
  p.binary.sections[1] = {load(16, 8, 4)};
  CHECK_THAT(p.run(v), Catch::Matchers::Contains("init left"));
}

TEST_CASE("prove: a table is looked at again at its second use") {
  Values v(field());
  const std::vector<float> exp = table_of([](double x) { return std::exp(x); });
  v.register_table("Exp", exp);
  std::vector<float> other = exp;
  other[300] = std::nextafter(other[300], 2.0f);
  const std::string one_number("\0\x3c", 2);
  Program p(bytes_of(exp) + bytes_of(other) + one_number);
  const uint32_t number_at = 32768;
  p.binary.sections[1] = {load(0, 0, 16384), load(number_at, 20000, 2),
                          copy(20000, 20016, 6, 0, {{0, 0, 2}})};
  CHECK(p.run(v) == "");
  Instruction again = load(16384, 0, 16384);
  again.waits = {{0, 3, 1}};
  p.binary.sections[1].push_back(again);
  p.binary.sections[1].push_back(copy(20000, 20032, 6, 0, {{0, 0, 3}}));
  CHECK_THAT(p.run(v), Catch::Matchers::Contains("table"));
}

TEST_CASE("prove: waits name earlier instructions, and order what conflicts") {
  Values v(field());
  Program p(std::string("\0\x3c", 2) + std::string(62, '\0'));
  const auto with = [&](std::vector<Wait> waits) {
    p.binary.sections[1] = {load(0, 0, 2), copy(0, 16, 0, 0, std::move(waits))};
    return p.run(v);
  };
  CHECK(with({{0, 0, 1}}) == "");
  CHECK_THAT(with({}), Catch::Matchers::Contains("no order"));
  CHECK_THAT(with({{0, 0, 2}}), Catch::Matchers::Contains("waits for instruction 2"));
}

TEST_CASE("prove: undefined, torn and wrongly typed bytes are seen") {
  Values v(field());
  Program p(std::string(64, '\1'));
  p.binary.sections[1] = {copy(0, 16, 0, 0, {})};
  CHECK_THAT(p.run(v), Catch::Matchers::Contains("undefined"));
  Instruction wide = copy(16, 32, 0, 0, {});
  set_byte(wide, 128, 1);
  p.binary.sections[1] = {load(0, 0, 2), copy(0, 16, 0, 0, {{0, 0, 1}}), wide};
  CHECK_THAT(p.run(v), Catch::Matchers::Contains("fp32"));
}

TEST_CASE("prove: another layout of a port, and a wrong hint, are no proof") {
  const test::Subject s(std::filesystem::path(MRVLC_SOURCE_DIR) / "models/digits/digits.onnx", 1);
  REQUIRE(s.refusal(s.bytes) == "");
  test::Subject other = s;
  auto& perm = other.hints.regions[0].inputs[0].perm;
  REQUIRE(perm.size() > 1);
  std::swap(perm[0], perm[1]);
  CHECK(other.refusal(other.bytes) != "");
}
