// Which operators a model has, also one that the importer refuses.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "mrvlc/support/result.h"

namespace mrvlc::onnx {

struct OperatorUse {
  std::string domain, name;
  int64_t nodes = 0;       // in graphs, bodies and functions
  bool supported = false;  // by the operator table, by taking it apart, or by a function of the model
};

// In the order of domain and name.
Result<std::vector<OperatorUse>> operators_of(const std::filesystem::path& model);

}  // namespace mrvlc::onnx
