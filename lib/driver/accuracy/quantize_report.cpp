// The report of a quantisation as JSON and as text, with the noisiest layers.
#include "accuracy/quantize_report.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "mrvlc/idmap/idmap.h"
#include "mrvlc/support/json_document.h"
#include "mrvlc/support/printable.h"

namespace mrvlc::driver {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kNameBytes = 4096;

// JSON has no infinity: the same values.
Json decibel(double db) {
  return std::isfinite(db) ? Json(db) : Json(nullptr);
}

Json of_layer(const quantize::LayerReport& l) {
  Json out = {{"node", printable(l.node, kNameBytes)},
              {"op", l.op},
              {"weights", l.weights},
              {"integers", l.integers}};
  if (!l.integers) out["why_float"] = l.why_float;
  if (l.integers) {
    out["rounding"] = l.learned ? "learned" : "nearest";
    out["equalised"] = l.equalised;
    out["sqnr_db"] = decibel(l.sqnr_db.value_or(0));
  }
  if (l.sensitivity) out["sensitivity"] = *l.sensitivity;
  if (l.saves) out["saves"] = *l.saves;
  return out;
}

Json of_choice(const quantize::ChoiceReport& c) {
  Json out = {{"asked", c.asked},
              {"error_of_floats", c.error_of_floats},
              {"error_of_integers", c.error_of_integers},
              {"runs", c.runs},
              {"samples", c.samples}};
  if (c.time_of_floats) out["time_of_floats"] = *c.time_of_floats;
  if (c.time_of_integers) out["time_of_integers"] = *c.time_of_integers;
  if (c.time) out["time"] = *c.time;
  return out;
}

Json of_metric(const quantize::MetricReport& m) {
  Json out = {
      {"name", printable(m.name, kNameBytes)}, {"of_floats", m.of_floats}, {"of_integers", m.of_integers}};
  if (m.max_drop) out["max_drop"] = *m.max_drop;
  return out;
}

int64_t layers_in_integers(const quantize::Report& report) {
  return std::ranges::count_if(report.layers, &quantize::LayerReport::integers);
}

std::string db_text(double db) {
  return std::isfinite(db) ? fmt::format("{:.1f} dB", db) : "the same";
}

// Layers of integers with most noise.
std::string noisy_layers(const quantize::Report& report) {
  constexpr size_t kShown = 5;
  std::vector<const quantize::LayerReport*> layers;
  for (const auto& l : report.layers)
    if (l.integers) layers.push_back(&l);
  std::ranges::stable_sort(layers, {}, [](const auto* l) { return l->sqnr_db.value_or(0); });
  std::string out;
  for (size_t i = 0; i < std::min(kShown, layers.size()); ++i)
    out += fmt::format("  {:>9}  {} ({})\n", db_text(layers[i]->sqnr_db.value_or(0)),
                       printable(layers[i]->node), layers[i]->op);
  return out;
}

}  // namespace

std::string quantize_json(const quantize::Report& report, const std::string& model_sha256) {
  Json out = {{"schema", "mrvlc-quantize-1"},
              {"model", {{"sha256", model_sha256}}},
              {"samples", report.samples},
              {"validation", report.validation},
              {"error", report.error},
              {"float_weight_bytes", report.float_weight_bytes},
              {"weight_bytes", report.weight_bytes}};
  if (report.choice) out["choice"] = of_choice(*report.choice);
  if (report.metric) out["metric"] = of_metric(*report.metric);
  for (const auto& o : report.outputs) {
    Json output = {
        {"name", printable(o.name, kNameBytes)}, {"error", o.error}, {"sqnr_db", decibel(o.sqnr_db)}};
    if (o.same_top1) output["same_top1"] = *o.same_top1;
    out["outputs"].push_back(std::move(output));
  }
  for (const auto& l : report.layers) out["layers"].push_back(of_layer(l));
  for (const auto& t : report.tensors)
    out["tensors"].push_back({{"name", printable(t.name, kNameBytes)},
                              {"method", quantize::name(t.method)},
                              {"min", t.seen_min},
                              {"max", t.seen_max},
                              {"scale", t.scale},
                              {"zero_point", t.zero_point}});
  return json_document(out);
}

std::string quantize_text(const quantize::Report& report) {
  std::string out = fmt::format("{} of {} layers in integers, weights {} bytes ({} in float32), {} samples",
                                layers_in_integers(report), report.layers.size(), report.weight_bytes,
                                report.float_weight_bytes, report.samples);
  out += report.validation > 0 ? fmt::format(", errors on {} others\n", report.validation)
                               : ", errors on these samples\n";
  for (const auto& o : report.outputs) {
    out += fmt::format("output '{}': {}, error {:.3g}", printable(o.name), db_text(o.sqnr_db), o.error);
    if (o.same_top1)
      out += fmt::format(", largest element the same in {:.1f} % of samples", 100 * *o.same_top1);
    out += '\n';
  }
  if (const auto& m = report.metric)
    out += fmt::format("{}: {:.4g} in integers, {:.4g} in float32\n", printable(m->name), m->of_integers,
                       m->of_floats);
  const std::string noisy = noisy_layers(report);
  if (!noisy.empty()) out += "signal to noise of results, the lowest:\n" + noisy;
  for (const auto& l : report.layers)
    if (!l.integers) out += fmt::format("in floats: {} ({}): {}\n", printable(l.node), l.op, l.why_float);
  return out;
}

}  // namespace mrvlc::driver
