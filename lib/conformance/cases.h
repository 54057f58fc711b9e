// The cases of ONNX's backend tests.
#pragma once
#include "mrvlc/conformance/conformance.h"
#include "mrvlc/driver/data_set.h"
#include "mrvlc/onnx/importer.h"

namespace mrvlc::conformance {

struct CaseFolder {
  std::string suite, name;  // "node", "node/test_relu"
  std::filesystem::path folder;
};

// Of all suites of a release, by name.
std::vector<CaseFolder> cases_in(const std::filesystem::path& root);

struct Case {
  std::filesystem::path folder;
  onnx::ImportOptions import;
  std::optional<onnx::Model> model;
  Outcome refusal;  // when there is no model
  std::vector<std::filesystem::path> data_sets;
  std::vector<driver::DataSet> sets;  // what they hold
};

// Imports the model. Dimensions that it leaves open are given the sizes of the data, as with --input-shape.
Case load_case(const std::filesystem::path& folder);

Outcome failure(const Diag& diag);
// There is one.
const Diag& import_error(const Diagnostics& diagnostics);

Result<std::vector<Tensor>> read_inputs(const Case& c, size_t set);
// The case's outcome as far as this data set goes.
Outcome check_outputs(const Case& c, size_t set, const std::vector<Tensor>& inputs,
                      const std::vector<Tensor>& actual, const Difference& judge);

}  // namespace mrvlc::conformance
