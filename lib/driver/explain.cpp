// `mrvlc explain` and `mrvlc map`: what placement.json and idmap.json answer.
#include <algorithm>
#include <charconv>
#include <iterator>
#include <set>

#include "folder/output_folder.h"
#include "model/placement_table.h"
#include "mrvlc/idmap/select.h"
#include "mrvlc/support/codes.h"
#include "mrvlc/support/diag/general.h"
#include "mrvlc/support/json_document.h"
#include "output/expected.h"
#include "output/expected_text.h"

namespace mrvlc::driver {
namespace {

Diag usage(std::string text) {
  return make_diag<DiagCode::MRV0004>(std::move(text));
}

std::string node_row(const PlacementEntry& n, const std::string& reason) {
  const std::string place = n.region ? fmt::format("{} {}", n.where, *n.region) : n.where;
  return fmt::format("{:<14} {:<20} {:>14} {:<22} {:<24} {}\n", place, n.op_type,
                     n.macs == 0 ? "" : std::to_string(n.macs), n.rule.value_or(""), n.shown_name(), reason);
}

// By cost: what its layer takes, and what it would take elsewhere.
std::string costs_of(const PlacementEntry& n) {
  std::string out;
  if (!n.costs) return out;
  for (const partition::TargetCost& c : *n.costs)
    out += fmt::format("{} {} {:.4g} us{}", out.empty() ? "  cost:" : ",", c.target, 1e6 * c.seconds,
                       c.target == n.target ? " (chosen)" : "");
  return out + "\n";
}

std::string node_details(const PlacementEntry& n) {
  std::string out = node_row(n, n.reason) + costs_of(n);
  if (!n.tried) return out;
  for (const partition::RuleTrial& t : *n.tried) {
    out += fmt::format("  rule {}: {}", t.rule, t.accepted ? "accepted" : t.reason);
    if (!t.accepted && !t.condition.empty())
      out += fmt::format(" [{}; actual {}, limit {}]", t.condition, t.actual, t.limit);
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

// A reason of this many nodes stands below the table, once.
constexpr size_t kSharedReason = 4;

std::string table(const std::vector<PlacementEntry>& nodes) {
  std::vector<std::string> reasons;
  for (const PlacementEntry& n : nodes) reasons.push_back(n.reason);
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

std::string expectation(const Report& report) {
  std::string text = "partition: " + partition_line(report.partition) + "\n";
  for (const std::string& line : expected_lines(report)) text += line + "\n";
  return text;
}

// How large what a node makes gets, of results that regions store.
std::string ranges_of(const PlacementTable& placement, const PlacementEntry& node) {
  std::string out;
  for (const StoredRange& r : placement.ranges) {
    if (std::ranges::find(node.outputs, r.value) == node.outputs.end()) continue;
    out += r.max_abs
               ? fmt::format("  '{}' is at most {:.5g} ({}), stored as {}\n", r.value, *r.max_abs, r.known,
                             r.stored)
               : fmt::format("  '{}': nothing is known of its range, stored as {}\n", r.value, r.stored);
  }
  return out;
}

// Where the node comes from in the exported program, as far as the map says so.
std::string origin_of(const idmap::Map& map, const PlacementEntry& node) {
  const auto source = std::ranges::find(map.sources, node.id, &idmap::Source::id);
  const std::string location = source == map.sources.end() ? "" : idmap::location_text(*source);
  return location.empty() ? "" : "  from " + location + "\n";
}

// The nodes of that name, output or id.
Result<std::vector<PlacementEntry>> nodes_called(const PlacementTable& placement, const std::string& node) {
  const std::string wanted = idmap::json_text(node);  // the name itself, or as it is shown
  std::vector<PlacementEntry> found;
  std::ranges::copy_if(placement.nodes, std::back_inserter(found), [&](const PlacementEntry& n) {
    return n.name == wanted || n.id == wanted || std::ranges::find(n.outputs, wanted) != n.outputs.end();
  });
  if (!found.empty()) return found;
  return usage(
      fmt::format("no ONNX node is called '{}'{}; 'mrvlc inspect MODEL' and OUT/placement.json list them",
                  printable(node), idmap::suggest_node(placement.nodes, wanted)));
}

// Entries of placement.json, and what report.json expects.
struct ExplainedJson {
  std::vector<PlacementEntry> nodes = {};
  std::optional<ReportedPartition> partition = {};
  std::optional<ExpectedTime> expected = {};
  static void fields(auto& f, auto& e) {
    f("nodes", e.nodes)("partition", e.partition)("expected", e.expected);
  }
};

}  // namespace

Result<std::string> explain(const std::filesystem::path& out, const std::optional<std::string>& node,
                            bool json) {
  MRVLC_ASSIGN(const OutputFolder folder, open_output(out));
  MRVLC_ASSIGN(const auto placement, folder.read<PlacementTable>("placement.json"));
  if (!node) {
    MRVLC_ASSIGN(const auto report, folder.read<Report>("report.json"));
    if (!json) return table(placement.nodes) + expectation(report);
    return json::document(ExplainedJson{placement.nodes, report.partition, report.expected});
  }
  MRVLC_ASSIGN(const auto found, nodes_called(placement, *node));
  if (json) return json::document(ExplainedJson{found});
  MRVLC_ASSIGN(const auto map, folder.read<idmap::Map>("idmap.json"));
  std::string text;
  for (const PlacementEntry& n : found) text += node_details(n) + origin_of(map, n) + ranges_of(placement, n);
  return text;
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
  MRVLC_ASSIGN(const OutputFolder folder, open_output(out));
  MRVLC_ASSIGN(const auto map, folder.read<idmap::Map>("idmap.json"));
  MRVLC_ASSIGN(const idmap::Query q, read_query(query));
  if (!query.json) return idmap::text_of(map, q);
  MRVLC_ASSIGN(const idmap::Part part, idmap::select(map, q));
  return json::document(part);
}

Result<std::string> merge_maps(const std::vector<std::filesystem::path>& outs) {
  std::vector<std::pair<std::string, idmap::Map>> maps;
  std::set<std::string> names;
  for (const auto& out : outs) {
    MRVLC_ASSIGN(OutputFolder folder, open_output(out));
    if (!names.insert(folder.name).second)
      return usage(
          fmt::format("--merge: two folders hold a model '{}'; compile one with --name", folder.name));
    MRVLC_ASSIGN(idmap::Map map, folder.read<idmap::Map>("idmap.json"));
    maps.emplace_back(folder.name, std::move(map));
  }
  return json::document(idmap::merge(maps));
}

}  // namespace mrvlc::driver
