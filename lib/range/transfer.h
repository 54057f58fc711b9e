// What an operator makes of intervals. A family of operators a file; an operator that no file names gives
// nothing known, of floats, and what its type holds, of integers.
#pragma once
#include <functional>
#include <unordered_map>

#include "mrvlc/ops/op.h"
#include "mrvlc/range/range.h"

namespace mrvlc::range {

// A node with what is known of its operands.
class Operands {
 public:
  using Known = std::function<const Range&(ir::ValueId)>;
  // `sized`: all_sized(), which is asked once for all results of a node.
  Operands(const ir::Graph& graph, const ir::Node& node, size_t output, const Known& known, bool sized)
      : graph_(graph), node_(node), output_(output), known_(known), sized_(sized) {}

  const ir::Graph& graph() const { return graph_; }
  const ir::Node& node() const { return node_; }
  size_t size() const { return node_.inputs.size(); }
  bool has(size_t i) const { return i < size() && node_.inputs[i].valid(); }
  const Tensor* constant(size_t i) const { return has(i) ? graph_.constant(node_.inputs[i]) : nullptr; }
  const TensorType& type(size_t i) const { return graph_.value(node_.inputs[i]).type; }
  // The result that is asked for.
  size_t output() const { return output_; }
  const TensorType& result() const { return graph_.value(node_.outputs[output_]).type; }
  bool same(size_t i, size_t j) const { return node_.inputs[i] == node_.inputs[j]; }
  // All operands and results have sizes that are known, and nothing wraps them.
  bool sized() const { return sized_; }

  // Of all elements. Of an operand that is not given: nothing known.
  Interval hull(size_t i) const;
  // Along that dimension of the operand: one interval, or as many as the dimension has elements.
  std::vector<Interval> along(size_t i, int64_t axis) const;
  // As it was found; of a constant as `hull`.
  Range range(size_t i) const { return constant(i) != nullptr ? Range(hull(i)) : known_(node_.inputs[i]); }

 private:
  const ir::Graph& graph_;
  const ir::Node& node_;
  const size_t output_;
  const Known& known_;
  const bool sized_;
};
bool all_sized(const ir::Graph& graph, const ir::Node& node);

struct Outcome {
  Range range;
  bool exact = false;  // elements are taken, or compared, but not computed: nothing is rounded
};
// Of the first result; others are not known.
using Transfer = Outcome (*)(const Operands&);
using Table = std::unordered_map<Op, Transfer>;

void add_functions(Table& table);
void add_arithmetic(Table& table);
void add_products(Table& table);
void add_windows(Table& table);
void add_normalizations(Table& table);
void add_reductions(Table& table);
void add_conversions(Table& table);
// Of operators that move elements, whatever their type; nullopt: it is another.
std::optional<Outcome> moved(const Operands& o);

inline constexpr Interval kUnknown{};
// Dimensions with more elements are not told apart, whatever a model says of its sizes.
inline constexpr int64_t kMostChannels = 1 << 14;

// The elements of a constant, by channel along `axis` of its shape (-1, or too many: all in one). Unknown
// with a NaN among them.
std::vector<Interval> of_constant(const Tensor& tensor, int64_t axis);
// All that an integer or a bool of the type can be; unknown of others.
Interval of_type(ElementType type);
// One interval of many, and many of one.
Interval hull_of(const std::vector<Interval>& all);
inline const Interval& at(const std::vector<Interval>& channels, size_t i) {
  return channels[channels.size() == 1 ? 0 : i];
}
// What `f` makes of the operand's intervals, channel by channel.
template <class F>
Range each(const Range& of, F f) {
  Range out = of;
  for (Interval& i : out.channels) i = f(i);
  return out;
}

}  // namespace mrvlc::range
