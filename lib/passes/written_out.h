// Parts of formulas that exporters write out in arithmetic, which several passes look for. A match lists its
// nodes.
#pragma once
#include "util.h"

namespace mrvlc::passes {

using Nodes = std::vector<NodeId>;

// Rising; nullopt: shapes or axes are known at run time only, or no floating point.
std::optional<std::vector<int64_t>> constant_axes(const Graph& graph, const Node& reduction);

// op(x) over constant axes, its result with dimensions of 1 in their place.
struct Reduced {
  ValueId x;
  std::vector<int64_t> axes;  // rising, at least one
  Nodes nodes;
};
// Of a value that the reduction makes itself (keepdims), or a change of shape right after it.
std::optional<Reduced> reduced(const Graph& graph, ValueId value, Op op);
// Elements that go into each result; 0 where a dimension is empty.
int64_t reduced_count(const Graph& graph, ValueId x, const std::vector<int64_t>& axes);

// x of x * x or Pow(x, 2) in floating point; invalid: `value` is neither. Of the same type.
ValueId squared_operand(const Graph& graph, ValueId value);

// Mul(x, c) either way round, or Div(x, c), with a constant of one number that does not enlarge x: the
// factor.
struct Scaled {
  ValueId x;
  double factor = 1;
};
std::optional<Scaled> scaled(const Graph& graph, const Node& node);
// The factor is 1 / n, rounded to the type once.
bool divides_by(const Graph& graph, const Scaled& scaled, int64_t n);

// Whether all that the nodes make, but for the results of `last`, is read by nodes of the list alone.
bool closed(const Graph& graph, const Nodes& nodes, NodeId last);
// Sorted, each once, `last` at the end.
Nodes joined(const Nodes& a, const Nodes& b, NodeId last);

// `now` replaces the result of the last of `nodes`, which read each other alone; all of them go.
void replace(Rewriter& rw, const Nodes& nodes, ValueId now, Because because);
// A node of one result that stands for all of `nodes`.
ValueId make_from(Rewriter& rw, Op op, std::vector<ValueId> inputs, TensorType type, const Nodes& nodes,
                  AttrList attrs = {});

}  // namespace mrvlc::passes
