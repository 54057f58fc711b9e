// Partition by cost: what a partition is expected to take, and what is needed to say so.
#pragma once
#include <functional>
#include <optional>

#include "mrvlc/partition/crossings.h"
#include "mrvlc/partition/host_model.h"

namespace mrvlc::partition {

// Of one partition, found while looking for the best.
struct Costs {
  HostModel host;
  // Seconds of a region on the accelerator, without launch and borders, where somebody compiles it to know;
  // nullopt: it cannot be compiled. Asked for the few partitions that are left in the end.
  std::function<std::optional<double>(const ir::Graph&, const Region&)> measured;
  // Says which values a region would keep more exactly (Region::precisions). Null: none. Estimates from
  // shapes do not know what that takes, so `measured` is asked for the greedy partition first, and layers are
  // taken to cost as many times their estimate as their region there does.
  std::function<void(const ir::Graph&, Region&)> keep = {};
};

// A value of so many elements rewritten at the border of a region, in seconds of the host.
double crossing_seconds(const HostModel& host, const Crossing& crossing, int64_t elements);

// Seconds of the parts of a partition, in the order they have there.
struct Times {
  struct OfRegion {
    double accelerator = 0, launch = 0, borders = 0;
    double all() const { return accelerator + launch + borders; }
  };
  double host = 0;            // the sum of `nodes`
  std::vector<double> nodes;  // by node id; 0 on the accelerator
  std::vector<OfRegion> regions;
  double seconds() const;
};
// Host seconds of every live node, by id.
std::vector<double> node_seconds(const ir::Graph& graph, const HostModel& host);
// `nodes` as above, of all nodes; `borders`: what the host rewrites; `accelerator` gives the seconds of a
// region alone.
Times estimate(const ir::Graph& graph, const Partition& partition, const Accelerator& target,
               const HostModel& host, const std::vector<double>& nodes, const std::vector<Crossing>& borders,
               const std::function<double(const Region&)>& accelerator);

}  // namespace mrvlc::partition
