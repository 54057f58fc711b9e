// Random models with inputs of amplitudes from 1e-7 to 1e5 on the simulated accelerator: no worse than ideal
// fp16 (ideal.h). MRVLC_RANDOM_SEED, MRVLC_EDGE_CASES; outputs that leave fp16 are counted by the operator
// that does first.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <iostream>
#include <map>

#include "check.h"
#include "grow.h"
#include "ideal.h"
#include "paths.h"

namespace mrvlc::graphs {
namespace {

using conformance::Verdict;

constexpr size_t kTogether = 128;

struct Tally {
  int64_t models = 0, accelerated = 0, compared = 0, lost = 0, failed = 0;
  std::map<std::string, int> overflows;  // outputs, by what leaves fp16 first
};

void count(const Model& model, Tally& tally) {
  ++tally.accelerated;
  for (const Ideal& ideal : ideal_fp16(model)) {
    ++(ideal.comparable && ideal.overflow.empty() ? tally.compared : tally.lost);
    if (!ideal.overflow.empty()) ++tally.overflows[ideal.overflow];
  }
}

void fail(const Model& model, uint64_t seed, const std::string& message, Tally& tally) {
  constexpr int64_t kReduced = 20;
  if (++tally.failed > kReduced) {
    FAIL_CHECK("seed " << seed << ": " << message);
    return;
  }
  const Model small = reduce(model, Judge::Ideal);
  const auto folder = std::filesystem::path(MRVLC_BINARY_DIR) / "random_edges" / fmt::format("{}", seed);
  write_case(small, folder);
  FAIL_CHECK("MRVLC_RANDOM_SEED=" << seed << " MRVLC_EDGE_CASES=1: " << message << "\nreduced ("
                                  << folder.string() << "):\n"
                                  << to_text(small));
}

}  // namespace

TEST_CASE("random models with inputs at the edges are no worse than ideal fp16") {
  const auto first = static_cast<uint64_t>(setting("MRVLC_RANDOM_SEED", 1));
  const auto last = first + static_cast<uint64_t>(setting("MRVLC_EDGE_CASES", 60));
  Tally tally;
  Cases cases;
  for (uint64_t seed = first; seed < last;) {
    std::vector<Model> models;
    std::vector<uint64_t> seeds;
    for (; seed < last && models.size() < kTogether; ++seed) {
      Model model = random_model(seed, setting("MRVLC_RANDOM_NODES", 8));
      if (data_sets(model) > 1 || !to_edges(model, seed)) continue;
      models.push_back(std::move(model));
      seeds.push_back(seed);
    }
    tally.models += static_cast<int64_t>(models.size());
    cases.write(models);
    const auto outcomes = cases.simulate(models, Judge::Ideal);
    for (size_t i = 0; i < models.size(); ++i) {
      if (std::atoi(outcomes[i].message.c_str()) > 0 && outcomes[i].verdict == Verdict::Passed)
        count(models[i], tally);
      if (outcomes[i].verdict == Verdict::Wrong || outcomes[i].verdict == Verdict::Crashed)
        fail(models[i], seeds[i], outcomes[i].message, tally);
    }
  }
  std::cout << fmt::format(
      "edges: {} models, {} with layers on the accelerator; {} outputs compared, {} not; {} failed\n",
      tally.models, tally.accelerated, tally.compared, tally.lost, tally.failed);
  for (const auto& [what, outputs] : tally.overflows)
    std::cout << fmt::format("  beyond fp16 first: {} ({} outputs)\n", what, outputs);
}

}  // namespace mrvlc::graphs
