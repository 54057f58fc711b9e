// The same model with inputs of other sizes.
#include <algorithm>

#include "grow.h"

namespace mrvlc::graphs {
namespace {

constexpr int kSizes = 2;  // beside the first

// Of the new shape; its elements are some of the old ones, so that indices stay within their range.
Tensor resized(Dice& dice, const Tensor& from, const Shape& shape) {
  Tensor to(TensorType{from.elem(), shape});
  const bool whole = !is_float(from.elem());
  for (int64_t i = 0; i < to.elements(); ++i) {
    const int64_t k = dice.pick(0, from.elements() - 1);
    whole ? to.set_int(i, from.as_int(k)) : to.set_double(i, from.as_double(k));
  }
  return to;
}

std::vector<int64_t> sizes_of_inputs(const Model& model) {
  std::vector<int64_t> sizes;
  for (int v : model.inputs) {
    const Tensor& data = model.values[static_cast<size_t>(v)].data;
    for (int64_t d : data.shape())
      if (d > 1 && data.elem() != ElementType::String) sizes.push_back(d);
  }
  return sizes;
}

// Every input, with `to` where a dimension is `from`.
std::vector<Tensor> inputs_with(Dice& dice, const Model& model, int64_t from, int64_t to) {
  std::vector<Tensor> out;
  for (int v : model.inputs) {
    const Tensor& data = model.values[static_cast<size_t>(v)].data;
    Shape shape = data.shape();
    std::replace(shape.begin(), shape.end(), from, to);
    const bool stays = shape == data.shape() || data.elements() == 0 || data.elem() == ElementType::String;
    out.push_back(stays ? data : resized(dice, data, shape));
  }
  return out;
}

}  // namespace

// What all values are, in the order of the model; empty when it does not take these inputs, or when they make
// it a model that implementations cannot be expected to agree on.
std::vector<Tensor> Grower::run_at(const std::vector<Tensor>& inputs) {
  Grower g(dice.next());
  g.coarse = coarse;
  g.model.values = model.values;
  std::vector<Value>& values = g.model.values;
  for (size_t i = 0; i < inputs.size(); ++i) {
    Value& value = values[static_cast<size_t>(model.inputs[i])];
    value.data = value.shaken = inputs[i];
  }
  for (const Node& node : model.nodes) {
    auto data = compute(g.model, node, false), shaken = compute(g.model, node, true);
    if (!data.ok() || !shaken.ok() || !g.admit(node, *data, *shaken)) return {};
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      Value& value = values[static_cast<size_t>(node.outputs[i])];
      if ((*data)[i].type().rank() != value.data.type().rank()) return {};
      value.shaken = value.exact ? (*data)[i] : shake(dice, std::move((*shaken)[i]), coarse);
      value.data = std::move((*data)[i]);
    }
  }
  std::vector<Tensor> out;
  for (Value& value : values) out.push_back(std::move(value.data));
  return out;
}

void Grower::vary_sizes() {
  for (int attempt = 0; attempt < 4; ++attempt) {
    const std::vector<int64_t> sizes = sizes_of_inputs(model);
    if (sizes.empty()) return;
    const int64_t from = dice.of(sizes);
    std::vector<std::vector<Tensor>> found;
    for (int k = 0; k < kSizes; ++k) {
      const int64_t to = k == 0 ? from + dice.pick(1, 3) : dice.pick(1, from - 1);
      auto values = run_at(inputs_with(dice, model, from, to));
      if (!values.empty()) found.push_back(std::move(values));
    }
    if (found.empty()) continue;
    for (auto& values : found)
      for (size_t v = 0; v < values.size(); ++v) model.values[v].others.push_back(std::move(values[v]));
    return;
  }
}

}  // namespace mrvlc::graphs
