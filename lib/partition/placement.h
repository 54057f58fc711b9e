// The stages of partitioning: which rule takes which node (place), which layers share a region (regions), the
// result.
#pragma once
#include <map>

#include "mrvlc/partition/accelerator.h"
#include "mrvlc/partition/library.h"
#include "mrvlc/partition/source_rules.h"
#include "mrvlc/rules/matcher.h"

namespace mrvlc::partition {

// Arithmetic between DequantizeLinear and QuantizeLinear that is exact in one layer, which reads the integers
// themselves.
struct ExactChain {
  std::vector<ir::NodeId> nodes;     // the QuantizeLinear first
  std::vector<ir::NodeId> integers;  // the DequantizeLinear whose results they read
};

// What the options ask of a node.
struct NodeConstraints {
  SharedText cpu_pattern, accel_pattern;  // the pattern that names the node, or empty
  bool border = false;
  uint32_t group = 0;                 // of nodes that one region holds alone; 0: none
  uint32_t max_layers = UINT32_MAX;   // of a region that holds it
  SharedText rounded_by;              // the node that rounds its result to integers next, or empty
  SharedText exact_for;               // the node that an error of its result is large for, or empty
  uint32_t exact_chain = UINT32_MAX;  // index into Placement::exact_chains of the one it is in
};

// State while partitioning; vectors are indexed by NodeId.
struct Placement {
  const ir::Graph& graph;
  const Accelerator* accelerator;         // null: there is none
  std::vector<const Accelerator*> parts;  // of it
  // By node: accelerators (a bit each) that took it and gave it back, as no product was among its layers.
  std::vector<uint32_t> given_back;
  std::vector<ir::NodeId> order;  // topological
  std::vector<uint32_t> rank;     // position in `order`
  std::vector<NodeConstraints> constraints;
  std::vector<ExactChain> exact_chains;
  const Pins* pins = nullptr;
  const range::Knowledge* known = nullptr;  // of the graph's values
  std::vector<ir::NodeId> beyond_regions;   // Partition
  std::vector<NodeDecision> decisions;
  std::vector<uint64_t> progress;  // of the best rule that failed
  std::vector<Layer> layers;
  std::vector<Call> calls;  // of libraries; their nodes are in no layer

  static constexpr uint32_t kNone = 0xffffffffu;
  std::vector<uint32_t> layer_of;  // index into layers, or kNone: on the CPU
  std::vector<bool> settled;       // taken by a rule, of kind cpu too

  Placement(const ir::Graph& g, const Accelerator* a);
  const Accelerator& accelerator_of(const Layer& layer) const { return *parts[layer.accelerator]; }
  bool has_borders() const;
  NodeDecision& decision(ir::NodeId n) { return decisions[n.index()]; }
};

// Constraints, and what is known of the nodes; no target has been asked.
Result<Placement> begin_placement(const ir::Graph& graph, const Accelerator* accelerator,
                                  const Options& options);
// When accelerator `part` has its turn.
Turn turn_of(const Options& options, uint32_t part);
// Patterns of the options and constraints of Options::pins; MRV0401 and 0403.
Status read_constraints(Placement& placement, const Options& options);
// Nodes whose results are rounded to integers next; these stay on the CPU unless --accel names them or one
// layer takes the whole of their exact chain.
void find_roundings(Placement& placement);
// The chain that `node` is rounded in; null: its result is not rounded next, or in no chain.
const ExactChain* exact_chain(const Placement& placement, ir::NodeId node);
std::string rounded_reason(const std::string& rounder);
// Nodes whose results are read by what a small error changes much, angles among them; these stay on the CPU
// unless --accel names them.
void find_exact_operands(Placement& placement);
std::string exact_reason(const std::string& reader);
// Tries every rule at every node its anchor names, in the order in which rules decide; for one of the
// accelerators. `sources`: where those of the imported graph matched.
void place_layers(Placement& placement, uint32_t accelerator, const rules::RuleSet& set,
                  const SourceMatches& sources);
// The same with the rules of a library; what they match becomes calls.
void place_calls(Placement& placement, const Library& library);
// Reasons for nodes that nothing has taken, once all rules were tried.
void explain_rest(Placement& placement);
// MRV0402 for every --accel node that no rule takes: the first is the error.
Status check_forced(const Placement& placement);

// Groups layers into regions and orders all work. By product: layers in connected parts without a convolution
// or matrix product go back to the CPU, where their accelerator needs one.
void form_regions(Placement& placement, Partition& out, bool by_product);
// Layers without nodes are gone; those that are left keep their order.
void drop_empty_layers(Placement& placement);
// Whether --accel or a group (Constraint::together) asks for one of its nodes.
bool is_asked_for(const Placement& placement, const Layer& layer);

// Gives layers to the host and forms regions, so that all together takes the least time.
void partition_by_cost(Placement& placement, const Options& options, Partition& out);
// Whether cost decides among targets, or libraries and the host: not among one accelerator's layers alone.
bool chooses_among(const Placement& placement, const Options& options);
// Layers and calls of those targets that take least time all together, whatever the order of --target, which
// decides where two take the same; choice/.
void place_by_cost(Placement& placement, const Options& options, const SourceMatches& sources,
                   Partition& out);
// The same as Options::before says.
void place_as_before(Placement& placement, const Options& options, const SourceMatches& sources);
// Of one accelerator: what its layers take there and on the host, where `on_host` (by layer) is chosen.
void tell_costs(Placement& placement, const Costs& costs, const std::vector<bool>& on_host);
// The same with what was decided before, Options::decided.
void partition_as_decided(Placement& placement, const std::vector<bool>& decided, Partition& out);
// Gives regions back to the CPU, the smallest first, until there are no more than constraints allow; true:
// form regions again.
bool give_back_regions(Placement& placement, const Partition& formed);
// The same for layers at whose border a value that is rounded to integers would pass as fp16: those of exact
// chains that do not read integers, a DequantizeLinear or QuantizeLinear of what lies elsewhere.
bool give_back_rounded(Placement& placement, const Partition& formed);

// For messages: 'name' (Operator), a node without a name by its first result.
std::string shown(const ir::Graph& graph, const ir::Node& node);

// That every constraint holds in what came about, whoever made it; MRV0412 with the reason.
Status check_honoured(const ir::Graph& graph, const Pins& pins, const Partition& partition);

}  // namespace mrvlc::partition
