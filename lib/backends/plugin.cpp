// Calls of a plug-in (configure, legal, cost, encode), and what is checked of its answers before they are
// believed.
#include "plugin.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>

#include "mrvlc/ops/dynamic_shapes.h"
#include "mrvlc/ops/work.h"
#include "mrvlc/plugin/call.h"
#include "mrvlc/plugin/plugin.h"
#include "mrvlc/support/diag/general.h"
#include "mrvlc/support/diag/target.h"
#include "mrvlc/support/file.h"
#include "mrvlc/target/plugin.h"
#include "plugin_code.h"
#include "plugin_region.h"
#include "plugin_run.h"
#include "plugin_timing.h"

namespace mrvlc::backends {
namespace {

// A mistake in a package or its library must not take all memory.
constexpr size_t kMaxRules = size_t{16} << 20, kMaxLibrary = size_t{1} << 30;
constexpr size_t kMostText = 400;

using Options = std::vector<std::pair<std::string, std::string>>;

// What a package holds beside target.json; of one that is built in the library has no bytes.
struct LoadedPlugin {
  plugin::Plugin plugin;
  rules::RuleFile rules;
  std::string library;
};

std::string text_of(const char* text) {
  return text == nullptr ? std::string() : printable(text, kMostText);
}

// Values as they are on the host: row-major, in their own type.
std::vector<backend::Port> ports_of(const ir::Graph& graph, const std::vector<ir::ValueId>& values) {
  std::vector<backend::Port> out;
  for (ir::ValueId v : values) {
    const TensorType& type = graph.value(v).type;
    out.push_back({v, backend::row_major(type.shape.size()), type.elem});
  }
  return out;
}

partition::Region alone(const ir::Graph& graph, const partition::Layer& layer) {
  partition::Region out;
  out.layers = {layer};
  std::set<ir::ValueId> made;
  for (ir::NodeId n : layer.nodes) made.insert(graph.node(n).outputs.begin(), graph.node(n).outputs.end());
  for (ir::NodeId n : layer.nodes)
    for (ir::ValueId in : graph.node(n).inputs)
      if (in.valid() && !graph.is_constant(in) && !made.contains(in) &&
          std::ranges::find(out.inputs, in) == out.inputs.end())
        out.inputs.push_back(in);
  for (ir::ValueId v : graph.node(layer.nodes.back()).outputs)
    if (v.valid()) out.outputs.push_back(v);
  return out;
}

class PluginBackend : public backend::Backend {
 public:
  PluginBackend(target::PluginPackage package, LoadedPlugin loaded, partition::SoundRules rules,
                Options options)
      : package_(std::move(package)),
        plugin_(std::move(loaded.plugin)),
        file_(std::move(loaded.rules)),
        rules_(std::move(rules)),
        library_(std::move(loaded.library)),
        options_(std::move(options)) {}

  // In front of each question: the library may be open for somebody with other options. MRV0356: it does not
  // take them.
  Status configure() const {
    const mrvl_plugin& table = plugin_.table();
    if (table.configure == nullptr) return {};
    std::vector<mrvl_plugin_option> list;
    for (const auto& [key, value] : options_)
      list.push_back({sizeof(mrvl_plugin_option), key.c_str(), value.c_str()});
    int code = 0;
    {
      const plugin::Call guest(machine().name, "configure");
      code = table.configure(table.context, list.data(), static_cast<uint32_t>(list.size()));
    }
    if (code == 0) return {};
    return make_diag<DiagCode::MRV0356>(printable(machine().name), "configure",
                                        "fails: " + plugin_.said(code));
  }

  const target::Machine& machine() const override { return package_.machine; }
  bool half() const override { return false; }
  bool needs_product() const override { return false; }
  bool sees_integers() const override { return package_.integers; }
  const std::vector<rules::LayerWord>& layer_words() const override { return partition::free_layer_words(); }
  rules::RuleFile rule_file() const override { return file_; }
  const partition::SoundRules& rules() const override { return rules_; }
  backend::PassLimits pass_limits() const override { return {}; }
  uint32_t tiles() const override { return 1; }
  std::vector<std::pair<std::string, std::string>> device_files() const override {
    if (library_.empty()) return {};  // built in
    return {{package_.library, library_}, {package_.rules, file_.text}};
  }

  partition::Legality legal(const ir::Graph& graph, const partition::Layer& layer) const override {
    for (ir::NodeId n : layer.nodes)
      if (ops::has_dynamic_shapes(graph, graph.node(n)))
        return {false, "static shapes", "dynamic", "shapes known at compile time",
                "A shape is known at run time only; plug-ins are asked about one shape."};
    const partition::Region region = alone(graph, layer);
    const PluginRegion shown(graph, region);
    mrvl_plugin_answer answer{};
    answer.size = sizeof answer;
    const int taken = asked("legal", graph, layer, shown,
                            [&](const mrvl_plugin& t) { return t.legal(t.context, &shown.view(), &answer); });
    if (taken == 1) return {};
    if (taken != 0)
      return {false, "legal", plugin_.said(taken), "1 or 0",
              fmt::format("the plug-in of {} fails: {}.", machine().name, plugin_.said(taken))};
    // Its texts are the plug-in's: reading them may end the process.
    const ir::Node& node = graph.node(layer.anchor);
    const plugin::Call guest(machine().name, "legal", printable(node.name, 160), node.op->name);
    std::string reason = text_of(answer.reason);
    if (reason.empty()) reason = fmt::format("{} does not take it, and does not say why.", machine().name);
    return {false, text_of(answer.condition), text_of(answer.actual), text_of(answer.limit), reason};
  }

  partition::RegionForms forms(const ir::Graph&, const partition::Region& region) const override {
    partition::RegionForms out;
    for (ir::ValueId v : region.inputs) out.inputs.push_back({v, false, false, {}});
    for (ir::ValueId v : region.outputs) out.outputs.push_back({v, false, false, {}});
    return out;
  }
  double layer_seconds(const ir::Graph& graph, const partition::Layer& layer) const override {
    return seconds(graph, layer);
  }
  // Plug-ins do not say.
  double border_seconds(const ir::Graph&, const partition::Region&) const override { return 0; }
  Status fault() const override { return fault_; }

  Result<backend::RegionCode> generate(const ir::Graph& graph, const partition::Region& region,
                                       const std::string&, const Log&) const override {
    const PluginRegion shown(graph, region);
    MRVLC_TRY(fault_);
    MRVLC_ASSIGN(EncodedRegion made, encode_once(graph, region, shown));
    MRVLC_ASSIGN(const EncodedRegion again, encode_once(graph, region, shown));
    if (!(made == again))
      return in_encode(graph, region, "gives something else for the same region when it is called again");
    backend::RegionCode out;
    out.instructions = std::move(made.instructions);
    out.section_counts = {0, out.instructions.back().end, 0};
    out.inputs = ports_of(graph, region.inputs);
    out.outputs = ports_of(graph, region.outputs);
    const plugin::File file{shown.input_bytes(), shown.output_bytes(), made.cycles, std::move(made.bytes),
                            std::move(made.times)};
    out.bytes = plugin::write_file(file);
    std::memcpy(out.identity.data(), out.bytes.data() + MRVL_IDENTITY_OFFSET, out.identity.size());
    out.estimated_cycles = file.cycles;
    add_layers(graph, region, shown, out);
    return out;
  }
  std::vector<backend::StoredValue> stored_values(const ir::Graph&, const partition::Region&) const override {
    return {};
  }

  Result<std::unique_ptr<backend::Timing>> time(std::string_view binary) const override {
    MRVLC_ASSIGN(plugin::File file, plugin::read_file(binary));
    return plugin_timing(std::move(file));
  }
  bool runs_here() const override { return plugin_.table().run != nullptr; }
  Result<std::unique_ptr<backend::Executor>> executor(std::string_view binary) const override {
    MRVLC_ASSIGN(plugin::File file, plugin::read_file(binary));
    return plugin_executor(plugin_, machine().name, std::move(file));
  }
  Result<std::string> disassembly(std::string_view binary,
                                  const std::vector<backend::CodeRange>& ranges) const override {
    MRVLC_TRY(configure());
    return plugin_listing(plugin_, machine().name, binary, ranges);
  }

 private:
  // A function of the table, called for a layer. What it must not change is looked at behind it.
  int asked(std::string_view function, const ir::Graph& graph, const partition::Layer& layer,
            const PluginRegion& shown, const std::function<int(const mrvl_plugin&)>& call) const {
    if (Status s = configure(); !s.ok() && fault_.ok()) fault_ = std::move(s);
    const ir::Node& node = graph.node(layer.anchor);
    const size_t before = shown.hash_of_constants();
    int code = 0;
    {
      const plugin::Call guest(machine().name, function, printable(node.name, 160), node.op->name);
      code = call(plugin_.table());
    }
    if (shown.hash_of_constants() != before) note_fault(function, node, "writes to constants of the model");
    return code;
  }

  // The first counts.
  void note_fault(std::string_view function, const ir::Node& node, std::string_view what) const {
    if (!fault_.ok()) return;
    fault_ = at_node(make_diag<DiagCode::MRV0356>(printable(machine().name), function, what), node.name,
                     node.op->name);
  }

  double seconds(const ir::Graph& graph, const partition::Layer& layer) const {
    constexpr double kMostSeconds = 1e9;
    if (plugin_.table().cost == nullptr) return 0;
    const partition::Region region = alone(graph, layer);
    const PluginRegion shown(graph, region);
    double out = 0;
    const int failed = asked("cost", graph, layer, shown,
                             [&](const mrvl_plugin& t) { return t.cost(t.context, &shown.view(), &out); });
    const ir::Node& node = graph.node(layer.anchor);
    if (failed != 0)
      note_fault("cost", node, "fails: " + plugin_.said(failed));
    else if (!(out >= 0 && out <= kMostSeconds))
      note_fault("cost", node, fmt::format("gives {} seconds", out));
    else
      return out;
    return 0;
  }

  Diag in_encode(const ir::Graph& graph, const partition::Region& region, std::string_view what) const {
    const ir::Node& first = graph.node(region.layers.front().anchor);
    return at_node(make_diag<DiagCode::MRV0356>(printable(machine().name), "encode", what), first.name,
                   first.op->name);
  }

  Result<EncodedRegion> encode_once(const ir::Graph& graph, const partition::Region& region,
                                    const PluginRegion& shown) const {
    mrvl_plugin_code code{};
    code.size = sizeof code;
    const int failed = asked("encode", graph, region.layers.front(), shown,
                             [&](const mrvl_plugin& t) { return t.encode(t.context, &shown.view(), &code); });
    MRVLC_TRY(fault_);
    if (failed != 0) return in_encode(graph, region, "fails: " + plugin_.said(failed));
    // What it points to is the plug-in's: reading it may end the process.
    const ir::Node& first = graph.node(region.layers.front().anchor);
    const plugin::Call guest(machine().name, "encode", printable(first.name, 160), first.op->name);
    if (plugin_.table().version < 2) code.range_cycles = nullptr;
    EncodedRegion out;
    if (std::string fault = read_code(code, graph, shown, out); !fault.empty())
      return in_encode(graph, region, fault);
    return out;
  }

  static void add_layers(const ir::Graph& graph, const partition::Region& region, const PluginRegion& shown,
                         backend::RegionCode& out) {
    for (uint32_t l = 0; l < region.layers.size(); ++l) {
      backend::LayerReport layer;
      layer.layer = l;
      for (ir::NodeId n : region.layers[l].nodes) layer.macs += ops::macs(graph, graph.node(n));
      out.macs += layer.macs;
      out.layers.push_back(std::move(layer));
    }
    for (uint32_t v = 0; v < shown.view().value_count; ++v)
      if (shown.view().values[v].data != nullptr)
        out.weights_bytes += static_cast<int64_t>(shown.view().values[v].bytes);
  }

  target::PluginPackage package_;
  plugin::Plugin plugin_;
  rules::RuleFile file_;
  partition::SoundRules rules_;
  std::string library_;  // its bytes; empty: built in
  Options options_;
  mutable Status fault_;
};

Status check_settings(std::string_view name, const Settings& settings) {
  const auto refuse = [&](std::string_view option) {
    return make_diag<DiagCode::MRV0004>(
        fmt::format("{}: {} is a plug-in and has no such setting", option, name));
  };
  if (settings.tiles > 1) return refuse("--tiles");
  if (settings.column != target::Column::Default) return refuse("--machine");
  if (settings.pin_weights) return refuse("--wb-pin");
  if (settings.silicon_id) return refuse("--silicon-id");
  if (!settings.stages.empty()) return refuse("--dump-stage");
  return {};
}

// All that the package declares, in its order.
Options options_of(const target::PluginPackage& package, const Settings& settings) {
  Options out;
  for (const target::PackageOption& o : package.options) {
    const auto given = std::ranges::find(settings.options, o.key, &Options::value_type::first);
    out.emplace_back(o.key, given == settings.options.end() ? o.standard : given->second);
  }
  return out;
}

Result<LoadedPlugin> load(const target::PluginPackage& package, const target::TargetText& text) {
  const std::string& name = package.machine.name;
  if (text.plugin != nullptr) {
    MRVLC_ASSIGN(plugin::Plugin plugin, plugin::Plugin::built_in(text.plugin, name));
    return LoadedPlugin{std::move(plugin), {package.rules, text.rules, true}, {}};
  }
  const std::filesystem::path folder = text.files.front().path.parent_path();
  MRVLC_ASSIGN(plugin::Plugin plugin, plugin::Plugin::open(folder / package.library, name));
  LoadedPlugin out{std::move(plugin), {(folder / package.rules).string(), {}, true}, {}};
  MRVLC_ASSIGN(out.library, read_file(folder / package.library, kMaxLibrary));
  MRVLC_ASSIGN(out.rules.text, read_file(folder / package.rules, kMaxRules));
  return out;
}

// Nobody would read what is set.
Status check_configurable(const target::PluginPackage& package, const plugin::Plugin& plugin) {
  if (package.options.empty() || plugin.table().configure != nullptr) return {};
  const std::string_view why =
      plugin.table().version < 2
          ? "is of version 1 of the interface, which has no options; target.json declares some"
          : "lacks the function 'configure', which the options of target.json are for";
  return make_diag<DiagCode::MRV0355>(printable(package.machine.name), printable(package.library), why);
}

}  // namespace

Result<Opened> open_plugin(std::string_view name, const target::TargetText& text, const Settings& settings) {
  MRVLC_ASSIGN(target::PluginPackage package, target::parse_plugin(text.json, name));
  if (package.machine.name != name)
    return make_diag<DiagCode::MRV0351>(printable(name), "name", "differs from the name it was asked for by");
  MRVLC_TRY(check_settings(name, settings));
  MRVLC_ASSIGN(LoadedPlugin loaded, load(package, text));
  MRVLC_TRY(check_configurable(package, loaded.plugin));
  MRVLC_ASSIGN(partition::SoundRules rules,
               partition::sound_rules(std::nullopt, {loaded.rules}, partition::free_layer_words()));
  Options options = options_of(package, settings);
  auto out = std::make_unique<PluginBackend>(std::move(package), std::move(loaded), std::move(rules),
                                             std::move(options));
  MRVLC_TRY(out->configure());
  return Opened(std::move(out));
}

}  // namespace mrvlc::backends
