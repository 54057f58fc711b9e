// Which code computes each ONNX node, and which links are missing.
#pragma once
#include "evidence/document.h"
#include "mrvlc/idmap/map.h"
#include "mrvlc/ir/graph.h"
#include "mrvlc/prove/prove.h"

namespace mrvlc::driver {

struct MatrixSources {
  const ir::Graph& model;  // read anew from the file
  int64_t opset;           // of ai.onnx
  const idmap::Map& map;
  const prove::Proof& proof;
  // C of the program, by its name in OUT.
  std::vector<std::pair<std::string, std::string>> c;
};

// Fills in nodes and missing. The instructions of a region are counted by the prover's own
// decoder, the nodes by the model, the functions by the text of the C: what the ID map does not account for
// is missing.
void fill_matrix(const MatrixSources& from, Evidence& evidence);

// RFC 4180, a line a node. A text that a spreadsheet would take for a formula gets ' in front.
std::string matrix_csv(const Evidence& evidence);

}  // namespace mrvlc::driver
