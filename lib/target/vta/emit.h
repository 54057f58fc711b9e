// Steps of a layer, cut as a tiling says.
#pragma once
#include "program.h"
#include "tiles.h"

namespace vta {

void emit_layer(Program& program, const Layer& layer, const Tiling& tiling);

}  // namespace vta
