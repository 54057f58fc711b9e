// Which values are watched (floats, and integers of inputs, with names of the model), and their statistics.
#include "mrvlc/calibration/observe.h"

#include <algorithm>
#include <set>

#include "mrvlc/interp/visit.h"

namespace mrvlc::calibration {

std::string recorded_name(const std::string& name) {
  constexpr size_t kNameBytes = 1u << 20;
  return printable(name, kNameBytes);
}

const ValueRecord* Calibration::find(std::string_view name) const {
  const auto it = std::ranges::find(values, name, &ValueRecord::name);
  return it == values.end() ? nullptr : &*it;
}

Observer::Observer(const ir::Graph& graph) : graph_(graph), at_(graph.value_slots(), UINT32_MAX) {
  for (ir::ValueId id : graph.inputs()) watch(id);
  for (ir::NodeId node : graph.topological_order())
    for (ir::ValueId id : graph.node(node).outputs)
      if (id.valid()) watch(id);
}

void Observer::watch(ir::ValueId id) {
  const ir::Value& value = graph_.value(id);
  const bool input = value.kind == ir::ValueKind::Input;
  const bool numbers = is_float(value.type.elem) || (input && is_integer(value.type.elem));
  if (value.type.wrapper != Wrapper::None || !numbers || value.name.starts_with('%')) return;
  at_[id.index()] = static_cast<uint32_t>(watched_.size());
  watched_.push_back({id, {}});
}

Status Observer::add(const std::vector<Tensor>& inputs) {
  const auto look = [&](ir::ValueId id, Tensor& tensor) {
    if (const uint32_t at = at_[id.index()]; at != UINT32_MAX) watched_[at].statistics.add(tensor);
  };
  auto ran = interp::run_visited(graph_, inputs, look, false);
  if (!ran.ok()) return ran.error();
  ++samples_;
  return {};
}

Calibration Observer::result(std::string model_sha256) const {
  Calibration out{std::move(model_sha256), samples_, 0, {}, {}};
  std::set<std::string> names;  // two may look alike
  for (const Watched& w : watched_) {
    const ir::Value& value = graph_.value(w.value);
    std::string name = recorded_name(value.name);
    if (names.insert(name).second)
      out.values.push_back({std::move(name),
                            value.kind == ir::ValueKind::Input,
                            value.type.elem,
                            w.statistics.summary(),
                            {},
                            {}});
  }
  return out;
}

}  // namespace mrvlc::calibration
