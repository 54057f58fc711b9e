// A graph to be shared out: nodes that must lie together are one group.
#pragma once
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "mrvlc/support/result.h"

namespace mrvlc::mesh {

// The load of what does not fit.
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct SplitNode {
  int64_t id = 0;
  double cpu = 0, accelerator = 0, size = 0;  // times and bytes
  double cost = 0;                            // of moving its result between an accelerator and the host
  bool supported = true;                      // by accelerators
  uint32_t group = 0;
  std::vector<uint32_t> readers, operands;  // nodes, ascending, each once
};

struct SplitGraph {
  uint32_t accelerators = 0, cpus = 0;
  double room = 0;  // bytes of an accelerator
  std::vector<SplitNode> nodes;
  std::vector<std::vector<uint32_t>> groups;

  uint32_t devices() const { return accelerators + cpus; }
  bool is_cpu(uint32_t device) const { return device >= accelerators; }
};

Result<SplitGraph> read_split_graph(const std::string& text);

}  // namespace mrvlc::mesh
