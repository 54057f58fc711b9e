// Loads of devices.
#include "split/loads.h"

#include <algorithm>
#include <set>

namespace mrvlc::mesh {

Loads::Loads(const SplitGraph& graph, std::vector<uint32_t> of_group)
    : g_(graph),
      of_group_(std::move(of_group)),
      readers_(graph.nodes.size() * graph.devices(), 0),
      unsupported_(graph.devices(), 0),
      load_(graph.devices(), 0.0),
      size_(graph.devices(), 0.0) {
  for (uint32_t v = 0; v < g_.nodes.size(); ++v) {
    const SplitNode& n = g_.nodes[v];
    const uint32_t d = device(v);
    load_[d] += g_.is_cpu(d) ? n.cpu : n.accelerator;
    size_[d] += n.size;
    unsupported_[d] += n.supported ? 0 : 1;
    for (const uint32_t r : n.readers) ++readers(v, device(r));
  }
  for (uint32_t v = 0; v < g_.nodes.size(); ++v) add_moves(v, 1);
}

void Loads::add_moves(uint32_t node, double sign) {
  const uint32_t own = device(node);
  const double cost = sign * g_.nodes[node].cost;
  bool leaves = false;
  for (uint32_t d = 0; d < g_.devices(); ++d)
    if (d != own && readers(node, d) > 0) leaves = true, add_load(d, cost);
  if (leaves) add_load(own, cost);
}

double Loads::most() const {
  return *std::ranges::max_element(load_);
}

void Loads::move(uint32_t group, uint32_t to) {
  const uint32_t from = of_group_[group];
  std::set<uint32_t> touched;
  for (const uint32_t v : g_.groups[group]) {
    touched.insert(v);
    touched.insert(g_.nodes[v].operands.begin(), g_.nodes[v].operands.end());
  }
  for (const uint32_t v : touched) add_moves(v, -1);
  for (const uint32_t v : g_.groups[group]) {
    const SplitNode& n = g_.nodes[v];
    load_[from] -= g_.is_cpu(from) ? n.cpu : n.accelerator;
    load_[to] += g_.is_cpu(to) ? n.cpu : n.accelerator;
    size_[from] -= n.size, size_[to] += n.size;
    if (!n.supported) --unsupported_[from], ++unsupported_[to];
    for (const uint32_t o : n.operands) --readers(o, from), ++readers(o, to);
  }
  of_group_[group] = to;
  for (const uint32_t v : touched) add_moves(v, 1);
}

}  // namespace mrvlc::mesh
