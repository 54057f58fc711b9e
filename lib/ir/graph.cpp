// Topological order, use lists, attributes by name, names of values, bodies of control flow, expression ids.
#include "mrvlc/ir/graph.h"

#include <algorithm>
#include <cassert>
#include <queue>

namespace mrvlc::ir {

int OpSchema::attr_index(std::string_view attr) const {
  for (size_t i = 0; i < attrs.size(); ++i) {
    if (attrs[i].name == attr) return static_cast<int>(i);
  }
  return -1;
}

namespace {

const Attr& slot(const Node& node, std::string_view attr) {
  int index = node.op->attr_index(attr);
  assert(index >= 0 && "attribute is not in the operator's schema");
  return node.attrs[static_cast<size_t>(index)];
}

}  // namespace

int64_t Node::int_attr(std::string_view attr) const {
  return std::get<int64_t>(slot(*this, attr));
}
float Node::float_attr(std::string_view attr) const {
  return std::get<float>(slot(*this, attr));
}
const std::string& Node::string_attr(std::string_view attr) const {
  return std::get<std::string>(slot(*this, attr));
}
bool Node::has_attr(std::string_view attr) const {
  return is_set(slot(*this, attr));
}

const std::vector<int64_t>& Node::ints_attr(std::string_view attr) const {
  static const std::vector<int64_t> kEmpty;
  const Attr& a = slot(*this, attr);
  return is_set(a) ? std::get<std::vector<int64_t>>(a) : kEmpty;
}

namespace {

// Program order: what a node was made of decides where a new one stands.
struct Before {
  const Graph& graph;
  std::pair<int64_t, uint32_t> key(NodeId id) const { return {graph.node(id).position, id.index()}; }
  bool operator()(NodeId a, NodeId b) const { return key(a) < key(b); }
};

std::vector<NodeId> program_order(const Graph& graph) {
  std::vector<NodeId> order;
  order.reserve(graph.node_slots());
  for (size_t i = 0; i < graph.node_slots(); ++i) {
    if (!graph.node(NodeId(i)).erased) order.emplace_back(i);
  }
  // Nodes of the model come first and are in order; those that passes made are few.
  const Before before{graph};
  auto made = std::is_sorted_until(order.begin(), order.end(), before);
  std::sort(made, order.end(), before);
  std::inplace_merge(order.begin(), made, order.end(), before);
  return order;
}

bool producers_first(const Graph& graph, const std::vector<NodeId>& order) {
  const Before before{graph};
  auto reads_earlier = [&](NodeId id) {
    return std::ranges::all_of(graph.node(id).inputs, [&](ValueId in) {
      if (!in.valid() || graph.value(in).kind != ValueKind::Result) return true;
      const NodeId producer = graph.value(in).producer;
      return !graph.node(producer).erased && before(producer, id);
    });
  };
  return std::ranges::all_of(order, reads_earlier);
}

// Of the nodes that are ready the first in program order, again and again.
std::vector<NodeId> ready_first(const Graph& graph) {
  std::vector<uint32_t> missing(graph.node_slots(), 0);
  auto later = [before = Before{graph}](NodeId a, NodeId b) { return before(b, a); };
  std::priority_queue<NodeId, std::vector<NodeId>, decltype(later)> ready(later);
  for (size_t i = 0; i < graph.node_slots(); ++i) {
    const Node& n = graph.node(NodeId(i));
    if (n.erased) continue;
    for (ValueId in : n.inputs) {
      if (in.valid() && graph.value(in).kind == ValueKind::Result) ++missing[i];
    }
    if (missing[i] == 0) ready.push(n.id);
  }
  std::vector<NodeId> order;
  while (!ready.empty()) {
    order.push_back(ready.top());
    ready.pop();
    for (ValueId out : graph.node(order.back()).outputs) {
      for (NodeId user : graph.value(out).users) {
        if (--missing[user.index()] == 0) ready.push(user);
      }
    }
  }
  return order;
}

}  // namespace

// Where program order has every producer before its users, taking the first that is ready gives just that.
std::vector<NodeId> Graph::topological_order() const {
  std::vector<NodeId> order = program_order(*this);
  return producers_first(*this, order) ? order : ready_first(*this);
}

size_t Graph::use_count(ValueId id) const {
  return value(id).users.size() + value(id).output_uses;
}

void Graph::add_output(ValueId id) {
  outputs_.push_back(id);
  ++values_[id.index()].output_uses;
}

void Graph::add_use(NodeId user, size_t input) {
  Node& n = nodes_[user.index()];
  if (n.use_at.size() < n.inputs.size()) n.use_at.resize(n.inputs.size(), 0);
  if (!n.inputs[input].valid()) return;
  Value& v = values_[n.inputs[input].index()];
  n.use_at[input] = static_cast<uint32_t>(v.users.size());
  v.users.push_back(user);
  v.user_inputs.push_back(static_cast<uint32_t>(input));
}

// The last use takes the place of the dropped one.
void Graph::drop_use(NodeId user, size_t input) {
  const Node& n = nodes_[user.index()];
  if (!n.inputs[input].valid()) return;
  Value& v = values_[n.inputs[input].index()];
  uint32_t at = n.use_at[input];
  assert(v.users[at] == user && v.user_inputs[at] == input);
  v.users[at] = v.users.back();
  v.user_inputs[at] = v.user_inputs.back();
  nodes_[v.users[at].index()].use_at[v.user_inputs[at]] = at;
  v.users.pop_back();
  v.user_inputs.pop_back();
}

std::optional<ValueId> Graph::find_value(std::string_view value_name) const {
  for (const Value& v : values_) {
    if (v.name == value_name) return v.id;
  }
  return std::nullopt;
}

const Tensor& Value::constant() const {
  static const Tensor kNone;
  return tensor ? *tensor : kNone;
}

void Graph::reserve(size_t nodes, size_t values, size_t sources) {
  // A vector that is full when passes add a few would be copied as a whole. Pages that nobody writes cost
  // nothing.
  const auto with_slack = [](size_t n) { return n + n / 2; };
  nodes_.reserve(with_slack(nodes));
  lineage_.reserve(with_slack(nodes));
  values_.reserve(with_slack(values));
  sources_->reserve(sources);
}

SourceId Graph::add_source(Source source) {
  sources_->push_back(std::move(source));
  return SourceId(sources_->size() - 1);
}

void Graph::reserve_auto_name(std::string_view value_name) {
  // Longer numbers might not fit an int64.
  if (value_name.size() < 2 || value_name.size() > 18 || value_name[0] != '%') return;
  int64_t number = 0;
  for (char c : value_name.substr(1)) {
    if (c == '.') break;
    if (c < '0' || c > '9') return;
    number = number * 10 + (c - '0');
  }
  next_auto_name_ = std::max(next_auto_name_, number + 1);
}

ValueId Graph::new_value(ValueKind kind, std::string value_name, TensorType type) {
  Value v;
  v.id = ValueId(values_.size());
  v.kind = kind;
  v.name = value_name.empty() ? "%" + std::to_string(next_auto_name_) : std::move(value_name);
  reserve_auto_name(v.name);
  v.type = std::move(type);
  values_.push_back(std::move(v));
  return values_.back().id;
}

ValueId Graph::add_input(std::string value_name, TensorType type) {
  inputs_.push_back(new_value(ValueKind::Input, std::move(value_name), std::move(type)));
  return inputs_.back();
}

ValueId Graph::add_constant(std::string value_name, Tensor tensor) {
  ValueId id = new_value(ValueKind::Constant, std::move(value_name), tensor.type());
  values_[id.index()].tensor = std::make_shared<const Tensor>(std::move(tensor));
  return id;
}

NodeId Graph::add_node(const OpSchema& op, std::string node_name, std::vector<ValueId> inputs,
                       std::vector<Attr> attrs, std::vector<TensorType> types,
                       std::vector<std::string> output_names, Lineage lineage) {
  Node n;
  n.id = NodeId(nodes_.size());
  n.op = &op;
  n.name = std::move(node_name);
  n.attrs = std::move(attrs);
  n.inputs = std::move(inputs);
  n.position = static_cast<int64_t>(n.id.index());
  output_names.resize(types.size());
  for (size_t i = 0; i < types.size(); ++i) {
    ValueId out = new_value(ValueKind::Result, std::move(output_names[i]), std::move(types[i]));
    values_[out.index()].producer = n.id;
    n.outputs.push_back(out);
  }
  std::sort(lineage.sources.begin(), lineage.sources.end());
  lineage.sources.erase(std::unique(lineage.sources.begin(), lineage.sources.end()), lineage.sources.end());
  lineage_.push_back(std::move(lineage));
  nodes_.push_back(std::move(n));
  NodeId id = nodes_.back().id;
  for (size_t i = 0; i < nodes_.back().inputs.size(); ++i) add_use(id, i);
  return id;
}

std::vector<Attr> default_attrs(const OpSchema& op) {
  std::vector<Attr> attrs;
  attrs.reserve(op.attrs.size());
  for (const AttrSpec& spec : op.attrs) attrs.push_back(spec.default_value);
  return attrs;
}

void set_attr(const OpSchema& op, std::vector<Attr>& attrs, std::string_view attr, Attr value) {
  int index = op.attr_index(attr);
  assert(index >= 0 && "attribute is not in the operator's schema");
  attrs[static_cast<size_t>(index)] = std::move(value);
}

uint32_t Graph::expr_id(NodeId id) const {
  if (exprs.empty()) return first_expr + id.index();
  while (id.index() >= exprs.size()) id = lineage(id).from.front();
  return exprs[id.index()];
}

Graph::Graph(const Graph& other) : GraphTables(other) {
  for (Node& node : nodes_)
    for (Attr& attr : node.attrs)
      if (auto* body = std::get_if<std::shared_ptr<Graph>>(&attr); body != nullptr && *body != nullptr)
        *body = std::make_shared<Graph>(**body);
}

Graph& Graph::operator=(const Graph& other) {
  return *this = Graph(other);
}

Graph Graph::new_body() const {
  Graph body;
  body.sources_ = sources_;
  return body;
}

std::string readable_name(const Graph& graph, ValueId id) {
  const Value& value = graph.value(id);
  if (!value.name.starts_with('%')) return value.name;
  if (const size_t dot = value.name.find('.'); dot != std::string::npos) return value.name.substr(dot + 1);
  const bool made = value.producer.valid();
  if (!made && value.users.empty()) return "value";
  const Node& n = graph.node(made ? value.producer : *std::ranges::min_element(value.users));
  const std::string name = n.name.empty() ? std::string(n.op->name) : n.name;
  if (made) return name + "_out";
  return name + "_in" + std::to_string(std::ranges::find(n.inputs, id) - n.inputs.begin());
}

namespace {

std::vector<Graph*> own_bodies(const Node& node) {
  std::vector<Graph*> bodies;
  for (const Attr& attr : node.attrs)
    if (const auto* body = std::get_if<std::shared_ptr<Graph>>(&attr)) bodies.push_back(body->get());
  return bodies;
}

bool has_bodies(const Graph& graph) {
  for (size_t i = 0; i < graph.node_slots(); ++i) {
    const Node& n = graph.node(NodeId(i));
    if (!n.erased && !own_bodies(n).empty()) return true;
  }
  return false;
}

// The importer bounds how deep bodies nest. Most graphs have none and need no order.
template <class G>
void visit_bodies(const Graph& graph, const std::function<void(G&)>& visit) {
  if (!has_bodies(graph)) return;
  for (NodeId id : graph.topological_order()) {
    for (Graph* body : own_bodies(graph.node(id))) {
      visit(*body);
      visit_bodies(*body, visit);
    }
  }
}

}  // namespace

std::vector<const Graph*> bodies_of(const Node& node) {
  const std::vector<Graph*> bodies = own_bodies(node);
  return {bodies.begin(), bodies.end()};
}

void for_each_body(const Graph& graph, const std::function<void(const Graph&)>& visit) {
  visit_bodies(graph, visit);
}

std::vector<Graph*> mutable_bodies_of(Graph& graph, NodeId node) {
  return own_bodies(graph.node(node));
}

void for_each_mutable_body(Graph& graph, const std::function<void(Graph&)>& visit) {
  visit_bodies(graph, visit);
}

void number_expressions(Graph& graph) {
  auto next = static_cast<uint32_t>(graph.node_slots());
  for_each_mutable_body(graph, [&](Graph& body) {
    body.first_expr = next;
    next += static_cast<uint32_t>(body.node_slots());
  });
}

}  // namespace mrvlc::ir
