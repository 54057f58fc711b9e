// Ranges of values from options and data.
#include "accuracy/known.h"

namespace mrvlc::driver {
namespace {

std::map<ir::ValueId, range::Interval> observed(const ir::Graph& graph,
                                                const calibration::Calibration& data) {
  std::map<std::string_view, const calibration::ValueRecord*> by_name;
  for (const calibration::ValueRecord& v : data.values)
    if (v.summary.finite() > 0 && v.summary.non_finite == 0) by_name.emplace(v.name, &v);
  std::map<ir::ValueId, range::Interval> out;
  for (size_t i = 0; i < graph.value_slots(); ++i) {
    const ir::Value& value = graph.value(ir::ValueId(i));
    if (value.kind == ir::ValueKind::Constant) continue;
    const auto record = by_name.find(calibration::recorded_name(value.name));
    if (record != by_name.end()) out[value.id] = {record->second->summary.min, record->second->summary.max};
  }
  return out;
}

}  // namespace

range::Knowledge knowledge(const ir::Graph& graph, const CompileOptions& options,
                           const std::optional<calibration::Calibration>& data) {
  range::Stated stated;
  if (const auto ranges = calibration::distributions_of(graph, options.input_ranges); ranges.ok())
    for (const auto& [input, quantiles] : *ranges) stated[input] = {quantiles.at(0), quantiles.at(1)};
  return {graph, stated, data ? observed(graph, *data) : std::map<ir::ValueId, range::Interval>()};
}

}  // namespace mrvlc::driver
