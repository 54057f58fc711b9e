// What the values of a graph can be: interval analysis, by channel where that is cheap, from the ranges of
// inputs that are stated, from constants, and from what operators make whatever they are given (Sigmoid,
// Clip, Softmax, integers). Sound for the reference interpreter and for any other implementation that rounds
// each operation of its own to float32, sums in any order: ends are rounded outward.
#pragma once
#include <map>
#include <vector>

#include "mrvlc/ir/graph.h"
#include "mrvlc/range/interval.h"

namespace mrvlc::range {

// Of one value. One interval for all of its elements, or one for each index along a dimension.
struct Range {
  std::vector<Interval> channels = {Interval{}};
  int64_t axis = 0;  // of these

  Range() = default;
  Range(Interval all) : channels{all} {}  // NOLINT: an interval is meant to convert
  Range(std::vector<Interval> by_channel, int64_t along) : channels(std::move(by_channel)), axis(along) {}

  bool by_channel() const { return channels.size() > 1; }
  Interval hull() const;
};

// By position in graph.inputs(): every element of the input lies there.
using Stated = std::map<size_t, Interval>;

// Values of one graph, as it is when they are made; nothing is known of those that come later.
class Ranges {
 public:
  Ranges() = default;
  Ranges(const ir::Graph& graph, const Stated& stated);

  // Every element that is not NaN lies there; where all values that it is made of are bounded, none is NaN.
  const Range& range(ir::ValueId value) const;
  Interval of(ir::ValueId value) const { return range(value).hull(); }

 private:
  std::vector<Range> ranges_;  // by value
};

}  // namespace mrvlc::range
