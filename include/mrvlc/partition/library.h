// A target that is a library of C functions, as the partitioner sees it.
#pragma once
#include "mrvlc/partition/rules.h"
#include "mrvlc/rules/matcher.h"

namespace mrvlc::partition {

struct Library {
  std::string target;
  SoundRules rules;  // of kind `call` or `cpu`
};

// Whether a match can be a call, and why not; `nodes`: those of the match in topological order.
rules::Verdict callable(const ir::Graph& graph, const rules::Match& match, std::vector<ir::NodeId> nodes);

// The rules of a package; kinds of layers are `call` and `cpu`, and there are no numbers of a machine.
rules::LoadResult load_library_rules(const std::vector<rules::RuleFile>& files);

}  // namespace mrvlc::partition
