// Graphs with their layout, as the pages' script takes them (page/graph.js).
#pragma once
#include <string>

#include "mrvlc/report/graph.h"

namespace mrvlc::report {

// "[{...},...]": JSON, safe in a <script> element. Names are cut after `text` bytes.
std::string graphs_json(const GraphDocument& document, size_t text);

}  // namespace mrvlc::report
