// `mrvlc explain` and `mrvlc map`: readers of placement.json and idmap.json.
#include <charconv>

#include "mrvlc/idmap/idmap.h"
#include "mrvlc/support/diag/general.h"
#include "output/output_folder.h"

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

std::string node_row(const Json& n) {
  std::string place = n.at("where").get<std::string>();
  if (n.contains("region")) place += fmt::format(" {}", n.at("region").get<int>());
  const auto macs = n.at("macs").get<int64_t>();
  return fmt::format("{:<14} {:<20} {:>14} {:<22} {:<24} {}\n", place, n.at("op_type").get<std::string>(),
                     macs == 0 ? "" : std::to_string(macs), n.value("rule", ""), shown_name(n),
                     n.value("reason", ""));
}

std::string node_details(const Json& n) {
  std::string out = node_row(n);
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
Result<std::string> by_instruction(const Json& map, const std::string& text) {
  size_t first = text.find(':'), last = text.rfind(':');
  uint32_t region = 0, index = 0;
  bool ok = first != std::string::npos && parse_number(std::string_view(text).substr(0, first), region) &&
            parse_number(std::string_view(text).substr(last + 1), index);
  if (!ok) return usage("--instruction takes REGION:N or REGION:SECTION:N, e.g. 0:17");
  return idmap::query_instruction(map, region,
                                  first == last ? "main" : text.substr(first + 1, last - first - 1), index);
}

Result<std::string> by_line(const Json& map, const std::string& text) {
  size_t colon = text.rfind(':');
  uint32_t line = 0;
  if (colon == std::string::npos || !parse_number(std::string_view(text).substr(colon + 1), line)) {
    return usage("--line takes FILE:N, e.g. model.c:120");
  }
  // As compilers print it, OUT/model.c:120; the files of a stub lie in one folder.
  return idmap::query_line(map, std::filesystem::path(text.substr(0, colon)).filename().string(), line);
}

Result<std::string> explanation(const Json& placement, const std::optional<std::string>& node) {
  std::string text;
  if (!node) {
    text = fmt::format("{:<14} {:<20} {:>14} {:<22} {:<24} {}\n", "where", "operator", "MACs", "rule", "node",
                       "reason");
    for (const Json& n : placement.at("nodes")) text += node_row(n);
    return text;
  }
  const std::string wanted = idmap::json_text(*node);  // the name itself, or as it is shown
  for (const Json& n : placement.at("nodes")) {
    const Json& outputs = n.at("outputs");
    bool hit = n.at("name") == wanted || n.at("id") == wanted ||
               std::find(outputs.begin(), outputs.end(), wanted) != outputs.end();
    if (hit) text += node_details(n);
  }
  if (text.empty()) return usage(fmt::format("no ONNX node is called '{}'", printable(*node)));
  return text;
}

}  // namespace

Result<std::string> explain(const std::filesystem::path& out, const std::optional<std::string>& node) {
  MRVLC_ASSIGN(OutputFolder folder, open_output(out));
  MRVLC_ASSIGN(Json placement, folder.json("placement.json"));
  return folder.reading([&] { return explanation(placement, node); });
}

Result<std::string> map(const std::filesystem::path& out, const MapQuery& query) {
  MRVLC_ASSIGN(OutputFolder folder, open_output(out));
  MRVLC_ASSIGN(Json json, folder.json("idmap.json"));
  return folder.reading([&]() -> Result<std::string> {
    if (query.node) return idmap::query_node(json, *query.node);
    if (query.expression) return idmap::query_expression(json, *query.expression);
    if (query.instruction) return by_instruction(json, *query.instruction);
    if (query.line) return by_line(json, *query.line);
    return usage("one of --node, --expr, --instruction, --line is needed");
  });
}

}  // namespace mrvlc::driver
