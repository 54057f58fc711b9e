// The steps of a layout in their order.
#include "graph/layout.h"

#include <algorithm>

#include "graph/ranks.h"

namespace mrvlc::report {

namespace {

void stack_ranks(const std::vector<LayoutBox>& boxes, size_t ranks, Layout& out) {
  std::vector<int32_t> heights(ranks, 0);
  for (size_t i = 0; i < boxes.size(); ++i) {
    int32_t& h = heights[static_cast<size_t>(out.rank[i])];
    h = std::max(h, boxes[i].height);
  }
  int32_t y = 0;
  for (int32_t h : heights) {
    out.top.push_back(y);
    y += h + kRankGap;
  }
  out.height = heights.empty() ? 0 : y - kRankGap;
}

}  // namespace

Layout lay_out(const std::vector<LayoutBox>& boxes, const std::vector<LayoutEdge>& edges) {
  Layout out;
  out.rank = assign_ranks(boxes, edges);
  Layered layered = with_bends(boxes, edges, out.rank);
  order_ranks(layered);
  std::vector<int32_t> x = place_vertices(layered);
  int32_t left = INT32_MAX, right = INT32_MIN;
  for (size_t v = 0; v < x.size(); ++v) {
    const int32_t half = (layered.vertices[v].width + 1) / 2;
    left = std::min(left, x[v] - half);
    right = std::max(right, x[v] + half);
  }
  for (int32_t& at : x) at -= left;
  out.width = x.empty() ? 0 : right - left;
  out.x.assign(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(boxes.size()));
  stack_ranks(boxes, layered.ranks.size(), out);
  for (uint32_t e = 0; e < edges.size(); ++e) {
    if (edges[e].from == edges[e].to) continue;
    Route route{e, {}, layered.cut[e]};
    for (uint32_t bend : layered.bends[e]) route.via.push_back(x[bend]);
    out.routes.push_back(std::move(route));
  }
  return out;
}

}  // namespace mrvlc::report
