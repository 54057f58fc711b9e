// Layers of a quantised network that no target took: they are computed in integers, as with --target host.
#pragma once
#include <functional>
#include <vector>

#include "mrvlc/partition/constraints.h"
#include "mrvlc/partition/region.h"
#include "mrvlc/passes/pass.h"

namespace mrvlc::driver {

// Whether anything in the graph or its bodies reads integers through a DequantizeLinear at run time.
bool is_quantized(const ir::Graph& imported);

// What targets took in a first partition, by ONNX node; a second round of the passes leaves these alone and
// makes integer forms of the rest.
class TakenSources {
 public:
  TakenSources(const ir::Graph& graph, const partition::Partition& partition);

  // A node of the imported graph, or of what passes made of it, that a target took.
  bool holds(const ir::Graph& graph, const ir::Node& node) const;
  // Whether targets took neither what makes `value` nor `user`. A DequantizeLinear is made again for each
  // reader, so it does not matter whose it is.
  bool both_left(const ir::Graph& graph, ir::ValueId value, ir::NodeId user) const;
  // Whether the first round left a product or a pool in floats that integers could compute.
  // `integers_first`: its passes made integer forms before targets were asked.
  bool worth_a_round(bool integers_first) const { return integers_first ? product_left_ : any_left_; }

  // For accelerators with integer products, the first round's passes of what they took; then, without their
  // limits, of what is left.
  Status run_integer_passes(ir::Graph& graph, const passes::RunOptions& options, bool integers_first) const;

 private:
  void add(const ir::Graph& graph, const partition::Partition& partition);

  std::vector<bool> taken_;  // by SourceId
  bool product_left_ = false, any_left_ = false;
};

// Fences where constraints ask for borders (passes/fences.h); `pins`, `taken`: null where there are none.
// Behind a first round none between nodes that no target took: the CPU computes both, wherever a border was
// asked for.
void raise_fences(ir::Graph& graph, const partition::Pins* pins, const TakenSources* taken);

}  // namespace mrvlc::driver
