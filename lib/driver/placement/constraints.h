// Constraints on the placement: from options, from a file, and from what a trial placement says.
#pragma once
#include <map>
#include <optional>

#include "mrvlc/driver/options.h"
#include "mrvlc/idmap/source_outcomes.h"
#include "mrvlc/partition/constraints.h"

namespace mrvlc::driver {

using partition::Constraint;

// As options would say it, whoever said it: "--cpu 'Conv' and 2 more".
std::string described(const Constraint& c);

// Those of the command line, in the order of the options.
std::vector<Constraint> constraints_of(const CompileOptions& options);

// A file of --placement: constraints of its own, and of a placement.json where each ONNX node ran.
struct PlacementFile {
  struct Node {
    std::string id, where, target;
    std::optional<uint32_t> region;
    std::optional<std::string> name, op_type, rule, call;
  };
  std::string target;        // the accelerator, or "host"
  std::string model_sha256;  // or empty
  // What it says beside of values, by name, and no compile reads: what holds them, and as what they are
  // stored.
  using ByValue = std::map<std::string, std::string>;
  std::optional<ByValue> precisions, stored;  // nullopt: it does not
  std::vector<Constraint> constraints;
  std::vector<Node> nodes;
};
inline constexpr size_t kMaxPlacementBytes = size_t{256} << 20;
// MRV0413: `shown` is no such file, and where.
Result<PlacementFile> read_placement(const std::string& text, const std::string& shown);

// Where ONNX nodes run when a model is placed and not compiled.
struct AssignedNodes {
  struct Source {
    std::string id, where;  // as placement.json says
    std::string target;     // a library, "host", or empty: the accelerator, or nothing is left to run
    std::optional<uint32_t> region;
    std::string name, op_type;
    std::string rule, call;  // what the placement says of it
  };
  std::vector<Source> sources;
  std::vector<std::pair<std::string, std::string>>
      rules;  // of a node, and an ONNX node it was made of, by id

  AssignedNodes() = default;
  // `machine`: Machine::name of the accelerator.
  AssignedNodes(const ir::Graph& graph, const partition::Partition& partition, std::string_view machine);
};

// `rule:NAME` as the ids of the nodes that the rule took.
void resolve_rules(std::vector<Constraint>& constraints, const AssignedNodes& placed);
// The file with the ids that its nodes have in this model: those of its own where name and operator are the
// same, else those of the only node of that name and operator. MRV0413: there is none; MRV1071 is said of
// such nodes, MRV1072 of members that were changed and are not read.
Result<PlacementFile> matched(PlacementFile file, const AssignedNodes& placed, const std::string& shown,
                              Diagnostics& diagnostics);
// What the user changed in a placement.json: the differences to what comes about without. MRV0413.
Result<std::vector<Constraint>> changes(const PlacementFile& file, const AssignedNodes& placed,
                                        const std::string& shown);

bool asks_for_rules(const std::vector<Constraint>& constraints);
bool draws_borders(const Constraint& c);
// The same without what draws borders or limits regions.
std::vector<Constraint> without_borders(const std::vector<Constraint>& constraints);
// MRV0412 where an ONNX node of the accelerator came to the CPU because of a border.
Status check_evictions(const std::vector<Constraint>& constraints, const AssignedNodes& before,
                       const ir::Graph& graph, const partition::Partition& partition);

}  // namespace mrvlc::driver
