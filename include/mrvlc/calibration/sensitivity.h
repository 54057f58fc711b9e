// How far outputs move when one thing is rounded, to fp16 or otherwise, and all else is float32.
#pragma once
#include <functional>
#include <span>

#include "mrvlc/calibration/observe.h"
#include "mrvlc/interp/interp.h"

namespace mrvlc::calibration {

// What is rounded together.
struct Rounding {
  std::vector<ir::ValueId> values;                            // float32 inputs and results of the graph
  std::vector<ir::NodeId> constants_of;                       // float32 constants, as these nodes read them
  std::function<void(ir::ValueId, Tensor&)> round = nullptr;  // how; null: to fp16
};

// Outputs of the graph whose errors are measured: plain floats.
std::vector<ir::ValueId> float_outputs(const ir::Graph& graph);

// The nodes whose results may change, in order.
std::vector<ir::NodeId> nodes_reached(const ir::Graph& graph, const Rounding& rounding);

struct SensitivityOptions {
  int64_t max_bytes = int64_t{2} << 30;  // of all values of a sample, which are held; MRV0008 beyond
  unsigned jobs = 0;                     // threads, 0: one for each processor; results do not depend on it
};
// By rounding: the largest error (error.h) of any of `compared`, values of the graph that are floats, over
// all samples. Errors: those of the interpreter.
Result<std::vector<double>> sensitivities(const ir::Graph& graph,
                                          const std::vector<std::vector<Tensor>>& samples,
                                          const std::vector<Rounding>& roundings,
                                          const std::vector<ir::ValueId>& compared,
                                          const SensitivityOptions& options = {});

// By `compared`: the error of each on one sample, when all of one rounding is done, by measure(actual,
// expected).
using ErrorMeasure = std::function<double(const Tensor&, const Tensor&)>;
Result<std::vector<double>> rounded_errors(const ir::Graph& graph, const std::vector<Tensor>& sample,
                                           const Rounding& rounding, const std::vector<ir::ValueId>& compared,
                                           const ErrorMeasure& measure,
                                           const SensitivityOptions& options = {});

// The error of all of them together: roundings are independent, so their squares add up.
double predicted_error(std::span<const double> sensitivities);

// What a rounding costs to be measured on one sample, where a node costs `of_node`.
int64_t measuring_cost(const ir::Graph& graph, const Rounding& rounding,
                       const std::function<int64_t(const ir::Node&)>& of_node);

// Fills in those of the records, on as many of the samples as `budget` allows, in the order given: none,
// where one is too many. To three digits, as others depend on the machine.
Status add_sensitivities(const ir::Graph& graph, const std::vector<std::vector<Tensor>>& samples,
                         int64_t budget, const std::function<int64_t(const ir::Node&)>& of_node,
                         const SensitivityOptions& options, Calibration& calibration);

}  // namespace mrvlc::calibration
