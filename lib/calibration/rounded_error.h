// Errors as calibration files have them.
#pragma once
#include "mrvlc/ir/graph.h"

namespace mrvlc::calibration {

// To three digits: others depend on the machine. kInfinite where it is not finite.
double to_three_digits(double error);
// Outputs whose errors are measured.
std::vector<ir::ValueId> float_outputs(const ir::Graph& graph);

}  // namespace mrvlc::calibration
