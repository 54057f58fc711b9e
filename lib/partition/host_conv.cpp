// The choice among the host's kernels of convolutions, and what it goes by.
#include "mrvlc/partition/host_conv.h"

#include <algorithm>
#include <utility>

#include "mrvlc/ops/op.h"
#include "mrvlc/ops/op_kind.h"
#include "mrvlc/support/checked.h"

namespace mrvlc::partition {
namespace {

constexpr int64_t kTaps = 3;

// In units of a multiply-add in registers, measured (docs/decisions/0043): what a tile takes in each channel
// to be transformed, and its results to be; and what gathering or copying a pixel takes instead.
struct TransformCosts {
  double input, result;
};
constexpr TransformCosts kCosts4{700, 450}, kCosts2{180, 120};
constexpr double kGatherCost = 8, kCopyCost = 2;

// Of reading weights once.
double weights_cost(double floats) {
  constexpr double kByteCost = 1.6;
  return kByteCost * 4 * floats;
}

// By K_conv, which gathers columns, or K_conv_rows, which copies rows and computes what a row has over 8
// twice.
double direct_cost(const ConvSizes& c) {
  const auto rows = static_cast<double>(choose_panels(c.m).rows());
  const auto depth = static_cast<double>(c.channels * kTaps * kTaps);
  const auto pixels = static_cast<double>(round_up(c.pixels(), 8));
  const auto in_rows = static_cast<double>(c.w.out[0] * round_up(c.w.out[1], 8));
  return depth * std::min((rows + kGatherCost) * pixels, (rows + kCopyCost) * in_rows) +
         weights_cost(depth * rows);
}

// Every block reads all weights.
double winograd_cost(const ConvSizes& c, int64_t n) {
  const TransformCosts& costs = n == 4 ? kCosts4 : kCosts2;
  const auto tiles = static_cast<double>(winograd_tiles(c, n));
  const auto lanes = static_cast<double>(round_up(winograd_tiles(c, n), 8));
  const auto weights = static_cast<double>(winograd_floats(c, n));
  return weights * lanes +
         tiles * (costs.input * static_cast<double>(c.channels) + costs.result * static_cast<double>(c.m)) +
         weights_cost(weights) *
             static_cast<double>(ceil_div(winograd_tiles(c, n), winograd_tiles_at_once(c, n)));
}

// Whether tiles of n x n save enough time to be worth the memory of their weights.
bool gains(const ConvSizes& c, int64_t n) {
  constexpr double kLeast = 0.15, kMemory = 6;  // of the time; a byte
  const double cost = winograd_cost(c, n);
  return direct_cost(c) - cost >= kLeast * cost + kMemory * static_cast<double>(winograd_more_bytes(c, n));
}

// Rows of few elements leave vectors half empty, and those of a stride have to be sorted.
bool suits_lanes(const ConvSizes& c) {
  constexpr int64_t kMost = 128, kMostStrided = 784, kSideBySide = 8;
  if (c.m != 1 || c.groups < kSideBySide) return false;
  const int64_t most = c.w.stride[0] == 1 && c.w.stride[1] == 1 ? kMost : kMostStrided;
  const int64_t in = c.w.in[0] * c.w.in[1], out = c.pixels();
  return in >= kSideBySide && in <= most && out >= 1 && out <= most;
}

// Gathering costs as much as about 8 more rows of weights, but takes pixels of all rows together; a row cut
// into pieces of 8 computes what is left over twice. The strip stays in the second-level cache.
bool fits_rows(const ConvSizes& c) {
  constexpr int64_t kGather = 8, kDepth = 640, kFloats = 96 << 10, kMostStride = 1024;
  const Window2& w = c.w;
  if (c.channels < 1 || c.m < 1 || std::max(w.stride[0], w.stride[1]) > kMostStride) return false;
  const bool in_place = c.taps() == 1 && w.stride[0] == 1 && w.stride[1] == 1 && w.pad[0] == 0 &&
                        w.pad[1] == 0 && w.in[0] == w.out[0] && w.in[1] == w.out[1];
  if (in_place || w.out[1] < 8 || w.out[0] < 1 || c.taps() > kDepth) return false;
  if (rows_plan(c).floats() > kFloats) return false;
  const int64_t rows = choose_panels(c.m).rows();
  return rows * round_up(w.out[1], 8) * w.out[0] <= (rows + kGather) * c.pixels();
}

bool is_short(const ConvSizes& c) {
  constexpr int64_t kShort = 64;
  return c.channels * c.taps() < kShort;
}

// Of a convolution of floats whose weights are constants.
std::optional<ConvSizes> packed_conv(const ir::Graph& graph, const ir::Node& node) {
  if (!node.is(Op::Conv) || !graph.is_constant(node.inputs[1])) return std::nullopt;
  const auto p = ops::conv_params(ops::infer_context(graph, node));
  if (!p.ok() || p->input.empty() || p->input.size() > 2 || p->group < 1) return std::nullopt;
  return conv_sizes(*p);
}

// Sizes of tiles by node; empty where the algorithm does not pay.
std::vector<uint8_t> winograd_by_node(const ir::Graph& graph) {
  std::vector<std::pair<ir::NodeId, ConvSizes>> suited;
  double saved = 0;
  for (ir::NodeId n : graph.topological_order()) {
    const std::optional<ConvSizes> c = packed_conv(graph, graph.node(n));
    if (!c || !suits_winograd(*c)) continue;
    saved += winograd_saves(*c);
    suited.emplace_back(n, *c);
  }
  if (!winograd_pays(saved)) return {};
  std::vector<uint8_t> tiles(graph.node_slots(), 0);
  int64_t room = winograd_room(graph);
  for (const auto& [n, c] : suited) {
    for (int64_t size : winograd_sizes(c)) {
      const int64_t more = winograd_more_bytes(c, size);
      if (more > room) continue;
      room -= more;
      tiles[n.index()] = static_cast<uint8_t>(size);
      break;
    }
  }
  return tiles;
}

}  // namespace

Window2 window2(const ops::WindowParams& p) {
  Window2 w{{1, 1}, {1, 1}, {1, 1}, {1, 1}, {0, 0}, {1, 1}};
  size_t lead = 2 - p.input.size();
  for (size_t i = 0; i < p.input.size(); ++i) {
    w.in[lead + i] = p.input[i];
    w.kernel[lead + i] = p.kernel[i];
    w.stride[lead + i] = p.strides[i];
    w.dilation[lead + i] = p.dilations[i];
    w.pad[lead + i] = p.pads_begin[i];
    w.out[lead + i] = p.output[i];
  }
  return w;
}

Window2 wide_window(const ops::WindowParams& p) {
  Window2 w = window2(p);
  if (w.in[1] != 1 || w.kernel[1] != 1 || w.out[1] != 1 || w.pad[1] != 0) return w;
  for (auto* sizes : {w.in, w.kernel, w.stride, w.dilation, w.pad, w.out}) std::swap(sizes[0], sizes[1]);
  return w;
}

Panels choose_panels(int64_t m) {
  Panels best{ceil_div(m, 6), 0};
  for (int64_t four = 1; four <= 5; ++four) {
    Panels p{m > 4 * four ? ceil_div(m - 4 * four, 6) : 0, four};
    if (p.rows() < best.rows()) best = p;
  }
  return best;
}

ConvSizes conv_sizes(const ops::ConvParams& p) {
  return {p.group, p.in_channels / p.group, p.out_channels / p.group, window2(p)};
}

bool suits_windows3(const Window2& w) {
  constexpr int64_t kVector = 8;
  for (size_t d = 0; d < 2; ++d) {
    if (w.kernel[d] != 3 || w.dilation[d] != 1 || w.stride[d] != w.stride[0] || w.stride[d] > 2) return false;
    if (w.pad[d] < 0 || w.pad[d] > 1 || w.out[d] < 1) return false;
    if ((w.out[d] - 1) * w.stride[d] - w.pad[d] + 1 >= w.in[d]) return false;
  }
  return w.out[1] >= kVector;
}

DepthwiseKernel depthwise_kernel(const ConvSizes& c, bool cut) {
  if (suits_windows3(c.w)) return DepthwiseKernel::Windows3;
  return !cut && suits_lanes(c) ? DepthwiseKernel::Lanes : DepthwiseKernel::Plane;
}

// Blocks of about so many pieces, and as many channels of about 320 products; what a tile reads of the strip
// for them, and a panel of weights, stay in the first-level cache.
RowsPlan rows_plan(const ConvSizes& c, int64_t pieces) {
  constexpr int64_t kMostPieces = 32, kDepth = 320;
  const Window2& w = c.w;
  RowsPlan r;
  r.block_channels = ceil_div(c.channels, ceil_div(c.channels * c.taps(), kDepth));
  const int64_t in_row = ceil_div(w.out[1], 8), all = w.out[0] * in_row;
  r.pieces = ceil_div(all, ceil_div(all, std::min(pieces, kMostPieces)));
  r.pieces += r.pieces % 2;
  const int64_t reach = (w.kernel[0] - 1) * w.dilation[0], width = (w.kernel[1] - 1) * w.dilation[1];
  r.rows = std::min(w.out[0], ceil_div(r.pieces, in_row) + 1) + reach / w.stride[0];
  r.pitch = 8 * in_row + width / w.stride[1] + 1;
  r.plane = w.stride[0] * w.stride[1] * r.rows * r.pitch;
  return r;
}

bool suits_rows(const ConvSizes& c, bool gathers_short_sums) {
  return fits_rows(c) && !(gathers_short_sums && is_short(c));
}

void ShortSums::add(const ConvSizes& c) {
  if (!fits_rows(c))
    gathers_ = true;
  else if (!is_short(c))
    rows_ = true;
}

bool suits_winograd(const ConvSizes& c) {
  if (c.groups != 1 || c.m < 1 || c.channels < 1) return false;
  for (size_t d = 0; d < 2; ++d)
    if (c.w.kernel[d] != kTaps || c.w.stride[d] != 1 || c.w.dilation[d] != 1 || c.w.out[d] < 1) return false;
  return true;
}

int64_t winograd_tiles(const ConvSizes& c, int64_t n) {
  return ceil_div(c.w.out[0], n) * ceil_div(c.w.out[1], n);
}

int64_t winograd_tiles_at_once(const ConvSizes& c, int64_t n, int64_t bytes) {
  constexpr int64_t kWidth = 16;
  const int64_t places = (n + 2) * (n + 2), all = winograd_tiles(c, n);
  const int64_t most = std::max(bytes / (places * c.channels * 4) / kWidth * kWidth, kWidth);
  return round_up(ceil_div(all, ceil_div(all, most)), kWidth);
}

double winograd_input_cost(int64_t n) {
  return (n == 4 ? kCosts4 : kCosts2).input;
}

int64_t winograd_floats(const ConvSizes& c, int64_t n) {
  return (n + 2) * (n + 2) * c.channels * choose_panels(c.m).rows();
}

int64_t winograd_more_bytes(const ConvSizes& c, int64_t n) {
  return 4 * (winograd_floats(c, n) - kTaps * kTaps * c.channels * choose_panels(c.m).rows());
}

std::vector<int64_t> winograd_sizes(const ConvSizes& c) {
  std::vector<int64_t> sizes;
  if (!suits_winograd(c)) return sizes;
  for (int64_t n : {4, 2})
    if (gains(c, n)) sizes.push_back(n);
  std::ranges::stable_sort(sizes, {}, [&](int64_t n) { return winograd_cost(c, n); });
  return sizes;
}

double winograd_saves(const ConvSizes& c) {
  const std::vector<int64_t> sizes = winograd_sizes(c);
  return sizes.empty() ? 0 : direct_cost(c) - winograd_cost(c, sizes[0]);
}

bool winograd_pays(double saved) {
  constexpr double kEnough = 2e6;  // about 40 microseconds
  return saved >= kEnough;
}

int64_t winograd_room(const ir::Graph& graph) {
  constexpr int64_t kLeast = 16 << 20;
  constexpr double kShare = 0.4;
  int64_t bytes = 0;
  for (size_t i = 0; i < graph.value_slots(); ++i) {
    const ir::ValueId v(i);
    if (const Tensor* t = graph.constant(v); t != nullptr && graph.use_count(v) > 0)
      bytes += t->type().bytes();
  }
  return std::max(kLeast, static_cast<int64_t>(kShare * static_cast<double>(bytes)));
}

HostKernels::HostKernels(const ir::Graph& graph, bool tiles)
    : graph_(graph), tiles_(tiles ? winograd_by_node(graph) : std::vector<uint8_t>()) {
  for (ir::NodeId n : graph.topological_order()) {
    const ir::Node& node = graph.node(n);
    if (node.is(Op::ConvTranspose)) short_sums_.add_transposed();
    const std::optional<ConvSizes> c = packed_conv(graph, node);
    if (c && tile(n) == 0 && !(c->groups > 1 && c->channels == 1)) short_sums_.add(*c);
  }
}

}  // namespace mrvlc::partition
