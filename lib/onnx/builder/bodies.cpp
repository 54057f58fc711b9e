// Nodes that run graphs of their own. A body becomes a graph that sees nothing but its inputs: the formal
// ones, then what it reads from outside, which are inputs of the node behind its ONNX inputs.
#include <algorithm>

#include "builder/builder.h"
#include "mrvlc/ops/control_flow.h"
#include "mrvlc/ops/op_kind.h"
#include "mrvlc/support/diag/general.h"
#include "mrvlc/support/diag/onnx.h"
#include "mrvlc/support/diag/ops.h"

namespace mrvlc::onnx {
namespace {

// A wider type may make others wider in turn; every round opens a dimension at least.
constexpr int kMaxTypings = 8;

pb::GraphProto* graph_attribute(pb::NodeProto& node, std::string_view name) {
  for (auto& attribute : *node.mutable_attribute()) {
    if (attribute.name() == name && attribute.has_g()) return attribute.mutable_g();
  }
  return nullptr;
}

// One element along `axis`.
Result<TensorType> slice_type(const TensorType& type, int64_t axis) {
  if (axis < 0) axis += type.rank();
  if (axis < 0 || axis >= type.rank() || type.wrapper != Wrapper::None)
    return make_diag<DiagCode::MRV0208>("a scanned input has no such axis");
  TensorType out = ops::without_dim(type, axis);
  out.capacity = -1;
  return out;
}

bool makes(const pb::GraphProto& graph, const std::string& name) {
  return std::any_of(graph.node().begin(), graph.node().end(), [&](const pb::NodeProto& node) {
    return std::find(node.output().begin(), node.output().end(), name) != node.output().end();
  });
}

}  // namespace

bool Builder::fill_body(Scope& inner, pb::GraphProto& proto, const std::vector<TensorType>& formals) {
  note_declared(inner, proto);
  for (int i = 0; i < proto.input_size(); ++i) {
    const std::string& name = proto.input(i).name();
    Binding binding{Binding::State::Value,
                    graph_->add_input(ir_name(inner, name), formals[static_cast<size_t>(i)])};
    if (!inner.values.emplace(name, binding).second) sink_.add(make_diag<DiagCode::MRV0110>(printable(name)));
  }
  add_initializers(inner, proto);
  add_nodes(inner, *proto.mutable_node());
  bool whole = true;
  for (const auto& output : proto.output()) {
    const Binding* binding = lookup(inner, output.name());
    if (binding != nullptr && binding->state == Binding::State::Value) {
      graph_->add_output(binding->value);
      continue;
    }
    whole = false;
    // Refused with the node that makes it, or with what that one reads, maybe outside of this body.
    const bool reported = sink_.has_errors() || makes(proto, output.name()) ||
                          (binding != nullptr && binding->state == Binding::State::Poison);
    if (!reported) sink_.add(make_diag<DiagCode::MRV0111>(printable(output.name())));
  }
  return whole && !sink_.has_errors();
}

std::optional<Builder::BodyGraph> Builder::build_body(const Site& site, std::string_view attribute,
                                                      pb::GraphProto& proto,
                                                      const std::vector<TensorType>& formals) {
  if (static_cast<size_t>(proto.input_size()) != formals.size()) {
    report(site, make_diag<DiagCode::MRV0140>(attribute,
                                              fmt::format("is a graph of {} inputs; the node gives it {}",
                                                          proto.input_size(), formals.size())));
    return std::nullopt;
  }
  Scope inner;
  if (!enter(site, inner)) return std::nullopt;
  BodyGraph result{std::make_shared<ir::Graph>(graph_->new_body()), {}};
  Body body{&site.scope, graph_, result.graph.get(), {}};
  inner.body = &body;
  inner.id = fmt::format("{}.{}", graph_->sources()[site.source.index()].id, attribute);
  inner.opsets = site.scope.opsets;
  inner.attributes = site.scope.attributes;
  result.graph->name = inner.id;
  graph_ = result.graph.get();
  bool filled = fill_body(inner, proto, formals);
  known_.erase(graph_);
  sampled_.erase(graph_);
  graph_ = body.outer_graph;
  if (!filled) return std::nullopt;
  result.captures = std::move(body.captures);
  return result;
}

// Is the state's type what the body gives back? If not, it becomes wider; false with `wider` unset: it
// cannot.
Status Builder::settle_state(const Site& site, const pb::GraphProto& proto, size_t result, size_t state,
                             const TensorType& given, TensorType& formal) {
  auto wider = ops::widen_state(formal, given);
  if (!wider) {
    return make_diag<DiagCode::MRV0208>(
        fmt::format("a value that goes round changes from {} to {}", to_string(formal), to_string(given)));
  }
  const auto& outputs = site.node.output();
  const std::string name =
      state < static_cast<size_t>(outputs.size()) ? outputs[static_cast<int>(state)] : "";
  // The declared shape of the node's output, or of the body's.
  if (auto it = site.scope.declared.find(name); it != site.scope.declared.end())
    bound_by(*it->second, true, *wider);
  bound_by(proto.output(static_cast<int>(result)).type(), true, *wider);
  formal = *std::move(wider);
  return finish_bounds(site, name, formal);
}

// Types the states of a loop: as they come in, or wider where the body gives back another shape. The body is
// built once more with the wider types.
std::optional<Builder::BodyGraph> Builder::build_loop_body(const Site& site, pb::GraphProto& proto,
                                                           std::vector<TensorType> formals,
                                                           const States& states) {
  std::vector<std::string> names;
  auto* outer_names = std::exchange(body_names_, &names);
  ++rebuilding_;
  std::optional<BodyGraph> body;
  for (int attempt = 0; attempt < kMaxTypings && !body; ++attempt) {
    for (const std::string& name : std::exchange(names, {})) inner_names_.erase(name);
    auto built = build_body(site, "body", proto, formals);
    if (!built) break;
    const auto& results = built->graph->outputs();
    if (results.size() < states.first_result + states.count) {
      report(site, make_diag<DiagCode::MRV0140>("body", "has too few outputs"));
      break;
    }
    const std::vector<TensorType> before = formals;
    Status status;
    for (size_t s = 0; s < states.count && status.ok(); ++s) {
      const size_t result = states.first_result + s;
      status = settle_state(site, proto, result, s, built->graph->value(results[result]).type,
                            formals[states.first_formal + s]);
    }
    if (!status.ok()) {
      report(site, std::move(status).error());
      break;
    }
    if (formals == before) body = std::move(built);
  }
  --rebuilding_;
  body_names_ = outer_names;
  if (outer_names != nullptr) outer_names->insert(outer_names->end(), names.begin(), names.end());
  if (!body && !sink_.has_errors())
    report(site, make_diag<DiagCode::MRV0208>("the types of the values that go round do not settle"));
  return body;
}

// A branch that cannot run with these shapes is no reason to refuse the model: exporters write tests of
// shapes into the graph. Taking it is an error at run time.
bool Builder::add_branches(const Site& site, const ops::OpDef& op, Pending& pending) {
  constexpr const char* kNames[] = {"then_branch", "else_branch"};
  std::optional<BodyGraph> bodies[2];
  std::vector<Diag> why;
  for (size_t b = 0; b < 2; ++b) {
    pb::GraphProto* proto = graph_attribute(site.node, kNames[b]);
    if (proto == nullptr) {
      report(site, make_diag<DiagCode::MRV0140>(kNames[b], "is required"));
      return false;
    }
    Sink::Trial trial(sink_);
    bodies[b] = build_body(site, kNames[b], *proto, {});
    std::vector<Diag> said = trial.end();
    if (!bodies[b] && why.empty()) why = std::move(said);
    if (!bodies[b]) continue;
    for (Diag& diag : said) sink_.add(std::move(diag));
  }
  if (!bodies[0] && !bodies[1]) {
    for (Diag& diag : why) sink_.add(std::move(diag));
    return false;
  }
  if (bodies[0] && bodies[1]) {
    drop_unlikely(site, pending, bodies);
  } else if (why.empty()) {
    // The branch reads what was refused outside of it, and reported there.
    if (!sink_.has_errors() && !sink_.in_trial())
      report(site, make_diag<DiagCode::MRV0007>("a branch is refused without a reason"));
    return false;
  } else {
    report(site, make_diag<DiagCode::MRV0146>(kNames[bodies[0] ? 1 : 0], why[0].node, why[0].message));
  }
  for (size_t b = 0; b < 2; ++b) {
    if (!bodies[b]) continue;
    pending.inputs.insert(pending.inputs.end(), bodies[b]->captures.begin(), bodies[b]->captures.end());
    ir::set_attr(op, pending.slots, kNames[b], std::shared_ptr<ir::Graph>(std::move(bodies[b]->graph)));
  }
  return true;
}

// Where the branches give tensors of different ranks, and the condition is the same for all samples of
// dynamic dimensions, the other branch goes.
void Builder::drop_unlikely(const Site& site, const Pending& pending, std::optional<BodyGraph> (&bodies)[2]) {
  const ir::ValueId condition = pending.inputs[0];
  const ops::SampledValue* values = condition.valid() ? sampled(condition) : nullptr;
  if (values == nullptr || !((*values)[0] == (*values)[1]) || !((*values)[0] == (*values)[2])) return;
  if ((*values)[0].elem() != ElementType::Bool || (*values)[0].elements() != 1) return;
  const ir::Graph &a = *bodies[0]->graph, &b = *bodies[1]->graph;
  bool fit = a.outputs().size() == b.outputs().size();
  for (size_t i = 0; fit && i < a.outputs().size(); ++i)
    fit = ops::join_types(a.value(a.outputs()[i]).type, b.value(b.outputs()[i]).type).has_value();
  if (fit) return;
  const bool taken = (*values)[0].as_int(0) != 0;
  bodies[taken ? 1 : 0].reset();
  report(site, make_diag<DiagCode::MRV0146>(taken ? "else_branch" : "then_branch", shown_name(site),
                                            "its results have other ranks"));
}

// The types of the body's formal inputs, and which of them are states.
Result<std::vector<TensorType>> Builder::formal_types(const ops::OpDef& op, const Pending& pending,
                                                      States& states) const {
  auto type = [&](size_t i) { return graph_->value(pending.inputs[i]).type; };
  std::vector<TensorType> formals;
  const size_t inputs = pending.inputs.size();
  for (size_t i = op.kind == Op::Loop ? 2 : 0; i < inputs; ++i) {
    if (!pending.inputs[i].valid())
      return make_diag<DiagCode::MRV0208>(fmt::format("input {} is required", i));
  }
  if (op.kind == Op::Loop) {
    states = {2, 1, inputs - 2};
    formals = {TensorType{ElementType::I64, {}}, TensorType{ElementType::Bool, {}}};
    for (size_t i = 2; i < inputs; ++i) formals.push_back(type(i));
  } else if (op.kind == Op::Scan) {
    MRVLC_ASSIGN(ops::ScanParams scan, ops::scan_params(op, pending.slots, inputs));
    states = {0, 0, scan.states};
    for (size_t i = 0; i < inputs; ++i) {
      if (i < scan.states) {
        formals.push_back(type(i));
      } else {
        MRVLC_ASSIGN(auto slice, slice_type(type(i), scan.input_axes[i - scan.states]));
        formals.push_back(std::move(slice));
      }
    }
  } else {
    for (size_t i = 0; i < inputs; ++i) {
      const bool each = type(i).wrapper == Wrapper::Sequence;
      formals.push_back(each ? ops::item_type(type(i)) : type(i));
    }
  }
  return formals;
}

// --max-rounds, of a Loop whose trip count says nothing.
int64_t Builder::limit_of_rounds(const Pending& pending) const {
  const ir::ValueId trips = pending.inputs[0];
  return ops::known_rounds(trips.valid() ? known(trips) : nullptr) ? 0 : options_.max_rounds;
}

bool Builder::add_bodies(const Site& site, const ops::OpDef& op, Pending& pending) {
  pending.inputs.resize(std::max<size_t>(pending.inputs.size(), op.kind == Op::Loop ? 2 : 1));
  if (op.kind == Op::If) return add_branches(site, op, pending);
  pb::GraphProto* proto = graph_attribute(site.node, "body");
  if (proto == nullptr || op.attr_index("body") < 0) {
    report(site, make_diag<DiagCode::MRV0140>("body", proto == nullptr ? "is required" : "is not supported"));
    return false;
  }
  States states;
  auto formals = formal_types(op, pending, states);
  if (!formals.ok()) {
    report(site, std::move(formals).error());
    return false;
  }
  auto body = build_loop_body(site, *proto, *std::move(formals), states);
  if (!body) return false;
  ir::set_attr(op, pending.slots, "formals",
               static_cast<int64_t>(body->graph->inputs().size() - body->captures.size()));
  if (op.kind == Op::Loop) ir::set_attr(op, pending.slots, "max_rounds", limit_of_rounds(pending));
  pending.inputs.insert(pending.inputs.end(), body->captures.begin(), body->captures.end());
  ir::set_attr(op, pending.slots, "body", std::shared_ptr<ir::Graph>(std::move(body->graph)));
  return true;
}

}  // namespace mrvlc::onnx
