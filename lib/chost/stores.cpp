// Where values live. A reshape shares its operand's memory; the operands of a concatenation along the
// outermost varying dimension are computed in place; results that are graph outputs are computed in the
// caller's buffer.
#include <algorithm>

#include "mrvlc/ops/open.h"
#include "program.h"

namespace mrvlc::chost {

StoreId Program::store_of(ir::ValueId value) {
  auto it = value_stores.find(value);
  if (it != value_stores.end()) return it->second;
  const ir::Value& v = graph.value(value);
  Store store;
  store.bytes = memory_bytes(v.type);
  if (v.kind == ir::ValueKind::Constant && v.type.elem == ElementType::String) {
    store.kind = Store::Kind::Strings;
    store.index = module.string_constants++;
    define_strings(*this, v.constant, store.index);
  } else if (v.kind == ir::ValueKind::Constant) {
    store.kind = Store::Kind::Weights;
    store.offset = weights.add(v.constant);
  }
  return value_stores[value] = add_store(store);
}

std::pair<StoreId, int64_t> Program::resolve(StoreId id) const {
  int64_t offset = 0;
  while (stores[id.index()].parent.valid()) {
    offset += stores[id.index()].offset;
    id = stores[id.index()].parent;
  }
  return {id, offset};
}

namespace {

// The root if it is memory of its own that nothing is known of yet, and `store` is all of it.
StoreId movable_root(const Program& program, StoreId store) {
  auto [root, offset] = program.resolve(store);
  const Store& s = program.stores[root.index()];
  bool whole = offset == 0 && s.bytes == program.stores[store.index()].bytes;
  return whole && s.kind == Store::Kind::Arena ? root : StoreId();
}

void place_inputs(Program& program) {
  for (uint32_t i = 0; i < program.graph.inputs().size(); ++i) {
    ir::ValueId value = program.graph.inputs()[i];
    Store store;
    store.kind = Store::Kind::Input;
    store.index = i;
    store.bytes = memory_bytes(program.graph.value(value).type);
    program.value_stores[value] = program.add_store(store);
  }
}

void alias_reshapes(Program& program, std::vector<Unit>& units) {
  for (Unit& unit : units) {
    if (unit.region >= 0 || unit.nodes.size() != 1) continue;
    const ir::Node& node = program.node(unit.nodes[0]);
    if (!is_alias_op(program.graph, node)) continue;
    StoreId from = program.store_of(node.inputs[0]), to = program.store_of(node.outputs[0]);
    program.stores[to.index()].parent = from;
    unit.no_code = true;
  }
}

void place_outputs(Program& program) {
  for (uint32_t i = 0; i < program.graph.outputs().size(); ++i) {
    StoreId store = program.store_of(program.graph.outputs()[i]);
    StoreId root = movable_root(program, store);
    if (root.valid()) {
      program.stores[root.index()].kind = Store::Kind::Output;
      program.stores[root.index()].index = i;
    } else {
      program.output_copies.emplace_back(store, i);
    }
  }
}

void place_concat(Program& program, Unit& unit) {
  const ir::Node& node = program.node(unit.nodes[0]);
  const TensorType& type = program.graph.value(node.outputs[0]).type;
  int64_t axis = node.int_attr("axis");
  if (axis < 0) axis += type.rank();
  for (int64_t d = 0; d < axis; ++d) {
    if (type.shape[static_cast<size_t>(d)] != 1) return;
  }
  StoreId whole = program.store_of(node.outputs[0]);
  int64_t offset = 0;
  bool all = true;
  for (ir::ValueId v : node.inputs) {
    StoreId part = program.store_of(v);
    StoreId root = movable_root(program, part);
    if (root.valid() && root != program.resolve(whole).first) {
      program.stores[root.index()].parent = whole;
      program.stores[root.index()].offset = offset;
    } else {
      all = false;
    }
    offset += program.stores[part.index()].bytes;
  }
  unit.no_code = all;
}

}  // namespace

void assign_stores(Program& program, std::vector<Unit>& units) {
  place_inputs(program);
  alias_reshapes(program, units);
  place_outputs(program);
  for (Unit& unit : units) {
    if (unit.region < 0 && unit.nodes.size() == 1 && program.node(unit.nodes[0]).is(Op::Concat) &&
        program.graph.value(program.node(unit.nodes[0]).outputs[0]).type.elem != ElementType::String &&
        !ops::has_open_shapes(program.graph, program.node(unit.nodes[0])))
      place_concat(program, unit);
  }
}

}  // namespace mrvlc::chost
