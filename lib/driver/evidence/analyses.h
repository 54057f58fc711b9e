// What tools of others say of the C: cppcheck with its MISRA addon, where it is installed.
#pragma once
#include <filesystem>

#include "evidence/document.h"
#include "mrvlc/support/file.h"

namespace mrvlc::driver {

struct Analysed {
  std::filesystem::path folder;    // of the C, with its headers
  std::vector<std::string> files;  // in it
  std::string name;                // of the model
};

// What they say is written as it came, but for the folder's path.
Result<std::vector<EvidenceAnalysis>> analyse(const Analysed& what, OutputDir& to);

}  // namespace mrvlc::driver
