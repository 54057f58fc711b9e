// A compiled model, run without its C: nodes on the CPU by the reference interpreter, regions by the
// device's model on the very bytes that are written.
#pragma once
#include "compiled_model.h"

namespace mrvlc::driver {

class DeviceRun {
 public:
  // The graph whose constants are still there: code generation gives large ones back. MRV0701 and so on: a
  // binary that the simulator refuses.
  static Result<DeviceRun> create(const CompiledModel& m, const ir::Graph& graph);

  struct Results {
    std::vector<Tensor> outputs;                  // of the graph
    std::vector<std::vector<Tensor>> of_regions;  // [region][output]
  };
  // Values by graph input order. Errors: those of the interpreter.
  Result<Results> run(const std::vector<Tensor>& inputs);

 private:
  DeviceRun(const CompiledModel& m, const ir::Graph& graph) : m_(&m), graph_(&graph) {}
  const CompiledModel* m_;
  const ir::Graph* graph_;
  std::vector<std::unique_ptr<backend::Executor>> executors_;  // by region
};

}  // namespace mrvlc::driver
