// The operator table, made from ops.def: operators by symbol and by name.
#include <unordered_map>

#include "mrvlc/ops/op.h"
#include "mrvlc/ops/op_kind.h"

namespace mrvlc::ops {

#define MRVLC_OP(op_name) const OpDef& def_##op_name();
#include "mrvlc/ops/ops.def"
#undef MRVLC_OP

namespace {

// The definitions with their symbols, in the order of the symbols.
const std::vector<OpDef>& table() {
  static const std::vector<OpDef> ops = [] {
    std::vector<OpDef> all;
    auto add = [&](const OpDef& def, Op kind) { all.emplace_back(def).kind = kind; };
#define MRVLC_OP(op_name) add(def_##op_name(), Op::op_name);
#include "mrvlc/ops/ops.def"
#undef MRVLC_OP
    return all;
  }();
  return ops;
}

using Key = std::pair<std::string_view, std::string_view>;
struct KeyHash {
  size_t operator()(const Key& key) const {
    const std::hash<std::string_view> hash;
    return hash(key.second) ^ (key.first.empty() ? 0 : hash(key.first) * 31);
  }
};
using Index = std::unordered_map<Key, const OpDef*, KeyHash>;  // looked up only

// Asked several times a node of a model.
const Index& index_by_name() {
  static const Index index = [] {
    Index m;
    for (const OpDef* op : all_ops()) m.emplace(Key{op->domain, op->name}, op);
    return m;
  }();
  return index;
}

class TableRegistry final : public ir::OpRegistry {
 public:
  const ir::OpSchema* find(std::string_view domain, std::string_view name) const override {
    return find_op(domain, name);
  }
};

}  // namespace

const std::vector<const OpDef*>& all_ops() {
  static const std::vector<const OpDef*> ops = [] {
    std::vector<const OpDef*> all;
    for (const OpDef& op : table()) all.push_back(&op);
    return all;
  }();
  return ops;
}

const OpDef* find_op(std::string_view domain, std::string_view name) {
  if (domain == "ai.onnx") domain = "";
  auto it = index_by_name().find(Key{domain, name});
  return it == index_by_name().end() ? nullptr : it->second;
}

const OpDef& op_def(Op op) {
  return table().at(static_cast<size_t>(op) - 1);
}

const OpDef& op_def(const ir::Node& node) {
  return static_cast<const OpDef&>(*node.op);
}

bool rounds_to_integers(const ir::Graph& graph, const ir::Node& node) {
  if (node.is(Op::Cast))
    return is_float(graph.value(node.inputs[0]).type.elem) &&
           is_integer(graph.value(node.outputs[0]).type.elem);
  return traits(node).rounds;
}

const ir::OpRegistry& registry() {
  static const TableRegistry instance;
  return instance;
}

}  // namespace mrvlc::ops
