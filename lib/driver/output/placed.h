// Where every ONNX node runs, why, and what it multiplies: what placement.json says, and the reports repeat.
#pragma once
#include "model/compiled_model.h"
#include "mrvlc/idmap/idmap.h"

namespace mrvlc::driver {

// Of the sources of the model's graph, by number; texts are made when they are asked for. `model` stays.
class PlacedNodes {
 public:
  PlacedNodes(const CompiledModel& model, const idmap::SourceOutcomes& outcomes);

  size_t size() const { return macs_.size(); }
  const ir::Source& source(size_t i) const { return m_.model.graph.sources()[i]; }
  // "accelerator", "cpu", "both" or "folded".
  const char* where(size_t i) const;
  bool on_cpu(size_t i) const;  // at least in part
  std::string reason(size_t i) const { return outcomes_.reason(ir::SourceId(i)); }
  // The decision on its main node; null: its nodes are gone, or in bodies of control flow that no target had
  // a say in.
  const partition::NodeDecision* decision(size_t i) const { return outcomes_.decision(ir::SourceId(i)); }
  int64_t macs(size_t i) const { return macs_[i]; }

 private:
  const CompiledModel& m_;
  const idmap::SourceOutcomes& outcomes_;
  std::vector<int64_t> macs_;
};

// The document, all but its last new line.
void write_placement(JsonWriter& out, const CompiledModel& m, const PlacedNodes& nodes);

}  // namespace mrvlc::driver
