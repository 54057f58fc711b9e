// Where vertices stand in their ranks: each as near to its neighbours above or below as the order allows,
// least squares by isotonic regression (pool adjacent violators), in sweeps.
#include <algorithm>

#include "graph/ranks.h"

namespace mrvlc::report {
namespace {

constexpr int kRounds = 4;
constexpr size_t kAround = 16;  // ranks above and below

class Placer {
 public:
  explicit Placer(const Layered& graph) : g_(graph), x_(graph.vertices.size(), 0) { spread(); }

  // Sweeps downward lean one way where the graph branches, those upward the other: the middle of both, which
  // keeps boxes apart as each of them does.
  std::vector<int32_t> run() {
    for (int round = 0; round < kRounds; ++round) {
      upward();
      downward();
    }
    const std::vector<int64_t> down = x_;
    upward();
    int64_t shift = 0;
    for (size_t v = 0; v < x_.size(); ++v) shift += down[v] - x_[v];
    if (!x_.empty()) shift /= static_cast<int64_t>(x_.size());
    for (size_t v = 0; v < x_.size(); ++v) x_[v] = down[v] + x_[v] + shift;
    std::vector<int32_t> out;
    for (int64_t& x : x_) x >>= 1;
    straighten();
    out.assign(x_.begin(), x_.end());
    return out;
  }

 private:
  // Blocks that branch to one side only lean, whichever way they are swept: over many of them a graph would
  // wander off. Ranks are moved as they are by what the middles of those around them are off.
  void straighten() {
    std::vector<int64_t> sums = {0};  // of the middles of the ranks before
    for (const auto& rank : g_.ranks) {
      int64_t boxes = 0, sum = 0;
      for (uint32_t v : rank) {
        if (g_.vertices[v].bend) continue;
        sum += x_[v];
        ++boxes;
      }
      sums.push_back(sums.back() + (boxes == 0 ? 0 : sum / boxes));
      counts_.push_back(counts_.back() + (boxes == 0 ? 0 : 1));
    }
    for (size_t r = 0; r < g_.ranks.size(); ++r) {
      const size_t from = r > kAround ? r - kAround : 0, to = std::min(r + kAround + 1, g_.ranks.size());
      const int64_t count = std::max<int64_t>(counts_[to] - counts_[from], 1);
      for (uint32_t v : g_.ranks[r]) x_[v] -= (sums[to] - sums[from]) / count;
    }
  }

  // Middles of two neighbours in a rank are at least so far apart.
  int64_t apart(uint32_t left, uint32_t right) const {
    return (g_.vertices[left].width + g_.vertices[right].width) / 2 + kGap;
  }
  void upward() {
    for (size_t r = g_.ranks.size(); r-- > 0;) settle(r, false, true);
  }
  void downward() {
    for (size_t r = 1; r < g_.ranks.size(); ++r) settle(r, true, false);
  }
  void spread() {
    for (const auto& rank : g_.ranks)
      for (size_t i = 1; i < rank.size(); ++i) x_[rank[i]] = x_[rank[i - 1]] + apart(rank[i - 1], rank[i]);
  }
  // Boxes stand straight below each other first, lines give way: otherwise a line beside every block pushes
  // each a little further than the one above.
  int64_t weight(const Link& l) const {
    const int bends = g_.vertices[l.upper].bend + g_.vertices[l.lower].bend;
    return bends == 2 ? 2 : bends == 1 ? 1 : 8;
  }

  struct Wish {
    int64_t sum = 0, weight = 0;  // weighted places
  };
  Wish wish(uint32_t v, bool up, bool down) const {
    Wish w;
    auto add = [&](const Link& l, uint32_t other, int64_t shift) {
      const int64_t strength = weight(l);
      w.sum += strength * (x_[other] + shift);
      w.weight += strength;
    };
    if (up)
      for (uint32_t l : g_.up[v])
        add(g_.links[l], g_.links[l].upper, g_.links[l].upper_dx - g_.links[l].lower_dx);
    if (down)
      for (uint32_t l : g_.down[v])
        add(g_.links[l], g_.links[l].lower, g_.links[l].lower_dx - g_.links[l].upper_dx);
    return w.weight == 0 ? Wish{x_[v], 1} : w;
  }

  struct Block {
    int64_t sum = 0, weight = 0;
    size_t count = 0;
    int64_t mean() const {  // rounded down
      const int64_t q = sum / weight;
      return q * weight > sum ? q - 1 : q;
    }
  };
  void settle(size_t rank, bool up, bool down) {
    const std::vector<uint32_t>& order = g_.ranks[rank];
    std::vector<Block> blocks;
    int64_t offset = 0;
    for (size_t i = 0; i < order.size(); ++i) {
      if (i > 0) offset += apart(order[i - 1], order[i]);
      const Wish w = wish(order[i], up, down);
      blocks.push_back({w.sum - offset * w.weight, w.weight, 1});
      while (blocks.size() > 1 && blocks[blocks.size() - 2].mean() >= blocks.back().mean()) {
        const Block last = blocks.back();
        blocks.pop_back();
        blocks.back() = {blocks.back().sum + last.sum, blocks.back().weight + last.weight,
                         blocks.back().count + last.count};
      }
    }
    size_t i = 0;
    offset = 0;
    for (const Block& b : blocks) {
      for (size_t k = 0; k < b.count; ++k, ++i) {
        if (i > 0) offset += apart(order[i - 1], order[i]);
        x_[order[i]] = b.mean() + offset;
      }
    }
  }

  const Layered& g_;
  std::vector<int64_t> x_;
  std::vector<int64_t> counts_ = {0};  // of ranks with boxes, before each
};

}  // namespace

std::vector<int32_t> place_vertices(const Layered& graph) {
  return Placer(graph).run();
}

}  // namespace mrvlc::report
