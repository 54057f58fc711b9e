// The textual form; parse(print(g)) == g and printing is a fixpoint. Grammar: docs/ir.md.
//   %3 = Conv(%x, %w) {strides = [1, 1]} : f32[1,16,8,8] loc(17)
#pragma once
#include <string>

#include "mrvlc/ir/graph.h"

namespace mrvlc::ir {

struct PrintOptions {
  bool constants = true;  // false: large constants are elided ("...") and the text cannot be read back
};
std::string print(const Graph& graph, const PrintOptions& options = {});
// Errors name the line and column; never crashes on any input.
Result<Graph> parse(std::string_view text, const OpRegistry& registry);
// Same structure, types, attributes, constants, sources and lineage of live nodes (ids may differ).
bool structurally_equal(const Graph& a, const Graph& b);
std::string attr_text(const Attr& attr);
// A value by its name: %x, %12 (a name mrvlc made up), %"any:0".
std::string value_text(std::string_view name);

}  // namespace mrvlc::ir
