// The example program of a folder that compile wrote, built by the C compiler into a temporary folder.
#pragma once
#include <memory>

#include "folder/output_folder.h"
#include "mrvlc/driver/driver.h"
#include "mrvlc/support/temporary_dir.h"
#include "run/process.h"

namespace mrvlc::driver {

class RemoteProgram;

class Program {
 public:
  // Of the options those of the compiler, the target and the threads count.
  static Result<Program> build(const RunOptions& options, OutputFolder folder);

  Program(Program&&) noexcept;
  ~Program();
  const OutputFolder& folder() const { return folder_; }
  // RunOptions::bench and steps of further runs.
  void set_bench(int runs, bool steps) {
    options_.bench = runs;
    options_.steps = steps;
  }
  // Inputs in the model's order: files of the forms that mrvlc/driver/value_file.h reads, whose values were
  // checked. What the program printed.
  Result<std::string> run(const std::vector<std::filesystem::path>& inputs,
                          const std::filesystem::path& output_dir) const;
  // The same of values: the outputs, in the model's order. Each has the model's element type.
  Result<std::vector<Tensor>> run(const std::vector<Tensor>& inputs) const;

 private:
  Program(RunOptions options, OutputFolder folder, TemporaryDir temporary);
  Result<ProcessResult> call(const std::vector<std::filesystem::path>& files,
                             const std::filesystem::path& output_dir) const;

  RunOptions options_;
  OutputFolder folder_;
  TemporaryDir temporary_;
  std::unique_ptr<RemoteProgram> remote_;  // of --on
};

// MRV0004 unless the value, of `what`, can be given to the port. `may_repeat`: a tensor may be several times
// as long along its first dimension.
Status check_value(const Port& port, const Tensor& value, const std::string& what, bool may_repeat);

}  // namespace mrvlc::driver
