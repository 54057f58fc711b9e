// A run of the reference interpreter that is looked at, and changed, on its way.
#pragma once
#include <functional>

#include "mrvlc/interp/interp.h"

namespace mrvlc::interp {

// Of each input and result of the graph (not of the bodies in it), before anything reads it.
using Visit = std::function<void(ir::ValueId value, Tensor& tensor)>;
// As interp::run. `visit_constants`: constants are visited too, once for each node that reads them; what
// comes of it is seen by that node alone.
Result<std::vector<Tensor>> run_visited(const ir::Graph& graph, const std::vector<Tensor>& inputs,
                                        const Visit& visit, bool visit_constants,
                                        const Options& options = {});

}  // namespace mrvlc::interp
