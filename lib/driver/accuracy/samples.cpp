// Inputs of many samples in a folder, for `mrvlc calibrate`.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "mrvlc/driver/data_set.h"
#include "mrvlc/driver/value_file.h"
#include "mrvlc/support/diag/general.h"
#include "mrvlc/support/file_faults.h"
#include "mrvlc/support/file_names.h"

namespace mrvlc::driver {
namespace fs = std::filesystem;
namespace {

// All samples are held at once: shapes that the model leaves open are those of all of them.
constexpr uint64_t kMaxBytes = uint64_t{4} << 30;

Diag bad(const fs::path& folder, std::string why) {
  return make_diag<DiagCode::MRV0003>(folder.string(), why);
}

// The file of input `i` in the folder: by its name, as it is or as `mrvlc run` writes it, or by its number.
std::optional<fs::path> file_of(const fs::path& folder, const std::vector<onnx::DeclaredValue>& inputs,
                                size_t i) {
  const std::string &name = inputs[i].name, number = fmt::format("input_{}", i);
  for (const std::string& stem :
       {name.find('/') == name.npos ? name : std::string(), file_name(name), number}) {
    for (const char* extension : {".npy", ".pb", ".json"}) {
      std::error_code ec;
      const fs::path file = folder / (stem + extension);
      if (!stem.empty() && fs::is_regular_file(file, ec)) return file;
    }
  }
  return std::nullopt;
}

Result<DataSet> read_folder(const fs::path& folder, const std::vector<onnx::DeclaredValue>& inputs,
                            uint64_t& bytes) {
  DataSet set{folder.filename().string(), {}, {}};
  for (size_t i = 0; i < inputs.size(); ++i) {
    const auto file = file_of(folder, inputs, i);
    if (!file)
      return bad(folder, fmt::format("it holds no file of input '{}': {}.npy (or .pb, .json), or input_{}",
                                     printable(inputs[i].name), file_name(inputs[i].name), i));
    std::error_code ec;
    bytes += fs::file_size(*file, ec);
    if (bytes > kMaxBytes) return make_diag<DiagCode::MRV0008>(bytes, kMaxBytes);
    MRVLC_ASSIGN(set.inputs.emplace_back(), read_value(*file, inputs[i].wrapper));
  }
  return set;
}

// One dimension more than the model declares: samples lie along the first. A declared leading dimension of 1,
// or a dynamic one, is that of the samples as well.
enum class Stacked { No, Extra, Leading };
Stacked stacked(const Tensor& value, const onnx::DeclaredValue& declared) {
  if (value.type().wrapper != Wrapper::None || !declared.has_shape || value.shape().empty())
    return Stacked::No;
  if (value.shape().size() == declared.shape.size() + 1) return Stacked::Extra;
  const bool same_rank = value.shape().size() == declared.shape.size();
  return same_rank && declared.shape[0] == 1 && value.shape()[0] != 1 ? Stacked::Leading : Stacked::No;
}

Tensor slice(const Tensor& all, int64_t k, Stacked how) {
  Shape shape(all.shape().begin() + 1, all.shape().end());
  if (how == Stacked::Leading) shape.insert(shape.begin(), 1);
  Tensor one(TensorType{all.elem(), shape});
  const auto bytes = static_cast<size_t>(one.type().bytes());
  if (bytes == 0) return one;
  std::string copy(reinterpret_cast<const char*>(all.bytes().data()) + static_cast<size_t>(k) * bytes, bytes);
  return Tensor(one.type(), std::move(copy));
}

// What holds for every sample is repeated.
Result<std::vector<DataSet>> unstack(const fs::path& folder, DataSet whole,
                                     const std::vector<onnx::DeclaredValue>& inputs) {
  std::optional<int64_t> samples;
  std::vector<Stacked> how;
  for (size_t i = 0; i < inputs.size(); ++i) {
    how.push_back(stacked(whole.inputs[i], inputs[i]));
    if (how.back() == Stacked::No) continue;
    const int64_t n = whole.inputs[i].shape()[0];
    if (samples.value_or(n) != n)
      return bad(folder, fmt::format("input '{}' has {} samples, another has {}", printable(inputs[i].name),
                                     n, *samples));
    samples = n;
  }
  if (!samples) return std::vector<DataSet>{std::move(whole)};
  if (*samples == 0) return bad(folder, "it holds no samples");
  std::vector<DataSet> sets;
  for (int64_t k = 0; k < *samples; ++k) {
    DataSet& set = sets.emplace_back(DataSet{fmt::format("sample {}", k), {}, {}});
    for (size_t i = 0; i < inputs.size(); ++i)
      set.inputs.push_back(how[i] == Stacked::No ? whole.inputs[i] : slice(whole.inputs[i], k, how[i]));
  }
  return sets;
}

}  // namespace

Result<std::vector<DataSet>> read_samples(const fs::path& folder,
                                          const std::vector<onnx::DeclaredValue>& inputs) {
  std::vector<fs::path> folders;
  std::error_code ec;
  for (const auto& entry : fs::directory_iterator(folder, ec))
    if (entry.is_directory(ec)) folders.push_back(entry.path());
  if (ec) return make_diag<DiagCode::MRV0001>(folder.string(), folder_fault(folder, ec, "--data"));
  std::sort(folders.begin(), folders.end());
  uint64_t bytes = 0;
  if (folders.empty()) {
    MRVLC_ASSIGN(DataSet whole, read_folder(folder, inputs, bytes));
    return unstack(folder, std::move(whole), inputs);
  }
  std::vector<DataSet> sets;
  for (const fs::path& f : folders) {
    MRVLC_ASSIGN(sets.emplace_back(), read_folder(f, inputs, bytes));
  }
  return sets;
}

}  // namespace mrvlc::driver
