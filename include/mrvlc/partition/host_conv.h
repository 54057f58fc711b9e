// Which kernels compute a model's convolutions of floats on the host. Generated C (lib/chost) and estimates
// of its time (host_effort) ask the same.
#pragma once
#include <optional>
#include <vector>

#include "mrvlc/ir/graph.h"
#include "mrvlc/ops/params.h"

namespace mrvlc::partition {

// Parameters as two spatial dimensions; a 1-D window gets a height of 1.
struct Window2 {
  int64_t in[2], kernel[2], stride[2], dilation[2], pad[2], out[2];
};
Window2 window2(const ops::WindowParams& p);
// The same bytes, with one column as one row: rows are what kernels do at once.
Window2 wide_window(const ops::WindowParams& p);

// Panels of 6 and 4 rows that cover m rows with the least waste, then the fewest panels.
struct Panels {
  int64_t six = 0, four = 0;
  int64_t rows() const { return 6 * six + 4 * four; }
};
Panels choose_panels(int64_t m);

// `channels` of the input and `m` of the output of one group.
struct ConvSizes {
  int64_t groups = 1, channels = 1, m = 1;
  Window2 w{};
  int64_t taps() const { return w.kernel[0] * w.kernel[1]; }
  int64_t pixels() const { return w.out[0] * w.out[1]; }
};
ConvSizes conv_sizes(const ops::ConvParams& p);

// Of depthwise ones: rows of 3x3 windows where they lie; eight small channels side by side; a padded plane.
enum class DepthwiseKernel : uint8_t { Windows3, Lanes, Plane };
// The middle row and column of every window of 3x3 lie within the image, which Windows3 asks for.
bool suits_windows3(const Window2& w);
// `cut`: threads share it, which take whole channels.
DepthwiseKernel depthwise_kernel(const ConvSizes& c, bool cut = false);

// What a block of convolutions by rows is cut into: pieces of 8 results within a row.
struct RowsPlan {
  int64_t block_channels = 1, pieces = 2, pitch = 0, rows = 0, plane = 0;
  int64_t floats() const { return block_channels * plane; }  // of the strip
};
inline constexpr int64_t kRowsPieces = 22;
// `pieces`: about so many in a block; the kernel takes at most 32.
RowsPlan rows_plan(const ConvSizes& c, int64_t pieces = kRowsPieces);
// Whether copying rows is faster than gathering columns. Short sums do not pay for a strip.
bool suits_rows(const ConvSizes& c, bool gathers_short_sums);
// Nor for the text of a second kernel: they are gathered where a program has that text for another reason, or
// the one of rows for none.
class ShortSums {
 public:
  void add_transposed() { gathers_ = true; }
  // A convolution that is neither depthwise nor in tiles.
  void add(const ConvSizes& c);
  bool gathered() const { return gathers_ || !rows_; }

 private:
  bool gathers_ = false, rows_ = false;
};

// Winograd's algorithm in tiles of n x n results, n = 4 or 2 (decision 0043).
bool suits_winograd(const ConvSizes& c);
int64_t winograd_tiles(const ConvSizes& c, int64_t n);
// Tiles of a block: transformed inputs, at most so many bytes, stay in a second-level cache.
inline constexpr int64_t kWinogradBlockBytes = 512 << 10;
int64_t winograd_tiles_at_once(const ConvSizes& c, int64_t n, int64_t bytes = kWinogradBlockBytes);
// What a tile takes in a channel to be transformed, in multiply-adds in registers.
double winograd_input_cost(int64_t n);
// Floats of transformed weights, and bytes that these take more than the weights do.
int64_t winograd_floats(const ConvSizes& c, int64_t n);
int64_t winograd_more_bytes(const ConvSizes& c, int64_t n);
// Sizes of tiles that are faster than sums and worth the memory, the fastest first.
std::vector<int64_t> winograd_sizes(const ConvSizes& c);
// What the first of these saves, in multiply-adds in registers; 0 where there is none.
double winograd_saves(const ConvSizes& c);
// Whether all that a program saves is worth the algorithm's text and scratch memory.
bool winograd_pays(double saved);
// Bytes by which the weights of a program may grow for it: layers have them in order of work.
int64_t winograd_room(const ir::Graph& graph);

// A graph's convolutions, as they are chosen where all of it is computed on the host, in sums of floats of
// any size (the code also looks at the weights: where tiles would round too much it takes smaller ones, or
// none).
class HostKernels {
 public:
  // `tiles`: whether Winograd's algorithm may be used.
  explicit HostKernels(const ir::Graph& graph, bool tiles = true);
  const ir::Graph& graph() const { return graph_; }
  // Of Winograd's tiles; 0: none.
  int64_t tile(ir::NodeId conv) const { return tiles_.empty() ? 0 : tiles_[conv.index()]; }
  bool gathers_short_sums() const { return short_sums_.gathered(); }

 private:
  const ir::Graph& graph_;
  std::vector<uint8_t> tiles_;  // by node; empty: none has any
  ShortSums short_sums_;
};

}  // namespace mrvlc::partition
