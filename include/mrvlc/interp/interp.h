// Reference execution of a graph over the operator table: the oracle of every other part.
#pragma once
#include <functional>

#include "mrvlc/ir/graph.h"

namespace mrvlc::interp {

struct Options {
  int64_t max_bytes = int64_t{8} << 30;  // live tensors together; MRV0008 beyond
};

// MRV0008 when a run would need more memory than it may have, at the node that would; before there is any
// tensor. Sizes known at run time only are left to the run.
Status check_memory(const ir::Graph& graph, const Options& options = {});

// Values by graph input order; outputs in graph output order. Tensors die after their last use.
Result<std::vector<Tensor>> run(const ir::Graph& graph, const std::vector<Tensor>& inputs,
                                const Options& options = {});

// Runs a body of control flow in another way than run().
using RunBody =
    std::function<Result<std::vector<Tensor>>(const ir::Graph& body, const std::vector<Tensor>& inputs)>;
// Evaluates one node on given tensors (also the folder's and the importer's way to compute constants).
Result<std::vector<Tensor>> evaluate(const ir::Graph& graph, const ir::Node& node,
                                     const std::vector<const Tensor*>& inputs, const RunBody& run_body = {});

// Seeded inputs: floats uniform in [0, 1), integers in [0, 4), bools random; mulberry32, one stream over all
// inputs.
std::vector<Tensor> seeded_inputs(const ir::Graph& graph, uint32_t seed);

}  // namespace mrvlc::interp
