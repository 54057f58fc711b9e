// Buffers are named by what lies in them, so that the calls of NAME_run read as a list of layers.
#include "buffer_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace mrvlc::chost {
namespace {

class BufferNames {
 public:
  BufferNames(const Program& program, const ArenaResult& arena) : program_(program), arena_(arena) {}

  std::map<BufferId, std::string> run() {
    for (const auto& [value, buffer] : program_.value_buffers)
      if (!program_.buffers[buffer.index()].parent.valid()) add(buffer, of_value(value) + "_out");
    // What has only parts has the name of the first.
    for (const auto& [value, buffer] : program_.value_buffers)
      add(program_.resolve(buffer).first, of_value(value) + "_out");
    for (const auto& [form, buffer] : program_.device_buffers)
      add(program_.resolve(buffer).first, of_value(form.first) + "_device");
    for (const auto& [form, buffer] : program_.forms)
      add(program_.resolve(buffer).first, of_value(form.first) + "_form");
    for (const auto& [buffer, range] : arena_.steps) add(buffer, scratch_of(buffer, range.first));
    return std::move(names_);
  }

 private:
  void add(BufferId buffer, const std::string& name) {
    if (!arena_.offsets.contains(buffer) || names_.contains(buffer)) return;
    names_[buffer] = unique_.make(name);
  }

  // The end of a name says more than its begin. Names of the program begin with its prefix.
  std::string shortened(std::string_view name) const {
    constexpr size_t kMost = 36;
    const size_t from = name.size() > kMost ? name.size() - kMost : 0;
    std::string out = to_identifier(name.substr(std::min(name.find_first_not_of("/_.:", from), name.size())));
    if (out.starts_with(program_.options.name)) out.insert(0, "v_");
    return out;
  }

  std::string of_value(ir::ValueId value) const {
    const ir::Value& v = program_.graph.value(value);
    if (!v.producer.valid()) return shortened(v.name);
    const ir::Node& node = program_.node(v.producer);
    return shortened(node.name.empty() || node.outputs.size() > 1 ? v.name : node.name);
  }

  std::string scratch_of(BufferId buffer, size_t step) const {
    const bool is_arena = program_.buffers[buffer.index()].is_arena;
    const std::string_view what = is_arena ? "arena" : "scratch";
    if (step >= program_.steps.size() || program_.steps[step].group.nodes.empty()) return std::string(what);
    const ir::Node& node = program_.node(program_.steps[step].group.nodes.front());
    return fmt::format("{}_{}", shortened(node.name.empty() ? node.op->name : std::string_view(node.name)), what);
  }

  const Program& program_;
  const ArenaResult& arena_;
  UniqueNames unique_;
  std::map<BufferId, std::string> names_;
};

// "f4", as in the name of its function.
std::string step_text(const Program& program, size_t step) {
  if (step >= program.steps.size() || program.steps[step].group.nodes.empty()) return "the end";
  return fmt::format("f{}", program.expr(program.steps[step].group.nodes.front()).index());
}

}  // namespace

std::map<BufferId, std::string> buffer_names(const Program& program, const ArenaResult& arena) {
  return BufferNames(program, arena).run();
}

std::string buffer_table(const Program& program, const ArenaResult& arena,
                         const std::map<BufferId, std::string>& names) {
  if (names.empty()) return {};
  // In order of the work, then of the offsets.
  std::vector<BufferId> order;
  for (const auto& [buffer, name] : names) order.push_back(buffer);
  std::ranges::stable_sort(order, {}, [&](BufferId b) {
    return std::pair(arena.steps.at(b).first, arena.offsets.at(b));
  });
  const bool fits = arena.bytes <= std::numeric_limits<int32_t>::max();
  std::string text = "  /* Offsets in the arena: bytes, and from the first function that needs them to the last. */\n";
  if (fits) text += "  enum {\n";
  for (BufferId b : order) {
    const auto [first, last] = arena.steps.at(b);
    text += fmt::format("{}{} = {}{} /* {}, {}{} */\n", fits ? "    " : "  const ptrdiff_t ", names.at(b),
                        arena.offsets.at(b), fits ? "," : ";",
                        std::max<int64_t>(program.buffers[b.index()].bytes, 1), step_text(program, first),
                        last == first ? std::string() : " to " + step_text(program, last));
  }
  if (!fits) return text;
  text.erase(text.rfind(','), 1);
  return text + "  };\n";
}

}  // namespace mrvlc::chost
