// input_K and output_K files of test_data_set_* folders, and shapes of open inputs taken from what they hold.
#include "mrvlc/driver/data_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "mrvlc/driver/value_file.h"
#include "mrvlc/ops/control_flow.h"
#include "mrvlc/support/diag/general.h"
#include "mrvlc/support/file_faults.h"

namespace mrvlc::driver {
namespace fs = std::filesystem;
namespace {

Diag bad(const fs::path& folder, std::string why) {
  return make_diag<DiagCode::MRV0003>(folder.string(), why);
}

bool is_data(const fs::path& file) {
  const fs::path extension = file.extension();
  return extension == ".pb" || extension == ".npy" || extension == ".json";
}

// K of "input_K.pb", "in_K_ANY.npy" of a kind ("in" or "out").
std::optional<size_t> number_of(const std::string& file, const std::string& kind) {
  for (const std::string& prefix : {kind + "put_", kind + "_"}) {
    if (!file.starts_with(prefix)) continue;
    size_t number = 0;
    const char *first = file.data() + prefix.size(), *last = file.data() + file.size();
    const auto [end, error] = std::from_chars(first, last, number);
    if (error == std::errc() && end != last && (*end == '.' || *end == '_')) return number;
  }
  return std::nullopt;
}

Result<std::map<size_t, fs::path>> numbered_files(const fs::path& folder, const std::string& kind) {
  std::map<size_t, fs::path> found;
  std::error_code ec;
  for (const auto& entry : fs::directory_iterator(folder, ec)) {
    const std::string file = entry.path().filename().string();
    const auto number = is_data(entry.path()) ? number_of(file, kind) : std::nullopt;
    if (!number) continue;
    if (found.contains(*number))
      return bad(folder, fmt::format("'{}' and another file are both number {}", printable(file), *number));
    found[*number] = entry.path();
  }
  return found;
}

Wrapper wrapper_of(const std::vector<onnx::DeclaredValue>& declared, size_t i) {
  return i < declared.size() ? declared[i].wrapper : Wrapper::None;
}

Result<DataSet> read_set(const fs::path& folder, const std::vector<onnx::DeclaredValue>& inputs,
                         const std::vector<onnx::DeclaredValue>& outputs) {
  DataSet set{folder.filename().string(), {}, {}};
  MRVLC_ASSIGN(const auto in, numbered_files(folder, "in"));
  MRVLC_ASSIGN(const auto out, numbered_files(folder, "out"));
  if (out.empty()) return bad(folder, "it holds no output_K.pb, output_K.npy or output_K.json");
  for (const auto& [number, file] : in) {
    if (number != set.inputs.size())
      return bad(folder, fmt::format("input_{} is missing beside input_{}", set.inputs.size(), number));
    MRVLC_ASSIGN(set.inputs.emplace_back(), read_value(file, wrapper_of(inputs, number)));
  }
  for (const auto& [number, file] : out) {
    MRVLC_ASSIGN(set.outputs[number], read_value(file, wrapper_of(outputs, number)));
  }
  return set;
}

}  // namespace

Result<std::vector<DataSet>> read_data(const fs::path& folder, const std::vector<onnx::DeclaredValue>& inputs,
                                       const std::vector<onnx::DeclaredValue>& outputs) {
  std::vector<fs::path> folders;
  std::error_code ec;
  for (const auto& entry : fs::directory_iterator(folder, ec)) {
    if (entry.is_directory() && entry.path().filename().string().starts_with("test_data_set_"))
      folders.push_back(entry.path());
  }
  if (ec) return make_diag<DiagCode::MRV0001>(folder.string(), folder_fault(folder, ec, "--data"));
  std::sort(folders.begin(), folders.end());
  if (folders.empty()) folders.push_back(folder);
  std::vector<DataSet> sets;
  for (const fs::path& f : folders) {
    MRVLC_ASSIGN(sets.emplace_back(), read_set(f, inputs, outputs));
  }
  return sets;
}

namespace {

// Of input `i` in all sets; nullopt: one lacks it, or they do not go together.
std::optional<TensorType> joined_type(const std::vector<DataSet>& sets, size_t i) {
  std::optional<TensorType> type;
  for (const DataSet& set : sets) {
    if (i >= set.inputs.size()) return std::nullopt;
    const TensorType& one = set.inputs[i].type();
    // What holds nothing says nothing.
    if (one.wrapper != Wrapper::None && set.inputs[i].items().empty() && (type || &set != &sets.back()))
      continue;
    const bool told = type && type->elem != ElementType::Undefined;
    type = told ? ops::join_types(*type, one) : one;
    if (!type) return std::nullopt;
  }
  return type;
}

// Has it dimensions that neither the model nor --input-dim gives a size?
bool is_dynamic(const onnx::DeclaredValue& value, const onnx::ImportOptions& options) {
  if (!value.has_shape) return true;
  for (size_t i = 0; i < value.shape.size(); ++i)
    if (value.shape[i] < 0 && !options.input_dims.contains(value.symbols[i])) return true;
  return false;
}

// Where --input-dim says what dimensions are, data do not.
void keep_dims(const onnx::DeclaredValue& value, const onnx::ImportOptions& options,
               onnx::GivenShape& shape) {
  if (value.shape.size() != shape.shape.size()) return;
  for (size_t i = 0; i < value.shape.size(); ++i) {
    const auto given = options.input_dims.find(value.symbols[i]);
    if (value.shape[i] >= 0 || given == options.input_dims.end()) continue;
    shape.shape[i] = given->second.shape[0];
    shape.dynamic = (shape.dynamic & ~(1u << i)) | (given->second.dynamic & 1u) << i;
  }
}

}  // namespace

std::vector<std::string> take_shapes(const std::vector<onnx::DeclaredValue>& declared,
                                     const std::vector<DataSet>& sets, onnx::ImportOptions& options) {
  std::vector<std::string> taken;
  for (size_t i = 0; i < declared.size(); ++i) {
    const onnx::DeclaredValue& value = declared[i];
    if (options.input_shapes.contains(value.name) ||
        (value.wrapper == Wrapper::None && !is_dynamic(value, options)))
      continue;
    auto type = joined_type(sets, i);
    if (!type) continue;  // said when it is run
    if (value.wrapper != Wrapper::None) {
      if (type->wrapper == value.wrapper) options.input_types[value.name] = *std::move(type);
      continue;
    }
    if (type->wrapper != Wrapper::None) continue;
    onnx::GivenShape shape(type->shape);
    shape.dynamic = type->dynamic;
    keep_dims(value, options, shape);
    options.input_shapes.emplace(value.name, std::move(shape));
    taken.push_back(value.name);
  }
  return taken;
}

}  // namespace mrvlc::driver
