// Ranks by longest paths, and bends for what spans several of them.
#include "graph/ranks.h"

#include <algorithm>
#include <map>
#include <queue>
#include <tuple>

namespace mrvlc::report {
namespace {

constexpr int32_t kBendWidth = 4;

struct Order {
  std::vector<uint32_t> boxes;  // producers first, cycles broken at the smallest number
  std::vector<uint32_t> at;     // place of each box
};

Order topological(size_t count, const std::vector<LayoutEdge>& edges) {
  std::vector<std::vector<uint32_t>> next(count);
  std::vector<uint32_t> waits(count, 0);
  for (const LayoutEdge& e : edges) {
    if (e.from == e.to) continue;
    next[e.from].push_back(e.to);
    ++waits[e.to];
  }
  std::priority_queue<uint32_t, std::vector<uint32_t>, std::greater<>> ready;
  std::vector<bool> queued(count, false);
  auto enqueue = [&](uint32_t box) {
    if (queued[box]) return;
    queued[box] = true;
    ready.push(box);
  };
  for (uint32_t i = 0; i < count; ++i)
    if (waits[i] == 0) enqueue(i);
  Order order;
  order.at.resize(count);
  for (uint32_t oldest = 0; order.boxes.size() < count;) {
    if (ready.empty()) {
      while (queued[oldest]) ++oldest;
      enqueue(oldest);
    }
    const uint32_t box = ready.top();
    ready.pop();
    order.at[box] = static_cast<uint32_t>(order.boxes.size());
    order.boxes.push_back(box);
    for (uint32_t to : next[box])
      if (waits[to] > 0 && --waits[to] == 0) enqueue(to);
  }
  return order;
}

// Down to what reads it, where nothing holds it above: inputs and constants stand by their readers.
void pull_down(const std::vector<LayoutBox>& boxes, const Order& order,
               const std::vector<std::vector<uint32_t>>& next, const std::vector<size_t>& reads,
               std::vector<int32_t>& rank) {
  for (auto it = order.boxes.rbegin(); it != order.boxes.rend(); ++it) {
    if (boxes[*it].where != LayoutBox::Where::Free || next[*it].size() <= reads[*it]) continue;
    int32_t nearest = INT32_MAX;
    for (uint32_t to : next[*it]) nearest = std::min(nearest, rank[to]);
    if (nearest != INT32_MAX) rank[*it] = std::max(rank[*it], nearest - 1);
  }
}

void pin_ends(const std::vector<LayoutBox>& boxes, std::vector<int32_t>& rank) {
  bool first = false, beside = false;  // a box that must be the first, and others in its rank
  for (size_t i = 0; i < boxes.size(); ++i) {
    first = first || boxes[i].where == LayoutBox::Where::First;
    beside = beside || (boxes[i].where != LayoutBox::Where::First && rank[i] == 0);
  }
  int32_t last = 0;
  for (size_t i = 0; i < boxes.size(); ++i) {
    if (boxes[i].where == LayoutBox::Where::First) rank[i] = 0;
    if (boxes[i].where != LayoutBox::Where::First && first && beside) ++rank[i];
    if (boxes[i].where != LayoutBox::Where::Last) last = std::max(last, rank[i] + 1);
  }
  for (size_t i = 0; i < boxes.size(); ++i)
    if (boxes[i].where == LayoutBox::Where::Last) rank[i] = last;
}

class Bender {
 public:
  Bender(const std::vector<LayoutEdge>& edges, Layered& out) : edges_(edges), out_(out) {}

  void bend(uint32_t edge) {
    const LayoutEdge& e = edges_[edge];
    const int32_t from = out_.vertices[e.from].rank, to = out_.vertices[e.to].rank;
    out_.cut[edge] = to <= from || to - from > kLongestEdge;
    if (out_.cut[edge]) return;
    std::vector<uint32_t>& chain = chains_[{e.from, e.from_dx, e.value}];
    while (from + 1 + static_cast<int32_t>(chain.size()) < to) extend(e, chain);
    const auto bends = static_cast<size_t>(to - from - 1);
    out_.bends[edge].assign(chain.begin(), chain.begin() + static_cast<std::ptrdiff_t>(bends));
    if (bends == 0)
      link({e.from, e.to, e.from_dx, e.to_dx});
    else
      link({chain[bends - 1], e.to, 0, e.to_dx});
  }

 private:
  void extend(const LayoutEdge& e, std::vector<uint32_t>& chain) {
    const uint32_t above = chain.empty() ? e.from : chain.back();
    const auto made = static_cast<uint32_t>(out_.vertices.size());
    out_.vertices.push_back({out_.vertices[above].rank + 1, kBendWidth, true});
    link({above, made, chain.empty() ? e.from_dx : 0, 0});
    chain.push_back(made);
  }
  void link(const Link& l) { out_.links.push_back(l); }

  const std::vector<LayoutEdge>& edges_;
  Layered& out_;
  std::map<std::tuple<uint32_t, int32_t, uint32_t>, std::vector<uint32_t>> chains_;
};

// From left to right as a walk along the links meets them.
void first_order(Layered& out) {
  std::vector<bool> seen(out.vertices.size(), false);
  std::vector<uint32_t> stack;
  for (uint32_t root = 0; root < out.vertices.size(); ++root) {
    if (!out.up[root].empty()) continue;
    stack.push_back(root);
    while (!stack.empty()) {
      const uint32_t v = stack.back();
      stack.pop_back();
      if (seen[v]) continue;
      seen[v] = true;
      out.ranks[static_cast<size_t>(out.vertices[v].rank)].push_back(v);
      for (auto it = out.down[v].rbegin(); it != out.down[v].rend(); ++it)
        stack.push_back(out.links[*it].lower);
    }
  }
}

}  // namespace

std::vector<int32_t> assign_ranks(const std::vector<LayoutBox>& boxes, const std::vector<LayoutEdge>& edges) {
  const Order order = topological(boxes.size(), edges);
  std::vector<std::vector<uint32_t>> next(boxes.size());
  std::vector<size_t> reads(boxes.size(), 0);
  for (const LayoutEdge& e : edges) {
    if (order.at[e.from] >= order.at[e.to]) continue;
    next[e.from].push_back(e.to);
    ++reads[e.to];
  }
  std::vector<int32_t> rank(boxes.size(), 0);
  for (uint32_t box : order.boxes)
    for (uint32_t to : next[box]) rank[to] = std::max(rank[to], rank[box] + 1);
  pull_down(boxes, order, next, reads, rank);
  pin_ends(boxes, rank);
  return rank;
}

Layered with_bends(const std::vector<LayoutBox>& boxes, const std::vector<LayoutEdge>& edges,
                   const std::vector<int32_t>& ranks) {
  Layered out;
  for (size_t i = 0; i < boxes.size(); ++i) out.vertices.push_back({ranks[i], boxes[i].width, false});
  out.bends.resize(edges.size());
  out.cut.resize(edges.size());
  Bender bender(edges, out);
  for (uint32_t e = 0; e < edges.size(); ++e) bender.bend(e);
  out.up.resize(out.vertices.size());
  out.down.resize(out.vertices.size());
  for (uint32_t l = 0; l < out.links.size(); ++l) {
    out.down[out.links[l].upper].push_back(l);
    out.up[out.links[l].lower].push_back(l);
  }
  int32_t last = -1;
  for (const Vertex& v : out.vertices) last = std::max(last, v.rank);
  out.ranks.resize(static_cast<size_t>(last + 1));
  first_order(out);
  return out;
}

}  // namespace mrvlc::report
