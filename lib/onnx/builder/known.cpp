// Values that are known while importing: small ones are computed, as shapes of others may depend on them.
#include <algorithm>

#include "builder/builder.h"
#include "mrvlc/interp/interp.h"
#include "mrvlc/ops/op_kind.h"
#include "mrvlc/ops/random.h"
#include "mrvlc/ops/work.h"

namespace mrvlc::onnx {
namespace {

// Shapes, axes, pads and the arithmetic on them are small; anything larger is data and no concern of
// inference.
constexpr int64_t kMaxKnownElements = 65536;

bool small(const TensorType& type) {
  return type.elements() <= kMaxKnownElements;
}

bool can_be_known(ElementType elem) {
  return is_float(elem) || is_integer(elem) || elem == ElementType::Bool;
}

// Shape and Size need the type of their input alone (ONNX, operator Shape: start and end clamp to [0, rank]).
Tensor shape_of(const ir::Node& node, const TensorType& input, const TensorType& output) {
  int64_t rank = input.rank();
  int64_t start = node.op->attr_index("start") >= 0 && node.has_attr("start") ? node.int_attr("start") : 0;
  start = std::clamp<int64_t>(start < 0 ? start + rank : start, 0, rank);
  Tensor shape(output);
  for (int64_t i = 0; i < std::min(output.elements(), rank - start); ++i)
    shape.set_int(i, input.shape[static_cast<size_t>(start + i)]);
  return shape;
}

}  // namespace

const Tensor* Builder::known(ir::ValueId value) const {
  if (const Tensor* constant = graph_->constant(value)) return constant;
  auto graph = known_.find(graph_);
  if (graph == known_.end()) return nullptr;
  auto it = graph->second.find(value.index());
  return it == graph->second.end() ? nullptr : &it->second;
}

bool Builder::affordable(const ir::Node& node) {
  int64_t bytes = 0;
  for (ir::ValueId id : node.inputs) {
    if (id.valid() && !small(graph_->value(id).type)) return false;
  }
  for (ir::ValueId id : node.outputs) {
    const TensorType& type = graph_->value(id).type;
    if (!small(type) || !can_be_known(type.elem)) return false;
    bytes += type.bytes();
  }
  const int64_t work = ops::evaluation_work(*graph_, node);
  if (work > known_work_left_ || bytes > known_bytes_left_) return false;
  known_work_left_ -= work;
  known_bytes_left_ -= bytes;
  return true;
}

void Builder::learn(ir::NodeId id) {
  const ir::Node& node = graph_->node(id);
  if (node.outputs.empty() || !ir::bodies_of(node).empty()) return;
  auto is_static = [&](ir::ValueId v) { return !v.valid() || graph_->value(v).type.is_static(); };
  if (!std::all_of(node.outputs.begin(), node.outputs.end(), is_static)) return;
  auto is_sampled = [&](ir::ValueId v) { return v.valid() && sampled(v) != nullptr; };
  if (!std::all_of(node.inputs.begin(), node.inputs.end(), is_static) ||
      std::any_of(node.inputs.begin(), node.inputs.end(), is_sampled))
    return learn_sampled(node);
  if (node.is(Op::Constant) && node.op->attr_index("value") >= 0 && node.has_attr("value")) {
    const auto& value = std::get<Tensor>(node.attrs[static_cast<size_t>(node.op->attr_index("value"))]);
    known_[graph_].emplace(node.outputs[0].index(), value);
    return;
  }
  if (node.is(Op::Shape, Op::Size)) {
    const TensorType& input = graph_->value(node.inputs[0]).type;
    known_[graph_].emplace(node.outputs[0].index(),
                           node.is(Op::Shape)
                               ? shape_of(node, input, graph_->value(node.outputs[0]).type)
                               : Tensor::of<int64_t>(ElementType::I64, {}, {input.elements()}));
    return;
  }
  std::vector<const Tensor*> inputs;
  for (ir::ValueId in : node.inputs) {
    inputs.push_back(in.valid() ? known(in) : nullptr);
    if (in.valid() && inputs.back() == nullptr) return;
  }
  if (ops::is_random(node)) return;
  if (!affordable(node)) return;
  auto outputs = interp::evaluate(*graph_, node, inputs);
  if (!outputs.ok() || outputs->size() != node.outputs.size()) return;
  for (size_t k = 0; k < node.outputs.size(); ++k)
    known_[graph_].emplace(node.outputs[k].index(), std::move((*outputs)[k]));
}

const ops::SampledValue* Builder::sampled(ir::ValueId value) const {
  auto graph = sampled_.find(graph_);
  if (graph == sampled_.end()) return nullptr;
  auto it = graph->second.find(value.index());
  return it == graph->second.end() ? nullptr : &it->second;
}

// What follows from dynamic dimensions is computed once for each sample; if it is the same for all of them,
// it is taken to be known. Should that be wrong, what is inferred from it is found out at run time.
void Builder::learn_sampled(const ir::Node& node) {
  std::array<std::vector<Tensor>, ops::kSamples> results;
  const bool shape = node.is(Op::Shape, Op::Size);
  if (node.outputs.size() != 1 || ops::is_random(node) || (!shape && !affordable(node))) return;
  for (int k = 0; k < ops::kSamples; ++k) {
    const auto at = static_cast<size_t>(k);
    if (shape) {
      const TensorType& type = graph_->value(node.inputs[0]).type;
      if (type.wrapper != Wrapper::None || !type.has_rank()) return;
      const TensorType sample = ops::sample_type(type, k);
      results[at] = {node.is(Op::Shape) ? shape_of(node, sample, graph_->value(node.outputs[0]).type)
                                        : Tensor::of<int64_t>(ElementType::I64, {}, {sample.elements()})};
      continue;
    }
    std::vector<const Tensor*> inputs;
    for (ir::ValueId in : node.inputs) {
      const ops::SampledValue* value = in.valid() ? sampled(in) : nullptr;
      inputs.push_back(value != nullptr ? &(*value)[at] : in.valid() ? known(in) : nullptr);
      if (in.valid() && inputs.back() == nullptr) return;
    }
    auto outputs = interp::evaluate(*graph_, node, inputs);
    if (!outputs.ok() || outputs->size() != 1) return;
    results[at] = *std::move(outputs);
  }
  sampled_[graph_].emplace(node.outputs[0].index(),
                           ops::SampledValue{results[0][0], results[1][0], results[2][0]});
}

}  // namespace mrvlc::onnx
