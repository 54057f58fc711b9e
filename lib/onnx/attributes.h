// AttributeProto to the IR's attribute values.
#pragma once
#include "file/tensor_decode.h"
#include "mrvlc/ir/schema.h"

namespace mrvlc::onnx {

// The declared type; that of the one field set when the type is missing (IR version 1). MRV0140 when the
// value fields disagree with the type, or none or several are set.
Result<pb::AttributeProto::AttributeType> checked_type(const pb::AttributeProto& attribute);

// Tensors are taken out of the message. Graphs, types and lists of tensors have no IR value: MRV0140.
Result<ir::Attr> decode_attribute(pb::AttributeProto& attribute, TensorDecoder& tensors);

// Fills the operator's slots from decoded attributes: kinds are checked (an element type is an int in ONNX),
// required ones must be there, and none may be left over. MRV0140.
Result<std::vector<ir::Attr>> fill_slots(const ir::OpSchema& op,
                                         std::vector<std::pair<std::string, ir::Attr>> attributes);

}  // namespace mrvlc::onnx
