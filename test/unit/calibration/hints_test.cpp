// What first layers tell of inputs, and inputs that look like pictures and sounds.
#include "mrvlc/calibration/hints.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "mrvlc/ir/text.h"
#include "mrvlc/ops/op.h"

namespace mrvlc::calibration {
namespace {

using Ranges = std::vector<std::pair<double, double>>;

ir::Graph graph_of(const std::string& body) {
  auto g = ir::parse("graph \"g\" {\n" + body + "\n}\n", ops::registry());
  if (!g.ok()) FAIL(g.error().message << "\n" << body);
  return std::move(g).value();
}

InputHint first_hint(const std::string& body) {
  return input_hints(graph_of(body)).at(0);
}

constexpr const char* kImage = "input %x : f32[1,3,32,32]\n";

TEST_CASE("pictures have the range that the first constants bring to the usual one") {
  const auto scaled = [](const std::string& op, const std::string& value) {
    return first_hint(std::string(kImage) + "const %c : f32[] = [" + value + "]\n%y = " + op +
                      "(%x, %c) : f32[1,3,32,32]\noutput %y");
  };
  CHECK(scaled("Div", "255").ranges == Ranges{{0, 255}});
  CHECK(scaled("Mul", "0.0078125").ranges == Ranges{{0, 255}});
  CHECK(scaled("Sub", "0.5").ranges == Ranges{{0, 1}});
  CHECK(scaled("Sub", "0.5").form == InputHint::Form::Picture);
}

TEST_CASE("small weights in front want large pictures, others may have any of two ranges") {
  const auto conv = [](const std::string& weight) {
    return first_hint(std::string(kImage) + "const %w : f32[1,3,1,1] = [" + weight + ", " + weight + ", " +
                      weight + "]\n%y = Conv(%x, %w) : f32[1,1,32,32]\noutput %y");
  };
  CHECK(conv("0.01").ranges == Ranges{{0, 255}});
  CHECK(conv("0.5").ranges == Ranges{{0, 1}, {-1, 1}});
}

TEST_CASE("what is quantised has the range of its integers, indices that of their table") {
  CHECK(first_hint("input %x : f32[1,8]\nconst %s : f32[] = [0.5]\nconst %z : u8[] = [100]\n"
                   "%y = QuantizeLinear(%x, %s, %z) : u8[1,8]\noutput %y")
            .ranges == Ranges{{-50, 77.5}});
  CHECK(first_hint("input %i : i64[4]\nconst %t : f32[3,2] = [1,2,3,4,5,6]\n"
                   "%y = Gather(%t, %i) : f32[4,2]\noutput %y")
            .ranges == Ranges{{0, 2}});
}

TEST_CASE("what is taken from 1 is a mask") {
  CHECK(first_hint("input %i : i64[4]\nconst %o : f32[] = [1]\n%c = Cast(%i) {to = f32} : f32[4]\n"
                   "%y = Sub(%o, %c) : f32[4]\noutput %y")
            .ranges == Ranges{{0, 1}});
}

TEST_CASE("what angles are made of is a place in a text, or a moment") {
  const std::string angles = "%y = Mul(%c, %k) : f32[4]\n%z = Cos(%y) : f32[4]\noutput %z";
  CHECK(
      first_hint("input %i : i64[4]\nconst %k : f32[] = [0.1]\n%c = Cast(%i) {to = f32} : f32[4]\n" + angles)
          .ranges == Ranges{{0, 2047}, {0, 31}, {0, 32767}});
  CHECK(first_hint("input %c : f32[4]\nconst %k : f32[] = [0.1]\n" + angles).ranges ==
        Ranges{{0, 1}, {0, 999}});
  CHECK(first_hint("input %c : f32[2,8]\nconst %k : f32[8,2] = [1,2,3,4,5,6,7,8,1,2,3,4,5,6,7,8]\n"
                   "%y = MatMul(%c, %k) : f32[2,2]\n%z = Cos(%y) : f32[2,2]\noutput %z")
            .ranges.empty());
}

TEST_CASE("integers take each value that they are compared with, and one more") {
  const std::string body =
      "input %i : i64[]\nconst %a : i64[] = [16000]\nconst %b : i64[] = [8000]\n"
      "%y = Equal(%i, %a) : bool[]\n%z = Equal(%b, %i) : bool[]\noutput %y\noutput %z";
  const InputHint hint = first_hint(body);
  REQUIRE(hint.choices.size() == 3);
  CHECK(std::ranges::count(hint.choices, 16000) == 1);
  CHECK(std::ranges::count(hint.choices, 8000) == 1);
  CHECK(samples_of_choices({hint}) == 3);
  const ir::Graph graph = graph_of(body);
  for (size_t k = 0; k < 3; ++k) {
    Distributions likely;
    add_likely({hint}, k, likely);
    CHECK(draw_inputs(graph, 1, likely)[0].as_int(0) == hint.choices[k]);
  }
  Distributions known = {{0, uniform(5, 5)}};
  add_likely({hint}, 0, known);  // what is stated stays
  CHECK(known.at(0).at(0) == 5);
}

TEST_CASE("a state is an input whose type one output has") {
  const ir::Graph graph = graph_of(
      "input %x : f32[1,4]\ninput %state : f32[2,8]\n%y = Neg(%x) : f32[1,4]\n"
      "%next = Tanh(%state) : f32[2,8]\noutput %y\noutput %next");
  const auto hints = input_hints(graph);
  CHECK(hints[1].next == 1u);
  CHECK_FALSE(hints[0].next.has_value());  // the first input is what is given
}

std::vector<double> drawn(const Shape& shape, Texture texture, uint32_t seed) {
  ir::Graph graph;
  graph.add_input("x", {ElementType::F32, shape});
  return draw_inputs(graph, seed, {{0, uniform(-1, 1)}}, texture)[0].to_doubles();
}

TEST_CASE("pictures have edges and flat parts, and stay in their range") {
  const std::vector<double> p = drawn({1, 3, 64, 64}, Texture::Picture, 1);
  size_t flat = 0, edges = 0;
  for (size_t i = 0; i + 1 < 64 * 64; ++i) {
    const double step = std::abs(p[i + 1] - p[i]);
    flat += step<0.02, edges += step> 0.3;
  }
  CHECK(flat > 1500);
  CHECK(edges > 40);
  CHECK(std::ranges::all_of(p, [](double v) { return v >= -1 && v <= 1; }));
  CHECK(p == drawn({1, 3, 64, 64}, Texture::Picture, 1));
  CHECK(p != drawn({1, 3, 64, 64}, Texture::Picture, 2));
}

// How much of a part of a sound is the same again, a lag later; the most of any lag.
double pitch(const std::vector<double>& s, size_t at, size_t length) {
  double best = 0;
  for (size_t lag = 32; lag < 280; ++lag) {
    double same = 0, all = 1e-12;
    for (size_t i = at; i < at + length; ++i) same += s[i] * s[i + lag], all += s[i] * s[i];
    best = std::max(best, same / all);
  }
  return best;
}

TEST_CASE("sounds have voices, and noise") {
  size_t voices = 0, others = 0;
  for (uint32_t seed = 1; seed <= 4; ++seed) {
    const std::vector<double> s = drawn({1, 16384}, Texture::Sound, seed);
    for (size_t at = 0; at + 600 < s.size(); at += 300) {
      const double same = pitch(s, at, 300);
      voices += same > 0.8, others += same < 0.3;
    }
  }
  CHECK(voices > 40);
  CHECK(others > 10);
}

TEST_CASE("sounds have silence, and are loud and soft") {
  const std::vector<double> s = drawn({1, 4096}, Texture::Sound, 1);
  size_t silent = 0;
  double loudest = 0;
  for (double v : s) silent += v == 0, loudest = std::max(loudest, std::abs(v));
  CHECK(silent > 256);
  CHECK(silent < 3000);
  CHECK(loudest > 0.2);
}

TEST_CASE("moments by bands are spectra, at the levels of logarithms, decibels and cepstra") {
  const auto hint = [](const std::string& dims) {
    return first_hint("input %x : f32[" + dims + "]\n%y = Relu(%x) : f32[" + dims + "]\noutput %y");
  };
  const Ranges levels = {{-10, 15}, {-100, 20}, {-300, 300}};
  CHECK(hint("1,130,13").ranges == levels);
  // The shape of a picture of one channel as well: both, in turns.
  CHECK(hint("1,76,32,1").ranges == Ranges{{0, 1}, {-10, 15}, {-1, 1}, {-100, 20}, {-300, 300}});
  for (const char* other : {"1,32,32,1", "1,3,76,32", "1,130,14", "1,2,130,13", "13,8"}) {
    INFO(other);
    CHECK_FALSE(hint(other).spectrum);
  }
}

TEST_CASE("weights say at which level a spectrum is liked first") {
  const InputHint h = first_hint(
      "input %x : f32[20,10]\nconst %w : f32[10,1] = [0.01, 0.01, 0.01, 0.01, 0.01, 0.01, 0.01, 0.01, 0.01, "
      "0.01]\n%y = MatMul(%x, %w) : f32[20,1]\noutput %y");
  REQUIRE(h.ranges.size() == 4);
  CHECK(h.ranges[0].second == Approx(2 / std::sqrt(10 * 1e-4)));
}

TEST_CASE("spectra hold for a while, begin at once, and are levels or cepstra") {
  size_t cepstra = 0, same = 0, jumps = 0;
  for (uint32_t seed = 1; seed <= 16; ++seed) {
    const std::vector<double> s = drawn({1, 100, 32, 1}, Texture::Spectrum, seed);
    REQUIRE(s.size() == 3200);
    CHECK(std::ranges::all_of(s, [](double v) { return v >= -1 && v <= 1; }));
    double first = 0, others = 0;
    for (size_t t = 0; t < 100; ++t) {
      first = std::max(first, std::abs(s[t * 32]));
      for (size_t b = 8; b < 32; ++b) others = std::max(others, std::abs(s[t * 32 + b]));
    }
    if (first > 3 * others) {
      ++cepstra;
      continue;
    }
    for (size_t t = 0; t + 1 < 100; ++t) {
      double far = 0;
      for (size_t b = 0; b < 32; ++b) far = std::max(far, std::abs(s[t * 32 + b] - s[t * 32 + 32 + b]));
      same += far<0.1, jumps += far> 0.3;
    }
  }
  CHECK(cepstra >= 4);
  CHECK(cepstra <= 12);
  CHECK(same > 200);
  CHECK(jumps > 20);
}

}  // namespace
}  // namespace mrvlc::calibration
