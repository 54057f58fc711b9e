// IR version and operator sets of a model or a function.
#pragma once
#include <map>
#include <string>

#include "file/proto.h"
#include "sink.h"

namespace mrvlc::onnx {

inline constexpr int64_t kMaxIrVersion = 14;  // ONNX 1.23
inline constexpr int64_t kMaxOpset = 28;      // of ai.onnx; ONNX 1.23

using Opsets = std::map<std::string, int64_t, std::less<>>;  // by domain; "" is ai.onnx

// "ai.onnx" is another spelling of "".
inline std::string_view canonical_domain(std::string_view domain) {
  return domain == "ai.onnx" ? "" : domain;
}
// Of the domains of ONNX the newest that is known; of any other, whose functions are in the model, INT64_MAX.
int64_t newest_version(std::string_view domain);
std::string shown_domain(std::string_view domain);

void check_ir_version(const pb::ModelProto& model, Sink& sink);
// Versions from 1, each domain once, those of ONNX at most the newest known. MRV0103.
Opsets read_opsets(const google::protobuf::RepeatedPtrField<pb::OperatorSetIdProto>& imports, Sink& sink);
Opsets model_opsets(const pb::ModelProto& model, Sink& sink);

}  // namespace mrvlc::onnx
