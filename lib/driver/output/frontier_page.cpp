#include "output/frontier_page.h"

#include "mrvlc/report/frontier_page.h"
#include "mrvlc/report/numbers.h"

namespace mrvlc::driver {

std::string frontier_page(const Frontier& frontier, const std::string& model) {
  report::FrontierTable table;
  table.title = fmt::format("Precisions of {}", model);
  table.summary =
      fmt::format("{} choices were compiled and measured{}. None of these {} is beaten in both time and error.",
                  frontier.tried, frontier.on_data ? " on the samples of --data" : "", frontier.rows.size());
  for (const FrontierRow& r : frontier.rows)
    table.rows.push_back({r.pick, r.precision, r.error, r.seconds, r.cycles, r.compiled});
  return report::frontier_page(table);
}

}  // namespace mrvlc::driver
