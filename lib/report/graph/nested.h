// The layout of a graph with its regions: each region is laid out by itself and is one box of the outer
// layout; values that cross its border pass a port on it.
#pragma once
#include "graph/layout.h"
#include "mrvlc/report/graph.h"

namespace mrvlc::report {

inline constexpr int32_t kRegionHead = 26;  // the line with a region's name
inline constexpr int32_t kRegionPad = 12;
inline constexpr int32_t kPort = 10;  // width and height

struct NestedBox {
  enum class Kind : uint8_t { Item, Region, Port } kind = Kind::Item;
  uint32_t index = 0;  // into Graph::items, regions, values
};

struct Level {
  std::vector<NestedBox> boxes;
  std::vector<LayoutBox> sizes;
  std::vector<LayoutEdge> edges;
  Layout layout;
};

struct NestedLayout {
  Level outer;
  std::vector<Level> regions;
};

// What stands on the card of an item, and how large the card is.
struct Card {
  std::string title;
  std::string lines[2];  // smaller; empty ones take no room
  int32_t width = 0, height = 0;
};
Card card_of(const GraphItem& item);

NestedLayout lay_out(const Graph& graph, const std::vector<Card>& cards);

}  // namespace mrvlc::report
