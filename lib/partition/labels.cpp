// Labels by minimum cuts: one for two targets (Stone 1977), several for more (moves to one target at a time,
// Boykov, Veksler and Zabih 2001). Flow by the shortest augmenting paths, level by level.
#include "labels.h"

#include <algorithm>
#include <limits>

namespace mrvlc::partition {
namespace {

class Flow {
 public:
  explicit Flow(size_t nodes) : arcs_of_(nodes) {}

  // What may flow from `a` to `b`, and back.
  void add(uint32_t a, uint32_t b, int64_t there, int64_t back) {
    if (there == 0 && back == 0) return;
    arcs_of_[a].push_back(static_cast<uint32_t>(arcs_.size()));
    arcs_.push_back({b, there});
    arcs_of_[b].push_back(static_cast<uint32_t>(arcs_.size()));
    arcs_.push_back({a, back});
  }

  // Which nodes are on the side of `source` when as much as possible flows to `sink`.
  std::vector<bool> cut(uint32_t source, uint32_t sink) {
    while (find_levels(source, sink)) {
      next_.assign(arcs_of_.size(), 0);
      while (augment(source, sink)) {
      }
    }
    std::vector<bool> side(arcs_of_.size());
    for (size_t i = 0; i < side.size(); ++i) side[i] = level_[i] >= 0;
    return side;
  }

 private:
  struct Arc {
    uint32_t to = 0;
    int64_t room = 0;
  };

  bool find_levels(uint32_t source, uint32_t sink) {
    level_.assign(arcs_of_.size(), -1);
    level_[source] = 0;
    std::vector<uint32_t> queue = {source};
    for (size_t at = 0; at < queue.size(); ++at) {
      for (uint32_t a : arcs_of_[queue[at]]) {
        if (arcs_[a].room == 0 || level_[arcs_[a].to] >= 0) continue;
        level_[arcs_[a].to] = level_[queue[at]] + 1;
        queue.push_back(arcs_[a].to);
      }
    }
    return level_[sink] >= 0;
  }

  // One path, without recursion: graphs may be deep.
  bool augment(uint32_t source, uint32_t sink) {
    std::vector<uint32_t> path;
    uint32_t at = source;
    while (at != sink) {
      if (std::optional<uint32_t> arc = onward(at)) {
        path.push_back(*arc);
        at = arcs_[*arc].to;
        continue;
      }
      if (path.empty()) return false;
      level_[at] = -2;  // a dead end until the next levels
      at = arcs_[path.back() ^ 1u].to;
      path.pop_back();
    }
    int64_t least = std::numeric_limits<int64_t>::max();
    for (uint32_t a : path) least = std::min(least, arcs_[a].room);
    for (uint32_t a : path) {
      arcs_[a].room -= least;
      arcs_[a ^ 1u].room += least;
    }
    return true;
  }

  std::optional<uint32_t> onward(uint32_t at) {
    for (size_t& k = next_[at]; k < arcs_of_[at].size(); ++k) {
      const Arc& a = arcs_[arcs_of_[at][k]];
      if (a.room > 0 && level_[a.to] == level_[at] + 1) return arcs_of_[at][k];
    }
    return std::nullopt;
  }

  std::vector<Arc> arcs_;  // an arc and its reverse are neighbours
  std::vector<std::vector<uint32_t>> arcs_of_;
  std::vector<int> level_;
  std::vector<size_t> next_;
};

// Items keep their label (the side of the source) or change to `target`, whichever is best for all together.
class Move {
 public:
  Move(const Labelling& p, const std::vector<uint32_t>& labels, uint32_t target)
      : p_(p), labels_(labels), target_(target), keep_(p.items()), change_(p.items()) {}

  std::vector<uint32_t> best() {
    const auto n = static_cast<uint32_t>(p_.items());
    Flow flow(n + 2);
    const uint32_t source = n, sink = n + 1;
    for (uint32_t i = 0; i < n; ++i) {
      keep_[i] = p_.own[i * p_.targets + labels_[i]];
      change_[i] = p_.own[i * p_.targets + target_];
    }
    for (const Labelling::Pair& pair : p_.pairs) add_pair(pair, flow);
    for (uint32_t i = 0; i < n; ++i) {
      const int64_t least = std::min(keep_[i], change_[i]);
      flow.add(source, i, change_[i] - least, 0);
      flow.add(i, sink, keep_[i] - least, 0);
    }
    const std::vector<bool> keeps = flow.cut(source, sink);
    std::vector<uint32_t> out = labels_;
    for (uint32_t i = 0; i < n; ++i) {
      if (!keeps[i]) out[i] = target_;
    }
    return out;
  }

 private:
  int64_t cost(const Labelling::Pair& pair, uint32_t s, uint32_t t) const {
    return pair.cost[s * p_.targets + t];
  }

  // A function of two choices is one of each and, where they differ, a rest that must not be below 0.
  void add_pair(const Labelling::Pair& pair, Flow& flow) {
    const uint32_t a = labels_[pair.a], b = labels_[pair.b];
    const int64_t kk = cost(pair, a, b), kc = cost(pair, a, target_), ck = cost(pair, target_, b),
                  cc = cost(pair, target_, target_);
    // kk + (ck - kk) [a changes] + (cc - ck) [b changes] + (kc + ck - kk - cc) [a keeps, b changes]
    keep_[pair.a] += kk;
    change_[pair.a] += ck;
    if (cc >= ck)
      change_[pair.b] += cc - ck;
    else
      keep_[pair.b] += ck - cc;
    flow.add(pair.a, pair.b, std::max<int64_t>(0, kc + ck - kk - cc), 0);
  }

  const Labelling& p_;
  const std::vector<uint32_t>& labels_;
  uint32_t target_;
  std::vector<int64_t> keep_, change_;
};

}  // namespace

uint32_t Labelling::add_item(const std::vector<int64_t>& costs) {
  own.insert(own.end(), costs.begin(), costs.end());
  return static_cast<uint32_t>(items() - 1);
}

int64_t cost_of(const Labelling& problem, const std::vector<uint32_t>& labels) {
  int64_t sum = 0;
  for (size_t i = 0; i < labels.size(); ++i) sum += problem.own[i * problem.targets + labels[i]];
  for (const Labelling::Pair& p : problem.pairs) sum += p.cost[labels[p.a] * problem.targets + labels[p.b]];
  return sum;
}

std::vector<uint32_t> best_labels(const Labelling& problem) {
  std::vector<uint32_t> labels(problem.items(), 0);
  if (problem.targets < 2) return labels;
  int64_t least = cost_of(problem, labels);
  for (bool better = true; better;) {
    better = false;
    for (uint32_t target = 0; target < problem.targets; ++target) {
      std::vector<uint32_t> moved = Move(problem, labels, target).best();
      const int64_t cost = cost_of(problem, moved);
      if (cost >= least) continue;
      least = cost;
      labels = std::move(moved);
      better = true;
    }
  }
  return labels;
}

}  // namespace mrvlc::partition
