// How the kernels of products and of attention are cut, and the memory they take (lib/chost/kernels/gemm.c,
// attention.c): for all who write calls of them.
#pragma once
#include <algorithm>
#include <cstdint>

namespace mrvlc::ops {

// Columns of a panel (K_LANES), and the most elements of a sum that are taken at a time.
inline constexpr int64_t kPanelColumns = 16, kMostDepth = 320;

// Elements of a sum taken at a time: blocks of one size.
inline int64_t depth_block(int64_t depth) {
  depth = std::max<int64_t>(depth, 1);
  const int64_t blocks = (depth + kMostDepth - 1) / kMostDepth;
  return (depth + blocks - 1) / blocks;
}

// Fewer rows of queries are faster where keys and values are read as they lie.
inline constexpr int64_t kLeastAttentionRows = 12;

// Rows of scores that stay in a cache, beside a part of keys and values.
inline int64_t rows_of_scores(int64_t rows, int64_t keys) {
  constexpr int64_t kBytes = 256 << 10, kTile = 12, kLeast = 24;
  return std::min(rows, std::max(kBytes / (4 * keys) / kTile * kTile, kLeast));
}

// Bytes of K_attention's memory. `apart`: rows of the result do not lie side by side.
inline int64_t attention_bytes(int64_t rows, int64_t keys, int64_t depth, int64_t columns, bool apart) {
  const auto panels = [](int64_t n) { return (n + kPanelColumns - 1) / kPanelColumns * kPanelColumns; };
  const int64_t row = keys + (apart ? columns : 0);
  return 4 * (panels(keys) * depth + panels(columns) * keys + rows_of_scores(rows, keys) * row);
}

}  // namespace mrvlc::ops
