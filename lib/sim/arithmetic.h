// Activations and rounding, as docs/isa.md defines them, on rows of fp32 values.
#pragma once
#include <cstddef>
#include <cstdint>

#include "mrvlc/isa/isa.h"
#include "mrvlc/sim/simulator.h"

namespace mrvlc::sim {

// `table` points at the table's bytes in OCM; used by Activation::Table only. Activation::Bytes is what store
// does.
void activate(const isa::Epilogue& epilogue, const std::byte* table, float* values, size_t n);
// Element i at memory + i * stride. Rounding is to nearest even; every NaN is stored as the canonical quiet
// NaN.
void load(isa::DataType type, const isa::Quantization& q, const std::byte* memory, int64_t stride,
          float* values, size_t n);
// How results are stored: integers by their quantization and, of Activation::Bytes, by way of a table of 256.
struct Stored {
  isa::DataType type = isa::DataType::F16;
  isa::Quantization quantization;
  const std::byte* bytes = nullptr;
};
// `table` as for activate.
inline Stored stored_as(isa::DataType type, const isa::Quantization& q, const isa::Epilogue& e,
                        const std::byte* table) {
  return {type, q, e.activation == isa::Activation::Bytes ? table : nullptr};
}
void store(const Stored& as, std::byte* memory, int64_t stride, const float* values, size_t n);

inline int integer_at(isa::DataType type, const std::byte* memory) {
  const auto byte = std::to_integer<uint8_t>(*memory);
  return type == isa::DataType::I8 ? static_cast<int8_t>(byte) : byte;
}

inline void raise(Flag flag, uint32_t& flags) {
  flags |= static_cast<uint32_t>(flag);
}
// Whether the value is stored as an infinity. Not so for NaN.
bool stored_infinite(isa::DataType type, float value);
// Sets Flag::Invalid in `flags` when one of the values is NaN; whether any is stored as an infinity.
bool flag_stored(isa::DataType type, const float* values, size_t n, uint32_t& flags);

inline float maximum(float a, float b) {
  return a != a ? a : b != b ? b : a > b ? a : b;
}
inline float minimum(float a, float b) {
  return a != a ? a : b != b ? b : a < b ? a : b;
}

}  // namespace mrvlc::sim
