#include "instances.h"

#include <algorithm>
#include <fstream>
#include <numeric>

namespace mrvlc::alloc::test {

std::vector<Item> guillotine(int64_t time, int64_t size, size_t count, uint64_t seed) {
  Random random(seed);
  std::vector<Item> pieces = {{0, time, size}};
  size_t stuck = 0;
  while (pieces.size() < count && stuck < 10000) {
    auto at = static_cast<size_t>(random.below(static_cast<int64_t>(pieces.size())));
    Item& p = pieces[at];
    Item rest = p;
    int64_t life = p.end - p.begin;
    if (random.below(2) == 0 ? life < 2 : p.size >= 2) {
      if (p.size < 2 && ++stuck) continue;
      p.size = 1 + random.below(p.size - 1);
      rest.size -= p.size;
    } else {
      if (life < 2 && ++stuck) continue;
      p.end = rest.begin = p.begin + 1 + random.below(life - 1);
    }
    pieces.push_back(rest);
  }
  for (size_t i = pieces.size(); i > 1; --i)
    std::swap(pieces[i - 1], pieces[static_cast<size_t>(random.below(static_cast<int64_t>(i)))]);
  return pieces;
}

std::vector<Item> network(size_t count, uint64_t seed) {
  Random random(seed);
  std::vector<Item> items;
  for (size_t i = 0; i < count; ++i) {
    auto begin = static_cast<int64_t>(i);
    int64_t life = random.below(10) == 0 ? 5 + random.below(60) : 2 + random.below(3);
    items.push_back({begin, begin + life, 64 * (1 + random.below(1000))});
  }
  return items;
}

int64_t least_peak(const std::vector<Item>& items) {
  std::vector<size_t> order(items.size());
  std::iota(order.begin(), order.end(), size_t{0});
  int64_t best = INT64_MAX;
  do {
    FirstFit fit(INT64_MAX / 4);
    for (size_t i : order) fit.place(items[i]);
    best = std::min(best, fit.peak());
  } while (std::next_permutation(order.begin(), order.end()));
  return best;
}

std::string fault(const std::vector<Item>& items, const Placement& p, int64_t alignment) {
  if (p.offsets.size() != items.size()) return "number of offsets";
  if (p.peak < p.lower_bound) return "peak under the lower bound";
  auto where = [](size_t a, size_t b) { return std::to_string(a) + " and " + std::to_string(b); };
  for (size_t a = 0; a < items.size(); ++a) {
    if (items[a].size <= 0 || items[a].begin >= items[a].end) continue;
    if (p.offsets[a] < 0 || p.offsets[a] % alignment != 0) return "offset of " + std::to_string(a);
    if (p.offsets[a] + items[a].size > p.peak) return "top of " + std::to_string(a);
    for (size_t b = 0; b < a; ++b) {
      if (items[b].size <= 0 || items[a].begin >= items[b].end || items[b].begin >= items[a].end) continue;
      bool apart =
          p.offsets[a] + items[a].size <= p.offsets[b] || p.offsets[b] + items[b].size <= p.offsets[a];
      if (!apart) return "overlap of " + where(a, b);
    }
  }
  return "";
}

std::vector<Item> read_csv(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  std::vector<Item> items;
  Item item;
  int64_t id = 0;
  char comma = 0;
  while (in >> id >> comma >> item.begin >> comma >> item.end >> comma >> item.size) items.push_back(item);
  return items;
}

}  // namespace mrvlc::alloc::test
