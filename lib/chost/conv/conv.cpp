// Conv and ConvTranspose over 1 or 2 spatial dimensions with constant weights: weights are packed here into
// panels of six and four output channels, the order in which the kernel reads them. ConvTranspose is one
// convolution for each phase of its stride: output columns of one phase all read the same kernel columns. The
// batch may be known at run time only.
#include <algorithm>

#include "conv/blocks.h"
#include "conv/call.h"
#include "conv/parts.h"
#include "conv/shape.h"
#include "conv/variants.h"

namespace mrvlc::chost {
namespace {

// The convolution that makes the outputs (a + stride * q) of a transposed one.
ConvPlan phase_plan(const std::string& batch, const ops::ConvParams& p, const Window2& w, int64_t a,
                    int64_t b) {
  ConvPlan plan;
  plan.batch = batch;
  plan.groups = p.group;
  plan.channels = p.in_channels / p.group;
  plan.m = p.out_channels / p.group;
  int64_t phase[2] = {a, b};
  for (size_t d = 0; d < 2; ++d) {
    plan.in[d] = w.in[d];
    plan.out[d] = ceil_div(w.out[d] - phase[d], w.stride[d]);
  }
  for (int64_t r = 0; r < w.kernel[0]; ++r) {
    int64_t y = a + w.pad[0] - r * w.dilation[0];
    if (y % w.stride[0] != 0) continue;
    for (int64_t s = 0; s < w.kernel[1]; ++s) {
      int64_t x = b + w.pad[1] - s * w.dilation[1];
      if (x % w.stride[1] == 0) plan.taps.push_back({y / w.stride[0], x / w.stride[1], r * w.kernel[1] + s});
    }
  }
  if (plan.taps.empty()) plan.taps.push_back({-w.in[0] - w.out[0], 0, -1});
  return plan;
}

struct Phase {
  int64_t a, b;
  ConvPlan plan;
};

// The results of a phase, z, among those of all.
void put_phase(Function& f, const Phase& phase, const Window2& w, int64_t channels, const std::string& y) {
  const ConvPlan& plan = phase.plan;
  f.open(fmt::format("for (ptrdiff_t c = 0; c < {} * {}; ++c)", plan.batch, channels));
  f.loop("i", plan.out[0]);
  f.loop("j", plan.out[1]);
  f.put("{}[(c * {} + i * {} + {}) * {} + j * {} + {}] = z[(c * {} + i) * {} + j];", y, w.out[0], w.stride[0],
        phase.a, w.out[1], w.stride[1], phase.b, plan.out[0], plan.out[1]);
  for (int i = 0; i < 3; ++i) f.close();
}

// A kernel as large as its stride, without padding: every pixel makes a block of the result of its own, so
// all phases are rows of one product.
bool makes_blocks(const ops::ConvParams& p, const Window2& w) {
  for (size_t d = 0; d < 2; ++d) {
    if (w.kernel[d] != w.stride[d] || w.pad[d] != 0 || w.out[d] != w.in[d] * w.stride[d]) return false;
    if (w.kernel[d] > 1 && w.dilation[d] != 1) return false;
  }
  return p.group == 1;
}

Status emit_block_transpose(Function& f, const ops::ConvParams& p, const Window2& w) {
  const int64_t block = w.kernel[0] * w.kernel[1], pixels = w.in[0] * w.in[1];
  ConvPlan plan;
  plan.batch = batch_text(f, p.batch);
  plan.channels = p.in_channels;
  plan.m = p.out_channels * block;
  for (size_t d = 0; d < 2; ++d) plan.in[d] = plan.out[d] = w.in[d];
  plan.taps.push_back({0, 0, 0});
  plan.direct = true;
  Epilogue e = begin_epilogue(f, p.out_channels);
  f.need(Piece::conv);
  declare_epilogue(f, e);
  f.put_struct("clamp", structs::Epilogue{.lo = "e.lo", .hi = "e.hi", .fn = "NULL", .args = "NULL"});
  const bool halves = f.program().stores_halves(f.head().inputs[1]);
  declare_shape(f, plan, {product_kernel(plan)},
                unpacked_scratch(f, halves, unpacked_bytes(f, plan, Blocks::Usual)));
  auto data = f.program().graph.constant(f.head().inputs[1])->data<float>();
  const auto packed = pack_panels(plan, [&](int64_t, int64_t r, int64_t c, int64_t) {
    return data[static_cast<size_t>(c * plan.m + r)];
  });
  std::string weights = f.panels(packed, halves);
  Epilogue rows;
  for (size_t i = 0; i < e.bias.size() * static_cast<size_t>(block); ++i)
    rows.bias.push_back(e.bias[i / static_cast<size_t>(block)]);
  const std::string columns = f.scratch(gather_bytes(plan, Blocks::Usual)),
                    buffer = f.scratch(p.batch * plan.m * pixels * 4);
  const ir::Node& last = f.program().node(f.nodes().back());
  const std::string x = f.read(f.head().inputs[0], "x0"), y = f.write(last.outputs[0], "y0");
  f.put("float* const z = (float*){};", buffer);
  f.put("{}(&p, {}, {}, {}, z, (float*){}, &clamp);", f.prefixed("K_conv"), x, weights, bias_text(f, rows),
        columns);
  f.open(fmt::format("for (ptrdiff_t c = 0; c < {} * {}; ++c)", plan.batch, p.out_channels));
  f.loop("i", w.in[0]);
  for (int64_t a = 0; a < w.kernel[0]; ++a) {
    f.loop("j", w.in[1]);
    for (int64_t b = 0; b < w.kernel[1]; ++b)
      f.put("{}[((c * {} + i) * {} + {}) * {} + j * {} + {}] = z[((c * {} + {}) * {} + i) * {} + j];", y,
            w.in[0], w.kernel[0], a, w.out[1], w.kernel[1], b, block, a * w.kernel[1] + b, w.in[0], w.in[1]);
    f.close();
  }
  f.close();
  if (e.next < f.nodes().size())
    f.put("e.fn(e.args, {0} + c * {1}, c % {2}, 0, c * {1}, {1});", y, pixels * block, p.out_channels);
  f.close();
  return {};
}

void take_part(Function& f, KernelCall& call, const ConvPlan& plan, const Epilogue& e, const PlacedWork& work,
               std::string_view type, bool halves) {
  if (plan.groups == 1 && shares_places(f, work)) {
    call.shape = put_places_part(f, work, f.prefixed(type));
  } else {
    call.take_part(f, put_conv_part(f, plan, f.prefixed(type), halves), e);
  }
}

constexpr int64_t kPiece = 8;  // results of K_conv_rows side by side

void declare_rows_shape(Function& f, const ConvPlan& plan, const Window2& w, const partition::RowsPlan& r,
                        std::string_view unpacked) {
  const Panels panels = choose_panels(plan.m);
  using Text = structs::Optional<structs::TextMember>;
  f.put_struct("p",
               structs::ConvRowsShape{.batch = plan.batch,
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
                                      .panels6 = panels.six,
                                      .panels4 = panels.four,
                                      .block_channels = r.block_channels,
                                      .pieces = r.pieces,
                                      .left = -w.pad[1],
                                      .top = -w.pad[0],
                                      .reach = (w.kernel[0] - 1) * w.dilation[0] + 1,
                                      .pitch = r.pitch,
                                      .plane = r.plane,
                                      .tap = f.prefixed("K_tap"),
                                      .begin = 0,
                                      .end = plan.out[0] * ceil_div(plan.out[1], kPiece),
                                      .unpacked = unpacks_panels(f) ? Text(unpacked) : structs::kAbsent});
}

void emit_rows(Function& f, const ConvPlan& plan, const ConvSizes& sizes, const Epilogue& e, Blocks blocks,
               const std::string& weights, bool halves, bool cut) {
  constexpr double kCopy = 2;  // rows of weights
  const int64_t in_row = ceil_div(plan.out[1], kPiece), pieces = plan.out[0] * in_row;
  const int64_t depth = plan.channels * static_cast<int64_t>(plan.taps.size());
  const partition::RowsPlan r = rows_plan(sizes, blocks);
  const Window2& w = sizes.w;
  const Panels panels = choose_panels(plan.m);
  std::string taps;
  for (int64_t k = 0; k < w.kernel[0] * w.kernel[1]; ++k) {
    const int64_t y = k / w.kernel[1] * w.dilation[0], x = k % w.kernel[1] * w.dilation[1];
    const int64_t phase = y % w.stride[0] * w.stride[1] + x % w.stride[1];
    taps += fmt::format("{}{}", k == 0 ? "" : ", ",
                        (phase * r.rows + y / w.stride[0]) * r.pitch + x / w.stride[1]);
  }
  f.put("static const int {}[] = {{{}}};", f.prefixed("K_tap"), taps);
  if (plan.stride[1] > 1) f.need(Piece::copy_step);
  const std::string unpacked =
      unpacked_scratch(f, halves, 4 * 6 * r.block_channels * static_cast<int64_t>(plan.taps.size()));
  declare_rows_shape(f, plan, w, r, unpacked);
  const int64_t order = r.block_channels * static_cast<int64_t>(plan.taps.size());
  const std::string strip = f.scratch(4 * (r.floats() + order));
  const ir::Node& last = f.program().node(f.nodes().back());
  KernelCall call{f.prefixed("K_conv_rows"), f.read(f.head().inputs[0], "x0"), weights,
                  bias_text(f, e),           f.write(last.outputs[0], "y0"),   strip};
  if (cut)
    take_part(f, call, plan, e, {pieces, in_row, depth, panels, kCopy * static_cast<double>(depth)},
              "K_conv_rows_shape", halves);
  call.put(f);
}

}  // namespace

Status emit_conv(Function& f) {
  MRVLC_ASSIGN(ops::ConvParams p, ops::conv_params(ops::infer_context(f.program().graph, f.head())));
  if (p.input.size() > 2) return emit_plane_conv(f, p);
  Window2 w = window2(p);
  if (p.group == p.in_channels && p.group > 1) {
    emit_depthwise(f, p, w);
    return {};
  }
  ConvPlan plan = conv_plan(batch_text(f, p.batch), p, w);
  Epilogue e = begin_epilogue(f, p.out_channels);
  auto data = f.program().graph.constant(f.head().inputs[1])->data<float>();
  const ConvSizes sizes = partition::conv_sizes(p);
  ConvVariants variants(f.program(), p, plan, sizes, data);
  const Variant variant = choose_variant(f.program(), f.head(), variants);
  if (variant.kernel == Kernel::Winograd4 || variant.kernel == Kernel::Winograd2) {
    const Winograd fast = variants.take_winograd(variant);
    emit_winograd(f, plan, sizes, e, fast, variant.blocks, f.cut(shared_work(f, p, 1)));
    return {};
  }
  const bool by_rows = variant.kernel == Kernel::Rows;
  f.need(by_rows ? Piece::conv_rows : Piece::conv);
  declare_epilogue(f, e);
  auto taps = static_cast<int64_t>(plan.taps.size());
  const bool halves = f.program().stores_halves(f.head().inputs[1]);
  const auto packed = pack_panels(plan, [&](int64_t g, int64_t r, int64_t c, int64_t t) {
    return data[static_cast<size_t>(((g * plan.m + r) * plan.channels + c) * taps + t)];
  });
  std::string weights = f.panels(packed, halves);
  const bool cut = f.cut(shared_work(f, p, 1));
  if (by_rows) {
    emit_rows(f, plan, sizes, e, variant.blocks, weights, halves, cut);
    return {};
  }
  declare_shape(f, plan, variant, unpacked_scratch(f, halves, unpacked_bytes(f, plan, variant.blocks)));
  std::string scratch = f.scratch(gather_bytes(plan, variant.blocks));
  const ir::Node& last = f.program().node(f.nodes().back());
  KernelCall call{f.prefixed("K_conv"), f.read(f.head().inputs[0], "x0"), weights,
                  bias_text(f, e),      f.write(last.outputs[0], "y0"),   scratch};
  constexpr double kGather = 8;  // rows of weights
  const int64_t depth = plan.channels * taps;
  if (cut)
    take_part(f, call, plan, e,
              {plan.out[0] * plan.out[1], 16, depth, choose_panels(plan.m),
               plan.direct ? 0 : kGather * static_cast<double>(depth)},
              "K_conv_shape", halves);
  call.put(f);
  return {};
}

Status emit_conv_transpose(Function& f) {
  MRVLC_ASSIGN(ops::ConvParams p,
               ops::conv_transpose_params(ops::infer_context(f.program().graph, f.head())));
  Window2 w = window2(p);
  if (makes_blocks(p, w)) return emit_block_transpose(f, p, w);
  const ir::Node& last = f.program().node(f.nodes().back());
  auto data = f.program().graph.constant(f.head().inputs[1])->data<float>();
  std::string batch = batch_text(f, p.batch);
  Epilogue e = begin_epilogue(f, p.out_channels);
  f.need(Piece::conv);
  declare_epilogue(f, e);
  f.put_struct("clamp", structs::Epilogue{.lo = "e.lo", .hi = "e.hi", .fn = "NULL", .args = "NULL"});
  std::string x = f.read(f.head().inputs[0], "x0"), y = f.write(last.outputs[0], "y0");
  int64_t columns_bytes = 0, phase_bytes = 0, panel_bytes = 0;
  std::vector<Phase> list;
  for (int64_t a = 0; a < std::min(w.stride[0], w.out[0]); ++a) {
    for (int64_t b = 0; b < std::min(w.stride[1], w.out[1]); ++b) {
      Phase phase{a, b, phase_plan(batch, p, w, a, b)};
      columns_bytes = std::max(columns_bytes, gather_bytes(phase.plan, Blocks::Usual));
      panel_bytes = std::max(panel_bytes, unpacked_bytes(f, phase.plan, Blocks::Usual));
      phase_bytes =
          std::max(phase_bytes, p.batch * p.out_channels * phase.plan.out[0] * phase.plan.out[1] * 4);
      list.push_back(std::move(phase));
    }
  }
  std::string columns = f.scratch(columns_bytes), buffer = f.scratch(phase_bytes);
  const bool halves = f.program().stores_halves(f.head().inputs[1]);
  const std::string unpacked = unpacked_scratch(f, halves, panel_bytes);
  f.put("float* const z = (float*){};", buffer);
  int64_t kernel = w.kernel[0] * w.kernel[1];
  for (const Phase& phase : list) {
    const ConvPlan& plan = phase.plan;
    f.open("");
    declare_shape(f, plan, {product_kernel(plan)}, unpacked);
    const auto packed = pack_panels(plan, [&](int64_t g, int64_t r, int64_t c, int64_t t) {
      return data[static_cast<size_t>(((g * plan.channels + c) * plan.m + r) * kernel + t)];
    });
    std::string weights = f.panels(packed, halves);
    f.put("{}(&p, {}, {}, {}, z, (float*){}, &clamp);", f.prefixed("K_conv"), x, weights, bias_text(f, e),
          columns);
    put_phase(f, phase, w, p.out_channels, y);
    f.close();
  }
  int64_t plane = w.out[0] * w.out[1];
  if (e.next < f.nodes().size()) {
    f.open(fmt::format("for (ptrdiff_t c = 0; c < {} * {}; ++c)", batch, p.out_channels));
    f.put("e.fn(e.args, {0} + c * {1}, c % {2}, 0, c * {1}, {1});", y, plane, p.out_channels);
    f.close();
  }
  return {};
}

}  // namespace mrvlc::chost
