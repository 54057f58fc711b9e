// A graph, rules and constraints through the compiler in this process: simplified, placed, compiled,
// simulated, and compared with what the reference makes of the graph as it was.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "../../fuzz/batch.h"
#include "mrvlc/ir/graph.h"
#include "mrvlc/partition/partition.h"

namespace mrvlc::rule_trials {

struct Trial {
  ir::Graph graph;
  std::optional<ir::Graph> imported;  // as it was, for rules of `stage source`; without it these take nothing
  std::vector<Tensor> inputs;         // in order of graph.inputs()
  std::vector<Tensor> expected;       // in order of graph.outputs()
  // Of each output, of max |a-b| / (1 + |b|); nullopt: run, but not compared.
  std::vector<std::optional<double>> tolerances;
  std::vector<rules::RuleFile> rule_files;
  uint32_t tiles = 0;  // 0: all
  bool default_rules = true;
  partition::Options options;  // but for the rules
  // Name in --accel every node that a rule makes a layer of, so that layers without a product stay there too.
  bool keep_layers = true;
};

struct Verdict {
  fuzz::Outcome outcome = fuzz::Outcome::Accepted;
  std::string code;   // of the refusal, "MRV0316"
  std::string what;   // of a refusal its message; of a mistake what it is
  size_t layers = 0;  // that ran on the accelerator
  size_t asked = 0;   // of them, those that a rule of the trial's files made
  size_t fused = 0;   // of these, those of several nodes
  size_t source = 0;  // of them, those of a rule of `stage source`
  size_t compared = 0;
};

// The passes that run before rules do; the graph that rules see.
Status simplify(ir::Graph& graph);
// What canonical rules that name DequantizeLinear see.
Result<ir::Graph> with_integer_weights(const ir::Graph& imported);
// `trial.graph` is simplified already.
Verdict run(Trial trial);

}  // namespace mrvlc::rule_trials
