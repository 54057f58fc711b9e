// Reading back a folder that compile wrote.
#pragma once
#include <filesystem>

#include "compiled_model.h"
#include "mrvlc/support/diag/general.h"

namespace mrvlc::driver {

struct Port {
  std::string name;  // printable form
  std::string file;  // what stands in file names, see support/file_names.h
  TensorType type;
};

struct OutputFolder {
  std::filesystem::path path;
  std::string name;    // of the model: NAME.c, NAME.region0.mrvl
  std::string target;  // "host" or the accelerator's
  Json manifest;
  std::vector<Port> inputs, outputs;

  Result<Json> json(const std::string& file) const;
  Result<std::string> bytes(const std::string& file) const;

  // Runs f, which reads JSON of the folder; fields that are missing or of another type become an error.
  template <class F>
  Result<std::string> reading(F f) const {
    try {
      return f();
    } catch (const Json::exception&) {
      return make_diag<DiagCode::MRV0003>(path.string(),
                                          "its JSON files are not those of this version of mrvlc");
    }
  }
};

// Whether `path` may be replaced: it does not exist, is empty, or holds the manifest of a compile.
Status check_replaceable(const std::filesystem::path& path);
// That nothing written takes the place of what is read: no input lies in OUT or is the file of -MF or
// --timing. External data is looked for where the model lies, and in the extra folder.
Status check_apart(const CompileOptions& options);

// Refuses folders without a readable manifest; files whose SHA-256 is not the manifest's are an error when
// read.
Result<OutputFolder> open_output(const std::filesystem::path& path);

}  // namespace mrvlc::driver
