// Cuts an order of layers where a region would have more layers or ports than the machine takes.
#include "split.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace mrvlc::partition {
namespace {

// Counts the ports of a growing run of layers.
class Ports {
 public:
  explicit Ports(const ir::Graph& graph) : graph_(graph) {}

  void add(const Layer& layer) {
    for (ir::NodeId n : layer.nodes) {
      for (ir::ValueId in : graph_.node(n).inputs) {
        if (in.valid() && !graph_.is_constant(in)) read(in);
      }
      for (ir::ValueId out : graph_.node(n).outputs) {
        if (out.valid()) produce(out);
      }
    }
  }
  size_t inputs() const { return inputs_.size(); }
  size_t outputs() const { return open_; }

  // In order of first use; in order of production.
  void fill(Region& region) const {
    region.inputs = inputs_;
    for (ir::ValueId v : produced_) {
      if (unread_.at(v) > 0) region.outputs.push_back(v);
    }
  }

 private:
  void read(ir::ValueId v) {
    auto it = unread_.find(v);
    if (it != unread_.end()) {
      if (--it->second == 0) --open_;
    } else if (seen_.insert(v).second) {
      inputs_.push_back(v);
    }
  }
  void produce(ir::ValueId v) {
    size_t uses = graph_.use_count(v);
    produced_.push_back(v);
    unread_.emplace(v, uses);
    if (uses > 0) ++open_;
  }

  const ir::Graph& graph_;
  std::vector<ir::ValueId> inputs_, produced_;
  std::unordered_set<ir::ValueId> seen_;            // looked up only, never walked
  std::unordered_map<ir::ValueId, size_t> unread_;  // uses of produced values not yet inside
  size_t open_ = 0;
};

size_t most_layers(const Layer& layer, const std::vector<NodeConstraints>& constraints) {
  size_t most = SIZE_MAX;
  for (ir::NodeId n : layer.nodes) most = std::min<size_t>(most, constraints[n.index()].max_layers);
  return std::max<size_t>(1, most);
}

// Layers that the longest admissible run from `begin` takes; at least one.
size_t run_length(const ir::Graph& graph, const std::vector<Layer>& layers, size_t begin,
                  const target::Machine& machine, const std::vector<NodeConstraints>& constraints) {
  Ports ports(graph);
  size_t best = 1, most = SIZE_MAX;
  size_t end = std::min(layers.size(), begin + std::max<size_t>(1, machine.max_layers));
  for (size_t i = begin; i < end; ++i) {
    most = std::min(most, most_layers(layers[i], constraints));
    if (i - begin + 1 > most) break;
    ports.add(layers[i]);
    if (ports.inputs() <= machine.max_ports && ports.outputs() <= machine.max_ports) best = i - begin + 1;
  }
  return best;
}

}  // namespace

std::vector<Region> split_region(const ir::Graph& graph, std::vector<Layer> layers,
                                 const target::Machine& machine,
                                 const std::vector<NodeConstraints>& constraints) {
  std::vector<Region> out;
  for (size_t begin = 0; begin < layers.size();) {
    size_t count = run_length(graph, layers, begin, machine, constraints);
    Region& region = out.emplace_back();
    Ports ports(graph);
    for (size_t i = begin; i < begin + count; ++i) {
      ports.add(layers[i]);
      region.layers.push_back(std::move(layers[i]));
    }
    ports.fill(region);
    begin += count;
  }
  return out;
}

}  // namespace mrvlc::partition
