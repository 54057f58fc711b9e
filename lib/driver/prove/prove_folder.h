// A folder of a compile with its model, and what the prover says of both.
#pragma once
#include "folder/output_folder.h"
#include "mrvlc/driver/prove.h"
#include "prove/prove_files.h"

namespace mrvlc::driver {

struct FolderWithModel {
  OutputFolder out;
  std::filesystem::path model;  // its file
  Provable of;
};
// MRV1100 to MRV1102 where the model is not found or is another one.
Result<FolderWithModel> open_with_model(const ProveOptions& options, Diagnostics& diagnostics);

}  // namespace mrvlc::driver
