// When the DDR channel brings what: an estimate of how the machine will walk through the steps.
#pragma once
#include "place/allocation.h"

namespace mrvlc::accel {

// DDR brings what is needed in order of use, a limited way ahead. What would come too late is brought long
// before, in time that DDR has left and memory that nobody else wants: such an item gets its place here, the
// others their earliest step.
class DdrTimeline {
 public:
  DdrTimeline(TileProgram& program, const target::Machine& machine, Allocation& allocation);
  // Items with loads, by first use.
  const std::vector<uint32_t>& fetches() const { return sorted_; }
  // Sets `start` of fetched items, `load_steps` and `address` of those that come long before.
  void run();
  // Of the whole program, the last store included.
  double cycles() const;

 private:
  void fetch_ahead(size_t step);
  double arrived(size_t step);
  void ask(size_t step);
  void stream_ahead(size_t step);
  bool early(Item& item);
  std::optional<std::vector<int64_t>> idle_steps(const Item& item,
                                                 std::vector<std::pair<double, double>>& idle) const;
  double latency() const;
  double load_cycles(const Load& load) const;
  double fetch_cycles(const Item& item) const;
  double arrival(const Item& item, double start, double cycles) const;
  int64_t step_at(double time, int64_t before) const;

  TileProgram& p_;
  const target::Machine& m_;
  Allocation& a_;
  std::vector<uint32_t> sorted_;
  std::vector<double> begin_, work_;             // of each step: estimated begin; engine cycles before it
  std::vector<std::pair<double, double>> idle_;  // of DDR
  std::vector<std::pair<int64_t, double>> arrivals_;  // step, and when what it needs has come
  size_t fetched_ = 0, next_ = 0;                     // in sorted_, in arrivals_
  int64_t flying_ = 0;                                // bytes of a tile fetched and not used up
  std::vector<int64_t> freed_;                        // of them, by the step that ends their use
  double ddr_ = 0;                                    // DDR is free from then on
  double streamed_ = 0;                               // what the next step streams has come
};

}  // namespace mrvlc::accel
