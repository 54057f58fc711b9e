// Regions within the graph.
#include "graph/nested.h"

#include <map>
#include <set>
#include <tuple>

namespace mrvlc::report {
namespace {

using Where = LayoutBox::Where;

class Nester {
 public:
  Nester(const Graph& graph, const std::vector<Card>& cards)
      : g_(graph), cards_(cards), at_(graph.items.size()) {
    out_.regions.resize(graph.regions.size());
    ports_.resize(graph.regions.size());
  }

  NestedLayout run() {
    add_items();
    for (const GraphEdge& e : g_.edges) add_edge(e);
    for (Level& region : out_.regions) region.layout = lay_out(region.sizes, region.edges);
    size_regions();
    for (const Outer& e : across_)
      out_.outer.edges.push_back(
          {e.from, e.to, dx(e.from_region, e.from_port), dx(e.to_region, e.to_port), e.value});
    out_.outer.layout = lay_out(out_.outer.sizes, out_.outer.edges);
    return std::move(out_);
  }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  struct Outer {  // an edge of the outer level; ports are boxes of the regions
    uint32_t from, to, value;
    uint32_t from_region = kNone, from_port = kNone, to_region = kNone, to_port = kNone;
  };
  using Ports = std::map<std::pair<uint32_t, bool>, uint32_t>;  // by value, and whether it comes in

  static uint32_t add(Level& level, NestedBox box, LayoutBox size) {
    level.boxes.push_back(box);
    level.sizes.push_back(size);
    return static_cast<uint32_t>(level.boxes.size() - 1);
  }

  // A region stands where its first item does.
  void add_items() {
    box_of_region_.assign(g_.regions.size(), kNone);
    for (uint32_t i = 0; i < g_.items.size(); ++i) {
      const LayoutBox size{cards_[i].width, cards_[i].height};
      const auto region = g_.items[i].region;
      at_[i] = add(region ? out_.regions[*region] : out_.outer, {NestedBox::Kind::Item, i}, size);
      if (region && box_of_region_[*region] == kNone)
        box_of_region_[*region] = add(out_.outer, {NestedBox::Kind::Region, *region}, {});
    }
  }

  void size_regions() {
    for (size_t r = 0; r < out_.regions.size(); ++r) {
      if (box_of_region_[r] == kNone) continue;
      const Layout& inner = out_.regions[r].layout;
      out_.outer.sizes[box_of_region_[r]] = {inner.width + 2 * kRegionPad,
                                             inner.height + kRegionHead + kRegionPad};
    }
  }

  // The port of a value on a region's border, and the edge between it and the item inside.
  uint32_t port(uint32_t region, uint32_t value, bool in, uint32_t item) {
    Level& level = out_.regions[region];
    auto [it, fresh] = ports_[region].emplace(std::pair(value, in), 0);
    if (fresh)
      it->second =
          add(level, {NestedBox::Kind::Port, value}, {kPort, kPort, in ? Where::First : Where::Last});
    const LayoutEdge edge =
        in ? LayoutEdge{it->second, at_[item], 0, 0, value} : LayoutEdge{at_[item], it->second, 0, 0, value};
    if (inside_.emplace(region, edge.from, edge.to).second) level.edges.push_back(edge);
    return it->second;
  }

  void add_edge(const GraphEdge& e) {
    const auto from = g_.items[e.from].region, to = g_.items[e.to].region;
    if (from == to) {
      Level& level = from ? out_.regions[*from] : out_.outer;
      if (from)
        level.edges.push_back({at_[e.from], at_[e.to], 0, 0, e.value});
      else
        across_.push_back({at_[e.from], at_[e.to], e.value});
      return;
    }
    Outer outer{from ? box_of_region_[*from] : at_[e.from], to ? box_of_region_[*to] : at_[e.to], e.value};
    if (from) {
      outer.from_region = *from;
      outer.from_port = port(*from, e.value, false, e.from);
    }
    if (to) {
      outer.to_region = *to;
      outer.to_port = port(*to, e.value, true, e.to);
    }
    if (outside_.emplace(outer.from, outer.to, e.value).second) across_.push_back(outer);
  }

  int32_t dx(uint32_t region, uint32_t port) const {
    if (region == kNone) return 0;
    const Layout& inner = out_.regions[region].layout;
    return inner.x[port] - inner.width / 2;
  }

  const Graph& g_;
  const std::vector<Card>& cards_;
  NestedLayout out_;
  std::vector<uint32_t> at_;  // box of each item, in its level
  std::vector<uint32_t> box_of_region_;
  std::vector<Ports> ports_;
  std::vector<Outer> across_;
  std::set<std::tuple<uint32_t, uint32_t, uint32_t>> inside_, outside_;
};

}  // namespace

NestedLayout lay_out(const Graph& graph, const std::vector<Card>& cards) {
  return Nester(graph, cards).run();
}

}  // namespace mrvlc::report
