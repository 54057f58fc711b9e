// A compiled model, run without its C: nodes on the CPU by the reference interpreter, regions by the
// device's model on the very bytes that are written.
#pragma once
#include "model/compiled_model.h"

namespace mrvlc::driver {

class DeviceRun {
 public:
  // The graph whose constants are still there: code generation gives large ones back. MRV0701 and so on: a
  // binary that the simulator refuses.
  static Result<DeviceRun> create(const CodedModel& m, const ir::Graph& graph);

  struct Results {
    std::vector<Tensor> outputs;                  // of the graph
    std::vector<std::vector<Tensor>> of_regions;  // [region][output]
  };
  // Values by graph input order. Errors: those of the interpreter.
  Result<Results> run(const std::vector<Tensor>& inputs);

 private:
  DeviceRun(const CodedModel& m, const ir::Graph& graph) : m_(&m), graph_(&graph) {}
  // The model's graph, or a body. `of_regions`: where to keep what regions give; null: nowhere.
  Result<std::vector<Tensor>> run(const ir::Graph& graph, const partition::Partition& partition,
                                  const std::vector<Tensor>& inputs,
                                  std::vector<std::vector<Tensor>>* of_regions);
  Result<std::vector<Tensor>> run_body(const ir::Graph& body, const std::vector<Tensor>& inputs);
  Status run_node(const ir::Graph& graph, ir::NodeId id, class RunValues& values);
  const CodedModel* m_;
  const ir::Graph* graph_;
  std::vector<std::unique_ptr<backend::Executor>> executors_;  // by region
};

}  // namespace mrvlc::driver
