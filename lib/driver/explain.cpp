// `mrvlc explain` and `mrvlc map`: readers of placement.json and idmap.json.
#include <algorithm>
#include <charconv>
#include <set>

#include "folder/output_folder.h"
#include "mrvlc/idmap/idmap.h"
#include "mrvlc/idmap/select.h"
#include "mrvlc/support/codes.h"
#include "mrvlc/support/diag/general.h"
#include "mrvlc/support/json_document.h"
#include "output/expected_text.h"
#include "output/partition_json.h"

namespace mrvlc::driver {
namespace {

Diag usage(std::string text) {
  return make_diag<DiagCode::MRV0004>(std::move(text));
}

// A node without a name is known by its first output.
std::string shown_name(const Json& n) {
  if (n.at("name") != "" || n.at("outputs").empty()) return n.at("name").get<std::string>();
  return n.at("outputs")[0].get<std::string>();
}

std::string node_row(const Json& n, const std::string& reason) {
  std::string place = n.at("where").get<std::string>();
  if (n.contains("region")) place += fmt::format(" {}", n.at("region").get<int>());
  const auto macs = n.at("macs").get<int64_t>();
  return fmt::format("{:<14} {:<20} {:>14} {:<22} {:<24} {}\n", place, n.at("op_type").get<std::string>(),
                     macs == 0 ? "" : std::to_string(macs), n.value("rule", ""), shown_name(n), reason);
}

std::string node_details(const Json& n) {
  std::string out = node_row(n, n.value("reason", ""));
  if (!n.contains("tried")) return out;
  for (const Json& t : n.at("tried")) {
    if (t.at("accepted").get<bool>()) {
      out += fmt::format("  rule {}: accepted\n", t.at("rule").get<std::string>());
      continue;
    }
    out += fmt::format("  rule {}: {}", t.at("rule").get<std::string>(), t.at("reason").get<std::string>());
    if (t.at("condition") != "") {
      out += fmt::format(" [{}; actual {}, limit {}]", t.at("condition").get<std::string>(),
                         t.at("actual").get<std::string>(), t.at("limit").get<std::string>());
    }
    out += "\n";
  }
  return out;
}

bool parse_number(std::string_view text, uint32_t& out) {
  auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), out);
  return ec == std::errc() && end == text.data() + text.size() && !text.empty();
}

// REGION:N (section main) or REGION:SECTION:N.
Status read_instruction(const std::string& text, idmap::Query& q) {
  size_t first = text.find(':'), last = text.rfind(':');
  idmap::Query::Instruction& i = q.instruction.emplace(idmap::Query::Instruction{});
  bool ok = first != std::string::npos && parse_number(std::string_view(text).substr(0, first), i.region) &&
            parse_number(std::string_view(text).substr(last + 1), i.index);
  if (!ok) return usage("--instruction takes REGION:N or REGION:SECTION:N, e.g. 0:17");
  i.section = first == last ? "main" : text.substr(first + 1, last - first - 1);
  return {};
}

Status read_line(const std::string& text, idmap::Query& q) {
  size_t colon = text.rfind(':');
  idmap::Query::Line& l = q.line.emplace(idmap::Query::Line{});
  if (colon == std::string::npos || !parse_number(std::string_view(text).substr(colon + 1), l.line))
    return usage("--line takes FILE:N, e.g. model.c:120");
  // As compilers print it, OUT/model.c:120; the files of a stub lie in one folder.
  l.file = std::filesystem::path(text.substr(0, colon)).filename().string();
  return {};
}

Status read_layer(const std::string& text, idmap::Query& q) {
  const size_t colon = text.find(':');
  idmap::Query::Layer& l = q.layer.emplace(idmap::Query::Layer{});
  const bool ok = colon != std::string::npos &&
                  parse_number(std::string_view(text).substr(0, colon), l.region) &&
                  parse_number(std::string_view(text).substr(colon + 1), l.layer);
  return ok ? Status() : usage("--layer takes REGION:N, e.g. 0:17");
}

Result<idmap::Query> read_query(const MapQuery& query) {
  idmap::Query q;
  q.node = query.node;
  q.expression = query.expression;
  q.symbol = query.symbol;
  q.region = query.region;
  if (query.instruction) MRVLC_TRY(read_instruction(*query.instruction, q));
  if (query.line) MRVLC_TRY(read_line(*query.line, q));
  if (query.layer) MRVLC_TRY(read_layer(*query.layer, q));
  return q;
}

Result<std::string> answer(const Json& map, const idmap::Query& q, bool json) {
  if (!json) return idmap::text_of(map, q);
  MRVLC_ASSIGN(const Json part, idmap::select(map, q));
  return json_document(part);
}

// A reason of this many nodes stands below the table, once.
constexpr size_t kSharedReason = 4;

std::string table(const Json& nodes) {
  std::vector<std::string> reasons;
  for (const Json& n : nodes) reasons.push_back(n.value("reason", ""));
  std::vector<std::string> shown = reasons;
  std::string shared;
  size_t number = 0;
  for (const std::vector<size_t>& group : by_reason(reasons)) {
    const std::string& reason = reasons[group.front()];
    if (group.size() < kSharedReason || reason.empty()) continue;
    ++number;
    for (size_t i : group) shown[i] = fmt::format("[{}]", number);
    shared += fmt::format("[{}] {} nodes: {}\n", number, group.size(), reason);
  }
  std::string text = fmt::format("{:<14} {:<20} {:>14} {:<22} {:<24} {}\n", "where", "operator", "MACs",
                                 "rule", "node", "reason");
  for (size_t i = 0; i < shown.size(); ++i) text += node_row(nodes[i], shown[i]);
  return text + shared;
}

std::string expectation(const Json& report) {
  std::string text = "partition: " + partition_line(report.at("partition")) + "\n";
  for (const std::string& line : expected_lines(report)) text += line + "\n";
  return text;
}

// How large what a node makes gets, of results that regions store.
std::string ranges_of(const Json& placement, const Json& node) {
  std::string out;
  if (!placement.contains("ranges")) return out;
  for (const Json& r : placement.at("ranges")) {
    const Json& outputs = node.at("outputs");
    if (std::find(outputs.begin(), outputs.end(), r.at("value")) == outputs.end()) continue;
    const std::string known = r.at("known").get<std::string>(), value = r.at("value").get<std::string>();
    out += r.contains("max_abs")
               ? fmt::format("  '{}' is at most {:.5g} ({}), stored as {}\n", value,
                             r.at("max_abs").get<double>(), known, r.at("stored").get<std::string>())
               : fmt::format("  '{}': nothing is known of its range, stored as {}\n", value,
                             r.at("stored").get<std::string>());
  }
  return out;
}

// Where the node comes from in the exported program, as far as the map says so.
std::string origin_of(const Json& map, const Json& node) {
  for (const Json& source : map.at("sources")) {
    if (source.at("id") != node.at("id")) continue;
    const std::string location = idmap::location_text(source);
    return location.empty() ? "" : "  from " + location + "\n";
  }
  return {};
}

// The nodes of that name, output or id.
Result<Json> nodes_called(const Json& placement, const std::string& node) {
  Json found = Json::array();
  const std::string wanted = idmap::json_text(node);  // the name itself, or as it is shown
  for (const Json& n : placement.at("nodes")) {
    const Json& outputs = n.at("outputs");
    bool hit = n.at("name") == wanted || n.at("id") == wanted ||
               std::find(outputs.begin(), outputs.end(), wanted) != outputs.end();
    if (hit) found.push_back(n);
  }
  if (!found.empty()) return found;
  return usage(
      fmt::format("no ONNX node is called '{}'{}; 'mrvlc inspect MODEL' and OUT/placement.json list them",
                  printable(node), idmap::suggest_node(placement.at("nodes"), wanted)));
}

Result<std::string> explanation(const Json& placement, const Json& map, const std::string& node) {
  MRVLC_ASSIGN(const Json found, nodes_called(placement, node));
  std::string text;
  for (const Json& n : found) text += node_details(n) + origin_of(map, n) + ranges_of(placement, n);
  return text;
}

// Entries of placement.json, and what report.json expects.
Result<std::string> explanation_json(const Json& placement, const Json& report,
                                     const std::optional<std::string>& node) {
  Json out = {{"nodes", placement.at("nodes")}};
  if (node) {
    MRVLC_ASSIGN(out["nodes"], nodes_called(placement, *node));
  } else {
    out["partition"] = report.at("partition");
    out["expected"] = report.at("expected");
  }
  return json_document(out);
}

}  // namespace

Result<std::string> explain(const std::filesystem::path& out, const std::optional<std::string>& node,
                            bool json) {
  MRVLC_ASSIGN(OutputFolder folder, open_output(out));
  MRVLC_ASSIGN(Json placement, folder.json("placement.json"));
  if (node && !json) {
    MRVLC_ASSIGN(const Json map, folder.json("idmap.json"));
    return folder.reading([&] { return explanation(placement, map, *node); });
  }
  MRVLC_ASSIGN(Json report, folder.json("report.json"));
  if (json) return folder.reading([&] { return explanation_json(placement, report, node); });
  return folder.reading(
      [&]() -> Result<std::string> { return table(placement.at("nodes")) + expectation(report); });
}

namespace {

std::string code_json(const CodePage& page) {
  constexpr const char* kSeverities[] = {"note", "warning", "error"};
  return json_document(Json({{"code", page.code->name},
                             {"severity", kSeverities[static_cast<size_t>(page.code->severity)]},
                             {"exit", static_cast<int>(page.code->exit_class)},
                             {"message", page.code->text},
                             {"what", page.what},
                             {"why", page.why},
                             {"do", page.cure}}));
}

}  // namespace

Result<std::string> explain_code(const std::string& code, bool json) {
  const std::string wanted = as_code(code);
  const std::vector<CodePage> pages = code_pages();
  const auto page = std::ranges::find(pages, wanted, [](const CodePage& p) { return p.code->name; });
  if (page != pages.end()) return json ? code_json(*page) : code_text(*page);
  return usage(fmt::format("there is no code '{}'; 'mrvlc explain --codes' lists them", printable(wanted)));
}

Result<std::string> map(const std::filesystem::path& out, const MapQuery& query) {
  MRVLC_ASSIGN(OutputFolder folder, open_output(out));
  MRVLC_ASSIGN(Json json, folder.json("idmap.json"));
  MRVLC_ASSIGN(const idmap::Query q, read_query(query));
  return folder.reading([&] { return answer(json, q, query.json); });
}

Result<std::string> merge_maps(const std::vector<std::filesystem::path>& outs) {
  std::vector<std::pair<std::string, Json>> maps;
  std::set<std::string> names;
  for (const auto& out : outs) {
    MRVLC_ASSIGN(OutputFolder folder, open_output(out));
    if (!names.insert(folder.name).second)
      return usage(
          fmt::format("--merge: two folders hold a model '{}'; compile one with --name", folder.name));
    MRVLC_ASSIGN(Json json, folder.json("idmap.json"));
    MRVLC_ASSIGN(std::string text, folder.reading([&]() -> Result<std::string> {
      const std::pair<std::string, Json> one[] = {{folder.name, json}};
      return idmap::merge(one).at("schema").get<std::string>();  // it is a map
    }));
    maps.emplace_back(folder.name, std::move(json));
  }
  return json_document(idmap::merge(maps));
}

}  // namespace mrvlc::driver
