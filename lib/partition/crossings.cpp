// Counts what the host rewrites at the borders of regions: over expected forms, and over those of compiled
// regions.
#include "mrvlc/partition/crossings.h"

#include <algorithm>
#include <map>

#include "mrvlc/partition/accelerator.h"
#include "mrvlc/partition/partition.h"

namespace mrvlc::partition {
namespace {

class Borders {
 public:
  Borders(const ir::Graph& graph, const Partition& partition, const std::vector<RegionForms>& forms)
      : graph_(graph), partition_(partition), forms_(forms), on_device_(graph.node_slots(), false) {
    for (const Region& r : partition.regions) {
      for (const Layer& l : r.layers)
        for (ir::NodeId n : l.nodes) on_device_[n.index()] = true;
    }
    for (const RegionForms& r : forms)
      for (const DeviceForm& f : r.inputs) read_.emplace(f.value, &f);
  }

  std::vector<Crossing> run() {
    for (const Step& s : partition_.steps)
      if (s.kind == Step::Kind::Region) add_region(partition_.regions[s.region].id, forms_[s.region]);
    return std::move(out_);
  }

 private:
  void add_region(uint32_t id, const RegionForms& forms) {
    for (const DeviceForm& f : forms.inputs) {
      if (there_.insert(f).second && !f.as_on_host())
        out_.push_back({id, f.value, true, f.casts, f.permutes});
    }
    for (const DeviceForm& f : forms.outputs) {
      there_.insert(f);
      if (!f.as_on_host() && (host_needs(f.value) || read_otherwise(f)))
        out_.push_back({id, f.value, false, f.casts, f.permutes});
    }
  }

  bool host_needs(ir::ValueId v) const {
    return graph_.is_output(v) || std::ranges::any_of(graph_.value(v).users, [&](ir::NodeId user) {
             return !on_device_[user.index()];
           });
  }

  // Does another region take the value in another form? Then it goes by way of the host's.
  bool read_otherwise(const DeviceForm& made) const {
    const auto [first, last] = read_.equal_range(made.value);
    return std::any_of(first, last, [&](const auto& read) { return *read.second != made; });
  }

  const ir::Graph& graph_;
  const Partition& partition_;
  const std::vector<RegionForms>& forms_;
  std::vector<bool> on_device_;  // by node
  std::multimap<ir::ValueId, const DeviceForm*> read_;
  std::set<DeviceForm> there_;  // what the device has by now
  std::vector<Crossing> out_;
};

}  // namespace

bool moves_channels(const Shape& shape) {
  if (shape.size() < 3 || shape[1] == 1) return false;
  return std::any_of(shape.begin() + 2, shape.end(), [](int64_t d) { return d != 1; });
}

std::vector<Crossing> crossings(const ir::Graph& graph, const Partition& partition,
                                const std::vector<RegionForms>& forms) {
  return Borders(graph, partition, forms).run();
}

std::vector<Crossing> crossings(const ir::Graph& graph, const Partition& partition,
                                const Accelerator& accelerator) {
  const auto parts = accelerator.parts();
  std::vector<RegionForms> forms;
  for (const Region& r : partition.regions) forms.push_back(parts[r.accelerator]->forms(graph, r));
  return crossings(graph, partition, forms);
}

}  // namespace mrvlc::partition
