// The one interface to a target that compiles regions. Partitioning, host code, ID map, reports and commands
// know a target only through it; mrvlc/backends/open.h opens targets by name.
#pragma once
#include <memory>
#include <span>

#include "mrvlc/backend/code_index.h"
#include "mrvlc/partition/accelerator.h"
#include "mrvlc/support/log.h"

namespace mrvlc::backend {

// A region's program as the back end's own model of the machine times it: no values are computed.
class Timing {
 public:
  virtual ~Timing() = default;
  // Of one inference, all sections; 0: not known.
  virtual uint64_t cycles() const = 0;
  // What each layer of these ranges takes of main, by layer; layers without code are not there.
  virtual std::map<uint32_t, uint64_t> layer_cycles(const std::vector<CodeRange>& ranges) const = 0;
  // Everything of report::Region that follows from the program, its times and the index: not file, lower
  // bound, weights, on-chip memory, cuts, MACs of the operators. `drawing`: bars and critical path too, which
  // tables do not need.
  virtual report::Region profile(const CodeIndex& index, uint32_t region, bool drawing) const = 0;
  // On-chip memory over time, from the instructions of main that hold it.
  virtual std::vector<report::MemoryUse> memory(const std::vector<MemoryUse>& uses) const = 0;
};

// Computes a region as the device would, bit for bit.
class Executor {
 public:
  virtual ~Executor() = default;
  // Values of the ports in order, in their types and stored layouts.
  virtual Result<std::vector<std::string>> run(const std::vector<std::string>& inputs) = 0;
};

// What the passes before partitioning are told of the target.
struct PassLimits {
  bool half_weights = false;  // constants are stored as fp16
  bool integers = false;      // products of integers of 8 bits are taken, as QLinearConv
  int64_t longest_row = INT64_MAX, largest_batch = INT64_MAX;
  int64_t tiles = 0, tile_bytes = 0;  // as PassContext says
};

class Backend : public partition::Accelerator {
 public:
  // The one that Layer::accelerator, Region::accelerator and RegionCode::accelerator count, of those that
  // this one stands for.
  virtual const Backend& part(uint32_t) const { return *this; }
  virtual PassLimits pass_limits() const = 0;
  // Files of OUT, by name, without which a device of this target cannot be opened here.
  virtual std::vector<std::pair<std::string, std::string>> device_files() const { return {}; }
  // False: executor() is an error, as what compile() makes goes elsewhere.
  virtual bool runs_here() const { return true; }
  // Units of the machine that programs are made for.
  virtual uint32_t tiles() const = 0;

  // `name`: of the binary. Errors name the ONNX node.
  Result<RegionCode> compile(const ir::Graph& graph, const partition::Region& region, const std::string& name,
                             const Log& log) const;
  // The same, perhaps without its bytes: encode() makes them.
  virtual Result<RegionCode> generate(const ir::Graph& graph, const partition::Region& region,
                                      const std::string& name, const Log& log) const = 0;
  // Inputs of the region, then results in the order of its layers. What operators of a layer hand on within
  // it is not stored.
  virtual std::vector<StoredValue> stored_values(const ir::Graph& graph,
                                                 const partition::Region& region) const = 0;

  // Of a binary that compile() made. MRV0007: the program is not sound.
  virtual Result<std::unique_ptr<Timing>> time(std::string_view binary) const = 0;
  // ... on the machine with other values of fields, as target::changed() takes them. MRV0004: it has no such
  // fields.
  virtual Result<std::unique_ptr<Timing>> time_changed(std::string_view binary, std::string_view changes,
                                                       std::string_view option) const;
  virtual Result<std::unique_ptr<Executor>> executor(std::string_view binary) const = 0;
  // Its instructions as text, with the expressions they come from.
  virtual Result<std::string> disassembly(std::string_view binary,
                                          const std::vector<CodeRange>& ranges) const = 0;
};

// What RegionCode::encode is for; nothing where it is not set.
void encode(RegionCode& code);

// Seconds of a region alone, without launch and borders: compiled and timed. nullopt: it cannot be compiled.
std::optional<double> seconds_alone(const Backend& backend, const ir::Graph& graph,
                                    const partition::Region& region);

}  // namespace mrvlc::backend
