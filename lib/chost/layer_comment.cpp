// What a reader of generated C is told of a layer: ONNX's names, shapes and what their dimensions mean, products, the kernel and why it.
#include "layer_comment.h"

#include <fmt/format.h>

#include <algorithm>

#include "mrvlc/ops/op_kind.h"
#include "mrvlc/ops/work.h"
#include "mrvlc/support/saturating.h"

namespace mrvlc::chost {
namespace {

// Those that compute layers; others help them.
constexpr Piece kKernels[] = {Piece::winograd,        Piece::conv_rows,         Piece::conv,
                              Piece::depthwise,       Piece::depthwise3,        Piece::depthwise_lanes,
                              Piece::gemm,            Piece::gemv,              Piece::gemv_half,
                              Piece::recurrent,       Piece::recurrent_half,    Piece::pool_planes,
                              Piece::integer_conv,    Piece::integer_few,       Piece::integer_depthwise,
                              Piece::integer_matrix};

std::string name_of(const Program& program, ir::NodeId id) {
  const ir::Node& node = program.node(id);
  std::string text(node.op->name);
  if (!node.name.empty()) text += fmt::format(" '{}'", comment_text(node.name));
  return text;
}

std::string shape_text(const TensorType& type) {
  if (type.wrapper != Wrapper::None) return "?";
  std::string text;
  for (int64_t d = 0; d < type.rank(); ++d)
    text += fmt::format("{}{}{}", d == 0 ? "" : "x", type.is_dynamic(d) ? "<=" : "",
                        type.shape[static_cast<size_t>(d)]);
  return text.empty() ? "scalar" : text;
}

// What the dimensions of the first operand mean, where its operator says so.
std::string_view meaning(const ir::Node& node, int64_t rank) {
  if (node.is(Op::Gemm, Op::MatMul, Op::QLinearMatMul, Op::MatMulInteger) && rank == 2)
    return " (rows, columns)";
  if (node.is(Op::LSTM, Op::GRU, Op::RNN) && rank == 3) return " (time, batch, features)";
  if (!node.is(Op::Conv, Op::ConvTranspose, Op::QLinearConv, Op::ConvInteger, Op::AveragePool, Op::MaxPool) &&
      !node.is(Op::GlobalAveragePool, Op::GlobalMaxPool))
    return "";
  return rank == 3 ? " (batch, channels, columns)" : rank == 4 ? " (batch, channels, rows, columns)" : "";
}

std::string shapes(const Program& program, std::span<const ir::NodeId> nodes) {
  constexpr size_t kMost = 4;  // operands
  const ir::Node& head = program.node(nodes.front());
  std::string text;
  for (size_t i = 0; i < head.inputs.size(); ++i) {
    if (!head.inputs[i].valid()) continue;
    if (i == kMost) {
      text += ", ...";
      break;
    }
    const TensorType& type = program.graph.value(head.inputs[i]).type;
    text += fmt::format("{}{}{}", text.empty() ? "" : ", ", shape_text(type),
                        i == 0 ? meaning(head, type.rank()) : "");
  }
  const ir::Node& last = program.node(nodes.back());
  std::string results;
  for (ir::ValueId v : last.outputs) {
    if (!v.valid()) continue;
    results += fmt::format("{}{}", results.empty() ? "" : ", ", shape_text(program.graph.value(v).type));
  }
  return fmt::format("{} -> {}", text, results);
}

// "; kernel conv_rows, expected to be the fastest"
std::string kernel_text(const Program& program, ir::NodeId head, std::span<const Piece> needed) {
  const auto is_needed = [&](Piece piece) { return std::ranges::find(needed, piece) != needed.end(); };
  const auto kernel = std::ranges::find_if(kKernels, is_needed);
  if (kernel == std::end(kKernels)) return {};
  std::string text = fmt::format("; kernel {}", name(*kernel));
  const auto& choices = program.module.choices;
  const auto choice = std::ranges::find(choices, program.expr(head), &LayerChoice::expr);
  if (choice == choices.end()) return text;
  const bool fastest = program.options.optimize == Optimize::Speed;
  return text + (choice->tuned ? ", as tuned" : fastest ? ", expected to be the fastest" : ", common to all");
}

}  // namespace

std::string layer_comment(const Program& program, std::span<const ir::NodeId> nodes,
                          std::span<const Piece> needed) {
  constexpr size_t kMost = 8;  // nodes
  std::string names;
  int64_t macs = 0;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (i < kMost) names += fmt::format("{}{}", i == 0 ? "" : ", ", name_of(program, nodes[i]));
    macs = saturating_add(macs, ops::macs(program.graph, program.node(nodes[i])));
  }
  if (nodes.size() > kMost) names += ", ...";
  std::string text = fmt::format("/* {}: {}", names, shapes(program, nodes));
  if (macs > 0) text += fmt::format("; {} multiply-accumulates", macs);
  return text + kernel_text(program, nodes.front(), needed) + ". */\n";
}

}  // namespace mrvlc::chost
