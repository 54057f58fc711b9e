// `mrvlc evidence`: what an assessor asks of a compile, in one folder (docs/evidence.md).
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "mrvlc/driver/driver.h"
#include "mrvlc/support/diag.h"
#include "mrvlc/support/result.h"

namespace mrvlc::driver {

struct EvidenceOptions {
  std::filesystem::path out;                // folder made by compile
  std::filesystem::path model;              // empty: looked for as `mrvlc prove` does
  std::filesystem::path to;                 // folder that is written
  std::vector<std::filesystem::path> data;  // with expected outputs: further tests
  std::vector<std::string> sets;  // of inputs that the program is run on; empty: as many as a budget allows
  std::vector<uint32_t> seeds;
  bool analyse = true;  // cppcheck, where it is installed
  // How the program is built and run: compiler, flags, the time it may take; and the threads of the
  // simulator.
  RunOptions run;
  std::vector<std::filesystem::path> target_dirs;
};
// The summary. A link that is missing is MRV1107, an output that is wrong MRV0009, a refused proof MRV1103:
// the folder is written all the same, and says so.
Result<std::string> evidence(const EvidenceOptions& options, Diagnostics& diagnostics);

}  // namespace mrvlc::driver
