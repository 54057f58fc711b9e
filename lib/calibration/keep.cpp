// Samples ranked by the error of a run that rounds everything; the worst are kept while there is room.
#include "mrvlc/calibration/keep.h"

#include <algorithm>

#include "kept_json.h"
#include "mrvlc/support/diag/general.h"
#include "mrvlc/support/saturating.h"
#include "rounded_error.h"

namespace mrvlc::calibration {
namespace {

// `count` of 0 ... n-1, the first and the last among them where there are two.
std::vector<size_t> spread(size_t n, size_t count) {
  std::vector<size_t> out;
  count = std::min(n, count);
  for (size_t i = 0; i < count; ++i) out.push_back(count == 1 ? 0 : i * (n - 1) / (count - 1));
  return out;
}

bool plain_numbers(const ir::Graph& graph) {
  return std::ranges::all_of(graph.inputs(), [&](ir::ValueId id) {
    const TensorType& type = graph.value(id).type;
    return type.wrapper == Wrapper::None && (is_float(type.elem) || is_integer(type.elem)) &&
           !graph.value(id).name.starts_with('%');
  });
}

Rounding everything(const ir::Graph& graph) {
  Rounding out{graph.inputs(), {}};
  for (ir::NodeId n : graph.topological_order()) {
    out.constants_of.push_back(n);
    for (ir::ValueId v : graph.node(n).outputs)
      if (v.valid()) out.values.push_back(v);
  }
  return out;
}

struct Ranked {
  size_t sample;
  std::optional<double> error;
};

Result<std::vector<Ranked>> ranked(const ir::Graph& graph, const std::vector<std::vector<Tensor>>& samples,
                                   const KeepOptions& options) {
  const Rounding all = everything(graph);
  const std::vector<ir::ValueId> floats = float_outputs(graph);
  const int64_t cost = saturating_mul(2, std::max<int64_t>(1, measuring_cost(graph, all, options.of_node)));
  const auto room = static_cast<size_t>(options.budget / cost);
  std::vector<Ranked> out;
  for (size_t i : spread(samples.size(), floats.empty() || room == 0 ? options.most : room)) {
    out.push_back({i, std::nullopt});
    if (floats.empty() || room == 0) continue;
    const auto error = sensitivities(graph, {samples[i]}, {all}, floats, options.limits);
    if (!error.ok() && error.error().code != DiagCode::MRV0008) return error.error();
    if (error.ok()) out.back().error = to_three_digits(error->front());
  }
  std::ranges::stable_sort(out, std::ranges::greater(), [](const Ranked& r) { return r.error.value_or(0); });
  return out;
}

}  // namespace

Result<std::vector<KeptSample>> keep_samples(const ir::Graph& graph,
                                             const std::vector<std::vector<Tensor>>& samples,
                                             const KeepOptions& options) {
  std::vector<KeptSample> out;
  if (options.most == 0 || !plain_numbers(graph)) return out;
  MRVLC_ASSIGN(const std::vector<Ranked> worst_first, ranked(graph, samples, options));
  size_t characters = 0;
  for (const auto& [i, error] : worst_first) {
    KeptSample k{static_cast<int64_t>(i), error, {}};
    for (size_t n = 0; n < graph.inputs().size(); ++n) {
      k.inputs.emplace_back(recorded_name(graph.value(graph.inputs()[n]).name), samples[i][n]);
      characters += encoded_size(samples[i][n]);
    }
    if (characters > options.max_characters) break;
    out.push_back(std::move(k));
    if (out.size() == options.most) break;
  }
  return out;
}

std::vector<std::vector<Tensor>> kept_inputs(const ir::Graph& graph, const Calibration& calibration,
                                             size_t most) {
  std::vector<std::vector<Tensor>> out;
  for (const KeptSample& k : calibration.kept) {
    if (out.size() == most) break;
    std::vector<Tensor>& inputs = out.emplace_back();
    for (ir::ValueId id : graph.inputs()) {
      const ir::Value& input = graph.value(id);
      const auto at = std::ranges::find(k.inputs, recorded_name(input.name), &KeptSample::Input::first);
      if (at == k.inputs.end() || !(at->second.type() == input.type)) return {};
      inputs.push_back(at->second);
    }
  }
  return out;
}

}  // namespace mrvlc::calibration
