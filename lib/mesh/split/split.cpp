// A contiguous split by dynamic programming over orders of the groups, then changes by simulated annealing.
#include "mrvlc/mesh/split.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "mrvlc/support/diag/mesh.h"
#include "mrvlc/support/json_fields.h"
#include "split/ideals.h"
#include "split/loads.h"

namespace mrvlc::mesh {
namespace {

using Random = std::mt19937;

// Uniform, the same everywhere: what the library's distributions draw is up to it.
double drawn(Random& random) {
  return static_cast<double>(random()) / 4294967296.0;
}
uint32_t drawn_below(Random& random, size_t n) {
  return static_cast<uint32_t>(random() % n);
}

// Groups from operands to readers, depth first from random ones: what is read is next to its reader.
class Order {
 public:
  Order(const SplitGraph& g, Random& random) : g_(g), random_(random), seen_(g.groups.size(), false) {}
  std::vector<uint32_t> run() {
    std::vector<uint32_t> roots(g_.groups.size());
    std::iota(roots.begin(), roots.end(), 0u);
    // From those that nobody reads: each other group is reached from one.
    std::ranges::stable_sort(roots, {}, [&](uint32_t r) { return is_read(r); });
    for (const uint32_t r : roots) visit(r);
    return std::move(order_);
  }

 private:
  bool is_read(uint32_t group) const {
    return std::ranges::any_of(g_.groups[group], [&](uint32_t v) { return !g_.nodes[v].readers.empty(); });
  }
  std::vector<uint32_t> operands(uint32_t group) {
    std::vector<uint32_t> list;
    for (const uint32_t v : g_.groups[group])
      for (const uint32_t o : g_.nodes[v].operands) list.push_back(g_.nodes[o].group);
    for (size_t i = list.size(); i > 1; --i) std::swap(list[i - 1], list[drawn_below(random_, i)]);
    return list;
  }
  // With a stack of its own: chains are as long as the graph.
  void visit(uint32_t root) {
    if (seen_[root]) return;
    seen_[root] = true;
    std::vector<std::pair<uint32_t, std::vector<uint32_t>>> open = {{root, operands(root)}};
    while (!open.empty()) {
      auto& [group, left] = open.back();
      if (left.empty()) {
        order_.push_back(group);
        open.pop_back();
        continue;
      }
      const uint32_t next = left.back();
      left.pop_back();
      if (seen_[next]) continue;
      seen_[next] = true;
      open.emplace_back(next, operands(next));
    }
  }

  const SplitGraph& g_;
  Random& random_;
  std::vector<bool> seen_;
  std::vector<uint32_t> order_;
};

// Loads of the groups first .. last of an order on one accelerator, for rising last.
class Segment {
 public:
  Segment(const SplitGraph& g)
      : g_(g), inside_(g.nodes.size(), false), left_(g.nodes.size(), 0), comes_(g.nodes.size(), false) {}
  void add(uint32_t group) {
    for (const uint32_t v : g_.groups[group]) inside_[v] = true;
    for (const uint32_t v : g_.groups[group]) {
      const SplitNode& n = g_.nodes[v];
      load_ += n.accelerator;
      size_ += n.size;
      possible_ = possible_ && n.supported;
      if (comes_[v]) comes_[v] = false, load_ -= n.cost;
      left_[v] =
          static_cast<uint32_t>(std::ranges::count_if(n.readers, [&](uint32_t r) { return !inside_[r]; }));
      if (left_[v] > 0) load_ += n.cost;
      for (const uint32_t o : n.operands) read(o, group);
    }
  }
  double load() const { return possible_ && size_ <= g_.room ? load_ : kInfinity; }

 private:
  void read(uint32_t o, uint32_t group) {
    // Of a group's own nodes left_ counts with all of them inside.
    if (inside_[o] && g_.nodes[o].group == group) return;
    if (inside_[o]) {
      if (--left_[o] == 0) load_ -= g_.nodes[o].cost;
    } else if (!comes_[o]) {
      comes_[o] = true;
      load_ += g_.nodes[o].cost;
    }
  }

  const SplitGraph& g_;
  std::vector<bool> inside_;
  std::vector<uint32_t> left_;
  std::vector<bool> comes_;
  double load_ = 0, size_ = 0;
  bool possible_ = true;
};

// The best cut of an order into as many segments as there are accelerators; empty: there is none.
std::vector<uint32_t> best_segments(const SplitGraph& g, const std::vector<uint32_t>& order) {
  const size_t n = order.size(), k = g.accelerators;
  std::vector<std::vector<double>> best(k + 1, std::vector<double>(n + 1, kInfinity));
  std::vector<std::vector<size_t>> from(k + 1, std::vector<size_t>(n + 1, 0));
  for (auto& b : best) b[0] = 0;
  for (size_t begin = 0; begin < n; ++begin) {
    Segment segment(g);
    for (size_t end = begin + 1; end <= n; ++end) {
      segment.add(order[end - 1]);
      for (size_t d = 1; d <= k; ++d) {
        const double load = std::max(best[d - 1][begin], segment.load());
        if (load < best[d][end]) best[d][end] = load, from[d][end] = begin;
      }
    }
  }
  std::vector<uint32_t> device(g.groups.size(), 0);
  if (k == 0 || best[k][n] == kInfinity) return {};
  for (size_t end = n, d = k; end > 0; --d) {
    for (size_t i = from[d][end]; i < end; ++i) device[order[i]] = static_cast<uint32_t>(d - 1);
    end = from[d][end];
  }
  return device;
}

class Annealer {
 public:
  Annealer(const SplitGraph& g, std::vector<uint32_t> start, Random& random)
      : g_(g),
        loads_(g, std::move(start)),
        random_(random),
        best_(loads_.assignment()),
        least_(loads_.most()) {}

  void run(uint64_t steps) {
    double energy = energy_of();
    for (uint64_t i = 0; i < steps; ++i) {
      const double heat = 0.05 * std::pow(1e-3, static_cast<double>(i) / static_cast<double>(steps));
      uint32_t group = 0, to = 0;
      // Most neighbours are at home; looking for others is cheap.
      for (int tries = 0; tries < 16; ++tries) {
        group = drawn_below(random_, g_.groups.size()), to = target(group);
        if (to != loads_.device_of(group)) break;
      }
      const uint32_t before = loads_.device_of(group);
      if (to == before) continue;
      const std::vector<uint32_t> block = neighbourhood(group);
      for (const uint32_t b : block) loads_.move(b, to);
      const double changed = loads_.fits(to) ? energy_of() : kInfinity;
      if (changed <= energy || drawn(random_) < std::exp((energy - changed) / (heat * energy))) {
        energy = changed;
        if (loads_.most() < least_) least_ = loads_.most(), best_ = loads_.assignment();
      } else {
        for (const uint32_t b : block) loads_.move(b, before);
      }
    }
  }
  const std::vector<uint32_t>& best() const { return best_; }

 private:
  // A group, or several around it on its device: one alone may only cost more moves.
  std::vector<uint32_t> neighbourhood(uint32_t group) {
    constexpr uint32_t kMost = 24;
    std::vector<uint32_t> block = {group};
    const uint32_t size = drawn_below(random_, 2) == 0 ? 1 : 1 + drawn_below(random_, kMost);
    for (size_t i = 0; i < block.size() && block.size() < size; ++i) grow(block, block[i], size);
    return block;
  }
  void grow(std::vector<uint32_t>& block, uint32_t around, uint32_t size) const {
    for (const uint32_t v : g_.groups[around])
      for (const auto* list : {&g_.nodes[v].readers, &g_.nodes[v].operands})
        for (const uint32_t other : *list) {
          const uint32_t b = g_.nodes[other].group;
          const bool is_new =
              loads_.device_of(b) == loads_.device_of(around) && std::ranges::find(block, b) == block.end();
          if (block.size() < size && is_new) block.push_back(b);
        }
  }
  // Mostly to where a neighbour is: it saves a move.
  uint32_t target(uint32_t group) {
    if (drawn_below(random_, 8) == 0) return drawn_below(random_, g_.devices());
    const auto& nodes = g_.groups[group];
    const SplitNode& n = g_.nodes[nodes[drawn_below(random_, nodes.size())]];
    const size_t around = n.readers.size() + n.operands.size();
    if (around == 0) return drawn_below(random_, g_.devices());
    const uint32_t at = drawn_below(random_, around);
    const uint32_t other = at < n.readers.size() ? n.readers[at] : n.operands[at - n.readers.size()];
    return loads_.device_of(g_.nodes[other].group);
  }
  // Smooth, and near the largest load: what lowers any of the large ones is better.
  double energy_of() const {
    const double most = loads_.most();
    if (most <= 0) return 0;
    double sum = 0;
    for (const double l : loads_.loads()) {
      const double x = l / most, x2 = x * x, x4 = x2 * x2;
      sum += x4 * x4 * x4;
    }
    return most * std::pow(sum, 1.0 / 12);
  }

  const SplitGraph& g_;
  Loads loads_;
  Random& random_;
  std::vector<uint32_t> best_;
  double least_ = 0;
};

std::string to_json(const SplitGraph& g, const std::vector<uint32_t>& device) {
  json::Json j = {{"fpgas", json::Json::array()}, {"cpus", json::Json::array()}};
  for (uint32_t d = 0; d < g.devices(); ++d) {
    json::Json ids = json::Json::array();
    for (const SplitNode& n : g.nodes)
      if (device[n.group] == d) ids.push_back(n.id);
    j[g.is_cpu(d) ? "cpus" : "fpgas"].push_back({{"nodes", std::move(ids)}});
  }
  return j.dump(1) + "\n";
}

// Both cuts and changes; of several the best.
std::vector<uint32_t> search(const SplitGraph& g, const SplitOptions& options) {
  constexpr int kOrders = 12;
  Random random(options.seed);
  std::vector<uint32_t> best;
  double least = kInfinity;
  const auto consider = [&](const std::vector<uint32_t>& device) {
    if (device.empty()) return;
    const Loads loads(g, device);
    for (uint32_t d = 0; d < g.devices(); ++d)
      if (!loads.fits(d)) return;
    if (loads.most() < least) least = loads.most(), best = device;
  };
  consider(best_contiguous(g));
  for (int i = 0; i < kOrders; ++i) consider(best_segments(g, Order(g, random).run()));
  if (g.cpus > 0) consider(std::vector<uint32_t>(g.groups.size(), g.accelerators));
  if (best.empty()) return best;
  constexpr int kRounds = 4;
  for (int i = 0; i < kRounds; ++i) {
    Annealer annealer(g, best, random);
    annealer.run(options.steps / kRounds);
    consider(annealer.best());
  }
  return best;
}

}  // namespace

Result<Split> split_graph(const std::string& graph, const SplitOptions& options) {
  MRVLC_ASSIGN(const SplitGraph g, read_split_graph(graph));
  const std::vector<uint32_t> device = search(g, options);
  if (device.empty()) return make_diag<DiagCode::MRV1309>("it does not fit its devices");
  return Split{to_json(g, device), Loads(g, device).most()};
}

}  // namespace mrvlc::mesh
