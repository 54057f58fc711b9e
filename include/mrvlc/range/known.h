// What is known of the magnitudes of values, and how: proved from stated ranges (range.h), or seen in data.
#pragma once
#include <optional>
#include <string_view>

#include "mrvlc/range/range.h"

namespace mrvlc::range {

inline constexpr double kFp16Most = 65504;

// Proved: no input inside the stated ranges gives anything else. Observed: calibration data gave nothing
// else.
enum class How : uint8_t { Unknown, Observed, Proved };
std::string_view word(How how);

struct Known {
  How how = How::Unknown;
  Interval range;  // of Unknown without an end, or with one alone

  double max_abs() const { return range.max_abs(); }
  bool fits_fp16() const { return how != How::Unknown && max_abs() <= kFp16Most; }
};

// Of the graph that it is made of, as it was then.
class Knowledge {
 public:
  Knowledge() = default;
  Knowledge(const ir::Graph& graph, const Stated& stated, std::map<ir::ValueId, Interval> observed)
      : ranges_(graph, stated), observed_(std::move(observed)) {}

  // What is proved where that fits fp16; else what was observed, as bounds of long sums are far from what
  // data reach; else what is proved.
  Known of(const ir::Graph& graph, ir::ValueId value) const;
  // Unbounded: nothing is proved.
  Interval proved(const ir::Graph& graph, ir::ValueId value) const;

 private:
  Ranges ranges_;
  std::map<ir::ValueId, Interval> observed_;
};

}  // namespace mrvlc::range
