// A reduction as data, and its C loops.
#pragma once
#include "elementwise/elementwise.h"

namespace mrvlc::ops {

// C texts are fmt patterns of {v} the accumulator, {x} the element, {t} {u} {f} as in elementwise.h.
struct Reduction {
  double start = 0;
  int64_t start_int = 0;
  double (*step)(double acc, double x) = nullptr;
  int64_t (*step_int)(int64_t acc, int64_t x) = nullptr;      // nullptr: integers are computed in double
  uint64_t (*step_uint)(uint64_t acc, uint64_t x) = nullptr;  // for U64 where the sign matters
  double (*finish)(double acc) = nullptr;
  bool mean = false;   // divide by the number of elements
  int extreme = 0;     // 1 maximum, -1 minimum: integers start at the other end of their type
  bool shift = false;  // LogSumExp: the maximum is taken away first
  std::string_view c_step = "{v} += {x};";
  std::string_view c_step_int = "{v} = ({t})(({u}){v} + ({u}){x});";  // empty: computed in double, as above
  std::string_view c_finish = "{v}";
  std::string_view c_merge = "{v} += {x};";  // of two float accumulators
};

// A reduction's statements for one element type.
struct ReductionText {
  const Reduction& r;
  ElementType data, elem;  // of the data and of the accumulator

  // A mean of integers is that of the exact sum; roots and logarithms of integers are taken in double.
  ReductionText(const Reduction& reduction, ElementType data);
  std::string expand(std::string_view pattern, const std::string& v, const std::string& x) const;
  std::string_view step() const { return is_float(elem) ? r.c_step : r.c_step_int; }
  std::string_view merge() const;  // of two accumulators
  std::string start() const;
  // The result from the accumulator `v` of `count` elements, a C expression of the accumulator's type.
  std::string finished(const std::string& v, const std::string& count) const;
  // The line that stores such a result, which may declare `whole`, at `y`.
  void store(EmitContext& context, const std::string& y, const std::string& value) const;
};

// Loops over the data; operand 0 is the data, operand 1 the result (stride 0 where it is reduced).
BroadcastLoops reduce_loops(const Shape& shape, const std::vector<int64_t>& axes);
Status emit_reduction(EmitContext& context, const Reduction& reduction);

// Shapes known at run time only, or axes that are no constants (reduce_dynamic.cpp).
Result<std::vector<TensorType>> infer_dynamic_reduce(const InferContext& context);
Status emit_dynamic_reduction(EmitContext& context, const Reduction& reduction);

}  // namespace mrvlc::ops
