// What the host does for a region whose device fails: the region's nodes as a function of their own, and what
// brings values from ports of other regions and to them. Values that the host has anyway are read and written
// where they are, so that they lose nothing by a port's type.
#include <set>

#include "function.h"
#include "mrvlc/partition/partition.h"

namespace mrvlc::chost {
namespace {

class FallbackEmitter {
 public:
  explicit FallbackEmitter(Program& program) : program_(program) {
    for (const Step& step : program.steps) {
      if (step.group.region < 0) continue;
      read_ports_.insert(step.device_inputs.begin(), step.device_inputs.end());
      for (const partition::Layer& layer : region(step).layers)
        on_device_.insert(layer.nodes.begin(), layer.nodes.end());
    }
    for (const partition::Crossing& c : program.crossings)
      if (!c.to_device) on_host_.insert(c.value);
  }

  Status run() {
    for (size_t s = 0; s < program_.steps.size(); ++s)
      if (program_.steps[s].group.region >= 0) MRVLC_TRY(add(program_.steps[s]));
    return {};
  }

 private:
  const partition::Region& region(const Step& step) const {
    return program_.partition.regions[static_cast<size_t>(step.group.region)];
  }

  Status add(Step& step) {
    const auto r = static_cast<size_t>(step.group.region);
    const backend::RegionCode& code = program_.regions[r];
    const uint32_t id = region(step).id;
    const ir::Graph& part = program_.options.parts[id];
    program_.library.require(Piece::view, program_.expr(step.group.nodes.front()));
    MRVLC_ASSIGN(const BodyFunction body,
                 emit_body(program_.module, part, program_.options, fmt::format("cpu{}", id)));
    Fallback f;
    f.function = body.symbol;
    if (body.arena_bytes > 0) {
      Buffer arena;
      arena.bytes = body.arena_bytes;
      arena.is_arena = true;
      f.arena = program_.add_buffer(arena);
    }
    f.inputs = region(step).inputs;
    f.outputs = region(step).outputs;
    for (ir::ValueId v : f.inputs) program_.place(v);
    for (ir::ValueId v : f.outputs) program_.place(v);
    for (size_t i = 0; i < code.inputs.size(); ++i) take(code.inputs[i], step.device_inputs[i], f);
    for (size_t i = 0; i < code.outputs.size(); ++i) give(code.outputs[i], step.device_outputs[i], f);
    step.fallback = std::move(f);
    return {};
  }

  // A value that regions alone know is read from the port.
  void take(const backend::Port& port, BufferId buffer, Fallback& f) {
    const ir::Value& v = program_.graph.value(port.value);
    const bool made_on_device = v.producer.valid() && on_device_.contains(v.producer);
    if (!made_on_device || on_host_.contains(v.id) || program_.resolve(buffer) == place_of(v.id)) return;
    f.before.push_back(emit_from_device(program_, v.producer, port, buffer, unique("cpu_in")));
  }

  // What other regions read of a port must be there.
  void give(const backend::Port& port, BufferId buffer, Fallback& f) {
    if (!read_ports_.contains(buffer) || program_.resolve(buffer) == place_of(port.value)) return;
    f.after.push_back(
        emit_to_device(program_, program_.graph.value(port.value).producer, port, buffer, unique("cpu_out")));
  }

  std::pair<BufferId, int64_t> place_of(ir::ValueId v) const {
    return program_.resolve(program_.buffer_of(v));
  }
  std::string unique(std::string_view what) { return fmt::format("{}{}", what, next_++); }

  Program& program_;
  std::set<BufferId> read_ports_;
  std::set<ir::NodeId> on_device_;
  std::set<ir::ValueId> on_host_;  // made on a device, and brought to the host
  uint32_t next_ = 0;
};

}  // namespace

Status emit_fallbacks(Program& program) {
  if (program.options.parts.empty()) return {};
  return FallbackEmitter(program).run();
}

}  // namespace mrvlc::chost
