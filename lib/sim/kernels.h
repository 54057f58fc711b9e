// The inner loops of the functional simulation. Each exists for AVX-512, for AVX2 with FMA and in plain C++;
// all give the same bits because every fused multiply-add rounds once and the order of additions is fixed per
// output.
#pragma once
#include <cstddef>
#include <cstdint>

namespace mrvlc::sim {

inline constexpr size_t kLanes = 16;  // output channels of a block

struct Kernels {
  const char* name;
  // acc[p][0..15] = fma(x[p][k], w[16 k + 0..15], acc[p][0..15]) for k = 0 .. length - 1, for every p <
  // pixels.
  void (*fma_block)(const float* const* x, float* const* acc, size_t pixels, const float* w, size_t length);
  // acc[i] = fma(x[i], w[i], acc[i]) for i < n.
  void (*fma_channels)(float* acc, const float* x, const float* w, size_t n);
  // fp16 (any alignment) to fp32.
  void (*widen)(const std::byte* halves, float* out, size_t n);
  // fp32 to fp16 (any alignment), to nearest even; every NaN becomes the canonical quiet one.
  void (*narrow)(const float* in, std::byte* halves, size_t n);
};

// The fastest set this processor runs.
const Kernels& kernels();
// Plain C++, for comparison.
const Kernels& portable_kernels();

}  // namespace mrvlc::sim
