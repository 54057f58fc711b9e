// Accelerator code generation: a region of layers to a model binary. Stages, each apart: layer (what is
// computed) -> layout (how values are stored) -> cut and tile program -> placement in memory -> instructions
// -> bytes.
#pragma once
#include "mrvlc/isa/container.h"
#include "mrvlc/partition/partition.h"
#include "mrvlc/support/diag/accel.h"
#include "mrvlc/support/log.h"

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
  // Weights are loaded by the init section and stay on chip from one inference to the next; an error
  // (MRV0504) when they do not fit.
  bool pin_weights = false;
  std::vector<Stage> texts = {};  // wanted in CompiledRegion::texts
  Log log = {};                   // which schedules were tried
};

// How the host hands a value of the region to the device: dimensions permuted. stored dim i is logical dim
// perm[i].
struct PortLayout {
  ir::ValueId value;
  std::vector<int64_t> perm;                // identity: row-major as in ONNX
  isa::DataType type = isa::DataType::F16;  // or F32, for values that fp16 might not hold
};

// Instructions [begin, end) of a section belong to a layer and one of its expressions.
struct InstructionRange {
  enum class Section : uint8_t { Init, Main, Finish } section = Section::Main;
  uint32_t begin = 0, end = 0;
  uint32_t layer = 0;  // index into Region::layers
  ir::NodeId expr;
};

struct LayerReport {
  uint32_t layer = 0;
  std::string cut;   // "rows x 8", "channels x 4"
  int64_t macs = 0;  // ops::macs of its nodes, whatever of them is executed
  int64_t weight_bytes = 0;
  uint64_t bound_cycles = 0;  // least cycles of arithmetic on all tiles
};

// What holds a range of on-chip memory, and while which instructions of main: the memory map over time.
struct OcmUse {
  enum class Kind : uint8_t { Activation, Weights, Workspace } kind = Kind::Activation;
  std::string name;              // of the ONNX value or node
  uint8_t tiles = 0;             // bit t: in tile t, the same range in each
  uint32_t begin = 0, end = 0;   // bytes
  uint32_t first = 0, last = 0;  // instruction indices in main, inclusive
  uint32_t layer = 0;            // index into Region::layers
};

struct CompiledRegion {
  isa::Binary binary;
  std::vector<PortLayout> inputs, outputs;     // in order of Region::inputs / outputs
  std::vector<InstructionRange> instructions;  // cover every instruction of every section, in order
  std::vector<LayerReport> layers;
  int64_t macs = 0;  // of the layers
  int64_t weights_bytes = 0;
  uint64_t lower_bound_cycles = 0;  // facts of the machine only, see docs/timing.md
  uint64_t estimated_cycles = 0;    // of main, by the model that chose the schedule
  // A tile: most bytes held at once by tensors, workspaces and weights; and how far up memory is used (what
  // is fetched lies at the top, so this says nothing of how much is needed).
  int64_t ocm_peak_bytes = 0, ocm_highest_address_bytes = 0;
  // Of tensors and workspaces alone, and the least that any placement of them needs.
  int64_t ocm_tensor_peak_bytes = 0, ocm_tensor_lower_bound_bytes = 0;
  std::vector<OcmUse> ocm_uses;    // by first instruction, then address
  std::vector<Diag> warnings;      // about numbers; they name the node
  std::vector<std::string> texts;  // of the stages in Options::texts
};

// Errors name the ONNX node: MRV05xx.
Result<CompiledRegion> compile_region(const ir::Graph& graph, const partition::Region& region,
                                      const target::Machine& machine, const Options& options);

}  // namespace mrvlc::accel
