// Comments above the functions of layers, and others that say what of the model something is.
#pragma once
#include <span>

#include "program.h"

namespace mrvlc::chost {

// "/* Conv 'conv1' + Relu: 1x3x32x32 (NCHW), 'w1' 16x3x3x3 (MCHW) -> 1x16x32x32; 442368 MAC; kernel
// conv_rows, expected fastest. */" `nodes`: what the function computes, head first; `needed`: pieces that it
// asked for.
std::string layer_comment(const Program& program, std::span<const ir::NodeId> nodes,
                          std::span<const Piece> needed);
// "/* 'x' 1x3x32x32 to the form of the device. */"
std::string value_comment(const Program& program, ir::ValueId value, std::string_view what);
// "/* Region 0: 25 nodes, from Conv 'conv1' to Softmax. */" Regions are numbered in the model.
std::string region_comment(const Program& program, std::span<const ir::NodeId> nodes, uint32_t region);

}  // namespace mrvlc::chost
