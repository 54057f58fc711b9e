// report.txt of a mesh: layers, PEs, memory, and the figures that nobody has published.
#include <fmt/format.h>

#include <algorithm>

#include "mrvlc/mesh/mesh.h"
#include "mrvlc/support/printable.h"

namespace mrvlc::mesh {
namespace {

// Calls `f(path, figure)` for every figure of a machine.
class Figures {
 public:
  template <class T>
  Figures& operator()(std::string_view name, const T& v) {
    if constexpr (std::is_same_v<T, Figure>) {
      list.emplace_back(prefix + std::string(name), v);
    } else if constexpr (requires { T::fields(*this, v); }) {
      const std::string outer = std::exchange(prefix, prefix + std::string(name) + ".");
      T::fields(*this, v);
      prefix = outer;
    }
    return *this;
  }
  Figures& schema(std::string_view) { return *this; }

  std::vector<std::pair<std::string, Figure>> list;
  std::string prefix;
};

std::string layer_lines(const Plan& plan) {
  std::vector<int64_t> parts(plan.layers.size(), 0);
  for (const Task& t : plan.tasks) ++parts[t.layer];
  std::string text = "parts  layer\n";
  for (size_t i = 0; i < parts.size(); ++i)
    text += fmt::format("{:5}  {} ({})\n", parts[i], printable(plan.layers[i].node), plan.layers[i].op);
  return text;
}

}  // namespace

std::string report(const Plan& plan) {
  uint64_t most = 0, all = 0;
  for (const PlannedPe& pe : plan.pes) most = std::max(most, pe.memory_bytes), all += pe.memory_bytes;
  std::string text =
      fmt::format("machine {}: {} PEs used, {} parts, {} programs, {} edges\n", plan.machine.name,
                  plan.pes.size(), plan.tasks.size(), plan.programs.size(), plan.edges.size());
  text += fmt::format("memory: {} bytes, at most {} of a PE's {}\n\n", all, most,
                      plan.machine.pe.sram_bytes.value);
  text += layer_lines(plan) + "\nassumed of the machine, as no figure is public:\n";
  Figures figures;
  Machine::fields(figures, plan.machine);
  for (const auto& [name, figure] : figures.list)
    if (figure.source == "assumed") text += fmt::format("  {} = {}\n", name, figure.value);
  return text;
}

}  // namespace mrvlc::mesh
