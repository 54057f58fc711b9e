// ONNX's conformance cases, where they are installed: a model, inputs, expected outputs.
#pragma once
#include <filesystem>

#include "mrvlc/onnx/importer.h"

namespace mrvlc::test {

struct Case {
  std::string shown;  // "node/test_relu"
  std::filesystem::path folder;
  std::optional<onnx::Model> model;
  Diagnostics diagnostics;
  std::vector<size_t> inputs;  // files of the graph's inputs
  bool bound = false;          // inputs were made constants, see load_case
};

// Of /usr/share/libonnx-testdata, or of another release's folder that MRVLC_ONNX_TESTDATA names; by name.
std::vector<std::filesystem::path> cases_in(std::string_view suite);
inline constexpr std::string_view kSuites[] = {"node", "simple", "pytorch-converted", "pytorch-operator"};

// Imports the model. Many cases give shapes, axes and the like at run time, where a compiler asks for
// constants; of a model refused for that (MRV0207), all inputs but the first, or all, become constants with
// the values of the data, so that their arithmetic is tested all the same.
Case load_case(const std::filesystem::path& folder);
// The first error of the import; nullptr when there is none.
const Diag* first_error(const Case& c);
// Operators that draw random numbers, and cases whose data contradict their models.
bool is_excluded(const Case& c);

Result<std::vector<Tensor>> read_inputs(const Case& c);
// What the outputs differ in from the expected ones; empty when they agree.
Result<std::string> check_outputs(const Case& c, const std::vector<Tensor>& actual);

}  // namespace mrvlc::test
