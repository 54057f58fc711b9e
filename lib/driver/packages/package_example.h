// The example of a target package: a model that `mrvlc targets check` compiles for it and runs.
#pragma once
#include <filesystem>
#include <vector>

#include "mrvlc/driver/rules_targets.h"
#include "mrvlc/support/diag.h"
#include "mrvlc/support/result.h"

namespace mrvlc::driver {

inline constexpr const char* kExampleFile = "example.onnx";

// Of a new package: a convolution, Relu, Mul and Add of a small image, as an ONNX file.
Result<std::string> example_model();

// Compiles FOLDER/example.onnx for the package and the host, runs it and compares with the reference. The
// line that says so; empty where there is no example. MRV0358: nothing of it runs on the target, MRV0009:
// results differ.
Result<std::string> run_example(const std::string& target, const std::filesystem::path& folder,
                                const std::vector<std::filesystem::path>& search,
                                const PackageCompiler& compiler);

}  // namespace mrvlc::driver
