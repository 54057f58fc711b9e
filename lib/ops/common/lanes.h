// Views of a tensor along one axis, and C loops that reduce a run.
#pragma once
#include <cmath>
#include <functional>

#include "common/infer_util.h"

namespace mrvlc::ops {

// Maxima and minima of the reference: NaN where either is.
inline double larger_or_nan(double a, double b) {
  return b > a || std::isnan(b) ? b : a;
}
inline double smaller_or_nan(double a, double b) {
  return b < a || std::isnan(b) ? b : a;
}

// Row-major data as [outer, n, inner].
struct AxisView {
  int64_t outer = 1, n = 1, inner = 1;
  int64_t lanes() const { return outer * inner; }
  // First element of lane k; its elements are `inner` apart.
  int64_t first(int64_t lane) const { return lane / inner * n * inner + lane % inner; }
};
AxisView axis_view(const Shape& shape, int64_t axis);       // n is the dimension `axis`
AxisView flattened_from(const Shape& shape, int64_t axis);  // n is everything from `axis` on

// A view of input `i` as C text: numbers, or the names of constants, declared for it, that hold sizes known
// at run time only: `outer_size`, `axis_size` and `inner_size`. `flatten`: n is everything from `axis` on.
struct AxisText {
  std::string outer = "1", n = "1", inner = "1";
  AxisText() = default;
  AxisText(EmitContext& context, size_t i, int64_t axis, bool flatten = false);
  std::string lane() const;  // n * inner
};
// `text` as it is when it is a number, else a constant NAME that is declared to hold it.
std::string named_size(EmitContext& context, std::string_view name, const std::string& text);
// The axis in [0, rank) that the attribute says, for emissions.
Result<int64_t> axis_attr(const EmitContext& context, std::string_view attr = "axis");
// "a * b", "(a + b)" and "a / b", computed where both are numbers.
std::string times(const std::string& a, const std::string& b);
std::string plus(const std::string& a, int64_t b);
// `loops` turns of a loop whose body asks for at least one of n.
std::string turns_unless_empty(const std::string& loops, const std::string& n);
std::string quotient(const std::string& a, int64_t b);
// for (ptrdiff_t VAR = 0; VAR < n; ++VAR) {
void open_loop(EmitContext& context, std::string_view var, const std::string& n);
// Output `i` has the dimensions of input 0.
void set_same_dims(EmitContext& context, size_t output = 0);

// Replaces every lane of input 0 by f(lane) as output 0.
void map_lanes(const EvalContext& context, const AxisView& view,
               const std::function<void(std::vector<double>&)>& f);

// A run reduced in C. Floats go to sixteen accumulators side by side: the compiler may not reorder a single
// sum.
struct RunReduction {
  std::string var;                                                                   // declared by emit_run
  std::string start;                                                                 // C expression
  std::function<std::string(const std::string& v, const std::string& index)> step;   // statement
  std::function<std::string(const std::string& v, const std::string& other)> merge;  // statement
  bool busy = false;  // most of an operator's time may go there: lanes, whatever the text
};
void emit_run(EmitContext& context, const RunReduction& run, ElementType elem, const std::string& n);
inline void emit_run(EmitContext& context, const RunReduction& run, ElementType elem, int64_t n) {
  emit_run(context, run, elem, fmt::format("{}", n));
}
// float VAR = the sum of term(index) over n elements.
void emit_sum(EmitContext& context, const std::string& var, ElementType elem, const std::string& n,
              const std::function<std::string(const std::string& index)>& term, bool busy = false);
inline void emit_sum(EmitContext& context, const std::string& var, ElementType elem, int64_t n,
                     const std::function<std::string(const std::string& index)>& term) {
  emit_sum(context, var, elem, fmt::format("{}", n), term);
}

}  // namespace mrvlc::ops
