// Answers to `mrvlc map`: from a node, expression, instruction, line or byte to all that belongs to it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <set>

#include "lines.h"
#include "mrvlc/idmap/idmap.h"
#include "mrvlc/support/diag/general.h"

namespace mrvlc::idmap {

bool contains(const Json& list, const Json& item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

Diag not_found(std::string what) {
  return make_diag<DiagCode::MRV0004>(std::move(what));
}

std::string source_line(const Json& source) {
  return fmt::format("source {} '{}' ({}): {}{}{}\n", source.at("id").get<std::string>(),
                     source.at("name").get<std::string>(), source.at("op_type").get<std::string>(),
                     source.at("fate").get<std::string>(), source.at("reason") == "" ? "" : ", ",
                     source.at("reason").get<std::string>());
}

std::string expression_line(const Json& e) {
  std::vector<std::string> sources;
  for (const Json& s : e.at("sources")) sources.push_back(s.get<std::string>());
  std::vector<uint32_t> from;
  for (const Json& f : e.at("from")) from.push_back(f.get<uint32_t>());
  std::string line =
      fmt::format("expression {} {} by {}, sources {}", e.at("expr_id").get<uint32_t>(),
                  e.at("op").get<std::string>(), e.at("pass").get<std::string>(), fmt::join(sources, " "));
  if (!from.empty()) line += fmt::format(", made of {}", fmt::join(from, " "));
  if (e.contains("erased")) line += ", gone: " + e.at("erased").get<std::string>();
  return line + "\n";
}

std::string layer_line(const Json& l) {
  return fmt::format("layer {} of region {}: {} by rule {}\n", l.at("layer").get<uint32_t>(),
                     l.at("region").get<uint32_t>(), l.at("kind").get<std::string>(),
                     l.at("rule").get<std::string>());
}

std::string range_line(const Json& i) {
  return fmt::format("instructions region {} {} [{}, {})\n", i.at("region").get<uint32_t>(),
                     i.at("section").get<std::string>(), i.at("begin").get<uint32_t>(),
                     i.at("end").get<uint32_t>());
}

std::string function_line(const Json& f) {
  return fmt::format("function {} {}:{}-{}\n", f.at("symbol").get<std::string>(),
                     f.at("file").get<std::string>(), f.at("first_line").get<uint32_t>(),
                     f.at("last_line").get<uint32_t>());
}

namespace {

// Sources by id, made once a query: an expression of a large model may have thousands.
class Sources {
 public:
  explicit Sources(const Json& map) {
    for (const Json& s : map.at("sources")) by_id_.emplace(s.at("id").get_ref<const std::string&>(), &s);
  }
  const Json* find(std::string_view id) const {
    auto it = by_id_.find(id);
    return it == by_id_.end() ? nullptr : it->second;
  }

 private:
  std::map<std::string_view, const Json*> by_id_;
};

// Code of an expression: layers and instructions it is part of, host functions.
std::string code_of(const Json& map, uint32_t expr) {
  std::string out;
  for (const Json& l : map.at("layers")) {
    if (contains(l.at("exprs"), expr)) out += layer_line(l);
  }
  for (const Json& i : map.at("instructions")) {
    if (i.at("expr_id") == expr) out += range_line(i);
  }
  for (const Json& f : map.at("host_functions")) {
    if (f.at("expr_id") == expr || contains(f.at("fused"), expr)) out += function_line(f);
  }
  return out;
}

std::string sources_of(const Sources& sources, const Json& expression) {
  std::string out;
  for (const Json& id : expression.at("sources")) {
    const Json* s = sources.find(id.get_ref<const std::string&>());
    if (s != nullptr) out += source_line(*s);
  }
  return out;
}

}  // namespace

// The map holds names as they are shown; the name itself is taken as well.
Result<std::string> query_node(const Json& map, const std::string& name) {
  const std::string wanted = json_text(name);
  std::string out;
  std::set<std::string> ids;
  for (const Json& s : map.at("sources")) {
    bool hit = s.at("id") == wanted || s.at("name") == wanted || contains(s.at("outputs"), wanted);
    if (!hit) continue;
    ids.insert(s.at("id").get<std::string>());
    out += source_line(s);
  }
  if (ids.empty()) return not_found(fmt::format("no ONNX node is called '{}'", printable(wanted)));
  for (const Json& e : map.at("expressions")) {
    bool hit = std::any_of(e.at("sources").begin(), e.at("sources").end(),
                           [&](const Json& s) { return ids.contains(s.get<std::string>()); });
    if (hit) out += expression_line(e) + code_of(map, e.at("expr_id").get<uint32_t>());
  }
  return out;
}

Result<std::string> query_expression(const Json& map, uint32_t expr_id) {
  if (expr_id >= map.at("expressions").size())
    return not_found(fmt::format("there is no expression {}", expr_id));
  const Json& e = map.at("expressions")[expr_id];
  return expression_line(e) + sources_of(Sources(map), e) + code_of(map, expr_id);
}

Result<std::string> query_instruction(const Json& map, uint32_t region, const std::string& section,
                                      uint32_t index) {
  for (const Json& i : map.at("instructions")) {
    if (i.at("region") != region || i.at("section") != section) continue;
    if (index < i.at("begin").get<uint32_t>() || index >= i.at("end").get<uint32_t>()) continue;
    std::string out = range_line(i);
    for (const Json& l : map.at("layers")) {
      if (l.at("region") == region && l.at("layer") == i.at("layer")) out += layer_line(l);
    }
    const Json& e = map.at("expressions").at(i.at("expr_id").get<size_t>());
    return out + expression_line(e) + sources_of(Sources(map), e);
  }
  return not_found(fmt::format("region {} has no instruction {} in section {}", region, index, section));
}

Result<std::string> query_line(const Json& map, const std::string& file, uint32_t line) {
  for (const Json& f : map.at("host_functions")) {
    bool hit = f.at("file") == file && f.at("first_line") <= line && f.at("last_line") >= line;
    if (!hit) continue;
    std::string out = function_line(f);
    std::vector<uint32_t> exprs = {f.at("expr_id").get<uint32_t>()};
    for (const Json& e : f.at("fused")) exprs.push_back(e.get<uint32_t>());
    Sources sources(map);
    for (uint32_t id : exprs) {
      const Json& e = map.at("expressions").at(id);
      out += expression_line(e) + sources_of(sources, e);
    }
    return out;
  }
  return not_found(fmt::format("no function of the stub holds line {}:{}", printable(file), line));
}

Labels::Labels(const Json& map) {
  Sources sources(map);
  for (const Json& e : map.at("expressions")) {
    std::string label;
    for (const Json& id : e.at("sources")) {
      const Json* s = sources.find(id.get_ref<const std::string&>());
      if (s == nullptr) continue;
      std::string name = s->at("name").get<std::string>();
      if (name.empty() && !s->at("outputs").empty()) name = s->at("outputs")[0].get<std::string>();
      label +=
          fmt::format("{}{} ({})", label.empty() ? "" : " + ", name, s->at("op_type").get<std::string>());
    }
    labels_.push_back(std::move(label));
  }
}

const std::string& Labels::of(uint32_t expr_id) const {
  static const std::string none;
  return expr_id < labels_.size() ? labels_[expr_id] : none;
}

}  // namespace mrvlc::idmap
