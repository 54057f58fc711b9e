// The file of --timing: seconds and memory of phases and passes.
#pragma once
#include <optional>

#include "mrvlc/driver/options.h"
#include "mrvlc/passes/pass.h"
#include "mrvlc/support/file.h"
#include "mrvlc/support/file_writer.h"
#include "stages/phase_timer.h"

namespace mrvlc::driver {

class TimingFile {
 public:
  explicit TimingFile(const CompileOptions& options) : options_(options) {}

  // Before OUT is in place, so that a file that cannot be written keeps OUT away as well.
  Status open(const OutputDir& out);
  // When all is done; nothing unless --timing asks for it.
  Status write(const PhaseTimer& timer, const std::vector<passes::PassTime>& pass_times);

 private:
  const CompileOptions& options_;
  std::optional<FileWriter> writer_;  // none: the file lies in OUT
};

}  // namespace mrvlc::driver
