// Fusion on the host: a convolution or matrix product takes the chain of element-wise nodes behind it as its
// epilogue, an element-wise node the chain behind it into its loop. A group runs where its last node stood,
// so that every operand is there.
#include <algorithm>

#include "mrvlc/ops/attributes.h"
#include "mrvlc/ops/dynamic_shapes.h"
#include "mrvlc/ops/op_kind.h"
#include "mrvlc/ops/params.h"
#include "mrvlc/partition/partition.h"
#include "program.h"

namespace mrvlc::chost {
namespace {

constexpr size_t kMaxGroup = 24;

}  // namespace

bool all_f32(const ir::Graph& graph, const ir::Node& node) {
  auto f32 = [&](ir::ValueId v) {
    const TensorType& type = graph.value(v).type;
    return type.elem == ElementType::F32 && type.is_static();
  };
  for (ir::ValueId v : node.inputs) {
    if (v.valid() && !f32(v)) return false;
  }
  return node.outputs.size() == 1 && f32(node.outputs[0]);
}

bool is_dynamic_product(const ir::Graph& graph, const ir::Node& node) {
  if (!is_matrix_product(node) && !is_packed_conv(graph, node)) return false;
  const TensorType& type = graph.value(node.inputs[0]).type;
  if (type.elem != ElementType::F32 || type.wrapper != Wrapper::None) return false;
  if (is_matrix_product(node)) return true;
  return is_packed_conv(graph, node) && type.dynamic == 1 && graph.value(node.outputs[0]).type.dynamic <= 1;
}

bool is_elementwise(const ir::Node& node) {
  const auto& def = ops::op_def(node);
  return def.scalar != nullptr && def.scalar->c_expr != nullptr;
}

namespace {

class FusionGroupBuilder {
 public:
  explicit FusionGroupBuilder(const Program& program)
      : program_(program),
        graph_(program.graph),
        cpu_(graph_.node_slots()),
        group_of_(graph_.node_slots(), kNone) {}

  std::vector<FusionGroup> run() {
    const auto is_free = [this](ir::NodeId n) { return cpu_[n.index()] && group_of_[n.index()] == kNone; };
    for (const auto& step : program_.partition.steps) {
      if (step.kind == partition::Step::Kind::Cpu) cpu_[step.node.index()] = true;
    }
    for (const auto& step : program_.partition.steps) {
      if (step.kind == partition::Step::Kind::Cpu && graph_.node(step.node).is(Op::QuantizeLinear))
        add(quantised_chain(graph_, graph_.node(step.node), is_free));
    }
    for (const auto& step : program_.partition.steps) {
      if (step.kind == partition::Step::Kind::Cpu && group_of_[step.node.index()] == kNone) grow(step.node);
    }
    std::vector<FusionGroup> groups;
    for (const auto& step : program_.partition.steps) {
      if (step.kind == partition::Step::Kind::Region) {
        FusionGroup group;
        group.region = static_cast<int>(step.region);
        for (const auto& layer : program_.partition.regions[step.region].layers) {
          group.nodes.insert(group.nodes.end(), layer.nodes.begin(), layer.nodes.end());
        }
        groups.push_back(std::move(group));
      } else if (step.kind == partition::Step::Kind::Call) {
        FusionGroup group;
        group.nodes = program_.partition.calls[step.call].nodes;
        group.call = static_cast<int>(step.call);
        groups.push_back(std::move(group));
      } else if (auto& group = groups_[group_of_[step.node.index()]]; group.back() == step.node) {
        // Where its last node stands: only there the operands of all its nodes have been computed.
        groups.push_back({std::move(group), -1, -1, false});
      }
    }
    return groups;
  }

 private:
  void grow(ir::NodeId head) {
    std::vector<ir::NodeId> group = {head};
    const ir::Node& first = graph_.node(head);
    bool elementwise = is_elementwise(first) && all_f32(graph_, first);
    if (elementwise || takes_epilogue(first)) {
      while (group.size() < kMaxGroup) {
        ir::NodeId next = next_in_chain(first, group.back(), elementwise);
        if (!next.valid()) break;
        group.push_back(next);
      }
      const auto tail =
          attention_tail(graph_, first, group.back(), [this](ir::NodeId id) { return only_reader(id); });
      group.insert(group.end(), tail.begin(), tail.end());
    }
    if (const ir::NodeId clip = only_reader(head);
        group.size() == 1 && clip.valid() && takes_bounds(graph_, first, graph_.node(clip)))
      group.push_back(clip);
    add(std::move(group));
  }

  void add(std::vector<ir::NodeId> group) {
    if (group.empty()) return;
    for (ir::NodeId n : group) group_of_[n.index()] = static_cast<uint32_t>(groups_.size());
    groups_.push_back(std::move(group));
  }

  // On the CPU as well, and in no group yet.
  ir::NodeId only_reader(ir::NodeId id) const {
    const ir::ValueId value = graph_.node(id).outputs[0];
    if (graph_.use_count(value) != 1 || graph_.is_output(value)) return {};
    const ir::NodeId user = graph_.value(value).users.front();
    return cpu_[user.index()] && group_of_[user.index()] == kNone ? user : ir::NodeId();
  }

  bool takes_epilogue(const ir::Node& node) const {
    if (!all_f32(graph_, node) && !dynamic_product(node)) return false;
    if (is_packed_conv(graph_, node)) return true;
    if (!is_matrix_product(node)) return false;
    // alpha is folded into a constant right operand only, of floats.
    if (node.is(Op::Gemm) && ops::attr::alpha(node) != 1.0f &&
        (!graph_.is_constant(node.inputs[1]) || program_.stores_halves(node.inputs[1])))
      return false;
    // A Gemm whose C is not a row vector known at compile time adds it after the product, see matmul.cpp.
    if (!node.is(Op::Gemm) || node.inputs.size() < 3 || !node.inputs[2].valid()) return true;
    const Shape& c = graph_.value(node.inputs[2]).type.shape;
    OperandKind kind = operand_kind(c, graph_.value(node.outputs[0]).type.shape);
    bool one_row = kind == OperandKind::Full && graph_.value(node.outputs[0]).type.shape[0] == 1;
    return graph_.is_constant(node.inputs[2]) &&
           (kind == OperandKind::Scalar || kind == OperandKind::Column || one_row);
  }

  bool dynamic_product(const ir::Node& node) const {
    return ops::has_dynamic_shapes(graph_, node) && is_dynamic_product(graph_, node);
  }

  // Behind a product of dynamic shape: numbers, or vectors of numbers over a dimension that is not dynamic.
  bool fits_dynamic(const ir::Node& head, const ir::Node& node, ir::ValueId value) const {
    const TensorType& type = graph_.value(value).type;
    if (graph_.value(node.outputs[0]).type != type || node.outputs.size() != 1) return false;
    for (ir::ValueId operand : node.inputs) {
      if (operand == value || !operand.valid()) continue;
      const Tensor* constant = graph_.constant(operand);
      if (constant == nullptr || constant->elem() != ElementType::F32) return false;
      OperandKind kind = operand_kind(constant->shape(), type.shape);
      bool vector = kind == (is_matrix_product(head) ? OperandKind::Column : OperandKind::Row) &&
                    !type.is_dynamic(is_matrix_product(head) ? type.rank() - 1 : 1);
      if (kind != OperandKind::Scalar && !vector) return false;
    }
    return true;
  }

  ir::NodeId next_in_chain(const ir::Node& head, ir::NodeId last, bool elementwise) const {
    ir::ValueId value = graph_.node(last).outputs[0];
    if (graph_.use_count(value) != 1 || graph_.is_output(value)) return {};
    ir::NodeId user = graph_.value(value).users.front();
    const ir::Node& node = graph_.node(user);
    if (!cpu_[user.index()] || group_of_[user.index()] != kNone || !is_elementwise(node)) return {};
    if (!graph_.value(value).type.is_static()) return fits_dynamic(head, node, value) ? user : ir::NodeId();
    if (!all_f32(graph_, node)) return {};
    const Shape& shape = graph_.value(value).type.shape;
    if (graph_.value(node.outputs[0]).type.shape != shape) return {};
    if (shape != graph_.value(head.outputs[0]).type.shape) return {};
    for (ir::ValueId operand : node.inputs) {
      if (operand == value || !operand.valid() || elementwise) continue;
      OperandKind kind = operand_kind(graph_.value(operand).type.shape, shape);
      bool row_ok = is_packed_conv(graph_, head), column_ok = is_matrix_product(head);
      bool ok = kind == OperandKind::Scalar || kind == OperandKind::Full ||
                (kind == OperandKind::Row && row_ok) || (kind == OperandKind::Column && column_ok);
      if (!ok) return {};
    }
    return user;
  }

  const Program& program_;
  const ir::Graph& graph_;
  static constexpr uint32_t kNone = UINT32_MAX;
  std::vector<bool> cpu_;           // by node
  std::vector<uint32_t> group_of_;  // by node
  std::vector<std::vector<ir::NodeId>> groups_;
};

}  // namespace

std::vector<FusionGroup> make_fusion_groups(const Program& program) {
  return FusionGroupBuilder(program).run();
}

OperandKind operand_kind(const Shape& operand, const Shape& result) {
  if (element_count(operand) == 1 && operand.size() <= result.size()) return OperandKind::Scalar;
  if (operand == result) return OperandKind::Full;
  if (operand.size() > result.size()) return OperandKind::Other;
  size_t lead = result.size() - operand.size(), varying = result.size();
  for (size_t i = 0; i < operand.size(); ++i) {
    if (operand[i] == 1) continue;
    if (operand[i] != result[lead + i] || varying != result.size()) {
      // More than one dimension varies: only the whole result, with leading ones left out, is handled.
      return element_count(operand) == element_count(result) ? OperandKind::Full : OperandKind::Other;
    }
    varying = lead + i;
  }
  if (element_count(operand) == element_count(result)) return OperandKind::Full;
  if (varying + 1 == result.size()) return OperandKind::Column;
  return varying == 1 ? OperandKind::Row : OperandKind::Other;
}

bool is_alias_op(const ir::Graph& graph, const ir::Node& node) {
  bool reshape = ops::traits(node).moves == ops::Moves::Same ||
                 (node.is(Op::Dropout) && node.outputs.size() == 1 && node.inputs.size() < 3);
  bool same_cast = node.is(Op::Cast);
  if ((!reshape && !same_cast) || node.inputs.empty() || !node.inputs[0].valid()) return false;
  if (ops::has_dynamic_shapes(graph, node)) return false;
  return graph.value(node.inputs[0]).type.elem == graph.value(node.outputs[0]).type.elem &&
         graph.value(node.inputs[0]).type.elem != ElementType::String;
}

namespace {

// Taps are a table, and phases of the stride code of their own.
bool is_small_window(const ir::Graph& graph, const ir::Node& node) {
  constexpr int64_t kMaxTaps = 4096, kMaxPhases = 1024;
  int64_t taps = 1, phases = 1;
  const Shape& weights = graph.value(node.inputs[1]).type.shape;
  for (size_t d = 2; d < weights.size() && taps <= kMaxTaps; ++d) taps *= std::min(weights[d], kMaxTaps + 1);
  if (node.is(Op::Conv)) return taps <= kMaxTaps;
  for (int64_t stride : ops::attr::strides(node)) {
    phases *= std::min(stride, kMaxPhases + 1);
    if (phases > kMaxPhases) return false;
  }
  return taps <= kMaxTaps;
}

bool has_constant_weights(const ir::Graph& graph, const ir::Node& node) {
  const bool has_bias = node.inputs.size() > 2 && node.inputs[2].valid();
  return graph.is_constant(node.inputs[1]) && (!has_bias || graph.is_constant(node.inputs[2]));
}

}  // namespace

bool is_packed_conv(const ir::Graph& graph, const ir::Node& node) {
  if (!node.is(Op::Conv, Op::ConvTranspose)) return false;
  const int64_t rank = graph.value(node.inputs[0]).type.rank();
  return (rank == 3 || rank == 4) && has_constant_weights(graph, node) && is_small_window(graph, node);
}

bool is_plane_conv(const ir::Graph& graph, const ir::Node& node) {
  if (!node.is(Op::Conv) || graph.value(node.inputs[0]).type.rank() != 5) return false;
  return has_constant_weights(graph, node) && is_small_window(graph, node);
}

bool is_matrix_product(const ir::Node& node) {
  return node.is(Op::Gemm, Op::MatMul);
}

}  // namespace mrvlc::chost
