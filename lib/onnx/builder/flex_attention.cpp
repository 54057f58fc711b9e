// FlexAttention (ai.onnx.preview -1): attention whose scores and probabilities may pass through graphs of the
// model. It is taken apart into the operators that define it:
//   scores = score_mod(scale * Q K^T)    probabilities = prob_mod(softmax(scores))    Y = probabilities V
// Query heads that share a key and value head are rows of one product. Scores and probabilities are of type
// softmax_precision, by default f32, or f64 when Q is.
#include <cmath>

#include "builder/builder.h"
#include "mrvlc/support/diag/onnx.h"
#include "mrvlc/support/diag/ops.h"

namespace mrvlc::onnx {
namespace {

pb::NodeProto& add(Nodes& nodes, const char* op, std::initializer_list<const char*> inputs,
                   const char* output) {
  pb::NodeProto& node = *nodes.Add();
  node.set_op_type(op);
  for (const char* input : inputs) node.add_input(input);
  node.add_output(output);
  return node;
}

void set_int(pb::NodeProto& node, const char* name, int64_t value) {
  pb::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(pb::AttributeProto::INT);
  attribute.set_i(value);
}

void set_ints(pb::NodeProto& node, const char* name, std::initializer_list<int64_t> values) {
  pb::AttributeProto& attribute = *node.add_attribute();
  attribute.set_name(name);
  attribute.set_type(pb::AttributeProto::INTS);
  for (int64_t v : values) attribute.add_ints(v);
}

struct FlexTypes {
  TensorType q, k, v;
  ElementType precision = ElementType::F32;
  bool shares_heads() const { return q.shape[1] != k.shape[1]; }
  // For Reshape, of [batch, kv heads, queries of all sharing heads, width] and [batch, heads, queries,
  // width]; a width of 0 stays as it is.
  std::vector<int64_t> joined(int64_t width) const { return {0, k.shape[1], -1, width}; }
  std::vector<int64_t> apart(int64_t width) const {
    return {0, q.shape[1], q.is_dynamic(2) ? -1 : q.shape[2], width};
  }
};

Status check_types(const FlexTypes& t) {
  auto refuse = [&](std::string_view why) {
    return make_diag<DiagCode::MRV0205>(to_string(t.q), to_string(t.k), why);
  };
  for (const TensorType* type : {&t.q, &t.k, &t.v}) {
    if (type->wrapper != Wrapper::None || type->rank() != 4) return refuse("Q, K and V must be of rank 4");
    if (type->is_dynamic(1) || type->is_dynamic(3)) return refuse("heads and their size must be known");
    if (type->elem != t.q.elem || !is_float(type->elem))
      return refuse("Q, K and V must be of one float type");
  }
  if (t.k.shape[1] < 1 || t.v.shape[1] != t.k.shape[1] || t.q.shape[1] % t.k.shape[1] != 0)
    return refuse("the heads of Q are no multiple of those of K and V");
  return {};
}

// From q and k to "scores".
void add_scores(Nodes& nodes, const FlexTypes& t) {
  const char* q = "q";
  if (t.shares_heads()) add(nodes, "Reshape", {std::exchange(q, "q joined"), "q rows"}, "q joined");
  add(nodes, "Mul", {q, "scale"}, "scaled");
  set_ints(add(nodes, "Transpose", {"k"}, "turned"), "perm", {0, 1, 3, 2});
  add(nodes, "MatMul", {"scaled", "turned"}, "products");
  if (t.shares_heads()) add(nodes, "Reshape", {"products", "score rows"}, "apart");
  set_int(add(nodes, "Cast", {t.shares_heads() ? "apart" : "products"}, "scores"), "to",
          static_cast<int64_t>(t.precision));
}

// From "weights" and v to "y".
void add_result(Nodes& nodes, const FlexTypes& t) {
  set_int(add(nodes, "Cast", {"v"}, "values"), "to", static_cast<int64_t>(t.precision));
  if (t.shares_heads()) add(nodes, "Reshape", {"weights", "weight rows"}, "joined");
  add(nodes, "MatMul", {t.shares_heads() ? "joined" : "weights", "values"}, "sums");
  if (t.shares_heads()) add(nodes, "Reshape", {"sums", "y rows"}, "apart sums");
  set_int(add(nodes, "Cast", {t.shares_heads() ? "apart sums" : "sums"}, "y"), "to",
          static_cast<int64_t>(t.q.elem));
}

}  // namespace

bool Builder::is_flex_attention(const pb::NodeProto& node) {
  return node.domain() == "ai.onnx.preview" && node.op_type() == "FlexAttention";
}

pb::AttributeProto* Builder::find_attribute(const Site& site, std::string_view name) const {
  for (auto& attribute : *site.node.mutable_attribute()) {
    if (attribute.name() == name) return resolve_attribute(site.scope, attribute);
  }
  return nullptr;
}

// What the graph of an attribute makes of the value; the value itself when there is none.
std::optional<ir::ValueId> Builder::apply_modifier(const Site& site, const char* name, ir::ValueId value) {
  pb::AttributeProto* attribute = find_attribute(site, name);
  if (attribute == nullptr) return value;
  auto refuse = [&](std::string_view why) {
    if (!sink_.has_errors()) report(site, make_diag<DiagCode::MRV0140>(name, why));
    return std::nullopt;
  };
  pb::GraphProto& graph = *attribute->mutable_g();
  if (graph.input_size() != 1 || graph.output_size() != 1)
    return refuse("is no graph of one input and output");
  Scope inner;
  if (!enter(site, inner)) return std::nullopt;
  inner.parent = &site.scope;
  inner.id = fmt::format("{}.{}", graph_->sources()[site.source.index()].id, name);
  inner.opsets = site.scope.opsets;
  inner.attributes = site.scope.attributes;
  inner.values.emplace(graph.input(0).name(), Binding{Binding::State::Value, value});
  add_initializers(inner, graph);
  add_nodes(inner, *graph.mutable_node());
  const Binding* result = lookup(inner, graph.output(0).name());
  if (result == nullptr || result->state != Binding::State::Value) return refuse("gives no result");
  if (graph_->value(result->value).type != graph_->value(value).type)
    return refuse("changes the type of its input");
  return result->value;
}

// Binds q, k and v of the scope, and reads the types and attributes; false when an error was reported.
bool Builder::read_flex_operands(const Site& site, Scope& inner, TensorType (&types)[3],
                                 ElementType& precision, double& scale) {
  static constexpr const char* kNames[] = {"q", "k", "v"};
  if (site.node.input_size() != 3 || site.node.output_size() != 1) {
    report(site, make_diag<DiagCode::MRV0201>("3", site.node.input_size()));
    return false;
  }
  for (int i = 0; i < 3; ++i) {
    const Binding* operand = lookup(site.scope, site.node.input(i));
    if (operand == nullptr || operand->state != Binding::State::Value) return false;
    inner.values.emplace(kNames[i], *operand);
    types[i] = graph_->value(operand->value).type;
  }
  Status status = check_types({types[0], types[1], types[2]});
  precision = types[0].elem == ElementType::F64 ? ElementType::F64 : ElementType::F32;
  if (const auto* given = find_attribute(site, "softmax_precision"); status.ok() && given != nullptr) {
    auto type = element_type_from_onnx(static_cast<int32_t>(given->i()));
    if (!type || !is_float(*type))
      status = make_diag<DiagCode::MRV0140>("softmax_precision", "is no float type");
    precision = type.value_or(precision);
  }
  if (!status.ok()) {
    report(site, std::move(status).error());
    return false;
  }
  const auto* given = find_attribute(site, "scale");
  scale = given != nullptr ? static_cast<double>(given->f())
                           : 1 / std::sqrt(static_cast<double>(std::max<int64_t>(types[0].shape[3], 1)));
  return true;
}

void Builder::inline_flex_attention(const Site& site) {
  Scope inner;
  TensorType types[3];
  ElementType precision{};
  double scale = 0;
  if (!enter(site, inner) || !read_flex_operands(site, inner, types, precision, scale)) return;
  const FlexTypes t{types[0], types[1], types[2], precision};
  const std::string id = graph_->sources()[site.source.index()].id;
  auto bind = [&](const char* name, ir::ValueId value) {
    inner.values.emplace(name, Binding{Binding::State::Value, value});
  };
  auto constant = [&](const char* name, Tensor tensor) {
    bind(name, graph_->add_constant(unique_name(fmt::format("{}/{}", id, name)), std::move(tensor)));
  };
  constant("scale", Tensor::of(t.q.elem, {}, std::vector<double>{scale}));
  if (t.shares_heads()) {
    constant("q rows", Tensor::of(ElementType::I64, {4}, t.joined(t.q.shape[3])));
    constant("score rows", Tensor::of(ElementType::I64, {4}, t.apart(0)));
    constant("weight rows", Tensor::of(ElementType::I64, {4}, t.joined(0)));
    constant("y rows", Tensor::of(ElementType::I64, {4}, t.apart(t.v.shape[3])));
  }
  inner.opsets = site.scope.opsets;
  inner.result_names.try_emplace("y", ir_name(site.scope, site.node.output(0)));
  Nodes stages[3];
  add_scores(stages[0], t);
  set_int(add(stages[1], "Softmax", {"modified"}, "probabilities"), "axis", -1);
  add_result(stages[2], t);
  for (int stage = 0; stage < 3; ++stage) {
    inner.id = fmt::format("{}:{}", id, stage);
    add_nodes(inner, stages[stage]);
    if (stage == 2) break;
    const Binding* made = lookup(inner, stage == 0 ? "scores" : "probabilities");
    if (made == nullptr || made->state != Binding::State::Value) return;
    auto modified = apply_modifier(site, stage == 0 ? "score_mod" : "prob_mod", made->value);
    if (!modified) return;
    bind(stage == 0 ? "modified" : "weights", *modified);
  }
  bind_results(site, inner, {"y"});
}

}  // namespace mrvlc::onnx
