// What every device has to do under a split, kept up to date while groups move.
#pragma once
#include "split/graph.h"

namespace mrvlc::mesh {

class Loads {
 public:
  // All groups on the device that `of_group` says.
  Loads(const SplitGraph& graph, std::vector<uint32_t> of_group);

  void move(uint32_t group, uint32_t device);
  uint32_t device_of(uint32_t group) const { return of_group_[group]; }
  const std::vector<uint32_t>& assignment() const { return of_group_; }
  const std::vector<double>& loads() const { return load_; }
  double most() const;
  // No accelerator has more bytes than it takes, or nodes that it does not support.
  bool fits(uint32_t device) const {
    return g_.is_cpu(device) || (size_[device] <= g_.room && unsupported_[device] == 0);
  }

 private:
  uint32_t device(uint32_t node) const { return of_group_[g_.nodes[node].group]; }
  uint32_t& readers(uint32_t node, uint32_t device) { return readers_[size_t{node} * g_.devices() + device]; }
  void add_load(uint32_t device, double cost) {
    if (!g_.is_cpu(device)) load_[device] += cost;
  }
  // The node's result moves: once for the sender, once for each device that reads it. `sign` -1: no longer.
  void add_moves(uint32_t node, double sign);

  const SplitGraph& g_;
  std::vector<uint32_t> of_group_, readers_, unsupported_;
  std::vector<double> load_, size_;
};

}  // namespace mrvlc::mesh
