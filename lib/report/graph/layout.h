// A layered drawing of a directed graph (Sugiyama, Tagawa, Toda 1981): boxes in ranks, edges downward through
// bends in the ranks between. Linear in boxes, edges and bends, times a log; integers alone, so that every
// machine draws the same.
#pragma once
#include <cstdint>
#include <vector>

namespace mrvlc::report {

inline constexpr int32_t kGap = 18;      // between boxes of a rank, pixels
inline constexpr int32_t kRankGap = 34;  // between ranks
// An edge over more ranks than this is not drawn but at its ends: bends stay linear in the boxes.
inline constexpr int32_t kLongestEdge = 64;

struct LayoutBox {
  int32_t width = 0, height = 0;
  enum class Where : uint8_t { Free, First, Last } where = Where::Free;  // its rank
};

struct LayoutEdge {
  uint32_t from = 0, to = 0;       // boxes
  int32_t from_dx = 0, to_dx = 0;  // where it meets them, from their middles
  uint32_t value = 0;              // edges of one value from one place share bends
};

struct Route {
  uint32_t edge = 0;
  std::vector<int32_t> via;  // x of its bends, a rank each, from the one behind `from`
  bool cut = false;          // drawn at its ends alone
};

struct Layout {
  std::vector<int32_t> x;     // middle of each box, from the left edge
  std::vector<int32_t> rank;  // of each box
  std::vector<int32_t> top;   // of each rank
  std::vector<Route> routes;  // one an edge; none of edges from a box to itself
  int32_t width = 0, height = 0;
};

// Cycles are drawn, too: an edge that closes one is cut.
Layout lay_out(const std::vector<LayoutBox>& boxes, const std::vector<LayoutEdge>& edges);

}  // namespace mrvlc::report
