// --state: which inputs are outputs of the run before.
#pragma once
#include "mrvlc/chost/chost.h"
#include "mrvlc/ir/graph.h"

namespace mrvlc::driver {

// `texts`: "PAST=PRESENT", names of an input and an output; one '*' in each stands for the same text, and
// such a pattern for all inputs that have an output. "auto": the pairs of one type and fixed shape whose
// names differ by words for before and after alone (past, present, in, out, next, ...). In order of the
// inputs. MRV0612: names that there are not, and an input or output in two pairs.
Result<std::vector<chost::StatePair>> state_pairs(const std::vector<std::string>& texts,
                                                  const ir::Graph& graph);

}  // namespace mrvlc::driver
