// What tools of others say of the C.
#pragma once
#include <filesystem>

#include "evidence/document.h"
#include "mrvlc/support/result.h"

namespace mrvlc::driver {

struct Analysis {
  EvidenceAnalysis of;
  std::string said;  // as it came, but for the folder's path; goes into the file that `of` names
};
// With its MISRA addon, where it is installed, of these files of the folder.
Result<Analysis> run_cppcheck(const std::filesystem::path& folder, const std::vector<std::string>& files);

}  // namespace mrvlc::driver
