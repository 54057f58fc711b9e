// The targets themselves; a vector machine is asked as a plug-in is, with costs of its own.
#include "machines.h"

namespace mrvlc::test {
namespace {

constexpr const char* kVectorRules =
    "rule vector_elementwise {\n  layer elementwise\n  priority 100\n"
    "  why \"the vector machine computes it\"\n  match { %y = Relu|Add|Mul(%x, ...) }\n}\n"
    "rule vector_chain {\n  layer elementwise\n  priority 200\n"
    "  why \"a sum and what follows are one pass\"\n  match {\n    %a = Add(%x, ...)\n    %y = Relu(%a)\n  "
    "}\n}\n";
constexpr const char* kLibraryRules =
    "rule library_tanh {\n  layer call\n  priority 100\n  why \"the library has it\"\n"
    "  match { %y = Tanh|Round(%x) }\n  where elem(%x) == f32\n  call lib_one(%x, %y, elements(%x))\n"
    "  cost 1e-7 + elements(%x) / 4e9\n}\n"
    "rule library_relu {\n  layer call\n  priority 100\n  why \"the library has it\"\n"
    "  match { %y = Relu(%x) }\n  where elem(%x) == f32\n  call lib_relu(%x, %y, elements(%x))\n}\n";

class VectorMachine : public partition::Accelerator {
 public:
  VectorMachine() {
    machine_.name = "vector";
    machine_.max_layers = 64, machine_.max_ports = 16, machine_.max_batch = 8;
    machine_.launch_us = 0.4;
    auto rules = partition::sound_rules(std::nullopt, {rule_file()}, partition::free_layer_words());
    if (!rules.ok()) FAIL(rules.error().message);
    rules_ = std::move(rules).value();
  }
  const target::Machine& machine() const override { return machine_; }
  bool half() const override { return false; }
  bool needs_product() const override { return false; }
  const std::vector<rules::LayerWord>& layer_words() const override { return partition::free_layer_words(); }
  rules::RuleFile rule_file() const override { return {"vector.rules", kVectorRules}; }
  const partition::SoundRules& rules() const override { return rules_; }
  partition::Legality legal(const ir::Graph&, const partition::Layer&) const override { return {}; }
  partition::RegionForms forms(const ir::Graph&, const partition::Region& r) const override {
    partition::RegionForms out;
    for (ir::ValueId v : r.inputs) out.inputs.push_back({v, false, false, {}});
    for (ir::ValueId v : r.outputs) out.outputs.push_back({v, false, false, {}});
    return out;
  }
  double layer_seconds(const ir::Graph& g, const partition::Layer& l) const override {
    double elements = 0;
    for (ir::NodeId n : l.nodes)
      elements += static_cast<double>(g.value(g.node(n).outputs[0]).type.elements());
    return 2e-8 + elements / 20e9;
  }
  double border_seconds(const ir::Graph&, const partition::Region&) const override { return 0; }

 private:
  target::Machine machine_;
  partition::SoundRules rules_;
};

const partition::Accelerator& quarter() {
  static const backends::Opened kOpened = [] {
    target::Machine m = machine();
    m.name = "quarter";
    m.max_tiles = 2;
    m.tile_counts = {1, 2};
    m.ddr_bytes /= 4;
    m.launch_us /= 4;
    return std::move(backends::open(m, {}).value());
  }();
  return *kOpened;
}

const partition::Library& library() {
  static const partition::Library kLibrary = [] {
    auto rules = partition::sound(partition::load_library_rules({{"library.rules", kLibraryRules}}));
    if (!rules.ok()) FAIL(rules.error().message);
    return partition::Library{"library", std::move(rules).value()};
  }();
  return kLibrary;
}

const partition::Accelerator* accelerator_called(const std::string& name) {
  static const VectorMachine kVector;
  if (name == "cn10ka") return &accelerator();
  if (name == "quarter") return &quarter();
  if (name == "vector") return &kVector;
  return nullptr;
}

}  // namespace

const Names& all_targets() {
  static const Names kNames = {"cn10ka", "quarter", "vector", "library"};
  return kNames;
}

std::vector<const partition::Accelerator*> NamedTargets::find_parts(const Names& names) {
  std::vector<const partition::Accelerator*> out;
  for (const std::string& n : names)
    if (const auto* a = accelerator_called(n)) out.push_back(a);
  return out;
}

NamedTargets::NamedTargets(const Names& names) : parts_(find_parts(names)), machines_(parts_) {
  for (const std::string& n : names) {
    if (n == "library")
      libraries_.push_back(library());
    else
      options_.turns.push_back({.rules = nullptr, .behind = libraries_.size()});
  }
  options_.libraries = &libraries_;
}

std::map<std::string, std::string> targets_of(const ir::Graph& g, const partition::Partition& p,
                                              const partition::Accelerator* a) {
  std::map<std::string, std::string> out;
  for (const auto& d : p.decisions) {
    std::string& target = out[g.value(g.node(d.node).outputs[0]).name];
    target = "host";
    if (d.accelerator) target = a->parts()[p.regions[d.region].accelerator]->machine().name;
    if (d.call != partition::NodeDecision::kNoCall) target = p.calls[d.call].target;
  }
  return out;
}

}  // namespace mrvlc::test
