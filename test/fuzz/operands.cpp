// What is known when: inputs become constants, so that everything behind them is folded, and constants become
// inputs, so that sizes are known at run time only.
#include <algorithm>

#include "mutate.h"

namespace mrvlc::fuzz {
namespace {

void input_to_constant(pb::GraphProto& graph, int i, Random& random) {
  const pb::ValueInfoProto input = graph.input(i);
  if (!input.type().has_tensor_type()) return;
  const auto& type = input.type().tensor_type();
  std::vector<int64_t> dims;
  for (const auto& dim : type.shape().dim()) dims.push_back(dim.has_dim_value() ? dim.dim_value() : 2);
  *graph.add_initializer() = random_tensor(input.name(), type.elem_type(), dims, random);
  graph.mutable_input()->DeleteSubrange(i, 1);
}

void constant_to_input(pb::GraphProto& graph, int i) {
  const pb::TensorProto tensor = graph.initializer(i);
  graph.mutable_initializer()->DeleteSubrange(i, 1);
  auto* value = graph.add_input();
  value->set_name(tensor.name());
  auto* type = value->mutable_type()->mutable_tensor_type();
  type->set_elem_type(tensor.data_type());
  type->mutable_shape();
  for (int64_t d : tensor.dims()) type->mutable_shape()->add_dim()->set_dim_value(d);
}

}  // namespace

bool change_operands(Parts& parts, Random& random) {
  pb::GraphProto& graph = *parts.graphs[0];
  switch (random.pick(4)) {
    case 0:
      for (int i = graph.input_size() - 1; i >= 0; --i) input_to_constant(graph, i, random);
      return true;
    case 1:
      if (graph.initializer_size() > 0) constant_to_input(graph, random.pick(graph.initializer_size()));
      return true;
    case 2:
      for (auto& info : *graph.mutable_output()) info.mutable_type()->mutable_tensor_type()->clear_shape();
      graph.clear_value_info();
      return true;
    default:
      if (graph.input_size() > 0) input_to_constant(graph, random.pick(graph.input_size()), random);
      return true;
  }
}

}  // namespace mrvlc::fuzz
