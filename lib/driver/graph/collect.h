// The graph of a model for pictures (mrvlc/report/graph.h).
#pragma once
#include "model/compiled_model.h"
#include "model/report.h"
#include "mrvlc/report/graph.h"

namespace mrvlc::driver {

// As it was read: ONNX nodes, shapes and multiply-accumulates.
report::GraphDocument graph_of(const onnx::Model& model, const std::string& name);
// As it was compiled. `regions` as report_regions() gives them.
// Nothing above report::kMostGraphItems.
std::optional<report::GraphDocument> graph_of(const CompiledModel& m, const Report& report,
                                              const std::vector<report::Region>& regions);

}  // namespace mrvlc::driver
