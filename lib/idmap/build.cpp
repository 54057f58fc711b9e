// idmap.json, section by section: as a tree of values it would be larger than the model.
#include <algorithm>

#include "mrvlc/idmap/idmap.h"
#include "mrvlc/ir/metadata.h"
#include "mrvlc/support/printable.h"

namespace mrvlc::idmap {
namespace {

// Sources that an erased expression lists at most, where it was made of others.
constexpr size_t kFewSources = 16;

class MapWriter {
 public:
  MapWriter(JsonWriter& out, const Compiled& compiled, const Fates& fates)
      : out_(out), c_(compiled), fates_(fates) {}

  void run() {
    out_.object();
    out_.member("schema", "mrvlc-idmap-1");
    section("targets", [&] { targets(); });
    section("sources", [&] { sources(); });
    section("expressions", [&] {
      expressions(c_.graph);
      ir::for_each_body(c_.graph, [&](const ir::Graph& body) { expressions(body); });
    });
    section("layers", [&] { layers(); });
    section("instructions", [&] { instructions(); });
    section("host_functions", [&] { host_functions(); });
    if (!c_.partition.calls.empty()) section("calls", [&] { calls(); });
    write_precisions(out_, c_.graph, c_.partition);
    if (c_.graph.metadata != nullptr) section("metadata", [&] { metadata(); });
    out_.end();
  }

 private:
  template <class F>
  void section(const char* name, F fill) {
    out_.key(name).array();
    fill();
    out_.end();
  }
  void text(const char* name, std::string_view value) {
    out_.key(name);
    write_text(out_, value);
  }
  template <class List, class F>
  void list(const char* name, const List& items, F text_or_number) {
    out_.key(name).array();
    for (const auto& item : items) out_.value(text_or_number(item));
    out_.end();
  }

  // Who computes what the other sections list: of accelerators the regions; calls name their library.
  void targets() {
    for (uint32_t a = 0; a < c_.accelerators.size(); ++a) {
      target(c_.accelerators[a], "accelerator");
      out_.key("regions").array();
      for (const auto& [graph, region] : all_regions(c_.graph, c_.partition))
        if (region->accelerator == a) out_.value(region->id);
      out_.end();
      out_.end();
    }
    std::vector<std::string> libraries;
    for (const partition::Call& call : c_.partition.calls)
      if (std::ranges::find(libraries, call.target) == libraries.end()) libraries.push_back(call.target);
    for (const std::string& library : libraries) {
      target(library, "library");
      out_.end();
    }
    target("host", "host");
    out_.end();
  }
  void target(const std::string& target_name, std::string_view kind) {
    out_.object();
    text("name", target_name);
    out_.member("kind", kind);
  }

  void sources() {
    for (size_t i = 0; i < c_.graph.sources().size(); ++i) {
      const ir::Source& s = c_.graph.sources()[i];
      out_.object();
      out_.member("id", s.id);
      text("name", s.name);
      text("op_type", s.op_type);
      text("domain", s.domain);
      out_.key("outputs").array();
      for (const std::string& output : s.outputs) write_text(out_, output);
      out_.end();
      out_.member("fate", name(fates_.place(ir::SourceId(i))));
      out_.member("reason", fates_.reason(ir::SourceId(i)));
      if (s.metadata != nullptr && !s.metadata->properties.empty())
        properties("metadata", s.metadata->properties);
      if (const ir::Origin& origin = ir::origin_of(s); origin.known()) location(origin);
      out_.end();
    }
  }
  // Line feeds stay in values: tracebacks are lines.
  void properties(const char* member, const ir::Properties& all) {
    out_.key(member).object();
    for (const auto& [key, value] : all) out_.member(json_text(key), printable_lines(value.str()));
    out_.end();
  }
  void location(const ir::Origin& origin) {
    out_.key("location").object();
    if (!origin.file.empty()) {
      text("file", origin.file);
      out_.member("line", origin.line);
    }
    if (origin.in_module) text("module", origin.module);
    if (!origin.class_name.empty()) text("class", origin.class_name);
    out_.end();
  }
  // What the model says of itself, its graph and its functions.
  void metadata() {
    for (const ir::Described& d : c_.graph.metadata->parts) {
      out_.object();
      text("of", d.of);
      properties("entries", d.properties);
      out_.end();
    }
  }

  // An erased expression lists its sources where they are few; those of more follow from the expressions that
  // it was made of, and of a chain that was merged node by node all lists together stay linear.
  struct Few {
    std::vector<ir::SourceId> sources;
    bool all = true;
  };

  void expressions(const ir::Graph& graph) {
    std::vector<Few> few(graph.node_slots());
    for (size_t i = 0; i < graph.node_slots(); ++i) {
      const ir::Node& n = graph.node(ir::NodeId(i));
      const ir::Lineage& lineage = graph.lineage(n.id);
      out_.object();
      out_.member("expr_id", graph.expr_id(n.id));
      out_.member("op", n.op->name);
      few[i] = few_sources(lineage, few);
      list("sources", n.erased ? few[i].sources : lineage.sources,
           [&](ir::SourceId s) -> std::string_view { return graph.sources()[s.index()].id; });
      list("from", lineage.from, [&](ir::NodeId f) { return graph.expr_id(f); });
      out_.member("pass", lineage.pass);
      if (n.erased) out_.member("erased", lineage.erased_because);
      out_.end();
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

  void layers() {
    for (const auto& [graph, region] : all_regions(c_.graph, c_.partition)) {
      for (size_t l = 0; l < region->layers.size(); ++l) {
        const partition::Layer& layer = region->layers[l];
        out_.object();
        out_.member("layer", l);
        out_.member("region", region->id);
        out_.member("rule", layer.rule);
        out_.member("kind", mrvlc::name(layer.kind));
        list("exprs", layer.nodes, [&, of = graph](ir::NodeId n) { return of->expr_id(n); });
        out_.end();
      }
    }
  }

  void instructions() {
    for (const auto& [graph, region] : all_regions(c_.graph, c_.partition)) {
      for (const auto& range : c_.regions[region->id].instructions) {
        out_.object();
        out_.member("region", region->id);
        out_.member("section", backend::kSectionNames[static_cast<size_t>(range.section)]);
        out_.member("begin", range.begin);
        out_.member("end", range.end);
        out_.member("layer", range.layer);
        out_.member("expr_id", graph->expr_id(range.expr));
        out_.end();
      }
    }
  }

  void host_functions() {
    for (const auto& f : c_.host.functions) {
      out_.object();
      out_.member("symbol", f.symbol);
      out_.member("file", f.file);
      out_.member("first_line", f.first_line);
      out_.member("last_line", f.last_line);
      out_.member("expr_id", f.expr.index());
      list("fused", f.fused, [](ir::ExprId e) { return e.index(); });
      out_.end();
    }
  }

  // Calls of libraries, in the order of the rules' decisions; `symbol`: the function of the stub that calls.
  void calls() {
    for (size_t i = 0; i < c_.partition.calls.size(); ++i) {
      const partition::Call& call = c_.partition.calls[i];
      out_.object();
      text("target", call.target);
      text("rule", call.rule);
      text("function", call.function);
      text("symbol", c_.host.call_symbols[i]);
      list("exprs", call.nodes, [&](ir::NodeId n) { return c_.graph.expr_id(n); });
      out_.end();
    }
  }

  JsonWriter& out_;
  const Compiled& c_;
  const Fates& fates_;
};

}  // namespace

std::string json_text(std::string_view text) {
  return printable(text, kMaxTextBytes);
}

void write_precisions(JsonWriter& out, const ir::Graph& graph, const partition::Partition& partition) {
  bool any = false;
  for (const partition::Region& region : partition.regions) {
    for (const auto& [value, precision] : region.precisions) {
      if (!any) out.key("precisions").array();
      any = true;
      out.object();
      out.member("region", region.id);
      out.member("value", json_text(graph.value(value).name));
      out.member("precision", to_text(precision));
      out.end();
    }
  }
  if (any) out.end();
}

void write(JsonWriter& out, const Compiled& compiled, const Fates& fates) {
  MapWriter(out, compiled, fates).run();
}

Json build(const Compiled& compiled) {
  std::string text;
  JsonWriter out([&](std::string_view piece) { text += piece; });
  write(out, compiled, Fates(compiled));
  out.finish();
  return Json::parse(text);
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
