// Every message of a model that a mutation may want, in the order of the file.
#pragma once
#include <onnx/onnx.pb.h>

#include <string>
#include <vector>

namespace mrvlc::fuzz {

namespace pb = ::onnx;

struct Parts {
  explicit Parts(pb::ModelProto& model);

  std::vector<pb::GraphProto*> graphs;
  std::vector<pb::NodeProto*> nodes;
  std::vector<google::protobuf::RepeatedPtrField<pb::NodeProto>*> lists;  // of nodes
  std::vector<pb::AttributeProto*> attributes;
  std::vector<pb::TensorProto*> tensors;
  std::vector<pb::ValueInfoProto*> values;
  std::vector<pb::TypeProto*> types;
  std::vector<std::string> names;  // of values

 private:
  void add(pb::GraphProto& graph);
  void add(google::protobuf::RepeatedPtrField<pb::NodeProto>& list);
  void add(pb::TypeProto& type);
};

}  // namespace mrvlc::fuzz
