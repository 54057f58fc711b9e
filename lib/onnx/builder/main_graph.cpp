// The model's main graph: its inputs and outputs, and what the model declares of them.
#include <fmt/ranges.h>

#include <algorithm>

#include "bound_inputs.h"
#include "builder/builder.h"
#include "mrvlc/ir/pass_names.h"
#include "mrvlc/ops/op_kind.h"
#include "mrvlc/support/diag/onnx.h"
#include "mrvlc/support/nearest.h"

namespace mrvlc::onnx {
namespace {

// How often a node of the file may be built, beyond what small files may do.
constexpr int64_t kTimesBuilt = 16;

// "f32[1,?,8]": what the model says of a value's type.
std::string declared_text(const pb::TypeProto::Tensor& type) {
  std::vector<std::string> dims;
  for (const auto& dim : type.shape().dim()) {
    dims.push_back(dim.has_dim_value() ? std::to_string(dim.dim_value()) : "?");
  }
  std::string elem = element_type_text(type.elem_type());
  return type.has_shape() ? fmt::format("{}[{}]", elem, fmt::join(dims, ",")) : elem;
}

bool same_elem(const pb::TypeProto::Tensor& declared, ElementType computed) {
  return declared.elem_type() == 0 || declared.elem_type() == static_cast<int32_t>(computed);
}

// Dynamic dimensions (symbols, -1) agree with anything.
bool same_shape(const pb::TypeProto::Tensor& declared, const TensorType& type) {
  const Shape& computed = type.shape;
  if (!declared.has_shape()) return true;
  if (declared.shape().dim_size() != static_cast<int>(computed.size())) return false;
  for (size_t i = 0; i < computed.size(); ++i) {
    const auto& dim = declared.shape().dim(static_cast<int>(i));
    if (type.is_dynamic(static_cast<int64_t>(i))) continue;
    if (dim.has_dim_value() && dim.dim_value() != -1 && dim.dim_value() != computed[i]) return false;
  }
  return true;
}

}  // namespace

bool Builder::check_size() {
  int64_t nodes = functions_.expanded_nodes(model_.graph());
  if (nodes > options_.max_nodes) sink_.add(make_diag<DiagCode::MRV0116>(options_.max_nodes));
  nodes_left_ += kTimesBuilt * functions_.nodes(model_.graph());
  return !sink_.has_errors();
}

bool Builder::build(const Opsets& opsets) {
  if (!model_.has_graph()) sink_.add(make_diag<DiagCode::MRV0104>());
  if (!check_size()) return false;
  pb::GraphProto& graph = *model_.mutable_graph();
  graph_->name = graph.name();
  graph_->metadata = metadata_.of_model();
  collect_main_names(graph);
  const auto nodes = static_cast<size_t>(graph.node_size());
  graph_->reserve(nodes, main_names_.size(), nodes);
  for (int i = 0; i < graph.node_size(); ++i)
    add_source("main", graph.node(i), static_cast<size_t>(i), std::nullopt);
  if (sink_.has_errors()) return false;
  Scope scope;
  scope.opsets = &opsets;
  scope.values.reserve(main_names_.size());
  note_declared(scope, graph);
  add_inputs(scope, graph);
  add_initializers(scope, graph);
  warn_of_defaults(scope);
  add_nodes(scope, *graph.mutable_node());
  add_outputs(scope, graph);
  check_declared(scope, graph);
  metadata_.report(sink_);
  return !sink_.has_errors();
}

void Builder::collect_main_names(const pb::GraphProto& graph) {
  main_names_.reserve(static_cast<size_t>(graph.node_size()) + static_cast<size_t>(graph.initializer_size()));
  for (const auto& input : graph.input()) main_names_.insert(input.name());
  for (const auto& node : graph.node()) main_names_.insert(node.output().begin(), node.output().end());
  // Initializers are emptied as they are read, all but for their names.
  for (const auto& tensor : graph.initializer()) main_names_.insert(tensor.name());
  for (const auto& tensor : graph.sparse_initializer()) main_names_.insert(tensor.values().name());
}

void Builder::add_inputs(Scope& scope, const pb::GraphProto& graph) {
  std::unordered_set<std::string_view> constants, seen;
  for (const auto& tensor : graph.initializer()) constants.insert(tensor.name());
  for (const auto& tensor : graph.sparse_initializer()) constants.insert(tensor.values().name());
  std::vector<const pb::ValueInfoProto*> inputs;
  for (const auto& input : graph.input()) {
    const bool has_default = constants.count(input.name()) != 0;
    if (input.name().empty()) {
      sink_.add(make_diag<DiagCode::MRV0114>("an input"));
    } else if (!seen.insert(input.name()).second) {
      sink_.add(make_diag<DiagCode::MRV0110>(printable(input.name())));
    } else if (has_default && bound_input(options_, input.name()) == nullptr) {
      defaults_.push_back(input.name());
    } else {
      inputs.push_back(&input);
      if (has_default) replaced_.insert(input.name());
    }
  }
  check_bound_names(graph);
  for (InputDecl& input : resolve_inputs(inputs, options_, sink_)) {
    const std::string& name = input.info->name();
    has_batch_ = has_batch_ || input.has_batch;
    Binding binding;
    if (input.bound) {
      binding = {Binding::State::Value, graph_->add_constant(name, *std::move(input.bound))};
      bound_inputs_.push_back(name);
    } else if (input.type) {
      binding = {Binding::State::Value, graph_->add_input(name, *std::move(input.type))};
    }
    scope.values.emplace(name, binding);
  }
}

// Names of --bind that are those of no input.
void Builder::check_bound_names(const pb::GraphProto& graph) {
  std::vector<std::string_view> names;
  std::vector<std::string> shown;
  for (const auto& input : graph.input()) {
    names.push_back(input.name());
    if (shown.size() < 10) shown.push_back("'" + printable(input.name()) + "'");
  }
  for (const auto& [name, value] : options_.bound_inputs) {
    if (std::any_of(names.begin(), names.end(),
                    [&, v = &value](std::string_view n) { return bound_input(options_, n) == v; }))
      continue;
    sink_.add(
        make_diag<DiagCode::MRV0138>(printable(name), did_you_mean(name, names),
                                     shown.empty() ? "none" : fmt::format("{}", fmt::join(shown, ", "))));
  }
}

// Before IR version 4 every initializer had to be listed as an input; that says nothing about overriding it.
void Builder::warn_of_defaults(const Scope& scope) {
  if (defaults_.empty() || model_.ir_version() < 4) return;
  constexpr size_t kMostShown = 5;
  std::vector<std::string> shown;
  for (size_t i = 0; i < std::min(kMostShown, defaults_.size()); ++i)
    shown.push_back("'" + printable(defaults_[i]) + "'");
  if (defaults_.size() > kMostShown) shown.push_back(fmt::format("{} more", defaults_.size() - kMostShown));
  const Binding* first = find(scope, defaults_[0]);
  const Tensor* value = first != nullptr && first->value.valid() ? graph_->constant(first->value) : nullptr;
  std::string example = "FILE.npy";
  if (value != nullptr && value->elements() == 1 && value->elem() != ElementType::String)
    example = is_float(value->elem()) ? fmt::format("{}", value->as_double(0))
                                      : fmt::format("{}", value->as_int(0));
  sink_.add(make_diag<DiagCode::MRV0136>(fmt::format("{}", fmt::join(shown, ", ")),
                                         fmt::format("{}={}", printable(defaults_[0]), example)));
}

// An output that is listed again is one of its own, with another name: positions stay as they are.
ir::ValueId Builder::repeated_output(const std::string& name, ir::ValueId value) {
  const ir::Value& v = graph_->value(value);
  std::string other;
  for (int k = 2; other.empty() || main_names_.count(other) != 0; ++k) other = fmt::format("{}_{}", name, k);
  other = unique_name(std::move(other));
  sink_.add(make_diag<DiagCode::MRV0149>(printable(name), printable(other)));
  ir::Lineage lineage;
  lineage.pass = ir::kImported;
  if (v.kind == ir::ValueKind::Result) {
    lineage.sources = graph_->lineage(v.producer).sources;
  } else if (!graph_->sources().empty()) {
    lineage.sources = {ir::SourceId(size_t{0})};  // an input or a constant: no node made it
  } else {
    return value;
  }
  const ops::OpDef& identity = ops::op_def(Op::Identity);
  TensorType type = v.type;
  ir::NodeId id = graph_->add_node(identity, "", {value}, ir::default_attrs(identity), {std::move(type)},
                                   {std::move(other)}, std::move(lineage));
  return graph_->node(id).outputs[0];
}

void Builder::add_outputs(Scope& scope, const pb::GraphProto& graph) {
  if (graph.output().empty()) sink_.add(make_diag<DiagCode::MRV0105>());
  std::unordered_set<std::string_view> seen;
  for (const auto& output : graph.output()) {
    const std::string& name = output.name();
    if (name.empty()) {
      sink_.add(make_diag<DiagCode::MRV0114>("an output"));
    } else if (main_names_.count(name) == 0) {
      sink_.add(make_diag<DiagCode::MRV0143>(printable(name), "nothing defines it"));
    } else if (const Binding* binding = lookup(scope, name);
               binding != nullptr && binding->state == Binding::State::Value) {
      graph_->add_output(seen.insert(name).second ? binding->value : repeated_output(name, binding->value));
      check_output_type(output, graph_->value(binding->value).type);
    } else if (!sink_.has_errors()) {
      sink_.add(make_diag<DiagCode::MRV0143>(printable(name), "nothing computes it"));
    }
  }
}

// The caller of the generated code relies on the declared element type; a wrong shape of an output is common
// in the wild and the computed one is what counts.
void Builder::check_output_type(const pb::ValueInfoProto& info, const TensorType& computed) {
  const std::string shown = printable(info.name());
  if (!info.has_type()) return;
  if (!info.type().has_tensor_type()) {
    if (computed.wrapper != Wrapper::None) return;
    return sink_.add(make_diag<DiagCode::MRV0143>(shown, "it is declared as something other than a tensor"));
  }
  const auto& declared = info.type().tensor_type();
  if (!same_elem(declared, computed.elem)) {
    sink_.add(make_diag<DiagCode::MRV0142>(shown, declared_text(declared), to_string(computed)));
  } else if (!same_shape(declared, computed)) {
    sink_.add(make_diag<DiagCode::MRV0141>(shown, declared_text(declared), to_string(computed)));
  }
}

void Builder::check_declared(Scope& scope, const pb::GraphProto& graph) {
  for (const auto& info : graph.value_info()) {
    auto it = scope.values.find(info.name());
    if (it == scope.values.end() || it->second.state != Binding::State::Value ||
        !info.type().has_tensor_type())
      continue;
    const auto& declared = info.type().tensor_type();
    const TensorType& computed = graph_->value(it->second.value).type;
    if (same_elem(declared, computed.elem) && same_shape(declared, computed)) continue;
    sink_.add(
        make_diag<DiagCode::MRV0141>(printable(info.name()), declared_text(declared), to_string(computed)));
  }
}

}  // namespace mrvlc::onnx
