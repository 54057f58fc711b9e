// Which part of the graph runs where, and why: regions (region.h), and everything else as CPU steps.
#pragma once
#include <set>

#include "mrvlc/ir/graph.h"
#include "mrvlc/partition/call.h"
#include "mrvlc/partition/constraints.h"
#include "mrvlc/partition/region.h"
#include "mrvlc/partition/rules.h"
#include "mrvlc/support/shared_text.h"
#include "mrvlc/target/machine.h"

namespace mrvlc::partition {

// The order of work on the host: a CPU node, a region, or a call of a library.
struct Step {
  enum class Kind : uint8_t { Cpu, Region, Call } kind = Kind::Cpu;
  ir::NodeId node;      // Cpu; Call: the last of its nodes
  uint32_t region = 0;  // Region: index into regions
  uint32_t call = 0;    // Call: index into calls
};

// One rule tried on one node: accepted, or the first condition that failed with the values compared.
struct RuleTrial {
  std::string rule;
  bool accepted = false;
  std::string condition;  // "dilation_at_most(%c, 2)"
  std::string actual, limit;
  std::string reason;  // a sentence
  bool operator==(const RuleTrial&) const = default;
};

// Why a node is where it is, as a word that does not change (docs/partition.md).
enum class Why : uint8_t {
  Rule,           // "rule": a rule takes it
  HostRule,       // "host-rule": a rule of kind `cpu` keeps it
  HostOption,     // "host-option": a constraint keeps it, --cpu or --max-regions
  Accuracy,       // "accuracy": fp16 does not hold it, or --accuracy asks for more
  Rounded,        // "rounded": it is rounded to integers next
  Sensitive,      // "sensitive": what reads it feels an absolute error of it, such as of an angle
  Refused,        // "refused": the rules that ask for it, or the limits of the machine, do not hold
  NoRule,         // "no-rule": no rule asks for its operator
  NoProduct,      // "no-product": greedily, no convolution or matrix product is connected with it
  CheaperOnHost,  // "cheaper-on-host": by cost
  HostTarget,     // "host-target": the model is compiled for the host alone
};
std::string_view word(Why why);

// What a layer would take on a target, "host" among them: its own time and that of the values it reads and
// makes, where everything else is as it is.
struct TargetCost {
  std::string target;
  double seconds = 0;
};

struct NodeDecision {
  ir::NodeId node;
  bool accelerator = false;
  Why why = Why::NoRule;
  uint32_t region = 0;  // when on the accelerator
  static constexpr uint32_t kNoCall = UINT32_MAX;
  uint32_t call = kNoCall;  // index into Partition::calls: a library computes it
  bool on_target() const { return accelerator || call != kNoCall; }
  SharedText rule;    // the rule that placed it, or empty
  SharedText reason;  // why it is where it is; a full sentence for CPU nodes
  std::vector<std::shared_ptr<const RuleTrial>> trials;  // equal ones of several nodes are one
  // Among several targets by cost: the least first; null where the host alone can compute it.
  std::shared_ptr<const std::vector<TargetCost>> costs;
};

// By cost among several targets: layers that are compared at one node, of all targets.
inline constexpr size_t kMostOffers = 24;

struct BodyPartition;

struct Partition {
  bool accelerator = false;  // whether there is one
  std::vector<Region> regions;
  uint32_t first_region = 0;          // the id of the first of them; the others follow
  std::vector<BodyPartition> bodies;  // partition_bodies()
  std::vector<Call> calls;
  std::vector<Step> steps;                 // all CPU nodes, regions and calls, in a valid order
  std::vector<NodeDecision> decisions;     // every live node, topological order
  std::vector<ir::NodeId> beyond_regions;  // on the CPU because of Constraint::max_regions
  // By cost: seconds of this partition and of the greedy one, as they were when the choice was made; else 0.
  double chosen_seconds = 0, greedy_seconds = 0;
  // By cost among several targets: how far, at most, the best choice is below this one, as a part of it; and
  // layers that were not looked at, as too many begin at one node.
  double gap = 0;
  size_t left_out = 0;
};

// Of a body of control flow that targets had a say in.
struct BodyPartition {
  const ir::Graph* graph;
  int64_t rounds;  // how often it runs in one run of the model, as ops::body_rounds counts
  Partition partition;
};

// A region, of a body or not, with the graph that it is of.
struct PlacedRegion {
  const ir::Graph* graph;
  const Region* region;
};
// All there are, by id.
std::vector<PlacedRegion> all_regions(const ir::Graph& graph, const Partition& partition);
// Of a body of the graph, or null: it runs on the CPU as a whole.
const Partition* partition_of(const Partition& partition, const ir::Graph& body);

class Accelerator;  // accelerator.h
struct Costs;       // costs.h
struct Library;     // library.h

// When an accelerator has its turn, and with which rules.
struct Turn {
  SoundRules rules = {};  // null: those that come with it
  size_t behind = 0;      // libraries that have theirs before it
};

struct Options {
  std::vector<Turn> turns;              // by Accelerator::parts(); for those that are not there, Turn()
  std::vector<std::string> cpu, accel;  // patterns: node names or operator types, * and ? allowed
  std::vector<std::pair<std::string, Precision>> precisions;  // patterns of values
  std::set<std::string> borders;  // node names in front of which a new region must start
  // Constraints that were resolved before the passes; those above are patterns for the graph as it is now.
  std::shared_ptr<const Pins> pins;
  // Libraries take what their rules match, each before those behind it. Null: there are none.
  const std::vector<Library>* libraries = nullptr;
  int64_t batch = 1;
  // What conditions of rules can ask of values; null: nothing is known.
  const range::Knowledge* known = nullptr;
  // By cost rather than greedily; null: what rules take goes to the accelerator where a product is near.
  const Costs* costs = nullptr;
  // The graph is a body: what options name may be elsewhere in the model.
  bool of_body = false;
  // Instead of both: layers with one of these nodes, by id, are the host's, all others the accelerator's.
  const std::vector<bool>* decided = nullptr;
  // Among several targets by cost, instead of a choice: the one of before, of a graph whose nodes had the
  // same ids; nodes that it does not know are the host's.
  const Partition* before = nullptr;
};

// `accelerator`: null where there is none, as for --target host.
Result<Partition> partition(const ir::Graph& graph, const Accelerator* accelerator, const Options& options);

// Bodies of control flow, each by itself; their regions are numbered behind those of the graph. What runs in
// rounds (Loop, Scan, SequenceMap) is launched in every one of them: its layers go to the accelerator by
// cost, or where --accel names one. A body with nodes that a constraint on borders, groups or numbers of
// regions names stays on the CPU, and one of a graph that `partition` has no accelerator for.
Status partition_bodies(const ir::Graph& graph, const Accelerator* accelerator, const Options& options,
                        Partition& partition);

// The nodes that the host computes in a step, itself or through a library, in order; none of a region.
inline std::vector<ir::NodeId> nodes_of(const Step& step, const Partition& partition) {
  if (step.kind == Step::Kind::Call) return partition.calls[step.call].nodes;
  return step.kind == Step::Kind::Cpu ? std::vector{step.node} : std::vector<ir::NodeId>();
}

// Every node on the CPU, in program order: for graphs that no target has a say in, such as bodies of control
// flow. Without decisions.
inline Partition host_partition(const ir::Graph& graph) {
  Partition out;
  for (ir::NodeId n : graph.topological_order()) out.steps.push_back({Step::Kind::Cpu, n, 0});
  return out;
}

}  // namespace mrvlc::partition
