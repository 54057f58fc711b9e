// The options of a compile for the manifest: those with a value of their own there, then all else that was
// typed.
#include "output/options_json.h"

#include <algorithm>

#include "mrvlc/idmap/idmap.h"
#include "size/code_size.h"

namespace mrvlc::driver {

Json idmap_texts(const std::vector<std::string>& texts) {
  Json list = Json::array();
  for (const std::string& t : texts) list.push_back(idmap::json_text(t));
  return list;
}

namespace {

// What every compile has a value of.
Json always(const CompileOptions& o) {
  Json shapes = Json::object();
  for (const auto& [name, shape] : o.import.input_shapes) shapes[idmap::json_text(name)] = to_string(shape);
  Json bounds = Json::object();
  for (const auto& [name, shape] : o.import.bounds) bounds[idmap::json_text(name)] = to_string(shape);
  Json rules = Json::array();
  for (const auto& r : o.rules) rules.push_back(idmap::json_text(r.filename().string()));
  Json ranges = Json::array();
  for (const calibration::InputRange& r : o.input_ranges)
    ranges.push_back({{"name", idmap::json_text(r.pattern)}, {"least", r.least}, {"most", r.most}});
  Json precisions = Json::array();
  for (const auto& [pattern, precision] : o.precisions)
    precisions.push_back({{"name", idmap::json_text(pattern)}, {"precision", to_text(precision)}});
  constexpr const char* kOnOverflow[] = {"report", "error", "cpu"};
  constexpr const char* kProbes[] = {"within-budget", "always", "never", "within-budget"};
  return {
      {"target", o.targets},
      {"tiles", o.accelerator.tiles},
      {"effort", o.accelerator.effort},
      {"wb_pin", o.accelerator.pin_weights},
      {"precision", o.precision},
      {"precision_of", std::move(precisions)},
      {"input_shape", shapes},
      {"bound", bounds},
      {"max_sequence", o.import.max_sequence},
      {"batch", o.import.batch},
      {"rules", rules},
      {"default_rules", o.default_rules},
      {"partition", o.partition_by == CompileOptions::PartitionBy::Cost ? "cost" : "greedy"},
      {"host_model", idmap::json_text(o.host_model.filename().string())},
      {"cpu", idmap_texts(o.cpu)},
      {"accel", idmap_texts(o.accel)},
      {"border", idmap_texts(o.borders)},
      {"probe", kProbes[static_cast<size_t>(o.probe)]},
      {"input_range", std::move(ranges)},
      {"calibration", idmap::json_text(o.calibration.filename().string())},
      {"accuracy_warning", o.accuracy_warning},
      {"on_overflow", kOnOverflow[static_cast<size_t>(o.host.on_overflow)]},
      {"on_device_error", {{"retries", o.host.on_device_error.retries}, {"cpu", o.host.on_device_error.cpu}}},
      {"emit", std::set<std::string>(o.emit.begin(), o.emit.end())}};
}

// What has a value where it was given.
void add_given(const CompileOptions& o, Json& out) {
  for (const auto& [symbol, size] : o.import.input_dims)
    out["input_dim"][idmap::json_text(symbol)] = to_string(size);
  for (const auto& [name, bound] : o.import.bound_inputs)
    out["bind"][idmap::json_text(name)] =
        idmap::json_text(bound.tensor ? std::filesystem::path(bound.text).filename().string() : bound.text);
  if (!o.borders_after.empty()) out["border_after"] = idmap_texts(o.borders_after);
  if (!o.together.empty()) out["together"] = idmap_texts(o.together);
  if (o.max_region_layers) out["max_region_layers"] = *o.max_region_layers;
  if (o.max_regions) out["max_regions"] = *o.max_regions;
  if (o.host.weights != chost::WeightsAs::Linked)
    out["weights"] = chost::kWeightsAs[static_cast<size_t>(o.host.weights)];
  if (o.host.host_weights != chost::WeightType::F32)
    out["host_weights"] = chost::kWeightTypes[static_cast<size_t>(o.host.host_weights)];
  if (!o.data.empty()) out["data"] = idmap::json_text(o.data.filename().string());
  if (!o.tuning.empty()) out["tuning"] = idmap::json_text(o.tuning.filename().string());
  if (!o.measure_size.empty()) out["measure_size"] = idmap::json_text(shown_compiler(o.measure_size));
  if (!o.placement.empty()) out["placement"] = idmap::json_text(o.placement.filename().string());
}

// A number as such, a file without its folder.
Json typed_value(const CompileOptions::Typed& option, const std::string& text) {
  if (option.kind == CompileOptions::Typed::Kind::Path)
    return idmap::json_text(std::filesystem::path(text).filename().string());
  const Json number = Json::parse(text, nullptr, false);
  return number.is_number() ? number : Json(idmap::json_text(text));
}

// What nothing above says: an option is in the manifest by being one, with the value that was typed.
void add_typed(const CompileOptions& o, Json& out) {
  for (const CompileOptions::Typed& option : o.typed) {
    std::string key = option.name;
    std::ranges::replace(key, '-', '_');
    // --no-probe says what `probe` tells.
    if (out.contains(key) || (key.starts_with("no_") && out.contains(key.substr(3)))) continue;
    if (option.kind == CompileOptions::Typed::Kind::Flag) {
      out[key] = true;
    } else if (option.repeatable) {
      for (const std::string& text : option.values) out[key].push_back(typed_value(option, text));
    } else if (!option.values.empty()) {
      out[key] = typed_value(option, option.values.back());
    }
  }
}

}  // namespace

Json options_json(const CompileOptions& o) {
  Json out = always(o);
  add_given(o, out);
  add_typed(o, out);
  return out;
}

}  // namespace mrvlc::driver
