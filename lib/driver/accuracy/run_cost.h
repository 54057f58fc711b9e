// What evaluating a graph costs, counted before it is done: multiply-accumulates of float32, or as much time
// in other steps. Never measured, so that what depends on it is the same everywhere.
#pragma once
#include <optional>

#include "mrvlc/partition/region.h"

namespace mrvlc::driver {

// What sensitivities may cost: less than a minute on one core.
inline constexpr int64_t kSensitivityBudget = 200'000'000'000;

// What a run has to do, in numbers that take time: products, those of other types than float32 as several;
// and elements that are moved, or steps of operators that are no products.
struct RunWork {
  int64_t products = 0, steps = 0;
  // Of interpreter and simulator together, one after the other: measured once, on one x86-64 core with
  // vectors of 512 bits (docs/accuracy.md).
  double seconds() const;
};
std::optional<RunWork> run_work(const ir::Graph& graph, const partition::Partition& partition);

// What the accelerator takes is linear in what it moves; of other operators the bound that there is for them.
int64_t node_cost(const ir::Graph& graph, const ir::Node& node, bool on_accelerator);
// Of a run of the whole graph; nullopt: that depends on data. By node index; what is missing is on the CPU.
std::optional<int64_t> run_cost(const ir::Graph& graph, const std::vector<bool>& on_accelerator);
std::optional<int64_t> run_cost(const ir::Graph& graph, const partition::Partition& partition);

}  // namespace mrvlc::driver
