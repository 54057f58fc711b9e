// OUT as an SPDX document: `compile --emit sbom`, `mrvlc evidence`.
#pragma once
#include "model/compiled_model.h"
#include "mrvlc/driver/options.h"
#include "mrvlc/support/file.h"

namespace mrvlc::driver {

inline constexpr const char* kSbomFile = "sbom.spdx.json";

// What a document is made of.
struct SbomOf {
  std::string name, model_sha256;
  std::filesystem::path folder;                            // that holds the files
  std::vector<std::pair<std::string, std::string>> files;  // with their SHA-256
  std::vector<std::string> of_packages = {};               // of these, and
  std::vector<std::string> libraries = {};                 // what is linked besides
};
Result<std::string> sbom(const SbomOf& of);

// MRV0004: $SOURCE_DATE_EPOCH, which says when the document was made, is no number of seconds.
Status check_sbom(const CompileOptions& options);
// Of all files that are written so far, where it is asked for.
Status write_sbom(OutputDir& dir, const CompiledModel& m, const CompileOptions& options);

}  // namespace mrvlc::driver
