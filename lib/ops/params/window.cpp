// Spatial windows: Conv, ConvTranspose and the pools. Formulas: ONNX operator specification, Conv-11,
// ConvTranspose-11, MaxPool-12, AveragePool-19.
#include <algorithm>

#include "mrvlc/ops/op_kind.h"
#include "mrvlc/ops/work.h"
#include "mrvlc/support/diag/ops.h"
#include "window/window_attrs.h"

namespace mrvlc::ops {
namespace {

// A pool's window is described by numbers alone; work and tables proportional to it must stay bounded.
constexpr int64_t kMaxTaps = int64_t{1} << 24;

enum class AutoPad { Explicit, SameUpper, SameLower, Valid };

Result<AutoPad> auto_pad(const InferContext& context) {
  const std::string& text = context.string_attr("auto_pad");
  if (text == "NOTSET" || text.empty()) return AutoPad::Explicit;
  if (text == "SAME_UPPER") return AutoPad::SameUpper;
  if (text == "SAME_LOWER") return AutoPad::SameLower;
  if (text == "VALID") return AutoPad::Valid;
  return bad_attr("auto_pad", fmt::format("has the unknown value '{}'", printable(text)));
}

int64_t window_extent(const WindowParams& p, size_t d) {
  return (p.kernel[d] - 1) * p.dilations[d] + 1;
}

// Spatial input sizes, strides, dilations and explicit pads. The kernel is set by the caller before.
Status read_window(const InferContext& context, WindowParams& p) {
  const Shape& x = context.type(0).shape;
  p.input.assign(x.begin() + 2, x.end());
  size_t rank = p.input.size();
  for (int64_t dim : p.input) MRVLC_TRY(check_dim(dim, "a spatial size"));
  MRVLC_ASSIGN(p.strides, extents(context, "strides", rank, 1, 1));
  MRVLC_ASSIGN(p.dilations, extents(context, "dilations", rank, 1, 1));
  MRVLC_ASSIGN(auto pads, extents(context, "pads", 2 * rank, 0, 0));
  p.pads_begin.assign(pads.begin(), pads.begin() + static_cast<ptrdiff_t>(rank));
  p.pads_end.assign(pads.begin() + static_cast<ptrdiff_t>(rank), pads.end());
  for (size_t d = 0; d < rank; ++d) {
    auto span = checked_mul(p.kernel[d] - 1, p.dilations[d]);
    if (!span || *span > kMaxExtent)
      return bad_attr("dilations", fmt::format("make the window larger than {}", kMaxExtent));
  }
  return {};
}

// Splits the padding that makes the output ceil(input / stride); the odd element goes to the end or to the
// beginning.
void pad_same(WindowParams& p, size_t d, AutoPad mode) {
  int64_t output = ceil_div(p.input[d], p.strides[d]);
  int64_t total = std::max<int64_t>(0, (output - 1) * p.strides[d] + window_extent(p, d) - p.input[d]);
  int64_t small = total / 2, large = total - small;
  p.pads_begin[d] = mode == AutoPad::SameUpper ? small : large;
  p.pads_end[d] = mode == AutoPad::SameUpper ? large : small;
}

Status window_output(const InferContext& context, WindowParams& p, bool ceil_mode) {
  MRVLC_ASSIGN(AutoPad mode, auto_pad(context));
  for (size_t d = 0; d < p.input.size(); ++d) {
    if (mode == AutoPad::Valid) p.pads_begin[d] = p.pads_end[d] = 0;
    if (mode == AutoPad::SameUpper || mode == AutoPad::SameLower) pad_same(p, d, mode);
    int64_t room = p.input[d] + p.pads_begin[d] + p.pads_end[d] - window_extent(p, d);
    if (p.input[d] == 0 || room < 0) {
      return bad_operands(
          fmt::format("the window of {} does not fit the padded input of {} along spatial dimension {}",
                      window_extent(p, d), room + window_extent(p, d), d));
    }
    bool up = ceil_mode && mode != AutoPad::SameUpper && mode != AutoPad::SameLower;
    int64_t output = (up ? ceil_div(room, p.strides[d]) : room / p.strides[d]) + 1;
    // A window that would begin in the padding at the end is dropped.
    if (up && (output - 1) * p.strides[d] >= p.input[d] + p.pads_begin[d]) --output;
    p.output.push_back(output);
  }
  return {};
}

Status kernel_of_weights(const InferContext& context, ConvParams& p) {
  const Shape& x = context.type(0).shape;
  const Shape& w = context.type(1).shape;
  MRVLC_TRY(check_rank(context, 0, 3));
  MRVLC_TRY(check_rank(context, 1, context.type(0).rank(), context.type(0).rank()));
  p.kernel.assign(w.begin() + 2, w.end());
  const std::vector<int64_t>& given = context.ints_attr("kernel_shape");
  if (!given.empty() && given != p.kernel) {
    return bad_attr("kernel_shape",
                    fmt::format("is {}, but the weights are {}", to_string(given), to_string(w)));
  }
  for (int64_t k : p.kernel) {
    if (k < 1 || k > kMaxExtent) return bad_operands(fmt::format("weights of shape {}", to_string(w)));
  }
  p.batch = x[0];
  p.in_channels = x[1];
  p.group = context.int_attr("group");
  if (p.group < 1 || p.in_channels < 1 || p.in_channels % p.group != 0) {
    return bad_attr(
        "group", fmt::format("is {}, which does not divide the {} input channels", p.group, p.in_channels));
  }
  return {};
}

Status check_bias(const InferContext& context, const ConvParams& p) {
  if (!context.has(2)) return {};
  const TensorType& bias = context.type(2);
  if (bias.shape == Shape{p.out_channels}) return {};
  return make_diag<DiagCode::MRV0205>(to_string(bias.shape), to_string(context.type(1).shape),
                                      fmt::format("the bias must have {} elements", p.out_channels));
}

// ConvTranspose: sizes of the output from the padding, or the padding from the attribute output_shape.
Status transpose_output(const InferContext& context, ConvParams& p) {
  MRVLC_ASSIGN(AutoPad mode, auto_pad(context));
  size_t rank = p.input.size();
  const std::vector<int64_t>& wanted = context.ints_attr("output_shape");
  if (!wanted.empty() && wanted.size() != rank) {
    return bad_attr("output_shape", fmt::format("has {} entries, expected {}", wanted.size(), rank));
  }
  bool same = mode == AutoPad::SameUpper || mode == AutoPad::SameLower;
  for (size_t d = 0; d < rank; ++d) {
    if (p.input[d] == 0) return bad_operands(fmt::format("spatial dimension {} is empty", d));
    auto reach = checked_mul(p.strides[d], p.input[d] - 1);
    if (!reach || *reach > kMaxElements) return too_large();
    int64_t full = *reach + p.output_padding[d] + window_extent(p, d);
    if (mode == AutoPad::Valid) p.pads_begin[d] = p.pads_end[d] = 0;
    int64_t output = full - p.pads_begin[d] - p.pads_end[d];
    if (!wanted.empty() || same) {
      output = wanted.empty() ? p.input[d] * p.strides[d] : wanted[d];
      if (output > kMaxElements) return too_large();
      if (output < 1) return bad_attr("output_shape", fmt::format("has the entry {}", output));
      int64_t total = std::max<int64_t>(0, full - output);
      // SAME_UPPER puts the odd element at the end, everything else at the beginning (ONNX ConvTranspose-11).
      p.pads_begin[d] = mode == AutoPad::SameUpper ? total / 2 : total - total / 2;
      p.pads_end[d] = total - p.pads_begin[d];
    }
    if (output < 1) return bad_attr("pads", fmt::format("leave nothing of spatial dimension {}", d));
    p.output.push_back(output);
  }
  return {};
}

Status global_window(const InferContext& context, PoolParams& p) {
  const Shape& x = context.type(0).shape;
  p.input.assign(x.begin() + 2, x.end());
  p.kernel = p.input;
  size_t rank = p.input.size();
  p.strides.assign(rank, 1);
  p.dilations.assign(rank, 1);
  p.pads_begin.assign(rank, 0);
  p.pads_end.assign(rank, 0);
  p.output.assign(rank, 1);
  for (int64_t dim : p.input) {
    if (dim < 1) return bad_operands("a spatial dimension is empty");
  }
  return {};
}

Status local_window(const InferContext& context, PoolParams& p) {
  size_t rank = context.type(0).shape.size() - 2;
  if (context.ints_attr("kernel_shape").empty()) return bad_attr("kernel_shape", "is missing");
  MRVLC_ASSIGN(p.kernel, extents(context, "kernel_shape", rank, 1, 1));
  MRVLC_TRY(read_window(context, p));
  for (size_t d = 0; d < rank; ++d) {
    if (p.pads_begin[d] >= window_extent(p, d) || p.pads_end[d] >= window_extent(p, d)) {
      return bad_attr("pads", fmt::format("reach {} and {} beyond the input, the window is only {} wide",
                                          p.pads_begin[d], p.pads_end[d], window_extent(p, d)));
    }
  }
  auto taps = checked_product(p.kernel);
  if (!taps || *taps > kMaxTaps)
    return bad_attr("kernel_shape", fmt::format("has more than {} elements", kMaxTaps));
  p.ceil_mode = context.int_attr("ceil_mode") != 0;
  MRVLC_TRY(window_output(context, p, p.ceil_mode));  // the pads of auto_pad, too
  // Without padding it says nothing: what a window of ceil_mode has beyond it never counts.
  const auto pads = [](const Shape& sizes) {
    return std::ranges::any_of(sizes, [](int64_t n) { return n != 0; });
  };
  p.count_include_pad = context.op->kind == Op::AveragePool && context.int_attr("count_include_pad") != 0 &&
                        (pads(p.pads_begin) || pads(p.pads_end));
  return {};
}

}  // namespace

std::vector<ir::AttrSpec> conv_attrs() {
  using namespace spec;
  return {with_string("auto_pad", "NOTSET"),
          optional("dilations", ir::AttrKind::Ints),
          with_int("group", 1),
          optional("kernel_shape", ir::AttrKind::Ints),
          optional("pads", ir::AttrKind::Ints),
          optional("strides", ir::AttrKind::Ints)};
}

Result<std::vector<int64_t>> extents(const InferContext& context, std::string_view attr, size_t count,
                                     int64_t low, int64_t fallback) {
  const std::vector<int64_t>& given = context.ints_attr(attr);
  if (given.empty()) return std::vector<int64_t>(count, fallback);
  if (given.size() != count)
    return bad_attr(attr, fmt::format("has {} entries, expected {}", given.size(), count));
  for (int64_t v : given) {
    if (v < low || v > kMaxExtent)
      return bad_attr(attr, fmt::format("has the entry {}, outside {} to {}", v, low, kMaxExtent));
  }
  return given;
}

Result<ConvParams> conv_params(const InferContext& context) {
  ConvParams p;
  MRVLC_TRY(kernel_of_weights(context, p));
  const Shape& w = context.type(1).shape;
  p.out_channels = w[0];
  if (p.in_channels / p.group != w[1]) {
    return make_diag<DiagCode::MRV0205>(to_string(context.type(0).shape), to_string(w),
                                        fmt::format("{} channels in {} groups", p.in_channels, p.group));
  }
  if (p.out_channels < 1 || p.out_channels % p.group != 0) {
    return bad_attr(
        "group", fmt::format("is {}, which does not divide the {} output channels", p.group, p.out_channels));
  }
  MRVLC_TRY(check_bias(context, p));
  MRVLC_TRY(read_window(context, p));
  MRVLC_TRY(window_output(context, p, false));
  return p;
}

Result<ConvParams> conv_transpose_params(const InferContext& context) {
  ConvParams p;
  MRVLC_TRY(kernel_of_weights(context, p));
  const Shape& w = context.type(1).shape;
  if (w[0] != p.in_channels) {
    return make_diag<DiagCode::MRV0205>(to_string(context.type(0).shape), to_string(w),
                                        "the channels differ");
  }
  auto channels = checked_mul(w[1], p.group);
  if (!channels || *channels < 1 || *channels > kMaxElements)
    return bad_attr("group", "gives no valid number of channels");
  p.out_channels = *channels;
  MRVLC_TRY(check_bias(context, p));
  MRVLC_TRY(read_window(context, p));
  MRVLC_ASSIGN(p.output_padding, extents(context, "output_padding", p.input.size(), 0, 0));
  for (size_t d = 0; d < p.input.size(); ++d) {
    if (p.output_padding[d] >= std::max(p.strides[d], p.dilations[d])) {
      return bad_attr("output_padding",
                      fmt::format("{} is not below the stride or the dilation", p.output_padding[d]));
    }
  }
  MRVLC_TRY(transpose_output(context, p));
  return p;
}

Result<PoolParams> pool_params(const InferContext& context) {
  PoolParams p;
  std::string_view name = context.op->name;
  MRVLC_TRY(check_rank(context, 0, 3));
  p.is_max = name == "MaxPool" || name == "GlobalMaxPool";
  p.batch = context.type(0).shape[0];
  p.channels = context.type(0).shape[1];
  MRVLC_TRY(name.starts_with("Global") ? global_window(context, p) : local_window(context, p));
  return p;
}

std::optional<std::vector<int64_t>> window_default(const ir::Graph& graph, const ir::Node& node,
                                                   std::string_view attribute) {
  const bool pool = node.is(Op::MaxPool, Op::AveragePool);
  if (!pool && !node.is(Op::Conv, Op::ConvTranspose)) return std::nullopt;
  const InferContext context = infer_context(graph, node);
  WindowParams w;
  if (pool) {
    auto p = pool_params(context);
    if (!p.ok()) return std::nullopt;
    w = *std::move(p);
  } else {
    auto p = node.is(Op::Conv) ? conv_params(context) : conv_transpose_params(context);
    if (!p.ok()) return std::nullopt;
    w = *std::move(p);
  }
  if (attribute == "kernel_shape") return w.kernel;
  if (attribute == "strides") return w.strides;
  if (attribute == "dilations") return w.dilations;
  if (attribute != "pads") return std::nullopt;
  w.pads_begin.insert(w.pads_begin.end(), w.pads_end.begin(), w.pads_end.end());
  return w.pads_begin;
}

}  // namespace mrvlc::ops
