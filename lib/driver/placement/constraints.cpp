// Options as constraints, rules resolved to nodes, changes of an edited placement.json, evicted nodes.
#include "placement/constraints.h"

#include <algorithm>
#include <map>
#include <set>

#include "mrvlc/idmap/idmap.h"
#include "mrvlc/ir/pass_names.h"
#include "mrvlc/support/diag/partition.h"
#include "mrvlc/support/glob.h"

namespace mrvlc::driver {
namespace {

using Target = Constraint::Target;

Constraint named(const std::string& selector) {
  Constraint c;
  c.nodes = {selector};
  return c;
}

std::string_view option_of(const Constraint& c) {
  if (c.on != Target::Any) return c.on == Target::Cpu ? "--cpu" : "--accel";
  if (c.together) return "--together";
  if (c.before) return "--border";
  if (c.after) return "--border-after";
  return c.max_layers ? "--max-region-layers" : "--max-regions";
}

std::string quoted(std::string_view word, const std::vector<std::string>& texts) {
  if (texts.empty()) return {};
  std::string out = fmt::format(" {}'{}'", word, printable(texts.front()));
  return texts.size() == 1 ? out : out + fmt::format(" and {} more", texts.size() - 1);
}

bool on_accelerator(const std::string& where) {
  return where == "accelerator";
}

}  // namespace

std::string described(const Constraint& c) {
  const std::string option(option_of(c));
  if (option == "--max-region-layers") return fmt::format("{} {}", option, *c.max_layers);
  if (option == "--max-regions") return fmt::format("{} {}", option, *c.max_regions);
  return option + quoted("", c.nodes) + quoted("from ", c.from) + quoted("to ", c.to);
}

std::vector<Constraint> constraints_of(const CompileOptions& o) {
  std::vector<Constraint> out;
  auto add = [&](const std::vector<std::string>& selectors, auto set) {
    for (const std::string& s : selectors) set(out.emplace_back(named(s)));
  };
  add(o.cpu, [](Constraint& c) { c.on = Target::Cpu; });
  add(o.accel, [](Constraint& c) { c.on = Target::Accelerator; });
  add(o.borders, [](Constraint& c) { c.before = true; });
  add(o.borders_after, [](Constraint& c) { c.after = true; });
  add(o.together, [](Constraint& c) { c.together = true; });
  if (o.max_region_layers) out.emplace_back(named("*")).max_layers = o.max_region_layers;
  if (o.max_regions) out.emplace_back(named("*")).max_regions = o.max_regions;
  for (Constraint& c : out) c.given_as = described(c);
  return out;
}

namespace {

// Machine::name of several accelerators is that of all.
std::vector<std::string> names_of(std::string_view machine) {
  std::vector<std::string> out;
  for (size_t at = 0; at <= machine.size();) {
    const size_t end = std::min(machine.find(',', at), machine.size());
    out.emplace_back(machine.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

}  // namespace

AssignedNodes::AssignedNodes(const ir::Graph& graph, const partition::Partition& partition,
                             std::string_view machine) {
  const std::vector<std::string> names = names_of(machine);
  const auto regions_placed = all_regions(graph, partition);
  const chost::HostCode host;
  const std::vector<backend::RegionCode> regions;
  const idmap::SourceOutcomes outcomes({graph, partition, regions, host});
  for (size_t i = 0; i < graph.sources().size(); ++i) {
    using Place = idmap::SourceOutcomes::Place;
    const ir::SourceId id(i);
    const Place place = outcomes.place(id);
    const partition::NodeDecision* d = outcomes.decision(id);
    Source& s = sources.emplace_back();
    s.id = graph.sources()[i].id;
    s.name = graph.sources()[i].name, s.op_type = graph.sources()[i].op_type;
    s.where = idmap::name(place == Place::Removed ? Place::Folded : place);
    if (d != nullptr && d->accelerator) {
      s.region = d->region;
      s.target = names.at(regions_placed[d->region].region->accelerator);
    }
    if (d != nullptr) s.rule = d->rule.str();
    if (d != nullptr && d->call != partition::NodeDecision::kNoCall)
      s.call = partition.calls[d->call].function;
    if (d != nullptr && !d->accelerator) s.target = d->on_target() ? partition.calls[d->call].target : "host";
  }
  for (const partition::NodeDecision& d : partition.decisions) {
    if (d.rule.empty()) continue;
    for (ir::SourceId s : graph.lineage(d.node).sources)
      rules.emplace_back(d.rule.str(), graph.sources()[s.index()].id);
  }
}

bool asks_for_rules(const std::vector<Constraint>& constraints) {
  return std::ranges::any_of(constraints, [](const Constraint& c) {
    return std::ranges::any_of(c.nodes, [](const auto& s) { return !partition::rule_selected(s).empty(); });
  });
}

void resolve_rules(std::vector<Constraint>& constraints, const AssignedNodes& placed) {
  for (Constraint& c : constraints) {
    std::vector<std::string> nodes;
    for (const std::string& selector : c.nodes) {
      const std::string_view rule = partition::rule_selected(selector);
      const size_t before = nodes.size();
      std::set<std::string> ids;
      for (const auto& [name, id] : placed.rules) {
        if (!rule.empty() && glob_match(rule, name) && ids.insert(id).second) nodes.push_back("id:" + id);
      }
      if (nodes.size() == before) nodes.push_back(selector);
    }
    c.nodes = std::move(nodes);
  }
}

namespace {

Diag no_change(const std::string& shown, std::string_view id, std::string_view why) {
  return make_diag<DiagCode::MRV0413>(shown, fmt::format("node '{}': {}", printable(id), why));
}

// Nodes whose place is another one.
Status moved(const PlacementFile& file,
             const std::map<std::string_view, const AssignedNodes::Source*>& placed, const std::string& shown,
             std::vector<Constraint>& out) {
  Constraint cpu, accelerator;
  cpu.on = Target::Cpu, accelerator.on = Target::Accelerator;
  for (const PlacementFile::Node& n : file.nodes) {
    const auto it = placed.find(n.id);
    if (it == placed.end()) return no_change(shown, n.id, "the model has no such node");
    if (n.where.empty() || n.where == it->second->where) {
      const std::string& target = it->second->target.empty() ? file.target : it->second->target;
      if (n.target.empty() || n.target == target) continue;
      if (n.target != "host")
        return no_change(shown, n.id, fmt::format("'target' can become host, not '{}'", printable(n.target)));
      cpu.nodes.push_back("id:" + n.id);
      continue;
    }
    if (n.where != "cpu" && n.where != "accelerator")
      return no_change(shown, n.id,
                       fmt::format("'where' can become cpu or accelerator, not '{}'", printable(n.where)));
    (n.where == "cpu" ? cpu : accelerator).nodes.push_back("id:" + n.id);
  }
  for (Constraint* c : {&cpu, &accelerator}) {
    if (c->nodes.empty()) continue;
    c->given_as = described(*c);
    out.push_back(std::move(*c));
  }
  return {};
}

// Regions of the file that are none without: what they hold is kept together.
void regrouped(const PlacementFile& file, const AssignedNodes& placed, std::vector<Constraint>& out) {
  std::map<uint32_t, std::set<std::string>> now, before;
  for (const AssignedNodes::Source& s : placed.sources) {
    if (on_accelerator(s.where) && s.region) before[*s.region].insert(s.id);
  }
  for (const PlacementFile::Node& n : file.nodes) {
    if (on_accelerator(n.where) && n.region) now[*n.region].insert(n.id);
  }
  std::set<std::set<std::string>> known;
  for (const auto& [region, ids] : before) known.insert(ids);
  for (const auto& [region, ids] : now) {
    if (known.contains(ids)) continue;
    Constraint c;
    for (const std::string& id : ids) c.nodes.push_back("id:" + id);
    c.together = true;
    c.given_as = described(c);
    out.push_back(std::move(c));
  }
}

// Somebody who moves a node to the CPU does not ask for the rest of its region to stay as it was.
bool regions_changed(const PlacementFile& file,
                     const std::map<std::string_view, const AssignedNodes::Source*>& placed) {
  return std::ranges::any_of(file.nodes, [&](const PlacementFile::Node& n) {
    const AssignedNodes::Source& s = *placed.at(n.id);
    return on_accelerator(n.where) && on_accelerator(s.where) && n.region != s.region;
  });
}

}  // namespace

Result<std::vector<Constraint>> changes(const PlacementFile& file, const AssignedNodes& placed,
                                        const std::string& shown) {
  std::map<std::string_view, const AssignedNodes::Source*> by_id;
  for (const AssignedNodes::Source& s : placed.sources) by_id.emplace(s.id, &s);
  std::vector<Constraint> out;
  MRVLC_TRY(moved(file, by_id, shown, out));
  if (regions_changed(file, by_id)) regrouped(file, placed, out);
  return out;
}

bool draws_borders(const Constraint& c) {
  return c.before || c.after || c.together;
}

std::vector<Constraint> without_borders(const std::vector<Constraint>& constraints) {
  std::vector<Constraint> out;
  for (const Constraint& c : constraints) {
    if (c.on == Target::Any) continue;
    Constraint& plain = out.emplace_back(c);
    plain.before = plain.after = plain.together = false;
    plain.max_layers = plain.max_regions = std::nullopt;
  }
  return out;
}

Status check_evictions(const std::vector<Constraint>& constraints, const AssignedNodes& before,
                       const ir::Graph& graph, const partition::Partition& partition) {
  const auto border = std::ranges::find_if(constraints, draws_borders);
  if (border == constraints.end()) return {};
  std::map<std::string_view, const AssignedNodes::Source*> were;
  for (const AssignedNodes::Source& s : before.sources) were.emplace(s.id, &s);
  for (const partition::NodeDecision& d : partition.decisions) {
    if (d.accelerator || graph.lineage(d.node).pass == ir::kWidenF16) continue;
    if (std::ranges::find(partition.beyond_regions, d.node) != partition.beyond_regions.end()) continue;
    const auto& sources = graph.lineage(d.node).sources;
    const bool evicted = std::ranges::all_of(sources, [&](ir::SourceId s) {
      return on_accelerator(were.at(graph.sources()[s.index()].id)->where);
    });
    if (!evicted) continue;
    const ir::Source& s = graph.sources()[sources.front().index()];
    const Diag why = make_diag<DiagCode::MRV0412>(
        border->given_as,
        fmt::format("it would send a node to the CPU that is not there without it: {}", d.reason));
    return at_node(why, s.name.empty() ? s.id : s.name, s.op_type);
  }
  return {};
}

}  // namespace mrvlc::driver
