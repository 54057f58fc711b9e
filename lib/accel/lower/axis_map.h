// Moves described one dimension at a time: output index -> input index. Padding, slicing, tiling, nearest
// resizing and linear interpolation are all of this kind; they become a few strided copies.
#pragma once
#include "lower/lowering.h"

namespace mrvlc::accel {

inline constexpr int64_t kFill = -1;  // no source: the fill value

// output o = (1 - w) * input low + w * input high; a plain move has w = 0.
struct Source {
  int64_t low = 0, high = 0;
  float weight = 0;
  bool operator==(const Source&) const = default;
};

// Outputs start, start + step, ... (count of them), whose sources advance evenly.
struct AxisRun {
  int64_t start = 0, step = 1, count = 1;
  Source first;
  int64_t low_step = 0, high_step = 0;
};

// Few runs that cover all outputs.
std::vector<AxisRun> runs_of(const std::vector<Source>& map);
std::vector<Source> identity_map(int64_t size);

// to[i] = from[maps[0][i0]][maps[1][i1]]..., or `fill_value` where any map says kFill. Weights must be 0.
void copy_mapped(Lowering& lowering, const View& from, const View& to,
                 const std::vector<std::vector<Source>>& maps, float fill_value, ir::NodeId expr);
// Interpolates along one dimension; the others are equal.
Status interpolate(Lowering& lowering, const View& from, const View& to, size_t dim,
                   const std::vector<Source>& map, ir::NodeId expr);

}  // namespace mrvlc::accel
