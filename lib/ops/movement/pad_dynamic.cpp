// Pad of shapes that are known at run time only, or by amounts that are.
#include <algorithm>

#include "common/dynamic_facets.h"

namespace mrvlc::ops {
namespace {

Result<bool> amounts_known(const InferContext& context) {
  MRVLC_ASSIGN(auto pads, ints_if_known(context, 1, "pads"));
  return pads && (!context.has(3) || context.constant(3) != nullptr);
}

// Arrays begin, end (amounts), kept (elements of the input that are left), n (the result).
void declare_amounts(EmitContext& context, bool constant_mode) {
  int64_t rank = context.in_type(0).rank();
  std::string count = context.has(3) ? product_text(in_dims(context, 3)) : fmt::format("{}", rank);
  require_equal(context, product_text(in_dims(context, 1)), product_text({count, "2"}));
  declare_list(context, "dim", in_dims(context, 0));
  context.line(fmt::format("int64_t begin[{0}] = {{0}}, end[{0}] = {{0}}, kept[{0}], n[{0}];", rank));
  context.line("unsigned seen = 0;");
  context.open(fmt::format("for (int64_t j = 0; j < {}; ++j)", count));
  context.line(fmt::format("const int64_t d = {}({}, {});", context.helper("dynamic_axis"),
                           context.has(3) ? context.in(3) + "[j]" : std::string("j"), rank));
  context.fail_if("d < 0 || (seen >> d & 1u)");
  context.line("seen |= 1u << d;");
  context.line(fmt::format("begin[d] = {}[j];", context.in(1)));
  context.line(fmt::format("end[d] = {}[j + {}];", context.in(1), count));
  context.close();
  context.open(fmt::format("for (int d = 0; d < {}; ++d)", rank));
  std::string most = fmt::format("INT64_C({})", kMaxElements);
  context.fail_if(fmt::format("begin[d] < -{0} || begin[d] > {0} || end[d] < -{0} || end[d] > {0}", most));
  context.line("kept[d] = dim[d] + (begin[d] < 0 ? begin[d] : 0) + (end[d] < 0 ? end[d] : 0);");
  context.line("n[d] = dim[d] + begin[d] + end[d];");
  context.fail_if(constant_mode ? "kept[d] < 0"
                                : "kept[d] < 0 || (kept[d] == 0 && (begin[d] > 0 || end[d] > 0))");
  context.close();
}

// The value everywhere, then what is kept.
void emit_constant_mode(EmitContext& context) {
  int64_t rank = context.in_type(0).rank(), bytes = byte_size(context.in_type(0).elem);
  std::string strides = context.helper("dynamic_strides"), fill = context.helper("dynamic_fill"),
              y = context.out(0);
  std::string value = context.has(2) ? context.in(2) : std::string("zero");
  if (!context.has(2)) context.line(fmt::format("static const char zero[{}] = {{0}};", bytes));
  context.line(fmt::format("{}({}, {}, {}, {});", fill, y, value, product_text(out_dims(context)), bytes));
  context.line(fmt::format("int64_t s[{}], from = 0, to = 0;", 2 * rank));
  context.line(fmt::format("{}({}, dim, s);", strides, rank));
  context.line(fmt::format("{}({}, n, s + {});", strides, rank, rank));
  context.open(fmt::format("for (int d = 0; d < {}; ++d)", rank));
  context.line("if (begin[d] < 0) from -= begin[d] * s[d];");
  context.line(fmt::format("if (begin[d] > 0) to += begin[d] * s[{} + d];", rank));
  context.close();
  context.line(fmt::format("{}({} + to, {} + from, {}, {}, kept, s);", context.helper("dynamic_copy"), y,
                           context.in(0), bytes, rank));
}

}  // namespace

DynamicTypes infer_dynamic_pad(const InferContext& context) {
  MRVLC_TRY(check_tensors(context));
  const TensorType& x = context.type(0);
  const std::string& mode = context.string_attr("mode");
  if (mode != "constant" && mode != "reflect" && mode != "edge" && mode != "wrap")
    return bad_attr("mode", fmt::format("has the unknown value '{}'", printable(mode)));
  for (size_t i : {size_t{1}, size_t{3}}) {
    if (!context.has(i)) continue;
    MRVLC_TRY(check_elem(context, i, spec::kIndices));
    MRVLC_TRY(check_rank(context, i, 0, 1));
  }
  if (context.has(2)) {
    MRVLC_TRY(check_same_elem(context, 2));
    if (!context.type(2).is_static() || context.type(2).elements() != 1)
      return bad_operands("constant_value must be one element");
  }
  Dims dims = dims_of(x);
  const TensorType &amounts = context.type(1), &axes = context.has(3) ? context.type(3) : amounts;
  int64_t count = context.has(3) ? axes.elements() : x.rank();
  if (amounts.is_static() && axes.is_static() && amounts.elements() != 2 * count)
    return bad_operands(fmt::format("{} pads for {} axes", amounts.elements(), count));
  MRVLC_ASSIGN(bool known, amounts_known(context));
  if (!known) return one_type(x.elem, Dims(dims.size(), dims.empty() ? Dim() : kAnyDim));
  InferContext greatest = context;
  TensorType plain{x.elem, x.shape};
  greatest.types[0] = &plain;
  MRVLC_ASSIGN(PadParams p, pad_params(greatest));
  int64_t elements = x.elements();
  for (size_t d = 0; d < dims.size(); ++d) {
    int64_t added = p.begin[d] + p.end[d];
    dims[d].bound += added;
    MRVLC_TRY(check_dim(dims[d].bound, "a dimension of the result"));
    // No dimension grows more than one of a single element does.
    elements = all_pairs(elements, 1 + std::max<int64_t>(added, 0));
  }
  return one_type(x.elem, dims, elements);
}

Status emit_dynamic_pad(EmitContext& context) {
  int64_t rank = context.in_type(0).rank();
  const std::string& mode = context.node().string_attr("mode");
  if (rank == 0) {
    require_equal(context, product_text(in_dims(context, 1)), "0");
    context.set_dims(0, {});
    emit_same_elements(context);
    return {};
  }
  declare_amounts(context, mode == "constant");
  context.set_dims(0, elements_of("n", rank));
  if (mode == "constant") {
    emit_constant_mode(context);
    return {};
  }
  context.line(fmt::format("{}({}, {}, {}, {}, n, dim, begin, kept, {});", context.helper("dynamic_pad"),
                           context.out(0), context.in(0), byte_size(context.in_type(0).elem), rank,
                           mode == "reflect" ? 0
                           : mode == "edge"  ? 1
                                             : 2));
  return {};
}

}  // namespace mrvlc::ops
