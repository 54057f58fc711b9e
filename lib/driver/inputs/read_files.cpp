// Files named by options, and that OUT, the dependency file and --timing neither are nor hold what is read.
#include "inputs/read_files.h"

#include <unistd.h>

#include "mrvlc/support/diag/general.h"

namespace mrvlc::driver {
namespace fs = std::filesystem;
namespace {

// Whether `file` lies in `folder`, a canonical path.
bool lies_in(const fs::path& file, const fs::path& folder) {
  std::error_code ec;
  for (auto up = fs::weakly_canonical(file, ec); !ec; up = up.parent_path()) {
    if (up == folder) return true;
    if (up == up.parent_path()) return false;
  }
  return false;
}

Status check_writable(const fs::path& file) {
  if (file.empty()) return {};
  std::error_code ec;
  const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
  auto refused = [&](std::string_view why) -> Status {
    return make_diag<DiagCode::MRV0002>(file.string(), why);
  };
  if (fs::is_directory(file, ec)) return refused("it is a folder");
  if (!fs::exists(folder, ec))
    return refused("there is no folder '" + printable(folder.string(), 4096) + "'");
  if (!fs::is_directory(folder, ec))
    return refused("'" + printable(folder.string(), 4096) + "' is no folder");
  const fs::path written = fs::exists(file, ec) && !fs::is_regular_file(file, ec) ? file : folder;
  if (::access(written.c_str(), W_OK) != 0) return refused("Permission denied");
  return {};
}

// Links and ".." resolved, also when the last part is not there.
fs::path resolved(const fs::path& path) {
  std::error_code ec;
  fs::path whole = fs::weakly_canonical(fs::absolute(path, ec), ec);
  return whole.has_filename() ? whole : whole.parent_path();
}

}  // namespace

std::vector<ReadFile> named_files(const CompileOptions& options) {
  std::vector<ReadFile> files = {{ReadFile::Kind::Model, options.model, {}, {}}};
  for (const auto& file : options.rules) files.push_back({ReadFile::Kind::Rules, file, {}, {}});
  if (!options.host_model.empty()) files.push_back({ReadFile::Kind::HostModel, options.host_model, {}, {}});
  if (!options.tuning.empty()) files.push_back({ReadFile::Kind::Tuning, options.tuning, {}, {}});
  if (!options.calibration.empty())
    files.push_back({ReadFile::Kind::Calibration, options.calibration, {}, {}});
  if (!options.placement.empty()) files.push_back({ReadFile::Kind::Placement, options.placement, {}, {}});
  for (const auto& [input, bound] : options.import.bound_inputs)
    if (bound.tensor) files.push_back({ReadFile::Kind::Bound, bound.text, {}, {}});
  return files;
}

Status check_apart(const CompileOptions& options, const std::vector<ReadFile>& read) {
  std::error_code ec;
  for (const auto& written : {options.depfile.file, options.timing}) {
    for (const ReadFile& input : read) {
      if (!written.empty() && fs::equivalent(written, input.path, ec))
        return make_diag<DiagCode::MRV0002>(written.string(), "it is read by this compile");
    }
  }
  const auto out = fs::canonical(options.out, ec);
  if (ec) return {};  // it is not there yet
  std::vector<fs::path> inputs = options.target_dirs;
  if (!options.import.external_data_dir.empty()) inputs.push_back(options.import.external_data_dir);
  for (const ReadFile& input : read) inputs.push_back(input.path);
  for (const auto& input : inputs) {
    if (lies_in(input, out))
      return make_diag<DiagCode::MRV0002>(
          options.out.string(), "it holds '" + printable(input.string(), 4096) + "', which is read");
  }
  return {};
}

Status check_side_files(const CompileOptions& options) {
  if (!options.depfile.file.empty() && lies_in(options.depfile.file, resolved(options.out)))
    return make_diag<DiagCode::MRV0002>(options.depfile.file.string(),
                                        "it lies in the output folder, which is replaced as a whole");
  MRVLC_TRY(check_writable(options.depfile.file));
  return name_in_output(options, options.timing).empty() ? check_writable(options.timing) : Status();
}

std::string name_in_output(const CompileOptions& options, const fs::path& file) {
  if (file.empty()) return {};
  const fs::path whole = resolved(file);
  return whole.parent_path() == resolved(options.out) ? whole.filename().string() : std::string();
}

}  // namespace mrvlc::driver
