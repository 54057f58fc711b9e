// The pipelines of the compiler. Unused nodes go first: they would make values look shared. Shapes are folded
// before anything asks whether a parameter is constant, padding and normalisation are merged into layers once
// their parameters are, and what that leaves behind is folded in a second round. Equal constants are merged
// last: before, a weight that two layers share could not be scaled for one of them.
#include <array>

#include "mrvlc/passes/pass.h"

namespace mrvlc::passes {
namespace {

#define MRVLC_COMMON                                                                                        \
  "dce", "remove-identity", "fold-constants", "einsum-to-matmul", "attention-to-products", "sums-to-means", \
      "fuse-norms", "fuse-softmax", "sums-of-squares", "canonicalize-shape", "canonicalize-math",           \
      "remove-identity", "dce", "explicit-padding", "fold-pad", "fold-batchnorm", "matmul-to-gemm",         \
      "fold-scale", "fold-batchnorm", "lower-batchnorm", "fuse-activations", "fold-constants",              \
      "gather-to-slice", "fold-where", "remove-identity", "canonicalize-shape", "canonicalize-math",        \
      "fold-scale"
#define MRVLC_CLEAN_UP "fold-constants", "cse", "remove-identity", "dce"

// Products of integers are made before constants are folded, which makes floats of their weights. What pools
// are comes first: a mean that drops dimensions is one of them and a reshape, which integers do as well.
#define MRVLC_INTEGERS                                                                                     \
  "dce", "remove-identity", "fold-quantized", "quantized-forms", "dequantize-late", "separate-dequantize", \
      "canonicalize-shape", "quantize-early", "integer-averages", "integer-products"
#define MRVLC_WIDEN "widen-f16", "fold-constants", "remove-identity", "cse", "dce"

// Scale and shift of images go into weights for the accelerator's sake: the host computes in fp32 and pads
// for free.
constexpr auto kDefault = std::to_array<std::string_view>(
    {MRVLC_INTEGERS, MRVLC_COMMON, "fold-input-affine", "mask-to-sum", "attention-in-parts", MRVLC_CLEAN_UP});
constexpr auto kFloat = std::to_array<std::string_view>(
    {MRVLC_COMMON, "fold-input-affine", "mask-to-sum", "attention-in-parts", MRVLC_CLEAN_UP});
constexpr auto kHost =
    std::to_array<std::string_view>({MRVLC_INTEGERS, MRVLC_COMMON, MRVLC_CLEAN_UP, MRVLC_WIDEN});
constexpr auto kIntegers = std::to_array<std::string_view>({MRVLC_INTEGERS});
constexpr auto kHostFloat = std::to_array<std::string_view>({MRVLC_COMMON, MRVLC_CLEAN_UP, MRVLC_WIDEN});

}  // namespace

std::span<const std::string_view> default_pipeline() {
  return kDefault;
}
std::span<const std::string_view> float_pipeline() {
  return kFloat;
}
std::span<const std::string_view> host_pipeline() {
  return kHost;
}
std::span<const std::string_view> library_pipeline() {
  return kHostFloat;
}
std::span<const std::string_view> integer_pipeline() {
  return kIntegers;
}

}  // namespace mrvlc::passes
