// idmap.json, section by section: as a tree of values it would be larger than the model.
#include <algorithm>
#include <set>

#include "mrvlc/idmap/idmap.h"
#include "mrvlc/ir/metadata.h"
#include "mrvlc/support/printable.h"

namespace mrvlc::idmap {
namespace {

// Sources that an erased expression lists at most, where it was made of others.
constexpr size_t kFewSources = 16;

class MapMaker {
 public:
  MapMaker(const Compiled& compiled, const SourceOutcomes& outcomes) : c_(compiled), outcomes_(outcomes) {}

  // Who computes what the other tables list: of accelerators the regions; calls name their library.
  std::vector<Target> targets() const {
    std::vector<Target> out;
    for (uint32_t a = 0; a < c_.accelerators.size(); ++a) {
      std::vector<uint32_t>& regions =
          out.emplace_back(Target{c_.accelerators[a], "accelerator"}).regions.emplace();
      for (const auto& [graph, region] : all_regions(c_.graph, c_.partition))
        if (region->accelerator == a) regions.push_back(region->id);
    }
    std::set<std::string> libraries;
    for (const partition::Call& call : c_.partition.calls)
      if (libraries.insert(call.target).second) out.push_back({call.target, "library"});
    out.push_back({"host", "host"});
    return out;
  }

  void sources(const json::Stream<Source>::Add& add) const {
    for (size_t i = 0; i < c_.graph.sources().size(); ++i) {
      const ir::Source& s = c_.graph.sources()[i];
      Source entry{s.id, s.name, s.op_type, s.domain, s.outputs};
      entry.fate = name(outcomes_.place(ir::SourceId(i)));
      entry.reason = outcomes_.reason(ir::SourceId(i));
      if (outcomes_.is_alias(ir::SourceId(i))) entry.same_bytes = true;
      if (s.metadata != nullptr && !s.metadata->properties.empty())
        entry.metadata = properties(s.metadata->properties);
      if (const ir::Origin& origin = ir::origin_of(s); origin.known()) entry.location = location(origin);
      add(entry);
    }
  }

  void expressions(const json::Stream<Expression>::Add& add) const {
    expressions(c_.graph, add);
    ir::for_each_body(c_.graph, [&](const ir::Graph& body) { expressions(body, add); });
  }

  void layers(const json::Stream<Layer>::Add& add) const {
    for (const auto& [graph, region] : all_regions(c_.graph, c_.partition)) {
      for (uint32_t l = 0; l < region->layers.size(); ++l) {
        const partition::Layer& layer = region->layers[l];
        add({l, region->id, layer.rule, std::string(mrvlc::name(layer.kind)), expr_ids(*graph, layer.nodes)});
      }
    }
  }

  void instructions(const json::Stream<Instructions>::Add& add) const {
    for (const auto& [graph, region] : all_regions(c_.graph, c_.partition))
      for (const backend::CodeRange& r : c_.regions[region->id].instructions)
        add({region->id, std::string(backend::kSectionNames[static_cast<size_t>(r.section)]), r.begin, r.end,
             r.layer, graph->expr_id(r.expr)});
  }

  void host_functions(const json::Stream<Function>::Add& add) const {
    for (const chost::HostFunction& f : c_.host.functions) {
      Function entry{f.symbol, f.file, f.first_line, f.last_line, f.expr.index()};
      for (ir::ExprId e : f.fused) entry.fused.push_back(e.index());
      add(entry);
    }
  }

  // In the order of the rules' decisions.
  std::optional<std::vector<Call>> calls() const {
    std::vector<Call> out;
    for (size_t i = 0; i < c_.partition.calls.size(); ++i) {
      const partition::Call& call = c_.partition.calls[i];
      out.push_back(
          {call.target, call.rule, call.function, c_.host.call_symbols[i], expr_ids(c_.graph, call.nodes)});
    }
    return out.empty() ? std::nullopt : std::optional(std::move(out));
  }

  std::optional<std::vector<KeptPrecision>> precisions() const {
    std::vector<KeptPrecision> out = kept_precisions(c_.graph, c_.partition);
    return out.empty() ? std::nullopt : std::optional(std::move(out));
  }

  // What the model says of itself, its graph and its functions.
  std::optional<std::vector<Described>> metadata() const {
    if (c_.graph.metadata == nullptr) return std::nullopt;
    std::vector<Described> out;
    for (const ir::Described& d : c_.graph.metadata->parts) out.push_back({d.of, properties(d.properties)});
    return out;
  }

 private:
  // Line feeds stay in values: tracebacks are lines.
  static Properties properties(const ir::Properties& all) {
    Properties out;
    for (const auto& [key, value] : all)
      out.push_back({json_text(key.str()), {printable_lines(value.str())}});
    return out;
  }
  static Location location(const ir::Origin& origin) {
    Location out;
    if (!origin.file.empty()) out.file = origin.file, out.line = origin.line;
    if (origin.in_module) out.module = origin.module;
    if (!origin.class_name.empty()) out.class_name = origin.class_name;
    return out;
  }
  static std::vector<uint32_t> expr_ids(const ir::Graph& graph, const std::vector<ir::NodeId>& nodes) {
    std::vector<uint32_t> out;
    for (ir::NodeId n : nodes) out.push_back(graph.expr_id(n));
    return out;
  }

  // An erased expression lists its sources where they are few; those of more follow from the expressions that
  // it was made of, and of a chain that was merged node by node all lists together stay linear.
  struct Few {
    std::vector<ir::SourceId> sources;
    bool all = true;
  };

  static void expressions(const ir::Graph& graph, const json::Stream<Expression>::Add& add) {
    std::vector<Few> few(graph.node_slots());
    for (size_t i = 0; i < graph.node_slots(); ++i) {
      const ir::Node& n = graph.node(ir::NodeId(i));
      const ir::Lineage& lineage = graph.lineage(n.id);
      Expression entry{graph.expr_id(n.id), std::string(n.op->name)};
      few[i] = few_sources(lineage, few);
      for (ir::SourceId s : n.erased ? few[i].sources : lineage.sources)
        entry.sources.push_back(graph.sources()[s.index()].id);
      for (ir::NodeId f : lineage.from) entry.from.push_back(graph.expr_id(f));
      entry.pass = lineage.pass;
      if (n.erased) entry.erased = lineage.erased_because;
      add(entry);
    }
  }

  static Few few_sources(const ir::Lineage& lineage, const std::vector<Few>& few) {
    if (lineage.from.empty()) return {lineage.sources};
    Few found;
    for (ir::NodeId f : lineage.from) {
      const Few& part = few[f.index()];
      found.all = found.all && part.all;
      found.sources.insert(found.sources.end(), part.sources.begin(), part.sources.end());
    }
    std::ranges::sort(found.sources);
    found.sources.erase(std::ranges::unique(found.sources).begin(), found.sources.end());
    found.all = found.all && found.sources.size() <= kFewSources;
    if (!found.all) found.sources = few[lineage.from.back().index()].sources;
    return found;
  }

  const Compiled& c_;
  const SourceOutcomes& outcomes_;
};

// A map whose large tables are made entry by entry.
struct MapStream {
  std::vector<Target> targets;
  json::Stream<Source> sources;
  json::Stream<Expression> expressions;
  json::Stream<Layer> layers;
  json::Stream<Instructions> instructions;
  json::Stream<Function> host_functions;
  std::optional<std::vector<Call>> calls;
  std::optional<std::vector<KeptPrecision>> precisions;
  std::optional<std::vector<Described>> metadata;
  static void fields(auto& f, auto& m) { Map::fields(f, m); }

  explicit MapStream(const MapMaker& m)
      : targets(m.targets()),
        sources{[&m](const auto& add) { m.sources(add); }},
        expressions{[&m](const auto& add) { m.expressions(add); }},
        layers{[&m](const auto& add) { m.layers(add); }},
        instructions{[&m](const auto& add) { m.instructions(add); }},
        host_functions{[&m](const auto& add) { m.host_functions(add); }},
        calls(m.calls()),
        precisions(m.precisions()),
        metadata(m.metadata()) {}
};

}  // namespace

std::string json_text(std::string_view text) {
  return printable(text, json::kMostText);
}

std::vector<KeptPrecision> kept_precisions(const ir::Graph& graph, const partition::Partition& partition) {
  std::vector<KeptPrecision> out;
  for (const partition::Region& region : partition.regions)
    for (const auto& [value, precision] : region.precisions)
      out.push_back({region.id, json_text(graph.value(value).name), to_text(precision)});
  return out;
}

void write(JsonWriter& out, const Compiled& compiled, const SourceOutcomes& outcomes) {
  const MapMaker maker(compiled, outcomes);
  json::write(out, MapStream(maker));
}

Map build(const Compiled& compiled) {
  const SourceOutcomes outcomes(compiled);
  const MapMaker maker(compiled, outcomes);
  MapStream stream(maker);
  Map map;
  map.targets = std::move(stream.targets);
  map.sources = stream.sources.all();
  map.expressions = stream.expressions.all();
  map.layers = stream.layers.all();
  map.instructions = stream.instructions.all();
  map.host_functions = stream.host_functions.all();
  map.calls = std::move(stream.calls);
  map.precisions = std::move(stream.precisions);
  map.metadata = std::move(stream.metadata);
  return map;
}

std::string label(const ir::Graph& graph, ir::NodeId node) {
  std::string label;
  for (ir::SourceId id : graph.lineage(node).sources) {
    const ir::Source& s = graph.sources()[id.index()];
    const std::string& shown = s.name.empty() && !s.outputs.empty() ? s.outputs[0] : s.name;
    label += fmt::format("{}{} ({})", label.empty() ? "" : " + ", json_text(shown), json_text(s.op_type));
  }
  return label;
}

}  // namespace mrvlc::idmap
