// Operators that move elements: results lie in the hull of what they are taken from, and channels stay apart
// where the dimension that tells them apart is moved as a whole.
#include "mrvlc/ops/attributes.h"
#include "mrvlc/ops/op_kind.h"
#include "mrvlc/ops/params.h"
#include "transfer.h"

namespace mrvlc::range {
namespace {

// The elements' order is the same: the dimension is there again, or every channel became several.
std::optional<Range> same_order(const Range& r, const Shape& from, const Shape& to) {
  const auto axis = static_cast<size_t>(r.axis);
  int64_t before = 1, inner = 1;
  for (size_t d = 0; d < axis; ++d) before *= from[d];
  for (size_t d = axis + 1; d < from.size(); ++d) inner *= from[d];
  int64_t passed = 1;
  for (size_t d = 0; d < to.size(); passed *= to[d++]) {
    if (passed != before || to[d] == 1) continue;
    if (to[d] == from[axis]) return Range(r.channels, static_cast<int64_t>(d));
    if (to[d] != from[axis] * inner || to[d] > 65536) return std::nullopt;
    Range out({}, static_cast<int64_t>(d));
    for (const Interval& i : r.channels)
      out.channels.insert(out.channels.end(), static_cast<size_t>(inner), i);
    return out;
  }
  return std::nullopt;
}

Range transposed(const Operands& o) {
  Range r = o.range(0);
  const std::vector<int64_t>& perm = ops::attr::perm(o.node());
  const auto at = std::ranges::find(perm, r.axis);
  r.axis = perm.empty() ? o.type(0).rank() - 1 - r.axis : at - perm.begin();
  return r;
}

std::optional<Range> joined(const Operands& o) {  // Concat
  const auto axis = ops::normalize_axis(ops::attr::axis(o.node()), o.result().rank());
  if (!axis.ok() || o.result().shape[static_cast<size_t>(*axis)] > kMostChannels) return std::nullopt;
  Range out({}, *axis);
  for (size_t i = 0; i < o.size(); ++i) {
    std::vector<Interval> own = o.along(i, *axis);
    if (own.size() == 1) own.resize(static_cast<size_t>(o.type(i).shape[static_cast<size_t>(*axis)]), own[0]);
    out.channels.insert(out.channels.end(), own.begin(), own.end());
  }
  if (static_cast<int64_t>(out.channels.size()) == o.result().shape[static_cast<size_t>(*axis)]) return out;
  return std::nullopt;
}

// Concat along another dimension than that of the channels: channel by channel.
std::optional<Range> beside(const Operands& o) {
  const auto axis = ops::normalize_axis(ops::attr::axis(o.node()), o.result().rank());
  if (!axis.ok()) return std::nullopt;
  for (size_t i = 0; i < o.size(); ++i) {
    if (!o.range(i).by_channel() || o.range(i).axis == *axis) continue;
    Range out = o.range(i);
    for (size_t k = 0; k < o.size(); ++k) {
      const std::vector<Interval> other = o.along(k, out.axis);
      for (size_t c = 0; c < out.channels.size(); ++c) out.channels[c] = hull(out.channels[c], at(other, c));
    }
    return out;
  }
  return std::nullopt;
}

// Channels [first, first + n) of the operand's.
Range part(const Range& r, int64_t first, int64_t n) {
  if (first < 0 || first + n > static_cast<int64_t>(r.channels.size())) return r.hull();
  return {std::vector<Interval>(r.channels.begin() + first, r.channels.begin() + first + n), r.axis};
}

Range split(const Operands& o) {
  const Range r = o.range(0);
  const auto axis = ops::normalize_axis(ops::attr::axis(o.node()), o.type(0).rank());
  if (!axis.ok()) return r.hull();
  if (r.axis != *axis) return r;
  int64_t first = 0;
  for (size_t i = 0; i < o.output(); ++i)
    first += o.graph().value(o.node().outputs[i]).type.shape[static_cast<size_t>(*axis)];
  return part(r, first, o.result().shape[static_cast<size_t>(*axis)]);
}

Range sliced(const Operands& o) {
  const Range r = o.range(0);
  const auto p = ops::slice_params(ops::infer_context(o.graph(), o.node()));
  if (!p.ok() || p->step[static_cast<size_t>(r.axis)] != 1) return r.hull();
  return part(r, p->start[static_cast<size_t>(r.axis)], p->size[static_cast<size_t>(r.axis)]);
}

Range padded(const Operands& o) {
  const auto p = ops::pad_params(ops::infer_context(o.graph(), o.node()));
  const Interval all = o.hull(0);
  if (!p.ok()) return {};
  const Interval filled = p->mode == "constant" ? point(p->value) : all;
  const Range r = o.range(0);
  const auto axis = static_cast<size_t>(r.axis);
  if (!r.by_channel() || p->begin[axis] != 0 || p->end[axis] != 0) return hull(all, filled);
  return p->mode == "constant" ? each(r, [&](const Interval& i) { return hull(i, filled); }) : r;
}

// With channels told apart; nullopt: the hull of all operands will do.
std::optional<Range> by_channel(const Operands& o) {
  if (!o.sized() || !o.has(0)) return std::nullopt;
  const ir::Node& n = o.node();
  if (n.is(Op::Pad)) return padded(o);
  if (n.is(Op::Concat)) {
    if (auto r = beside(o)) return r;
    return joined(o);
  }
  if (!o.range(0).by_channel()) return std::nullopt;
  if (ops::traits(n).moves == ops::Moves::Same)
    return same_order(o.range(0), o.type(0).shape, o.result().shape);
  if (n.is(Op::Transpose)) return transposed(o);
  if (n.is(Op::Split)) return split(o);
  if (n.is(Op::Slice)) return sliced(o);
  if (n.is(Op::Expand) && o.type(0).rank() == o.result().rank() &&
      o.result().shape[static_cast<size_t>(o.range(0).axis)] ==
          static_cast<int64_t>(o.range(0).channels.size()))
    return o.range(0);
  return std::nullopt;
}

// Besides elements of operands there may be zeros.
bool fills(const ir::Node& n) {
  return ops::traits(n).moves == ops::Moves::Copied &&
         !n.is(Op::Expand, Op::Tile, Op::Gather, Op::GatherElements, Op::GatherND);
}

}  // namespace

std::optional<Outcome> moved(const Operands& o) {
  if (ops::traits(o.node()).moves == ops::Moves::None || !o.has(0)) return std::nullopt;
  if (o.type(0).wrapper != Wrapper::None || o.type(0).elem != o.result().elem) return std::nullopt;
  if (auto r = by_channel(o)) return Outcome{*std::move(r), true};
  Interval all = fills(o.node()) ? point(0) : o.hull(0);
  for (size_t i = 0; i < o.size(); ++i)
    if (o.has(i) && o.type(i).elem == o.result().elem) all = hull(all, o.hull(i));
  return Outcome{all, true};
}

}  // namespace mrvlc::range
