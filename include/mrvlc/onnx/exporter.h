// Owned IR in, ONNX file out, for any runtime: the counterpart of importer.h.
#pragma once
#include <string>

#include "mrvlc/ir/graph.h"

namespace mrvlc::onnx {

// The least opset of ai.onnx that is declared, of 2024: in it every operator has the form that the IR has.
// Models with an operator that is newer declare the one that brought it.
inline constexpr int kLeastOpset = 21;

// A model as protobuf has it. Names of inputs, outputs, nodes and values are the graph's; values without a
// name get one from the node that makes or reads them. Shapes are those of the graph: what the importer bound
// stays bound. MRV0147: more than protobuf holds (2 GiB); MRV0148: an old form of an
// operator that today's cannot say.
Result<std::string> to_onnx(const ir::Graph& graph, std::string_view producer_version);

}  // namespace mrvlc::onnx
