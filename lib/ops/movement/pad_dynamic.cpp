// Types of Pad of shapes that are known at run time only, or by amounts that are.
#include <algorithm>

#include "common/dynamic_facets.h"

namespace mrvlc::ops {
namespace {

Result<bool> amounts_known(const InferContext& context) {
  MRVLC_ASSIGN(auto pads, ints_if_known(context, 1, "pads"));
  return pads && (!context.has(3) || context.constant(3) != nullptr);
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

}  // namespace mrvlc::ops
