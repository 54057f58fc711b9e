// Layers to regions. Work items are layers and CPU nodes; they form a directed acyclic graph, because the
// values inside a layer are read inside it only. An item's phase is the number of times a path to it has to
// leave the accelerator:
//
//   phase(layer)    = max over producers of their phase (one more across a border)
//   phase(CPU node) = max over producers of their phase, one more after a layer
//
// All layers of a phase may form one region: a path from one of them through a CPU node ends in a later
// phase, so the region is convex, and running phase by phase (CPU nodes first) is a valid order. No partition
// into convex regions has fewer phases on a longest path, so a network without CPU nodes is one region. Then
// connected parts of a phase that only later phases read are moved to the first of these, which saves the
// values between. Linear but for sorting.
//
// Which parts go back to the CPU is decided as if there were no borders: a border sends nothing there. The
// layers of a group (Constraint::together) then share a phase, the latest of any, and are a region of their
// own; a group that a path leaves and comes back to has no such phase, which check_honoured says.
#include <algorithm>
#include <numeric>
#include <queue>
#include <set>
#include <span>

#include "placement.h"
#include "split.h"

namespace mrvlc::partition {
namespace {

using Item = uint32_t;

// Who reads what, or is read by whom, in two blocks of memory: an entry a use, in the order of the edges.
class Adjacency {
 public:
  using Edge = std::pair<Item, Item>;
  Adjacency() = default;
  Adjacency(size_t count, const std::vector<Edge>& edges, Item Edge::*from, Item Edge::*to)
      : begins_(count + 1), items_(edges.size()) {
    for (const Edge& e : edges) ++begins_[e.*from + 1];
    std::partial_sum(begins_.begin(), begins_.end(), begins_.begin());
    std::vector<uint32_t> next(begins_.begin(), begins_.end() - 1);
    for (const Edge& e : edges) items_[next[e.*from]++] = e.*to;
  }
  size_t size() const { return begins_.size() - 1; }
  std::span<const Item> operator[](Item i) const {
    return std::span(items_).subspan(begins_[i], begins_[i + 1] - begins_[i]);
  }

 private:
  std::vector<uint32_t> begins_ = {0};
  std::vector<Item> items_;
};

class Regions {
 public:
  Regions(Placement& p, bool by_product) : p_(p), by_product_(by_product) {}

  void run(Partition& out) {
    do {
      make_items();
      sort_items();
      order_phases();
      connect();
    } while (by_product_ && give_back());
    if (p_.has_borders()) {
      with_borders_ = true;
      order_phases();
    }
    emit(out);
  }

 private:
  void order_phases() {
    compute_phases();
    if (with_borders_) join_groups();
    move_late();
  }

  bool is_layer(Item i) const { return i < p_.layers.size(); }
  Item item_of(ir::NodeId n) const { return item_[n.index()]; }

  // Layers keep their index; CPU nodes follow.
  void make_items() {
    item_.assign(p_.graph.node_slots(), 0);
    cpu_nodes_.clear();
    for (ir::NodeId n : p_.order) {
      uint32_t layer = p_.layer_of[n.index()];
      if (layer != Placement::kNone) {
        item_[n.index()] = layer;
      } else {
        item_[n.index()] = static_cast<Item>(p_.layers.size() + cpu_nodes_.size());
        cpu_nodes_.push_back(n);
      }
    }
    borders_.clear();
    std::vector<Adjacency::Edge> edges;
    edges.reserve(p_.order.size());
    for (ir::NodeId n : p_.order) connect_inputs(n, edges);
    const size_t count = p_.layers.size() + cpu_nodes_.size();
    users_ = Adjacency(count, edges, &Adjacency::Edge::first, &Adjacency::Edge::second);
    producers_ = Adjacency(count, edges, &Adjacency::Edge::second, &Adjacency::Edge::first);
  }

  void connect_inputs(ir::NodeId n, std::vector<Adjacency::Edge>& edges) {
    for (ir::ValueId in : p_.graph.node(n).inputs) {
      if (!in.valid() || p_.graph.value(in).kind != ir::ValueKind::Result) continue;
      Item from = item_of(p_.graph.value(in).producer), to = item_of(n);
      if (from == to) continue;
      edges.emplace_back(from, to);
      if (p_.pins != nullptr && p_.pins->borders.contains({in, n})) borders_.emplace(from, to);
    }
  }

  ir::NodeId first_node(Item i) const {
    return is_layer(i) ? p_.layers[i].anchor : cpu_nodes_[i - p_.layers.size()];
  }

  // Topological; program order decides among items that are ready.
  void sort_items() {
    using Key = std::pair<uint32_t, Item>;
    std::priority_queue<Key, std::vector<Key>, std::greater<>> ready;
    std::vector<size_t> missing(users_.size());
    for (Item i = 0; i < users_.size(); ++i) {
      missing[i] = producers_[i].size();
      if (missing[i] == 0) ready.emplace(p_.rank[first_node(i).index()], i);
    }
    sorted_.clear();
    while (!ready.empty()) {
      Item i = ready.top().second;
      ready.pop();
      sorted_.push_back(i);
      for (Item u : users_[i]) {
        if (--missing[u] == 0) ready.emplace(p_.rank[first_node(u).index()], u);
      }
    }
  }

  // Two accelerators are never one region.
  uint32_t accelerator(Item i) const { return p_.layers[i].accelerator; }
  bool border_between(Item from, Item to) const {
    if (accelerator(from) != accelerator(to)) return true;
    return with_borders_ && (p_.constraints[p_.layers[to].anchor.index()].border ||
                             group(from) != group(to) || borders_.contains({from, to}));
  }
  uint32_t group(Item i) const { return is_layer(i) ? p_.constraints[p_.layers[i].anchor.index()].group : 0; }

  // Phases between the producer and the earliest its user can have.
  uint32_t step(Item from, Item to) const {
    return is_layer(from) && (!is_layer(to) || border_between(from, to)) ? 1 : 0;
  }

  void compute_phases() {
    phase_.assign(users_.size(), 0);
    raise_phases();
  }
  void raise_phases() {
    for (Item i : sorted_) {
      for (Item from : producers_[i]) phase_[i] = std::max(phase_[i], phase_[from] + step(from, i));
    }
  }

  // Each round settles one more group at least, unless a path leaves a group and comes back.
  void join_groups() {
    std::map<uint32_t, std::vector<Item>> groups;
    for (Item i : sorted_) {
      if (group(i) != 0) groups[group(i)].push_back(i);
    }
    bool raised = !groups.empty();
    for (size_t rounds = groups.size() + 1; raised && rounds > 0; --rounds) {
      raised = false;
      for (const auto& [name, items] : groups) {
        uint32_t latest = 0;
        for (Item i : items) latest = std::max(latest, phase_[i]);
        for (Item i : items) raised = raised || phase_[i] != latest, phase_[i] = latest;
      }
      raise_phases();
    }
  }

  Item root(Item i) {
    while (parent_[i] != i) {
      parent_[i] = parent_[parent_[i]];
      i = parent_[i];
    }
    return i;
  }

  // Connected parts of each phase.
  void connect() {
    parent_.resize(users_.size());
    std::iota(parent_.begin(), parent_.end(), Item{0});
    for (Item i : sorted_) {
      for (Item u : users_[i]) {
        if (is_layer(i) && is_layer(u) && phase_[i] == phase_[u]) parent_[root(u)] = root(i);
      }
    }
    if (with_borders_) connect_groups();
  }

  void connect_groups() {
    std::map<std::pair<uint32_t, uint32_t>, Item> first;  // by group and phase
    for (Item i : sorted_) {
      if (group(i) == 0) continue;
      const auto [it, is_new] = first.emplace(std::pair(group(i), phase_[i]), i);
      if (!is_new) parent_[root(i)] = root(it->second);
    }
  }

  // From the last phase to the first, so that a part can follow the part that reads it.
  void move_late() {
    connect();
    constexpr uint32_t kStay = Placement::kNone;
    std::vector<Item> parts;
    std::vector<uint32_t> latest(users_.size(), kStay);
    std::vector<std::vector<Item>> members(users_.size());
    for (Item i : sorted_) {
      if (!is_layer(i)) continue;
      if (members[root(i)].empty()) parts.push_back(root(i));
      members[root(i)].push_back(i);
    }
    std::stable_sort(parts.begin(), parts.end(), [&](Item a, Item b) { return phase_[a] > phase_[b]; });
    for (Item part : parts) {
      for (Item i : members[part]) {
        for (Item u : users_[i]) {
          if (!is_layer(u) || root(u) != part) latest[part] = std::min(latest[part], phase_[u] - step(i, u));
        }
      }
      if (latest[part] == kStay || latest[part] <= phase_[part]) continue;
      for (Item i : members[part]) phase_[i] = latest[part];
    }
  }

  bool computes(Item i) const {
    const Layer& l = p_.layers[i];
    if (multiplies(l.kind) || !p_.accelerator_of(l).needs_product()) return true;
    return is_asked_for(p_, l);
  }

  // Connected parts without a convolution or matrix product go to the CPU; true when there was one.
  bool give_back() {
    std::vector<bool> worthwhile(users_.size());
    for (Item i : sorted_) {
      if (is_layer(i) && computes(i)) worthwhile[root(i)] = true;
    }
    bool any = false;
    for (Item i : sorted_) {
      if (!is_layer(i) || worthwhile[root(i)]) continue;
      give_back(p_.layers[i]);
      any = true;
    }
    if (any) drop_empty_layers(p_);
    return any;
  }

  const SharedText& given_back_reason(const std::string& rule) {
    SharedText& reason = given_back_[rule];
    if (reason.empty())
      reason = fmt::format(
          "Rule '{}' takes it, but the layers it is connected with hold no convolution and no matrix "
          "product, so handing them "
          "to the accelerator would cost more than it saves.",
          rule);
    return reason;
  }

  void give_back(Layer& layer) {
    for (ir::NodeId n : layer.nodes) {
      p_.given_back[n.index()] |= 1u << layer.accelerator;
      p_.layer_of[n.index()] = Placement::kNone;
      p_.decision(n).rule.clear();
      p_.decision(n).why = Why::NoProduct;
      p_.decision(n).reason = given_back_reason(layer.rule);
    }
    layer.nodes.clear();
  }

  void emit(Partition& out) {
    uint32_t phases = 0;
    for (Item i : sorted_) phases = std::max(phases, phase_[i] + 1);
    std::vector<std::vector<Item>> by_phase(phases);
    for (Item i : sorted_) by_phase[phase_[i]].push_back(i);
    for (const auto& items : by_phase) {
      std::map<std::pair<uint32_t, uint32_t>, std::vector<Layer>> layers;  // by group and accelerator
      for (Item i : items) {
        if (is_layer(i))
          layers[{group(i), accelerator(i)}].push_back(p_.layers[i]);
        else
          out.steps.push_back({Step::Kind::Cpu, first_node(i), 0});
      }
      for (auto& [name, of_group] : layers) {
        for (Region& r :
             split_region(p_.graph, std::move(of_group), p_.parts[name.second]->machine(), p_.constraints)) {
          r.accelerator = name.second;
          add_region(std::move(r), out);
        }
      }
    }
  }

  void add_region(Region region, Partition& out) {
    region.id = static_cast<uint32_t>(out.regions.size());
    for (const Layer& l : region.layers) {
      for (ir::NodeId n : l.nodes) {
        p_.decision(n).accelerator = true;
        p_.decision(n).region = region.id;
      }
    }
    out.steps.push_back({Step::Kind::Region, {}, region.id});
    out.regions.push_back(std::move(region));
  }

  Placement& p_;
  bool by_product_;
  bool with_borders_ = false;
  std::set<Adjacency::Edge> borders_;
  std::vector<Item> item_;  // by NodeId
  std::vector<ir::NodeId> cpu_nodes_;
  Adjacency users_, producers_;  // by item
  std::vector<Item> sorted_;
  std::vector<uint32_t> phase_;
  std::vector<Item> parent_;
  std::map<std::string, SharedText> given_back_;  // reasons, by rule
};

}  // namespace

bool is_asked_for(const Placement& p, const Layer& layer) {
  return std::any_of(layer.nodes.begin(), layer.nodes.end(), [&](ir::NodeId n) {
    const NodeConstraints& c = p.constraints[n.index()];
    return !c.accel_pattern.empty() || c.group != 0;
  });
}

void drop_empty_layers(Placement& p) {
  std::vector<uint32_t> now(p.layers.size());
  uint32_t kept = 0;
  for (size_t i = 0; i < p.layers.size(); ++i) {
    if (p.layers[i].nodes.empty()) continue;
    now[i] = kept;
    if (kept != i) p.layers[kept] = std::move(p.layers[i]);
    ++kept;
  }
  p.layers.resize(kept);
  p.layers.shrink_to_fit();
  for (uint32_t& layer : p.layer_of) {
    if (layer != Placement::kNone) layer = now[layer];
  }
}

void form_regions(Placement& placement, Partition& out, bool by_product) {
  Regions(placement, by_product).run(out);
}

}  // namespace mrvlc::partition
