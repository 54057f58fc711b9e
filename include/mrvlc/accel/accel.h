// Accelerator code generation: a region of layers to a model binary. Stages, each apart: layer (what is
// computed) -> layout (how values are stored) -> cut and tile program -> placement in memory -> instructions
// -> bytes.
#pragma once
#include "mrvlc/backend/region_code.h"
#include "mrvlc/isa/container.h"
#include "mrvlc/partition/region.h"
#include "mrvlc/support/diag/accel.h"
#include "mrvlc/support/log.h"
#include "mrvlc/target/machine.h"

namespace mrvlc::accel {

// What has a text, in order (stages.h).
enum class Stage : uint8_t { Primitives, Tiling, Residency, TileProgram };

struct Options {
  uint32_t tiles = 8;
  std::string name;  // of the binary
  isa::Architecture architecture = isa::Architecture::Experimental;
  // How many schedules are tried and estimated before the best is taken: 1 few, 2 many. Any gives the same
  // results.
  uint32_t effort = 1;
  // Whose cycles decide between schedules; of both columns their product.
  target::Column column = target::Column::Default;
  // Weights are loaded by the init section and stay on chip from one inference to the next; an error
  // (MRV0504) when they do not fit.
  bool pin_weights = false;
  std::vector<Stage> texts = {};  // wanted in RegionCode::texts
  Log log = {};                   // which schedules were tried
};

// All of the code but its bytes and identity, which the encoded program has.
struct CompiledRegion : backend::RegionCode {
  isa::Binary binary;
};

// Errors name the ONNX node: MRV05xx.
Result<CompiledRegion> compile_region(const ir::Graph& graph, const partition::Region& region,
                                      const target::Machine& machine, const Options& options);

}  // namespace mrvlc::accel
