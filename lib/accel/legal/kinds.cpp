// The table of layer kinds; a switch, so that a kind without a row does not compile.
#include "legal/kinds.h"

#include "legal/legal.h"

namespace mrvlc::accel {
namespace {

using Epilogue = KindInfo::Epilogue;

constexpr KindInfo info_of(LayerKind kind) {
  switch (kind) {
    case LayerKind::Conv:
      return {kind, Epilogue::Chain, legal_conv};
    case LayerKind::ConvTranspose:
      return {kind, Epilogue::Chain, legal_conv_transpose};
    case LayerKind::Fc:
      return {kind, Epilogue::Chain, legal_fc};
    case LayerKind::Matmul:
      return {kind, Epilogue::Chain, legal_matmul};
    case LayerKind::QlinearConv:
      return {kind, Epilogue::Bounds, legal_qlinear_conv, true};
    case LayerKind::IntegerConv:
      return {kind, Epilogue::Scaled, legal_integer_conv, true};
    case LayerKind::Dequantize:
      return {kind, Epilogue::None, legal_dequantize, true};
    case LayerKind::Pool:
      return {kind, Epilogue::Quantize, legal_pool, true};
    case LayerKind::Elementwise:
      return {kind, Epilogue::Functions, legal_elementwise};
    case LayerKind::Reduce:
      return {kind, Epilogue::None, legal_reduce};
    case LayerKind::Softmax:
      return {kind, Epilogue::None, legal_softmax};
    case LayerKind::Norm:
      return {kind, Epilogue::None, legal_norm};
    case LayerKind::Resize:
      return {kind, Epilogue::None, legal_resize};
    case LayerKind::Concat:
      return {kind, Epilogue::None, legal_concat, true};
    case LayerKind::Move:
      return {kind, Epilogue::None, legal_move, true};
    case LayerKind::Reshape:
      return {kind, Epilogue::None, legal_reshape, true};
  }
  return {};
}

}  // namespace

const KindInfo& kind_info(LayerKind kind) {
  static const std::vector<KindInfo> kTable = [] {
    std::vector<KindInfo> table;
    for (LayerKind k : kLayerKinds) table.push_back(info_of(k));
    return table;
  }();
  return kTable[static_cast<size_t>(kind)];
}

}  // namespace mrvlc::accel
