// A dense constant: type and bytes, row-major, little-endian as in memory. The bytes are shared and immutable
// once a tensor was copied, so passing a Tensor by value costs a pointer; only the unique owner may write
// (mutable_data). They may lie in a mapped file (view), at any address.
#pragma once
#include <cstring>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "mrvlc/support/result.h"
#include "mrvlc/tensor/shape.h"

namespace mrvlc {

class Tensor {
 public:
  Tensor() = default;
  // Zero-filled. The caller has checked the size against its budget.
  explicit Tensor(TensorType type);
  // Takes the bytes without copying; bytes.size() must equal type.bytes().
  Tensor(TensorType type, std::string bytes);
  // Bytes that `owner` keeps: they are read where they are, never written, and let go with the last tensor
  // that shares them. bytes.size() must equal type.bytes().
  static Tensor view(TensorType type, std::span<const std::byte> bytes, std::shared_ptr<const void> owner);
  template <class T>
  static Tensor of(ElementType elem, Shape shape, const std::vector<T>& values);
  static Tensor strings(Shape shape, std::vector<std::string> values);
  // A sequence or an optional (of at most one item) of the type; an optional sequence holds one item that is
  // a sequence. Only the reference interpreter has such values.
  static Tensor wrapped(TensorType type, std::vector<Tensor> items);

  const TensorType& type() const { return type_; }
  const Shape& shape() const { return type_.shape; }
  ElementType elem() const { return type_.elem; }
  int64_t elements() const { return type_.elements(); }
  std::span<const std::byte> bytes() const {
    return storage_ ? storage_->bytes : std::span<const std::byte>();
  }
  // sizeof(T) must be the element's size; BOOL as uint8_t, F16 as uint16_t. A view whose address does not
  // suit T is copied once, for all tensors that share it; bytes() is never copied.
  template <class T>
  std::span<const T> data() const;
  template <class T>
  std::span<T> mutable_data();  // copies the bytes first if they are shared or a view
  const std::vector<std::string>& string_data() const { return *strings_; }
  std::vector<std::string>& mutable_strings();  // copies them first if they are shared
  const std::vector<Tensor>& items() const;     // of wrapped values
  // Same bytes under another shape (same element count).
  Tensor reshaped(Shape shape) const;

  // Element i converted to double / int64 (any numeric type). double is exact for every type up to 53 bits.
  double as_double(int64_t i) const;
  int64_t as_int(int64_t i) const;
  // Rounds to nearest even / truncates toward zero and wraps for integers, as the type asks.
  void set_double(int64_t i, double value);
  void set_int(int64_t i, int64_t value);
  std::vector<int64_t> to_ints() const;    // every element
  std::vector<double> to_doubles() const;  // every element

  // Equal type and equal bytes.
  bool operator==(const Tensor& other) const;

 private:
  struct Storage {
    explicit Storage(std::string taken);
    Storage(std::span<const std::byte> viewed, std::shared_ptr<const void> keeper);
    bool is_view() const { return bytes.data() != reinterpret_cast<const std::byte*>(own.data()); }
    const std::byte* aligned();  // the bytes at an address that suits every element type

    std::string own;  // std::string: allocations from the importer (protobuf) are taken over without a copy
    std::span<const std::byte> bytes;   // all of `own`, or a view
    std::shared_ptr<const void> owner;  // of a view
    std::once_flag copied;              // `own` is the copy of a view at an odd address
  };
  void make_writable();

  TensorType type_;
  std::shared_ptr<Storage> storage_;
  std::shared_ptr<std::vector<std::string>> strings_;
  std::shared_ptr<const std::vector<Tensor>> items_;
};

template <class T>
std::span<const T> Tensor::data() const {
  auto raw = bytes();
  const std::byte* at = raw.data();
  if (reinterpret_cast<uintptr_t>(at) % alignof(T) != 0) at = storage_->aligned();
  return {reinterpret_cast<const T*>(at), raw.size() / sizeof(T)};
}

template <class T>
std::span<T> Tensor::mutable_data() {
  if (storage_.use_count() != 1 || storage_->is_view()) make_writable();
  return {reinterpret_cast<T*>(storage_->own.data()), storage_->own.size() / sizeof(T)};
}

template <class T>
Tensor Tensor::of(ElementType elem, Shape shape, const std::vector<T>& values) {
  Tensor t(TensorType{elem, std::move(shape)});
  for (size_t i = 0; i < values.size(); ++i) {
    if constexpr (std::is_floating_point_v<T>) {
      t.set_double(static_cast<int64_t>(i), static_cast<double>(values[i]));
    } else {
      t.set_int(static_cast<int64_t>(i), static_cast<int64_t>(values[i]));
    }
  }
  return t;
}

}  // namespace mrvlc
