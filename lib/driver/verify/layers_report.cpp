// The errors of layers as a table for terminals, as JSON, and as a page.
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "mrvlc/driver/driver.h"
#include "mrvlc/idmap/idmap.h"
#include "mrvlc/report/layer_page.h"
#include "mrvlc/support/diag.h"
#include "mrvlc/support/json_document.h"
#include "verify/verdict.h"

namespace mrvlc::driver {
namespace {

using Json = nlohmann::ordered_json;

std::string shown(double error) {
  return std::isfinite(error) ? fmt::format("{:.2g}", error) : "infinite";
}

std::string differing(const LayerError& l) {
  return l.elements == 0 ? "" : fmt::format(", {} elements differ", l.elements);
}

Json layer_json(const LayerError& l) {
  return {{"place", l.place},
          {"operators", idmap::json_text(l.operators)},
          {"node", idmap::json_text(l.node)},
          {"value", idmap::json_text(l.value)},
          {"error", json_error(l.error)},
          {"own", json_error(l.own)},
          {"inherited", json_error(l.inherited)},
          {"limit", json_error(l.limit)},
          {"elements_differing", l.elements},
          {"state", name(l.state)},
          {"set", idmap::json_text(l.set)}};
}

Json errors_json(const LayerErrors& errors) {
  Json layers = Json::array(), sets = Json::array(), causes = Json::array();
  for (const std::string& c : errors.causes) causes.push_back(idmap::json_text(c));
  for (const LayerError& l : errors.layers) layers.push_back(layer_json(l));
  for (const std::string& s : errors.sets) sets.push_back(idmap::json_text(s));
  return {{"reference", errors.reference},
          {"sets", std::move(sets)},
          {"first_bad", errors.first_bad ? Json(*errors.first_bad) : Json()},
          {"causes", std::move(causes)},
          {"layers", std::move(layers)}};
}

std::string verdict(const LayerErrors& errors) {
  if (!errors.first_bad) return "no layer is bad";
  const LayerError& l = errors.layers[*errors.first_bad];
  return fmt::format(
      "first bad layer: {}, {} ({}: its own error is {}, at most {} is expected{}; inputs: {})",
      *errors.first_bad, l.operators, name(l.state), shown(l.own), shown(l.limit), differing(l), l.set);
}

}  // namespace

std::string_view name(LayerError::State state) {
  constexpr std::string_view kNames[] = {"ok", "fp16", "wrong", "unknown"};
  return kNames[static_cast<size_t>(state)];
}

std::string_view name(Comparison::Limit limit) {
  constexpr std::string_view kNames[] = {"default", "given", "condition", "package"};
  return kNames[static_cast<size_t>(limit)];
}

std::string layers_text(const LayerErrors& errors) {
  std::string out = fmt::format("{:>5}  {:<10} {:>9} {:>9} {:>9} {:>9}  {:<8} {}\n", "layer", "where",
                                "error", "own", "inherited", "limit", "", "ONNX operators");
  for (size_t i = 0; i < errors.layers.size(); ++i) {
    const LayerError& l = errors.layers[i];
    out += fmt::format("{:>5}  {:<10} {:>9} {:>9} {:>9} {:>9}  {:<8} {}{}\n", i, l.place, shown(l.error),
                       shown(l.own), shown(l.inherited), shown(l.limit), name(l.state),
                       printable(l.operators, 400), differing(l));
  }
  out += printable(verdict(errors), 1000) + "\n";
  for (const std::string& cause : errors.causes) out += "  " + printable(cause, 1000) + "\n";
  return out;
}

std::string verify_json(const std::vector<Comparison>& comparisons, const LayerErrors* layers) {
  Json outputs = Json::array();
  for (const Comparison& c : comparisons)
    outputs.push_back({{"set", idmap::json_text(c.set)},
                       {"output", idmap::json_text(c.output)},
                       {"error", json_error(c.error)},
                       {"tolerance", json_error(c.tolerance)},
                       {"limit_by", name(c.limit)},
                       {"ulp", c.ulp ? Json(json_error(*c.ulp)) : Json()},
                       {"state", state_of(c)}});
  Json all = {{"schema", "mrvlc-verify-1"}, {"outputs", std::move(outputs)}};
  if (layers != nullptr) all["layers"] = errors_json(*layers);
  return json_document(all);
}

std::string layers_page(const LayerErrors& errors, const std::string& model) {
  report::LayerTable table;
  table.title = "Errors of the layers of " + model;
  table.summary = fmt::format("{}. Against {}; sets of inputs: {}.", verdict(errors), errors.reference,
                              fmt::join(errors.sets, ", "));
  for (size_t i = 0; i < errors.layers.size(); ++i) {
    const LayerError& l = errors.layers[i];
    const double worst = std::max({l.error, l.own, l.inherited});
    table.rows.push_back(
        {{std::to_string(i), l.place, l.operators, shown(l.error), shown(l.own), shown(l.inherited),
          shown(l.limit), std::string(name(l.state)) + differing(l), l.set},
         worst > 0 ? l.own / worst : 0,
         errors.first_bad == i});
    if (!std::isfinite(worst)) table.rows.back().own_share = std::isfinite(l.own) ? 0 : 1;
  }
  return report::layer_page(table);
}

}  // namespace mrvlc::driver
