// What of --cpu, --accel, --border and rule files did not come about as asked is said.
#include "mrvlc/partition/ineffective_constraints.h"

#include "build.h"
#include "mrvlc/passes/pass.h"

using namespace mrvlc;

namespace {

struct Said {
  std::string steps;
  std::vector<std::string> warnings;  // "MRV0406 ..."
};

Said ask(ir::Graph g, const partition::Options& options,
         const partition::Accelerator* accelerator = &test::accelerator()) {
  REQUIRE(passes::run_passes(g, passes::default_pipeline()).ok());
  auto p = partition::partition(g, accelerator, options);
  if (!p.ok()) FAIL(p.error().message);
  Said said{test::steps(g, *p), {}};
  for (const Diag& d : partition::ineffective_constraints(g, *p, options))
    said.warnings.push_back(std::string(diag_info(d.code).name) + " " + d.message);
  return said;
}

ir::Graph model() {
  return test::conv_swish_conv(test::node("%h = Hardmax(%d)") + " output %h\n");
}

}  // namespace

TEST_CASE("a wish for a part of what a pass made holds for all of it, and that is said") {
  partition::Options options;
  CHECK(ask(model(), options).warnings.empty());
  options.cpu = {"n"};  // folded into the convolution
  Said said = ask(model(), options);
  CHECK(said.steps.starts_with("C:"));
  REQUIRE(said.warnings.size() == 1);
  CHECK(said.warnings[0].starts_with("MRV0405 --cpu 'n': 'n' (BatchNormalization) is part of "));
  CHECK(said.warnings[0].ends_with(" (Conv); it holds for all of that"));
  options.cpu = {"BatchNorm*"};
  CHECK(ask(model(), options).warnings.size() == 1);
  options.cpu = {"Sigmoid"};
  said = ask(model(), options);
  CHECK(said.steps.starts_with("R0 C:"));
  REQUIRE(said.warnings.size() == 1);
  CHECK(said.warnings[0].find("'g' (Sigmoid) is part of") != std::string::npos);
  options.cpu = {"Conv"};  // it answers itself
  CHECK(ask(model(), options).warnings.empty());
  options.cpu = {"*"};
  CHECK(ask(model(), options).warnings.empty());
}

TEST_CASE("a wish for what is no more has no effect, and that is said") {
  partition::Options options;
  options.cpu = {"k2"};
  Said said = ask(model(), options);
  REQUIRE(said.warnings.size() == 1);
  CHECK(said.warnings[0].starts_with("MRV0406 --cpu 'k2' has no effect: 'k2' (Add) is no more: folded"));
  options.cpu = {};
  options.borders = {"k2"};
  CHECK(ask(model(), options).warnings.size() == 1);
  options.borders = {};
  options.accel = {"k2"};
  CHECK(ask(model(), options).warnings.size() == 1);
}

TEST_CASE("a border on the CPU begins no region, and that is said") {
  partition::Options options;
  options.borders = {"h"};
  Said said = ask(model(), options);
  REQUIRE(said.warnings.size() == 1);
  CHECK(said.warnings[0].starts_with(
      "MRV0406 --border 'h' has no effect: 'h' (Hardmax) runs on the CPU: No rule"));
  options.borders = {"Con*"};
  CHECK(ask(model(), options).warnings.empty());
}

TEST_CASE("constraints for an accelerator without one have no effect, and that is said") {
  partition::Options options;
  options.accel = {"Conv"};
  options.borders = {"a"};
  options.cpu = {"h"};
  Said said = ask(model(), options, nullptr);
  REQUIRE(said.warnings.size() == 2);
  for (const std::string& w : said.warnings)
    CHECK(w.find("the model is compiled for the host CPU alone; name an accelerator with --target") !=
          std::string::npos);
}

TEST_CASE("a clause that rule files need no more is said") {
  partition::Options options;
  options.turns = {
      {test::rules_of(true,
                      "rule r { layer softmax priority 500 why \"w\" match { %s = Softmax(%x) } where "
                      "accelerator_can(layer) }")}};
  Said said = ask(model(), options);
  REQUIRE(said.warnings.size() == 1);
  CHECK(said.warnings[0].starts_with("MRV0317 my.rules:1:"));
}
