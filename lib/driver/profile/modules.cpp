// Nodes, layers and steps summed up by the module that they come from.
#include "profile/modules.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace mrvlc::driver {
namespace {

// The first parts of a dotted name.
std::string first_parts(const std::string& name, uint32_t depth) {
  size_t end = 0;
  for (uint32_t i = 0; i < depth && end != std::string::npos; ++i)
    end = name.find('.', end == 0 ? 0 : end + 1);
  return depth == 0 || end == std::string::npos ? name : name.substr(0, end);
}

class Summer {
 public:
  Summer(const idmap::Map& map, uint32_t depth) : depth_(depth), locations_(map) {
    for (const idmap::Source& s : map.sources)
      if (s.location) of_source_.emplace(s.id, &*s.location);
  }

  ModuleUse& of_expr(uint32_t expr) { return of(locations_.of(expr)); }
  ModuleUse& of_source(const std::string& id) {
    const auto found = of_source_.find(id);
    return of(found == of_source_.end() ? nullptr : found->second);
  }
  // Of a layer the first expression whose module is known.
  ModuleUse& of_exprs(const std::vector<uint32_t>& exprs) {
    for (const uint32_t e : exprs) {
      const idmap::Location* location = locations_.of(e);
      if (location != nullptr && location->module) return of(location);
    }
    return of(nullptr);
  }

  std::vector<ModuleUse> sorted() && {
    std::vector<ModuleUse> out;
    for (auto& [key, use] : uses_) out.push_back(std::move(use));
    std::ranges::stable_sort(out, std::greater<>{}, [](const ModuleUse& u) {
      return std::tuple(u.cycles, u.measured.value_or(0), u.host_seconds, u.macs);
    });
    return out;
  }

 private:
  ModuleUse& of(const idmap::Location* location) {
    const bool known = location != nullptr && location->module;
    const std::string whole = known ? *location->module : "";
    const std::string name = first_parts(whole, depth_);
    const auto [it, is_new] = uses_.try_emplace({known, name});
    ModuleUse& use = it->second;
    const std::string cls = known && name == whole ? location->class_name.value_or("") : "";
    if (is_new) use.name = name, use.known = known;
    if (use.class_name.empty()) use.class_name = cls;
    return use;
  }

  uint32_t depth_;
  idmap::Locations locations_;
  std::map<std::string, const idmap::Location*> of_source_;
  std::map<std::pair<bool, std::string>, ModuleUse> uses_;
};

std::string shown_name(const ModuleUse& u) {
  if (!u.known) return "(no module is known)";
  const std::string cls = u.class_name.substr(u.class_name.rfind('.') + 1);  // npos + 1 is 0
  return (u.name.empty() ? "(the outermost module)" : u.name) +
         (cls.empty() ? "" : fmt::format(" ({})", cls));
}

}  // namespace

std::vector<ModuleUse> module_uses(const ModuleTables& tables, const std::vector<report::Region>& regions,
                                   const std::optional<Measured>& measured, uint32_t depth) {
  Summer sum(tables.map, depth);
  for (const PlacementEntry& n : tables.placement.nodes) {
    ModuleUse& use = sum.of_source(n.id);
    ++use.nodes;
    use.macs += static_cast<uint64_t>(n.macs);
  }
  std::map<std::pair<uint32_t, uint32_t>, const std::vector<uint32_t>*> exprs;  // by region and layer
  for (const idmap::Layer& l : tables.map.layers) exprs[{l.region, l.layer}] = &l.exprs;
  for (const report::Region& r : regions)
    for (const report::Layer& l : r.layers)
      if (const auto at = exprs.find({r.id, l.number}); at != exprs.end())
        sum.of_exprs(*at->second).cycles += l.cycles;
  for (const ReportedNode& n : tables.report.host.nodes) sum.of_expr(n.expr_id).host_seconds += n.seconds;
  if (measured)
    for (const Measured::Step& s : measured->steps) {
      if (s.region) continue;
      std::optional<double>& ms = sum.of_expr(s.expr).measured;
      ms = ms.value_or(0) + s.least_ms;
    }
  return std::move(sum).sorted();
}

std::string modules_text(const std::vector<ModuleUse>& uses) {
  uint64_t cycles = 0;
  for (const ModuleUse& u : uses) cycles += u.cycles;
  const bool measured = std::ranges::any_of(uses, [](const ModuleUse& u) { return u.measured.has_value(); });
  std::string out = fmt::format("{:>10} {:>6} {:>12} {:>6} {:>12}{}  {}\n", "cycles", "%", "MACs", "nodes",
                                "host ms", measured ? "  measured ms" : "", "module");
  for (const ModuleUse& u : uses) {
    const double share = cycles == 0 ? 0 : 100 * static_cast<double>(u.cycles) / static_cast<double>(cycles);
    const std::string ms = u.measured ? fmt::format("{:>13.3f}", *u.measured) : std::string(13, ' ');
    out += fmt::format("{:>10} {:>6.2f} {:>12} {:>6} {:>12.3f}{}  {}\n", u.cycles, share, u.macs, u.nodes,
                       1e3 * u.host_seconds, measured ? ms : "", printable(shown_name(u), 400));
  }
  return out;
}

Json modules_json(const std::vector<ModuleUse>& uses) {
  Json out = Json::array();
  for (const ModuleUse& u : uses) {
    Json row = {{"module", u.known ? Json(u.name) : Json()}};
    if (!u.class_name.empty()) row["class"] = u.class_name;
    row["nodes"] = u.nodes;
    row["macs"] = u.macs;
    row["cycles"] = u.cycles;
    row["host_ms"] = 1e3 * u.host_seconds;
    if (u.measured) row["measured_ms"] = *u.measured;
    out.push_back(std::move(row));
  }
  return out;
}

}  // namespace mrvlc::driver
