#include <map>

#include "mrvlc/ops/op.h"

namespace mrvlc::ops {

#define MRVLC_OP(op_name) const OpDef& def_##op_name();
#include "mrvlc/ops/ops.def"
#undef MRVLC_OP

namespace {

using Key = std::pair<std::string_view, std::string_view>;

const std::map<Key, const OpDef*>& index_by_name() {
  static const std::map<Key, const OpDef*> index = [] {
    std::map<Key, const OpDef*> m;
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
  static const std::vector<const OpDef*> ops = {
#define MRVLC_OP(op_name) &def_##op_name(),
#include "mrvlc/ops/ops.def"
#undef MRVLC_OP
  };
  return ops;
}

const OpDef* find_op(std::string_view domain, std::string_view name) {
  if (domain == "ai.onnx") domain = "";
  auto it = index_by_name().find(Key{domain, name});
  return it == index_by_name().end() ? nullptr : it->second;
}

const OpDef& op_def(const ir::Node& node) {
  return static_cast<const OpDef&>(*node.op);
}

const ir::OpSchema& schema(std::string_view name) {
  return *find_op("", name);
}

const ir::OpRegistry& registry() {
  static const TableRegistry instance;
  return instance;
}

}  // namespace mrvlc::ops
