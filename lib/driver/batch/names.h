// What the models of a batch are called below its folder.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "mrvlc/support/result.h"

namespace mrvlc::driver {

// Files as they are; of folders all *.onnx in and below them, in order of their paths. MRV0001: there is
// neither; MRV0004: no model, or one is named twice.
Result<std::vector<std::filesystem::path>> batch_models(const std::vector<std::filesystem::path>& named);

// A name for each: the file's stem; where several have it, with the folders in front that tell them apart.
// Good for file names, and distinct where upper and lower case are the same. MRV1075.
Result<std::vector<std::string>> batch_names(const std::vector<std::filesystem::path>& models);

}  // namespace mrvlc::driver
