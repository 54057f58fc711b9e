// Dynamic programming over ideals: sets of groups that hold the operands of all their groups.
#include "split/ideals.h"

#include <algorithm>
#include <map>
#include <set>

namespace mrvlc::mesh {
namespace {

// Pairs of ideals are tried.
constexpr size_t kMostIdeals = 2000;

using Set = std::vector<bool>;  // of groups

class Ideals {
 public:
  explicit Ideals(const SplitGraph& g) : g_(g), operands_(g.groups.size()), readers_(g.groups.size()) {
    for (const SplitNode& n : g.nodes)
      for (const uint32_t r : n.readers) {
        const uint32_t to = g.nodes[r].group;
        if (to == n.group) continue;
        operands_[to].insert(n.group), readers_[n.group].insert(to);
      }
  }

  // By number of groups, the empty one first; nothing where there are too many, or the last is not of all
  // groups.
  std::vector<Set> run() {
    std::set<Set> level = {Set(g_.groups.size(), false)};
    std::vector<Set> all;
    while (!level.empty()) {
      all.insert(all.end(), level.begin(), level.end());
      if (all.size() > kMostIdeals) return {};
      std::set<Set> next;
      for (const Set& s : level) extend(s, next);
      level = std::move(next);
    }
    return std::ranges::find(all.back(), false) == all.back().end() ? all : std::vector<Set>();
  }

 private:
  void extend(const Set& s, std::set<Set>& next) const {
    for (uint32_t group = 0; group < s.size(); ++group) {
      const bool ready = !s[group] && std::ranges::all_of(operands_[group], [&](uint32_t o) { return s[o]; });
      if (!ready) continue;
      Set larger = s;
      larger[group] = true;
      next.insert(std::move(larger));
    }
  }

  const SplitGraph& g_;
  std::vector<std::set<uint32_t>> operands_, readers_;
};

// Loads of what lies between two ideals, on an accelerator and on a CPU.
struct Between {
  double accelerator = 0, cpu = 0;
};

class Costs {
 public:
  explicit Costs(const SplitGraph& g) : g_(g), stamp_(g.nodes.size(), 0) {}

  Between of(const Set& before, const Set& behind) {
    Between b;
    double size = 0;
    ++now_;
    for (uint32_t group = 0; group < behind.size(); ++group) {
      if (!behind[group] || before[group]) continue;
      for (const uint32_t v : g_.groups[group]) {
        const SplitNode& n = g_.nodes[v];
        b.cpu += n.cpu;
        b.accelerator += n.supported ? n.accelerator : kInfinity;
        size += n.size;
        const auto outside = [&](uint32_t o) {
          return !behind[g_.nodes[o].group] || before[g_.nodes[o].group];
        };
        if (std::ranges::any_of(n.readers, outside)) b.accelerator += n.cost;
        for (const uint32_t o : n.operands)
          if (outside(o) && stamp_[o] != now_) stamp_[o] = now_, b.accelerator += g_.nodes[o].cost;
      }
    }
    if (size > g_.room) b.accelerator = kInfinity;
    return b;
  }

 private:
  const SplitGraph& g_;
  std::vector<uint64_t> stamp_;  // operands that were counted for `now_`
  uint64_t now_ = 0;
};

struct Best {
  double load = kInfinity;
  size_t before = 0;
  bool on_cpu = false;
};

bool is_part(const Set& a, const Set& b) {
  for (size_t i = 0; i < a.size(); ++i)
    if (a[i] && !b[i]) return false;
  return true;
}

class Search {
 public:
  explicit Search(const SplitGraph& g)
      : g_(g),
        ideals_(Ideals(g).run()),
        columns_(g.cpus + 1),
        best_((g.accelerators + 1) * columns_, std::vector<Best>(ideals_.size())) {}

  std::vector<uint32_t> run() {
    if (ideals_.empty()) return {};
    at(0, 0)[0].load = 0;
    Costs costs(g_);
    for (size_t behind = 1; behind < ideals_.size(); ++behind)
      for (size_t before = 0; before < behind; ++before)
        if (is_part(ideals_[before], ideals_[behind]))
          try_pair(before, behind, costs.of(ideals_[before], ideals_[behind]));
    return devices();
  }

 private:
  std::vector<Best>& at(uint32_t accelerators, uint32_t cpus) {
    return best_[accelerators * columns_ + cpus];
  }

  void try_pair(size_t before, size_t behind, const Between& cost) {
    const auto improve = [&](Best& to, double from, double load, bool on_cpu) {
      const double most = std::max(from, load);
      if (most < to.load) to = {most, before, on_cpu};
    };
    for (uint32_t a = 0; a <= g_.accelerators; ++a)
      for (uint32_t c = 0; c <= g_.cpus; ++c) {
        if (a > 0) improve(at(a, c)[behind], at(a - 1, c)[before].load, cost.accelerator, false);
        if (c > 0) improve(at(a, c)[behind], at(a, c - 1)[before].load, cost.cpu, true);
      }
  }
  std::vector<uint32_t> devices() {
    uint32_t a = 0, c = 0;
    const size_t last = ideals_.size() - 1;
    for (uint32_t i = 0; i <= g_.accelerators; ++i)
      for (uint32_t j = 0; j <= g_.cpus; ++j)
        if (at(i, j)[last].load < at(a, c)[last].load) a = i, c = j;
    if (at(a, c)[last].load == kInfinity) return {};
    std::vector<uint32_t> device(g_.groups.size(), 0);
    for (size_t i = last; i > 0;) {
      const Best& b = at(a, c)[i];
      const uint32_t d = b.on_cpu ? g_.accelerators + --c : --a;
      for (size_t group = 0; group < device.size(); ++group)
        if (ideals_[i][group] && !ideals_[b.before][group]) device[group] = d;
      i = b.before;
    }
    return device;
  }

  const SplitGraph& g_;
  std::vector<Set> ideals_;
  size_t columns_;
  std::vector<std::vector<Best>> best_;  // by accelerators and CPUs that were used
};

}  // namespace

std::vector<uint32_t> best_contiguous(const SplitGraph& graph) {
  return Search(graph).run();
}

}  // namespace mrvlc::mesh
