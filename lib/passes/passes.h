// The functions that passes.def names.
#pragma once
#include "mrvlc/passes/pass.h"

namespace mrvlc::passes {

#define MRVLC_PASS(function, name, summary) \
  Status function(ir::Graph& graph, const PassContext& context, bool& changed);
#include "mrvlc/passes/passes.def"
#undef MRVLC_PASS

}  // namespace mrvlc::passes
