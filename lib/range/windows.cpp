// Pools and resizing: what lies between the elements that a window sees.
#include "mrvlc/ops/op_kind.h"
#include "mrvlc/ops/params.h"
#include "transfer.h"

namespace mrvlc::range {
namespace {

// Every window along each dimension has an element; and whether one has taps outside, too.
struct Cover {
  bool every = true, outside = false;
};

void look_along(const ops::WindowParams& p, size_t d, Cover& cover) {
  for (int64_t i = 0; i < p.output[d]; ++i) {
    int64_t inside = 0;
    for (int64_t k = 0; k < p.kernel[d]; ++k) {
      const int64_t at = i * p.strides[d] - p.pads_begin[d] + k * p.dilations[d];
      inside += at >= 0 && at < p.input[d] ? 1 : 0;
    }
    cover.every = cover.every && inside > 0;
    cover.outside = cover.outside || inside < p.kernel[d];
  }
}

constexpr int64_t kMostTaps = int64_t{1} << 20;  // of a dimension: beyond, nothing is known

// Channels of dimension 1, if it is these that are told apart.
Range channels(const Operands& o) {
  const Range r = o.range(0);
  return r.by_channel() && r.axis != 1 ? Range(r.hull()) : r;
}

Outcome pool(const Operands& o) {
  if (!o.sized() || o.output() != 0) return {kUnknown};
  const auto p = ops::pool_params(ops::infer_context(o.graph(), o.node()));
  if (!p.ok()) return {kUnknown};
  Cover cover;
  for (size_t d = 0; d < p->output.size(); ++d) {
    if (p->output[d] > kMostTaps / std::max<int64_t>(1, p->kernel[d])) return {kUnknown};
    look_along(*p, d, cover);
  }
  if (!cover.every) return {kUnknown};
  if (p->is_max) return {channels(o), true};
  double terms = 1;
  for (int64_t k : p->kernel) terms *= static_cast<double>(k);
  return {each(channels(o), [&](Interval i) {
    if (p->count_include_pad && cover.outside) i = hull(i, point(0));
    const Interval sum = summed({terms * i.low, terms * i.high}, terms, terms * i.max_abs(), i.low >= 0);
    return Interval{sum.low / terms, sum.high / terms};
  })};
}

// Nearest takes elements, linear is between two, each dimension on its own.
Outcome resize(const Operands& o) {
  if (!o.sized()) return {kUnknown};
  const auto p = ops::resize_params(ops::infer_context(o.graph(), o.node()));
  if (!p.ok() || (p->mode != "nearest" && p->mode != "linear")) return {kUnknown};
  Range r = o.range(0);
  const auto axis = static_cast<size_t>(r.axis);
  const bool stays = axis < p->output.size() && p->is_identity(axis, o.type(0).shape[axis]);
  if (r.by_channel() && !stays) r = r.hull();
  const bool outside = p->coordinate_mode == "tf_crop_and_resize";
  return {each(r,
               [&](const Interval& i) {
                 const Interval all = outside ? hull(i, point(p->extrapolation)) : i;
                 // a + (b - a) w: off by some units of the larger.
                 return p->mode == "nearest" ? all : summed(all, 8, all.max_abs(), all.low >= 0);
               }),
          p->mode == "nearest"};
}

}  // namespace

void add_windows(Table& t) {
  for (Op op : {Op::MaxPool, Op::AveragePool, Op::GlobalMaxPool, Op::GlobalAveragePool}) t[op] = pool;
  for (Op op : {Op::Resize, Op::Upsample}) t[op] = resize;
}

}  // namespace mrvlc::range
