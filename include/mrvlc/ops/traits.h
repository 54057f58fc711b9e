// Facts about operators that passes, rules, partition and the back ends ask for. Each stands in the
// operator's definition and nowhere else; none of them is a decision of who asks. A fact that is not stated
// is taken as not so, which must be the careful answer.
#pragma once
#include <cstdint>

namespace mrvlc::ops {

// Operators whose results hold elements of their operands as they are, whatever their type.
enum class Moves : uint8_t {
  None,
  Same,        // in the same (row-major) order
  Rearranged,  // every element once, in another order
  Selected,    // every element at most once
  Copied,      // any number of times, or among others (padding, zeros, a second operand)
};

// How long evaluating takes, see evaluation_work.
enum class Work : uint8_t {
  Everything,  // not known better: every operand element for every result, as often as attributes say
  Linear,      // every element of operands and results is looked at a few times
  Results,     // every result is made of a few elements, others are not looked at
  Sorted,      // operand elements are sorted
  Resampled,   // every result is made of the operand's elements around it
  Counted,     // every result is made of as many elements as attributes say
  Product,     // every result is a sum along a dimension of an operand
  Windows,     // every result (transposed: every operand element) meets a filter
  Labels,      // the loops are over the elements of all operands together
};

struct OpTraits {
  Moves moves = Moves::None;
  Work work = Work::Everything;  // element-wise operators are linear without saying so
  bool commutative = false;      // with two operands: f(x, y) = f(y, x)
  bool random = false;           // draws numbers whatever its operands (Dropout only does in training)
  bool rounds = false;  // results are integers, made from what need not be any; see rounds_to_integers
  // An error of the operand is one of the result, however large the operand is.
  bool periodic = false;
  // A small error of an operand may give a result that is altogether another (comparisons, places of
  // extremes).
  bool jumps = false;
  bool sums_products = false;  // float results are long sums of products, which have errors of their own
  bool quantised = false;      // part of a network that computes in integers
  bool data_dependent_shape = false;  // sizes of results depend on the data themselves
  // Results are as large as the first operand that is no constant, give or take what weights do: a factor on
  // the way to it is one on its result.
  bool passes_size_on = false;
  // The result is the first operand but for elements that others give, and may be made in its memory: the
  // emission asks EmitContext::may_share.
  bool updates = false;
  bool by_channel = false;  // dimension 1 of the first operand holds channels, which are told apart
};

}  // namespace mrvlc::ops
