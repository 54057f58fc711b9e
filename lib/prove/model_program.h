// The ONNX graph as a program of the prover: a layer for each node, in order.
#pragma once
#include "mrvlc/ir/graph.h"
#include "program.h"

namespace mrvlc::prove {

RegionHints model_program(const ir::Graph& g);

}  // namespace mrvlc::prove
