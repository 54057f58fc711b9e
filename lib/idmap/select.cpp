// Each query names expressions, or some of their code; from these to sources, layers, instructions and
// functions.
#include "mrvlc/idmap/select.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "lines.h"
#include "mrvlc/support/diag/general.h"

namespace mrvlc::idmap {
namespace {

bool contains(const auto& list, const auto& item) {
  return std::ranges::find(list, item) != std::ranges::end(list);
}

Diag not_found(std::string what) {
  return make_diag<DiagCode::MRV0004>(std::move(what));
}

class Selection {
 public:
  explicit Selection(const Map& map) : map_(map) {}

  // Entries of a table that hold; false: there are none.
  template <class Entry, class Holds>
  bool take(std::vector<Entry> Tables::*table, Holds holds) {
    std::ranges::copy_if(map_.*table, std::back_inserter(part_.*table), holds);
    return !(part_.*table).empty();
  }

  // Expressions of the code that was taken.
  void take_expressions() {
    std::set<uint32_t> ids;
    for (const Layer& l : part_.layers) ids.insert(l.exprs.begin(), l.exprs.end());
    for (const Instructions& i : part_.instructions) ids.insert(i.expr_id);
    for (const Function& f : part_.host_functions) {
      ids.insert(f.expr_id);
      ids.insert(f.fused.begin(), f.fused.end());
    }
    take(&Tables::expressions, [&](const Expression& e) { return ids.contains(e.expr_id); });
  }

  void take_sources() {
    std::set<std::string> ids;
    for (const Expression& e : part_.expressions) ids.insert(e.sources.begin(), e.sources.end());
    take(&Tables::sources, [&](const Source& s) { return ids.contains(s.id); });
  }

  // Layers, instructions and functions of the expressions that were taken.
  void take_code() {
    std::set<uint32_t> ids;
    for (const Expression& e : part_.expressions) ids.insert(e.expr_id);
    auto one = [&](const std::vector<uint32_t>& list) {
      return std::ranges::any_of(list, [&](uint32_t e) { return ids.contains(e); });
    };
    take(&Tables::layers, [&](const Layer& l) { return one(l.exprs); });
    take(&Tables::instructions, [&](const Instructions& i) { return ids.contains(i.expr_id); });
    take(&Tables::host_functions, [&](const Function& f) { return ids.contains(f.expr_id) || one(f.fused); });
  }

  // Calls of libraries whose functions were taken.
  void take_calls() {
    if (!map_.calls) return;
    part_.calls.emplace();
    for (const Call& call : *map_.calls)
      if (std::ranges::find(part_.host_functions, call.symbol, &Function::symbol) !=
          part_.host_functions.end())
        part_.calls->push_back(call);
  }

  // Accelerators whose layers were taken.
  void take_targets() {
    for (const Target& target : map_.targets)
      if (target.regions && std::ranges::any_of(part_.layers, [&](const Layer& layer) {
            return contains(*target.regions, layer.region);
          }))
        part_.targets.push_back(target);
  }

  const Map& map() const { return map_; }
  const Part& part() const { return part_; }
  Part taken() && { return std::move(part_); }

 private:
  const Map& map_;
  Part part_;
};

Status select_node(Selection& s, const std::string& name) {
  const std::string wanted = json_text(name);  // the name itself, or as the map shows it
  const bool any = s.take(&Tables::sources, [&](const Source& source) {
    return source.id == wanted || source.name == wanted || contains(source.outputs, wanted);
  });
  if (!any)
    return not_found(fmt::format("no ONNX node is called '{}'{}", printable(wanted),
                                 suggest_node(s.map().sources, wanted)));
  std::set<std::string> ids;
  for (const Source& source : s.part().sources) ids.insert(source.id);
  s.take(&Tables::expressions, [&](const Expression& e) {
    return std::ranges::any_of(e.sources, [&](const std::string& id) { return ids.contains(id); });
  });
  s.take_code();
  return {};
}

Status select_expression(Selection& s, uint32_t id) {
  if (!s.take(&Tables::expressions, [&](const Expression& e) { return e.expr_id == id; }))
    return not_found(fmt::format("there is no expression {}", id));
  s.take_sources();
  s.take_code();
  return {};
}

Status behind_code(Selection& s, bool any, std::string otherwise) {
  if (!any) return not_found(std::move(otherwise));
  s.take_expressions();
  s.take_sources();
  return {};
}

Status select_instruction(Selection& s, const Query::Instruction& q) {
  const bool any = s.take(&Tables::instructions, [&](const Instructions& i) {
    return i.region == q.region && i.section == q.section && i.begin <= q.index && q.index < i.end;
  });
  if (any) {
    const uint32_t layer = s.part().instructions.front().layer;
    s.take(&Tables::layers, [&](const Layer& l) { return l.region == q.region && l.layer == layer; });
  }
  return behind_code(
      s, any,
      fmt::format("region {} has no instruction {} in section {}", q.region, q.index, printable(q.section)));
}

Status select_line(Selection& s, const Query::Line& l) {
  const bool any = s.take(&Tables::host_functions, [&](const Function& f) {
    return f.file == l.file && f.first_line <= l.line && l.line <= f.last_line;
  });
  return behind_code(s, any,
                     fmt::format("no function of the stub holds line {}:{}", printable(l.file), l.line));
}

Status select_symbol(Selection& s, const std::string& symbol) {
  const bool any = s.take(&Tables::host_functions, [&](const Function& f) { return f.symbol == symbol; });
  return behind_code(s, any, fmt::format("the stub has no function '{}'", printable(symbol)));
}

Status select_layers(Selection& s, uint32_t region, std::optional<uint32_t> layer) {
  auto its = [&](const auto& entry) { return entry.region == region && (!layer || entry.layer == *layer); };
  const bool any = s.take(&Tables::layers, its);
  s.take(&Tables::instructions, its);
  std::string what = layer ? fmt::format("region {} has no layer {}", region, *layer)
                           : fmt::format("there is no region {}", region);
  return behind_code(s, any, std::move(what));
}

Status select_into(Selection& s, const Query& q) {
  if (q.node) return select_node(s, *q.node);
  if (q.expression) return select_expression(s, *q.expression);
  if (q.instruction) return select_instruction(s, *q.instruction);
  if (q.line) return select_line(s, *q.line);
  if (q.symbol) return select_symbol(s, *q.symbol);
  if (q.layer) return select_layers(s, q.layer->region, q.layer->layer);
  if (q.region) return select_layers(s, *q.region, std::nullopt);
  return not_found("nothing is asked");
}

}  // namespace

Result<Part> select(const Map& map, const Query& query) {
  Selection s(map);
  MRVLC_TRY(select_into(s, query));
  s.take_calls();
  s.take_targets();
  return std::move(s).taken();
}

namespace {

// Tables in the order of what follows from a node; from code it is another one.
enum Shown : size_t { Sources, Expressions, Layers, Ranges, Functions, Calls };

Shown asked_about(const Query& q) {
  if (q.node) return Sources;
  if (q.expression) return Expressions;
  if (q.instruction) return Ranges;
  return q.line || q.symbol ? Functions : Layers;
}

template <class Entry>
std::string lines_of(const std::vector<Entry>& table) {
  std::string lines;
  for (const Entry& entry : table) lines += line_of(entry);
  return lines;
}

template <class Entry>
void add_entries(const std::string& model, const std::vector<Entry>& table, std::vector<OfModel<Entry>>& to) {
  for (const Entry& entry : table) to.push_back({model, entry});
}

}  // namespace

// From the model to code, or from code to the model; what was asked about comes first.
Result<std::string> text_of(const Map& map, const Query& query) {
  MRVLC_ASSIGN(const Part part, select(map, query));
  const std::string tables[] = {
      lines_of(part.sources),        lines_of(part.expressions),
      lines_of(part.layers),         lines_of(part.instructions),
      lines_of(part.host_functions), lines_of(part.calls.value_or(std::vector<Call>()))};
  std::vector<Shown> order = {Sources, Expressions, Layers, Ranges, Functions, Calls};
  if (!query.node && !query.expression) order = {Layers, Ranges, Functions, Calls, Expressions, Sources};
  const Shown first = asked_about(query);
  std::ranges::stable_partition(order, [&](Shown t) { return t == first; });
  std::string out;
  for (const Shown t : order) out += tables[t];
  return out;
}

MergedMaps merge(std::span<const std::pair<std::string, Map>> maps) {
  MergedMaps out;
  for (const auto& [model, map] : maps) {
    out.models.push_back(model);
    add_entries(model, map.sources, out.sources);
    add_entries(model, map.expressions, out.expressions);
    add_entries(model, map.layers, out.layers);
    add_entries(model, map.instructions, out.instructions);
    add_entries(model, map.host_functions, out.host_functions);
    if (map.calls) add_entries(model, *map.calls, out.calls);
    add_entries(model, map.targets, out.targets);
    if (map.metadata) add_entries(model, *map.metadata, out.metadata);
  }
  return out;
}

}  // namespace mrvlc::idmap
