// Packages that extend another: what they say replaces what the base says, field by field.
#include "mrvlc/support/diag/target.h"
#include "text.h"

namespace mrvlc::target {
namespace {

// A base's counts that fewer tiles allow; a package that gives both is checked as it stands.
void limit_tile_counts(Json& fields, const Json& own) {
  if (!own.contains("max_tiles") || own.contains("tile_counts") || !fields.contains("tile_counts")) return;
  const Json& most = fields["max_tiles"].is_object() ? fields["max_tiles"].value("value", Json()) : Json();
  Json& counts = fields["tile_counts"]["value"];
  if (!most.is_number_unsigned() || !counts.is_array()) return;
  Json fewer = Json::array();
  for (const Json& count : counts)
    if (count.is_number_unsigned() && count.get<uint64_t>() <= most.get<uint64_t>()) fewer.push_back(count);
  counts = std::move(fewer);
}

}  // namespace

Result<std::string> base_of(const Json& package, std::string_view shown_name) {
  const auto extends = package.find("extends");
  if (extends == package.end()) return std::string();
  if (!extends->is_string() || extends->get_ref<const std::string&>().empty())
    return make_diag<DiagCode::MRV0351>(printable(shown_name), "extends", "is not the name of a target");
  return extends->get<std::string>();
}

Json extended(Json base, const Json& package) {
  for (const auto& [key, value] : package.items()) {
    if (key == "extends") continue;
    if (key != "fields" || !value.is_object() || !base["fields"].is_object()) {
      base[key] = value;
      continue;
    }
    for (const auto& [field, entry] : value.items()) base["fields"][field] = entry;
    limit_tile_counts(base["fields"], value);
  }
  return base;
}

}  // namespace mrvlc::target
