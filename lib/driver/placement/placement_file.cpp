// Files of --placement, checked member by member: what is not known is refused.
#include <fmt/ranges.h>

#include <algorithm>

#include "mrvlc/support/diag/partition.h"
#include "mrvlc/support/nearest.h"
#include "mrvlc/support/strict_json.h"
#include "placement/constraints.h"

namespace mrvlc::driver {
namespace {

using Json = nlohmann::json;
using Names = std::vector<std::string_view>;

class Reader {
 public:
  explicit Reader(const std::string& shown) : shown_(shown) {}

  Result<PlacementFile> read(const std::string& text) {
    std::string twice;
    const Json json = parse_strict<Json>(text, twice);
    if (json.is_discarded()) return fault("it is no JSON");
    if (!twice.empty()) return fault(fmt::format("'{}' is given twice in one object", printable(twice)));
    MRVLC_TRY(members(json, "the file",
                      {"schema", "model", "target", "constraints", "nodes", "precisions", "ranges"}));
    if (json.contains("schema") && json["schema"] != "mrvlc-placement-1")
      return fault("'schema' is not \"mrvlc-placement-1\"");
    PlacementFile out;
    MRVLC_TRY(read_text(json, "the file", "target", out.target));
    MRVLC_TRY(model(json, out));
    out.precisions = by_value(json, "precisions", "precision");
    out.stored = by_value(json, "ranges", "stored");
    MRVLC_TRY(each(json, "constraints", [&](const Json& j, size_t i) { return constraint(j, i, out); }));
    MRVLC_TRY(each(json, "nodes", [&](const Json& j, size_t i) { return node(j, i, out); }));
    return out;
  }

 private:
  Diag fault(std::string why) const { return make_diag<DiagCode::MRV0413>(shown_, std::move(why)); }
  Diag wrong(std::string_view where, std::string_view key, std::string_view what) const {
    return fault(fmt::format("{}: '{}' is not {}", where, key, what));
  }

  Status members(const Json& json, const std::string& where, const Names& known) const {
    if (!json.is_object()) return fault(where + " is no object");
    for (const auto& [key, value] : json.items()) {
      if (std::ranges::find(known, key) != known.end()) continue;
      return fault(
          fmt::format("{}: there is no member '{}'{}", where, printable(key), did_you_mean(key, known)));
    }
    return {};
  }

  template <class F>
  Status each(const Json& json, const char* key, F read_one) const {
    if (!json.contains(key)) return {};
    if (!json[key].is_array()) return wrong("the file", key, "a list");
    for (size_t i = 0; i < json[key].size(); ++i) MRVLC_TRY(read_one(json[key][i], i));
    return {};
  }

  Status read_text(const Json& json, const std::string& where, const char* key, std::string& out) const {
    if (!json.contains(key)) return {};
    if (!json[key].is_string()) return wrong(where, key, "a text");
    out = json[key].get<std::string>();
    return {};
  }
  Status read_text(const Json& json, const std::string& where, const char* key,
                   std::optional<std::string>& out) const {
    return json.contains(key) ? read_text(json, where, key, out.emplace()) : Status();
  }

  // Of a list of values what its entries say of each; an entry without is no fault, as nothing depends on it.
  static std::optional<PlacementFile::ByValue> by_value(const Json& json, const char* list,
                                                        const char* member) {
    if (!json.contains(list)) return std::nullopt;
    PlacementFile::ByValue out;
    if (!json[list].is_array()) return out;
    const auto text = [](const Json& entry, const char* key) {
      const bool said = entry.is_object() && entry.contains(key) && entry[key].is_string();
      return said ? std::optional(entry[key].get<std::string>()) : std::nullopt;
    };
    for (const Json& entry : json[list])
      if (const auto value = text(entry, "value")) out[*value] = text(entry, member).value_or("");
    return out;
  }

  Status model(const Json& json, PlacementFile& out) const {
    if (!json.contains("model")) return {};
    MRVLC_TRY(members(json["model"], "'model'", {"sha256"}));
    return read_text(json["model"], "'model'", "sha256", out.model_sha256);
  }

  Status texts(const Json& json, const std::string& where, const char* key,
               std::vector<std::string>& out) const {
    if (!json.contains(key)) return {};
    const Json list = json[key].is_string() ? Json::array({json[key]}) : json[key];
    const bool good = list.is_array() && !list.empty() &&
                      std::ranges::all_of(list, [](const Json& j) { return j.is_string() && j != ""; });
    if (!good) return wrong(where, key, "a text or a list of texts");
    for (const Json& j : list) out.push_back(j.get<std::string>());
    return {};
  }

  Status number(const Json& json, const std::string& where, const char* key, uint32_t least,
                std::optional<uint32_t>& out) const {
    if (!json.contains(key)) return {};
    const Json& j = json[key];
    if (!j.is_number_unsigned() || j.get<uint64_t>() < least || j.get<uint64_t>() > 1u << 30)
      return wrong(where, key, fmt::format("a whole number from {} on", least));
    out = j.get<uint32_t>();
    return {};
  }

  // One of `names`; its position in `out`.
  Status word(const Json& json, const std::string& where, const char* key, const Names& names,
              std::optional<size_t>& out) const {
    if (!json.contains(key)) return {};
    const std::string text = json[key].is_string() ? json[key].get<std::string>() : std::string();
    const auto it = std::ranges::find(names, text);
    if (it == names.end())
      return wrong(where, key, fmt::format("one of {}{}", fmt::join(names, ", "), did_you_mean(text, names)));
    out = static_cast<size_t>(it - names.begin());
    return {};
  }

  Status actions(const Json& json, const std::string& where, Constraint& c) const {
    std::optional<size_t> on, border;
    MRVLC_TRY(word(json, where, "on", {"cpu", "accelerator"}, on));
    if (on) c.on = *on == 0 ? Constraint::Target::Cpu : Constraint::Target::Accelerator;
    MRVLC_TRY(word(json, where, "border", {"before", "after", "both"}, border));
    c.before = border && *border != 1;
    c.after = border && *border != 0;
    if (json.contains("together") && !json["together"].is_boolean())
      return wrong(where, "together", "true or false");
    c.together = json.value("together", false);
    MRVLC_TRY(number(json, where, "max_layers", 1, c.max_layers));
    return number(json, where, "max_regions", 0, c.max_regions);
  }

  Status constraint(const Json& json, size_t i, PlacementFile& out) const {
    const std::string where = fmt::format("constraint {}", i + 1);
    MRVLC_TRY(members(json, where,
                      {"nodes", "from", "to", "on", "border", "together", "max_layers", "max_regions"}));
    Constraint& c = out.constraints.emplace_back();
    MRVLC_TRY(texts(json, where, "nodes", c.nodes));
    MRVLC_TRY(texts(json, where, "from", c.from));
    MRVLC_TRY(texts(json, where, "to", c.to));
    MRVLC_TRY(actions(json, where, c));
    const bool says = c.on != Constraint::Target::Any || draws_borders(c) || c.max_layers || c.max_regions;
    if (!says)
      return fault(where + ": it says nothing: 'on', 'border', 'together', 'max_layers' or 'max_regions'");
    if (c.nodes.empty() && c.from.empty() && c.to.empty()) {
      if (!c.max_layers && !c.max_regions)
        return fault(where + ": it names nothing: 'nodes', or 'from' and 'to'");
      c.nodes = {"*"};
    }
    c.given_as = described(c);
    return {};
  }

  Status node(const Json& json, size_t i, PlacementFile& out) const {
    const std::string where = fmt::format("node {}", i + 1);
    MRVLC_TRY(members(json, where,
                      {"id", "name", "op_type", "where", "target", "call", "outputs", "macs", "expr_id",
                       "region", "rule", "reason", "code", "tried"}));
    PlacementFile::Node& n = out.nodes.emplace_back();
    MRVLC_TRY(read_text(json, where, "id", n.id));
    MRVLC_TRY(read_text(json, where, "where", n.where));
    MRVLC_TRY(read_text(json, where, "target", n.target));
    MRVLC_TRY(read_text(json, where, "name", n.name));
    MRVLC_TRY(read_text(json, where, "op_type", n.op_type));
    MRVLC_TRY(read_text(json, where, "rule", n.rule));
    MRVLC_TRY(read_text(json, where, "call", n.call));
    if (n.id.empty()) return fault(where + ": 'id' is missing");
    return number(json, where, "region", 0, n.region);
  }

  const std::string& shown_;
};

}  // namespace

Result<PlacementFile> read_placement(const std::string& text, const std::string& shown) {
  return Reader(shown).read(text);
}

}  // namespace mrvlc::driver
