// The comment above the function of a layer.
#pragma once
#include <span>

#include "program.h"

namespace mrvlc::chost {

// "/* Conv 'conv1' + Relu: 1x3x32x32 (NCHW), 'w1' 16x3x3x3 (MCHW), 16 -> 1x16x32x32; 442368 MAC; K_conv_rows,
// expected to be the fastest. */" `nodes`: what the function computes, head first; `needed`: pieces that it
// asked for.
std::string layer_comment(const Program& program, std::span<const ir::NodeId> nodes,
                          std::span<const Piece> needed);

}  // namespace mrvlc::chost
