// What a compile reads beside the model: the files of --rules, --host-model, --tuning, --calibration and
// --placement.
#pragma once
#include <optional>

#include "inputs/read_files.h"
#include "inputs/tuning_file.h"
#include "mrvlc/calibration/file.h"
#include "mrvlc/partition/host_model.h"
#include "mrvlc/rules/rule_set.h"

namespace mrvlc::driver {

struct SideInputs {
  std::vector<rules::RuleFile> rule_files;
  partition::HostModel host_model;  // the built-in one unless a file is named
  TuningFile tuning;                // of no layers unless a file is named
  std::optional<calibration::Calibration> calibration;
  std::string placement;  // text
};

// Each is read once, whole, and noted in `read`: what was hashed is what is used.
Result<SideInputs> read_side_inputs(const CompileOptions& options, std::vector<ReadFile>& read);

// MRV0906: the calibration is of another model than that of this hash.
Status check_calibration(const CompileOptions& options, const calibration::Calibration& calibration,
                         const std::string& model_sha256);

}  // namespace mrvlc::driver
