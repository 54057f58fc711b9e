// The example program of a folder, built for another machine, or on it, and run there.
#pragma once
#include <memory>

#include "mrvlc/driver/driver.h"
#include "run/remote.h"
#include "run/stub_command.h"

namespace mrvlc::driver {

class RemoteProgram {
 public:
  // `scratch`: a folder for what is made here. MRV1020: ssh fails; MRV1021: the simulator is not for that
  // machine.
  static Result<std::unique_ptr<RemoteProgram>> build(const RunOptions& options, const OutputFolder& folder,
                                                      const std::filesystem::path& scratch);
  // Outputs come to `output_dir` when it is given.
  Result<ProcessResult> run(const ProgramCall& call, const std::filesystem::path& output_dir) const;

 private:
  RemoteProgram(Remote remote, const OutputFolder& folder, std::filesystem::path scratch)
      : remote_(std::move(remote)), folder_(folder), scratch_(std::move(scratch)) {}
  Status build_here(const RunOptions& options);
  Status build_there(const RunOptions& options);
  Status bring_outputs(const std::filesystem::path& output_dir) const;

  Remote remote_;
  OutputFolder folder_;
  std::filesystem::path scratch_;
};

}  // namespace mrvlc::driver
