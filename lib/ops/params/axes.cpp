// Axes: negative ones, and those that a reduction reduces.
#include <algorithm>
#include <numeric>

#include "common/infer_util.h"
#include "mrvlc/support/diag/ops.h"

namespace mrvlc::ops {

Result<int64_t> normalize_axis(int64_t axis, int64_t rank) {
  if (axis < -rank || axis >= rank) return make_diag<DiagCode::MRV0206>(axis, rank);
  return axis < 0 ? axis + rank : axis;
}

Result<std::vector<int64_t>> reduce_axes(const InferContext& context) {
  int64_t rank = context.type(0).rank();
  std::vector<int64_t> axes;
  // An empty list that is statically empty needs no values.
  if (context.has(1) && context.type(1).elements() != 0) {
    MRVLC_ASSIGN(axes, known_ints(context, 1, "axes", kMaxRank));
    MRVLC_ASSIGN(axes, normalize_axes(axes, rank));
    std::sort(axes.begin(), axes.end());
  } else if (context.int_attr("noop_with_empty_axes") == 0) {
    axes.resize(at(rank));
    std::iota(axes.begin(), axes.end(), int64_t{0});
  }
  return axes;
}

}  // namespace mrvlc::ops
