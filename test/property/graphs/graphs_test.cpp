// Random models: the reference interpreter on the imported model, generated C, generated C with the simulated
// accelerator and, with $ORT_DIR, ONNX Runtime give what the operators give one by one. MRVLC_RANDOM_SEED,
// MRVLC_RANDOM_CASES, MRVLC_RANDOM_NODES; MRVLC_RANDOM_OP=NAME: models of that operator alone;
// MRVLC_TEST_VERBOSE tells what was refused.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <iostream>
#include <map>

#include "check.h"
#include "coarse.h"
#include "grow.h"
#include "paths.h"

namespace mrvlc::graphs {
namespace {

using conformance::Outcome;
using conformance::Verdict;

constexpr int64_t kTogether = 256;  // models in a run
constexpr int kReduced = 8;         // failures that are cut down; the rest is counted

struct Tally {
  int64_t models = 0, nodes = 0, failed = 0, ort_ran = 0, ort_refused = 0;
  // With layers on the accelerator: models, layers, outputs that were compared and that could not be.
  int64_t accelerated = 0, layers = 0, compared = 0, sensitive = 0;
  std::map<std::string, int> operators, refused, ort_refusals;
};

void fail(Tally& tally, const Model& model, uint64_t seed, Judge judge, const Outcome& outcome) {
  static constexpr const char* kNames[] = {"the interpreter", "C", "the simulator", "ideal fp16",
                                           "ONNX Runtime"};
  if (++tally.failed > kReduced) {
    FAIL_CHECK("seed " << seed << ": " << kNames[static_cast<size_t>(judge)] << ": " << outcome.message);
    return;
  }
  const Model small = reduce(model, judge);
  const auto folder = std::filesystem::path(MRVLC_BINARY_DIR) / "random_graphs" / fmt::format("{}", seed);
  write_case(small, folder);
  FAIL_CHECK("MRVLC_RANDOM_SEED=" << seed << " MRVLC_RANDOM_CASES=1: " << kNames[static_cast<size_t>(judge)]
                                  << ": " << outcome.message << "\nreduced (" << folder.string() << "):\n"
                                  << to_text(small));
}

void check_outcome(Tally& tally, const Model& model, uint64_t seed, Judge judge, const Outcome& outcome) {
  if (outcome.verdict == Verdict::Wrong || outcome.verdict == Verdict::Crashed)
    fail(tally, model, seed, judge, outcome);
  if (outcome.verdict == Verdict::Refused && judge != Judge::OnnxRuntime)
    ++tally.refused[outcome.code + " " + outcome.message];
}

void check_with_onnx_runtime(const Cases& cases, const std::vector<Model>& models, uint64_t first,
                             Tally& tally) {
  const auto outcomes = cases.run_onnx_runtime();
  for (size_t i = 0; i < models.size(); ++i) {
    ++(outcomes[i].verdict == Verdict::Refused ? tally.ort_refused : tally.ort_ran);
    if (outcomes[i].verdict == Verdict::Refused) ++tally.ort_refusals[outcomes[i].message];
    check_outcome(tally, models[i], first + i, Judge::OnnxRuntime, outcomes[i]);
  }
}

void check_on_accelerator(const Cases& cases, const std::vector<Model>& models, uint64_t first,
                          Tally& tally) {
  const auto outcomes = cases.simulate(models);
  for (size_t i = 0; i < models.size(); ++i) {
    check_outcome(tally, models[i], first + i, Judge::Simulator, outcomes[i]);
    const int layers = std::atoi(outcomes[i].message.c_str());  // 0 when nothing runs there
    if (outcomes[i].verdict != Verdict::Passed || layers == 0) continue;
    ++tally.accelerated;
    tally.layers += layers;
    for (const auto& tolerance : fp16_tolerances(models[i])) ++(tolerance ? tally.compared : tally.sensitive);
  }
}

void check_models(const Cases& cases, const std::vector<Model>& models, uint64_t first, Tally& tally) {
  const auto results = cases.run();
  REQUIRE(results.size() == models.size());
  for (size_t i = 0; i < models.size(); ++i) {
    for (Judge judge : {Judge::Interpreter, Judge::C}) {
      const auto& outcome = results[i].of[static_cast<size_t>(judge)];
      REQUIRE(outcome);
      check_outcome(tally, models[i], first + i, judge, *outcome);
      if (outcome->verdict != Verdict::Passed) break;  // C refuses and fails where the importer does
    }
  }
}

Model model_of(uint64_t seed) {
  const char* only = std::getenv("MRVLC_RANDOM_OP");
  if (only == nullptr) return random_model(seed, setting("MRVLC_RANDOM_NODES", 8));
  Grower g(seed);
  const ops::OpDef* op = ops::find_op("", only);
  REQUIRE(op != nullptr);
  for (int attempt = 0; attempt < 50 && g.model.nodes.empty(); ++attempt) propose(g, *op);
  if (g.model.nodes.empty()) return random_model(seed, 1);
  g.finish();
  return std::move(g.model);
}

void print(const Tally& tally) {
  std::cout << fmt::format("{} models of {} nodes, {} operators; {} failed\n", tally.models, tally.nodes,
                           tally.operators.size(), tally.failed);
  std::cout << fmt::format(
      "accelerator: {} models ({} %) of {} layers; {} outputs compared, {} too sensitive to fp16\n",
      tally.accelerated, 100 * tally.accelerated / std::max<int64_t>(1, tally.models), tally.layers,
      tally.compared, tally.sensitive);
  if (tally.ort_ran > 0)
    std::cout << fmt::format("ONNX Runtime: {} run, {} refused\n", tally.ort_ran, tally.ort_refused);
  for (const auto& [why, count] : tally.refused) std::cout << fmt::format("refused {}: {}\n", count, why);
  if (std::getenv("MRVLC_TEST_VERBOSE") == nullptr) return;
  for (const auto& [why, count] : tally.ort_refusals)
    std::cout << fmt::format("ONNX Runtime refused {}: {}\n", count, why);
  for (const auto& [op, count] : tally.operators) std::cout << fmt::format("{} {}\n", op, count);
  for (const ops::OpDef* op : growable())
    if (!tally.operators.contains(std::string(op->name))) std::cout << fmt::format("never: {}\n", op->name);
}

}  // namespace

TEST_CASE("random models") {
  const auto first = static_cast<uint64_t>(setting("MRVLC_RANDOM_SEED", 1));
  const int64_t count = setting("MRVLC_RANDOM_CASES", 400);
  Tally tally;
  Cases cases;
  for (int64_t done = 0; done < count; done += kTogether) {
    std::vector<Model> models;
    for (int64_t i = done; i < std::min(count, done + kTogether); ++i) {
      models.push_back(model_of(first + static_cast<uint64_t>(i)));
      ++tally.models;
      for (const Node& node : models.back().nodes)
        ++tally.operators[std::string(node.op->name)], ++tally.nodes;
    }
    cases.write(models);
    check_models(cases, models, first + static_cast<uint64_t>(done), tally);
    check_on_accelerator(cases, models, first + static_cast<uint64_t>(done), tally);
    if (Cases::has_onnx_runtime())
      check_with_onnx_runtime(cases, models, first + static_cast<uint64_t>(done), tally);
  }
  print(tally);
}

// $MRVLC_RANDOM_FOLDER/SEED: a model and what it gives, for other programs. Not among the tests of a run.
TEST_CASE("random models as files", "[.files]") {
  const char* folder = std::getenv("MRVLC_RANDOM_FOLDER");
  REQUIRE(folder != nullptr);
  const auto first = static_cast<uint64_t>(setting("MRVLC_RANDOM_SEED", 1));
  for (uint64_t i = 0; i < static_cast<uint64_t>(setting("MRVLC_RANDOM_CASES", 400)); ++i)
    write_case(model_of(first + i), std::filesystem::path(folder) / fmt::format("{:06}", first + i));
}

}  // namespace mrvlc::graphs
