// Small networks compiled for the accelerator, simulated, and compared with the reference interpreter.
#pragma once
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "mrvlc/accel/accel.h"
#include "mrvlc/ops/op.h"
#include "mrvlc/sim/simulator.h"
#include "ports.h"

namespace mrvlc::accel_test {

using AttrList = std::vector<std::pair<std::string, ir::Attr>>;

// A graph under construction, one accelerator layer an operator (or a chain).
class Net {
 public:
  explicit Net(uint32_t seed) : random_(seed) { graph.name = "net"; }
  ir::ValueId input(Shape shape);
  ir::ValueId constant(Shape shape, double low = -1, double high = 1);
  ir::ValueId values(Shape shape, const std::vector<double>& data, ElementType elem = ElementType::F32);
  // Adds a node and a layer of `kind` that holds it.
  ir::ValueId layer(const std::string& kind, const std::string& op, std::vector<ir::ValueId> inputs,
                    AttrList attrs = {}, size_t outputs = 1);
  // Adds a node to the last layer, as part of its epilogue.
  ir::ValueId epilogue(const std::string& op, std::vector<ir::ValueId> inputs, AttrList attrs = {});
  void output(ir::ValueId value);
  int64_t pick(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random_);
  }

  ir::Graph graph;
  partition::Region region;

 private:
  ir::NodeId node(const std::string& op, std::vector<ir::ValueId> inputs, AttrList attrs, size_t outputs);
  std::mt19937 random_;
};

struct Run {
  std::string error;  // of the compiler or the simulator; empty: none
  double worst = 0;   // largest |a - b| / (1 + |b|)
  size_t hazards = 0;
  std::string first_hazard;
  uint64_t cycles = 0, bound = 0;
  bool covered = false;  // every instruction belongs to a layer
};

struct Setup {
  uint32_t tiles = 8;
  uint32_t ocm_bytes = 1 << 20;
};

target::Machine machine(uint32_t ocm_bytes = 1 << 20);
// Inputs are uniform in [-1, 1).
Run run(const Net& net, const Setup& setup, uint32_t seed = 1);

// The outputs for given inputs, in order of the region's.
Result<std::vector<Tensor>> outputs_of(const Net& net, const std::vector<Tensor>& inputs,
                                       const Setup& setup = {});

// Compiled with any options, and what the simulator makes of it; inputs as in run().
struct Simulated {
  std::string error;      // of the compiler or the simulator, or the first hazard; empty: none
  DiagId code = nullptr;  // of the compiler
  accel::CompiledRegion compiled;
  sim::Report report;
  std::vector<std::string> outputs;  // bytes of the ports
};
Simulated simulate(const Net& net, const accel::Options& options, uint32_t ocm_bytes = 1 << 20);

// CHECKs that the run has no error and no hazard and is within `tolerance` on every setup in turn.
void check(const Net& net, const std::string& what, double tolerance = 0.01);
void check_on(const Net& net, const std::string& what, const Setup& setup, double tolerance = 0.01);

}  // namespace mrvlc::accel_test
