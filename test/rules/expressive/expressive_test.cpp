// The rules of this folder on small graphs: where they match, and what is nearly the same and no match.
#include "count.h"
#include "mrvlc/ir/text.h"
#include "mrvlc/ops/op.h"

using namespace mrvlc;
using namespace mrvlc::test;

namespace {

ir::Graph graph(const std::string& body) {
  auto g = ir::parse("graph \"g\" {\n" + body + "}\n", ops::registry());
  if (!g.ok()) FAIL(g.error().message << "\n" << body);
  return std::move(g).value();
}

std::string numbers(size_t n) {
  std::string out = "1";
  for (size_t i = 1; i < n; ++i) out += ", 1";
  return out;
}

size_t matches(const std::string& file, const std::string& rule, const std::string& body) {
  CAPTURE(file, body);
  const rules::RuleSet set = rules_of(file);
  const rules::Rule* r = set.find(rule);
  REQUIRE(r != nullptr);
  return count(*r, graph(body));
}

const std::string kImage = " input %x : f32[1,4,8,8]\n const %w : f32[4,4,1,1] = [" + numbers(16) +
                           "]\n const %v : f32[2,4,1,1] = [" + numbers(8) +
                           "]\n const %u : f32[4,2,1,1] = [" + numbers(8) + "]\n";

std::string node(const std::string& text, const std::string& shape = "1,4,8,8") {
  return " " + text + " : f32[" + shape + "]\n";
}

}  // namespace

TEST_CASE("a module of any number of branches") {
  const std::string squeeze =
      kImage + node("%s = Conv(%x, %v)", "1,2,8,8") + node("%q = Relu(%s)", "1,2,8,8");
  const std::string a = node("%a = Conv(%q, %u)") + node("%ra = Relu(%a)");
  const std::string b = node("%b = Conv(%q, %u)") + node("%rb = Relu(%b)");
  const std::string c = node("%c = Conv(%q, %u)") + node("%rc = Relu(%c)");
  const std::string two = node("%o = Concat(%ra, %rb) {axis = 1}", "1,8,8,8") + " output %o\n";
  CHECK(matches("fire", "fire", squeeze + a + b + two) == 1);
  CHECK(matches("fire", "fire",
                squeeze + a + b + c + node("%o = Concat(%ra, %rb, %rc) {axis = 1}", "1,12,8,8") +
                    " output %o\n") == 1);
  // A branch alone, a branch of another kind, of another value, and one that is read outside.
  CHECK(matches("fire", "fire", squeeze + a + node("%o = Concat(%ra) {axis = 1}") + " output %o\n") == 0);
  CHECK(matches("fire", "fire", squeeze + a + node("%b = Conv(%q, %u)") + node("%rb = Sigmoid(%b)") + two) ==
        0);
  CHECK(matches("fire", "fire", squeeze + a + node("%b = Conv(%x, %w)") + node("%rb = Relu(%b)") + two) == 0);
  CHECK(matches("fire", "fire", squeeze + a + b + two + " output %ra\n") == 0);
}

TEST_CASE("a branch that comes back to what it began with") {
  const std::string mean = kImage + node("%g = GlobalAveragePool(%x)", "1,4,1,1") +
                           node("%a = Conv(%g, %v)", "1,2,1,1") + node("%r = Relu(%a)", "1,2,1,1") +
                           node("%b = Conv(%r, %u)", "1,4,1,1") + node("%s = Sigmoid(%b)", "1,4,1,1");
  CHECK(matches("squeeze_excite", "squeeze_excite", mean + node("%m = Mul(%x, %s)") + " output %m\n") == 1);
  CHECK(matches("squeeze_excite", "squeeze_excite", mean + node("%m = Mul(%s, %x)") + " output %m\n") == 1);
  CHECK(matches("squeeze_excite", "squeeze_excite",
                mean + " input %y : f32[1,4,8,8]\n" + node("%m = Mul(%y, %s)") + " output %m\n") == 0);
  CHECK(matches("squeeze_excite", "squeeze_excite", mean + node("%m = Add(%x, %s)") + " output %m\n") == 0);
}

TEST_CASE("attributes tell shuffles from other moves") {
  auto shuffle = [](const std::string& perm) {
    return " input %x : f32[1,4,8,8]\n const %s1 : i64[3] = [2, 2, 64]\n const %s2 : i64[4] = [1, 4, 8, "
           "8]\n" +
           node("%a = Reshape(%x, %s1)", "2,2,64") +
           (perm == "1, 0, 2" ? node("%t = Transpose(%a) {perm = [1, 0, 2]}", "2,2,64")
                              : node("%t = Transpose(%a) {perm = [" + perm + "]}", "2,64,2")) +
           node("%b = Reshape(%t, %s2)") + " output %b\n";
  };
  CHECK(matches("shuffle", "shuffle", shuffle("1, 0, 2")) == 1);
  CHECK(matches("shuffle", "shuffle", shuffle("0, 2, 1")) == 0);
}

TEST_CASE("three projections that meet") {
  auto attention = [](const std::string& key_of, const std::string& scaling) {
    std::string g = " input %x : f32[1,4,8]\n input %y : f32[1,4,8]\n const %h : i64[4] = [1, 4, 2, 4]\n";
    for (const char* w : {"wq", "wk", "wv"})
      g += " const %" + std::string(w) + " : f32[8,8] = [" + numbers(64) + "]\n";
    g += " const %c : f32[] = [0.5]\n";
    auto projection = [&](const std::string& name, const std::string& of, const std::string& perm,
                          const std::string& shape) {
      g += node("%" + name + "1 = MatMul(%" + of + ", %w" + name + ")", "1,4,8");
      g += node("%" + name + "2 = Reshape(%" + name + "1, %h)", "1,4,2,4");
      g += node("%" + name + "3 = Transpose(%" + name + "2) {perm = [" + perm + "]}", shape);
    };
    projection("q", "x", "0, 2, 1, 3", "1,2,4,4");
    projection("k", key_of, "0, 2, 3, 1", "1,2,4,4");
    projection("v", "x", "0, 2, 1, 3", "1,2,4,4");
    g += node("%s = MatMul(%q3, %k3)", "1,2,4,4") + scaling;
    g += node("%p = Softmax(" + std::string(scaling.empty() ? "%s" : "%z") + ") {axis = -1}", "1,2,4,4");
    return g + node("%o = MatMul(%p, %v3)", "1,2,4,4") + " output %o\n";
  };
  const std::string scaled = node("%z = Mul(%c, %s)", "1,2,4,4");
  CHECK(matches("attention", "attention", attention("x", scaled)) == 1);
  CHECK(matches("attention", "attention", attention("y", scaled)) == 0);  // the keys are of something else
  CHECK(matches("attention", "attention", attention("x", "")) == 0);      // the rule asks for the scale
}

TEST_CASE("a shortcut with a convolution or without") {
  const std::string chain =
      kImage + node("%a = Conv(%x, %w)") + node("%r = Relu(%a)") + node("%b = Conv(%r, %w)");
  const std::string end = node("%o = Relu(%sum)") + " output %o\n";
  CHECK(matches("residual", "residual", chain + node("%sum = Add(%x, %b)") + end) == 1);
  CHECK(matches("residual", "residual", chain + node("%sum = Add(%b, %x)") + end) == 1);
  CHECK(matches("residual", "residual",
                chain + node("%c = Conv(%x, %w)") + node("%sum = Add(%c, %b)") + end) == 1);
  CHECK(matches("residual", "residual",
                chain + node("%c = Conv(%x, %w)") + node("%sum = Add(%b, %c)") + end) == 1);
  CHECK(matches("residual", "residual",
                chain + " input %y : f32[1,4,8,8]\n" + node("%sum = Add(%y, %b)") + end) == 0);
}

TEST_CASE("weights of integers and what comes out as one") {
  auto conv = [](const std::string& type, const std::string& between, const std::string& last) {
    return " input %x : f32[1,4,8,8]\n const %wi : " + type + "[4,4,1,1] = [" + numbers(16) +
           "]\n const %ws : f32[] = [0.5]\n const %z : i8[] = [0]\n const %wz : " + type + "[] = [0]\n" +
           node("%w = DequantizeLinear(%wi, %ws, %wz)", "4,4,1,1") + node("%c = Conv(%x, %w)") + between +
           " %q = QuantizeLinear(" + last + ", %ws, %z) : i8[1,4,8,8]\n output %q\n";
  };
  CHECK(matches("quantized", "quantized_conv", conv("i8", "", "%c")) == 1);
  CHECK(matches("quantized", "quantized_conv", conv("i8", node("%r = Relu(%c)"), "%r")) == 1);
  CHECK(matches("quantized", "quantized_conv", conv("i32", "", "%c")) == 0);
  CHECK(matches("quantized", "quantized_conv", conv("i8", node("%r = Sigmoid(%c)"), "%r")) == 0);
}

TEST_CASE("an element in front that may be missing, and outputs by their place") {
  const std::string pads = " const %pads : i64[8] = [0, 0, 1, 1, 0, 0, 1, 1]\n";
  const std::string padded = kImage + pads + node("%p = Pad(%x, %pads)", "1,4,10,10") +
                             node("%c = Conv(%p, %w)", "1,4,10,10") + " output %c\n";
  CHECK(matches("pad", "pad_conv", padded) == 1);
  CHECK(matches("pad", "any_conv", padded) == 1);
  const std::string plain = kImage + node("%c = Conv(%x, %w)") + " output %c\n";
  CHECK(matches("pad", "pad_conv", plain) == 0);
  CHECK(matches("pad", "any_conv", plain) == 1);
  auto halves = [](const std::string& order) {
    std::string g =
        " input %x : i64[8]\n %a, %b, %c, %d, %e, %f, %g, %h = Split(%x) {axis = 0, num_outputs = 8} : ";
    for (int i = 0; i < 8; ++i) g += std::string(i > 0 ? ", " : "") + "i64[1]";
    return g + "\n %o = Concat(" + order + ") {axis = 0} : i64[8]\n output %o\n";
  };
  CHECK(matches("pad", "swapped", halves("%a, %d, %b, %c, %e, %h, %f, %g")) == 1);
  CHECK(matches("pad", "swapped", halves("%a, %b, %c, %d, %e, %f, %g, %h")) == 0);
}

TEST_CASE("a normalisation that is written out") {
  auto norm = [](const std::string& square, const std::string& power, const std::string& rest) {
    return " input %x : f32[1,4,8]\n const %axes : i64[1] = [-1]\n const %two : f32[] = [" + power +
           "]\n const %eps : f32[] = [0.00001]\n const %g : f32[8] = [" + numbers(8) + "]\n" +
           node("%m = ReduceMean(%x, %axes)", "1,4,1") + node("%d = Sub(%x, %m)", "1,4,8") +
           node("%sq = " + square, "1,4,8") + node("%v = ReduceMean(%sq, %axes)", "1,4,1") +
           node("%e = Add(%v, %eps)", "1,4,1") + node("%s = Sqrt(%e)", "1,4,1") +
           node("%n = Div(%d, %s)", "1,4,8") + rest;
  };
  const std::string end = " output %n\n";
  const std::string scaled =
      node("%k = Mul(%n, %g)", "1,4,8") + node("%y = Add(%k, %g)", "1,4,8") + " output %y\n";
  CHECK(matches("layer_norm", "written_norm", norm("Pow(%d, %two)", "2", end)) == 1);
  CHECK(matches("layer_norm", "written_norm", norm("Mul(%d, %d)", "2", end)) == 1);
  CHECK(matches("layer_norm", "written_norm", norm("Mul(%d, %d)", "2", scaled)) == 1);
  CHECK(matches("layer_norm", "written_norm", norm("Pow(%d, %two)", "3", end)) == 0);
  CHECK(matches("layer_norm", "written_norm", norm("Mul(%d, %x)", "2", end)) == 0);
}

TEST_CASE("bounds tell one Clip from another") {
  auto clip = [](const std::string& low, const std::string& high) {
    return " input %x : f32[4]\n const %a : f32[] = [" + low + "]\n const %b : f32[] = [" + high +
           "]\n %r = Clip(%x, %a, %b) : f32[4]\n output %r\n";
  };
  CHECK(matches("clip", "relu6", clip("0", "6")) == 1);
  CHECK(matches("clip", "relu6", clip("0", "5.9")) == 0);
  CHECK(matches("clip", "relu6", clip("-1", "6")) == 0);
  CHECK(matches("clip", "other_clip", clip("0", "6")) == 0);
  CHECK(matches("clip", "other_clip", clip("-1", "6")) == 1);
  CHECK(matches("clip", "other_clip", " input %x : f32[4]\n %r = Clip(%x) : f32[4]\n output %r\n") == 1);
}
