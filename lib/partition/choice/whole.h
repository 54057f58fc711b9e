// What a choice is expected to take as a whole, with the regions that come about: what the report adds up,
// but for regions from shapes instead of cycles.
#pragma once
#include <map>

#include "choice/tariff.h"

namespace mrvlc::partition {

class Whole {
 public:
  Whole(const Placement& placement, const Offers& offers, const Tariff& tariff, const Costs& costs);

  // Infinite where a node is on the host that may not be.
  double seconds(const Choice& choice);
  // With regions as Costs::measured times them; nullopt: one cannot be compiled.
  std::optional<double> measured(const Choice& choice);
  // Layers and calls of the choice in `placement`, whose own are gone.
  void place(const Choice& choice, Placement& placement) const;
  Partition regions_of(const Choice& choice);
  // How many choices were timed.
  size_t asked() const { return asked_; }

 private:
  double estimated(const Choice& choice, const std::function<double(const Region&)>& of_region);
  double from_shapes(const Region& region) const;
  std::optional<double> timed(const Region& region);

  const Offers& offers_;
  const Tariff& tariff_;
  const Costs& costs_;
  Placement scratch_;  // without what is only said of nodes
  std::vector<double> nodes_;
  std::map<std::pair<uint32_t, std::vector<ir::NodeId>>, double> of_layer_;  // by accelerator and nodes
  std::map<std::pair<uint32_t, std::vector<ir::NodeId>>, std::optional<double>> timed_;  // of regions
  size_t asked_ = 0;
};

// What a choice has in common with others that differ in nothing that is done.
inline bool same_seconds(double a, double b) {
  return std::max(a, b) - std::min(a, b) <= 1e-9 * std::max(a, b);
}

}  // namespace mrvlc::partition
