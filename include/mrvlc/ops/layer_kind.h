// The kinds of accelerator layers as symbols, with their words for text: parsed and written at the border
// alone.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>

namespace mrvlc {

enum class LayerKind : uint8_t {
#define MRVLC_LAYER_KIND(symbol, word) symbol,
#include "mrvlc/ops/layer_kinds.def"
#undef MRVLC_LAYER_KIND
};

constexpr std::string_view name(LayerKind kind) {
  switch (kind) {
#define MRVLC_LAYER_KIND(symbol, word) \
  case LayerKind::symbol:              \
    return word;
#include "mrvlc/ops/layer_kinds.def"
#undef MRVLC_LAYER_KIND
  }
  return {};
}

inline constexpr LayerKind kLayerKinds[] = {
#define MRVLC_LAYER_KIND(symbol, word) LayerKind::symbol,
#include "mrvlc/ops/layer_kinds.def"
#undef MRVLC_LAYER_KIND
};

constexpr std::optional<LayerKind> find_layer_kind(std::string_view word) {
  for (LayerKind kind : kLayerKinds) {
    if (name(kind) == word) return kind;
  }
  return std::nullopt;
}

// Convolutions and matrix products: what makes a region worth handing over.
constexpr bool multiplies(LayerKind kind) {
  switch (kind) {
    case LayerKind::Conv:
    case LayerKind::ConvTranspose:
    case LayerKind::Fc:
    case LayerKind::Matmul:
    case LayerKind::QlinearConv:
    case LayerKind::IntegerConv:
      return true;
    case LayerKind::Dequantize:
    case LayerKind::Pool:
    case LayerKind::Elementwise:
    case LayerKind::Reduce:
    case LayerKind::Softmax:
    case LayerKind::Norm:
    case LayerKind::Resize:
    case LayerKind::Concat:
    case LayerKind::Move:
    case LayerKind::Reshape:
      return false;
  }
  return false;
}

// Those of integers of 8 bits.
constexpr bool multiplies_integers(LayerKind kind) {
  return kind == LayerKind::QlinearConv || kind == LayerKind::IntegerConv;
}

class LayerKinds {
 public:
  constexpr LayerKinds() = default;
  constexpr LayerKinds(std::initializer_list<LayerKind> kinds) {
    for (LayerKind kind : kinds) bits_ |= bit(kind);
  }
  constexpr bool has(LayerKind kind) const { return (bits_ & bit(kind)) != 0; }
  constexpr bool empty() const { return bits_ == 0; }

 private:
  static constexpr uint32_t bit(LayerKind kind) { return uint32_t{1} << static_cast<unsigned>(kind); }
  uint32_t bits_ = 0;
};

}  // namespace mrvlc
