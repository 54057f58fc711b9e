// Counts tensors and bytes, and finds the largest rounding.
#include "output/half_weights.h"

#include <algorithm>
#include <cmath>

#include "mrvlc/idmap/idmap.h"
#include "mrvlc/support/diag/chost.h"
#include "mrvlc/support/diag/general.h"

namespace mrvlc::driver {
namespace {

struct HalfTotals {
  int64_t tensors = 0, kept = 0, zeros = 0;
  const chost::HalfWeights* worst = nullptr;  // the largest error; null: nothing was lost
};

HalfTotals totals_of(const std::vector<chost::HalfWeights>& all) {
  HalfTotals t;
  for (const chost::HalfWeights& h : all) {
    ++(h.kept ? t.kept : t.tensors);
    t.zeros += h.zeros;
    if (h.error > (t.worst == nullptr ? 0 : t.worst->error)) t.worst = &h;
  }
  return t;
}

// "; at most 4.9e-04 of a tensor's largest weight was lost ('fc'), and 3 weights became 0"
std::string lost_text(const HalfTotals& t) {
  if (t.worst == nullptr) return "; nothing is lost";
  std::string text = fmt::format("; a weight lost at most {:.2g} of the largest of its tensor ('{}')",
                                 t.worst->error, printable(t.worst->node));
  if (t.zeros > 0) text += fmt::format(", {} became 0", t.zeros);
  return text;
}

}  // namespace

void tell_half_weights(const CompiledModel& m, const CompileOptions& options, Diagnostics& diagnostics) {
  if (options.host.host_weights != chost::WeightType::F16) return;
  if (m.half_weights.empty())
    return diagnostics.add(make_diag<DiagCode::MRV0010>(
        "--host-weights fp16", "no layer on the host has weights that it is for", "leave it away"));
  for (const chost::HalfWeights& h : m.half_weights) {
    if (!h.kept) continue;
    const std::string why = std::isinf(h.most) ? "not all are finite numbers"
                                               : fmt::format("the largest is {:.6g}, fp16 ends at {:.0f}",
                                                             h.most, chost::kMostHalf);
    diagnostics.add(at_node(make_diag<DiagCode::MRV0610>(why), h.node, h.op));
  }
  const HalfTotals t = totals_of(m.half_weights);
  diagnostics.add(make_diag<DiagCode::MRV0609>(t.tensors, t.tensors == 1 ? "" : "s", m.host.half_bytes,
                                               2 * m.host.half_bytes, lost_text(t)));
}

ReportedHalfWeights reported_half_weights(const CompiledModel& m) {
  const HalfTotals t = totals_of(m.half_weights);
  ReportedHalfWeights out{t.tensors, t.kept, m.host.half_bytes, 2 * m.host.half_bytes, t.zeros};
  if (t.worst == nullptr) return out;
  out.largest_error = t.worst->error;
  out.largest_error_node = idmap::json_text(t.worst->node);
  return out;
}

}  // namespace mrvlc::driver
