// A case: a network, a machine, inputs. Compiled, simulated, and compared bit for bit with the model.
#pragma once
#include <string>

#include "builder.h"
#include "mrvlc/target/machine.h"

namespace mrvlc::accel_random {

struct Outcome {
  std::string failure;   // empty: none
  bool refused = false;  // outside what the accelerator takes, or without a documented order of summation
  std::string refusal;
  size_t layers = 0;
};

struct Setup {
  target::Machine machine;
  uint32_t tiles = 1;
  uint32_t effort = 1;
  bool pin_weights = false;  // where they fit
  target::Column column = target::Column::Default;
  int exact = 0;  // so many of 100 values are asked for in another precision
};
Setup random_setup(Dice& dice);
std::string to_string(const Setup& setup);

Outcome check(const ir::Graph& graph, const Setup& setup, uint64_t seed);

// The smallest part of the graph found that still fails: nodes are cut off, what they made becomes an input.
ir::Graph shrink(const ir::Graph& graph, const Setup& setup, uint64_t seed);

// Runs cases of `make`: $MRVLC_RANDOM_CASES of them (default `cases`) from seed $MRVLC_RANDOM_SEED (default
// `first`) on; prints them when $MRVLC_RANDOM_PRINT is set. $MRVLC_RANDOM_LAYER names the grower that
// single layers are made by. Failures are shrunk and reported with their seed.
void run_cases(const char* name, void (*make)(Builder&), uint64_t first, int64_t cases);

}  // namespace mrvlc::accel_random
