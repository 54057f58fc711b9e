// What the host does for a node, counted from shapes as the kernels of generated C do it.
#include <algorithm>
#include <cmath>

#include "mrvlc/ops/attributes.h"
#include "mrvlc/ops/op.h"
#include "mrvlc/ops/op_kind.h"
#include "mrvlc/ops/params.h"
#include "mrvlc/ops/work.h"
#include "mrvlc/partition/host_conv.h"
#include "mrvlc/partition/host_model.h"
#include "mrvlc/support/checked.h"

namespace mrvlc::partition {
namespace {

// A convolution of floats or of integers, each dimension as kernels see it.
struct HostConv {
  double group = 1, channels = 1, results = 1;  // of a group
  double taps = 1;
  double read = 1, pixels = 1, width = 1;  // pixels of the image, of the result, of a row of it
  double batch = 1;
  bool integers = false, depthwise = false, strided = false, dilated = false, threes = false;
  ConvSizes sizes;       // of one or two dimensions: as kernels are chosen by
  bool packed = false;   // of these and floats, with constant weights
  bool plain = false;    // of floats, in loops as the operator is defined
  bool by_rows = false;  // of these, without gathering columns
  int64_t tile = 0;      // ... by Winograd's algorithm
};

double product(const std::vector<int64_t>& sizes) {
  double out = 1;
  for (int64_t s : sizes) out *= static_cast<double>(std::max<int64_t>(s, 1));
  return out;
}

double rounded_up(double n, double to) {
  return std::ceil(n / to) * to;
}

std::optional<HostConv> host_conv(const HostKernels& kernels, const ir::Node& node) {
  const ir::Graph& graph = kernels.graph();
  const bool integers = node.is(Op::QLinearConv, Op::ConvInteger);
  if (!integers && !node.is(Op::Conv)) return std::nullopt;
  const auto of = [&]() -> Result<ops::ConvParams> {
    if (!integers) return ops::conv_params(ops::infer_context(graph, node));
    MRVLC_ASSIGN(ops::IntegerConvParams p, ops::integer_conv_params(graph, node));
    return ops::ConvParams(std::move(p));
  };
  const Result<ops::ConvParams> p = of();
  if (!p.ok() || p->output.empty() || p->group < 1) return std::nullopt;
  const auto other = [](int64_t v) { return v != 1; };
  HostConv c;
  c.group = static_cast<double>(p->group);
  c.channels = static_cast<double>(p->in_channels) / c.group;
  c.results = static_cast<double>(p->out_channels) / c.group;
  c.taps = product(p->kernel);
  c.pixels = product(p->output);
  c.batch = static_cast<double>(std::max<int64_t>(p->batch, 1));
  const bool column = p->input.back() == 1 && p->output.back() == 1 && p->kernel.back() == 1;  // is a row
  c.read = product(p->input);
  c.width = column ? c.pixels : product({p->output.back()});
  c.integers = integers;
  const bool constant = !integers && graph.is_constant(node.inputs[1]);
  c.packed = constant && p->input.size() <= 2;
  c.plain = !integers && (!constant || p->input.size() > 3);
  c.depthwise = p->group > 1 && p->in_channels == p->group && p->input.size() <= 2;
  c.strided = std::ranges::any_of(p->strides, other);
  c.dilated = std::ranges::any_of(p->dilations, other);
  c.threes = p->kernel == std::vector<int64_t>{3, 3};
  if (p->input.size() > 2) return c;
  c.sizes = conv_sizes(*p);
  if (integers) c.sizes.w = wide_window(*p);
  if (!c.packed) return c;
  c.tile = kernels.tile(node.id);
  c.by_rows = !c.depthwise && c.tile == 0 && suits_rows(c.sizes, kernels.gathers_short_sums());
  return c;
}

std::string_view depthwise_form(const HostConv& c) {
  if (c.packed) {
    switch (depthwise_kernel(c.sizes)) {
      case DepthwiseKernel::Lanes:
        return "depthwise-lanes";
      case DepthwiseKernel::Plane:
        return "depthwise-any";
      case DepthwiseKernel::Windows3:
        break;
    }
  }
  if (c.strided) return "depthwise-strided";
  return c.threes && !c.dilated ? "depthwise" : "depthwise-any";
}

std::string_view form_of(const HostConv& c) {
  if (c.plain) return "plain";
  if (c.depthwise) return depthwise_form(c);
  if (c.tile != 0) return c.tile == 4 ? "winograd" : "winograd-small";
  if (c.by_rows) return "strip";
  if (c.group > 1) return "grouped";
  return c.taps == 1 ? "pointwise" : "";
}

double panel_rows(double rows) {
  return static_cast<double>(choose_panels(static_cast<int64_t>(rows)).rows());
}

// Sums by quads, four bytes of depth; lanes are pixels, or rows where pixels are few.
double integer_products(const HostConv& c) {
  const double by_pixels = panel_rows(c.results) * rounded_up(c.pixels, 32);
  const double by_rows = c.pixels <= 24 ? rounded_up(c.results, 16) * c.pixels : by_pixels;
  return rounded_up(c.channels * c.taps, 4) * std::min(by_pixels, by_rows);
}

// Integers: a padded channel is one long row, copied row by row, which takes as much as 16 elements; of that
// quads of taps are made, and of these results, 32 at once and those between rows too. To begin and end a
// channel takes as much as 128 elements.
HostEffort integer_depthwise_effort(const HostConv& c) {
  const Window2& w = c.sizes.w;
  const double filters = c.group * c.results, quads = std::ceil(static_cast<double>(w.kernel[1]) / 4);
  const auto reach = [&](size_t d) { return (w.kernel[d] - 1) * w.dilation[d] / w.stride[d]; };
  const int64_t pitch = w.out[1] + reach(1), rows = w.out[0] + reach(0);
  const double made = rounded_up(static_cast<double>((w.out[0] - 1) * pitch + w.out[1]), 32);
  const double plane =
      static_cast<double>(w.stride[0]) * static_cast<double>(rows) * static_cast<double>(pitch);
  return {.form = form_of(c),
          .products = filters * static_cast<double>(w.kernel[0]) * quads * 4 * made,
          .steps = c.group * (128 + quads * plane + 16 * static_cast<double>(w.in[0])) +
                   filters * (made + 16 * static_cast<double>(w.out[0]))};
}

// Eight channels side by side have their planes turned, and their results; of others 16 results of a row are
// made at once, whatever its width; what beginning and ending a row takes is 16 elements.
HostEffort depthwise_effort(const HostConv& c) {
  const double filters = c.group * c.results, rows = c.pixels / c.width;
  const std::string_view form = form_of(c);
  if (form == "depthwise-lanes")
    return {.form = form,
            .products = rounded_up(filters, 8) * c.taps * rounded_up(c.pixels, 4),
            .steps = filters * (c.read + c.pixels)};
  return {.form = form,
          .products = filters * c.taps * rows * rounded_up(c.width, 16),
          .steps = c.group * c.read + filters * (c.pixels + 16 * rows)};
}

HostEffort winograd_effort(const HostConv& c) {
  const auto n = static_cast<double>(c.tile);
  const auto tiles = static_cast<double>(winograd_tiles(c.sizes, c.tile));
  return {.form = form_of(c),
          .products = static_cast<double>(winograd_floats(c.sizes, c.tile)) * rounded_up(tiles, 8),
          .steps = (n + 2) * (n + 2) * tiles * (c.channels + c.results)};
}

// Of tiles: transformed weights, by every block.
double weight_bytes(const HostConv& c) {
  const double blocks = std::ceil(static_cast<double>(winograd_tiles(c.sizes, c.tile)) /
                                  static_cast<double>(winograd_tiles_at_once(c.sizes, c.tile)));
  return 4 * static_cast<double>(winograd_floats(c.sizes, c.tile)) * blocks;
}

// Rows are copied once, in pieces of 8 results.
HostEffort strip_effort(const HostConv& c) {
  const double rows = c.pixels / c.width;
  return {.form = form_of(c),
          .products = c.group * panel_rows(c.results) * c.channels * c.taps * rows * rounded_up(c.width, 8),
          .steps = c.group * (c.channels * c.read + c.results * c.pixels)};
}

// Integers are gathered by quads, and each result is scaled, rounded and clamped.
HostEffort summed_effort(const HostConv& c) {
  const double gathered = c.channels * c.taps * c.pixels;
  if (c.integers)
    return {.form = form_of(c),
            .products = c.group * integer_products(c),
            .steps = c.group * (gathered / 4 + c.results * c.pixels)};
  return {.form = form_of(c),
          .products = c.group * panel_rows(c.results) * c.channels * c.taps * rounded_up(c.pixels, 8),
          .steps = c.group * gathered};
}

HostEffort plain_effort(const HostConv& c) {
  const double results = c.group * c.results * c.pixels;
  return {.form = form_of(c), .products = results * c.channels * c.taps, .steps = results};
}

HostEffort effort_of(const HostConv& c) {
  HostEffort e = c.plain                     ? plain_effort(c)
                 : c.depthwise && c.integers ? integer_depthwise_effort(c)
                 : c.depthwise               ? depthwise_effort(c)
                 : c.tile != 0               ? winograd_effort(c)
                 : c.by_rows                 ? strip_effort(c)
                                             : summed_effort(c);
  e.products *= c.batch;
  e.steps *= c.batch;
  return e;
}

// Elements of 8 bytes: half as many in a register, and arithmetic that has no instruction for several.
bool is_wide(const ir::Graph& graph, const ir::Node& node) {
  auto wide = [&](ir::ValueId v) { return v.valid() && byte_size(graph.value(v).type.elem) == 8; };
  auto computed = [&](ir::ValueId v) { return wide(v) && !graph.is_constant(v); };
  return std::ranges::any_of(node.outputs, wide) || std::ranges::any_of(node.inputs, computed);
}

bool is_matrix(const ir::Node& node) {
  return node.is(Op::Gemm, Op::MatMul) || node.is(Op::QLinearMatMul, Op::MatMulInteger);
}

std::string_view other_form(const ir::Graph& graph, const ir::Node& node) {
  if (is_matrix(node)) {
    const Shape& out = graph.value(node.outputs[0]).type.shape;
    return out.size() < 2 || element_count(out) == out.back() ? "row" : "";
  }
  if (node.is(Op::ConvTranspose))
    return graph.value(node.inputs[0]).type.rank() > 4 || !graph.is_constant(node.inputs[1]) ? "plain" : "";
  if (node.is(Op::Transpose)) {
    const std::vector<int64_t> perm = ops::attr::perm(node);
    if (!perm.empty() && perm.back() + 1 == static_cast<int64_t>(perm.size())) return "rows";
  }
  if (node.is(Op::Softmax, Op::LogSoftmax)) {
    const auto rank = static_cast<int64_t>(graph.value(node.outputs[0]).type.shape.size());
    const auto axis = ops::normalize_axis(ops::attr::axis(node), rank);
    if (axis.ok() && *axis + 1 != rank) return "columns";
  }
  return is_wide(graph, node) ? "wide" : "";
}

double steps_of_node(const ir::Graph& graph, const ir::Node& node) {
  double out = 0, in = 0, taps = 1;
  for (ir::ValueId v : node.outputs)
    if (v.valid()) out += static_cast<double>(graph.value(v).type.elements());
  for (ir::ValueId v : node.inputs)
    if (v.valid() && !graph.is_constant(v)) in += static_cast<double>(graph.value(v).type.elements());
  if (ops::attr::has_window(node) && ops::macs(graph, node) == 0)
    for (int64_t k : ops::attr::kernel_shape(node)) taps *= static_cast<double>(k);
  return std::max(in, out * taps);
}

double constant_bytes(const ir::Graph& graph, const ir::Node& node) {
  double bytes = 0;
  for (ir::ValueId v : node.inputs)
    if (graph.is_constant(v)) bytes += static_cast<double>(graph.value(v).type.bytes());
  return bytes;
}

// The loop of the node before, an element-wise one's or a product's, computes it; a view needs none.
bool joins(const ir::Graph& graph, const ir::Node& node) {
  const ops::OpDef& def = ops::op_def(node);
  if (def.traits.moves == ops::Moves::Same) return true;
  const ir::ValueId in = node.inputs.empty() ? ir::ValueId() : node.inputs[0];
  if (def.scalar == nullptr || !in.valid() || !graph.value(in).producer.valid()) return false;
  const ops::OpDef& before = ops::op_def(graph.node(graph.value(in).producer));
  return (before.scalar != nullptr || before.traits.sums_products) && graph.use_count(in) == 1 &&
         !graph.is_output(in);
}

}  // namespace

HostEffort host_effort(const HostKernels& kernels, const ir::Node& node) {
  const ir::Graph& graph = kernels.graph();
  HostEffort e;
  const std::optional<HostConv> conv = host_conv(kernels, node);
  if (conv) {
    e = effort_of(*conv);
  } else {
    e.form = other_form(graph, node);
    e.products = static_cast<double>(ops::macs(graph, node));
    e.steps = steps_of_node(graph, node);
    e.calls = joins(graph, node) ? 0 : 1;
  }
  e.constant_bytes = conv && conv->tile != 0 ? weight_bytes(*conv) : constant_bytes(graph, node);
  return e;
}

std::string_view host_form(const HostKernels& kernels, const ir::Node& node) {
  const std::optional<HostConv> conv = host_conv(kernels, node);
  return conv ? form_of(*conv) : other_form(kernels.graph(), node);
}

}  // namespace mrvlc::partition
