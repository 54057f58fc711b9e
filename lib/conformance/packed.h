// Values as generated code takes and gives them.
#pragma once
#include <deque>
#include <string>

#include "mrvlc/support/result.h"
#include "mrvlc/tensor/tensor.h"

namespace mrvlc::conformance {

// What a stub's structures hold of an input or output: the address, and the dimensions where they are known
// at run time only. The layout of sequences and optionals: mrvlc/ops/dynamic_shapes.h.
struct Port {
  void* data = nullptr;
  int64_t dims[kMaxRank] = {};
};

// An input's memory.
struct Packed {
  std::vector<std::byte> bytes;
  std::deque<std::string> texts;
  Port port;
};
Packed pack(const Tensor& value, const TensorType& type);
// The value that lies in memory as the type says; what is wrong with it otherwise.
Result<Tensor> unpack(const Port& port, const TensorType& type);

}  // namespace mrvlc::conformance
