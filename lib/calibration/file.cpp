// The calibration file to JSON and back, every field checked; distributions of inputs from percentiles.
#include "mrvlc/calibration/file.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "kept_json.h"
#include "mrvlc/support/diag/accuracy.h"
#include "mrvlc/support/json_document.h"
#include "reader.h"

namespace mrvlc::calibration {
namespace {

constexpr const char* kSchema = "mrvlc-calibration-1";

Json value_json(const ValueRecord& v) {
  const Summary& s = v.summary;
  Json out = {{"name", v.name},
              {"input", v.input},
              {"type", name(v.elem)},
              {"elements", s.elements},
              {"non_finite", s.non_finite},
              {"min", s.min},
              {"max", s.max},
              {"max_abs", s.max_abs()},
              {"mean", s.mean},
              {"percentiles", s.percentiles},
              {"fp16_subnormal_share", s.fp16_subnormal_share}};
  if (v.sensitivity) out["sensitivity"] = *v.sensitivity;
  if (v.constants_sensitivity) out["constants_sensitivity"] = *v.constants_sensitivity;
  return out;
}

Summary read_summary(const Json& json, Reader& r) {
  Summary s;
  s.elements = r.count(json, "elements", 0, INT64_MAX);
  s.non_finite = r.count(json, "non_finite", 0, s.elements);
  s.min = r.number(json, "min");
  s.max = r.number(json, "max");
  s.mean = r.number(json, "mean");
  s.fp16_subnormal_share = r.number(json, "fp16_subnormal_share");
  r.require(s.min <= s.mean && s.mean <= s.max, "mean", "does not lie between min and max");
  r.require(r.number(json, "max_abs") == s.max_abs(), "max_abs", "is not that of min and max");
  r.require(s.fp16_subnormal_share >= 0 && s.fp16_subnormal_share <= 1, "fp16_subnormal_share",
            "is no share");
  const Json& list = member(json, "percentiles");
  r.require(list.is_array() && list.size() == kPercentiles.size(), "percentiles", "are not nine numbers");
  double last = s.min;
  for (size_t i = 0; r.wrong().empty() && i < kPercentiles.size(); ++i) {
    const double v = list[i].is_number() ? list[i].get<double>() : NAN;
    r.require(v >= last && v <= s.max, "percentiles", "do not rise from min to max");
    s.percentiles[i] = last = v;
  }
  if (s.finite() == 0) r.require(s.min == 0 && s.max == 0, "max", "is of no element");
  return s;
}

ValueRecord read_value(const Json& json, Reader& r) {
  ValueRecord v;
  v.name = r.text(json, "name");
  const Json& input = member(json, "input");
  r.require(input.is_boolean(), "input", "is neither true nor false");
  v.input = input.is_boolean() && input.get<bool>();
  const auto elem = element_type_from_name(r.text(json, "type"));
  r.require(elem && (is_float(*elem) || is_integer(*elem)), "type", "is no type of numbers");
  v.elem = elem.value_or(ElementType::F32);
  v.summary = read_summary(json, r);
  v.sensitivity = r.error(json, "sensitivity");
  v.constants_sensitivity = r.error(json, "constants_sensitivity");
  return v;
}

bool is_sha256(const std::string& text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

}  // namespace

std::string to_json(const Calibration& c) {
  Json values = Json::array();
  for (const ValueRecord& v : c.values) values.push_back(value_json(v));
  Json json = {{"schema", kSchema},           {"model", {{"sha256", c.model_sha256}}},
               {"samples", c.samples},        {"sensitivity_samples", c.sensitivity_samples},
               {"percentiles", kPercentiles}, {"values", std::move(values)}};
  if (!c.kept.empty()) json["kept"] = kept_json(c.kept);
  return json_document(json);
}

Result<Calibration> parse(std::string_view text, const std::string& shown) {
  const auto bad = [&](std::string_view why) { return make_diag<DiagCode::MRV0905>(shown, why); };
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) return bad("not valid JSON");
  if (member(json, "schema") != kSchema) return bad(fmt::format("its schema is not {}", kSchema));
  Reader r("");
  Calibration out;
  out.model_sha256 = r.text(member(json, "model"), "sha256");
  r.require(is_sha256(out.model_sha256), "model.sha256", "is no SHA-256");
  out.samples = r.count(json, "samples", 1, INT64_MAX);
  if (!member(json, "sensitivity_samples").is_null())  // older files have none
    out.sensitivity_samples = r.count(json, "sensitivity_samples", 0, out.samples);
  const Json& values = member(json, "values");
  r.require(values.is_array(), "values", "is no list");
  std::set<std::string> names;
  for (size_t i = 0; r.wrong().empty() && i < values.size(); ++i) {
    r.in(fmt::format("value {}: ", i));
    out.values.push_back(read_value(values[i], r));
    r.require(names.insert(out.values.back().name).second, "name", "was there before");
  }
  out.kept = read_kept(member(json, "kept"), out, r);
  if (!r.wrong().empty()) return bad(r.wrong());
  return out;
}

Distributions distributions_of(const ir::Graph& graph, const Calibration& calibration) {
  Distributions out;
  for (size_t i = 0; i < graph.inputs().size(); ++i) {
    const ir::Value& input = graph.value(graph.inputs()[i]);
    const ValueRecord* v = calibration.find(recorded_name(input.name));
    if (v == nullptr || v->summary.finite() == 0 || input.type.wrapper != Wrapper::None ||
        v->elem != input.type.elem)
      continue;
    Quantiles q{{{0, v->summary.min}}};
    for (size_t k = 0; k < kPercentiles.size(); ++k)
      q.points.emplace_back(kPercentiles[k], v->summary.percentiles[k]);
    q.points.emplace_back(1, v->summary.max);
    out[i] = std::move(q);
  }
  return out;
}

}  // namespace mrvlc::calibration
