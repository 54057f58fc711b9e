// Routes lead over links that work, cannot wait for each other in a circle, and fit the routers.
#include <algorithm>
#include <deque>
#include <map>
#include <set>

#include "check/checker.h"

namespace mrvlc::mesh {
namespace {

using Link = std::pair<uint32_t, uint32_t>;

// Whether an order of links exists in which every message takes them: it does where no circle is.
bool has_order(const std::map<Link, std::set<Link>>& after) {
  std::map<Link, size_t> before;
  for (const auto& [link, next] : after) {
    before.try_emplace(link, 0);
    for (const Link& n : next) ++before[n];
  }
  std::deque<Link> open;
  for (const auto& [link, count] : before)
    if (count == 0) open.push_back(link);
  size_t done = 0;
  for (; !open.empty(); open.pop_front(), ++done) {
    const auto found = after.find(open.front());
    if (found == after.end()) continue;
    for (const Link& n : found->second)
      if (--before[n] == 0) open.push_back(n);
  }
  return done == before.size();
}

}  // namespace

void Checker::routes() {
  const auto working = working_parts(p_.machine);
  if (!working.ok()) return;  // said by numbers()
  const auto first = std::ranges::find(working->chips, true);
  const auto host = static_cast<uint32_t>(first - working->chips.begin());
  const auto chip_of = [&](uint32_t t) { return t == kHost ? host : p_.pes[p_.tasks[t].pe].chip; };
  std::map<Link, std::set<Link>> after;
  std::set<std::tuple<uint32_t, uint32_t, uint32_t>> trees;  // chip, sender, port of the host
  for (size_t i = 0; i < p_.edges.size(); ++i) {
    const Edge& e = p_.edges[i];
    if (e.route.empty() || e.route.front() != chip_of(e.from) || e.route.back() != chip_of(e.to)) {
      fault("edge {}: its route does not lead from chip {} to chip {}", i, chip_of(e.from), chip_of(e.to));
      continue;
    }
    for (size_t h = 0; h + 1 < e.route.size(); ++h) {
      const auto& links = working->links[e.route[h]];
      if (!std::ranges::binary_search(links, e.route[h + 1])) {
        fault("edge {}: no link leads from chip {} to chip {}", i, e.route[h], e.route[h + 1]);
        break;
      }
      auto& next = after[{e.route[h], e.route[h + 1]}];
      if (h + 2 < e.route.size()) next.insert({e.route[h + 1], e.route[h + 2]});
    }
    for (const uint32_t chip : e.route) trees.emplace(chip, e.from, e.from == kHost ? e.from_port : 0);
  }
  if (!has_order(after)) fault("routes can wait for each other in a circle of links");
  std::map<uint32_t, int64_t> entries;
  for (const auto& tree : trees) f_.most_entries = std::max(f_.most_entries, ++entries[std::get<0>(tree)]);
  for (const auto& [chip, count] : entries)
    if (count > p_.machine.chips.router_entries.value)
      fault("chip {} needs {} routing entries of {}", chip, count, p_.machine.chips.router_entries.value);
}

}  // namespace mrvlc::mesh
