// Tensors of samples in base64: levels and indices where there are few different numbers, else all bytes.
#include "kept_json.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include "mrvlc/support/base64.h"

namespace mrvlc::calibration {
namespace {

// Pictures and sounds are integers that were scaled: few different numbers. A byte an element then tells
// which.
constexpr size_t kMostLevels = 256;
// The elements of a tensor, before and after base64: what a file of the size that is read could hold.
constexpr int64_t kMostElements = int64_t{1} << 28;

std::string_view bytes_of(const Tensor& tensor) {
  return {reinterpret_cast<const char*>(tensor.bytes().data()), tensor.bytes().size()};
}

// Different elements in the order in which they come first, by their bytes, and which one each element is.
struct Levels {
  std::string levels, indices;
};

// nullopt: there are too many, or it would not be shorter.
std::optional<Levels> levels_of(const Tensor& tensor) {
  const std::string_view bytes = bytes_of(tensor);
  const auto size = static_cast<size_t>(byte_size(tensor.elem()));
  const auto elements = static_cast<size_t>(tensor.elements());
  if (size < 2) return std::nullopt;
  Levels out;
  std::map<std::string_view, size_t> known;
  for (size_t i = 0; i < elements; ++i) {
    const std::string_view element = bytes.substr(i * size, size);
    const auto [at, added] = known.emplace(element, known.size());
    if (known.size() > kMostLevels) return std::nullopt;
    if (added) out.levels += element;
    out.indices += static_cast<char>(at->second);
  }
  if (out.levels.size() + out.indices.size() >= bytes.size()) return std::nullopt;
  return out;
}

Json input_json(const std::string& name, const Tensor& tensor) {
  Json out = {{"name", name}, {"type", mrvlc::name(tensor.elem())}, {"shape", tensor.shape()}};
  if (const auto levels = levels_of(tensor)) {
    out["levels"] = base64(levels->levels);
    out["indices"] = base64(levels->indices);
  } else {
    out["data"] = base64(bytes_of(tensor));
  }
  return out;
}

std::string decoded(const Json& json, const char* name, Reader& r) {
  auto bytes = from_base64(r.text(json, name));
  r.require(bytes.has_value(), name, "is no base64");
  return bytes.value_or(std::string());
}

std::string read_elements(const Json& json, const TensorType& type, Reader& r) {
  if (member(json, "levels").is_null()) return decoded(json, "data", r);
  const std::string levels = decoded(json, "levels", r), indices = decoded(json, "indices", r);
  const auto size = static_cast<size_t>(byte_size(type.elem));
  std::string out;
  for (const char c : indices) {
    const size_t at = static_cast<uint8_t>(c) * size;
    if (at + size > levels.size()) return r.fail("indices", "name a level that is not there"), out;
    out.append(levels, at, size);
  }
  return out;
}

TensorType read_type(const Json& json, ElementType elem, Reader& r) {
  TensorType type{elem, {}};
  const Json& shape = member(json, "shape");
  r.require(shape.is_array() && shape.size() <= 64, "shape", "is no list of dimensions");
  int64_t elements = 1;
  for (size_t i = 0; r.wrong().empty() && i < shape.size(); ++i) {
    const int64_t most = kMostElements / std::max<int64_t>(1, elements);
    const bool good =
        shape[i].is_number_unsigned() && shape[i].get<uint64_t>() <= static_cast<uint64_t>(most);
    r.require(good, "shape", "holds no dimension, or is too large");
    if (good) type.shape.push_back(shape[i].get<int64_t>()), elements *= type.shape.back();
  }
  return type;
}

std::pair<std::string, Tensor> read_input(const Json& json, const Calibration& of, Reader& r) {
  std::pair<std::string, Tensor> out;
  out.first = r.text(json, "name");
  const ValueRecord* record = of.find(out.first);
  r.require(record != nullptr && record->input, "name", "is no input of the model");
  if (record == nullptr) return out;
  r.require(r.text(json, "type") == mrvlc::name(record->elem), "type", "is not that of the value");
  const TensorType type = read_type(json, record->elem, r);
  if (!r.wrong().empty()) return out;
  std::string bytes = read_elements(json, type, r);
  r.require(bytes.size() == static_cast<size_t>(type.bytes()), "shape", "is not that of the data");
  if (r.wrong().empty()) out.second = Tensor(type, std::move(bytes));
  return out;
}

}  // namespace

size_t encoded_size(const Tensor& tensor) {
  const auto levels = levels_of(tensor);
  const size_t bytes = levels ? levels->levels.size() + levels->indices.size() : tensor.bytes().size();
  return (bytes + 2) / 3 * 4;
}

Json kept_json(const std::vector<KeptSample>& kept) {
  Json out = Json::array();
  for (const KeptSample& k : kept) {
    Json inputs = Json::array();
    for (const auto& [name, tensor] : k.inputs) inputs.push_back(input_json(name, tensor));
    Json& sample = out.emplace_back(Json{{"sample", k.sample}});
    if (k.rounding_error) sample["rounding_error"] = *k.rounding_error;
    sample["inputs"] = std::move(inputs);
  }
  return out;
}

std::vector<KeptSample> read_kept(const Json& json, const Calibration& of, Reader& r) {
  std::vector<KeptSample> out;
  if (json.is_null()) return out;
  r.in("");
  r.require(json.is_array(), "kept", "is no list");
  std::set<int64_t> samples;
  for (size_t i = 0; r.wrong().empty() && i < json.size(); ++i) {
    r.in(fmt::format("kept {}: ", i));
    KeptSample& k = out.emplace_back();
    k.sample = r.count(json[i], "sample", 0, of.samples - 1);
    r.require(samples.insert(k.sample).second, "sample", "was there before");
    k.rounding_error = r.error(json[i], "rounding_error");
    const Json& inputs = member(json[i], "inputs");
    r.require(inputs.is_array(), "inputs", "is no list");
    for (size_t n = 0; r.wrong().empty() && n < inputs.size(); ++n)
      k.inputs.push_back(read_input(inputs[n], of, r));
  }
  return out;
}

}  // namespace mrvlc::calibration
