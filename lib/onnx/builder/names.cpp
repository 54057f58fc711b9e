// Names of values by scope, unique names in the IR, and the sources that nodes are recorded under.
#include "builder/builder.h"
#include "mrvlc/support/diag/onnx.h"

namespace mrvlc::onnx {

const Binding* Builder::find(const Scope& scope, std::string_view name) const {
  for (const Scope* s = &scope; s != nullptr; s = s->body != nullptr ? s->body->outer : s->parent) {
    if (auto it = s->values.find(name); it != s->values.end()) return &it->second;
  }
  return nullptr;
}

const Binding* Builder::lookup(Scope& scope, std::string_view name) {
  for (Scope* s = &scope; s != nullptr; s = s->parent) {
    if (auto it = s->values.find(name); it != s->values.end()) return &it->second;
    if (s->body != nullptr) return capture(*s, name);
  }
  return nullptr;
}

// What is known at compile time goes into the body as a constant: its shapes may depend on it.
const Binding* Builder::capture(Scope& scope, std::string_view name) {
  Body& body = *scope.body;
  const Binding* outer = lookup(*body.outer, name);
  if (outer == nullptr || outer->state != Binding::State::Value) return outer;
  const ir::Value& value = body.outer_graph->value(outer->value);
  std::string inner_name = unique_name(scope.id + "/" + std::string(name));
  const Tensor* constant = body.outer_graph->constant(outer->value);
  if (const auto& known = known_[body.outer_graph]; constant == nullptr) {
    if (auto it = known.find(outer->value.index()); it != known.end()) constant = &it->second;
  }
  Binding binding{Binding::State::Value, {}};
  if (constant != nullptr) {
    binding.value = body.graph->add_constant(std::move(inner_name), *constant);
  } else {
    binding.value = body.graph->add_input(std::move(inner_name), value.type);
    body.captures.push_back(outer->value);
    if (auto it = sampled_[body.outer_graph].find(outer->value.index());
        it != sampled_[body.outer_graph].end()) {
      ops::SampledValue value_of_samples = it->second;
      sampled_[body.graph].emplace(binding.value.index(), std::move(value_of_samples));
    }
  }
  return &scope.values.emplace(name, binding).first->second;
}

std::string Builder::unique_name(std::string name) {
  while (main_names_.count(name) != 0 || !inner_names_.insert(name).second) name += '\'';
  charge(name.size());
  if (body_names_ != nullptr) body_names_->push_back(name);
  return name;
}

std::string Builder::ir_name(const Scope& scope, std::string_view name) {
  if (auto it = scope.result_names.find(name); it != scope.result_names.end()) return it->second;
  return scope.is_main() ? std::string(name) : unique_name(scope.id + "/" + std::string(name));
}

// Names are copied for every inlined instance: a long name in a body that is called often must not eat the
// memory.
bool Builder::charge(size_t bytes) {
  if (bytes <= text_bytes_left_) {
    text_bytes_left_ -= bytes;
    return true;
  }
  if (text_bytes_left_ != 0)
    sink_.add(make_diag<DiagCode::MRV0117>("names and attributes of inlined nodes take over 1 GiB"));
  text_bytes_left_ = 0;
  return false;
}

ir::SourceId Builder::add_source(const std::string& scope_id, const pb::NodeProto& node, size_t index,
                                 std::optional<ir::SourceId> around) {
  ir::Source source;
  source.id = fmt::format("{}/{}", scope_id, index);
  source.name = node.name();
  source.op_type = node.op_type();
  source.domain = canonical_domain(node.domain());
  source.outputs.assign(node.output().begin(), node.output().end());
  size_t bytes = source.id.size() + source.name.size() + source.op_type.size() + source.domain.size();
  for (const auto& output : source.outputs) bytes += output.size();
  if (!charge(bytes)) return ir::SourceId(size_t{0});
  const auto add = [&] {
    source.metadata = metadata_.of(node, around ? graph_->sources()[around->index()].metadata : nullptr);
    return graph_->add_source(std::move(source));
  };
  if (rebuilding_ == 0) return add();
  auto [it, is_new] = body_sources_.try_emplace(source.id);
  if (is_new) it->second = add();
  return it->second;
}

// Nodes of a branch that is never taken are sources too; they lead to nothing.
void Builder::record_sources(const std::string& scope_id, const pb::GraphProto& graph, ir::SourceId around) {
  for (int i = 0; i < graph.node_size(); ++i) {
    const pb::NodeProto& node = graph.node(i);
    ir::SourceId id = add_source(scope_id, node, static_cast<size_t>(i), around);
    const std::string prefix = graph_->sources()[id.index()].id;
    for (const auto& attribute : node.attribute()) {
      if (attribute.has_g()) record_sources(prefix + "." + attribute.name().substr(0, 64), attribute.g(), id);
    }
  }
}

std::string Builder::shown_name(const Site& site) const {
  if (site.scope.stands_for) {
    const ir::Source& source = graph_->sources()[site.source.index()];
    return source.name.empty() ? source.id : source.name;
  }
  return site.node.name().empty() ? graph_->sources()[site.source.index()].id : site.node.name();
}

void Builder::report(const Site& site, Diag diag) {
  std::string op = site.node.op_type();
  if (std::string_view domain = canonical_domain(site.node.domain()); !domain.empty())
    op = std::string(domain) + "." + op;
  diag.message += remedy(site, diag);
  sink_.add(at_node(std::move(diag), shown_name(site), op));
}

void Builder::add_initializer(Scope& scope, const std::string& name, Result<Tensor> tensor) {
  if (name.empty()) return sink_.add(make_diag<DiagCode::MRV0114>("an initializer"));
  if (find(scope, name) != nullptr) return sink_.add(make_diag<DiagCode::MRV0110>(printable(name)));
  Binding binding;
  if (tensor.ok()) {
    binding = {Binding::State::Value, graph_->add_constant(ir_name(scope, name), *std::move(tensor))};
  } else {
    sink_.add(std::move(tensor).error());
  }
  scope.values.emplace(name, binding);
}

void Builder::add_initializers(Scope& scope, pb::GraphProto& graph) {
  // The messages keep their names, which the scope refers to.
  auto is_replaced = [&](const std::string& name) { return scope.is_main() && replaced_.count(name) != 0; };
  for (auto& tensor : *graph.mutable_initializer()) {
    if (sink_.full()) return;
    if (is_replaced(tensor.name())) continue;
    add_initializer(scope, tensor.name(), tensors_.take(tensor));
  }
  for (auto& tensor : *graph.mutable_sparse_initializer()) {
    if (sink_.full()) return;
    if (is_replaced(tensor.values().name())) continue;
    add_initializer(scope, tensor.values().name(), tensors_.take(tensor));
  }
}

}  // namespace mrvlc::onnx
