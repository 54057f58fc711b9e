// The weights blob of a program: constants of its CPU part, each aligned to 64 bytes, or as it asks, equal
// bytes stored once.
#pragma once
#include <map>
#include <span>
#include <string>

#include "mrvlc/tensor/tensor.h"

namespace mrvlc::chost {

class Weights {
 public:
  // Offset of the bytes in the blob.
  int64_t add(std::span<const std::byte> bytes, int64_t alignment = 64);
  int64_t add(const Tensor& tensor) { return add(tensor.bytes()); }
  int64_t add(const std::vector<float>& values) { return add(std::as_bytes(std::span(values))); }
  const std::string& blob() const { return blob_; }
  std::string take_blob() { return std::move(blob_); }
  // What NAME_load_weights knows the blob by: kernels/weights.c.
  uint64_t sum() const;

 private:
  std::string blob_;
  std::map<std::pair<int64_t, std::string>, int64_t> offsets_;  // by alignment and SHA-256 of the bytes
};

}  // namespace mrvlc::chost
