// How far the choice by cost is from the best of all choices: random graphs, and networks given as files,
// each with every set and order of targets. `mrvlc-regret -n 200 MODEL...`; scripts/regret.sh.
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>

#include "choice/whole.h"
#include "exhaustive.h"
#include "mrvlc/onnx/importer.h"
#include "mrvlc/passes/pass.h"

using namespace mrvlc;

namespace {

constexpr size_t kMostChoices = 400'000;

struct Tally {
  double worst = 1, worst_gap = 0;
  size_t compared = 0, choices = 0, different = 0, ties = 0;
};

// Every set of the targets, each in all its orders.
void try_all(const std::string& name, const ir::Graph& g, const partition::Costs& costs, bool every,
             Tally& all) {
  std::map<test::Names, test::Chosen> by_set;
  Tally own;
  for (const test::Names& names : test::orders_of(test::all_targets())) {
    const test::Chosen now = test::choose(g, names, costs);
    ++own.choices;
    own.worst_gap = std::max(own.worst_gap, now.gap);
    test::Names set = names;
    std::ranges::sort(set);
    const auto [first, fresh] = by_set.emplace(set, now);
    // Of choices that take the same, the one of those named first.
    if (!partition::same_seconds(first->second.seconds, now.seconds))
      ++own.different;
    else if (first->second.targets != now.targets)
      ++own.ties;
    if (!fresh || !every) continue;
    test::NamedTargets targets(names);
    targets.options().costs = &costs;
    const auto least = test::least_seconds(g, targets.accelerator(), targets.options(), kMostChoices);
    if (!least) continue;
    ++own.compared;
    if (now.seconds > own.worst * *least) own.worst = now.seconds / *least;
  }
  if (!every || own.worst > 1.001 || own.different > 0)
    fmt::print("{}: regret {:.4f} of {} sets, gap said {:.4f}, {} of {} orders differ, {} ties\n", name,
               own.worst, own.compared, own.worst_gap, own.different, own.choices, own.ties);
  all.worst = std::max(all.worst, own.worst), all.worst_gap = std::max(all.worst_gap, own.worst_gap);
  all.compared += own.compared, all.choices += own.choices, all.different += own.different;
  all.ties += own.ties;
}

std::optional<ir::Graph> network(const std::string& file) {
  Diagnostics diagnostics;
  auto model = onnx::import_file(file, {}, diagnostics);
  if (!model) return std::nullopt;
  passes::RunOptions options;
  options.context.half_weights = true;
  if (!passes::run_passes(model->graph, passes::float_pipeline(), options).ok()) return std::nullopt;
  return std::move(model->graph);
}

}  // namespace

int main(int argc, char** argv) {
  Tally all;
  const uint32_t graphs = argc > 1 ? static_cast<uint32_t>(std::atoi(argv[1])) : 20;
  for (uint32_t seed = 0; seed < graphs; ++seed)
    try_all(fmt::format("graph {}", seed), test::random_graph_of(seed, 3 + static_cast<int>(seed % 4)),
            test::random_costs(seed), true, all);
  const auto host = partition::parse_host_model(partition::default_host_model(), "");
  for (int i = 2; i < argc; ++i)
    if (const auto g = network(argv[i])) try_all(argv[i], *g, {host.value(), {}}, false, all);
  fmt::print(
      "{} choices, {} compared with all others: regret at most {:.4f}; gap said at most {:.4f}; {} differ by "
      "order, {} more are ties\n",
      all.choices, all.compared, all.worst, all.worst_gap, all.different, all.ties);
  return all.worst <= 1.05 && all.different == 0 ? 0 : 1;
}
