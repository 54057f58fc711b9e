// Reads and checks a machine's JSON; unknown and repeated keys are errors.
#include <algorithm>
#include <cmath>

#include "mrvlc/support/diag/target.h"
#include "mrvlc/support/json_document.h"
#include "mrvlc/support/nearest.h"
#include "mrvlc/support/strict_json.h"
#include "mrvlc/target/machine.h"
#include "number_fields.h"
#include "text.h"

namespace mrvlc::target {
namespace {

class Parser {
 public:
  explicit Parser(std::string_view shown) : shown_(printable(shown)) {}

  Result<Machine> run(std::string_view text) {
    MRVLC_ASSIGN(Json root, parse_target_json(text, shown_));
    for (const auto& [key, value] : root.items())
      if (key != "name" && key != "description" && key != "fields") return field(key, "is unknown");
    MRVLC_TRY(string(root, "name", machine_.name));
    MRVLC_TRY(string(root, "description", machine_.description));
    MRVLC_TRY(check_askable(shown_, machine_.name));
    if (!root.contains("fields") || !root["fields"].is_object())
      return field("fields", "is missing or not an object");
    for (const auto& [key, value] : root["fields"].items()) MRVLC_TRY(entry(key, value));
    for (const auto& known : kNumbers)
      if (!known.optional) MRVLC_TRY(required(known.name));
    // Files from before there was this field say nothing of it.
    if (machine_.int8_depthwise_macs == 0) machine_.int8_depthwise_macs = machine_.depthwise_macs;
    MRVLC_TRY(required("tile_counts"));
    MRVLC_TRY(required("clock_ghz"));
    MRVLC_TRY(consistent());
    return std::move(machine_);
  }

 private:
  Diag field(std::string_view name, std::string_view what) const {
    return make_diag<DiagCode::MRV0351>(shown_, printable(name), what);
  }

  Status string(const Json& object, const char* key, std::string& out) {
    if (!object.contains(key)) return field(key, "is missing");
    if (!object[key].is_string()) return field(key, "is not a string");
    out = object[key].get<std::string>();
    return {};
  }

  Status entry(const std::string& key, const Json& value) {
    if (!value.is_object()) return field(key, "is not an object with value, source and note");
    for (const auto& [name, unused] : value.items())
      if (name != "value" && name != "pessimistic" && name != "source" && name != "note")
        return field(key + "." + name, "is unknown");
    if (!value.contains("value")) return field(key, "has no value");
    Machine::Provenance p{key, json_line(value["value"]), {}, {}};
    MRVLC_TRY(string(value, "source", p.source));
    MRVLC_TRY(string(value, "note", p.note));
    if (p.source != "public" && p.source != "assumed")
      return field(key, "has a source that is neither public nor assumed");
    if (value.contains("pessimistic")) {
      MRVLC_ASSIGN(const NumberField* known, checked(key, value["pessimistic"]));
      machine_.doubts.emplace_back(known->member, value["pessimistic"].get<uint32_t>());
      p.pessimistic = json_line(value["pessimistic"]);
    }
    machine_.provenance.push_back(std::move(p));
    if (key == "tile_counts") return tile_counts(value["value"]);
    if (key == "clock_ghz") return clock(value["value"]);
    if (key == "launch_us") return launch(value["value"]);
    return number(key, value["value"]);
  }

  Status number(const std::string& key, const Json& value) {
    MRVLC_ASSIGN(const NumberField* known, checked(key, value));
    machine_.*(known->member) = value.get<uint32_t>();
    return {};
  }

  static std::string meant(const std::string& key) {
    std::vector<std::string_view> names = {"tile_counts", "clock_ghz", "launch_us"};
    for (const NumberField& f : kNumbers) names.emplace_back(f.name);
    return did_you_mean(key, names);
  }

  // The field, if `value` is one it can have.
  Result<const NumberField*> checked(const std::string& key, const Json& value) {
    const NumberField* known = number_field(key);
    if (known == nullptr) return field(key, "is unknown" + meant(key));
    if (!value.is_number_unsigned()) return field(key, "is not a whole number");
    const std::string wrong = out_of_bounds(*known, value.get<uint64_t>());
    return wrong.empty() ? Result<const NumberField*>(known) : field(key, wrong);
  }

  Status tile_counts(const Json& value) {
    if (!value.is_array() || value.empty() || value.size() > 8)
      return field("tile_counts", "is not a short array");
    for (const Json& v : value) {
      bool ok = v.is_number_unsigned() && v.get<uint64_t>() >= 1 && v.get<uint64_t>() <= 8;
      if (!ok || (!machine_.tile_counts.empty() && v.get<uint64_t>() <= machine_.tile_counts.back()))
        return field("tile_counts", "is not a rising list of numbers from 1 to 8");
      machine_.tile_counts.push_back(v.get<uint32_t>());
    }
    return {};
  }

  Status clock(const Json& value) {
    if (!value.is_number()) return field("clock_ghz", "is not a number");
    machine_.clock_ghz = value.get<double>();
    bool ok = machine_.clock_ghz > 0 && machine_.clock_ghz <= 1000;
    return ok ? Status() : field("clock_ghz", "must be above 0 and at most 1000");
  }

  // Files from before there was this field say nothing of it.
  Status launch(const Json& value) {
    if (!value.is_number()) return field("launch_us", "is not a number");
    machine_.launch_us = value.get<double>();
    bool ok = machine_.launch_us >= 0 && machine_.launch_us <= 1e6;
    return ok ? Status() : field("launch_us", "must be between 0 and 1000000");
  }

  Status required(std::string_view name) {
    auto same = [&](const Machine::Provenance& p) { return p.field == name; };
    return std::ranges::any_of(machine_.provenance, same) ? Status() : field(name, "is missing");
  }

  Status consistent() {
    const std::optional<FieldFault> fault = inconsistency(machine_);
    return fault ? Status(field(fault->field, fault->what)) : Status();
  }

  std::string shown_;
  Machine machine_;
};

}  // namespace

namespace {

// "line 3, column 7": where what no JSON begins with stands.
std::string place_of_fault(std::string_view text) {
  size_t at = text.size();
  try {
    [[maybe_unused]] const Json whole = Json::parse(text.begin(), text.end());
  } catch (const Json::parse_error& e) {
    at = std::min(text.size(), e.byte == 0 ? 0 : e.byte - 1);
  }
  const std::string_view before = text.substr(0, at);
  const size_t line = before.rfind('\n');
  return fmt::format("line {}, column {}", std::ranges::count(before, '\n') + 1,
                     line == std::string_view::npos ? at + 1 : at - line);
}

}  // namespace

Result<Json> parse_target_json(std::string_view text, std::string_view shown_name) {
  const std::string shown = printable(shown_name);
  auto refused = [&](std::string_view why) { return make_diag<DiagCode::MRV0350>(shown, why); };
  if (text.size() > kMaxTargetBytes) return refused("is larger than a target file may be");
  std::string twice;
  Json root = parse_strict<Json>(text, twice);
  if (root.is_discarded()) return refused("is not valid JSON: " + place_of_fault(text));
  if (!twice.empty()) return make_diag<DiagCode::MRV0351>(shown, printable(twice), "is given twice");
  if (!root.is_object()) return refused("is not a JSON object");
  return root;
}

Status check_askable(std::string_view shown, std::string_view name) {
  const bool word = std::ranges::none_of(name, [](char c) { return c == '/' || c == ',' || c == '\0'; });
  if (word && !name.empty() && name != "host" && name != "." && name != "..") return {};
  return make_diag<DiagCode::MRV0351>(
      printable(shown), "name",
      name.empty() ? "is empty" : "cannot be asked for with --target: no 'host', and no '/' or ',' in it");
}

Result<Machine> parse_machine(std::string_view json, std::string_view shown_name) {
  return Parser(shown_name).run(json);
}

}  // namespace mrvlc::target
