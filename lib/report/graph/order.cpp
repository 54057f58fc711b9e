// The order of vertices in their ranks: sweeps by barycentres, the best of them by the number of crossings.
#include <algorithm>
#include <numeric>

#include "graph/ranks.h"

namespace mrvlc::report {
namespace {

constexpr int kSweeps = 8;
constexpr int64_t kPlace = 1 << 16;  // a place in a rank; offsets in a box are fractions of one

class Orderer {
 public:
  explicit Orderer(Layered& graph) : g_(graph), place_(graph.vertices.size()) { number(); }

  void run() {
    auto best = g_.ranks;
    int64_t least = crossings();
    for (int sweep = 0; sweep < kSweeps && least > 0; ++sweep) {
      if (sweep % 2 == 0)
        for (size_t r = 1; r < g_.ranks.size(); ++r) sort(r, true);
      else
        for (size_t r = g_.ranks.size() - 1; r-- > 0;) sort(r, false);
      const int64_t now = crossings();
      if (now >= least) continue;
      least = now;
      best = g_.ranks;
    }
    g_.ranks = std::move(best);
  }

 private:
  void number() {
    for (const auto& rank : g_.ranks)
      for (size_t i = 0; i < rank.size(); ++i) place_[rank[i]] = static_cast<int64_t>(i);
  }
  // Where a link meets a vertex: its place, moved by how far from the middle that is.
  int64_t at(uint32_t vertex, int32_t dx) const {
    const int64_t width = std::max(g_.vertices[vertex].width, 1);
    return place_[vertex] * kPlace + dx * (kPlace / 2) / width;
  }
  int64_t upper(const Link& l) const { return at(l.upper, l.upper_dx); }
  int64_t lower(const Link& l) const { return at(l.lower, l.lower_dx); }

  // Vertices without neighbours there keep their places.
  void sort(size_t rank, bool by_upper) {
    std::vector<uint32_t>& order = g_.ranks[rank];
    std::vector<std::pair<int64_t, uint32_t>> moving;
    std::vector<size_t> slots;
    for (size_t i = 0; i < order.size(); ++i) {
      const auto& links = by_upper ? g_.up[order[i]] : g_.down[order[i]];
      if (links.empty()) continue;
      int64_t sum = 0;
      for (uint32_t l : links) sum += by_upper ? upper(g_.links[l]) : lower(g_.links[l]);
      moving.emplace_back(sum / static_cast<int64_t>(links.size()), order[i]);
      slots.push_back(i);
    }
    std::ranges::stable_sort(moving, {}, &std::pair<int64_t, uint32_t>::first);
    for (size_t i = 0; i < slots.size(); ++i) order[slots[i]] = moving[i].second;
    for (size_t i = 0; i < order.size(); ++i) place_[order[i]] = static_cast<int64_t>(i);
  }

  int64_t crossings() {
    number();
    int64_t all = 0;
    for (size_t r = 0; r + 1 < g_.ranks.size(); ++r) all += crossings_below(r);
    return all;
  }

  // Pairs of links whose upper ends are one way round and whose lower ends are the other.
  int64_t crossings_below(size_t rank) {
    std::vector<std::pair<int64_t, int64_t>> ends;
    for (uint32_t v : g_.ranks[rank])
      for (uint32_t l : g_.down[v]) ends.emplace_back(upper(g_.links[l]), lower(g_.links[l]));
    std::ranges::sort(ends);
    std::vector<int64_t> lower_ends;
    for (const auto& [above, below] : ends) lower_ends.push_back(below);
    std::ranges::sort(lower_ends);
    std::vector<int64_t> tree(lower_ends.size() + 1, 0);  // Fenwick's
    int64_t all = 0, seen = 0;
    for (const auto& [above, below] : ends) {
      const auto slot = static_cast<size_t>(std::ranges::lower_bound(lower_ends, below) - lower_ends.begin());
      const auto last = static_cast<size_t>(std::ranges::upper_bound(lower_ends, below) - lower_ends.begin());
      int64_t not_right = 0;
      for (size_t i = last; i > 0; i &= i - 1) not_right += tree[i];
      all += seen - not_right;
      for (size_t i = slot + 1; i < tree.size(); i += i & (~i + 1)) ++tree[i];
      ++seen;
    }
    return all;
  }

  Layered& g_;
  std::vector<int64_t> place_;
};

}  // namespace

void order_ranks(Layered& graph) {
  if (!graph.ranks.empty()) Orderer(graph).run();
}

}  // namespace mrvlc::report
