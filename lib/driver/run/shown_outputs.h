// Outputs of `mrvlc run` as text, where no folder takes them.
#pragma once
#include "folder/output_folder.h"

namespace mrvlc::driver {

// A line for each, of the files that the program wrote into `results`: its values where they are few, else
// what they are.
Result<std::string> shown_outputs(const OutputFolder& folder, const std::filesystem::path& results);

}  // namespace mrvlc::driver
