// CumSum, Trilu and TopK of shapes that are known at run time only.
#include <algorithm>

#include "common/dynamic_facets.h"
#include "mrvlc/support/diag/ops.h"

namespace mrvlc::ops {
namespace {

// An operand that holds one integer.
Status check_one_integer(const InferContext& context, size_t i, std::string_view what) {
  MRVLC_TRY(check_elem(context, i, spec::kIndices));
  MRVLC_TRY(check_rank(context, i, 0, 1));
  if (context.type(i).is_static() && context.type(i).elements() == 1) return {};
  return bad_operands(fmt::format("input {} ({}) must be one integer", i, what));
}

// int64_t outer, dim and inner of a static axis.
void declare_sizes(EmitContext& context, const Texts& dims, size_t axis) {
  context.line(fmt::format("const int64_t outer = {}, dim = {}, inner = {};", product_text(dims, 0, axis),
                           dims[axis], product_text(dims, axis + 1, dims.size())));
}

}  // namespace

// -- CumSum

DynamicTypes infer_dynamic_cum_sum(const InferContext& context) {
  MRVLC_TRY(check_tensors(context));
  MRVLC_TRY(check_rank(context, 0, 1));
  MRVLC_TRY(check_one_integer(context, 1, "axis"));
  if (context.constant(1) != nullptr)
    MRVLC_TRY(normalize_axis(context.constant(1)->as_int(0), context.type(0).rank()));
  return std::vector<TensorType>{context.type(0)};
}

// Element j of a line from element j - 1.
Status emit_dynamic_cum_sum(EmitContext& context) {
  MRVLC_TRY(require_widened(context));
  Texts dims = in_dims(context, 0);
  ElementType elem = context.in_type(0).elem;
  bool exclusive = context.node().int_attr("exclusive") != 0,
       reverse = context.node().int_attr("reverse") != 0;
  // Signed overflow is undefined in C; the sum is made in the unsigned type.
  std::string wide = is_float(elem) ? "" : byte_size(elem) == 8 ? "(uint64_t)" : "(uint32_t)";
  declare_list(context, "dim", dims);
  context.line(fmt::format("const int64_t axis = {}({}[0], {});", context.helper("dynamic_axis"),
                           context.in(1), dims.size()));
  context.fail_if("axis < 0");
  context.set_dims(0, dims);
  context.line(fmt::format("const int64_t count = {};", product_text(dims)));
  context.line("int64_t inner = 1;");
  context.line(fmt::format("for (int64_t d = axis + 1; d < {}; ++d) inner *= dim[d];", dims.size()));
  context.open("for (int64_t k = 0; k < count; ++k)");
  context.line(fmt::format("const int64_t i = {};", reverse ? "count - 1 - k" : "k"));
  context.line(fmt::format("const int64_t before = i {} inner;", reverse ? "+" : "-"));
  context.line(
      fmt::format("const int first = i / inner % dim[axis] == {};", reverse ? "dim[axis] - 1" : "0"));
  std::string x = context.in(0), y = context.out(0), zero = is_float(elem) ? c_literal(0.0, elem) : "0";
  context.line(fmt::format("{0}[i] = first ? {1} : ({2})({3}{0}[before] + {3}{4}[{5}]);", y,
                           exclusive ? zero : x + "[i]", c_type(elem), wide, x, exclusive ? "before" : "i"));
  context.close();
  return {};
}

// -- Trilu

DynamicTypes infer_dynamic_trilu(const InferContext& context) {
  MRVLC_TRY(check_tensors(context));
  MRVLC_TRY(check_rank(context, 0, 2));
  if (context.has(1)) MRVLC_TRY(check_one_integer(context, 1, "k"));
  return std::vector<TensorType>{context.type(0)};
}

Status emit_dynamic_trilu(EmitContext& context) {
  Texts dims = in_dims(context, 0);
  std::string x = context.in(0), y = context.out(0), most = fmt::format("INT64_C({})", kMaxElements);
  context.set_dims(0, dims);
  if (context.out_type(0).elements() == 0)
    return {};  // a modulus of 0, in code that never runs, is a warning
  context.line(fmt::format("const int64_t rows = {}, cols = {}, count = {};", dims[dims.size() - 2],
                           dims.back(), product_text(dims, 0, dims.size() - 1)));
  context.line(fmt::format("int64_t k = {};", context.has(1) ? context.in(1) + "[0]" : std::string("0")));
  context.line(fmt::format("k = k < -{0} ? -{0} : k > {0} ? {0} : k;", most));
  context.open("for (int64_t r = 0; r < count; ++r)");
  context.line("for (int64_t c = 0; c < cols; ++c)");
  context.line(fmt::format("  {}[r * cols + c] = c {} r % rows + k ? {}[r * cols + c] : 0;", y,
                           context.node().int_attr("upper") != 0 ? ">=" : "<=", x));
  context.close();
  return {};
}

// -- TopK

DynamicTypes infer_dynamic_top_k(const InferContext& context) {
  MRVLC_TRY(check_tensors(context));
  MRVLC_TRY(check_rank(context, 0, 1));
  MRVLC_TRY(check_one_integer(context, 1, "K"));
  const TensorType& x = context.type(0);
  MRVLC_ASSIGN(int64_t axis, normalize_axis(context.int_attr("axis"), x.rank()));
  Dims dims = dims_of(x);
  Dim& dim = dims[at(axis)];
  if (context.constant(1) == nullptr) {
    dim.dynamic = true;
  } else {
    int64_t k = context.constant(1)->as_int(0);
    if (k < 0 || k > dim.bound)
      return bad_operands(fmt::format("k is {} for a dimension of {}", k, dim.bound));
    dim = {k, false};
  }
  return std::vector<TensorType>{type_of(x.elem, dims, x.elements()),
                                 type_of(ElementType::I64, dims, x.elements())};
}

// Insertion into the sorted list of the best so far, as for static shapes.
Status emit_dynamic_top_k(EmitContext& context) {
  MRVLC_TRY(require_widened(context));
  Texts x = in_dims(context, 0), dims = x;
  int64_t attr = context.node().int_attr("axis");
  size_t axis = at(attr < 0 ? attr + context.in_type(0).rank() : attr);
  std::string_view type = c_type(context.in_type(0).elem);
  std::string_view better = context.node().int_attr("largest") != 0 ? ">" : "<";
  declare_sizes(context, x, axis);
  context.line(fmt::format("const int64_t most = {}[0];", context.in(1)));
  context.fail_if("most < 0 || most > dim");
  dims[axis] = "most";
  context.set_dims(0, dims);
  context.set_dims(1, dims);
  context.open("for (int64_t o = 0; most > 0 && o < outer * inner; ++o)");
  context.line("const int64_t i = o / inner, j = o % inner;");
  context.line(fmt::format("const {}* x = {} + i * dim * inner + j;", type, context.in(0)));
  context.line(fmt::format("{}* y = {} + i * most * inner + j;", type, context.out(0)));
  context.line(fmt::format("int64_t* at = {} + i * most * inner + j;", context.out(1)));
  context.open("for (int64_t n = 0; n < dim; ++n)");
  context.line(fmt::format("const {} v = x[n * inner];", type));
  context.line("int64_t k = n < most ? n : most;");
  context.line(fmt::format("if (k == most && !(v {} y[(most - 1) * inner])) continue;", better));
  context.line("if (k == most) --k;");
  context.open(fmt::format("for (; k > 0 && v {} y[(k - 1) * inner]; --k)", better));
  context.line("y[k * inner] = y[(k - 1) * inner];");
  context.line("at[k * inner] = at[(k - 1) * inner];");
  context.close();
  context.line("y[k * inner] = v;");
  context.line("at[k * inner] = n;");
  context.close();
  context.close();
  return {};
}

}  // namespace mrvlc::ops
