// Ranges are what the ID map tells of the program: they cover it, each is of a node of its layer, and no
// layer that computes something is without.
#include "plugin_code.h"

#include <algorithm>

#include "mrvlc/ops/op.h"

namespace mrvlc::backends {
namespace {

constexpr uint64_t kMostBytes = uint64_t{1} << 30, kMostCycles = uint64_t{1} << 50;
constexpr uint32_t kMostRanges = 1u << 24, kMostInstructions = 1u << 30;

std::string fault_of(const mrvl_plugin_code& code) {
  if (code.bytes == nullptr || code.byte_count == 0) return "gives no bytes";
  if (code.byte_count > kMostBytes)
    return fmt::format("gives {} bytes, more than {}", code.byte_count, kMostBytes);
  if (code.cycles > kMostCycles)
    return fmt::format("gives {} cycles, more than {}", code.cycles, kMostCycles);
  if (code.ranges == nullptr || code.range_count == 0) return "says of no instruction whose it is";
  if (code.range_count > kMostRanges)
    return fmt::format("gives {} ranges, more than {}", code.range_count, kMostRanges);
  return {};
}

bool belongs(const mrvl_plugin_region& view, const mrvl_plugin_range& r) {
  const mrvl_plugin_layer& layer = view.layers[r.layer];
  return std::find(layer.nodes, layer.nodes + layer.node_count, r.node) != layer.nodes + layer.node_count;
}

// Views of other values need no instruction.
bool computes(const ir::Graph& graph, const PluginRegion& shown, const mrvl_plugin_layer& layer) {
  return std::any_of(layer.nodes, layer.nodes + layer.node_count, [&](uint32_t n) {
    return ops::op_def(graph.node(shown.node(n))).traits.moves != ops::Moves::Same;
  });
}

std::string add_range(const mrvl_plugin_region& view, const mrvl_plugin_range& r, const PluginRegion& shown,
                      std::vector<backend::CodeRange>& out) {
  const uint32_t next = out.empty() ? 0 : out.back().end;
  if (r.begin != next || r.end <= r.begin)
    return fmt::format("gives ranges with a gap: [{}, {}) behind {}", r.begin, r.end, next);
  if (r.end > kMostInstructions)
    return fmt::format("gives {} instructions, more than {}", r.end, kMostInstructions);
  if (r.layer >= view.layer_count || r.node >= view.node_count)
    return fmt::format("gives range [{}, {}) to layer {} and node {}, which are not there", r.begin, r.end,
                       r.layer, r.node);
  if (!belongs(view, r))
    return fmt::format("gives range [{}, {}) to layer {} and node {}, which is of another layer", r.begin,
                       r.end, r.layer, r.node);
  out.push_back({backend::Section::Main, r.begin, r.end, r.layer, shown.node(r.node)});
  return {};
}

std::string read_times(const mrvl_plugin_code& code, EncodedRegion& out) {
  if (code.range_cycles == nullptr) return {};
  for (uint32_t i = 0; i < code.range_count; ++i) {
    const backend::CodeRange& r = out.instructions[i];
    const uint64_t cycles = code.range_cycles[i];
    if (cycles > code.cycles)
      return fmt::format("gives range [{}, {}) {} cycles, more than the {} of an inference", r.begin, r.end,
                         cycles, code.cycles);
    out.times.push_back({r.end, cycles});
  }
  return {};
}

}  // namespace

bool operator==(const EncodedRegion& a, const EncodedRegion& b) {
  const auto same = [](const backend::CodeRange& x, const backend::CodeRange& y) {
    return x.begin == y.begin && x.end == y.end && x.layer == y.layer && x.expr == y.expr;
  };
  const auto as_long = [](const auto& x, const auto& y) { return x.end == y.end && x.cycles == y.cycles; };
  return a.bytes == b.bytes && a.cycles == b.cycles &&
         std::ranges::equal(a.instructions, b.instructions, same) &&
         std::ranges::equal(a.times, b.times, as_long);
}

std::string read_code(const mrvl_plugin_code& code, const ir::Graph& graph, const PluginRegion& shown,
                      EncodedRegion& out) {
  if (std::string fault = fault_of(code); !fault.empty()) return fault;
  const mrvl_plugin_region& view = shown.view();
  std::vector<bool> has(view.layer_count);
  for (uint32_t i = 0; i < code.range_count; ++i) {
    if (std::string fault = add_range(view, code.ranges[i], shown, out.instructions); !fault.empty())
      return fault;
    has[out.instructions.back().layer] = true;
  }
  for (uint32_t l = 0; l < view.layer_count; ++l)
    if (!has[l] && computes(graph, shown, view.layers[l]))
      return fmt::format("gives no instruction to layer {}, rule '{}'", l, view.layers[l].rule);
  if (std::string fault = read_times(code, out); !fault.empty()) return fault;
  out.cycles = code.cycles;
  out.bytes.assign(static_cast<const char*>(code.bytes), code.byte_count);
  return {};
}

}  // namespace mrvlc::backends
