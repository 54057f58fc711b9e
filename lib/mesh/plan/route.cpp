// Ways between chips that exclude deadlock by their shape.
#include "plan/route.h"

#include <algorithm>
#include <deque>
#include <tuple>

namespace mrvlc::mesh {

Routes::Routes(const Machine& machine, const Working& working)
    : working_(working), columns_(machine.chips.columns.value), level_(working.chips.size(), -1) {
  whole_ = std::ranges::none_of(machine.without, [](const std::string& w) { return !w.starts_with("pe:"); });
  const auto first = std::ranges::find(working.chips, true);
  if (first == working.chips.end()) return;
  host_ = static_cast<uint32_t>(first - working.chips.begin());
  std::deque<uint32_t> next = {host_};
  level_[host_] = 0;
  for (; !next.empty(); next.pop_front())
    for (const uint32_t other : working.links[next.front()]) {
      if (level_[other] >= 0) continue;
      level_[other] = level_[next.front()] + 1;
      next.push_back(other);
    }
}

std::vector<uint32_t> Routes::between(uint32_t from, uint32_t to) const {
  return whole_ ? along_axes(from, to) : along_tree(from, to);
}

std::vector<uint32_t> Routes::along_axes(uint32_t from, uint32_t to) const {
  int64_t x = from % columns_, y = from / columns_;
  const int64_t to_x = to % columns_, to_y = to / columns_;
  std::vector<uint32_t> way = {from};
  while (x != to_x || y != to_y) {
    if (x != to_x)
      x += x < to_x ? 1 : -1;
    else
      y += y < to_y ? 1 : -1;
    way.push_back(static_cast<uint32_t>(y * columns_ + x));
  }
  return way;
}

bool Routes::is_up(uint32_t from, uint32_t to) const {
  return std::tie(level_[to], to) < std::tie(level_[from], from);
}

// The shortest of those that go up first and never up again after a step down.
std::vector<uint32_t> Routes::along_tree(uint32_t from, uint32_t to) const {
  const size_t chips = level_.size();
  constexpr uint32_t kNone = UINT32_MAX;
  std::vector<uint32_t> before(2 * chips, kNone);  // states: the chip, plus `chips` once it goes down
  const auto start = static_cast<uint32_t>(from);
  before[start] = start;
  std::deque<uint32_t> next = {start};
  for (; !next.empty(); next.pop_front()) {
    const uint32_t state = next.front(), chip = static_cast<uint32_t>(state % chips);
    const bool down = state >= chips;
    for (const uint32_t other : working_.links[chip]) {
      const bool up = is_up(chip, other);
      if (up && down) continue;
      const auto reached = static_cast<uint32_t>(other + (up ? 0 : chips));
      if (before[reached] == kNone) before[reached] = state, next.push_back(reached);
    }
  }
  uint32_t state = before[to] != kNone ? to : static_cast<uint32_t>(to + chips);
  std::vector<uint32_t> way;
  while (state != start) way.push_back(static_cast<uint32_t>(state % chips)), state = before[state];
  way.push_back(from);
  std::ranges::reverse(way);
  return way;
}

}  // namespace mrvlc::mesh
