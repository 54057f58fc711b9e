// `mrvlc inspect FOLDER`: which operators the models of a folder have, and which of them are missing.
#include <algorithm>
#include <map>

#include "mrvlc/onnx/operator_use.h"
#include "mrvlc/support/diag/general.h"
#include "mrvlc/support/json_document.h"
#include "stages/ineffective_options.h"

namespace mrvlc::driver {
namespace {

struct FolderOperator {
  int64_t nodes = 0, models = 0;
  bool supported = true;  // in all models
  std::string first;      // the first model that lacks it, or has it
};

struct FolderOperators {
  std::map<std::pair<std::string, std::string>, FolderOperator> by_name;  // domain, name
  std::vector<std::string> models, unread;
};

Result<std::vector<std::filesystem::path>> models_under(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> found;
  std::error_code error;
  std::filesystem::recursive_directory_iterator it(folder, error), end;
  for (; !error && it != end; it.increment(error)) {
    std::error_code ignored;
    if (it->path().extension() == ".onnx" && it->is_regular_file(ignored)) found.push_back(it->path());
  }
  if (error) return make_diag<DiagCode::MRV0003>(folder.string(), error.message());
  std::sort(found.begin(), found.end());
  return found;
}

void add_model(FolderOperators& all, const std::string& name, const std::filesystem::path& file) {
  const auto uses = onnx::operators_of(file);
  if (!uses.ok()) return all.unread.push_back(name);
  all.models.push_back(name);
  for (const onnx::OperatorUse& use : *uses) {
    FolderOperator& op = all.by_name[{use.domain, use.name}];
    if (op.first.empty() || (op.supported && !use.supported)) op.first = name;
    op.nodes += use.nodes, ++op.models;
    op.supported = op.supported && use.supported;
  }
}

Json folder_json(const FolderOperators& all) {
  Json operators = Json::array();
  for (const auto& [key, op] : all.by_name) {
    operators.push_back({{"domain", printable(key.first)},
                         {"name", printable(key.second)},
                         {"nodes", op.nodes},
                         {"models", op.models},
                         {"supported", op.supported},
                         {"first", printable(op.first, 4096)}});
  }
  Json unread = Json::array();
  for (const std::string& name : all.unread) unread.push_back(printable(name, 4096));
  return {{"models", all.models.size()}, {"unread", std::move(unread)}, {"operators", std::move(operators)}};
}

std::string folder_text(const FolderOperators& all) {
  std::string known, missing;
  for (const auto& [key, op] : all.by_name) {
    const std::string name =
        fmt::format("{}{}{}", printable(key.first), key.first.empty() ? "" : ".", printable(key.second));
    (op.supported ? known : missing) +=
        fmt::format("  {:<46} {:>8} {:>8}  {}\n", name, op.nodes, op.models, printable(op.first, 4096));
  }
  std::string out = fmt::format("{} models\n  {:<46} {:>8} {:>8}  {}\n{}", all.models.size(), "operator",
                                "nodes", "models", "first", known);
  out += missing.empty() ? "all operators are supported\n" : "not supported:\n" + missing;
  for (const std::string& name : all.unread) out += fmt::format("no model: {}\n", printable(name, 4096));
  return out;
}

}  // namespace

Result<std::string> inspect_folder(const std::filesystem::path& folder, bool json) {
  MRVLC_ASSIGN(std::vector<std::filesystem::path> files, models_under(folder));
  FolderOperators all;
  for (const auto& file : files) add_model(all, file.lexically_relative(folder).generic_string(), file);
  return json ? json_document(folder_json(all)) : folder_text(all);
}

}  // namespace mrvlc::driver
