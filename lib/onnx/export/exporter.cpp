// Graphs and bodies with unique names; operators of old opsets restated by those of today; opset imports.
#include "mrvlc/onnx/exporter.h"

#include <algorithm>
#include <map>
#include <unordered_set>

#include "export/encode.h"
#include "mrvlc/ops/op.h"
#include "mrvlc/ops/op_kind.h"
#include "mrvlc/support/diag/onnx.h"
#include "opsets.h"

namespace mrvlc::onnx {
namespace {

constexpr int kIrVersion = 10;  // of 2024, as kLeastOpset
// Attributes of ours that ONNX does not know: ops/control_flow.h, ops/random.h.
constexpr std::string_view kFormals = "formals", kRounds = "max_rounds", kStream = "stream";

// Names that are in use, over all scopes: ONNX forbids that one value hides another, and runtimes that two
// nodes are called the same.
class UniqueNames {
 public:
  std::string unique(std::string wanted) {
    if (taken_.insert(wanted).second) return wanted;
    for (int i = 1;; ++i)
      if (std::string next = fmt::format("{}_{}", wanted, i); taken_.insert(next).second) return next;
  }

 private:
  std::unordered_set<std::string> taken_;
};

struct Names {
  UniqueNames values, nodes;
};

struct Versions {
  int opset = kLeastOpset;
  std::map<std::string, int64_t> domains;  // others than ai.onnx
};

// A graph, or a body of one.
class GraphWriter {
 public:
  enum class Of : uint8_t { Model, Node };
  GraphWriter(Of of, const ir::Graph& graph, Names& names, Versions& versions, pb::GraphProto& out)
      : of_(of), g_(graph), names_(names), versions_(versions), out_(out), named_(graph.value_slots()) {}

  // `outer`: names of the inputs behind the first `formals`, which are values of the graph around it.
  Status write(std::string_view name, size_t formals, std::vector<std::string> outer) {
    out_.set_name(std::string(name));
    for (size_t i = 0; i < g_.inputs().size(); ++i)
      if (i >= formals) named_[g_.inputs()[i].index()] = std::move(outer[i - formals]);
    for (size_t i = 0; i < std::min(formals, g_.inputs().size()); ++i)
      *out_.add_input() = value_info(g_.inputs()[i], name_of(g_.inputs()[i]));
    reserve_outputs();
    for (ir::NodeId id : g_.topological_order()) write_node(g_.node(id));
    for (size_t k = 0; k < g_.outputs().size(); ++k) write_output(k);
    return std::move(problem_);
  }

 private:
  // Outputs keep their names whatever else is called so.
  void reserve_outputs() {
    for (ir::ValueId v : g_.outputs()) {
      if (g_.value(v).kind == ir::ValueKind::Result) name_of(v);
      if (g_.value(v).kind == ir::ValueKind::Constant && !passed_on_.contains(v))
        passed_on_[v] = names_.values.unique(ir::readable_name(g_, v));
    }
  }

  const std::string& name_of(ir::ValueId v) {
    std::string& name = named_[v.index()];
    if (name.empty()) name = names_.values.unique(ir::readable_name(g_, v));
    return name;
  }

  pb::ValueInfoProto value_info(ir::ValueId v, const std::string& name) const {
    pb::ValueInfoProto out;
    out.set_name(name);
    *out.mutable_type() = encode_type(g_.value(v).type);
    return out;
  }

  std::string read(ir::ValueId v) {
    if (!v.valid()) return "";
    const bool first = named_[v.index()].empty();
    const std::string& name = name_of(v);
    if (const Tensor* constant = g_.constant(v); constant != nullptr && first)
      encode_tensor(*constant, name, *out_.add_initializer());
    return name;
  }

  void write_node(const ir::Node& n) {
    const ops::OpDef& op = ops::op_def(n);
    pb::NodeProto& out = *out_.add_node();
    if (!n.name.empty()) out.set_name(names_.nodes.unique(n.name));
    out.set_op_type(std::string(op.name));
    out.set_domain(std::string(op.domain));
    note_version(op);
    const size_t captured = captures(n);
    for (size_t i = 0; i < n.inputs.size(); ++i) {
      std::string name = read(n.inputs[i]);  // a captured constant becomes one of this graph
      if (i + captured < n.inputs.size()) out.add_input(std::move(name));
    }
    for (ir::ValueId v : n.outputs) out.add_output(v.valid() ? name_of(v) : "");
    for (size_t i = 0; i < n.attrs.size(); ++i) write_attribute(n, i, out);
    encode_metadata(g_, n, out);
    restate(n, out);
  }

  // What the IR has and today's ONNX has not.
  void restate(const ir::Node& n, pb::NodeProto& out) {
    if (n.is(Op::Scatter)) out.set_op_type("ScatterElements");
    if (n.is(Op::Upsample)) restate_upsample(out);
    if (n.is(Op::Resize) && n.string_attr("nearest_mode") == "ceil_when_shrinking") restate_resize(n, out);
  }

  static pb::AttributeProto& attribute(pb::NodeProto& node, std::string_view name) {
    for (auto& a : *node.mutable_attribute())
      if (a.name() == name) return a;
    pb::AttributeProto& added = *node.add_attribute();
    added.set_name(std::string(name));
    return added;
  }
  static void set_string(pb::NodeProto& node, std::string_view name, const char* value) {
    encode_attribute(std::string(value), std::string(name), attribute(node, name));
  }

  static void restate_upsample(pb::NodeProto& out) {
    out.set_op_type("Resize");
    out.add_input(out.input(1));  // the scales
    out.set_input(1, "");         // there is no region of interest
    set_string(out, "coordinate_transformation_mode", "asymmetric");
    set_string(out, "nearest_mode", "floor");
  }

  // Resize-10 took the next pixel where it shrank, and the one before where it grew.
  void restate_resize(const ir::Node& n, pb::NodeProto& out) {
    const Shape &from = g_.value(n.inputs[0]).type.shape, &to = g_.value(n.outputs[0]).type.shape;
    bool grows = false, shrinks = false;
    for (size_t d = 0; d < from.size(); ++d) {
      grows = grows || to[d] > from[d];
      shrinks = shrinks || to[d] < from[d];
    }
    if (grows && shrinks)
      problem_ = at_node(make_diag<DiagCode::MRV0148>("it grows in one direction and shrinks in another"),
                         n.name, n.op->name);
    set_string(out, "nearest_mode", shrinks ? "ceil" : "floor");
  }

  pb::NodeProto& add(const char* op, const std::vector<std::string>& inputs, const std::string& output) {
    pb::NodeProto& out = *out_.add_node();
    out.set_op_type(op);
    out.set_name(names_.nodes.unique(output + "/" + op));
    for (const std::string& i : inputs) out.add_input(i);
    out.add_output(output);
    return out;
  }
  void note_version(const ops::OpDef& op) {
    if (op.domain.empty()) {
      versions_.opset = std::max(versions_.opset, op.since_min);
    } else {
      const int64_t newest = newest_version(op.domain);
      versions_.domains[std::string(op.domain)] = newest == INT64_MAX ? 1 : newest;
    }
  }

  static size_t formals_of(const ir::Node& n) {
    return n.op->attr_index(kFormals) < 0 ? 0 : static_cast<size_t>(n.int_attr(kFormals));
  }
  static size_t captures(const ir::Node& n) {
    const auto bodies = ir::bodies_of(n);
    return bodies.empty() ? 0 : bodies[0]->inputs().size() - formals_of(n);
  }

  void write_attribute(const ir::Node& n, size_t i, pb::NodeProto& out) {
    const ir::AttrSpec& spec = n.op->attrs[i];
    if (!ir::is_set(n.attrs[i]) || spec.name == kFormals || spec.name == kRounds || spec.name == kStream)
      return;
    if (spec.kind == ir::AttrKind::Graph) return write_body(n, i, out);
    if (!spec.required && n.attrs[i] == spec.default_value) return;
    encode_attribute(n.attrs[i], std::string(spec.name), *out.add_attribute());
  }

  void write_body(const ir::Node& n, size_t i, pb::NodeProto& out) {
    pb::AttributeProto& attribute = *out.add_attribute();
    attribute.set_name(std::string(n.op->attrs[i].name));
    attribute.set_type(pb::AttributeProto::GRAPH);
    const auto& body = *std::get<std::shared_ptr<ir::Graph>>(n.attrs[i]);
    std::vector<std::string> outer;
    for (size_t k = n.inputs.size() - captures(n); k < n.inputs.size(); ++k)
      outer.push_back(name_of(n.inputs[k]));
    Status written = GraphWriter(Of::Node, body, names_, versions_, *attribute.mutable_g())
                         .write(attribute.name(), formals_of(n), std::move(outer));
    if (!written.ok()) problem_ = std::move(written);
  }

  // What no node of this graph makes, or an earlier output is, is passed on by a node: runtimes want it so.
  // They take an input of the model that is an output too as it is, and so both keep their one name.
  void write_output(size_t k) {
    const ir::ValueId v = g_.outputs()[k];
    const auto before = g_.outputs().begin() + static_cast<long>(k);
    const ir::ValueKind kind = g_.value(v).kind;
    const bool again = std::find(g_.outputs().begin(), before, v) != before;
    std::string name = read(v);
    if (again || kind == ir::ValueKind::Constant || (kind == ir::ValueKind::Input && of_ == Of::Node)) {
      const auto kept = passed_on_.find(v);
      const std::string passed =
          again || kept == passed_on_.end() ? names_.values.unique(name + "/output") : kept->second;
      add("Identity", {name}, passed);
      name = passed;
    }
    *out_.add_output() = value_info(v, name);
  }

  const Of of_;
  const ir::Graph& g_;
  Names& names_;
  Versions& versions_;
  pb::GraphProto& out_;
  std::vector<std::string> named_;                // by value; empty: not yet
  std::map<ir::ValueId, std::string> passed_on_;  // constants that are outputs: what these are called
  Status problem_;                                // the last there was
};

void add_opset(pb::ModelProto& model, const std::string& domain, int64_t version) {
  auto& opset = *model.add_opset_import();
  opset.set_domain(domain);
  opset.set_version(version);
}

}  // namespace

Result<std::string> to_onnx(const ir::Graph& graph, std::string_view producer_version) {
  pb::ModelProto model;
  model.set_ir_version(kIrVersion);
  model.set_producer_name("mrvlc");
  model.set_producer_version(std::string(producer_version));
  Names names;
  Versions versions;
  MRVLC_TRY(GraphWriter(GraphWriter::Of::Model, graph, names, versions, *model.mutable_graph())
                .write(graph.name.empty() ? "graph" : graph.name, graph.inputs().size(), {}));
  encode_metadata(graph, model);
  add_opset(model, "", versions.opset);
  for (const auto& [domain, version] : versions.domains) add_opset(model, domain, version);
  std::string out;
  if (model.ByteSizeLong() > INT32_MAX || !model.SerializeToString(&out))
    return make_diag<DiagCode::MRV0147>(model.ByteSizeLong());
  return out;
}

}  // namespace mrvlc::onnx
