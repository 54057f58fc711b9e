#include <algorithm>

#include "mrvlc/ops/params.h"

namespace mrvlc::ops {

Result<int64_t> normalize_axis(int64_t axis, int64_t rank) {
  if (axis < -rank || axis >= rank) return make_diag<DiagCode::MRV0206>(axis, rank);
  return axis < 0 ? axis + rank : axis;
}

}  // namespace mrvlc::ops
