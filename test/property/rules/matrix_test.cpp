// Every kind of layer asked of every operator, with conditions in the rule and without: refused with a code,
// or compiled, simulated and right. What must come about is written down here, from docs/rules.md.
#include <fmt/format.h>

#include <algorithm>
#include <catch2/catch.hpp>

#include "../dice.h"
#include "mrvlc/interp/interp.h"
#include "mrvlc/ir/text.h"
#include "mrvlc/ops/op.h"
#include "mrvlc/tensor/float16.h"
#include "trial.h"

namespace mrvlc::rule_trials {
namespace {

constexpr const char* kKinds[] = {"conv",        "conv_transpose", "fc",      "matmul", "pool",
                                  "elementwise", "reduce",         "softmax", "norm",   "resize",
                                  "concat",      "move",           "reshape"};

const std::string kWeights = "const %w : f32[4,4,1,1] = [1,-1,0.5,2, 0,1,0.25,-2, 1,1,1,1, -0.5,0.5,-1,1]\n";
const std::string kMatrix = "const %w : f32[4,3] = [1,-1,0.5, 2,0,1, 0.25,-2,1, 1,0.5,-0.5]\n";
const std::string kImage = "input %x : f32[1,4,6,6]\n";
const std::string kRows = "input %x : f32[3,4]\n";
const std::string kChannels =
    "const %s : f32[4] = [1,2,0.5,-1]\n const %b : f32[4] = [0,1,-1,0.5]\n const %v : f32[4] = [1,2,0.5,1]\n";

struct Case {
  std::string op, kinds, body;
};

std::string unary(const std::string& op) {
  return kImage + "%y = " + op + "(%x) : f32[1,4,6,6]\n output %y";
}
std::string binary(const std::string& op) {
  return kImage + "input %z : f32[4,1,6]\n %y = " + op + "(%x, %z) : f32[1,4,6,6]\n output %y";
}
std::string reduction(const std::string& op) {
  return kImage + "const %a : i64[1] = [2]\n %y = " + op + "(%x, %a) : f32[1,4,1,6]\n output %y";
}

const std::vector<Case>& cases() {
  static const std::vector<Case> kCases = {
      {"Conv", "conv", kImage + kWeights + "%y = Conv(%x, %w) : f32[1,4,6,6]\n output %y"},
      {"ConvTranspose", "conv_transpose",
       kImage + kWeights + "%y = ConvTranspose(%x, %w) {strides = [2,2]} : f32[1,4,11,11]\n output %y"},
      {"Gemm", "fc", kRows + kMatrix + "%y = Gemm(%x, %w) : f32[3,3]\n output %y"},
      {"MatMul", "fc matmul", kRows + kMatrix + "%y = MatMul(%x, %w) : f32[3,3]\n output %y"},
      {"MaxPool", "pool", kImage + "%y = MaxPool(%x) {kernel_shape = [2,2]} : f32[1,4,5,5]\n output %y"},
      {"AveragePool", "pool",
       kImage + "%y = AveragePool(%x) {kernel_shape = [3,3], pads = [1,1,1,1]} : f32[1,4,6,6]\n output %y"},
      {"GlobalAveragePool", "pool", kImage + "%y = GlobalAveragePool(%x) : f32[1,4,1,1]\n output %y"},
      {"GlobalMaxPool", "pool", kImage + "%y = GlobalMaxPool(%x) : f32[1,4,1,1]\n output %y"},
      {"Relu", "elementwise", unary("Relu")},
      {"Sigmoid", "elementwise", unary("Sigmoid")},
      {"Sqrt", "elementwise",
       kImage + "%a = Abs(%x) : f32[1,4,6,6]\n %y = Sqrt(%a) : f32[1,4,6,6]\n output %y"},
      {"Clip", "elementwise",
       kImage + "const %l : f32[] = [-0.5]\n const %h : f32[] = [1]\n %y = Clip(%x, %l, %h) : f32[1,4,6,6]\n "
                "output %y"},
      {"Add", "elementwise", binary("Add")},
      {"Mul", "elementwise", binary("Mul")},
      {"Max", "elementwise", binary("Max")},
      {"Pow", "elementwise", kImage + "const %p : f32[] = [2]\n %y = Pow(%x, %p) : f32[1,4,6,6]\n output %y"},
      {"Softmax", "softmax", kImage + "%y = Softmax(%x) {axis = 1} : f32[1,4,6,6]\n output %y"},
      {"LogSoftmax", "softmax", unary("LogSoftmax")},
      {"ReduceLogSumExp", "softmax", reduction("ReduceLogSumExp")},
      {"RMSNormalization", "norm",
       kRows + kChannels + "%y = RMSNormalization(%x, %s) : f32[3,4]\n output %y"},
      {"ReduceMean", "reduce", reduction("ReduceMean")},
      {"ReduceSumSquare", "reduce", reduction("ReduceSumSquare")},
      {"ReduceMax", "reduce", reduction("ReduceMax")},
      {"LayerNormalization", "norm",
       kRows + kChannels + "%y = LayerNormalization(%x, %s, %b) : f32[3,4]\n output %y"},
      {"InstanceNormalization", "norm",
       kImage + kChannels + "%y = InstanceNormalization(%x, %s, %b) : f32[1,4,6,6]\n output %y"},
      {"BatchNormalization", "norm",
       kImage + kChannels + "%y = BatchNormalization(%x, %s, %b, %b, %v) : f32[1,4,6,6]\n output %y"},
      {"Resize", "resize",
       kImage + "const %f : f32[4] = [1,1,2,2]\n %y = Resize(%x, _, %f) : f32[1,4,12,12]\n output %y"},
      {"Concat", "concat",
       kImage + "input %z : f32[1,2,6,6]\n %y = Concat(%x, %z) {axis = 1} : f32[1,6,6,6]\n output %y"},
      {"Transpose", "move", kImage + "%y = Transpose(%x) {perm = [0,2,3,1]} : f32[1,6,6,4]\n output %y"},
      {"Slice", "move",
       kImage + "const %f : i64[1] = [1]\n const %t : i64[1] = [5]\n const %a : i64[1] = [3]\n"
                "%y = Slice(%x, %f, %t, %a) : f32[1,4,6,4]\n output %y"},
      {"Pad", "move", kRows + "const %p : i64[4] = [0,1,2,0]\n %y = Pad(%x, %p) : f32[5,5]\n output %y"},
      {"Split", "move",
       kImage + "%y, %z = Split(%x) {axis = 1, num_outputs = 2} : f32[1,2,6,6], f32[1,2,6,6]\n output %y\n "
                "output %z"},
      {"Expand", "move",
       kRows + "const %f : i64[3] = [2,3,4]\n %y = Expand(%x, %f) : f32[2,3,4]\n output %y"},
      {"Tile", "move", kRows + "const %f : i64[2] = [2,1]\n %y = Tile(%x, %f) : f32[6,4]\n output %y"},
      {"DepthToSpace", "move", kImage + "%y = DepthToSpace(%x) {blocksize = 2} : f32[1,1,12,12]\n output %y"},
      {"Reshape", "reshape", kRows + "const %f : i64[1] = [12]\n %y = Reshape(%x, %f) : f32[12]\n output %y"},
      {"Flatten", "reshape", kImage + "%y = Flatten(%x) : f32[1,144]\n output %y"},
      // Operators of the host.
      {"Sin", "", unary("Sin")},
      {"Round", "", unary("Round")},
      {"Where", "",
       kRows + "input %c : bool[3,4]\n input %z : f32[3,4]\n %y = Where(%c, %x, %z) : f32[3,4]\n output %y"},
      {"Greater", "", kRows + "input %z : f32[3,4]\n %y = Greater(%x, %z) : bool[3,4]\n output %y"},
      {"Sum", "",
       kRows + "input %z : f32[3,4]\n input %u : f32[3,4]\n %y = Sum(%x, %z, %u) : f32[3,4]\n output %y"},
      {"ReduceL2", "", reduction("ReduceL2")},
      {"Hardmax", "", unary("Hardmax")},
      {"Gather", "", kRows + "const %i : i64[2] = [2,0]\n %y = Gather(%x, %i) : f32[2,4]\n output %y"},
      {"LRN", "", kImage + "%y = LRN(%x) {size = 3} : f32[1,4,6,6]\n output %y"},
      // Legal anchors with what no layer of theirs takes.
      {"Conv", "-conv", kImage + "input %w : f32[4,4,1,1]\n %y = Conv(%x, %w) : f32[1,4,6,6]\n output %y"},
      {"Gemm", "-fc", kRows + "input %w : f32[4,3]\n %y = Gemm(%x, %w) : f32[3,3]\n output %y"},
      {"Clip", "-elementwise", kRows + "input %l : f32[]\n %y = Clip(%x, %l) : f32[3,4]\n output %y"},
      {"Pow", "-elementwise", kRows + "input %p : f32[4]\n %y = Pow(%x, %p) : f32[3,4]\n output %y"},
      {"Add", "-elementwise",
       "input %x : i32[3,4]\n input %z : i32[3,4]\n %y = Add(%x, %z) : i32[3,4]\n output %y"},
      {"Max", "-elementwise",
       kRows + "input %z : f32[3,4]\n input %u : f32[3,4]\n %y = Max(%x, %z, %u) : f32[3,4]\n output %y"},
      {"InstanceNormalization", "-norm",
       kImage + "input %s : f32[4]\n const %b : f32[4] = [0,1,-1,0.5]\n %y = InstanceNormalization(%x, %s, "
                "%b) : f32[1,4,6,6]\n output %y"},
      {"Pad", "move",
       kRows +
           "const %p : i64[4] = [0,1,2,0]\n %y = Pad(%x, %p) {mode = \"reflect\"} : f32[5,5]\n output %y"},
      // More than one turn a side.
      {"Pad", "-move",
       kRows + "const %p : i64[4] = [4,0,0,0]\n %y = Pad(%x, %p) {mode = \"wrap\"} : f32[7,4]\n output %y"},
      {"Resize", "-resize",
       kImage + "const %f : f32[4] = [1,2,1,1]\n %y = Resize(%x, _, %f) : f32[1,8,6,6]\n output %y"},
  };
  return kCases;
}

Tensor random_values(random::Dice& dice, const TensorType& type) {
  Tensor t(type);
  for (int64_t i = 0; i < t.elements(); ++i) {
    if (is_float(type.elem))
      t.set_double(i, static_cast<double>(half_to_float(double_to_half(dice.real(-2, 2)))));
    else
      t.set_int(i, dice.pick(0, 1));
  }
  return t;
}

Trial trial_of(const Case& c, const std::string& kind, bool conditions) {
  auto graph = ir::parse("graph \"g\" {\n" + c.body + "\n}\n", ops::registry());
  if (!graph.ok()) throw std::runtime_error(c.op + ": " + graph.error().message);
  Trial t;
  t.graph = std::move(graph).value();
  random::Dice dice(1);
  for (ir::ValueId v : t.graph.inputs()) t.inputs.push_back(random_values(dice, t.graph.value(v).type));
  auto expected = interp::run(t.graph, t.inputs);
  if (!expected.ok()) throw std::runtime_error(c.op + ": " + expected.error().message);
  t.expected = std::move(expected).value();
  t.tolerances.assign(t.expected.size(), 1e-2);
  t.default_rules = false;
  const std::string where = conditions ? " where rank(%x) >= 1, uses(%a) >= 1, not constant(%a)" : "";
  t.rule_files = {{"matrix.rules",
                   fmt::format("rule r {{ layer {} priority 1 why \"w\" match {{ %a = {}(%x, ...) }}{} }}\n",
                               kind, c.op, where)}};
  return t;
}

bool names(const std::string& list, const std::string& word) {
  return (" " + list + " ").find(" " + word + " ") != std::string::npos;
}

fuzz::Outcome check(const Case& c, const std::string& kind, bool conditions, std::string& what) {
  const Verdict v = run(trial_of(c, kind, conditions));
  const std::string where =
      fmt::format("layer {} on {}{}: ", kind, c.op, conditions ? ", with conditions" : "");
  what = where + (v.what.empty() ? fmt::format("{} layers", v.layers) : v.what);
  if (v.outcome >= fuzz::Outcome::Internal) return v.outcome;
  if (names(c.kinds, kind))
    return v.layers == 1 && v.code.empty() ? fuzz::Outcome::Accepted : fuzz::Outcome::Wrong;
  // The kind fits the operator, but not these operands: the rule is sound, and nothing runs there.
  if (names(c.kinds, "-" + kind))
    return v.layers == 0 && v.code.empty() ? fuzz::Outcome::Gate : fuzz::Outcome::Wrong;
  return v.code == "MRV0316" ? fuzz::Outcome::Rejected : fuzz::Outcome::Wrong;
}

}  // namespace

TEST_CASE("kinds of layers and operators") {
  constexpr uint64_t kRow = 2 * std::size(kKinds);
  fuzz::BatchOptions options;
  options.count = cases().size() * kRow;
  options.jobs = 2;
  options.seconds = 60;
  const auto report = fuzz::run_batch(
      [](uint64_t n, const std::filesystem::path&, std::string& what) {
        return check(cases()[n / kRow], kKinds[n % kRow / 2], n % 2 == 1, what);
      },
      options);
  for (const fuzz::Found& found : report.found)
    FAIL_CHECK(cases()[found.n / kRow].op << " as " << kKinds[found.n % kRow / 2] << ": "
                                          << to_string(found.outcome) << ": " << found.what);
  auto count = [&](fuzz::Outcome o) { return report.counts[static_cast<size_t>(o)]; };
  uint64_t right = 0, not_taken = 0;
  for (const Case& c : cases()) {
    for (const char* kind : kKinds) {
      right += names(c.kinds, kind) ? 2 : 0;
      not_taken += names(c.kinds, std::string("-") + kind) ? 2 : 0;
    }
  }
  CHECK(count(fuzz::Outcome::Accepted) == right);
  CHECK(count(fuzz::Outcome::Gate) == not_taken);
  CHECK(count(fuzz::Outcome::Rejected) == options.count - right - not_taken);
  INFO(options.count << " combinations");
}

}  // namespace mrvlc::rule_trials
