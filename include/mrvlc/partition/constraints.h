// What a user asks of the placement, read on the imported graph, before any pass: which ONNX nodes each
// constraint names, and which edges of the graph no pass and no layer may reach across.
#pragma once
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "mrvlc/ir/graph.h"
#include "mrvlc/support/result.h"

namespace mrvlc::partition {

// One constraint: the nodes it names, and what it says about them. docs/placement.md.
struct Constraint {
  std::string given_as;               // "--cpu 'Conv'", for messages
  std::vector<std::string> nodes;     // selectors
  std::vector<std::string> from, to;  // names of tensors: the nodes on the ways between them
  enum class Target : uint8_t { Any, Cpu, Accelerator } on = Target::Any;
  bool before = false, after = false;  // a region's border there
  bool together = false;               // one region holds them, and nothing else
  std::optional<uint32_t> max_layers;  // of each region that holds one of them
  std::optional<uint32_t> max_regions;
};

// A value and a node that reads it.
using BorderEdges = std::set<std::pair<ir::ValueId, ir::NodeId>>;

// Constraints with the ONNX nodes they name.
class Pins {
 public:
  struct Set {
    Constraint constraint;
    std::vector<ir::SourceId> sources;  // sorted
    bool canonical = false;             // names no ONNX node: the operators that passes make are asked

    bool names(ir::SourceId source) const;
  };

  // A selector that names nothing is MRV0401, contradictions are MRV0403 and MRV0411. `rule:` is not resolved
  // here: it is an id by then.
  static Result<Pins> resolve(const ir::Graph& imported, const std::vector<Constraint>& constraints);

  const std::vector<Set>& sets() const { return sets_; }
  // The constraints that hold for the node, of the imported graph or of what passes made of it: it was made
  // of an ONNX node that is named, constants that went into it not counted. Ascending indices of sets().
  std::vector<uint32_t> sets_of(const ir::Graph& graph, ir::NodeId node) const;
  // Whether the node was also made of ONNX nodes that the constraint does not name.
  bool holds_more(const Set& set, const ir::Graph& graph, ir::NodeId node) const;
  // What nothing may be fused across, on the imported graph: 0 where it may; bit 0: a border between regions;
  // 1: nothing else, between nodes of no group.
  int64_t fence(const ir::Graph& imported, ir::ValueId value, ir::NodeId user) const;
  bool fences() const;
  bool empty() const { return sets_.empty(); }

  BorderEdges borders;  // once the passes are over

 private:
  std::vector<ir::SourceId> computed_sources(const ir::Graph& graph, ir::NodeId node) const;
  void add(Set set);
  bool any(const ir::Graph& graph, ir::NodeId node, bool (*of)(const Constraint&)) const;
  int64_t group(const ir::Graph& graph, ir::NodeId node) const;  // of `together`, from 1; 0: none

  std::vector<Set> sets_;
  std::vector<std::vector<uint32_t>> by_source_;  // sets, by SourceId: ascending
  std::vector<uint32_t> canonical_;               // sets
  std::vector<bool> constant_;                    // by SourceId: what it computes is known at compile time
};

// "rule:NAME": the name; empty when the selector is of another kind.
std::string_view rule_selected(std::string_view selector);

}  // namespace mrvlc::partition
