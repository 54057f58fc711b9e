// Histograms of the values that become integers, and runs in which these are rounded.
#include "observe.h"

namespace mrvlc::quantize {
Status visit_samples(const Graph& graph, const std::vector<Sample>& samples, std::string_view step,
                     const Progress& progress, const interp::Visit& visit) {
  for (size_t i = 0; i < samples.size(); ++i) {
    if (progress) progress(step, i + 1, samples.size());
    auto ran = interp::run_visited(graph, samples[i], visit, false);
    if (!ran.ok()) return ran.error();
  }
  return {};
}

Result<std::vector<Histogram>> observe(const ir::Graph& graph, const Plan& plan,
                                       const std::vector<Sample>& samples, const Progress& progress) {
  std::vector<Histogram> out(plan.groups.size());
  const auto look = [&](ir::ValueId v, Tensor& t) {
    if (plan.is_integer(v)) out[plan.group_of[v.index()]].add(t);
  };
  MRVLC_TRY(visit_samples(graph, samples, "ranges", progress, look));
  return out;
}

Result<std::vector<Tensor>> run_rounded(const ir::Graph& graph, const Plan& plan,
                                        const std::vector<Affine>& affines, const Sample& sample) {
  const auto round = [&](ir::ValueId v, Tensor& t) {
    if (plan.is_integer(v)) round_to(affines[plan.group_of[v.index()]], t);
  };
  return interp::run_visited(graph, sample, round, false);
}

}  // namespace mrvlc::quantize
