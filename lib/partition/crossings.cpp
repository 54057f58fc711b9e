#include "mrvlc/partition/crossings.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace mrvlc::partition {
namespace {

// How a region has a value.
struct DeviceForm {
  ir::ValueId value;
  bool casts = false, permutes = false;
  auto operator<=>(const DeviceForm&) const = default;
  bool as_on_host() const { return !casts && !permutes; }
};

class Borders {
 public:
  Borders(const ir::Graph& graph, const Partition& partition)
      : graph_(graph), partition_(partition), on_device_(graph.node_slots(), false) {
    for (const Region& r : partition.regions) {
      for (const Layer& l : r.layers)
        for (ir::NodeId n : l.nodes) on_device_[n.index()] = true;
      stored_.push_back(channels_last(graph, r));
      for (ir::ValueId v : r.inputs) read_.emplace(v, form(r, stored_.back(), v));
    }
  }

  std::vector<Crossing> run() {
    for (const Step& s : partition_.steps)
      if (s.kind == Step::Kind::Region) add_region(partition_.regions[s.region], stored_[s.region]);
    return std::move(out_);
  }

 private:
  DeviceForm form(const Region& r, const std::set<ir::ValueId>& last, ir::ValueId v) const {
    const TensorType& type = graph_.value(v).type;
    const auto asked = r.precisions.find(v);
    const bool wide = asked != r.precisions.end() && asked->second.kind == Precision::Kind::Pair;
    return {v, (type.elem == ElementType::F16) == wide, last.contains(v) && moves_channels(type.shape)};
  }

  void add_region(const Region& r, const std::set<ir::ValueId>& last) {
    for (ir::ValueId v : r.inputs) {
      const DeviceForm f = form(r, last, v);
      if (there_.insert(f).second && !f.as_on_host()) out_.push_back({r.id, v, true, f.casts, f.permutes});
    }
    for (ir::ValueId v : r.outputs) {
      const DeviceForm f = form(r, last, v);
      there_.insert(f);
      if (!f.as_on_host() && (host_needs(v) || read_otherwise(f)))
        out_.push_back({r.id, v, false, f.casts, f.permutes});
    }
  }

  bool host_needs(ir::ValueId v) const {
    return graph_.is_output(v) || std::ranges::any_of(graph_.value(v).users, [&](ir::NodeId user) {
             return !on_device_[user.index()];
           });
  }

  // Does another region take the value in another form?
  bool read_otherwise(const DeviceForm& made) const {
    const auto [first, last] = read_.equal_range(made.value);
    return std::any_of(first, last, [&](const auto& read) { return read.second != made; });
  }

  const ir::Graph& graph_;
  const Partition& partition_;
  std::vector<bool> on_device_;                // by node
  std::vector<std::set<ir::ValueId>> stored_;  // by region: channels last
  std::multimap<ir::ValueId, DeviceForm> read_;
  std::set<DeviceForm> there_;  // what the device has by now
  std::vector<Crossing> out_;
};

}  // namespace

bool moves_channels(const Shape& shape) {
  if (shape.size() < 3 || shape[1] == 1) return false;
  return std::any_of(shape.begin() + 2, shape.end(), [](int64_t d) { return d != 1; });
}

std::vector<Crossing> crossings(const ir::Graph& graph, const Partition& partition) {
  return Borders(graph, partition).run();
}

}  // namespace mrvlc::partition
