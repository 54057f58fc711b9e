// The table of `compile --frontier` on the terminal.
#include <fmt/format.h>

#include "model/frontier.h"

namespace mrvlc::driver {

std::string frontier_text(const Frontier& frontier) {
  std::string out = fmt::format("{:>6} {:>10} {:>10} {:>10}  {}\n", "--pick", "error", "time (ms)", "cycles",
                                "precision");
  for (const FrontierRow& r : frontier.rows) {
    const std::string error = r.error < kInfiniteError ? fmt::format("{:.2g}", r.error) : "infinite";
    out += fmt::format("{:>6} {:>10} {:>10.4g} {:>10.0f}  {}{}\n", r.pick, error, 1e3 * r.seconds, r.cycles,
                       r.precision, r.compiled ? " (compiled)" : "");
  }
  return out;
}

}  // namespace mrvlc::driver
