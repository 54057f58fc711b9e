// What a compile read: for the dependency file, for the manifest, and so that nothing written takes its
// place.
#pragma once
#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "mrvlc/driver/options.h"
#include "mrvlc/support/result.h"

namespace mrvlc::driver {

struct ReadFile {
  enum class Kind : uint8_t {
    Model,
    ExternalData,
    Rules,
    Target,
    Calibration,
    Placement,
    HostModel,
    Data,
    Tuning,
    Bound
  };
  // In the manifest, in the order of Kind.
  static constexpr std::array<std::string_view, 10> kNames = {
      "model",     "external_data", "rules", "target", "calibration",
      "placement", "host_model",    "data",  "tuning", "bind"};
  static_assert(kNames.size() == static_cast<size_t>(Kind::Bound) + 1);
  Kind kind;
  std::filesystem::path path;  // as it was opened
  std::string name;            // in the manifest, without folders of this machine; of the model empty
  std::string sha256;          // of the model and its external data once they are hashed
};

// That nothing written takes the place of what is read: no input lies in OUT or is the file of -MF or
// --timing. Asked with the files of the options, and again when all are known. MRV0002.
Status check_apart(const CompileOptions& options, const std::vector<ReadFile>& read);
// The files that the options name.
std::vector<ReadFile> named_files(const CompileOptions& options);

// That the files of -MF and --timing can be written when the work is done: their folders are there. MRV0002.
Status check_side_files(const CompileOptions& options);

// The name of a file that lies right in OUT, which need not be there yet; empty when it lies elsewhere.
std::string name_in_output(const CompileOptions& options, const std::filesystem::path& file);

}  // namespace mrvlc::driver
