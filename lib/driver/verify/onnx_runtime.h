// Outputs of a model by ONNX Runtime, where it is installed: of node, or of Python.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "mrvlc/ir/graph.h"
#include "mrvlc/support/result.h"

namespace mrvlc::driver {

class OnnxRuntime {
 public:
  // MRV0719: there is none. `folder`: for its files; `seconds`: what one run may take, 0: no limit.
  static Result<OnnxRuntime> find(const std::filesystem::path& folder, double seconds);
  // Of the model's file without optimisation, by graph outputs. MRV0718, MRV0720.
  Result<std::vector<Tensor>> run(const std::filesystem::path& model, const ir::Graph& graph,
                                  const std::vector<Tensor>& inputs) const;

 private:
  std::filesystem::path folder_;
  std::vector<std::string> command_;
  double seconds_ = 0;
};

}  // namespace mrvlc::driver
