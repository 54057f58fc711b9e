// Attribute access of the contexts, and the editing of nodes of older opsets.
#include <algorithm>

#include "mrvlc/ops/op.h"

namespace mrvlc::ops {

const ir::Attr& InferContext::attr(std::string_view name) const {
  return (*attrs)[static_cast<size_t>(op->attr_index(name))];
}
int64_t InferContext::int_attr(std::string_view name) const {
  return std::get<int64_t>(attr(name));
}
float InferContext::float_attr(std::string_view name) const {
  return std::get<float>(attr(name));
}
const std::string& InferContext::string_attr(std::string_view name) const {
  return std::get<std::string>(attr(name));
}
const std::vector<int64_t>& InferContext::ints_attr(std::string_view name) const {
  static const std::vector<int64_t> none;
  const ir::Attr& a = attr(name);
  return ir::is_set(a) ? std::get<std::vector<int64_t>>(a) : none;
}

InferContext EvalContext::infer_view() const {
  InferContext view;
  view.op = op;
  view.attrs = attrs;
  view.constants = inputs;
  for (const Tensor* t : inputs) view.types.push_back(t != nullptr ? &t->type() : nullptr);
  view.num_outputs = outputs != nullptr ? outputs->size() : 1;
  return view;
}

const ir::Attr* RawNode::find(std::string_view attr) const {
  for (const auto& [name, value] : attrs) {
    if (name == attr) return &value;
  }
  return nullptr;
}

ir::Attr RawNode::take(std::string_view attr) {
  auto it = std::find_if(attrs.begin(), attrs.end(), [&](const auto& a) { return a.first == attr; });
  if (it == attrs.end()) return {};
  ir::Attr value = std::move(it->second);
  attrs.erase(it);
  return value;
}

void RawNode::add_constant_input(size_t at, Tensor tensor) {
  if (inputs.size() <= at) inputs.resize(at + 1, -1);
  inputs[at] = -2 - static_cast<int64_t>(new_constants.size());
  new_constants.push_back(std::move(tensor));
}

const TensorType* RawNode::input_type(size_t i) const {
  if (i >= inputs.size() || inputs[i] < 0) return nullptr;
  auto at = static_cast<size_t>(inputs[i]);
  if (at >= input_types.size() || input_types[at].elem == ElementType::Undefined) return nullptr;
  return &input_types[at];
}

}  // namespace mrvlc::ops
