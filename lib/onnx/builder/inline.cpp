// Calls of model functions, and If nodes whose condition is known, become nodes of the graph around them.
#include "builder/builder.h"
#include "mrvlc/ops/op_kind.h"
#include "mrvlc/support/diag/general.h"
#include "mrvlc/support/diag/onnx.h"

namespace mrvlc::onnx {
namespace {

constexpr int kMaxScopeDepth = 128;

const pb::GraphProto* branch_attribute(const pb::NodeProto& node, std::string_view name) {
  for (const auto& attribute : node.attribute()) {
    if (attribute.name() == name && attribute.has_g()) return &attribute.g();
  }
  return nullptr;
}

}  // namespace

// Sets up the scope of what takes the site's place.
bool Builder::enter(const Site& site, Scope& inner) {
  inner.depth = site.scope.depth + 1;
  inner.callers = site.scope.callers;
  inner.callers.push_back(site.source);
  if (inner.depth <= kMaxScopeDepth) return true;
  report(site, make_diag<DiagCode::MRV0117>(
                   fmt::format("functions and branches nest more than {} levels deep", kMaxScopeDepth)));
  return false;
}

void Builder::inline_function(const Site& site, Function& function) {
  pb::FunctionProto& body = *function.proto;
  auto refuse = [&](std::string why) {
    report(site, make_diag<DiagCode::MRV0115>(printable(body.name()), why));
  };
  if (site.node.input_size() > body.input_size()) {
    return refuse(fmt::format("takes {} inputs, {} are given", body.input_size(), site.node.input_size()));
  }
  if (site.node.output_size() > body.output_size()) {
    return refuse(
        fmt::format("has {} outputs, {} are asked for", body.output_size(), site.node.output_size()));
  }
  Scope inner;
  if (!enter(site, inner)) return;
  inner.id = graph_->sources()[site.source.index()].id + ":" + printable(body.name(), 64);
  inner.opsets = &function.opsets;
  AttributeMap attributes;
  for (auto& attribute : *site.node.mutable_attribute()) {
    pb::AttributeProto* resolved = resolve_attribute(site.scope, attribute);
    if (resolved != nullptr) attributes.emplace(attribute.name(), resolved);
  }
  for (auto& [name, attribute] : function.defaults) attributes.emplace(name, &attribute);
  inner.attributes = &attributes;
  for (int i = 0; i < body.input_size(); ++i) {
    Binding binding{Binding::State::Absent, {}};
    if (i < site.node.input_size() && !site.node.input(i).empty()) {
      const Binding* outer = lookup(site.scope, site.node.input(i));
      binding = outer == nullptr ? Binding{} : *outer;
    }
    if (!inner.values.emplace(body.input(i), binding).second)
      return refuse("has two inputs of the same name");
  }
  std::vector<std::string_view> formals(body.output().begin(), body.output().end());
  for (int k = 0; k < site.node.output_size(); ++k) {
    const std::string& actual = site.node.output(k);
    if (!actual.empty()) inner.result_names.try_emplace(body.output(k), ir_name(site.scope, actual));
  }
  add_nodes(inner, *body.mutable_node());
  bind_results(site, inner, formals);
}

// Nothing when the node is no If, or its condition is not known.
std::optional<bool> Builder::known_condition(const Site& site) {
  if (site.node.op_type() != "If" || !canonical_domain(site.node.domain()).empty()) return std::nullopt;
  if (site.node.input_size() != 1) return std::nullopt;
  const Binding* binding = lookup(site.scope, site.node.input(0));
  if (binding == nullptr || binding->state != Binding::State::Value) return std::nullopt;
  const Tensor* condition = known(binding->value);
  if (condition == nullptr || condition->elem() != ElementType::Bool || condition->elements() != 1)
    return std::nullopt;
  return condition->as_int(0) != 0;
}

void Builder::inline_if(const Site& site, bool condition) {
  const std::string taken = condition ? "then_branch" : "else_branch",
                    other = condition ? "else_branch" : "then_branch";
  const auto* branch = branch_attribute(site.node, taken);
  const auto* dropped = branch_attribute(site.node, other);
  if (branch == nullptr || dropped == nullptr) {
    return report(site, make_diag<DiagCode::MRV0140>(branch == nullptr ? taken : other, "is required"));
  }
  if (branch->input_size() != 0 || branch->output_size() < site.node.output_size()) {
    return report(site, make_diag<DiagCode::MRV0140>(taken, "has the wrong number of inputs or outputs"));
  }
  Scope inner;
  if (!enter(site, inner)) return;
  const std::string id = graph_->sources()[site.source.index()].id;
  inner.parent = &site.scope;
  inner.id = id + "." + taken;
  inner.opsets = site.scope.opsets;
  inner.attributes = site.scope.attributes;
  std::vector<std::string_view> formals;
  for (int k = 0; k < site.node.output_size(); ++k) {
    formals.push_back(branch->output(k).name());
    const std::string& actual = site.node.output(k);
    if (!actual.empty()) inner.result_names.try_emplace(formals.back(), ir_name(site.scope, actual));
  }
  record_sources(id + "." + other, *dropped, site.source);
  // The branch belongs to this node's message, which is ours to change.
  auto& mutable_branch = const_cast<pb::GraphProto&>(*branch);
  add_initializers(inner, mutable_branch);
  add_nodes(inner, *mutable_branch.mutable_node());
  bind_results(site, inner, formals);
}

// Gives the site's outputs the values that the inlined scope made.
void Builder::bind_results(const Site& site, Scope& inner, const std::vector<std::string_view>& formals) {
  for (int k = 0; k < site.node.output_size(); ++k) {
    const std::string& actual = site.node.output(k);
    if (actual.empty()) continue;
    std::string_view formal = formals[static_cast<size_t>(k)];
    const Binding* result = lookup(inner, formal);
    if (result == nullptr || result->state != Binding::State::Value) {
      // Otherwise an error inside was reported already.
      bool reported = sink_.has_errors() || (result != nullptr && result->state == Binding::State::Poison);
      if (!reported) report(site, make_diag<DiagCode::MRV0111>(printable(formal)));
      continue;
    }
    // The first output of this formal has its name reserved; another one that reads the same value gets a new
    // name.
    bool first = true;
    for (int j = 0; j < k; ++j)
      first = first && (formals[static_cast<size_t>(j)] != formal || site.node.output(j).empty());
    std::string name = first ? inner.result_names.at(formal) : ir_name(site.scope, actual);
    ir::ValueId value = renamed(site, result->value, name);
    if (value.valid()) site.scope.values.try_emplace(actual, Binding{Binding::State::Value, value});
  }
}

// The value itself, or a copy where the scope passes on what it was given under another name.
ir::ValueId Builder::renamed(const Site& site, ir::ValueId value, const std::string& name) {
  if (graph_->value(value).name == name) return value;
  const ops::OpDef& identity = ops::op_def(Op::Identity);
  ir::NodeId id = graph_->add_node(identity, site.node.name(), {value}, ir::default_attrs(identity),
                                   {graph_->value(value).type}, {name}, lineage(site));
  learn(id);
  return graph_->node(id).outputs[0];
}

}  // namespace mrvlc::onnx
