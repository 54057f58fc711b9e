// A selector that names nothing.
#pragma once
#include <string>
#include <vector>

#include "mrvlc/ir/graph.h"
#include "mrvlc/support/diag.h"

namespace mrvlc::partition {

// MRV0401: what of the options it is, and the name that was probably meant by the first selector that is no
// pattern.
Diag matches_nothing(const ir::Graph& graph, const std::string& given_as,
                     const std::vector<std::string>& selectors);

// The value of the model that was probably meant, as did_you_mean() says it.
std::string nearest_value(const ir::Graph& graph, std::string_view name);

}  // namespace mrvlc::partition
