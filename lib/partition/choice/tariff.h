// Costs that add up, known before regions are formed: of nodes, of offers, and of values that are handed
// over, each at least as low as in any partition that is formed. So their least sum is a bound.
#pragma once
#include "choice/offers.h"
#include "mrvlc/partition/costs.h"

namespace mrvlc::partition {

// A value's side: the host's memory, or accelerators, as Layer::accelerator counts them.
inline constexpr uint8_t kHostSide = 255;
inline constexpr uint8_t kAnySide = 254;  // of several: reading it takes nothing
inline constexpr size_t kMostSides = 8;   // accelerators

// What has happened to a value on its way to those that read it.
struct Handed {
  uint8_t side = kHostSide;  // where it was made
  bool there = false;        // a device has it in the form of devices
  bool back = false;         // the host has it in its own
  bool out = false;          // its region hands it out
  uint8_t read = 0;          // accelerators that take it in, a bit each
};

class Tariff {
 public:
  Tariff(const Placement& placement, const Offers& offers, const Costs& costs);

  double host(size_t rank) const { return host_[rank]; }
  double own(uint32_t offer) const { return own_[offer]; }
  double region(uint8_t side) const { return sides_[side].region; }
  // Where a node may be: the host is not asked where --accel names the node and somebody takes it.
  bool may_stay(size_t rank) const { return may_stay_[rank]; }
  // At least what the node takes, whoever computes it.
  double least(size_t rank) const { return least_[rank]; }
  uint8_t side_of(uint32_t choice) const;

  // A value has been made, or is an input; `at_host`: it is a result of the model.
  double made(ir::ValueId value, uint8_t side, bool at_host, Handed& state) const;
  // What reading it on `side` adds.
  double read(ir::ValueId value, uint8_t side, Handed& state) const;

 private:
  struct Side {
    double region = 0;           // a launch, and what a region takes that hands over nothing
    std::vector<double> border;  // by value: as an input or result of a region
    std::vector<bool> casts;     // by value: in another type than on the host
  };
  void price_values(const Placement& p, const Costs& costs);
  void price_side(const Placement& p, const Offers& offers, const Costs& costs, uint8_t side);
  void price_nodes(const Placement& p, const Offers& offers);

  const Offers& offers_;
  std::vector<double> host_, own_, least_;
  std::vector<bool> may_stay_;
  std::vector<double> to_device_, from_device_;  // by value: cast, at least
  std::vector<Side> sides_;
};

}  // namespace mrvlc::partition
