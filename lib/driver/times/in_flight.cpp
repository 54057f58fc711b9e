// What is saved by two runs at once. While the device computes a region of run n, the CPU does what comes
// behind that region in run n - 1, up to the next region; and if the region is the last one, what comes
// before the first region in run n + 1. All else stays one after the other.
#include "times/in_flight.h"

#include <algorithm>

#include "mrvlc/partition/costs.h"
#include "times/expected_times.h"

namespace mrvlc::driver {
namespace {

// A region in order of the work, its time on the device, and the time of the CPU that may go by meanwhile.
struct Overlap {
  uint32_t region = 0;
  double device = 0, host = 0;
  double saved() const { return std::min(device, host); }
};

class Overlaps {
 public:
  Overlaps(const ProbedModel& m, const std::vector<chost::Conversion>& conversions)
      : m_(m), conversions_(conversions), nodes_(node_seconds(m.model.graph, m.inputs.host_model)) {
    time_calls(m.partition.calls, nodes_);
    double first = 0;
    for (const partition::Step& s : m.partition.steps) {
      if (s.kind != partition::Step::Kind::Region) {
        for (ir::NodeId node : nodes_of(s, m.partition)) host(first) += nodes_[node.index()];
        continue;
      }
      const uint32_t id = m.partition.regions[s.region].id;
      host(first) += borders(id, true);
      all_.push_back({id, region_seconds(m, id), borders(id, false)});
    }
    if (!all_.empty()) all_.back().host += first;
  }
  const std::vector<Overlap>& all() const { return all_; }

 private:
  // Of what runs now: it counts for the region before it.
  double& host(double& first) { return all_.empty() ? first : all_.back().host; }

  double borders(uint32_t region, bool to_device) const {
    double seconds = 0;
    for (const chost::Conversion& c : conversions_)
      if (c.region == region && c.to_device == to_device)
        seconds += crossing_seconds(m_.inputs.host_model, c, c.elements);
    return seconds;
  }

  const ProbedModel& m_;
  const std::vector<chost::Conversion>& conversions_;
  std::vector<double> nodes_;
  std::vector<Overlap> all_;
};

}  // namespace

std::optional<uint32_t> region_to_submit(const ProbedModel& m,
                                         const std::vector<chost::Conversion>& conversions) {
  const Overlaps overlaps(m, conversions);
  const Overlap* best = nullptr;
  for (const Overlap& o : overlaps.all()) {
    if (o.device == 0) return std::nullopt;
    if (best == nullptr || o.saved() >= best->saved()) best = &o;
  }
  return best == nullptr ? std::nullopt : std::optional(best->region);
}

std::optional<ReportedInFlight> expected_in_flight(const CompiledModel& m, const ExpectedTime& expected,
                                                   double batch) {
  if (!expected.device || !m.host.submitted_region || *expected.device <= 0) return std::nullopt;
  const Overlaps overlaps(m, m.host.conversions);
  const auto at = std::ranges::find(overlaps.all(), *m.host.submitted_region, &Overlap::region);
  if (at == overlaps.all().end()) return std::nullopt;
  ReportedInFlight out;
  out.region = at->region;
  out.seconds = std::max(expected.seconds - at->saved(), *expected.device);
  out.inferences_per_second = batch / out.seconds;
  out.inferences_per_second_device = batch / *expected.device;
  out.bound_by = at->device >= at->host ? "device" : "host";
  return out;
}

}  // namespace mrvlc::driver
