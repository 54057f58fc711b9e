// The table of `compile --frontier` on the terminal, and as a page.
#include "output/frontier_page.h"

#include <fmt/format.h>

#include "mrvlc/report/frontier_page.h"

namespace mrvlc::driver {

std::string frontier_page(const Frontier& frontier, const std::string& model) {
  report::FrontierTable table;
  table.title = fmt::format("Precisions of {}", model);
  table.summary = fmt::format(
      "{} choices were compiled and measured{}. None of these {} is beaten in both time and error.",
      frontier.tried, frontier.on_data ? " on the samples of --data" : "", frontier.rows.size());
  for (const FrontierRow& r : frontier.rows)
    table.rows.push_back({r.pick, r.precision, r.error, r.seconds, r.cycles, r.compiled});
  return report::frontier_page(table);
}

std::string frontier_text(const Frontier& frontier) {
  std::string out =
      fmt::format("{:>6} {:>10} {:>10} {:>10}  {}\n", "--pick", "error", "time (ms)", "cycles", "precision");
  for (const FrontierRow& r : frontier.rows) {
    const std::string error = r.error < kInfiniteError ? fmt::format("{:.2g}", r.error) : "infinite";
    out += fmt::format("{:>6} {:>10} {:>10.4g} {:>10.0f}  {}{}\n", r.pick, error, 1e3 * r.seconds, r.cycles,
                       r.precision, r.compiled ? " (compiled)" : "");
  }
  return out;
}

}  // namespace mrvlc::driver
