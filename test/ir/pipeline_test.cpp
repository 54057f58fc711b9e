// The pass manager and the pipelines.
#include <chrono>

#include "helpers.h"
#include "mrvlc/interp/interp.h"
#include "mrvlc/passes/pass.h"

using namespace mrvlc;
using namespace mrvlc::test;

namespace {

Status run(ir::Graph& g, std::initializer_list<std::string_view> names,
           const passes::RunOptions& options = {}) {
  return passes::run_passes(g, std::span(names.begin(), names.size()), options);
}

ir::Graph block() {
  return parse_ok(R"(graph "g" {
    input %x : f32[1, 2, 4, 4]
    const %w : f32[2, 2, 1, 1] = [1, 2, 3, 4]
    const %s : f32[2] = [2, 3]
    const %b : f32[2] = [0.5, -0.5]
    const %m : f32[2] = [0.1, 0.2]
    const %v : f32[2] = [1, 4]
    %c = Conv(%x, %w) {auto_pad = "SAME_UPPER", kernel_shape = [1, 1]} : f32[1, 2, 4, 4]
    %n = BatchNormalization(%c, %s, %b, %m, %v) : f32[1, 2, 4, 4]
    %i = Identity(%n) : f32[1, 2, 4, 4]
    %r = Relu(%i) : f32[1, 2, 4, 4]
    output %r
  })");
}

std::vector<std::string> live_ops(const ir::Graph& g) {
  std::vector<std::string> ops;
  for (ir::NodeId id : g.topological_order()) ops.emplace_back(g.node(id).op->name);
  return ops;
}

}  // namespace

TEST_CASE("an unknown pass is a usage error", "[passes]") {
  ir::Graph g = block();
  Status s = run(g, {"dce", "frobnicate"});
  REQUIRE_FALSE(s.ok());
  CHECK(s.error().exit_class() == ExitClass::Usage);
  CHECK_THAT(s.error().message, Catch::Matchers::Contains("frobnicate"));
}

TEST_CASE("the manager times every pass and calls back after it", "[passes]") {
  ir::Graph g = block();
  std::vector<passes::PassTime> times;
  std::vector<std::string> seen;
  passes::RunOptions options;
  options.times = &times;
  options.after = [&](std::string_view pass, const ir::Graph& graph) {
    CHECK(graph.outputs().size() == 1);
    seen.emplace_back(pass);
  };
  REQUIRE(run(g, {"cse", "dce"}, options).ok());
  CHECK(seen == std::vector<std::string>{"cse", "dce"});
  REQUIRE(times.size() == 2);
  CHECK(times[1].name == "dce");
  CHECK(times[1].seconds >= 0);
}

TEST_CASE("pipelines name passes that exist", "[passes]") {
  for (auto pipeline : {passes::default_pipeline(), passes::host_pipeline()}) {
    for (std::string_view name : pipeline) CHECK(passes::find_pass(name) != nullptr);
  }
}

TEST_CASE("the default pipeline merges a whole block into its convolution", "[passes]") {
  ir::Graph g = block(), before = g;
  REQUIRE(passes::run_passes(g, passes::default_pipeline()).ok());
  CHECK(live_ops(g) == std::vector<std::string>{"Conv", "Relu"});
  CHECK(g.value(g.outputs()[0]).name == "r");
  // The convolution answers for the normalisation, too.
  ir::NodeId conv = g.topological_order()[0];
  CHECK(g.lineage(conv).sources ==
        std::vector<ir::SourceId>{ir::SourceId(size_t{0}), ir::SourceId(size_t{1})});
  auto inputs = interp::seeded_inputs(before, 3);
  auto want = interp::run(before, inputs), got = interp::run(g, inputs);
  REQUIRE((want.ok() && got.ok()));
  for (int64_t i = 0; i < (*want)[0].elements(); ++i) {
    CHECK((*got)[0].as_double(i) == Approx((*want)[0].as_double(i)).epsilon(1e-5));
  }
}

TEST_CASE("a second run of a pipeline finds nothing to do", "[passes]") {
  ir::Graph g = block();
  REQUIRE(passes::run_passes(g, passes::host_pipeline()).ok());
  std::string once = ir::print(g);
  REQUIRE(passes::run_passes(g, passes::host_pipeline()).ok());
  CHECK(ir::print(g) == once);
}

TEST_CASE("folded weights are not kept twice", "[passes]") {
  ir::Graph g = block();
  REQUIRE(passes::run_passes(g, passes::default_pipeline()).ok());
  for (size_t i = 0; i < g.value_slots(); ++i) {
    const ir::Value& v = g.value(ir::ValueId(i));
    if (v.kind == ir::ValueKind::Constant && v.users.empty()) CHECK(v.constant().bytes().empty());
  }
}

TEST_CASE("constants above the limit stay computed at run time", "[passes]") {
  ir::Graph g = parse_ok(R"(graph "g" {
    input %x : f32[4]
    const %k : f32[4] = [1, 2, 3, 4]
    %e = Exp(%k) : f32[4]
    %y = Add(%x, %e) : f32[4]
    output %y
  })");
  passes::RunOptions options;
  options.context.max_folded_bytes = 15;
  REQUIRE(run(g, {"fold-constants"}, options).ok());
  CHECK(live_ops(g) == std::vector<std::string>{"Exp", "Add"});
  options.context.max_folded_bytes = 16;
  REQUIRE(run(g, {"fold-constants"}, options).ok());
  CHECK(live_ops(g) == std::vector<std::string>{"Add"});
}

TEST_CASE("the pipelines are linear: fifty thousand nodes", "[passes]") {
  std::string text =
      "graph \"g\" {\n input %v0 : f32[2]\n const %k : f32[2] = [1, 2]\n const %m : f32[2] = [3, 1]\n";
  for (int i = 0; i < 50000; ++i) {
    text += fmt::format(" %v{} = {}(%v{}, %{}) : f32[2]\n", i + 1, i % 2 == 0 ? "Add" : "Mul", i,
                        i % 2 == 0 ? "k" : "m");
  }
  ir::Graph g = parse_ok(text + " output %v50000\n}\n");
  auto start = std::chrono::steady_clock::now();
  REQUIRE(passes::run_passes(g, passes::host_pipeline()).ok());
  // Quadratic passes would take minutes, even on a fast machine.
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(60));
}
