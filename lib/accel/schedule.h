// From primitive operations to a placed tile program: how they are cut over tiles, which tensors stay on
// chip, what runs in stripes, when weights come. Several ways are tried.
#pragma once
#include <functional>

#include "code/tile_program.h"
#include "mrvlc/accel/accel.h"
#include "place/memory.h"
#include "plan/residency.h"

namespace mrvlc::accel {

struct Scheduled {
  Program program;  // as it is run, with DDR offsets
  std::vector<Cut> cuts;
  std::vector<Residence> residences;
  TileProgram tiles;
  std::vector<uint32_t> order;  // of main's instructions (code/interleave.h); empty: as the steps have them
  MemoryMap map;
  double estimated_cycles = 0;
  int64_t tensor_peak = 0, tensor_peak_bound = 0;  // PlacementResult::peak
};
// Says of which node a diagnostic is.
using NameNode = std::function<Diag(Diag, ir::NodeId)>;
// `program`: its weights may have been moved out. Errors name the node.
Result<Scheduled> schedule(const NameNode& name, Program program, const target::Machine& machine,
                           const Options& options);

}  // namespace mrvlc::accel
