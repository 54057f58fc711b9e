// What can be done about a node that is refused: options and commands that can be typed as they stand.
#include <algorithm>
#include <set>

#include "builder/builder.h"
#include "mrvlc/ops/op_kind.h"
#include "mrvlc/support/diag/onnx.h"
#include "mrvlc/support/diag/ops.h"
#include "mrvlc/support/nearest.h"
#include "mrvlc/support/shell.h"

namespace mrvlc::onnx {
namespace {

constexpr std::string_view kMicrosoft = "com.microsoft";

std::string near_operators(std::string_view domain, std::string_view type) {
  std::vector<std::string_view> names;
  for (const ops::OpDef* op : ops::all_ops())
    if (op->domain == domain) names.push_back(op->name);
  return did_you_mean(type, names);
}

// The node's operator is not in the table.
std::string about_operator(std::string_view domain, std::string_view type, bool known_domain) {
  std::string text;
  if (known_domain) {
    text = fmt::format(": {} has no '{}' that mrvlc knows{}; mrvlc ops lists what there is",
                       domain.empty() ? "ai.onnx" : domain, printable(type), near_operators(domain, type));
  }
  if (domain == kMicrosoft)
    text +=
        "; export without ONNX Runtime's fusions (optimize_model(..., opt_level=0), or "
        "GraphOptimizationLevel.ORT_DISABLE_ALL)";
  return text +
         "; or give the model a function of this name, which a library can compute: mrvlc targets new mylib "
         "--kind call (docs/targets.md)";
}

// A number that the input is compared with on the way, or one that an input of its type can have.
std::string example_value(const ir::Graph& graph, ir::ValueId input) {
  const TensorType& type = graph.value(input).type;
  if (type.elem == ElementType::Bool) return "true";
  for (ir::NodeId id : graph.topological_order()) {
    const ir::Node& n = graph.node(id);
    if (!n.is(Op::Equal) || n.inputs.size() != 2) continue;
    for (size_t i = 0; i < 2; ++i) {
      const Tensor* constant = graph.constant(n.inputs[1 - i]);
      if (n.inputs[i] == input && constant != nullptr && constant->elements() == 1 && !is_float(type.elem))
        return fmt::format("{}", constant->as_int(0));
    }
  }
  return "1";
}

// A name as a shell takes it.
std::string typed_name(const std::string& name) {
  const bool plain = std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == '/' || c == ':' || c == '-';
  });
  const std::string shown = printable(name, 1u << 20);
  return plain && !name.empty() ? shown : shell_quoted(shown);
}

}  // namespace

// --bind of an input that the value follows from; without one a hint at the option.
std::string Builder::bind_example(ir::ValueId value) const {
  constexpr size_t kMostVisited = 1000;
  std::vector<ir::ValueId> open = {value};
  std::set<size_t> seen;
  for (size_t i = 0; i < open.size() && i < kMostVisited; ++i) {
    const ir::Value& v = graph_->value(open[i]);
    if (v.kind == ir::ValueKind::Input && graph_ == &main_ && v.type.elements() == 1)
      return "--bind " + typed_name(v.name) + "=" + example_value(*graph_, open[i]);
    if (v.kind != ir::ValueKind::Result) continue;
    for (ir::ValueId in : graph_->node(v.producer).inputs)
      if (in.valid() && seen.insert(in.index()).second) open.push_back(in);
  }
  return "--bind NAME=VALUE";
}

std::string Builder::remedy(const Site& site, const Diag& diag) const {
  const std::string_view domain = canonical_domain(site.node.domain());
  const std::string& type = site.node.op_type();
  if (diag.code == DiagCode::MRV0107 || diag.code == DiagCode::MRV0106)
    return about_operator(domain, type, diag.code == DiagCode::MRV0107);
  if (diag.code == DiagCode::MRV0202)
    return "; put a Cast in front of it; mrvlc ops --json lists the types that operators take";
  if (diag.code == DiagCode::MRV0140) return "; mrvlc explain MRV0140 says what to do";
  if (diag.code != DiagCode::MRV0208) return "";
  if (type == "If" && domain.empty() && site.node.input_size() == 1) {
    const Binding* condition = find(site.scope, site.node.input(0));
    if (condition != nullptr && condition->state == Binding::State::Value)
      return "; where one of the branches is always taken, say so by the input that decides, e.g. " +
             bind_example(condition->value);
  }
  // Others say it themselves.
  return diag.message.find(';') == std::string::npos ? "; mrvlc explain MRV0208 says what to do" : "";
}

}  // namespace mrvlc::onnx
