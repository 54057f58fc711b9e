// The owned IR. A Graph holds values and nodes in id-indexed stores (ids are never reused), its inputs and
// outputs, the table of ONNX sources and the lineage of every node ever made. Values are single-assignment
// tensors with static types. Only the Rewriter (rewriter.h) changes def-use; everybody else reads.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "mrvlc/ir/schema.h"
#include "mrvlc/support/id.h"

namespace mrvlc::ir {

using NodeId = Id<struct NodeTag>;      // also the expression id ("expr_id") of the ID map
using ValueId = Id<struct ValueTag>;    // an invalid one in an input list: optional input not given
using SourceId = Id<struct SourceTag>;  // an ONNX node of the model

struct Metadata;       // metadata.h
struct ModelMetadata;  // the same

struct Node {
  NodeId id;
  const OpSchema* op = nullptr;
  std::string name;         // the ONNX node's name, or that of the node it was made from
  std::vector<Attr> attrs;  // one slot for each of op->attrs, defaults filled in
  std::vector<ValueId> inputs;
  std::vector<ValueId> outputs;
  int64_t position = 0;  // tie-break of the topological order: program order of the model
  bool erased = false;
  std::vector<uint32_t> use_at;  // inputs[i] == v: v.users[use_at[i]] is this use; kept by Graph and Rewriter

  Op kind() const { return op->kind; }
  // One of these operators.
  template <class... Kinds>
  bool is(Kinds... any) const {
    static_assert((std::is_same_v<Kinds, Op> && ...));
    return ((op->kind == any) || ...);
  }
  // By name, checked against the schema; the attribute must be set and of that type.
  int64_t int_attr(std::string_view attr) const;
  float float_attr(std::string_view attr) const;
  const std::string& string_attr(std::string_view attr) const;
  const std::vector<int64_t>& ints_attr(std::string_view attr) const;  // empty when absent
  bool has_attr(std::string_view attr) const;
};

enum class ValueKind : uint8_t { Input, Constant, Result };

struct Value {
  ValueId id;
  ValueKind kind = ValueKind::Result;
  std::string name;  // ONNX's name; unique in the graph
  TensorType type;
  NodeId producer;  // Result only
  // Constant only, not changed once it is here; most values are none, and room for a tensor is a third of
  // them.
  std::shared_ptr<const Tensor> tensor;
  std::vector<NodeId> users;  // one entry a use, in no order; a node that reads it twice is there twice
  std::vector<uint32_t> user_inputs;  // users[k] reads it as input user_inputs[k]
  uint32_t output_uses = 0;           // how often it is a graph output
  std::vector<NodeId> made_from;      // Constant only: nodes it was folded from
  bool released =
      false;  // Constant only: its last use went away and its bytes with it; must not be used again

  // An empty tensor where there is none.
  const Tensor& constant() const;
};

// An ONNX node, in the main graph, a subgraph or an inlined function.
struct Source {
  std::string id;  // "main/17"; "main/17.then_branch/3"; "main/4:MyFunction/2"
  std::string name, op_type, domain;
  std::vector<std::string> outputs;
  std::shared_ptr<const Metadata> metadata = nullptr;  // metadata_props, and what they say; null: none
};

// How a node came to be; index = NodeId. Kept for erased nodes too.
struct Lineage {
  std::vector<SourceId> sources;  // sorted; empty only of what passes made and erased (lineage.h)
  std::vector<NodeId> from;       // nodes it was made of; empty for imported ones
  std::string pass;               // "import" or the pass that made it
  std::string erased_because;     // empty while the node lives
  bool folded = false;            // of an erased node: Because::folded
};

// What a graph holds, copied member by member; Graph adds to that that bodies are copied with their nodes.
struct GraphTables {
  std::string name;
  std::shared_ptr<const ModelMetadata> metadata;  // of the model, its graph and its functions; null: none
  // Expression ids of this graph's nodes begin here: 0 for the model's graph, see number_expressions.
  uint32_t first_expr = 0;
  // Of a part of another graph (part.h): those of its nodes there. Nodes behind these have that of the node
  // they were made from.
  std::vector<uint32_t> exprs;

 protected:
  int64_t next_auto_name_ = 0;
  std::vector<Node> nodes_;
  std::vector<Value> values_;
  std::vector<Lineage> lineage_;
  std::shared_ptr<std::vector<Source>> sources_ = std::make_shared<std::vector<Source>>();
  std::vector<ValueId> inputs_, outputs_;
};

class Graph : public GraphTables {
 public:
  Graph() = default;
  // A copy has bodies of its own, so that a pass on it leaves the original as it is, in another thread too.
  // Tensors and the table of sources are shared: nobody changes a tensor, and only an importer adds sources.
  Graph(const Graph& other);
  Graph& operator=(const Graph& other);
  Graph(Graph&&) noexcept = default;
  Graph& operator=(Graph&&) noexcept = default;
  ~Graph() = default;

  // An empty graph for the body of a control flow node of this graph: it shares the table of sources.
  Graph new_body() const;
  uint32_t expr_id(NodeId id) const;
  const Node& node(NodeId id) const { return nodes_[id.index()]; }
  const Value& value(ValueId id) const { return values_[id.index()]; }
  const Lineage& lineage(NodeId id) const { return lineage_[id.index()]; }
  const std::vector<Source>& sources() const { return *sources_; }
  const std::vector<ValueId>& inputs() const { return inputs_; }
  const std::vector<ValueId>& outputs() const { return outputs_; }
  size_t node_slots() const { return nodes_.size(); }  // ids ever given, erased ones included
  size_t value_slots() const { return values_.size(); }

  // Live nodes, producers before users; ties by position, then id. Iterative and linear (times a log).
  std::vector<NodeId> topological_order() const;
  bool is_constant(ValueId id) const { return id.valid() && value(id).kind == ValueKind::Constant; }
  // The tensor of a constant value, else nullptr.
  const Tensor* constant(ValueId id) const { return is_constant(id) ? &value(id).constant() : nullptr; }
  bool is_output(ValueId id) const { return value(id).output_uses != 0; }
  // Uses by live nodes plus uses as a graph output.
  size_t use_count(ValueId id) const;
  std::optional<ValueId> find_value(std::string_view value_name) const;  // linear; for tools

  // Building (importer, parser). The Rewriter is the way for everybody else.
  // Room for a graph of about so many nodes, values and sources, and what passes add: none need be moved
  // while it grows.
  void reserve(size_t nodes, size_t values, size_t sources);
  SourceId add_source(Source source);
  ValueId add_input(std::string value_name, TensorType type);
  ValueId add_constant(std::string value_name, Tensor tensor);
  // Outputs get `types` and `output_names` (an empty name is made unique).
  NodeId add_node(const OpSchema& op, std::string node_name, std::vector<ValueId> inputs,
                  std::vector<Attr> attrs, std::vector<TensorType> types,
                  std::vector<std::string> output_names, Lineage lineage);
  void add_output(ValueId id);

 private:
  friend class Rewriter;
  // Def-use in constant time a use, whatever the fan-out.
  void add_use(NodeId user, size_t input);
  void drop_use(NodeId user, size_t input);
  ValueId new_value(ValueKind kind, std::string value_name, TensorType type);
  // Values without a name of the model are called %0, %1, ...; numbers taken by read-back text are not given
  // again.
  void reserve_auto_name(std::string_view value_name);
};

// What to call a value outside: its name, or where a pass gave it a number, that of the constant which it was
// made of ("%7.NAME", see Rewriter::constant), or of the node that makes or reads it.
std::string readable_name(const Graph& graph, ValueId value);

// The bodies of a node, in the order of its attributes.
std::vector<const Graph*> bodies_of(const Node& node);
// The same, to be changed: a body belongs to its node alone, so who may change the graph may change it.
std::vector<Graph*> mutable_bodies_of(Graph& graph, NodeId node);
// Calls visit(graph) for every body in the graph, inner ones behind the one they are in, in program order.
void for_each_body(const Graph& graph, const std::function<void(const Graph&)>& visit);
void for_each_mutable_body(Graph& graph, const std::function<void(Graph&)>& visit);
// Gives every body a range of expression ids of its own, behind those of the graph; once no pass will add
// nodes.
void number_expressions(Graph& graph);

// Slots for every attribute of `op` with its defaults; for add_node callers to override.
std::vector<Attr> default_attrs(const OpSchema& op);
// Sets a slot by name; the name must be in the schema.
void set_attr(const OpSchema& op, std::vector<Attr>& attrs, std::string_view attr, Attr value);

}  // namespace mrvlc::ir
