// Random models are never refused: what is compiled computes its model, and the prover must not say
// otherwise.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <iostream>
#include <nlohmann/json.hpp>

#include "../../property/graphs/grow.h"
#include "mrvlc/driver/driver.h"
#include "mrvlc/prove/prove.h"
#include "mrvlc/support/file.h"
#include "mrvlc/target/find.h"
#include "mrvlc/target/machine.h"
#include "support/folders.h"

using namespace mrvlc;
using namespace mrvlc::test;

namespace {

int64_t number_of_setting(const char* name, int64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoll(text, nullptr, 10);
}

// Models of operators that the accelerator has, one after the other; every third one is of any kind.
graphs::Model model_of(uint64_t seed) {
  constexpr std::string_view kOperators[] = {"Conv",
                                             "ConvTranspose",
                                             "Gemm",
                                             "MatMul",
                                             "Resize",
                                             "MaxPool",
                                             "AveragePool",
                                             "Softmax",
                                             "ReduceLogSumExp",
                                             "ReduceMean",
                                             "ReduceSum",
                                             "LayerNormalization",
                                             "Add",
                                             "Mul",
                                             "Relu",
                                             "Sigmoid",
                                             "Concat",
                                             "Slice",
                                             "Transpose",
                                             "DepthToSpace",
                                             "Pad",
                                             "HardSwish",
                                             "Exp",
                                             "Clip",
                                             "PRelu",
                                             "InstanceNormalization"};
  if (seed % 3 == 0) return graphs::random_model(seed, 6);
  graphs::Grower g(seed);
  g.coarse = true;
  for (int attempt = 0; attempt < 24 && g.model.nodes.size() < 1 + seed % 6; ++attempt)
    graphs::propose(g, *ops::find_op("", kOperators[g.dice.pick(0, std::size(kOperators) - 1)]));
  if (g.model.nodes.empty()) return graphs::random_model(seed, 6);
  g.finish();
  return std::move(g.model);
}

struct Tally {
  int compiled = 0, refused = 0, nodes = 0, proved = 0, on_accelerator = 0;
};

// Nodes that rules take, but that no product is connected with: by themselves they would stay on the host.
std::vector<std::string> could_run(const std::filesystem::path& out) {
  const auto placement = nlohmann::json::parse(slurp(out / "placement.json"));
  std::vector<std::string> names;
  for (const nlohmann::json& node : placement.at("nodes"))
    if (node.value("code", "") == "no-product") names.push_back("id:" + node.at("id").get<std::string>());
  return names;
}

bool compiled(driver::CompileOptions& options, Diagnostics& said) {
  const auto quiet = [](const std::string&) {};
  if (!driver::compile(options, said, quiet)) return false;
  options.accel = could_run(options.out);
  return options.accel.empty() || driver::compile(options, said, quiet);
}

void judge_random(uint64_t seed, const target::Machine& machine, Tally& count) {
  const TempDir dir;
  const auto file = dir.path() / "model.onnx";
  REQUIRE(write_file_atomic(file, graphs::to_onnx(model_of(seed))).ok());
  driver::CompileOptions options;
  options.model = file;
  options.out = dir.path() / "out";
  constexpr uint32_t kTiles[] = {1, 2, 4, 8};
  options.accelerator.tiles = kTiles[seed % 4];
  Diagnostics said;
  if (!compiled(options, said)) return;
  prove::Question q;
  q.hints = slurp(options.out / "proof.json");
  q.binary = [&](const std::string& name) { return read_file(options.out / name); };
  const auto model = onnx::import_file(file, prove::import_options(q.hints), said);
  if (!model) return;
  q.model = &*model;
  q.seed = "random";
  q.target = [&](const std::string&) { return prove::Target{machine.ocm_bytes, machine.accumulator_pixels}; };
  const auto proof = prove::prove(q);
  INFO("MRVLC_PROVE_SEED=" << seed << " MRVLC_PROVE_CASES=1");
  if (!proof.ok()) return;  // shapes known at run time only
  ++count.compiled;
  count.nodes += static_cast<int>(proof->nodes.size());
  count.proved += static_cast<int>(proof->proved());
  count.on_accelerator += proof->regions.empty() ? 0 : 1;
  for (const prove::RegionProof& r : proof->regions) {
    CHECK(r.refusal == "");
    count.refused += r.refusal.empty() ? 0 : 1;
  }
}

}  // namespace

// MRVLC_PROVE_CASES=5000 takes as many, from MRVLC_PROVE_SEED on.
TEST_CASE("random models are not refused") {
  const auto text = target::find_target("cn10ka", {});
  REQUIRE(text.ok());
  const auto machine = target::read_machine("cn10ka", *text);
  REQUIRE(machine.ok());
  Tally count;
  const int64_t cases = number_of_setting("MRVLC_PROVE_CASES", 60),
                first = number_of_setting("MRVLC_PROVE_SEED", 1);
  for (int64_t i = 0; i < cases; ++i) judge_random(static_cast<uint64_t>(first + i), *machine, count);
  std::cout << count.compiled << " models, " << count.on_accelerator << " with regions: " << count.proved
            << " of " << count.nodes << " nodes proved, " << count.refused << " regions refused\n";
  CHECK(count.on_accelerator > 0);
  CHECK(count.proved > 0);
}
