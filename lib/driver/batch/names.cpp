// Models found in folders, named by as many last parts of their paths as it takes to tell them apart.
#include "batch/names.h"

#include <algorithm>
#include <map>
#include <set>

#include "mrvlc/support/diag/general.h"
#include "mrvlc/support/diag/tools.h"
#include "mrvlc/support/file_names.h"

namespace mrvlc::driver {
namespace fs = std::filesystem;
namespace {

Status add_folder(const fs::path& folder, std::vector<fs::path>& models) {
  std::vector<fs::path> found;
  std::error_code ec;
  for (fs::recursive_directory_iterator at(folder, ec), end; !ec && at != end; at.increment(ec)) {
    std::error_code ignored;
    if (at->path().extension() == ".onnx" && at->is_regular_file(ignored)) found.push_back(at->path());
  }
  if (ec) return make_diag<DiagCode::MRV0001>(folder.string(), ec.message());
  std::ranges::sort(found);
  models.insert(models.end(), found.begin(), found.end());
  return {};
}

// What must differ for two to be different files wherever DIR lies.
std::string as_file(std::string_view name) {
  return without_case(file_name(name));
}

// The last `parts` parts of the path, without its extension.
std::string tail(const fs::path& model, size_t parts) {
  std::vector<std::string> all;
  for (const fs::path& part : model.relative_path())
    if (part != "." && part != "..") all.push_back(part.string());
  if (!all.empty()) all.back() = model.stem().string();
  std::string out;
  for (size_t i = all.size() - std::min(parts, all.size()); i < all.size(); ++i)
    out += (out.empty() ? "" : "_") + all[i];
  return out;
}

}  // namespace

Result<std::vector<fs::path>> batch_models(const std::vector<fs::path>& named) {
  std::vector<fs::path> models;
  for (const fs::path& path : named) {
    std::error_code ec;
    if (fs::is_directory(path, ec))
      MRVLC_TRY(add_folder(path, models));
    else
      models.push_back(path);
  }
  if (models.empty()) return make_diag<DiagCode::MRV0004>("there is no .onnx file in the folders named");
  std::set<fs::path> seen;
  for (const fs::path& m : models)
    if (!seen.insert(m.lexically_normal()).second)
      return make_diag<DiagCode::MRV0004>("'" + printable(m.string(), 4096) + "' is named twice");
  return models;
}

Result<std::vector<std::string>> batch_names(const std::vector<fs::path>& models) {
  constexpr size_t kMostParts = 64;
  std::vector<size_t> parts(models.size(), 1);
  std::vector<std::string> names(models.size());
  for (size_t round = 1; round <= kMostParts; ++round) {
    std::map<std::string, size_t> count;
    for (size_t i = 0; i < models.size(); ++i) ++count[as_file(names[i] = tail(models[i], parts[i]))];
    bool again = false;
    for (size_t i = 0; i < models.size(); ++i) {
      if (count[as_file(names[i])] < 2) continue;
      parts[i] = round + 1;
      again = true;
    }
    if (!again) break;
  }
  // Paths that are left alike differ in what does not show: `./a` and `../a`.
  std::map<std::string, size_t> left;
  for (const std::string& name : names) ++left[as_file(name)];
  for (size_t i = 0; i < models.size(); ++i)
    if (left[as_file(names[i])] > 1) names[i] += "_" + std::to_string(i);
  for (std::string& name : names)
    if (name.starts_with('.')) name.insert(0, "_");  // hidden ones are ours
  names = file_names(names);
  for (size_t i = 0; i < models.size(); ++i) {
    for (const std::string_view ours : {"batch.json", "batch.html"})
      if (same_file(names[i], ours))
        return make_diag<DiagCode::MRV1075>(printable(models[i].string(), 4096), names[i], ours);
  }
  return names;
}

}  // namespace mrvlc::driver
