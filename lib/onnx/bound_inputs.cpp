// Values of --bind: text read as the element type of the input, tensors checked against it.
#include "bound_inputs.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "mrvlc/support/checked.h"
#include "mrvlc/support/diag/onnx.h"

namespace mrvlc::onnx {
namespace {

constexpr size_t kMaxNameShown = 1u << 20;  // as names are compared in inputs.cpp

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  for (;;) {
    const size_t comma = text.find(',');
    words.push_back(text.substr(0, comma));
    if (comma == std::string_view::npos) return words;
    text.remove_prefix(comma + 1);
  }
}

template <class T>
std::optional<T> number(std::string_view word) {
  T value{};
  if (word.starts_with('+')) word.remove_prefix(1);
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return value;
}

// False: the word is no value of the tensor's element type.
bool set_element(Tensor& tensor, int64_t i, std::string_view word) {
  const ElementType elem = tensor.elem();
  if (elem == ElementType::Bool && (word == "true" || word == "false")) {
    tensor.set_int(i, word == "true" ? 1 : 0);
    return true;
  }
  if (is_float(elem)) {
    const auto value = number<double>(word);
    if (value) tensor.set_double(i, *value);
    return value.has_value();
  }
  if (elem == ElementType::U64) {
    const auto value = number<uint64_t>(word);
    if (value) tensor.set_int(i, static_cast<int64_t>(*value));
    return value.has_value();
  }
  const auto value = number<int64_t>(word);
  if (!value || (!is_integer(elem) && elem != ElementType::Bool)) return false;
  tensor.set_int(i, *value);
  return tensor.as_int(i) == *value;
}

}  // namespace

const BoundInput* bound_input(const ImportOptions& options, std::string_view name) {
  auto it = options.bound_inputs.find(std::string(name));
  if (it == options.bound_inputs.end()) it = options.bound_inputs.find(printable(name, kMaxNameShown));
  return it == options.bound_inputs.end() ? nullptr : &it->second;
}

std::optional<Shape> bound_shape(const BoundInput& value, bool has_rank, const Shape& dims) {
  if (value.tensor) return value.tensor->shape();
  const auto count = static_cast<int64_t>(words_of(value.text).size());
  if (!has_rank) return count == 1 ? Shape{} : Shape{count};
  Shape shape = dims;
  int64_t known = 1;
  for (int64_t d : dims) known = d < 0 ? known : checked_mul(known, d).value_or(kMaxElements);
  // The first open dimension takes what there is; others are 1.
  int64_t open = known > 0 && count % known == 0 ? count / known : 1;
  for (int64_t& d : shape)
    if (d < 0) d = std::exchange(open, int64_t{1});
  return shape;
}

Result<Tensor> bound_tensor(const BoundInput& value, std::string_view input, const TensorType& type) {
  auto refuse = [&](std::string_view why) { return make_diag<DiagCode::MRV0139>(printable(input), why); };
  if (!type.is_static()) return refuse("cannot be bound: its type is " + to_string(type));
  if (value.tensor) {
    if (value.tensor->type() == type) return *value.tensor;
    return refuse(fmt::format("is {}; the input is {}", to_string(value.tensor->type()), to_string(type)));
  }
  constexpr int64_t kMostBytes = int64_t{1} << 30;
  if (type.elem == ElementType::String || type.bytes() > kMostBytes)
    return refuse(fmt::format("is text, the input is {}: give a file, NAME=FILE.npy", to_string(type)));
  const auto words = words_of(value.text);
  const int64_t elements = type.elements(), count = static_cast<int64_t>(words.size());
  if (count != 1 && count != elements)
    return refuse(fmt::format("has {} numbers; the input is {}", count, to_string(type)));
  Tensor tensor(type);
  for (int64_t i = 0; i < elements; ++i) {
    const std::string_view word = words[count == 1 ? 0 : static_cast<size_t>(i)];
    if (!set_element(tensor, i, word))
      return refuse(fmt::format("is '{}', which is no {}", printable(word), name(type.elem)));
  }
  return tensor;
}

}  // namespace mrvlc::onnx
