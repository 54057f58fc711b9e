// Counts the operators of a model without building its graph.
#include "mrvlc/onnx/operator_use.h"

#include <map>
#include <set>

#include "contrib/contrib.h"
#include "file/wire.h"
#include "mrvlc/onnx/taken_apart.h"
#include "mrvlc/ops/op.h"
#include "mrvlc/support/mapped_file.h"
#include "opsets.h"

namespace mrvlc::onnx {
namespace {

using OperatorName = std::pair<std::string, std::string>;  // domain, name

// Graphs in graphs: protobuf itself refuses messages that nest deeper than this.
void count_nodes(const Nodes& nodes, std::map<OperatorName, int64_t>& counts) {
  for (const auto& node : nodes) {
    ++counts[{std::string(canonical_domain(node.domain())), node.op_type()}];
    for (const auto& attribute : node.attribute()) {
      if (attribute.has_g()) count_nodes(attribute.g().node(), counts);
      for (const auto& graph : attribute.graphs()) count_nodes(graph.node(), counts);
    }
  }
}

bool is_supported(const OperatorName& op) {
  if (ops::find_op(op.first, op.second) != nullptr) return true;
  for (const TakenApart& known : taken_apart()) {
    if (known.domain == op.first && known.name == op.second) return true;
  }
  return false;
}

}  // namespace

Result<std::vector<OperatorUse>> operators_of(const std::filesystem::path& model) {
  MRVLC_ASSIGN(auto file, MappedFile::open(model, uint64_t{INT32_MAX}));
  pb::ModelProto message;
  MRVLC_TRY(parse_message(file->text(), message));
  std::map<OperatorName, int64_t> counts;
  std::set<OperatorName> functions;
  count_nodes(message.graph().node(), counts);
  for (const auto& function : message.functions()) {
    functions.emplace(canonical_domain(function.domain()), function.name());
    count_nodes(function.node(), counts);
  }
  std::vector<OperatorUse> uses;
  for (const auto& [op, nodes] : counts)
    uses.push_back({op.first, op.second, nodes, functions.contains(op) || is_supported(op)});
  return uses;
}

}  // namespace mrvlc::onnx
