// Choices made node by node, with what they add to the costs that add up.
#pragma once
#include <array>

#include "choice/tariff.h"

namespace mrvlc::partition {

// A choice for the first nodes, as far as it matters for the others.
struct Progress {
  struct Live {
    Handed handed;
    std::array<uint8_t, kMostSides> runs{};  // regions of each accelerator, at least, on a way to the value
  };
  std::vector<Live> live;                              // of values that are still read
  std::vector<std::pair<uint32_t, uint32_t>> claimed;  // ranks of nodes to come with their offers, in order
  std::array<uint8_t, kMostSides> runs{};              // regions of each accelerator, at least
  double seconds = 0;
};

class Walk {
 public:
  Walk(const Placement& placement, const Offers& offers, const Tariff& tariff);

  size_t steps() const { return steps_.size(); }
  size_t width() const { return width_; }  // most values that are live at a time
  Progress begin() const;
  // What may be chosen of a node: offers, kOnHost last. Of one that is claimed, that offer alone.
  std::vector<uint32_t> choices(const Progress& at, size_t rank) const;
  Progress step(const Progress& at, size_t rank, uint32_t choice) const;
  // The least that the nodes from `rank` on add.
  double rest(const Progress& at, size_t rank) const;
  // Equal where the rest of the graph is the same to them.
  static std::string key(const Progress& at);
  // Equal where the same nodes are claimed; and, unless `coarse`, values were made on the same sides.
  static std::string outline(const Progress& at, bool coarse);
  // One that takes no more than either, from here on.
  static void join(const Progress& other, Progress& at);

 private:
  struct Input {
    uint32_t place = 0;  // in Progress::live
    ir::ValueId value;
  };
  struct Step {
    std::vector<Input> inputs;
    std::vector<ir::ValueId> outputs;  // that are read later
    std::vector<ir::ValueId> results;  // of the model, that are not
    std::vector<uint32_t> kept;        // places of live values that are still read behind it
  };
  void read_inputs(const Step& step, uint32_t choice, Progress& now, Progress::Live& made) const;
  void add_steps();
  bool inside(uint32_t choice, ir::ValueId value) const;

  const Placement& p_;
  const Offers& offers_;
  const Tariff& tariff_;
  std::vector<Step> steps_;
  std::vector<ir::ValueId> first_;  // values that are live before the first node
  std::vector<double> rest_;        // by rank
  size_t width_ = 0;
};

}  // namespace mrvlc::partition
