// Every built-in rule takes something, and refuses something nearly the same with a reason; no rule is left
// out.
#include <algorithm>

#include "build.h"
#include "mrvlc/partition/partition.h"

using namespace mrvlc;
using namespace mrvlc::test;

namespace {

struct Example {
  const char* rule;
  std::string taken, refused;  // bodies of graphs
};

std::string image(const std::string& rest) {
  return " input %x : f32[1,4,8,8]\n const %w : f32[4,4,1,1] = [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, "
         "1]\n" +
         rest + " output %r\n";
}
std::string matrix(const std::string& rest) {
  return " input %x : f32[2,2]\n input %y : f32[2,2]\n input %i : i32[2,2]\n const %w : f32[2,2] = [1, 2, 3, "
         "4]\n" +
         rest + " output %r\n";
}

std::string integers(const std::string& rest) {
  return " input %x : i8[1,1,2,2]\n input %v : f32[]\n const %w : i8[1,1,1,1] = [3]\n const %s : f32[] = "
         "[0.5]\n"
         " const %none : f32[] = [0]\n const %z : i8[] = [0]\n" +
         rest + " output %r\n";
}

const std::vector<Example>& examples() {
  static const std::vector<Example> kExamples = {
      {"conv", image(" %r = Conv(%x, %w) : f32[1,4,8,8]\n"),
       " input %x : f32[1,4,8,8]\n input %w : f32[4,4,1,1]\n %r = Conv(%x, %w) : f32[1,4,8,8]\n output %r\n"},
      {"conv_transpose", image(" %r = ConvTranspose(%x, %w) : f32[1,4,8,8]\n"),
       " input %x : f32[1,4,8,8]\n input %w : f32[4,4,1,1]\n %r = ConvTranspose(%x, %w) : f32[1,4,8,8]\n "
       "output %r\n"},
      {"fc_gemm", matrix(" %r = Gemm(%x, %w) : f32[2,2]\n"), matrix(" %r = Gemm(%x, %y) : f32[2,2]\n")},
      {"fc_matmul", matrix(" %r = MatMul(%x, %w) : f32[2,2]\n"), matrix(" %r = MatMul(%x, %y) : f32[2,2]\n")},
      {"matmul", matrix(" %r = MatMul(%x, %y) : f32[2,2]\n"), matrix(" %r = MatMul(%i, %i) : i32[2,2]\n")},
      {"qlinear_conv", integers(" %r = QLinearConv(%x, %s, %z, %w, %s, %z, %s, %z) : i8[1,1,2,2]\n"),
       integers(" %r = QLinearConv(%x, %v, %z, %w, %s, %z, %s, %z) : i8[1,1,2,2]\n")},
      {"integer_conv",
       integers(" %c = ConvInteger(%x, %w) : i32[1,1,2,2]\n %n = Cast(%c) {to = f32} : f32[1,1,2,2]\n %r = "
                "Mul(%n, %s) : "
                "f32[1,1,2,2]\n"),
       integers(" %c = ConvInteger(%x, %w) : i32[1,1,2,2]\n %n = Cast(%c) {to = f32} : f32[1,1,2,2]\n %r = "
                "Mul(%n, %v) : "
                "f32[1,1,2,2]\n")},
      {"dequantize", integers(" %r = DequantizeLinear(%x, %s, %z) : f32[1,1,2,2]\n"),
       integers(" %r = DequantizeLinear(%x, %v, %z) : f32[1,1,2,2]\n")},
      {"quantize",
       integers(" %d = DequantizeLinear(%x, %s, %z) : f32[1,1,2,2]\n %r = QuantizeLinear(%d, %s, %z) : "
                "i8[1,1,2,2]\n"),
       integers(" %d = DequantizeLinear(%x, %s, %z) : f32[1,1,2,2]\n %r = QuantizeLinear(%d, %none, %z) : "
                "i8[1,1,2,2]\n")},
      {"binary_quantize",
       integers(" %d = DequantizeLinear(%x, %s, %z) : f32[1,1,2,2]\n %a = Add(%d, %s) : f32[1,1,2,2]\n %r = "
                "QuantizeLinear(%a, "
                "%s, %z) : i8[1,1,2,2]\n"),
       integers(" %d = DequantizeLinear(%x, %s, %z) : f32[1,1,2,2]\n %a = Add(%d, %s) : f32[1,1,2,2]\n %r = "
                "QuantizeLinear(%a, "
                "%none, %z) : i8[1,1,2,2]\n")},
      {"unary_quantize",
       integers(" %d = DequantizeLinear(%x, %s, %z) : f32[1,1,2,2]\n %a = Relu(%d) : f32[1,1,2,2]\n %r = "
                "QuantizeLinear(%a, %s, "
                "%z) : i8[1,1,2,2]\n"),
       integers(" %d = DequantizeLinear(%x, %s, %z) : f32[1,1,2,2]\n %a = Relu(%d) : f32[1,1,2,2]\n %r = "
                "QuantizeLinear(%a, %none, "
                "%z) : i8[1,1,2,2]\n")},
      {"pool", image(" %r = GlobalAveragePool(%x) : f32[1,4,1,1]\n"),
       image(" %r, %j = MaxPool(%x) {kernel_shape = [1, 1]} : f32[1,4,8,8], i64[1,4,8,8]\n output %j\n")},
      {"softmax", matrix(" %r = Softmax(%x) : f32[2,2]\n"),
       " input %x : f64[2,2]\n %r = Softmax(%x) : f64[2,2]\n output %r\n"},
      {"norm",
       " input %x : f32[2,2]\n const %s : f32[2] = [1, 2]\n %r = LayerNormalization(%x, %s) : f32[2,2]\n "
       "output %r\n",
       " input %x : f32[2,2]\n input %s : f32[2]\n %r = LayerNormalization(%x, %s) : f32[2,2]\n output %r\n"},
      {"reduce", image(" %r = ReduceMean(%x) : f32[1,1,1,1]\n"), matrix(" %r = ReduceMax(%i) : i32[1,1]\n")},
      {"resize", image(" const %s : f32[4] = [1, 1, 2, 2]\n %r = Resize(%x, _, %s) : f32[1,4,16,16]\n"),
       image(" const %s : f32[4] = [1, 1, 2, 2]\n %r = Resize(%x, _, %s) {mode = \"cubic\"} : "
             "f32[1,4,16,16]\n")},
      {"binary", matrix(" %r = Add(%x, %y) : f32[2,2]\n"), matrix(" %r = Add(%i, %i) : i32[2,2]\n")},
      {"unary", matrix(" %r = Relu(%x) : f32[2,2]\n"), matrix(" %r = Abs(%i) : i32[2,2]\n")},
      {"concat", matrix(" %r = Concat(%x, %y) {axis = 0} : f32[4,2]\n"),
       matrix(" %r = Concat(%i, %i) {axis = 0} : i32[4,2]\n")},
      {"move", matrix(" %r = Transpose(%x) {perm = [1, 0]} : f32[2,2]\n"),
       matrix(" %r = Transpose(%i) {perm = [1, 0]} : i32[2,2]\n")},
      {"reshape", matrix(" const %s : i64[1] = [4]\n %r = Reshape(%x, %s) : f32[4]\n"),
       matrix(" const %s : i64[1] = [4]\n %r = Reshape(%i, %s) : i32[4]\n")},
  };
  return kExamples;
}

// The trial of the rule on any node, or nullptr.
const partition::RuleTrial* trial(const partition::Partition& p, const std::string& rule) {
  for (const auto& d : p.decisions) {
    for (const auto& t : d.trials) {
      if (t->rule == rule) return t.get();
    }
  }
  return nullptr;
}

}  // namespace

TEST_CASE("every built-in rule takes something and refuses something with a reason") {
  for (const Example& e : examples()) {
    for (bool taken : {true, false}) {
      CAPTURE(e.rule, taken);
      auto g = ir::parse("graph \"g\" {\n" + (taken ? e.taken : e.refused) + "}\n", ops::registry());
      if (!g.ok()) FAIL(g.error().message);
      const partition::Partition p = split(*g);
      const partition::RuleTrial* t = trial(p, e.rule);
      REQUIRE(t != nullptr);
      CHECK(t->accepted == taken);
      if (!taken) CHECK_FALSE(t->reason.empty());
    }
  }
}

TEST_CASE("no built-in rule is without such an example") {
  const rules::LoadResult all = partition::load_rules(accelerator().rule_file(), {});
  for (const rules::Rule& r : all.set.rules()) {
    INFO(r.name);
    CHECK(std::ranges::any_of(examples(), [&](const Example& e) { return e.rule == r.name; }));
  }
}
