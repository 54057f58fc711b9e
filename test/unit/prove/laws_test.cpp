// The laws of values, one by one: what is equal bit for bit has one symbol, and nothing else has.
#include <catch2/catch.hpp>

#include "shapes.h"
#include "values.h"
#include "wide.h"

using namespace mrvlc;
using namespace mrvlc::prove;

namespace {

const Field& law_field() {
  static const Field f("laws");
  return f;
}

struct Exact {
  Values v{law_field()};
  Val a = v.symbol(1, 0), b = v.symbol(1, 1), c = v.symbol(1, 2), zero = number(0), one = number(1);
};

struct Real {
  Values v{law_field(), true};
  Val a = v.symbol(1, 0), b = v.symbol(1, 1), c = v.symbol(1, 2);
};

}  // namespace

TEST_CASE("laws: numbers are exact") {
  CHECK(law_field().add(law_field().of(3), law_field().of(0.25f)) == law_field().of(3.25f));
  CHECK(law_field().mul(law_field().of(0x1p-149f), law_field().of(0x1p100f)) == law_field().of(0x1p-49f));
  CHECK(law_field().of(-2.5f) == law_field().neg(law_field().of(2.5f)));
  CHECK(law_field().of(-0.0f) == 0);
}

TEST_CASE("laws: neutral elements") {
  Exact e;
  CHECK(e.v.same(e.v.add(e.a, e.zero), e.a));
  CHECK(e.v.same(e.v.add(e.zero, e.a), e.a));
  CHECK(e.v.same(e.v.mul(e.a, e.one), e.a));
  CHECK(e.v.same(e.v.mul(e.one, e.a), e.a));
  CHECK(e.v.same(e.v.div(e.a, e.one), e.a));
  CHECK(e.v.same(e.v.max(e.a, number(-kInfinity)), e.a));
  CHECK(e.v.same(e.v.min(e.a, number(kInfinity)), e.a));
  CHECK(e.v.same(e.v.fma(e.one, e.a, e.b), e.v.add(e.a, e.b)));
  CHECK(e.v.same(e.v.fma(e.a, e.one, e.b), e.v.add(e.a, e.b)));
  CHECK(e.v.same(e.v.fma(e.a, e.b, e.zero), e.v.mul(e.a, e.b)));
}

TEST_CASE("laws: signs") {
  Exact e;
  CHECK(e.v.same(e.v.neg(e.v.neg(e.a)), e.a));
  CHECK(e.v.same(e.v.mul(e.a, number(-1)), e.v.neg(e.a)));
  CHECK(e.v.same(e.v.mul(number(-1), e.a), e.v.neg(e.a)));
  CHECK(e.v.same(e.v.fma(number(-1), e.a, e.b), e.v.sub(e.b, e.a)));
  CHECK(e.v.same(e.v.fma(e.a, number(-1), e.b), e.v.sub(e.b, e.a)));
  CHECK(e.v.same(e.v.abs(e.v.neg(e.a)), e.v.abs(e.a)));
  CHECK_FALSE(e.v.same(e.v.neg(e.a), e.a));
}

TEST_CASE("laws: what commutes, and what does not") {
  Exact e;
  CHECK(e.v.same(e.v.add(e.a, e.b), e.v.add(e.b, e.a)));
  CHECK(e.v.same(e.v.mul(e.a, e.b), e.v.mul(e.b, e.a)));
  CHECK(e.v.same(e.v.fma(e.a, e.b, e.c), e.v.fma(e.b, e.a, e.c)));
  CHECK_FALSE(e.v.same(e.v.div(e.a, e.b), e.v.div(e.b, e.a)));
  CHECK_FALSE(e.v.same(e.v.prelu(e.a, e.b), e.v.prelu(e.b, e.a)));
  CHECK_FALSE(e.v.same(e.v.add(e.a, e.b), e.v.mul(e.a, e.b)));
  CHECK_FALSE(e.v.same(e.v.select(e.a, e.b, 1), e.v.select(e.a, e.b, 2)));
  CHECK_FALSE(e.v.same(e.v.compare(16, e.a, e.b), e.v.compare(16, e.b, e.a)));
}

TEST_CASE("laws: rounding to fp16") {
  Exact e;
  CHECK_FALSE(e.v.same(e.v.half(e.a), e.a));
  CHECK(e.v.same(e.v.half(e.v.half(e.a)), e.v.half(e.a)));
  CHECK(number_of(e.v.half(number(1.0f / 3))) == 0.333251953125f);
  // It moves to the members of a maximum and to bounds that fp16 holds, and to no other bounds.
  const Val x = e.v.half(e.a), y = e.v.half(e.b);
  CHECK(e.v.same(e.v.half(e.v.max(x, y)), e.v.max(x, y)));
  CHECK(e.v.same(e.v.half(e.v.clip(x, 0, 6)), e.v.clip(x, 0, 6)));
  CHECK_FALSE(e.v.same(e.v.half(e.v.clip(x, 0, 1.0f / 3)), e.v.clip(x, 0, 1.0f / 3)));
  CHECK_FALSE(e.v.same(e.v.half(e.v.max(x, e.b)), e.v.max(x, e.b)));
  CHECK(e.v.same(e.v.half(e.v.neg(x)), e.v.neg(x)));
  // What is computed of halves is none.
  CHECK_FALSE(e.v.same(e.v.half(e.v.add(x, y)), e.v.add(x, y)));
}

TEST_CASE("laws: maxima are sets") {
  Exact e;
  CHECK(e.v.same(e.v.extreme_of({e.a, e.b, e.a}, true), e.v.extreme_of({e.b, e.a}, true)));
  CHECK(e.v.same(e.v.max(e.v.max(e.a, e.b), e.c), e.v.extreme_of({e.a, e.b, e.c}, true)));
  CHECK_FALSE(e.v.same(e.v.max(e.a, e.b), e.v.min(e.a, e.b)));
  CHECK_FALSE(e.v.same(e.v.max(e.a, number(0)), e.v.max(e.a, number(1))));
  CHECK(e.v.same(e.v.max(e.a, number(0)), e.v.clip(e.a, 0, kInfinity)));
}

TEST_CASE("laws: integers") {
  Exact e;
  const Quantum step{3, 0.5f}, plain{5, 1.0f};
  CHECK(e.v.same(e.v.store(e.v.read(e.a, step), step, Type::I8), e.a));
  CHECK_FALSE(e.v.same(e.v.store(e.v.read(e.a, step), {4, 0.5f}, Type::I8), e.a));
  CHECK_FALSE(e.v.same(e.v.store(e.v.read(e.a, step), {3, 0.25f}, Type::I8), e.a));
  CHECK_FALSE(e.v.same(e.v.store(e.b, step, Type::I8), e.v.store(e.b, step, Type::U8)));
  CHECK_FALSE(e.v.same(e.v.from_sum(e.a), e.a));
  // Differences of integers are exact, so that their sums have no order; those of numbers have one.
  const auto of = [&](Val q) { return e.v.read(q, plain); };
  CHECK(e.v.same(e.v.add(e.v.add(of(e.a), of(e.b)), of(e.c)), e.v.add(of(e.a), e.v.add(of(e.b), of(e.c)))));
  // As long as fp32 holds them.
  Val forwards = of(e.v.symbol(4, 0)), backwards = of(e.v.symbol(4, 65793));
  for (uint64_t i = 1; i <= 65793; ++i) {
    forwards = e.v.add(forwards, of(e.v.symbol(4, i)));
    backwards = e.v.add(backwards, of(e.v.symbol(4, 65793 - i)));
    if (i == 65792) CHECK((forwards & kInteger) == kInteger);
  }
  CHECK_FALSE(e.v.same(forwards, backwards));
  const auto scaled = [&](Val q) { return e.v.read(q, step); };
  CHECK_FALSE(e.v.same(e.v.add(e.v.add(scaled(e.a), scaled(e.b)), scaled(e.c)),
                       e.v.add(scaled(e.a), e.v.add(scaled(e.b), scaled(e.c)))));
  // Saturation contains the bounds of a clip.
  CHECK(
      e.v.same(e.v.store(e.v.clip(e.b, -64, 64), {0, 0.5f}, Type::I8), e.v.store(e.b, {0, 0.5f}, Type::I8)));
  CHECK_FALSE(
      e.v.same(e.v.store(e.v.clip(e.b, -60, 64), {0, 0.5f}, Type::I8), e.v.store(e.b, {0, 0.5f}, Type::I8)));
}

TEST_CASE("laws: tables are functions, by their lines") {
  Exact e;
  std::vector<float> lines(4096, 1.0f), other = lines;
  other[77] = 2;
  const uint32_t one = e.v.register_table("f", lines), two = e.v.register_table("g", other);
  CHECK_FALSE(e.v.same(e.v.look_up(one, e.a), e.v.look_up(two, e.a)));
  CHECK_FALSE(e.v.same(e.v.look_up(one, e.a), e.v.look_up(one, e.b)));
  CHECK(e.v.register_table("h", lines) == one);
  CHECK(e.v.find_table(other) == two);
  CHECK_FALSE(e.v.table(e.v.register_table("only bytes", std::vector<float>(4096, 3.0f), false)).of_function);
}

TEST_CASE("laws: of claim B, a field") {
  Real r;
  CHECK(r.v.same(r.v.add(r.v.add(r.a, r.b), r.c), r.v.add(r.a, r.v.add(r.b, r.c))));
  CHECK(r.v.same(r.v.mul(r.a, r.v.add(r.b, r.c)), r.v.add(r.v.mul(r.a, r.b), r.v.mul(r.a, r.c))));
  CHECK(r.v.same(r.v.mul(r.v.div(r.a, r.b), r.b), r.a));
  CHECK(r.v.same(r.v.half(r.a), r.a));
  CHECK(r.v.same(r.v.fma(r.a, r.b, r.c), r.v.add(r.v.mul(r.a, r.b), r.c)));
  CHECK(r.v.same(r.v.clip(r.v.max(r.a, r.b), 0, kInfinity),
                 r.v.max(r.v.clip(r.a, 0, kInfinity), r.v.clip(r.b, 0, kInfinity))));
  CHECK(r.v.same(r.v.clip(r.v.clip(r.a, 0, 6), -1, 4), r.v.clip(r.a, 0, 4)));
  CHECK_FALSE(r.v.same(r.v.sqrt(r.a), r.a));
}

TEST_CASE("laws: sums that differ by factors of channels are made once") {
  Values v(law_field(), true);
  ConvShape c;
  c.in = c.out = 2;
  c.w.in_w = c.w.out_w = 5;
  Symbols x{{1, 2, 5}, {}};
  for (uint64_t i = 0; i < 10; ++i) x.v.push_back(v.symbol(1, i));
  const std::vector<uint64_t> w{v.symbol(2, 0), v.symbol(2, 1), v.symbol(2, 2), v.symbol(2, 3)};
  std::vector<uint64_t> scaled = w;
  for (size_t i = 2; i < 4; ++i) scaled[i] = law_field().mul(scaled[i], law_field().of(3));
  SumsMemo memo;
  CHECK(exact_sums(v, x, c, w, &memo) == conv_sums(v, x, c, w, {}, false));
  CHECK(exact_sums(v, x, c, scaled, &memo) == conv_sums(v, x, c, scaled, {}, false));
  CHECK(memo.size() == 1);
  std::swap(x.v[0], x.v[1]);
  CHECK(exact_sums(v, x, c, w, &memo) == conv_sums(v, x, c, w, {}, false));
  CHECK(memo.size() == 2);
  scaled[3] = law_field().of(9);
  CHECK(exact_sums(v, x, c, scaled, &memo) == conv_sums(v, x, c, scaled, {}, false));
  CHECK(memo.size() == 3);
}

// 40^7 paths, one question for each name.
TEST_CASE("laws: a mask whose operands are named many times over is looked at once each") {
  RegionHints region;
  const ValueInfo shape{"m", ElementType::F32, {4}};
  region.inputs = {{shape, ElementType::F32, {}}, {{"s", ElementType::F32, {4}}, ElementType::F16, {}}};
  const auto layer = [&](const char* op, std::vector<std::string> inputs, const std::string& output) {
    const char* kind = std::string_view(op) == "Softmax" ? "softmax" : "elementwise";
    Node n{op, "", {}, std::move(inputs), {{output, ElementType::F32, {4}}}, {}};
    region.layers.push_back({kind, 0, {std::move(n)}});
  };
  std::string last = "m";
  for (int i = 0; i < 7; ++i) {
    const std::string next = "m" + std::to_string(i);
    layer("Add", std::vector<std::string>(40, last), next);
    last = next;
  }
  layer("Neg", {"s"}, "t");
  layer("Add", {"t", last}, "a");
  layer("Softmax", {"a"}, "y");
  const ir::Graph model;
  Constants constants(model, region);
  const auto wide = wide_values(region, constants, [](const Layer&) { return size_t{0}; });
  CHECK(wide.contains("a"));
  CHECK(wide.contains(last));
  CHECK_FALSE(wide.contains("y"));
}
