// Where values live. A reshape shares its operand's memory; the operands of a concatenation along the
// outermost varying dimension are computed in place; results that are graph outputs are computed in the
// caller's buffer.
#include <algorithm>

#include "mrvlc/ops/attributes.h"
#include "mrvlc/ops/dynamic_shapes.h"
#include "mrvlc/ops/op_kind.h"
#include "mrvlc/partition/partition.h"
#include "program.h"

namespace mrvlc::chost {

BufferId Program::place(ir::ValueId value) {
  auto it = value_buffers.find(value);
  if (it != value_buffers.end()) return it->second;
  const ir::Value& v = graph.value(value);
  Buffer buffer;
  buffer.bytes = memory_bytes(v.type);
  if (v.kind == ir::ValueKind::Constant && v.type.elem == ElementType::String) {
    buffer.kind = Buffer::Kind::Strings;
    buffer.index = module.string_constants++;
    define_strings(*this, v.constant(), buffer.index);
  } else if (v.kind == ir::ValueKind::Constant) {
    buffer.kind = Buffer::Kind::Weights;
    buffer.offset = weights.add(v.constant());
  }
  return value_buffers[value] = add_buffer(buffer);
}

Program::Program(const ir::Graph& g, const partition::Partition& p, const Options& o, Module& m)
    : graph(g),
      partition(p),
      regions(std::span(m.regions).subspan(p.first_region, p.regions.size())),
      options(o),
      module(m),
      library(m.library),
      weights(m.weights),
      functions(m.functions),
      without_code(m.without_code),
      error(m.error) {
  call_symbols.resize(p.calls.size());
  for (const partition::Call& call : p.calls)
    for (ir::NodeId n : call.nodes) calls_.emplace(n, &call);
}

std::pair<BufferId, int64_t> Program::resolve(BufferId id) const {
  int64_t offset = 0;
  while (buffers[id.index()].parent.valid()) {
    offset += buffers[id.index()].offset;
    id = buffers[id.index()].parent;
  }
  return {id, offset};
}

namespace {

// The root if it is memory of its own that nothing is known of yet, and `buffer` is all of it.
BufferId movable_root(const Program& program, BufferId buffer) {
  auto [root, offset] = program.resolve(buffer);
  const Buffer& s = program.buffers[root.index()];
  bool whole = offset == 0 && s.bytes == program.buffers[buffer.index()].bytes;
  return whole && s.kind == Buffer::Kind::Arena ? root : BufferId();
}

void place_inputs(Program& program) {
  for (uint32_t i = 0; i < program.graph.inputs().size(); ++i) {
    ir::ValueId value = program.graph.inputs()[i];
    Buffer buffer;
    buffer.kind = Buffer::Kind::Input;
    buffer.index = i;
    buffer.bytes = memory_bytes(program.graph.value(value).type);
    program.value_buffers[value] = program.add_buffer(buffer);
  }
}

void alias_reshapes(Program& program, std::vector<FusionGroup>& groups) {
  for (FusionGroup& group : groups) {
    if (group.region >= 0 || group.call >= 0 || group.nodes.size() != 1) continue;
    const ir::Node& node = program.node(group.nodes[0]);
    if (!is_alias_op(program.graph, node)) continue;
    BufferId from = program.place(node.inputs[0]), to = program.place(node.outputs[0]);
    program.buffers[to.index()].parent = from;
    group.no_code = true;
  }
}

void place_outputs(Program& program) {
  for (uint32_t i = 0; i < program.graph.outputs().size(); ++i) {
    BufferId buffer = program.place(program.graph.outputs()[i]);
    BufferId root = movable_root(program, buffer);
    if (root.valid()) {
      program.buffers[root.index()].kind = Buffer::Kind::Output;
      program.buffers[root.index()].index = i;
    } else {
      program.output_copies.emplace_back(buffer, i);
    }
  }
}

void place_concat(Program& program, FusionGroup& group) {
  const ir::Node& node = program.node(group.nodes[0]);
  const TensorType& type = program.graph.value(node.outputs[0]).type;
  int64_t axis = ops::attr::axis(node);
  if (axis < 0) axis += type.rank();
  // Only behind ones is each operand one run of bytes of the result.
  for (int64_t d = 0; d < axis; ++d) {
    if (type.shape[static_cast<size_t>(d)] != 1) return;
  }
  BufferId whole = program.place(node.outputs[0]);
  int64_t offset = 0;
  bool all = true;
  for (ir::ValueId v : node.inputs) {
    BufferId part = program.place(v);
    BufferId root = movable_root(program, part);
    if (root.valid() && root != program.resolve(whole).first) {
      program.buffers[root.index()].parent = whole;
      program.buffers[root.index()].offset = offset;
    } else {
      all = false;
    }
    offset += program.buffers[part.index()].bytes;
  }
  group.no_code = all;
}

}  // namespace

void assign_buffers(Program& program, std::vector<FusionGroup>& groups) {
  place_inputs(program);
  alias_reshapes(program, groups);
  place_outputs(program);
  for (FusionGroup& group : groups) {
    if (group.region < 0 && group.call < 0 && group.nodes.size() == 1 &&
        program.node(group.nodes[0]).is(Op::Concat) &&
        program.graph.value(program.node(group.nodes[0]).outputs[0]).type.elem != ElementType::String &&
        !ops::has_dynamic_shapes(program.graph, program.node(group.nodes[0])))
      place_concat(program, group);
  }
}

}  // namespace mrvlc::chost
