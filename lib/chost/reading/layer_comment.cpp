// What generated C says of a layer: the model's names, shapes, products, the kernel and why that one.
#include "reading/layer_comment.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "mrvlc/ops/attributes.h"
#include "mrvlc/ops/op_kind.h"
#include "mrvlc/ops/work.h"
#include "mrvlc/support/saturating.h"
#include "naming/common_path.h"

namespace mrvlc::chost {
namespace {

// Those that compute layers; others help them.
constexpr Piece kLayerKernels[] = {Piece::attention,
                                   Piece::winograd,
                                   Piece::conv_rows,
                                   Piece::conv,
                                   Piece::depthwise,
                                   Piece::depthwise3,
                                   Piece::depthwise_lanes,
                                   Piece::gemm,
                                   Piece::row,
                                   Piece::gemv,
                                   Piece::gemv_half,
                                   Piece::recurrent,
                                   Piece::recurrent_half,
                                   Piece::pool_planes,
                                   Piece::integer_conv,
                                   Piece::integer_few,
                                   Piece::integer_depthwise,
                                   Piece::integer_matrix};

// In quotes, without the path of the model; of a long one the end, which says more.
std::string quoted(const Program& program, std::string_view name) {
  constexpr size_t kMost = 60;
  const std::string& path = program.module.path;
  const bool is_cut = is_below(name, path), is_long = name.size() - (is_cut ? path.size() : 0) > kMost;
  if (is_cut) name.remove_prefix(path.size());
  if (is_long) name.remove_prefix(name.size() - kMost);
  return fmt::format("'{}{}'", is_long ? "..." : is_cut ? ".../" : "", comment_text(name));
}

std::string node_text(const Program& program, ir::NodeId id) {
  const ir::Node& node = program.node(id);
  return comment_text(node.op->name) + (node.name.empty() ? "" : " " + quoted(program, node.name));
}

std::string shape_text(const TensorType& type) {
  if (type.wrapper != Wrapper::None || !type.has_rank()) return "?";
  std::string text;
  for (int64_t d = 0; d < type.rank(); ++d)
    text += fmt::format("{}{}{}", d == 0 ? "" : "x", type.is_dynamic(d) ? "<=" : "",
                        type.shape[static_cast<size_t>(d)]);
  return text.empty() ? "1" : text;
}

bool is_conv(const ir::Node& node) {
  return node.is(Op::Conv, Op::ConvTranspose, Op::QLinearConv, Op::ConvInteger);
}

bool is_pool(const ir::Node& node) {
  return node.is(Op::AveragePool, Op::MaxPool, Op::GlobalAveragePool, Op::GlobalMaxPool);
}

// What the dimensions of operand `i` mean, where its operator says so: " (NCHW)".
std::string letters(const ir::Node& node, size_t i, int64_t rank) {
  if (i == 0 && node.is(Op::LSTM, Op::GRU, Op::RNN) && rank == 3) return " (TNC)";
  if (rank < 3 || rank > 5 || (!is_conv(node) && !is_pool(node))) return {};
  const std::string_view space = std::string_view("DHW").substr(static_cast<size_t>(5 - rank));
  if (i == 0) return fmt::format(" (NC{})", space);
  if (!is_conv(node) || i != (node.is(Op::QLinearConv) ? 3u : 1u)) return {};
  return fmt::format(" ({}{})", node.is(Op::ConvTranspose) ? "CM" : "MC", space);
}

// The first and those that are no constant vectors or scalars (biases, scales, axes); constants with names.
std::string operands(const Program& program, const ir::Node& head) {
  constexpr size_t kMost = 4;
  std::string text;
  size_t shown = 0;
  for (size_t i = 0; i < head.inputs.size(); ++i) {
    if (!head.inputs[i].valid()) continue;
    const ir::Value& value = program.graph.value(head.inputs[i]);
    const bool is_constant = value.kind == ir::ValueKind::Constant, is_vector = value.type.rank() < 2;
    if (i > 0 && is_constant && is_vector) continue;
    if (shown++ == kMost) return text + ", ...";
    text += text.empty() ? "" : ", ";
    if (is_constant && !is_vector) text += quoted(program, value.name) + " ";
    text += shape_text(value.type) + letters(head, i, value.type.rank());
  }
  return text;
}

// ", stride 2x2", unless results are as dense as operands.
std::string stride_text(const ir::Node& node) {
  if (!is_conv(node) && !node.is(Op::AveragePool, Op::MaxPool)) return {};
  const std::vector<int64_t>& strides = ops::attr::strides(node);
  if (std::ranges::all_of(strides, [](int64_t s) { return s == 1; })) return {};
  return fmt::format(", stride {}", fmt::join(strides, "x"));
}

// ", pad 1", or the elements in front of each dimension, then behind it: ", pad 0 0 1 1".
std::string padding_text(const ir::Node& node) {
  if (!is_conv(node) && !node.is(Op::AveragePool, Op::MaxPool)) return {};
  const std::vector<int64_t>& pads = ops::attr::pads(node);
  if (std::ranges::all_of(pads, [](int64_t p) { return p == 0; })) return {};
  const bool alike = std::ranges::all_of(pads, [&](int64_t p) { return p == pads.front(); });
  return alike ? fmt::format(", pad {}", pads.front()) : fmt::format(", pad {}", fmt::join(pads, " "));
}

std::string results(const Program& program, const ir::Node& last) {
  std::string text;
  for (ir::ValueId v : last.outputs)
    if (v.valid()) text += (text.empty() ? "" : ", ") + shape_text(program.graph.value(v).type);
  return text;
}

// "; kernel conv_rows, expected fastest"
std::string kernel_text(const Program& program, ir::NodeId head, std::span<const Piece> needed) {
  const auto is_needed = [&](Piece piece) { return std::ranges::find(needed, piece) != needed.end(); };
  const auto kernel = std::ranges::find_if(kLayerKernels, is_needed);
  if (kernel == std::end(kLayerKernels)) return {};
  std::string text = fmt::format("; kernel {}", name(*kernel));
  const auto& choices = program.module.choices;  // the last is that of this layer, if it had one
  if (choices.empty() || choices.back().expr != program.expr(head)) return text;
  const bool fastest = program.options.optimize == Optimize::Speed;
  return text + (choices.back().taken != choices.back().expected ? ", as tuned"
                 : fastest                                       ? ", expected fastest"
                                                                 : ", one for all");
}

}  // namespace

std::string value_comment(const Program& program, ir::ValueId value, std::string_view what) {
  const ir::Value& v = program.graph.value(value);
  return fmt::format("/* {} {} {}. */\n", quoted(program, v.name), shape_text(v.type), what);
}

std::string region_comment(const Program& program, std::span<const ir::NodeId> nodes, uint32_t region) {
  if (nodes.size() == 1)
    return fmt::format("/* Region {}: {}. */", region, node_text(program, nodes.front()));
  return fmt::format("/* Region {}: {} nodes, from {} to {}. */", region, nodes.size(),
                     node_text(program, nodes.front()), node_text(program, nodes.back()));
}

std::string layer_comment(const Program& program, std::span<const ir::NodeId> nodes,
                          std::span<const Piece> needed) {
  constexpr size_t kMost = 8;  // nodes
  std::string names;
  int64_t macs = 0;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (i < kMost) names += (i == 0 ? "" : " + ") + node_text(program, nodes[i]);
    macs = saturating_add(macs, ops::macs(program.graph, program.node(nodes[i])));
  }
  if (nodes.size() > kMost) names += " + ...";
  const ir::Node& head = program.node(nodes.front());
  std::string text = fmt::format("/* {}: {}{}{} -> {}", names, operands(program, head), stride_text(head),
                                 padding_text(head), results(program, program.node(nodes.back())));
  if (macs > 0) text += fmt::format("; {} MAC", macs);
  return text + kernel_text(program, nodes.front(), needed) + ". */\n";
}

}  // namespace mrvlc::chost
