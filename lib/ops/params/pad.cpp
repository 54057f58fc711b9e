// Pad's operands and attributes as one form.
#include <algorithm>

#include "common/infer_util.h"
#include "mrvlc/ops/work.h"

namespace mrvlc::ops {
namespace {

Status check_padding(const PadParams& p, const Shape& shape, size_t d) {
  for (int64_t v : {p.begin[d], p.end[d]}) {
    if (v > kMaxElements) return too_large();
    if (v < -kMaxElements) return bad_operands(fmt::format("a padding of {}", v));
  }
  int64_t kept = shape[d] + std::min<int64_t>(p.begin[d], 0) + std::min<int64_t>(p.end[d], 0);
  if (kept < 0)
    return bad_operands(
        fmt::format("negative padding removes more than the {} of dimension {}", shape[d], d));
  if (kept == 0 && p.mode != "constant" && (p.begin[d] > 0 || p.end[d] > 0)) {
    return bad_operands(fmt::format("dimension {} is empty; there is nothing to pad it with", d));
  }
  return {};
}

// Position within n kept elements that stands for position i outside or inside of them.
int64_t mirrored(const std::string& mode, int64_t i, int64_t n) {
  if (mode == "edge") return std::clamp<int64_t>(i, 0, n - 1);
  if (mode == "wrap") return (i % n + n) % n;
  if (n == 1) return 0;
  const int64_t period = 2 * (n - 1), k = (i % period + period) % period;
  return k < n ? k : period - k;
}

}  // namespace

int64_t PadParams::source(size_t d, int64_t o, int64_t size) const {
  const int64_t crop = std::max<int64_t>(-begin[d], 0), kept = size - crop + std::min<int64_t>(end[d], 0);
  const int64_t i = o - std::max<int64_t>(begin[d], 0);
  if (mode == "constant" && (i < 0 || i >= kept)) return -1;
  return crop + (mode == "constant" ? i : mirrored(mode, i, kept));
}

Result<PadParams> pad_params(const InferContext& context) {
  size_t rank = context.type(0).shape.size();
  PadParams p;
  p.mode = context.string_attr("mode");
  if (p.mode != "constant" && p.mode != "reflect" && p.mode != "edge" && p.mode != "wrap") {
    return bad_attr("mode", fmt::format("has the unknown value '{}'", printable(p.mode)));
  }
  MRVLC_ASSIGN(auto pads, known_ints(context, 1, "pads", 2 * kMaxRank));
  std::vector<int64_t> axes(rank);
  for (size_t i = 0; i < rank; ++i) axes[i] = static_cast<int64_t>(i);
  if (context.has(3)) {
    MRVLC_ASSIGN(axes, known_ints(context, 3, "axes", kMaxRank));
    MRVLC_ASSIGN(axes, normalize_axes(axes, context.type(0).rank()));
  }
  if (pads.size() != 2 * axes.size()) {
    return bad_operands(fmt::format("{} pads for {} axes", pads.size(), axes.size()));
  }
  p.begin.assign(rank, 0);
  p.end.assign(rank, 0);
  for (size_t i = 0; i < axes.size(); ++i) {
    p.begin[at(axes[i])] = pads[i];
    p.end[at(axes[i])] = pads[i + axes.size()];
  }
  for (size_t d = 0; d < rank; ++d) MRVLC_TRY(check_padding(p, context.type(0).shape, d));
  if (const Tensor* value = context.constant(2); value != nullptr && value->elements() == 1)
    p.value = value->as_double(0);
  return p;
}

}  // namespace mrvlc::ops
