#include "mrvlc/ops/open.h"

#include <algorithm>

#include "mrvlc/ops/op.h"
#include "mrvlc/support/diag/ops.h"

namespace mrvlc::ops {

bool has_data_dependent_shape(const ir::OpSchema& op) {
  constexpr std::string_view kNames[] = {"Compress", "If",   "Loop",        "NonMaxSuppression",
                                         "NonZero",  "Scan", "StringSplit", "Unique"};
  return op.domain.empty() && std::find(std::begin(kNames), std::end(kNames), op.name) != std::end(kNames);
}

bool has_open_shapes(const ir::Graph& graph, const ir::Node& node) {
  auto open = [&](ir::ValueId v) { return v.valid() && !graph.value(v).type.is_static(); };
  if (std::any_of(node.inputs.begin(), node.inputs.end(), open)) return true;
  if (std::any_of(node.outputs.begin(), node.outputs.end(), open)) return true;
  const OpDef& def = op_def(node);
  if (def.emit_open == nullptr && def.infer_open == nullptr) return false;
  auto types = def.infer(infer_context(graph, node));
  return !types.ok() && types.error().code == DiagCode::MRV0207;
}

}  // namespace mrvlc::ops
