// --state: an input and an output that are one memory of the caller's. Where all that reads the input comes
// before what first writes the output, or one operator updates a few elements, a run works in this memory;
// else the output is made in the arena and copied at the end. Either way NAME_run may be given two memories
// as well.
#include <algorithm>
#include <optional>

#include "mrvlc/ops/op.h"
#include "mrvlc/support/characters.h"
#include "mrvlc/support/diag/chost.h"
#include "program.h"

namespace mrvlc::chost {
namespace {

using Kind = Buffer::Kind;

std::string type_obstacle(const TensorType& input, const TensorType& output) {
  for (const TensorType* t : {&input, &output}) {
    if (t->wrapper != Wrapper::None) return "sequences and optionals are no states";
    if (t->elem == ElementType::String) return "texts are no states";
    if (!t->is_static())
      return fmt::format("the shape of {} is known at run time only; --input-shape gives it a fixed one",
                         t == &input ? "the input" : "the output");
  }
  if (input.elem == output.elem && input.shape == output.shape) return {};
  return fmt::format("the input is {}, the output {}", to_string(input), to_string(output));
}

class States {
 public:
  explicit States(Program& program) : program_(program) {}

  void settle() {
    for (const StatePair& pair : program_.options.states) {
      const ir::Value &in = program_.graph.value(program_.graph.inputs()[pair.input]),
                      &out = program_.graph.value(program_.graph.outputs()[pair.output]);
      StateUse use{in.name, out.name, memory_bytes(in.type), obstacle(pair)};
      if (!use.obstacle.empty()) set_apart(pair);
      program_.states.push_back(std::move(use));
    }
    save_read_at_end();
  }

 private:
  const Buffer& root_of(BufferId buffer) const {
    return program_.buffers[program_.resolve(buffer).first.index()];
  }
  bool is(BufferId buffer, Kind kind, size_t index) const {
    const Buffer& root = root_of(buffer);
    return root.kind == kind && root.index == index;
  }

  // What is copied to the output at the end; nullopt: it is computed where the caller wants it.
  std::optional<BufferId> copied(const StatePair& pair) const {
    for (const auto& [buffer, output] : program_.output_copies)
      if (output == pair.output) return buffer;
    return std::nullopt;
  }

  std::string obstacle(const StatePair& pair) const {
    if (const auto from = copied(pair))
      return is(*from, Kind::Input, pair.input) ? "" : "it is a copy of another value";
    if (program_.options.trace_values) return "--trace-values tells of the input's value";
    int64_t last_read = -1, first_write = end_of_steps(program_);
    for_each_touch(program_, [&](const Touch& t) {
      if (is(t.buffer, Kind::Input, pair.input)) last_read = std::max(last_read, t.moment);
      if (t.written && is(t.buffer, Kind::Output, pair.output)) first_write = std::min(first_write, t.moment);
    });
    if (last_read < first_write || (last_read == first_write && is_update(pair, first_write))) return {};
    return read_by(pair, first_write);
  }

  const Step* step_at(int64_t moment) const {
    const auto step = static_cast<size_t>(moment / kMomentsOfStep);
    return step < program_.steps.size() ? &program_.steps[step] : nullptr;
  }

  bool is_update(const StatePair& pair, int64_t moment) const {
    const Step* step = step_at(moment);
    if (step == nullptr || step->group.region >= 0 || step->group.call >= 0 || step->group.nodes.size() != 1)
      return false;
    const bool views = std::ranges::any_of(step->before, [](const Call& c) {
      return std::ranges::any_of(c.params, [](const Param& p) { return p.view.valid(); });
    });
    const StatePair* updated = program_.updates_state(program_.node(step->group.nodes.front()));
    return !views && updated != nullptr && updated->input == pair.input && updated->output == pair.output;
  }

  // The first that would find the output where it looks for the input.
  std::string read_by(const StatePair& pair, int64_t first_write) const {
    int64_t moment = end_of_steps(program_);
    for_each_touch(program_, [&](const Touch& t) {
      if (t.moment >= first_write && is(t.buffer, Kind::Input, pair.input))
        moment = std::min(moment, t.moment);
    });
    const Step* step = step_at(moment);
    if (step == nullptr) return "the input is an output, too";
    const ir::Node& node = program_.node(step->group.nodes.front());
    const std::string name = printable(
        node.name.empty() && !node.outputs.empty() ? program_.graph.value(node.outputs[0]).name : node.name);
    if (step->group.region >= 0)
      return fmt::format("the region of '{}' reads the input while it is written", name);
    return fmt::format("'{}' ({}) reads the input while, or after, it is written", name, node.op->name);
  }

  void set_apart(const StatePair& pair) {
    if (copied(pair)) return;
    const BufferId value = program_.buffer_of(program_.graph.outputs()[pair.output]);
    const BufferId root = program_.resolve(value).first;
    program_.buffers[root.index()].kind = Kind::Arena;
    program_.buffers[root.index()].index = 0;
    program_.output_copies.emplace_back(root, static_cast<uint32_t>(pair.output));
  }

  // Inputs that are other outputs, such as two states that change places: before states are written.
  void save_read_at_end() {
    std::ranges::stable_partition(program_.output_copies,
                                  [&](const auto& copy) { return !is_state(copy.second); });
    for (auto& [buffer, output] : program_.output_copies) {
      const Buffer root = root_of(buffer);
      const bool own = std::ranges::any_of(program_.options.states, [&](const StatePair& pair) {
        return root.index == pair.input && output == pair.output;
      });
      if (!is_state(output) || root.kind != Kind::Input || own) continue;
      Buffer saved;
      saved.bytes = program_.buffers[buffer.index()].bytes;
      const BufferId to = program_.add_buffer(saved);
      program_.saved_states.emplace_back(buffer, to);
      buffer = to;
    }
  }

  bool is_state(uint32_t output) const {
    return std::ranges::any_of(program_.options.states,
                               [&](const StatePair& pair) { return pair.output == output; });
  }

  Program& program_;
};

}  // namespace

const StatePair* Program::updates_state(const ir::Node& node) const {
  if (is_body() || options.states.empty() || !ops::op_def(node).traits.updates) return nullptr;
  const auto place = [&](ir::ValueId v) -> std::pair<const Buffer*, int64_t> {
    const auto it = v.valid() ? value_buffers.find(v) : value_buffers.end();
    if (it == value_buffers.end()) return {nullptr, 0};
    const auto [root, offset] = resolve(it->second);
    return {&buffers[root.index()], offset};
  };
  const auto [in, in_at] = place(node.inputs[0]);
  const auto [out, out_at] = place(node.outputs[0]);
  if (in == nullptr || out == nullptr || in->kind != Buffer::Kind::Input ||
      out->kind != Buffer::Kind::Output || in_at != 0 || out_at != 0)
    return nullptr;
  for (size_t i = 1; i < node.inputs.size(); ++i)
    if (place(node.inputs[i]).first == in) return nullptr;
  const auto pair = std::ranges::find_if(options.states, [&, in = in, out = out](const StatePair& p) {
    return p.input == in->index && p.output == out->index;
  });
  return pair == options.states.end() ? nullptr : &*pair;
}

void settle_states(Program& program) {
  States(program).settle();
}

Status check_states(const ir::Graph& graph, const std::vector<StatePair>& states) {
  for (const StatePair& pair : states) {
    const ir::Value &in = graph.value(graph.inputs()[pair.input]),
                    &out = graph.value(graph.outputs()[pair.output]);
    const std::string why = type_obstacle(in.type, out.type);
    if (!why.empty())
      return make_diag<DiagCode::MRV0612>(printable(fmt::format("{}={}", in.name, out.name)), why);
  }
  return {};
}

}  // namespace mrvlc::chost
