// Buffers are named by what lies in them, so that NAME_run reads as a list of layers.
#include "reading/buffer_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "naming/common_path.h"

namespace mrvlc::chost {
namespace {

// As an identifier. The end of a long name says more than its beginning. What others see begins with the
// program's prefix and ends otherwise: NAME_device is a type, NAME_x_out is nothing.
std::string shortened(std::string_view name, std::string_view path) {
  constexpr size_t kMost = 32;
  if (is_below(name, path)) name.remove_prefix(path.size());
  name.remove_prefix(name.size() > kMost ? name.size() - kMost : 0);
  name.remove_prefix(std::min(name.find_first_not_of("/_.:"), name.size()));
  std::string out = to_identifier(name);
  if (out.starts_with("K_")) out.insert(0, "v");
  return out;
}

class Namer {
 public:
  Namer(const Program& program, const ArenaResult& arena) : program_(program), arena_(arena) {}

  std::map<BufferId, std::string> run() {
    for (const std::string_view local : {"port_out", "cpu_out"}) unique_.make(local);  // of run_text.cpp
    for (const auto& [value, buffer] : program_.value_buffers)
      if (!program_.buffers[buffer.index()].parent.valid()) add(buffer, of_value(value) + "_out");
    // What has only parts has the name of the first.
    for (const auto& [value, buffer] : program_.value_buffers)
      add(program_.resolve(buffer).first, of_value(value) + "_out");
    for (const auto& [form, buffer] : program_.device_buffers)
      add(program_.resolve(buffer).first, of_value(form.first) + "_on_device");
    for (const auto& [form, buffer] : program_.forms)
      add(program_.resolve(buffer).first, of_value(form.first) + "_reordered");
    for (const auto& [buffer, range] : arena_.steps) add(buffer, scratch_of(buffer, range.first));
    return std::move(names_);
  }

 private:
  void add(BufferId buffer, const std::string& name) {
    if (!arena_.offsets.contains(buffer) || names_.contains(buffer)) return;
    names_[buffer] = unique_.make(name);
  }

  const std::string& path() const { return program_.module.path; }

  std::string of_value(ir::ValueId value) const {
    const ir::Value& v = program_.graph.value(value);
    if (!v.producer.valid()) return shortened(v.name, path());
    const ir::Node& node = program_.node(v.producer);
    return shortened(node.name.empty() || node.outputs.size() > 1 ? v.name : node.name, path());
  }

  std::string scratch_of(BufferId buffer, size_t step) const {
    const bool is_arena = program_.buffers[buffer.index()].is_arena;
    const std::string_view what = is_arena ? "local_arena" : "scratch";
    if (step >= program_.steps.size() || program_.steps[step].group.nodes.empty()) return std::string(what);
    const ir::Node& node = program_.node(program_.steps[step].group.nodes.front());
    return fmt::format(
        "{}_{}", shortened(node.name.empty() ? std::string_view(node.op->name) : node.name, path()), what);
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

int64_t bytes_of(const Program& program, BufferId buffer) {
  return std::max<int64_t>(program.buffers[buffer.index()].bytes, 1);
}

}  // namespace

BufferNames::BufferNames(const Program& program, const ArenaResult& arena)
    : program_(program),
      arena_(arena),
      has_table_(arena.bytes <= std::numeric_limits<int16_t>::max() * int64_t{65536}) {
  if (has_table_) names_ = Namer(program, arena).run();
}

std::string BufferNames::table() const {
  if (names_.empty()) return {};
  // In order of the work, then of the offsets.
  std::vector<BufferId> order;
  for (const auto& [buffer, name] : names_) order.push_back(buffer);
  std::ranges::stable_sort(
      order, {}, [&](BufferId b) { return std::pair(arena_.steps.at(b).first, arena_.offsets.at(b)); });
  std::string text =
      "  enum { /* the arena: offsets, bytes, and the layers from the first to the last that need them */\n";
  for (BufferId b : order) {
    const auto [first, last] = arena_.steps.at(b);
    const std::string from = step_text(program_, first), to = step_text(program_, last);
    text += fmt::format("    K_BUFFER({}, {}, {}){} /* {}{} */\n", names_.at(b), arena_.offsets.at(b),
                        bytes_of(program_, b), b == order.back() ? "" : ",", from,
                        from == to ? std::string() : " to " + to);
  }
  return text + "  };\n";
}

std::string BufferNames::place(BufferId buffer) const {
  if (has_table_) return fmt::format("{0}, {0}_bytes", names_.at(buffer));
  return fmt::format("{}, {}", arena_.offsets.at(buffer), bytes_of(program_, buffer));
}

std::string BufferNames::address(BufferId buffer, int64_t offset) const {
  const bool is_arena = program_.buffers[buffer.index()].is_arena;
  if (!has_table_ || is_arena) {
    const std::string at = fmt::format("MRVL_{}AT(a, {})", is_arena ? "ARENA_" : "", place(buffer));
    return offset == 0 ? "(void*)" + at : fmt::format("(void*)({} + {})", at, offset);
  }
  if (offset != 0) return fmt::format("K_INSIDE({}, {})", names_.at(buffer), offset);
  return fmt::format("K_DATA({})", names_.at(buffer));
}

}  // namespace mrvlc::chost
