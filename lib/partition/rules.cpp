// The vocabulary of rules, from tables of the compiler, and the sets of rules made with it.
#include "mrvlc/partition/rules.h"

#include "mrvlc/partition/library.h"

namespace mrvlc::partition {

const std::vector<rules::LayerWord>& layer_words() {
  static const std::vector<rules::LayerWord> kKinds = [] {
    std::vector<rules::LayerWord> out;
    for (LayerKind kind : kLayerKinds) {
      out.push_back({name(kind), true, {}});
      for (const ops::OpDef* op : ops::all_ops()) {
        if (op->accel.has(kind)) out.back().anchors.push_back(op);
      }
    }
    out.push_back({kCpuKind, false, {}});
    return out;
  }();
  return kKinds;
}

const std::vector<rules::LayerWord>& free_layer_words() {
  static const std::vector<rules::LayerWord> kKinds = [] {
    std::vector<rules::LayerWord> out = layer_words();
    for (rules::LayerWord& word : out)
      if (word.accelerated) word.anchors = ops::all_ops();
    return out;
  }();
  return kKinds;
}

namespace {

// What `machine("...")` gives: the fields of target.json that a rule may depend on.
struct MachineNumber {
  std::string_view name;
  uint32_t target::Machine::*field;
};
constexpr MachineNumber kNumbers[] = {
    {"fp16_macs", &target::Machine::fp16_macs},   {"max_batch", &target::Machine::max_batch},
    {"max_layers", &target::Machine::max_layers}, {"max_ports", &target::Machine::max_ports},
    {"max_tiles", &target::Machine::max_tiles},   {"ocm_bytes", &target::Machine::ocm_bytes},
    {"pe_lanes", &target::Machine::pe_lanes},
};

std::vector<std::string_view> number_names() {
  std::vector<std::string_view> out;
  for (const MachineNumber& n : kNumbers) out.push_back(n.name);
  return out;
}

}  // namespace

rules::MachineNumbers machine_numbers(const target::Machine& machine) {
  rules::MachineNumbers out;
  for (const MachineNumber& n : kNumbers) out.emplace_back(n.name, int64_t{machine.*n.field});
  return out;
}

rules::LoadResult load_library_rules(const std::vector<rules::RuleFile>& files) {
  const std::vector<rules::LayerWord> kinds = {{rules::kCallKind, false, {}}, {kCpuKind, false, {}}};
  return rules::load_rules(files, {kinds, ops::find_op, ops::all_ops(), {}});
}

rules::LoadResult load_rules(const BuiltIn& builtin, const std::vector<rules::RuleFile>& files,
                             const std::vector<rules::LayerWord>& kinds) {
  std::vector<rules::RuleFile> all;
  if (builtin) all.push_back(*builtin);
  all.insert(all.end(), files.begin(), files.end());
  return rules::load_rules(all, {kinds, ops::find_op, ops::all_ops(), number_names()});
}

Result<SoundRules> sound(rules::LoadResult loaded) {
  for (const Diag& d : loaded.diagnostics.list()) {
    if (d.severity() == Severity::Error) return d;
  }
  return SoundRules(std::make_shared<const rules::LoadResult>(std::move(loaded)));
}

Result<SoundRules> sound_rules(const BuiltIn& builtin, const std::vector<rules::RuleFile>& files,
                               const std::vector<rules::LayerWord>& kinds) {
  return sound(load_rules(builtin, files, kinds));
}

namespace {

// Names in the order of the pattern; of a list each value has an entry.
std::vector<LayerCapture> captures_of(const rules::Match& match) {
  std::vector<LayerCapture> out;
  for (const rules::Binding& b : match.bindings) {
    if (b.capture.empty() || b.unbound) continue;
    if (!b.list) {
      out.push_back({b.capture, b.is_node && !b.absent ? b.node : ir::NodeId(), b.value});
      continue;
    }
    for (size_t i = 0; i < std::max(b.values.size(), b.nodes.size()); ++i)
      out.push_back({b.capture, i < b.nodes.size() ? b.nodes[i] : ir::NodeId(),
                     i < b.values.size() ? b.values[i] : ir::ValueId()});
  }
  return out;
}

}  // namespace

Layer layer_of(const rules::Match& match, uint32_t accelerator) {
  return {match.rule->name,  *find_layer_kind(match.rule->layer), match.nodes, match.anchor, accelerator,
          captures_of(match)};
}

}  // namespace mrvlc::partition
