// Graphs with their layout, as the pages' script takes them (page/graph.js).
#pragma once
#include <string>

#include "mrvlc/report/graph.h"

namespace mrvlc::report {

// "\"graphs\":[{...},...],\"graph_start\":0": JSON, safe in a <script> element; large graphs by module too,
// and which to open first. Names are cut after `text` bytes.
std::string graphs_json(const GraphDocument& document, size_t text);

}  // namespace mrvlc::report
