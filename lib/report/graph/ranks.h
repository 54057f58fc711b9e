// The first two steps of a layout: which rank boxes are in, and the vertices (boxes and bends) with the short
// edges between them.
#pragma once
#include "graph/layout.h"

namespace mrvlc::report {

// Ranks from 0; an edge goes down, or closes a cycle.
std::vector<int32_t> assign_ranks(const std::vector<LayoutBox>& boxes, const std::vector<LayoutEdge>& edges);

struct Vertex {
  int32_t rank = 0, width = 0;
  bool bend = false;
};

struct Link {  // between vertices of ranks that follow each other
  uint32_t upper = 0, lower = 0;
  int32_t upper_dx = 0, lower_dx = 0;
};

struct Layered {
  std::vector<Vertex> vertices;  // boxes first, by number, then bends
  std::vector<Link> links;
  std::vector<std::vector<uint32_t>> up, down;  // links of each vertex
  std::vector<std::vector<uint32_t>> ranks;     // vertices of each, from left to right
  std::vector<std::vector<uint32_t>> bends;     // of each edge
  std::vector<bool> cut;                        // of each edge
};

Layered with_bends(const std::vector<LayoutBox>& boxes, const std::vector<LayoutEdge>& edges,
                   const std::vector<int32_t>& ranks);

// Chooses the order in each rank, for few crossings.
void order_ranks(Layered& graph);
// The middle of each vertex, no two of a rank nearer than their widths and the gap allow.
std::vector<int32_t> place_vertices(const Layered& graph);

}  // namespace mrvlc::report
