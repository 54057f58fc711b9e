// Each query names expressions, or some of their code; from these to sources, layers, instructions and
// functions.
#include "mrvlc/idmap/select.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <set>

#include "lines.h"
#include "mrvlc/support/diag/general.h"
#include "mrvlc/support/nearest.h"

namespace mrvlc::idmap {
namespace {

using Holds = std::function<bool(const Json&)>;

constexpr const char* kTables[] = {"sources", "expressions", "layers", "instructions", "host_functions"};
constexpr const char* kCalls = "calls";        // only in maps of programs that call libraries
constexpr const char* kTargets = "targets";    // not in maps of older versions
constexpr const char* kMetadata = "metadata";  // only where the model has some

bool contains(const Json& list, const Json& item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

Diag not_found(std::string what) {
  return make_diag<DiagCode::MRV0004>(std::move(what));
}

class Selection {
 public:
  explicit Selection(const Json& map) : map_(map) {
    for (const char* table : kTables) part_[table] = Json::array();
  }

  bool take(const char* table, const Holds& holds) {
    bool any = false;
    for (const Json& j : map_.at(table)) {
      if (!holds(j)) continue;
      part_[table].push_back(j);
      any = true;
    }
    return any;
  }
  const Json& taken(const char* table) const { return part_.at(table); }

  // Expressions of the code that was taken.
  void take_expressions() {
    std::set<uint32_t> ids;
    auto add = [&](const Json& list) {
      for (const Json& e : list) ids.insert(e.get<uint32_t>());
    };
    for (const Json& l : taken("layers")) add(l.at("exprs"));
    for (const Json& i : taken("instructions")) ids.insert(i.at("expr_id").get<uint32_t>());
    for (const Json& f : taken("host_functions")) {
      ids.insert(f.at("expr_id").get<uint32_t>());
      add(f.at("fused"));
    }
    take("expressions", [&](const Json& e) { return ids.contains(e.at("expr_id").get<uint32_t>()); });
  }

  void take_sources() {
    std::set<std::string> ids;
    for (const Json& e : taken("expressions")) {
      for (const Json& s : e.at("sources")) ids.insert(s.get<std::string>());
    }
    take("sources", [&](const Json& s) { return ids.contains(s.at("id").get<std::string>()); });
  }

  // Layers, instructions and functions of the expressions that were taken.
  void take_code() {
    std::set<uint32_t> ids;
    for (const Json& e : taken("expressions")) ids.insert(e.at("expr_id").get<uint32_t>());
    auto one = [&](const Json& list) {
      return std::any_of(list.begin(), list.end(),
                         [&](const Json& e) { return ids.contains(e.get<uint32_t>()); });
    };
    auto its = [&](const Json& j) { return ids.contains(j.at("expr_id").get<uint32_t>()); };
    take("layers", [&](const Json& l) { return one(l.at("exprs")); });
    take("instructions", its);
    take("host_functions", [&](const Json& f) { return its(f) || one(f.at("fused")); });
  }

  // Calls of libraries whose functions were taken.
  void take_calls() {
    if (!map_.contains(kCalls)) return;
    part_[kCalls] = Json::array();
    take(kCalls, [&](const Json& call) {
      const Json& functions = taken("host_functions");
      return std::ranges::any_of(functions,
                                 [&](const Json& f) { return f.at("symbol") == call.at("symbol"); });
    });
  }

  // Accelerators whose layers were taken.
  void take_targets() {
    if (!map_.contains(kTargets)) return;
    part_[kTargets] = Json::array();
    take(kTargets, [&](const Json& target) {
      const Json regions = target.value("regions", Json::array());
      return std::ranges::any_of(taken("layers"),
                                 [&](const Json& layer) { return contains(regions, layer.at("region")); });
    });
  }

  const Json& map() const { return map_; }
  Json part() && { return std::move(part_); }

 private:
  const Json& map_;
  Json part_;
};

Status select_node(Selection& s, const std::string& name) {
  const std::string wanted = json_text(name);  // the name itself, or as the map shows it
  std::set<std::string> ids;
  s.take("sources", [&](const Json& j) {
    const bool hit = j.at("id") == wanted || j.at("name") == wanted || contains(j.at("outputs"), wanted);
    if (hit) ids.insert(j.at("id").get<std::string>());
    return hit;
  });
  if (ids.empty())
    return not_found(fmt::format("no ONNX node is called '{}'{}", printable(wanted),
                                 suggest_node(s.map().at("sources"), wanted)));
  s.take("expressions", [&](const Json& e) {
    const Json& of = e.at("sources");
    return std::any_of(of.begin(), of.end(),
                       [&](const Json& id) { return ids.contains(id.get<std::string>()); });
  });
  s.take_code();
  return {};
}

Status select_expression(Selection& s, uint32_t id) {
  if (!s.take("expressions", [&](const Json& e) { return e.at("expr_id") == id; }))
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

Status select_instruction(Selection& s, const Query::Instruction& i) {
  const bool any = s.take("instructions", [&](const Json& j) {
    return j.at("region") == i.region && j.at("section") == i.section && j.at("begin") <= i.index &&
           i.index < j.at("end").get<uint32_t>();
  });
  if (any) {
    const Json layer = s.taken("instructions").front().at("layer");
    s.take("layers", [&](const Json& l) { return l.at("region") == i.region && l.at("layer") == layer; });
  }
  return behind_code(
      s, any,
      fmt::format("region {} has no instruction {} in section {}", i.region, i.index, printable(i.section)));
}

Status select_line(Selection& s, const Query::Line& l) {
  const bool any = s.take("host_functions", [&](const Json& f) {
    return f.at("file") == l.file && f.at("first_line") <= l.line &&
           l.line <= f.at("last_line").get<uint32_t>();
  });
  return behind_code(s, any,
                     fmt::format("no function of the stub holds line {}:{}", printable(l.file), l.line));
}

Status select_symbol(Selection& s, const std::string& symbol) {
  const bool any = s.take("host_functions", [&](const Json& f) { return f.at("symbol") == symbol; });
  return behind_code(s, any, fmt::format("the stub has no function '{}'", printable(symbol)));
}

Status select_layers(Selection& s, uint32_t region, std::optional<uint32_t> layer) {
  auto its = [&](const Json& j) { return j.at("region") == region && (!layer || j.at("layer") == *layer); };
  const bool any = s.take("layers", its);
  s.take("instructions", its);
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

std::string suggest_node(const Json& nodes, const std::string& name) {
  std::vector<std::string_view> names;
  for (const Json& n : nodes) {
    names.push_back(n.at("name").get_ref<const std::string&>());
    for (const Json& output : n.at("outputs")) names.push_back(output.get_ref<const std::string&>());
  }
  return did_you_mean(name, names);
}

Result<Json> select(const Json& map, const Query& query) {
  Selection s(map);
  MRVLC_TRY(select_into(s, query));
  s.take_calls();
  s.take_targets();
  return std::move(s).part();
}

namespace {

using Line = std::string (*)(const Json&);
constexpr std::pair<std::string_view, Line> kLines[] = {
    {"sources", source_line},     {"expressions", expression_line},  {"layers", layer_line},
    {"instructions", range_line}, {"host_functions", function_line}, {kCalls, call_line}};

std::string_view asked_about(const Query& q) {
  if (q.node) return "sources";
  if (q.expression) return "expressions";
  if (q.instruction) return "instructions";
  return q.line || q.symbol ? "host_functions" : "layers";
}

}  // namespace

// From the model to code, or from code to the model; what was asked about comes first.
Result<std::string> text_of(const Json& map, const Query& query) {
  MRVLC_ASSIGN(const Json part, select(map, query));
  const std::string_view first = asked_about(query);
  std::vector<std::string> tables;
  for (const auto& [table, line] : kLines) {
    std::string& lines = tables.emplace_back();
    if (!part.contains(table)) continue;
    for (const Json& j : part.at(table)) lines += line(j);
  }
  std::vector<size_t> order = {0, 1, 2, 3, 4, 5};
  if (!query.node && !query.expression) order = {2, 3, 4, 5, 1, 0};
  std::stable_partition(order.begin(), order.end(), [&](size_t t) { return kLines[t].first == first; });
  std::string out;
  for (size_t t : order) out += tables[t];
  return out;
}

Json merge(std::span<const std::pair<std::string, Json>> maps) {
  Json out = {{"schema", "mrvlc-idmaps-1"}, {"models", Json::array()}};
  for (const char* table : kTables) out[table] = Json::array();
  for (const auto& named : maps) {
    const std::string& model = named.first;
    const Json& map = named.second;
    out["models"].push_back(model);
    auto add = [&out, &model, &map](const char* table) {
      for (const Json& j : map.at(table)) {
        Json entry = {{"model", model}};
        entry.update(j);
        out[table].push_back(std::move(entry));
      }
    };
    for (const char* table : kTables) add(table);
    for (const char* table : {kCalls, kTargets, kMetadata})
      if (map.contains(table)) add(table);
  }
  return out;
}

}  // namespace mrvlc::idmap
