// Counts down all assignments of offers to nodes, and prices each as the report does.
#include "exhaustive.h"

#include <algorithm>
#include <random>

#include "choice/whole.h"

namespace mrvlc::test {
namespace {

class Everything {
 public:
  Everything(const partition::Placement& p, const partition::Offers& offers, partition::Whole& whole,
             size_t most)
      : p_(p), offers_(offers), whole_(whole), left_(most), choice_(p.order.size(), partition::kOnHost) {}

  std::optional<double> run() {
    descend(0);
    return left_ == 0 ? std::nullopt : std::optional(least_);
  }

 private:
  void descend(size_t rank) {
    if (left_ == 0) return;
    if (rank == choice_.size()) {
      --left_;
      least_ = std::min(least_, whole_.seconds(choice_));
      return;
    }
    if (choice_[rank] != partition::kOnHost) return descend(rank + 1);
    for (uint32_t i : offers_.begin[rank]) {
      if (!put(i, i)) continue;
      descend(rank + 1);
      put(i, partition::kOnHost);
    }
    descend(rank + 1);
  }

  bool put(uint32_t offer, uint32_t what) {
    const auto& nodes = offers_.all[offer].layer.nodes;
    if (what != partition::kOnHost)
      for (ir::NodeId n : nodes)
        if (choice_[p_.rank[n.index()]] != partition::kOnHost) return false;
    for (ir::NodeId n : nodes) choice_[p_.rank[n.index()]] = what;
    return true;
  }

  const partition::Placement& p_;
  const partition::Offers& offers_;
  partition::Whole& whole_;
  size_t left_;
  partition::Choice choice_;
  double least_ = std::numeric_limits<double>::infinity();
};

void add_orders(const Names& names, Names& now, std::vector<Names>& out) {
  for (const std::string& n : names) {
    if (std::ranges::find(now, n) != now.end()) continue;
    now.push_back(n);
    out.push_back(now);
    add_orders(names, now, out);
    now.pop_back();
  }
}

}  // namespace

std::optional<double> least_seconds(const ir::Graph& graph, const partition::Accelerator* accelerator,
                                    const partition::Options& options, size_t most) {
  auto placement = partition::begin_placement(graph, accelerator, options);
  if (!placement.ok()) FAIL(placement.error().message);
  const partition::Offers offers = partition::gather_offers(*placement, options, {});
  const partition::Tariff tariff(*placement, offers, *options.costs);
  partition::Whole whole(*placement, offers, tariff, *options.costs);
  return Everything(*placement, offers, whole, most).run();
}

ir::Graph random_graph_of(uint32_t seed, int nodes) {
  std::mt19937 random(seed);
  const int side = 4 << static_cast<int>(random() % 4);
  const std::string type = " : f32[1,16," + std::to_string(side) + "," + std::to_string(side) + "]";
  std::string body, ones = "1";
  for (int i = 1; i < 256; ++i) ones += ",1";
  std::vector<std::string> values = {"%x"};
  const auto pick = [&] { return values[values.size() - 1 - random() % std::min<size_t>(values.size(), 3)]; };
  for (int i = 0; i < nodes; ++i) {
    const std::string name = "%v" + std::to_string(i);
    const char* const unary[] = {"Relu", "Tanh", "Round", "Relu", "Sigmoid", "Hardmax"};
    const auto kind = random() % 10;
    if (kind < 3)
      body += " " + name + " = Conv(" + pick() + ", %w)" + type + "\n";
    else if (kind < 6)
      body += " " + name + " = " + (kind == 3 ? "Mul(" : "Add(") + pick() + ", " + pick() + ")" + type + "\n";
    else
      body += " " + name + " = " + unary[random() % 6] + "(" + pick() + ")" + type + "\n";
    values.push_back(name);
  }
  for (size_t i = 1; i + 1 < values.size(); ++i)
    if (random() % 5 == 0) body += " output " + values[i] + "\n";
  const std::string text = "graph \"g\" {\n input %x" + type + "\n const %w : f32[16,16,1,1] = [" + ones +
                           "]\n" + body + " output " + values.back() + "\n}\n";
  auto g = ir::parse(text, ops::registry());
  if (!g.ok()) FAIL(g.error().message << "\n" << text);
  return std::move(g).value();
}

partition::Costs random_costs(uint32_t seed) {
  std::mt19937 random(seed);
  const auto of = [&](double low, double high) {
    return low * std::pow(high / low, static_cast<double>(random() % 1000) / 1000);
  };
  partition::HostModel host;
  host.call_ns = of(5, 100);
  host.to_device_ns = of(0.05, 2), host.from_device_ns = of(0.05, 2);
  host.cast_to_device_ns = host.to_device_ns / 2, host.cast_from_device_ns = host.from_device_ns / 2;
  host.permute_ns = host.from_device_ns / 2;
  host.rates["default"] = {of(0.01, 3), of(0.1, 10)};
  return {host, {}};
}

Chosen choose(const ir::Graph& graph, const Names& names, const partition::Costs& costs) {
  NamedTargets targets(names);
  targets.options().costs = &costs;
  auto p = partition::partition(graph, targets.accelerator(), targets.options());
  if (!p.ok()) FAIL(p.error().message);
  return {p->chosen_seconds, p->gap, targets_of(graph, *p, targets.accelerator())};
}

std::vector<Names> orders_of(const Names& names) {
  std::vector<Names> out;
  Names now;
  add_orders(names, now, out);
  return out;
}

}  // namespace mrvlc::test
