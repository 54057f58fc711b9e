#include "parts.h"

namespace mrvlc::fuzz {

Parts::Parts(pb::ModelProto& model) {
  add(*model.mutable_graph());
  for (auto& function : *model.mutable_functions()) {
    names.insert(names.end(), function.input().begin(), function.input().end());
    add(*function.mutable_node());
  }
}

void Parts::add(pb::TypeProto& type) {
  types.push_back(&type);
  if (type.has_sequence_type()) add(*type.mutable_sequence_type()->mutable_elem_type());
  if (type.has_optional_type()) add(*type.mutable_optional_type()->mutable_elem_type());
}

void Parts::add(pb::GraphProto& graph) {
  graphs.push_back(&graph);
  for (auto* list : {graph.mutable_input(), graph.mutable_output(), graph.mutable_value_info()}) {
    for (auto& value : *list) {
      values.push_back(&value);
      names.push_back(value.name());
      if (value.has_type()) add(*value.mutable_type());
    }
  }
  for (auto& tensor : *graph.mutable_initializer()) {
    tensors.push_back(&tensor);
    names.push_back(tensor.name());
  }
  for (auto& sparse : *graph.mutable_sparse_initializer()) {
    tensors.push_back(sparse.mutable_values());
    tensors.push_back(sparse.mutable_indices());
  }
  add(*graph.mutable_node());
}

void Parts::add(google::protobuf::RepeatedPtrField<pb::NodeProto>& list) {
  lists.push_back(&list);
  for (auto& node : list) {
    nodes.push_back(&node);
    names.insert(names.end(), node.output().begin(), node.output().end());
    for (auto& attribute : *node.mutable_attribute()) {
      attributes.push_back(&attribute);
      if (attribute.has_t()) tensors.push_back(attribute.mutable_t());
      if (attribute.has_tp()) add(*attribute.mutable_tp());
      if (attribute.has_g()) add(*attribute.mutable_g());
      for (auto& g : *attribute.mutable_graphs()) add(g);
    }
  }
}

}  // namespace mrvlc::fuzz
