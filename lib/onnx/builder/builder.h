// Builds the IR graph from the messages. One Scope is one set of names: the main graph, an inlined function,
// an inlined branch of an If. A value that could not be made (its node was refused) is poison: readers are
// skipped in silence, so one error is one message.
#pragma once
#include <unordered_map>
#include <unordered_set>

#include "attributes.h"
#include "builder/metadata.h"
#include "contrib/contrib.h"
#include "functions.h"
#include "inputs.h"
#include "mrvlc/ops/dynamic_shapes.h"
#include "mrvlc/ops/op.h"
#include "order.h"

namespace mrvlc::onnx {

struct Binding {
  enum class State : uint8_t { Value, Absent, Poison };
  State state = State::Poison;
  ir::ValueId value = {};
};

using AttributeMap = std::unordered_map<std::string_view, pb::AttributeProto*>;

struct Scope;

// A body under construction: what it reads from outside becomes an input of its graph.
struct Body {
  Scope* outer = nullptr;
  ir::Graph* outer_graph = nullptr;
  ir::Graph* graph = nullptr;
  std::vector<ir::ValueId> captures;  // values of the graph around, one for each input behind the formal ones
};

struct Scope {
  Body* body = nullptr;     // of the outermost scope of a body
  Scope* parent = nullptr;  // whose names a subgraph sees too; none for a function
  std::string id = "main";  // prefix of the ids of its sources
  const Opsets* opsets = nullptr;
  const AttributeMap* attributes = nullptr;  // what ref_attr_name refers to; none outside functions
  std::unordered_map<std::string_view, Binding> values;
  std::unordered_map<std::string_view, std::string>
      result_names;  // IR names of the values that the caller reads
  std::unordered_map<std::string_view, const pb::TypeProto*> declared;  // what the model says of values
  std::vector<ir::SourceId> callers;  // nodes that were replaced by this scope's nodes, outermost first
  int depth = 0;
  // Of a node that was taken apart: its nodes are none of the model, they stand for that one.
  std::optional<ir::SourceId> stands_for;

  bool is_main() const { return depth == 0; }
};

class Builder {
 public:
  Builder(pb::ModelProto& model, const ImportOptions& options, TensorDecoder tensors, Sink& sink)
      : model_(model),
        options_(options),
        sink_(sink),
        metadata_(model),
        functions_(model, sink),
        tensors_(std::move(tensors)) {}

  // False when an error was reported.
  bool build(const Opsets& opsets);
  ir::Graph& graph() { return main_; }
  // Inputs that are constants, in the order of the file: those of --bind, then those with a default value.
  std::vector<std::string> bound_inputs() const {
    std::vector<std::string> names(bound_inputs_);
    if (model_.ir_version() >= 4) names.insert(names.end(), defaults_.begin(), defaults_.end());
    return names;
  }
  bool has_batch() const { return has_batch_; }  // Model::has_batch
  std::vector<ModelFile> external_files() const { return tensors_.external_files(); }

 private:
  // An ONNX node and where it stands.
  struct Site {
    Scope& scope;
    pb::NodeProto& node;
    ir::SourceId source;
  };
  // A node on its way into the graph: ONNX inputs, then the form that the operator table wants.
  struct Pending {
    ops::RawNode raw;
    std::vector<ir::ValueId> onnx_inputs;
    std::vector<ir::ValueId> inputs;
    std::vector<ir::Attr> slots;
    std::vector<TensorType> types;
    ir::ValueId whole;  // input 0 before RawNode::rows_from made a matrix of it
  };

  // main.cpp: the main graph's frame
  bool check_size();
  void collect_main_names(const pb::GraphProto& graph);
  void add_inputs(Scope& scope, const pb::GraphProto& graph);
  void check_bound_names(const pb::GraphProto& graph);
  void warn_of_defaults(const Scope& scope);
  void add_outputs(Scope& scope, const pb::GraphProto& graph);
  ir::ValueId repeated_output(const std::string& name, ir::ValueId value);
  void check_declared(Scope& scope, const pb::GraphProto& graph);
  void check_output_type(const pb::ValueInfoProto& info, const TensorType& computed);

  // names.cpp: scopes, names, sources
  // Of the scope, those around it, or the graph around a body, where it is left as it is.
  const Binding* find(const Scope& scope, std::string_view name) const;
  // The same, and a value from outside of a body becomes an input of it.
  const Binding* lookup(Scope& scope, std::string_view name);
  const Binding* capture(Scope& scope, std::string_view name);
  std::string ir_name(const Scope& scope, std::string_view name);
  std::string unique_name(std::string name);
  // `around`: the node whose function or body it is in, if any.
  ir::SourceId add_source(const std::string& scope_id, const pb::NodeProto& node, size_t index,
                          std::optional<ir::SourceId> around);
  void record_sources(const std::string& scope_id, const pb::GraphProto& graph, ir::SourceId around);
  std::string shown_name(const Site& site) const;
  void report(const Site& site, Diag diag);
  // remedies.cpp
  std::string remedy(const Site& site, const Diag& diag) const;
  std::string bind_example(ir::ValueId value) const;
  bool charge(size_t bytes);
  void add_initializers(Scope& scope, pb::GraphProto& graph);
  void add_initializer(Scope& scope, const std::string& name, Result<Tensor> tensor);

  // nodes.cpp: nodes through the operator table
  void add_nodes(Scope& scope, google::protobuf::RepeatedPtrField<pb::NodeProto>& nodes);
  void add_node(Site site);
  Result<const ops::OpDef*> resolve_op(const Site& site) const;
  bool gather_inputs(const Site& site, std::vector<ir::ValueId>& inputs);
  Result<std::vector<std::pair<std::string, ir::Attr>>> read_attributes(const Site& site);
  pb::AttributeProto* resolve_attribute(const Scope& scope, pb::AttributeProto& attribute) const;
  Status prepare(const Site& site, const ops::OpDef& op, Pending& pending);
  Status wire_inputs(const Site& site, Pending& pending);
  Status infer_inputs(const ops::OpDef& op, Pending& pending) const;
  Status infer(const Site& site, const ops::OpDef& op, Pending& pending);
  void insert(const Site& site, const ops::OpDef& op, Pending pending);
  ir::Lineage lineage(const Site& site) const;

  // steps.cpp: nodes around one, which its upgrade wants
  Status reshape_input(const Site& site, size_t at, const Shape& shape, Pending& pending);
  Status flatten_input(const Site& site, int64_t axis, Pending& pending);
  Status restore_shape(const Site& site, const ops::OpDef& op, Pending& pending);
  Result<ir::ValueId> add_step(const Site& site, const ops::OpDef& op, std::vector<ir::ValueId> inputs,
                               std::vector<ir::Attr> slots, std::string_view suffix);

  // declared.cpp: shapes that the model declares, for results whose size is known at run time only
  void note_declared(Scope& scope, const pb::GraphProto& graph);
  Status bound_types(const Site& site, const ops::OpDef& op, Pending& pending);
  static void bound_by(const pb::TypeProto& declared, bool only_bounds, TensorType& type);
  Status finish_bounds(const Site& site, const std::string& name, TensorType& type);

  // inline.cpp: functions and branches
  void inline_function(const Site& site, Function& function);
  void inline_if(const Site& site, bool condition);
  std::optional<bool> known_condition(const Site& site);
  bool enter(const Site& site, Scope& inner);
  void bind_results(const Site& site, Scope& inner, const std::vector<std::string_view>& formals);
  ir::ValueId renamed(const Site& site, ir::ValueId value, const std::string& name);

  // flex_attention.cpp: attention with graphs in it
  static bool is_flex_attention(const pb::NodeProto& node);
  void inline_flex_attention(const Site& site);
  bool read_flex_operands(const Site& site, Scope& inner, TensorType (&types)[3], ElementType& precision,
                          double& scale);
  std::optional<ir::ValueId> apply_modifier(const Site& site, const char* name, ir::ValueId value);
  pb::AttributeProto* find_attribute(const Site& site, std::string_view name) const;

  // contrib_nodes.cpp: operators of ONNX Runtime
  const ContribOp* contrib_op(const Site& site) const;
  void inline_contrib(const Site& site, const ContribOp& op);
  bool read_contrib_operands(const Site& site, Scope& inner, std::vector<const TensorType*>& types,
                             std::vector<const Tensor*>& values, std::vector<std::string>& names);
  static Status write_contrib(const Site& site, const ContribOp& op, Decomposition& decomposition);

  // bodies.cpp: If, Loop, Scan and others that run graphs of their own
  struct BodyGraph {
    std::shared_ptr<ir::Graph> graph;
    std::vector<ir::ValueId> captures;
  };
  // Which inputs and outputs of a body are values that go round.
  struct States {
    size_t first_formal = 0, first_result = 0, count = 0;
  };
  // False when an error was reported.
  bool add_bodies(const Site& site, const ops::OpDef& op, Pending& pending);
  bool add_branches(const Site& site, const ops::OpDef& op, Pending& pending);
  void drop_unlikely(const Site& site, const Pending& pending, std::optional<BodyGraph> (&bodies)[2]);
  Result<std::vector<TensorType>> formal_types(const ops::OpDef& op, const Pending& pending,
                                               States& states) const;
  std::optional<BodyGraph> build_body(const Site& site, std::string_view attribute, pb::GraphProto& proto,
                                      const std::vector<TensorType>& formals);
  bool fill_body(Scope& inner, pb::GraphProto& proto, const std::vector<TensorType>& formals);
  int64_t limit_of_rounds(const Pending& pending) const;
  std::optional<BodyGraph> build_loop_body(const Site& site, pb::GraphProto& proto,
                                           std::vector<TensorType> formals, const States& states);
  Status settle_state(const Site& site, const pb::GraphProto& proto, size_t result, size_t state,
                      const TensorType& given, TensorType& formal);

  // known.cpp: values known at import, for inference alone
  const Tensor* known(ir::ValueId value) const;
  const ops::SampledValue* sampled(ir::ValueId value) const;
  void learn_sampled(const ir::Node& node);
  void learn(ir::NodeId node);
  bool affordable(const ir::Node& node);

  pb::ModelProto& model_;
  const ImportOptions& options_;
  Sink& sink_;
  MetadataTable metadata_;
  FunctionTable functions_;
  TensorDecoder tensors_;
  ir::Graph main_;
  ir::Graph* graph_ = &main_;  // the main graph, or the body under construction
  std::unordered_set<std::string_view>
      main_names_;                               // every name of the main graph: they are kept as they are
  std::unordered_set<std::string> inner_names_;  // names made up for values of inlined scopes
  std::unordered_map<const ir::Graph*, std::unordered_map<uint32_t, Tensor>> known_;  // by graph and value
  // Of values that follow from dynamic dimensions.
  std::unordered_map<const ir::Graph*, std::unordered_map<uint32_t, ops::SampledValue>> sampled_;
  int64_t known_bytes_left_ = int64_t{256} << 20;
  int64_t known_work_left_ = int64_t{1} << 28;  // multiply-adds or so
  // Nodes that may be built, those of functions and of bodies that are built again counted every time.
  int64_t nodes_left_ = 250'000;
  size_t text_bytes_left_ = size_t{1} << 30;  // of names and attributes copied by inlining
  bool told_unsorted_ = false;
  std::vector<std::string> bound_inputs_;
  bool has_batch_ = false;
  std::vector<std::string_view> defaults_;         // inputs with an initializer, which is what they are
  std::unordered_set<std::string_view> replaced_;  // initializers that --bind gives another value
  // Bodies that are built more than once: the sources are those of the first time, the names are given back.
  int rebuilding_ = 0;
  std::unordered_map<std::string, ir::SourceId> body_sources_;  // by id
  std::vector<std::string>* body_names_ = nullptr;
};

}  // namespace mrvlc::onnx
