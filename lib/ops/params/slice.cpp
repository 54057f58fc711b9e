// Slice's operands as starts, steps and counts within the shape.
#include <algorithm>

#include "common/infer_util.h"

namespace mrvlc::ops {
namespace {

// Python's slice.indices for one dimension (ONNX Slice-13).
void resolve(int64_t dim, int64_t start, int64_t end, int64_t step, SliceParams& p, size_t d) {
  // No step moves further than the dimension does; this also keeps -INT64_MIN out of the arithmetic.
  step = std::clamp<int64_t>(step, -kMaxElements - 1, kMaxElements + 1);
  auto from_end = [dim](int64_t v) { return v < 0 ? std::max<int64_t>(v, -kMaxElements - 1) + dim : v; };
  int64_t low = step > 0 ? 0 : -1, high = step > 0 ? dim : dim - 1;
  start = std::clamp(from_end(start), low, high);
  end = std::clamp(from_end(end), low, high);
  // ONNX differs from Python here: with a negative step a start before the beginning becomes element 0.
  if (step < 0 && dim > 0) start = std::max<int64_t>(start, 0);
  int64_t span = step > 0 ? end - start : start - end;
  p.size[d] = span <= 0 ? 0 : ceil_div(span, step > 0 ? step : -step);
  p.start[d] = p.size[d] == 0 ? 0 : start;
  p.step[d] = step;
}

}  // namespace

Result<SliceParams> slice_params(const InferContext& context) {
  const Shape& shape = context.type(0).shape;
  int64_t rank = context.type(0).rank();
  MRVLC_ASSIGN(auto starts, known_ints(context, 1, "starts", kMaxRank));
  MRVLC_ASSIGN(auto ends, known_ints(context, 2, "ends", kMaxRank));
  std::vector<int64_t> axes(starts.size()), steps(starts.size(), 1);
  for (size_t i = 0; i < axes.size(); ++i) axes[i] = static_cast<int64_t>(i);
  if (context.has(3)) {
    MRVLC_ASSIGN(axes, known_ints(context, 3, "axes", kMaxRank));
  }
  if (context.has(4)) {
    MRVLC_ASSIGN(steps, known_ints(context, 4, "steps", kMaxRank));
  }
  if (ends.size() != starts.size() || axes.size() != starts.size() || steps.size() != starts.size()) {
    return bad_operands(fmt::format("{} starts, {} ends, {} axes and {} steps", starts.size(), ends.size(),
                                    axes.size(), steps.size()));
  }
  MRVLC_ASSIGN(axes, normalize_axes(axes, rank));
  SliceParams p{Shape(at(rank), 0), Shape(at(rank), 1), shape};
  for (size_t i = 0; i < axes.size(); ++i) {
    if (steps[i] == 0) return bad_operands("a step is 0");
    MRVLC_TRY(check_dim(shape[at(axes[i])], "the sliced dimension"));
    resolve(shape[at(axes[i])], starts[i], ends[i], steps[i], p, at(axes[i]));
  }
  return p;
}

}  // namespace mrvlc::ops
