// QLinearConv and ConvInteger over 1 or 2 spatial dimensions, QLinearMatMul and MatMulInteger, with constant
// weights: what the kernels of kernels/integer_*.c are given.
#include <algorithm>

#include "conv/plan.h"
#include "integer/rows.h"
#include "mrvlc/ops/op_kind.h"
#include "mrvlc/ops/quantized.h"

namespace mrvlc::chost {
namespace {

// K_QTILE and K_QROWS of the kernels.
constexpr int64_t kTile = 32, kRows = 16, kVector = 16;

// Up to 8 K gathered quads, 32 KiB, stay in the first-level cache, and few where that is enough to share what
// is gathered for all rows; blocks are equally wide.
int64_t block_columns(const ConvPlan& plan, int64_t depth) {
  constexpr int64_t kQuads = 8192, kColumns = 256;
  const int64_t pixels = plan.out[0] * plan.out[1];
  const int64_t fit = kQuads / std::max<int64_t>(depth, 1) / kTile * kTile;
  const int64_t most = std::clamp(fit, kTile, kColumns);
  return round_up(ceil_div(pixels, ceil_div(pixels, most)), kTile);
}

int64_t depth_of(const ConvPlan& plan) {
  return ceil_div(plan.channels * static_cast<int64_t>(plan.taps.size()), 4);
}

// Lanes are rows where few pixels would leave most of a tile idle.
bool has_few_pixels(const ConvPlan& plan) {
  const int64_t pixels = plan.out[0] * plan.out[1];
  const int64_t by_rows = ceil_div(plan.m, kRows) * kRows * pixels;
  return pixels <= 24 && by_rows < choose_panels(plan.m).rows() * round_up(pixels, kTile);
}

// What is gathered from, see K_integer_shape.
struct ByteStrip {
  int64_t top = 0, left = 0, reach = 0, pitch = 0, rows = 0;
  int64_t line(const ConvPlan& plan) const { return plan.stride[1] * pitch; }
};

ByteStrip choose_byte_strip(const ConvPlan& plan, int64_t columns) {
  auto by_row = [](const Tap& a, const Tap& b) { return a.dy < b.dy; };
  auto by_column = [](const Tap& a, const Tap& b) { return a.dx < b.dx; };
  const auto [top, bottom] = std::ranges::minmax(plan.taps, by_row);
  const auto [left, right] = std::ranges::minmax(plan.taps, by_column);
  ByteStrip s{top.dy, left.dx, bottom.dy - top.dy};
  s.pitch = plan.out[1] + (right.dx - left.dx) / plan.stride[1] + kVector;
  const int64_t rows = std::min(plan.out[0], ceil_div(columns, plan.out[1]) + 1);
  s.rows = (rows - 1) * plan.stride[0] + s.reach + 1;
  return s;
}

// Of a depthwise convolution, see K_integer_depthwise_shape.
struct QuadPlane {
  int64_t groups, pitch, phase;
  explicit QuadPlane(const Window2& w)
      : groups(ceil_div(w.kernel[1], 4)),
        pitch(w.out[1] + (w.kernel[1] - 1) * w.dilation[1] / w.stride[1]),
        phase((w.out[0] + (w.kernel[0] - 1) * w.dilation[0] / w.stride[0]) * pitch) {}
  // Quads, results, lines; taps read beyond the last column.
  int64_t bytes(const Window2& w, int64_t size) const {
    return 4 * (groups * w.stride[0] * phase + kTile) + (phase + kTile) * size +
           w.stride[0] * w.stride[1] * phase + pitch + kVector;
  }
};

bool is_depthwise(const ops::ConvParams& p) {
  return p.group == p.in_channels && p.group > 1;
}

IntegerRows::Layout layout_of(const ops::ConvParams& p, const Window2& w) {
  const int64_t depth = p.in_channels / p.group * w.kernel[0] * w.kernel[1];
  return {p.out_channels, depth, depth, 1};
}

void emit_integer_depthwise(Function& f, const ops::ConvParams& p, const Window2& w) {
  IntegerRows rows(f.program().graph, f.head(), layout_of(p, w));
  const std::string kernel = f.need(Piece::integer_depthwise);
  const QuadPlane plane(w);
  std::vector<std::byte> weights;
  std::string columns, taps;
  for (int64_t row = 0; row < p.out_channels; ++row) {
    rows.add_row(row);
    for (int64_t r = 0; r < w.kernel[0]; ++r)
      for (int64_t k = 0; k < 4 * plane.groups; ++k)
        weights.push_back(rows.weight(row, k < w.kernel[1] ? r * w.kernel[1] + k : INT64_MAX));
  }
  for (int64_t k = 0; k < 4 * plane.groups; ++k) {
    const int64_t x = (k < w.kernel[1] ? k : 0) * w.dilation[1];
    columns += fmt::format("{}{}", k == 0 ? "" : ", ", x % w.stride[1] * plane.phase + x / w.stride[1]);
  }
  for (int64_t r = 0; r < w.kernel[0]; ++r) {
    const int64_t y = r * w.dilation[0];
    for (int64_t g = 0; g < plane.groups; ++g)
      taps += fmt::format("{}{}", taps.empty() ? "" : ", ",
                          (g * w.stride[0] + y % w.stride[0]) * plane.phase + y / w.stride[0] * plane.pitch);
  }
  f.put("static const int {}[] = {{{}}}, {}[] = {{{}}};", f.prefixed("K_column"), columns,
        f.prefixed("K_tap"), taps);
  f.put_struct("p", structs::IntegerDepthwiseShape{.batch = p.batch,
                                                   .channels = p.in_channels,
                                                   .multiplier = p.out_channels / p.in_channels,
                                                   .h = w.in[0],
                                                   .w = w.in[1],
                                                   .out_h = w.out[0],
                                                   .out_w = w.out[1],
                                                   .kernel_h = w.kernel[0],
                                                   .groups = plane.groups,
                                                   .stride_h = w.stride[0],
                                                   .stride_w = w.stride[1],
                                                   .pad_h = w.pad[0],
                                                   .pad_w = w.pad[1],
                                                   .pitch = plane.pitch,
                                                   .phase = plane.phase,
                                                   .column = f.prefixed("K_column"),
                                                   .tap = f.prefixed("K_tap"),
                                                   .flip = fmt::format("{}u", rows.flip()),
                                                   .outside = rows.outside()});
  const ir::ValueId y = f.program().node(f.nodes().back()).outputs[0];
  const int64_t size = byte_size(f.program().graph.value(y).type.elem);
  const std::string from = rows.declare(f, weights), scratch = f.scratch(plane.bytes(w, size));
  f.put("{}(&p, {}, {}, {}, {}, &e);", kernel, f.read(f.head().inputs[0], "x0"), from,
        f.write(f.program().node(f.nodes().back()).outputs[0], "y0"), scratch);
}

// Quads of rows: of a panel of six or four, or of a tile.
void pack(IntegerRows& rows, int64_t first, int64_t end, int64_t height, int64_t depth,
          std::vector<std::byte>& weights) {
  for (int64_t q = 0; q < depth; ++q)
    for (int64_t r = first; r < first + height; ++r)
      for (int64_t k = 4 * q; k < 4 * q + 4; ++k)
        weights.push_back(r < end ? rows.weight(r, k) : std::byte{});
}

std::vector<std::byte> pack_byte_panels(IntegerRows& rows, const ConvPlan& plan) {
  const Panels panels = choose_panels(plan.m);
  std::vector<std::byte> weights;
  for (int64_t g = 0; g < plan.groups; ++g) {
    const int64_t begin = g * plan.m;
    for (int64_t r = 0; r < plan.m; ++r) rows.add_row(begin + r);
    for (int64_t row = 0; row < panels.rows();) {
      const int64_t height = row < 6 * panels.six ? 6 : 4;
      pack(rows, begin + row, begin + plan.m, height, depth_of(plan), weights);
      row += height;
    }
  }
  return weights;
}

std::vector<std::byte> pack_tiles(IntegerRows& rows, int64_t groups, int64_t m, int64_t depth) {
  std::vector<std::byte> weights;
  for (int64_t g = 0; g < groups; ++g) {
    for (int64_t row = 0; row < m; row += kRows) {
      for (int64_t r = row; r < row + kRows; ++r) rows.add_row(r < m ? g * m + r : INT64_MAX);
      pack(rows, g * m + row, (g + 1) * m, kRows, depth, weights);
    }
  }
  return weights;
}

// Declares the table of taps, and `p` of type K_integer_shape; returns the bytes of scratch memory.
int64_t declare_integer_shape(Function& f, const ConvPlan& plan, const IntegerRows& rows, bool few) {
  const int64_t depth = depth_of(plan), pixels = plan.out[0] * plan.out[1];
  const int64_t columns = few ? round_up(pixels, kVector) : block_columns(plan, depth);
  const ByteStrip strip = choose_byte_strip(plan, columns);
  std::string taps;
  for (const Tap& t : plan.taps) {
    const int64_t row = t.dy - strip.top, column = t.dx - strip.left, s = plan.stride[1];
    taps += fmt::format("{}{}", taps.empty() ? "" : ", ", (row * s + column % s) * strip.pitch + column / s);
  }
  const Panels panels = choose_panels(plan.m);
  f.put("static const int {}[] = {{{}}};", f.prefixed("K_tap"), taps);
  f.put_struct("p", structs::IntegerShape{.batch = plan.batch,
                                          .groups = plan.groups,
                                          .channels = plan.channels,
                                          .h = plan.in[0],
                                          .w = plan.in[1],
                                          .m = plan.m,
                                          .out_h = plan.out[0],
                                          .out_w = plan.out[1],
                                          .stride_h = plan.stride[0],
                                          .stride_w = plan.stride[1],
                                          .taps = plan.taps.size(),
                                          .depth = depth,
                                          .panels6 = panels.six,
                                          .panels4 = panels.four,
                                          .ldb = columns,
                                          .top = strip.top,
                                          .left = strip.left,
                                          .reach = strip.reach,
                                          .pitch = strip.pitch,
                                          .tap = f.prefixed("K_tap"),
                                          .flip = fmt::format("{}u", rows.flip()),
                                          .outside = rows.outside(),
                                          .direct = plan.direct});
  if (plan.direct) return 4 * depth * columns;
  return 4 * depth * columns + 4 * (columns + kVector) + strip.rows * strip.line(plan) + 2 * kVector;
}

void emit_matrix(Function& f, const IntegerRows::Layout& layout, int64_t n) {
  const std::string kernel = f.need(Piece::integer_matrix);
  IntegerRows rows(f.program().graph, f.head(), layout);
  const int64_t depth = ceil_div(layout.depth, 4);
  const std::vector<std::byte> weights = pack_tiles(rows, 1, layout.rows, depth);
  const std::string from = rows.declare(f, weights), scratch = f.scratch(4 * depth * std::min<int64_t>(n, 4));
  f.put("{}({}, {}, {}, {}u, {}, {}, {}, {}, &e);", kernel, n, layout.depth, layout.rows, rows.flip(),
        f.read(f.head().inputs[0], "x0"), from, f.write(f.program().node(f.nodes().back()).outputs[0], "y0"),
        scratch);
}

}  // namespace

// What the tables of taps and the scratch memory leave room for.
bool fits_integer_conv(const ir::Graph& graph, const ir::Node& node) {
  constexpr int64_t kMaxTaps = 4096, kMaxStrip = int64_t{1} << 18;
  const int64_t rank = graph.value(node.inputs[0]).type.rank();
  const auto p = ops::integer_conv_params(graph, node);
  if ((rank != 3 && rank != 4) || !p || element_count(p->kernel) > kMaxTaps) return false;
  for (const auto& sizes : {p->kernel, p->dilations, p->strides, p->pads_begin, p->input})
    if (std::ranges::any_of(sizes, [](int64_t v) { return v > kMaxStrip; })) return false;
  const Window2 w = wide_window(*p);
  if (is_depthwise(*p)) return QuadPlane(w).bytes(w, 4) <= 64 * kMaxStrip;
  const ConvPlan plan = conv_plan("", *p, w);
  const ByteStrip strip = choose_byte_strip(plan, block_columns(plan, depth_of(plan)));
  return plan.channels > 0 && !plan.taps.empty() && strip.rows * strip.line(plan) <= kMaxStrip;
}

bool fits_integer_matrix(const ir::Graph& graph, const ir::Node& node) {
  const size_t b = node.is(Op::QLinearMatMul) ? 3 : 1;
  const TensorType &x = graph.value(node.inputs[0]).type, &w = graph.value(node.inputs[b]).type;
  return x.rank() >= 2 && w.rank() == 2 && w.shape[0] > 0;
}

Status emit_integer_conv(Function& f) {
  MRVLC_ASSIGN(const ops::IntegerConvParams p, ops::integer_conv_params(f.program().graph, f.head()));
  const Window2 w = wide_window(p);
  if (is_depthwise(p)) {
    emit_integer_depthwise(f, p, w);
    return {};
  }
  const ConvPlan plan = conv_plan(fmt::format("{}", p.batch), p, w);
  if (plan.direct && plan.groups == 1 && plan.out[0] * plan.out[1] == 1) {
    emit_matrix(f, layout_of(p, w), p.batch);
    return {};
  }
  const bool few = has_few_pixels(plan);
  const std::string kernel = f.need(few ? Piece::integer_few : Piece::integer_conv);
  IntegerRows rows(f.program().graph, f.head(), layout_of(p, w));
  const std::vector<std::byte> weights =
      few ? pack_tiles(rows, plan.groups, plan.m, depth_of(plan)) : pack_byte_panels(rows, plan);
  const std::string scratch = f.scratch(declare_integer_shape(f, plan, rows, few)),
                    from = rows.declare(f, weights);
  f.put("{}(&p, {}, {}, {}, {}, &e);", kernel, f.read(f.head().inputs[0], "x0"), from,
        f.write(f.program().node(f.nodes().back()).outputs[0], "y0"), scratch);
  return {};
}

Status emit_integer_matrix(Function& f) {
  const ir::Graph& graph = f.program().graph;
  const Shape& w = graph.value(f.head().inputs[f.head().is(Op::QLinearMatMul) ? 3 : 1]).type.shape;
  emit_matrix(f, {w[1], w[0], 1, w[1]}, graph.value(f.head().inputs[0]).type.elements() / w[0]);
  return {};
}

}  // namespace mrvlc::chost
