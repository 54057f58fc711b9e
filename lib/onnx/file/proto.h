// The one way to the generated protobuf classes. `pb` because mrvlc::onnx would hide ::onnx.
#pragma once
#include <onnx/onnx.pb.h>

namespace mrvlc::onnx {
namespace pb = ::onnx;

using Nodes = google::protobuf::RepeatedPtrField<pb::NodeProto>;
}  // namespace mrvlc::onnx
