// Copies a graph without some nodes: what nobody makes becomes an input, what nobody reads an output.
#include "debug/part.h"

#include "mrvlc/ir/metadata.h"
#include "mrvlc/ir/pass_names.h"
#include "mrvlc/ops/op.h"
#include "mrvlc/support/diag/tools.h"

namespace mrvlc::driver {
namespace {

class PartMaker {
 public:
  PartMaker(const ir::Graph& graph, const Part& part) : from_(graph), part_(part) {
    made_.name = graph.name;
    made_.metadata = graph.metadata;
  }

  Result<ir::Graph> make() {
    for (ir::NodeId id : from_.topological_order())
      if (!part_.without.contains(id)) MRVLC_TRY(add(from_.node(id)));
    for (ir::ValueId v : from_.outputs()) add_output(v);
    for (ir::ValueId v : unread_) add_output(v);
    if (made_.outputs().empty()) return make_diag<DiagCode::MRV1010>();
    return std::move(made_);
  }

 private:
  bool infers() const { return part_.input != nullptr || part_.constant != nullptr; }

  Status add(const ir::Node& n) {
    std::vector<ir::ValueId> inputs;
    for (ir::ValueId v : n.inputs) inputs.push_back(v.valid() ? operand(v) : ir::ValueId());
    std::vector<TensorType> types;
    std::vector<std::string> names;
    for (ir::ValueId v : n.outputs) {
      types.push_back(from_.value(v).type);
      names.push_back(from_.value(v).name);
    }
    if (infers()) {
      MRVLC_ASSIGN(types, inferred(n, inputs));
    }
    ir::Lineage lineage;
    lineage.sources = {
        made_.add_source({fmt::format("main/{}", made_.node_slots()), n.name, std::string(n.op->name),
                          std::string(n.op->domain), names, ir::metadata_of(from_, n.id)})};
    lineage.pass = ir::kImported;
    const ir::NodeId copy = made_.add_node(*n.op, n.name, inputs, n.attrs, std::move(types), names, lineage);
    for (ir::ValueId v : n.inputs)
      if (v.valid()) read_.insert(instead(v));
    for (size_t i = 0; i < n.outputs.size(); ++i) {
      values_[n.outputs[i]] = made_.node(copy).outputs[i];
      // What other nodes read that are not there any more, and what nobody read: one output at least.
      if (i == 0 || !from_.value(n.outputs[i]).users.empty()) unread_.push_back(n.outputs[i]);
    }
    return {};
  }

  Result<std::vector<TensorType>> inferred(const ir::Node& n, const std::vector<ir::ValueId>& inputs) const {
    ops::InferContext context;
    context.op = n.op;
    context.attrs = &n.attrs;
    context.num_outputs = n.outputs.size();
    for (ir::ValueId v : inputs) {
      context.types.push_back(v.valid() ? &made_.value(v).type : nullptr);
      context.constants.push_back(made_.constant(v));
    }
    return ops::infer_types(ops::op_def(n), context);
  }

  ir::ValueId instead(ir::ValueId v) const {
    for (auto at = part_.instead.find(v); at != part_.instead.end(); at = part_.instead.find(v))
      v = at->second;
    return v;
  }

  ir::ValueId operand(ir::ValueId read) {
    const ir::ValueId v = instead(read);
    if (const auto found = values_.find(v); found != values_.end()) return found->second;
    const ir::Value& value = from_.value(v);
    if (value.kind == ir::ValueKind::Constant)
      return values_[v] =
                 made_.add_constant(value.name, part_.constant ? part_.constant(value) : value.constant());
    return values_[v] = made_.add_input(value.name, part_.input ? part_.input(value) : value.type);
  }

  void add_output(ir::ValueId v) {
    const auto found = values_.find(v);
    if (found == values_.end() || made_.value(found->second).kind != ir::ValueKind::Result) return;
    if (made_.is_output(found->second)) return;
    const bool wanted = from_.is_output(v) && !part_.not_outputs.contains(v);
    if (wanted || !read_.contains(v)) made_.add_output(found->second);
  }

  const ir::Graph& from_;
  const Part& part_;
  ir::Graph made_;
  std::map<ir::ValueId, ir::ValueId> values_;  // of the graph, to those of the part
  std::set<ir::ValueId> read_;                 // by nodes of the part
  std::vector<ir::ValueId> unread_;
};

}  // namespace

Result<ir::Graph> make_part(const ir::Graph& graph, const Part& part) {
  return PartMaker(graph, part).make();
}

}  // namespace mrvlc::driver
