// `mrvlc run` of an OUT for a mesh: the C of its elements, built and run here.
#pragma once
#include "folder/output_folder.h"
#include "mrvlc/driver/driver.h"

namespace mrvlc::driver {

bool is_mesh(const OutputFolder& folder);
// `inputs`: a file for each input of the model, whose value was checked. What the program printed, and the
// outputs where no folder takes them.
Result<std::string> run_mesh(const RunOptions& options, const OutputFolder& folder,
                             const std::vector<std::filesystem::path>& inputs);

}  // namespace mrvlc::driver
