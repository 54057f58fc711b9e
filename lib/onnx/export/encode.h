// Types, tensors and attributes of the IR as ONNX's messages.
#pragma once
#include "file/proto.h"
#include "mrvlc/ir/graph.h"

namespace mrvlc::onnx {

pb::TypeProto encode_type(const TensorType& type);
// Elements of less than eight bits are packed (onnx.proto, TensorProto.raw_data).
void encode_tensor(const Tensor& tensor, const std::string& name, pb::TensorProto& out);
// Not of graphs. `attr` is set.
void encode_attribute(const ir::Attr& attr, const std::string& name, pb::AttributeProto& out);
// metadata_props, of the ONNX node that says where these come from, and of the model and its graph.
void encode_metadata(const ir::Graph& graph, const ir::Node& node, pb::NodeProto& out);
void encode_metadata(const ir::Graph& graph, pb::ModelProto& out);

}  // namespace mrvlc::onnx
