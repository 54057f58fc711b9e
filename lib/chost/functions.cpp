// Every group becomes a C function, or calls around a run of the device.
#include <algorithm>
#include <map>

#include "function.h"
#include "integer/rows.h"
#include "mrvlc/ops/dynamic_shapes.h"
#include "mrvlc/ops/op_kind.h"
#include "mrvlc/partition/partition.h"
#include "mrvlc/support/diag/chost.h"
#include "mrvlc/support/diag/general.h"

namespace mrvlc::chost {
namespace {

class Emitter {
 public:
  Emitter(Program& program, std::vector<FusionGroup> groups) : program_(program), groups_(std::move(groups)) {
    for (const partition::Crossing& c : program.crossings)
      crossings_.emplace(std::tuple(c.region, c.value, c.to_device), &c);
  }

  Status run() {
    require_views();
    for (FusionGroup& group : groups_) {
      Step step;
      step.group = std::move(group);
      step.made = results(step.group);
      if (step.group.region >= 0) {
        emit_region(step);
      } else if (step.group.call >= 0) {
        emit_library_call(program_, step);
      } else if (step.group.no_code) {
        program_.without_code.push_back(program_.expr(step.group.nodes.front()));
        auto& made = program_.steps.empty() ? program_.aliases_of_inputs : program_.steps.back().made;
        made.insert(made.end(), step.made.begin(), step.made.end());
        continue;
      } else {
        const ir::Node& head = program_.node(step.group.nodes.front());
        Status status = emit_cpu(step);
        if (!status.ok()) return at_node(std::move(status).error(), head.name, head.op->name);
      }
      program_.steps.push_back(std::move(step));
    }
    return {};
  }

 private:
  std::vector<ir::ValueId> results(const FusionGroup& group) const {
    std::vector<ir::ValueId> all;
    for (ir::NodeId id : group.nodes)
      for (ir::ValueId v : program_.node(id).outputs)
        if (v.valid()) all.push_back(v);
    return all;
  }

  // The function that runs the program takes the dimensions of inputs.
  void require_views() {
    if (groups_.empty() || program_.is_body()) return;
    const ir::ExprId first = program_.expr(groups_.front().nodes.front());
    for (ir::ValueId in : program_.graph.inputs()) {
      const TensorType& type = program_.graph.value(in).type;
      if (!type.is_static()) program_.library.require(set_dims_piece(type), first);
    }
  }

  Status emit_cpu(Step& step) {
    const ir::Node& head = program_.node(step.group.nodes.front());
    MRVLC_TRY(check_types(head));
    Function f(program_, step.group.nodes, head.op->name);
    MRVLC_TRY(emit_body(f));
    if (!program_.error.empty()) {
      return make_diag<DiagCode::MRV0007>(fmt::format("unknown helper '{}' in emitted C", program_.error));
    }
    step.before.push_back(f.finish());
    return {};
  }

  // The first that applies. Forms that are made for an operator come before those for all: what needs views
  // has no other, what is in place needs no loops, packed kernels are faster than plain ones.
  Status emit_body(Function& f) {
    const ir::Node& node = f.head();
    const ops::OpDef& def = ops::op_def(node);
    if (!ir::bodies_of(node).empty()) return emit_control_flow(f);
    const bool only_dynamic = def.emit == nullptr && def.emit_kernel.empty() && def.scalar == nullptr &&
                              def.emit_dynamic != nullptr;
    if (only_dynamic || parses_texts(node) || ops::has_dynamic_shapes(program_.graph, node))
      return emit_with_views(f);
    const ElementType elem = program_.graph.value(node.outputs[0]).type.elem;
    const bool f32 = elem == ElementType::F32, computes = f32 || elem == ElementType::F64;
    if (node.is(Op::Concat) && parts_in_place(node)) {
      emit_concat(f);
      return {};
    }
    if (is_alias_op(program_.graph, node)) {
      emit_copy(f);
      return {};
    }
    if (f32 && (is_packed_conv(program_.graph, node) || is_plane_conv(program_.graph, node)))
      return node.is(Op::Conv) ? emit_conv(f) : emit_conv_transpose(f);
    if (computes && node.is(Op::Conv)) return emit_generic_conv(f);
    if (computes && node.is(Op::ConvTranspose)) return emit_generic_conv_transpose(f);
    if (is_attention(f)) {
      emit_attention(f);
      return {};
    }
    if (f32 && is_matrix_product(node)) return emit_matmul(f);
    if (is_quantised_chain(f)) return emit_quantised_chain(f);
    if (is_packed_integer(program_.graph, node))
      return node.is(Op::QLinearConv, Op::ConvInteger) ? emit_integer_conv(f) : emit_integer_matrix(f);
    if (is_elementwise(node) && all_f32(program_.graph, node)) {
      emit_elementwise(f);
      return {};
    }
    if (def.emit == nullptr) return make_diag<DiagCode::MRV0601>(std::string(node.op->name));
    NodeContext context(f, node.id);
    return def.emit(context);
  }

  // What is no number is told by an error code.
  bool parses_texts(const ir::Node& node) const {
    auto is_text = [&](ir::ValueId v) { return program_.graph.value(v).type.elem == ElementType::String; };
    return node.is(Op::Cast, Op::CastLike) && (is_text(node.inputs[0]) || is_text(node.outputs[0]));
  }

  Status emit_with_views(Function& f) {
    const ops::OpDef& def = ops::op_def(f.head());
    f.use_views();
    if (is_dynamic_product(program_.graph, f.head())) {
      if (is_matrix_product(f.head())) return emit_matmul(f);
      return f.head().is(Op::Conv) ? emit_conv(f) : emit_conv_transpose(f);
    }
    if (def.emit_dynamic == nullptr) return make_diag<DiagCode::MRV0605>(std::string(def.name));
    NodeContext context(f, f.head().id);
    return def.emit_dynamic(context);
  }

  Status check_types(const ir::Node& node) const {
    auto check = [&](ir::ValueId v) -> Status {
      if (!v.valid()) return {};
      ElementType elem = program_.graph.value(v).type.elem;
      if (elem == ElementType::Undefined || elem == ElementType::C64 || elem == ElementType::C128) {
        return make_diag<DiagCode::MRV0602>(std::string(name(elem)));
      }
      return {};
    };
    for (ir::ValueId v : node.inputs) MRVLC_TRY(check(v));
    for (ir::ValueId v : node.outputs) MRVLC_TRY(check(v));
    return {};
  }

  bool parts_in_place(const ir::Node& concat) {
    auto root = [&](ir::ValueId v) {
      auto it = program_.value_buffers.find(v);
      return it == program_.value_buffers.end() ? BufferId() : program_.resolve(it->second).first;
    };
    const BufferId whole = root(concat.outputs[0]);
    return whole.valid() && std::any_of(concat.inputs.begin(), concat.inputs.end(),
                                        [&](ir::ValueId v) { return root(v) == whole; });
  }

  void emit_copy(Function& f) {
    std::string x = f.read(f.head().inputs[0], "x0"), y = f.write(f.head().outputs[0], "y0");
    f.put("memcpy({}, {}, {});", y, x, size_text(program_.graph.value(f.head().outputs[0]).type));
  }

  BufferId device_buffer(const backend::Port& port) {
    Buffer buffer;
    buffer.bytes = program_.graph.value(port.value).type.elements() * byte_size(port.type);
    return program_.add_buffer(buffer);
  }

  ir::NodeId first_reader(const partition::Region& region, ir::ValueId value) const {
    for (const auto& layer : region.layers) {
      for (ir::NodeId n : layer.nodes) {
        const auto& inputs = program_.node(n).inputs;
        if (std::find(inputs.begin(), inputs.end(), value) != inputs.end()) return n;
      }
    }
    return region.layers.front().nodes.front();
  }

  void emit_region(Step& step) {
    auto r = static_cast<size_t>(step.group.region);
    const backend::RegionCode& compiled = program_.regions[r];
    const partition::Region& region = program_.partition.regions[r];
    for (size_t i = 0; i < compiled.inputs.size(); ++i) {
      const auto& port = compiled.inputs[i];
      auto [it, is_new] = program_.device_buffers.try_emplace({port.value, {port.type, port.perm}});
      if (const auto* crossing = find_crossing(region.id, port.value, true)) {
        it->second = device_buffer(port);
        note_conversion(*crossing, port);
        step.before.push_back(emit_to_device(program_, first_reader(region, port.value), port, it->second,
                                             fmt::format("r{}_in{}", region.id, i)));
      } else if (is_new) {
        it->second = program_.place(port.value);  // the device takes it as the host has it
      }
      step.device_inputs.push_back(it->second);
    }
    for (size_t i = 0; i < compiled.outputs.size(); ++i) {
      const auto& port = compiled.outputs[i];
      const bool same = form_of(program_.graph, port).as_on_host();
      BufferId buffer = same ? program_.place(port.value) : device_buffer(port);
      program_.device_buffers[{port.value, {port.type, port.perm}}] = buffer;
      step.device_outputs.push_back(buffer);
      const auto* crossing = find_crossing(region.id, port.value, false);
      if (crossing == nullptr) continue;
      note_conversion(*crossing, port);
      step.after.push_back(emit_from_device(program_, program_.graph.value(port.value).producer, port, buffer,
                                            fmt::format("r{}_out{}", region.id, i)));
    }
  }

  const partition::Crossing* find_crossing(uint32_t region, ir::ValueId value, bool to_device) const {
    const auto it = crossings_.find({region, value, to_device});
    return it == crossings_.end() ? nullptr : it->second;
  }

  void note_conversion(const partition::Crossing& crossing, const backend::Port& port) {
    const TensorType& type = program_.graph.value(port.value).type;
    const int64_t device_bytes = type.elements() * static_cast<int64_t>(byte_size(port.type));
    program_.module.conversions.push_back(
        {crossing, program_.graph.value(port.value).name, type.elements(), type.bytes(), device_bytes});
  }

  Program& program_;
  std::vector<FusionGroup> groups_;
  // By region, value, and whether it enters.
  std::map<std::tuple<uint32_t, ir::ValueId, bool>, const partition::Crossing*> crossings_;
};

}  // namespace

// Operands that could not be computed in place.
void emit_concat(Function& f) {
  Program& program = f.program();
  auto [whole, begin] = program.resolve(program.buffer_of(f.head().outputs[0]));
  int64_t offset = 0;
  for (size_t i = 0; i < f.head().inputs.size(); ++i) {
    ir::ValueId v = f.head().inputs[i];
    BufferId part = program.buffer_of(v);
    int64_t bytes = program.graph.value(v).type.bytes();
    if (program.resolve(part) != std::pair(whole, begin + offset)) {
      std::string x = f.read(v, fmt::format("x{}", i)), y = f.write(f.head().outputs[0], "y0");
      f.put("memcpy((unsigned char*){} + {}, {}, {});", y, offset, x, bytes);
    }
    offset += bytes;
  }
}

Status emit_functions(Program& program, std::vector<FusionGroup> groups) {
  return Emitter(program, std::move(groups)).run();
}

}  // namespace mrvlc::chost
