// Graph inputs: types, and dimensions that the model leaves open.
#pragma once
#include <string_view>
#include <vector>

#include "file/proto.h"
#include "mrvlc/onnx/importer.h"
#include "sink.h"

namespace mrvlc::onnx {

struct InputDecl {
  const pb::ValueInfoProto* info = nullptr;
  std::optional<TensorType> type;  // none: refused, and reported
  std::optional<Tensor> bound;     // the constant that takes its place
  bool has_batch = false;          // Model::has_batch
};

// Binds dynamic dimensions as importer.h says. A symbol has one value in all inputs. MRV0130 to MRV0135,
// MRV0137, MRV0139.
std::vector<InputDecl> resolve_inputs(const std::vector<const pb::ValueInfoProto*>& inputs,
                                      const ImportOptions& options, Sink& sink);

}  // namespace mrvlc::onnx
