// What was decided about primitives, as text: how they are cut over tiles, where tensors live, and the steps
// of all tiles.
#pragma once
#include "code/tile_program.h"
#include "plan/residency.h"
#include "text/names.h"

namespace mrvlc::accel {

std::string tiling_text(const Program& program, const std::vector<Cut>& cuts, uint32_t tiles,
                        const Names& names);
std::string residency_text(const Program& program, const std::vector<Residence>& residences,
                           const Names& names);
std::string tile_program_text(const Program& program, const TileProgram& tiles, const Names& names);

}  // namespace mrvlc::accel
