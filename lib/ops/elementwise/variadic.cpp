// Min, Max, Sum, Mean: any number of broadcasting operands, folded in order.
#include "elementwise/elementwise.h"

namespace mrvlc::ops {
namespace {

constexpr std::string_view kPartialSums = "accelerator: the partial sums would be rounded to fp16";

OpDef variadic(OpDef op) {
  op.min_inputs = 1;
  op.max_inputs = -1;
  return op;
}

constexpr ScalarOp kPairSum{[](const double* x, const ir::OpSchema&, const Attrs&) { return x[0] + x[1]; },
                            nullptr, c_pattern<"{x} + {y}">};

Status eval_mean(const EvalContext& c) {
  return eval_scalar(kPairSum, c, c.inputs, true, static_cast<double>(c.inputs.size()));
}

Status emit_mean(EmitContext& c) {
  return emit_scalar(kPairSum, c, true, static_cast<double>(c.node().inputs.size()));
}

}  // namespace

// A NaN on either side is the result, as in NumPy.
const OpDef& def_Max() {
  static const OpDef op = with_traits(
      variadic(
          numeric<"{x} > {y} || isnan({x}) ? {x} : {y}", "{x} > {y} ? {x} : {y}", "{x} > {y} ? {x} : {y}", 2>(
              "Max", [](auto a, auto b) { return a > b || is_nan(a) ? a : b; })),
      {.commutative = true, .passes_size_on = true});
  return op;
}

const OpDef& def_Min() {
  static const OpDef op = with_traits(
      variadic(
          numeric<"{x} < {y} || isnan({x}) ? {x} : {y}", "{x} < {y} ? {x} : {y}", "{x} < {y} ? {x} : {y}", 2>(
              "Min", [](auto a, auto b) { return a < b || is_nan(a) ? a : b; })),
      {.commutative = true});
  return op;
}

const OpDef& def_Sum() {
  static const OpDef op =
      with_traits(host_only(variadic(numeric<"{x} + {y}", "({u}){x} + ({u}){y}", "({u}){x} + ({u}){y}", 2>(
                                "Sum", [](auto a, auto b) { return wrap_add(a, b); })),
                            kPartialSums),
                  {.commutative = true});
  return op;
}

// Not a scalar operator on pairs: the division follows the last addition.
const OpDef& def_Mean() {
  static const OpDef op = [] {
    OpDef d = variadic(elementwise("Mean", 1, spec::kFloats, kPairSum));
    d.scalar = nullptr;
    d.eval = eval_mean;
    d.emit = d.emit_dynamic = emit_mean;
    return with_traits(host_only(std::move(d), kPartialSums), {.commutative = true});
  }();
  return op;
}

}  // namespace mrvlc::ops
