// What a network's values are on samples.
#pragma once
#include "affine.h"
#include "histogram.h"
#include "mrvlc/interp/visit.h"
#include "plan.h"

namespace mrvlc::quantize {

using Sample = std::vector<Tensor>;  // by graph input order
using Progress = std::function<void(std::string_view step, size_t done, size_t of)>;

// A run of the reference for each sample, looked at and changed by `visit`.
Status visit_samples(const Graph& graph, const std::vector<Sample>& samples, std::string_view step,
                     const Progress& progress, const interp::Visit& visit);

// By group of the plan, in floats.
Result<std::vector<Histogram>> observe(const ir::Graph& graph, const Plan& plan,
                                       const std::vector<Sample>& samples, const Progress& progress);

// A run in which the values of the plan are rounded; `affines` by group.
Result<std::vector<Tensor>> run_rounded(const ir::Graph& graph, const Plan& plan,
                                        const std::vector<Affine>& affines, const Sample& sample);

}  // namespace mrvlc::quantize
