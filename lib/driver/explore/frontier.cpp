// The table of `mrvlc calibrate --frontier`.
#include <fmt/format.h>

#include "explore/choose.h"
#include "mrvlc/driver/driver.h"
#include "mrvlc/support/diag/accuracy.h"

namespace mrvlc::driver {

Result<std::string> frontier(const CompileOptions& options) {
  Session session(options);
  Said said;
  const auto fork = Fork::open(session, options, said);
  const std::vector<FrontierPoint> points =
      fork ? accuracy_frontier(session, *fork) : std::vector<FrontierPoint>();
  if (points.empty()) return make_diag<DiagCode::MRV0910>();
  const double plain = points[0].measured.cycles;
  std::string out = fmt::format("{:>10} {:>10} {:>12} {:>8} {:>12}\n", "predicted", "measured", "cycles",
                                "ratio", "host cycles");
  for (const FrontierPoint& p : points)
    out += fmt::format("{:>10.2g} {:>10.2g} {:>12.0f} {:>8.2f} {:>12.2g}\n", p.predicted, p.measured.error,
                       p.measured.cycles, plain > 0 ? p.measured.cycles / plain : 0, p.host_cycles);
  return out;
}

}  // namespace mrvlc::driver
