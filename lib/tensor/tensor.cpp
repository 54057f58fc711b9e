// Elements as double or int64 whatever their type; bytes copied where they are shared or unaligned.
#include "mrvlc/tensor/tensor.h"

#include <cmath>

#include "mrvlc/tensor/float16.h"
#include "mrvlc/tensor/narrow.h"

namespace mrvlc {
namespace {

// Calls f with a value of the C++ type that stores `elem` (half and narrow floats are handled by the
// callers).
template <class F>
auto with_storage(ElementType elem, F f) {
  switch (elem) {
    case ElementType::F32:
      return f(float{});
    case ElementType::F64:
      return f(double{});
    case ElementType::U8:
    case ElementType::Bool:
    case ElementType::U4:
    case ElementType::U2:
      return f(uint8_t{});
    case ElementType::I8:
    case ElementType::I4:
    case ElementType::I2:
      return f(int8_t{});
    case ElementType::U16:
      return f(uint16_t{});
    case ElementType::I16:
      return f(int16_t{});
    case ElementType::I32:
      return f(int32_t{});
    case ElementType::U32:
      return f(uint32_t{});
    case ElementType::U64:
      return f(uint64_t{});
    default:
      return f(int64_t{});
  }
}

// Float to integer as C does where it is defined, saturating where C is undefined; NaN becomes 0.
int64_t to_int64(double v) {
  if (std::isnan(v)) return 0;
  if (v >= 9223372036854775808.0) return INT64_MAX;
  if (v <= -9223372036854775808.0) return INT64_MIN;
  return static_cast<int64_t>(v);
}

}  // namespace

Tensor::Tensor(TensorType type) : type_(std::move(type)) {
  if (type_.elem == ElementType::String) {
    strings_ = std::make_shared<std::vector<std::string>>(static_cast<size_t>(type_.elements()));
  }
  storage_ = std::make_shared<Storage>(std::string(static_cast<size_t>(type_.bytes()), '\0'));
}

Tensor::Tensor(TensorType type, std::string bytes)
    : type_(std::move(type)), storage_(std::make_shared<Storage>(std::move(bytes))) {}

Tensor Tensor::view(TensorType type, std::span<const std::byte> bytes, std::shared_ptr<const void> owner) {
  Tensor t;
  t.type_ = std::move(type);
  t.storage_ = std::make_shared<Storage>(bytes, std::move(owner));
  return t;
}

Tensor::Storage::Storage(std::string taken)
    : own(std::move(taken)), bytes(std::as_bytes(std::span(own.data(), own.size()))) {}

Tensor::Storage::Storage(std::span<const std::byte> viewed, std::shared_ptr<const void> keeper)
    : bytes(viewed), owner(std::move(keeper)) {}

const std::byte* Tensor::Storage::aligned() {
  std::call_once(copied, [this] { own.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size()); });
  return reinterpret_cast<const std::byte*>(own.data());
}

void Tensor::make_writable() {
  auto raw = bytes();
  storage_ = std::make_shared<Storage>(std::string(reinterpret_cast<const char*>(raw.data()), raw.size()));
}

Tensor Tensor::strings(Shape shape, std::vector<std::string> values) {
  Tensor t(TensorType{ElementType::String, std::move(shape)});
  *t.strings_ = std::move(values);
  return t;
}

Tensor Tensor::wrapped(TensorType type, std::vector<Tensor> items) {
  Tensor t;
  t.type_ = std::move(type);
  t.items_ = std::make_shared<const std::vector<Tensor>>(std::move(items));
  return t;
}

std::vector<std::string>& Tensor::mutable_strings() {
  if (strings_.use_count() != 1) strings_ = std::make_shared<std::vector<std::string>>(*strings_);
  return *strings_;
}

const std::vector<Tensor>& Tensor::items() const {
  static const std::vector<Tensor> none;
  return items_ ? *items_ : none;
}

Tensor Tensor::reshaped(Shape shape) const {
  Tensor t = *this;
  t.type_.shape = std::move(shape);
  return t;
}

double Tensor::as_double(int64_t i) const {
  auto at = static_cast<size_t>(i);
  if (elem() == ElementType::F16) return static_cast<double>(half_to_float(data<uint16_t>()[at]));
  if (elem() == ElementType::BF16) return static_cast<double>(bfloat_to_float(data<uint16_t>()[at]));
  if (is_narrow_float(elem())) return narrow_to_double(data<uint8_t>()[at], elem());
  return with_storage(elem(), [&](auto t) { return static_cast<double>(data<decltype(t)>()[at]); });
}

int64_t Tensor::as_int(int64_t i) const {
  if (is_float(elem()) || is_narrow_float(elem())) return to_int64(as_double(i));
  return with_storage(
      elem(), [&](auto t) { return static_cast<int64_t>(data<decltype(t)>()[static_cast<size_t>(i)]); });
}

void Tensor::set_double(int64_t i, double value) {
  auto at = static_cast<size_t>(i);
  if (elem() == ElementType::F32) {
    mutable_data<float>()[at] = static_cast<float>(value);
  } else if (elem() == ElementType::F64) {
    mutable_data<double>()[at] = value;
  } else if (elem() == ElementType::F16) {
    mutable_data<uint16_t>()[at] = double_to_half(value);
  } else if (elem() == ElementType::BF16) {
    mutable_data<uint16_t>()[at] = float_to_bfloat(static_cast<float>(value));
  } else if (is_narrow_float(elem())) {
    mutable_data<uint8_t>()[at] = double_to_narrow(value, elem());
  } else if (elem() == ElementType::Bool) {
    mutable_data<uint8_t>()[at] = value != 0;
  } else {
    set_int(i, to_int64(value));
  }
}

void Tensor::set_int(int64_t i, int64_t value) {
  if (is_float(elem()) || is_narrow_float(elem())) return set_double(i, static_cast<double>(value));
  if (is_narrow_integer(elem())) value = wrap_narrow(value, elem());
  if (elem() == ElementType::Bool) value = value != 0;
  with_storage(elem(), [&](auto t) {
    using T = decltype(t);
    mutable_data<T>()[static_cast<size_t>(i)] = static_cast<T>(value);
  });
}

std::vector<int64_t> Tensor::to_ints() const {
  std::vector<int64_t> out(static_cast<size_t>(elements()));
  for (size_t i = 0; i < out.size(); ++i) out[i] = as_int(static_cast<int64_t>(i));
  return out;
}

std::vector<double> Tensor::to_doubles() const {
  std::vector<double> out(static_cast<size_t>(elements()));
  for (size_t i = 0; i < out.size(); ++i) out[i] = as_double(static_cast<int64_t>(i));
  return out;
}

bool Tensor::operator==(const Tensor& other) const {
  if (!(type_ == other.type_)) return false;
  if (type_.wrapper != Wrapper::None) return items() == other.items();
  if (elem() == ElementType::String) return *strings_ == *other.strings_;
  auto a = bytes(), b = other.bytes();
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size()) == 0);
}

}  // namespace mrvlc
