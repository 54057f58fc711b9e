// One NodeProto after the other: operator, inputs, attributes, inference, the node in the IR.
#include <algorithm>

#include "builder/builder.h"
#include "mrvlc/ir/pass_names.h"
#include "mrvlc/ops/random.h"
#include "mrvlc/support/diag/general.h"
#include "mrvlc/support/diag/onnx.h"
#include "mrvlc/support/diag/ops.h"

namespace mrvlc::onnx {
namespace {

bool has_graph(const pb::NodeProto& node) {
  return std::any_of(node.attribute().begin(), node.attribute().end(),
                     [](const auto& a) { return a.has_g() || a.graphs_size() > 0; });
}

bool known_domain(std::string_view domain) {
  const auto& all = ops::all_ops();
  return domain.empty() ||
         std::any_of(all.begin(), all.end(), [&](const auto* op) { return op->domain == domain; });
}

// Trailing omitted outputs do not count.
size_t output_count(const pb::NodeProto& node) {
  int n = node.output_size();
  while (n > 0 && node.output(n - 1).empty()) --n;
  return static_cast<size_t>(n);
}

size_t bytes_of(const ir::Attr& attr) {
  if (const auto* s = std::get_if<std::string>(&attr)) return s->size();
  if (const auto* v = std::get_if<std::vector<int64_t>>(&attr)) return v->size() * sizeof(int64_t);
  if (const auto* v = std::get_if<std::vector<float>>(&attr)) return v->size() * sizeof(float);
  size_t bytes = 0;
  if (const auto* v = std::get_if<std::vector<std::string>>(&attr)) {
    for (const auto& s : *v) bytes += s.size() + sizeof s;
  }
  return bytes;
}

// Gives back what a node that is built no longer needs: a model's messages would else be in memory beside the
// whole graph. The names of its results stay, tables refer to them.
void forget(pb::NodeProto& node) {
  google::protobuf::RepeatedPtrField<std::string>().Swap(node.mutable_input());
  google::protobuf::RepeatedPtrField<pb::AttributeProto>().Swap(node.mutable_attribute());
  for (std::string* text : {node.release_name(), node.release_op_type(), node.release_doc_string()})
    delete text;
}

}  // namespace

void Builder::add_nodes(Scope& scope, google::protobuf::RepeatedPtrField<pb::NodeProto>& nodes) {
  auto source_of = [&](size_t i) { return fmt::format("{}/{}", scope.id, i); };
  NameScope names;
  names.defined = [&](std::string_view name) { return find(scope, name) != nullptr; };
  names.at = [&](Diag diag, size_t i) {
    const auto& node = nodes[static_cast<int>(i)];
    return at_node(std::move(diag), node.name().empty() ? source_of(i) : node.name(), node.op_type());
  };
  std::optional<ir::SourceId> around;
  if (!scope.callers.empty()) around = scope.callers.back();
  NodeOrder order = order_nodes(nodes, names, sink_);
  if (!order.was_sorted && !std::exchange(told_unsorted_, true)) sink_.add(make_diag<DiagCode::MRV0113>());
  for (uint32_t i : order.nodes) {
    if (sink_.full() || text_bytes_left_ == 0) return;
    if (--nodes_left_ <= 0) {
      if (nodes_left_ == 0)
        sink_.add(make_diag<DiagCode::MRV0117>("functions and loops unfold to too many nodes"));
      return;
    }
    pb::NodeProto& node = nodes[static_cast<int>(i)];
    // The main graph's sources were added up front, in the order of the file.
    ir::SourceId source = scope.is_main() ? ir::SourceId(i) : ir::SourceId();
    if (!scope.is_main())
      source = scope.stands_for ? *scope.stands_for : add_source(scope.id, node, i, around);
    add_node({scope, node, source});
    // What reads the results of a node that was refused is no mistake of its own, also in a body.
    if (sink_.has_errors())
      for (const std::string& output : node.output()) scope.values.try_emplace(output);
    if (scope.is_main()) forget(node);  // others may be built again
  }
}

void Builder::add_node(Site site) {
  if (Function* function = functions_.find(site.node)) return inline_function(site, *function);
  if (auto condition = known_condition(site)) return inline_if(site, *condition);
  if (is_flex_attention(site.node)) return inline_flex_attention(site);
  if (const ContribOp* contrib = contrib_op(site)) return inline_contrib(site, *contrib);
  auto op = resolve_op(site);
  if (!op.ok()) return report(site, std::move(op).error());
  Pending pending;
  if (!gather_inputs(site, pending.onnx_inputs)) return;
  Status status = prepare(site, **op, pending);
  if (status.ok() && has_graph(site.node) && !add_bodies(site, **op, pending)) return;
  if (status.ok()) status = infer(site, **op, pending);
  if (status.ok() && pending.raw.rows_from) status = restore_shape(site, **op, pending);
  if (!status.ok()) return report(site, std::move(status).error());
  if (pending.raw.rows_from) return;  // the node is in the graph already
  insert(site, **op, std::move(pending));
}

Result<const ops::OpDef*> Builder::resolve_op(const Site& site) const {
  const std::string_view domain = canonical_domain(site.node.domain());
  const std::string& type = site.node.op_type();
  if (!known_domain(domain)) return make_diag<DiagCode::MRV0106>(shown_domain(domain));
  auto opset = site.scope.opsets->find(domain);
  if (opset == site.scope.opsets->end()) {
    return make_diag<DiagCode::MRV0103>(shown_domain(domain), "it is not imported, but the node needs it");
  }
  const ops::OpDef* op = ops::find_op(domain, type);
  if (op == nullptr) return make_diag<DiagCode::MRV0107>();
  if (opset->second < op->since_min || opset->second > op->since_max) {
    return make_diag<DiagCode::MRV0108>(opset->second, op->since_min, op->since_max);
  }
  return op;
}

// False when an input is poison.
bool Builder::gather_inputs(const Site& site, std::vector<ir::ValueId>& inputs) {
  inputs.reserve(static_cast<size_t>(site.node.input_size()));
  for (const auto& name : site.node.input()) {
    const Binding* binding = name.empty() ? nullptr : lookup(site.scope, name);
    if (!name.empty() && (binding == nullptr || binding->state == Binding::State::Poison)) return false;
    inputs.push_back(binding == nullptr ? ir::ValueId() : binding->value);
  }
  while (!inputs.empty() && !inputs.back().valid()) inputs.pop_back();
  return true;
}

// The attribute itself, or the one of the function call that it stands for; nullptr when the call gives none.
pb::AttributeProto* Builder::resolve_attribute(const Scope& scope, pb::AttributeProto& attribute) const {
  if (attribute.ref_attr_name().empty()) return &attribute;
  if (scope.attributes == nullptr) return nullptr;
  auto it = scope.attributes->find(attribute.ref_attr_name());
  return it == scope.attributes->end() ? nullptr : it->second;
}

Result<std::vector<std::pair<std::string, ir::Attr>>> Builder::read_attributes(const Site& site) {
  std::vector<std::pair<std::string, ir::Attr>> attributes;
  for (auto& attribute : *site.node.mutable_attribute()) {
    const std::string& name = attribute.name();
    auto bad = [&](std::string_view why) { return make_diag<DiagCode::MRV0140>(printable(name), why); };
    if (std::any_of(attributes.begin(), attributes.end(), [&](const auto& a) { return a.first == name; })) {
      return bad("is given more than once");
    }
    pb::AttributeProto* resolved = resolve_attribute(site.scope, attribute);
    if (resolved == nullptr && site.scope.attributes == nullptr)
      return bad("refers to a function's attribute outside of one");
    if (resolved == nullptr || resolved->has_g()) continue;  // graphs: bodies.cpp
    if (resolved != &attribute && attribute.type() != pb::AttributeProto::UNDEFINED &&
        resolved->type() != pb::AttributeProto::UNDEFINED && attribute.type() != resolved->type()) {
      return bad("refers to an attribute of another type");
    }
    MRVLC_ASSIGN(ir::Attr value, decode_attribute(*resolved, tensors_));
    if (!site.scope.is_main() && !charge(bytes_of(value))) return bad("takes too much memory");
    attributes.emplace_back(name, std::move(value));
  }
  return attributes;
}

Status Builder::prepare(const Site& site, const ops::OpDef& op, Pending& pending) {
  ops::RawNode& raw = pending.raw;
  raw.opset = site.scope.opsets->find(canonical_domain(site.node.domain()))->second;
  raw.op = &op;
  MRVLC_ASSIGN(raw.attrs, read_attributes(site));
  raw.inputs.reserve(pending.onnx_inputs.size());
  raw.input_types.reserve(pending.onnx_inputs.size());
  for (size_t i = 0; i < pending.onnx_inputs.size(); ++i) {
    ir::ValueId in = pending.onnx_inputs[i];
    raw.inputs.push_back(in.valid() ? static_cast<int64_t>(i) : -1);
    raw.input_types.push_back(in.valid() ? graph_->value(in).type : TensorType{});
  }
  raw.num_outputs = output_count(site.node);
  if (op.upgrade != nullptr) MRVLC_TRY(op.upgrade(raw));
  MRVLC_ASSIGN(pending.slots, fill_slots(op, std::move(raw.attrs)));
  ops::set_stream(op, pending.slots, site.source.index());
  return wire_inputs(site, pending);
}

// ValueIds for the inputs in the form that the operator table wants.
Status Builder::wire_inputs(const Site& site, Pending& pending) {
  ops::RawNode& raw = pending.raw;
  const std::string& prefix = graph_->sources()[site.source.index()].id;
  std::vector<ir::ValueId> made;
  pending.inputs.reserve(raw.inputs.size());
  for (size_t k = 0; k < raw.new_constants.size(); ++k) {
    made.push_back(graph_->add_constant(unique_name(fmt::format("{}.constant{}", prefix, k)),
                                        std::move(raw.new_constants[k])));
  }
  for (int64_t in : raw.inputs) {
    auto index = static_cast<size_t>(in >= 0 ? in : -2 - in);
    const auto& from = in >= 0 ? pending.onnx_inputs : made;
    if (in != -1 && index >= from.size())
      return make_diag<DiagCode::MRV0007>("an operator's upgrade names a missing input");
    pending.inputs.push_back(in == -1 ? ir::ValueId() : from[index]);
  }
  while (!pending.inputs.empty() && !pending.inputs.back().valid()) pending.inputs.pop_back();
  for (const auto& [at, shape] : raw.reshapes) MRVLC_TRY(reshape_input(site, at, shape, pending));
  if (raw.rows_from) MRVLC_TRY(flatten_input(site, *raw.rows_from, pending));
  return {};
}

// Types of the results by those of the inputs, and by what is known of these.
Status Builder::infer_inputs(const ops::OpDef& op, Pending& pending) const {
  ops::InferContext context;
  context.op = &op;
  context.attrs = &pending.slots;
  context.num_outputs = pending.raw.num_outputs;
  context.types.reserve(pending.inputs.size());
  context.constants.reserve(pending.inputs.size());
  std::vector<const ops::SampledValue*> sampled_values;
  bool any = false;
  for (ir::ValueId in : pending.inputs) {
    context.types.push_back(in.valid() ? &graph_->value(in).type : nullptr);
    context.constants.push_back(in.valid() ? known(in) : nullptr);
    any = any || (in.valid() && sampled(in) != nullptr);
  }
  if (any) {
    for (ir::ValueId in : pending.inputs) sampled_values.push_back(in.valid() ? sampled(in) : nullptr);
  }
  auto types = any ? ops::infer_types_sampled(op, context, sampled_values) : ops::infer_types(op, context);
  if (any && !types.ok()) types = ops::infer_types(op, context);
  if (!types.ok()) return std::move(types).error();
  pending.types = *std::move(types);
  return {};
}

Status Builder::infer(const Site& site, const ops::OpDef& op, Pending& pending) {
  MRVLC_TRY(infer_inputs(op, pending));
  if (pending.types.size() < pending.raw.num_outputs) {
    return make_diag<DiagCode::MRV0208>(
        fmt::format("has {} outputs; {} are given", pending.types.size(), pending.raw.num_outputs));
  }
  pending.types.resize(pending.raw.num_outputs);
  return bound_types(site, op, pending);
}

ir::Lineage Builder::lineage(const Site& site) const {
  ir::Lineage lineage;
  lineage.sources.reserve(site.scope.callers.size() + 1);
  lineage.sources = site.scope.callers;
  if (!site.scope.stands_for) lineage.sources.push_back(site.source);  // it is the last caller
  lineage.pass = ir::kImported;
  return lineage;
}

void Builder::insert(const Site& site, const ops::OpDef& op, Pending pending) {
  std::vector<std::string> names;
  names.reserve(pending.types.size());
  for (size_t k = 0; k < pending.types.size(); ++k) {
    const std::string& name = site.node.output(static_cast<int>(k));
    const std::string& prefix = graph_->sources()[site.source.index()].id;
    names.push_back(name.empty() ? unique_name(fmt::format("{}.output{}", prefix, k))
                                 : ir_name(site.scope, name));
  }
  ir::NodeId id = graph_->add_node(op, site.node.name(), std::move(pending.inputs), std::move(pending.slots),
                                   std::move(pending.types), std::move(names), lineage(site));
  const ir::Node& node = graph_->node(id);
  for (size_t k = 0; k < node.outputs.size(); ++k) {
    const std::string& name = site.node.output(static_cast<int>(k));
    if (!name.empty()) site.scope.values.try_emplace(name, Binding{Binding::State::Value, node.outputs[k]});
  }
  learn(id);
}

}  // namespace mrvlc::onnx
