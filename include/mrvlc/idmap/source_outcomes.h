// What became of every ONNX node, and why.
#pragma once
#include <string>
#include <vector>

#include "mrvlc/backend/region_code.h"
#include "mrvlc/chost/chost.h"
#include "mrvlc/partition/partition.h"

namespace mrvlc::idmap {

// What a compile made, to be read off; whoever holds one keeps all of it alive.
struct Compiled {
  const ir::Graph& graph;
  const partition::Partition& partition;
  const std::vector<backend::RegionCode>& regions;
  const chost::HostCode& host;
  std::vector<std::string> accelerators = {};  // their names
};

class SourceOutcomes {
 public:
  explicit SourceOutcomes(const Compiled& compiled);

  enum class Place : uint8_t { Accelerator, Cpu, Both, Folded, Removed };
  Place place(ir::SourceId source) const;
  std::string reason(ir::SourceId source) const;  // printable
  // It is there, and needs no code: its result is the same bytes as its operand.
  bool is_alias(ir::SourceId source) const;
  // The decision on its main node; null: its nodes are gone, or in bodies of control flow that no target had
  // a say in.
  const partition::NodeDecision* decision(ir::SourceId source) const;

 private:
  // A few words each: there may be millions.
  struct Outcome {
    const partition::NodeDecision* main = nullptr;      // `in_body_` when that decides
    const partition::NodeDecision* decision = nullptr;  // the same without bodies
    const ir::Lineage* gone = nullptr;                  // of the newest erased node made from it
    bool accelerator = false, cpu = false, code = false, folded = false;
  };
  void note_live(const ir::Lineage& lineage, const partition::NodeDecision& decision, bool code);
  void note_erased(const ir::Graph& graph);

  std::vector<Outcome> outcomes_;
  partition::NodeDecision in_body_;
};

const char* name(SourceOutcomes::Place place);

}  // namespace mrvlc::idmap
