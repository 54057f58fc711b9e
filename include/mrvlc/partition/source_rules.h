// Rules that say `stage source`: they are matched before the passes, on what the importer made of the model,
// and decide about what the passes made of the nodes that they matched. So are canonical rules that name
// DequantizeLinear, on a graph in which the passes left integer weights behind it.
#pragma once
#include "mrvlc/partition/partition.h"
#include "mrvlc/rules/matcher.h"
#include "mrvlc/target/machine.h"

namespace mrvlc::partition {

struct SourceMatch {
  std::string rule;
  std::vector<ir::SourceId> sources;  // of the nodes matched, sorted
};
using SourceMatches = std::vector<SourceMatch>;

// Every match on the imported graph, rule by rule, in program order; no node is in two matches of one rule.
// `known`: of the values of that graph; null: nothing.
SourceMatches match_sources(const ir::Graph& imported, const rules::RuleSet& set,
                            const target::Machine& machine, const range::Knowledge* known = nullptr);

// The rule names DequantizeLinear, whose results are folded where they are weights.
bool asks_for_integers(const rules::Rule& rule);
// The same as match_sources for canonical rules that ask for integers: `graph` is what the passes make of the
// model when they fold none.
SourceMatches match_integers(const ir::Graph& graph, const rules::RuleSet& set,
                             const target::Machine& machine, const range::Knowledge* known = nullptr);

// partition() with the rules of the imported graph; without their matches they take nothing.
Result<Partition> partition(const ir::Graph& graph, const Accelerator* accelerator, const Options& options,
                            const SourceMatches& sources);

// What the passes made of a match: the live nodes in topological order. Empty, with the reason, where they
// also hold something that was not matched, or are no set with one result. Nothing at all is left of it:
// empty without one.
struct Remains {
  std::vector<ir::NodeId> nodes;
  std::string actual, reason;
};
class SourceNodes {
 public:
  explicit SourceNodes(const ir::Graph& graph);
  Remains of(const SourceMatch& match) const;
  // All live nodes that hold some of it, in topological order.
  std::vector<ir::NodeId> touched(const SourceMatch& match) const;

 private:
  const ir::Graph& graph_;
  std::vector<std::vector<ir::NodeId>> by_source_;
  std::vector<uint32_t> rank_;
};

}  // namespace mrvlc::partition
