// Concat and Split along a dimension that is known at run time only.
#include "common/dynamic_facets.h"
#include "common/element_bytes.h"
#include "mrvlc/support/diag/ops.h"

namespace mrvlc::ops {
namespace {

Result<size_t> axis_of(const InferContext& context) {
  MRVLC_TRY(check_tensors(context));
  MRVLC_TRY(check_rank(context, 0, 1));
  MRVLC_ASSIGN(int64_t axis, normalize_axis(context.int_attr("axis"), context.type(0).rank()));
  return at(axis);
}

size_t axis_of(const EmitContext& context) {
  int64_t axis = context.node().int_attr("axis");
  return at(axis < 0 ? axis + context.in_type(0).rank() : axis);
}

// "(a * b) * 4": bytes of elements.
std::string bytes_text(const std::string& count, const EmitContext& context) {
  return product_text({count, element_bytes(context.in_type(0).elem)});
}

}  // namespace

DynamicTypes infer_dynamic_concat(const InferContext& context) {
  MRVLC_ASSIGN(size_t axis, axis_of(context));
  Dims joined = dims_of(context.type(0));
  for (size_t i = 1; i < context.num_inputs(); ++i) {
    MRVLC_TRY(check_same_elem(context, i));
    Dims dims = dims_of(context.type(i));
    bool agree = dims.size() == joined.size();
    for (size_t d = 0; agree && d < dims.size(); ++d) {
      if (d == axis) {
        joined[d] = sum(joined[d], dims[d]);
      } else {
        agree = dims[d].dynamic || joined[d].dynamic || dims[d].bound == joined[d].bound;
        joined[d] = equal_dim(joined[d], dims[d]);
      }
    }
    if (!agree) {
      return make_diag<DiagCode::MRV0205>(to_string(context.type(0)), to_string(context.type(i)),
                                          fmt::format("only axis {} may differ", axis));
    }
  }
  int64_t elements = 0;
  for (const TensorType* type : context.types)
    elements = checked_add(elements, type->elements()).value_or(kMaxElements);
  return one_type(context.type(0).elem, joined, elements);
}

Status emit_dynamic_concat(EmitContext& context) {
  size_t axis = axis_of(context), count = context.node().inputs.size();
  Texts first = in_dims(context, 0), along, joined = first;
  for (size_t i = 0; i < count; ++i) {
    Texts dims = in_dims(context, i);
    along.push_back(dims[axis]);
    for (size_t d = 0; d < dims.size(); ++d) {
      if (d != axis) require_equal(context, dims[d], first[d]);
    }
  }
  joined[axis] = fmt::format("{}", fmt::join(along, " + "));
  context.set_dims(0, joined);
  Texts out = out_dims(context);
  context.line(fmt::format("const int64_t rows = {};", product_text(out, 0, axis)));
  context.line(
      fmt::format("const int64_t width = {};", bytes_text(product_text(out, axis + 1, out.size()), context)));
  context.line(fmt::format("const int64_t line = width * {};", out[axis]));
  context.line(fmt::format("char* to = (char*){};", context.out(0)));
  for (size_t i = 0; i < count; ++i) {
    std::string width = fmt::format("{} * width", along[i]);
    context.line(fmt::format("{}(to, line, {}, {}, rows, {});", context.helper("dynamic_rows"), context.in(i),
                             width, width));
    if (i + 1 < count) context.line(fmt::format("to += {};", width));
  }
  return {};
}

DynamicTypes infer_dynamic_split(const InferContext& context) {
  MRVLC_ASSIGN(size_t axis, axis_of(context));
  const TensorType& x = context.type(0);
  Dims dims = dims_of(x);
  Dim whole = dims[axis];
  auto outputs = static_cast<int64_t>(context.num_outputs);
  Dims parts(at(outputs), Dim{whole.bound, true});
  if (context.has(1)) {
    MRVLC_ASSIGN(int64_t count, known_length(context, 1, "split"));
    MRVLC_ASSIGN(auto known, ints_if_known(context, 1, "split"));
    if (count != outputs) return bad_operands(fmt::format("{} sizes for {} outputs", count, outputs));
    for (size_t i = 0; known && i < known->size(); ++i) {
      if ((*known)[i] < 0 || (*known)[i] > whole.bound)
        return bad_operands(
            fmt::format("a part of {} of a dimension of at most {}", (*known)[i], whole.bound));
      parts[i] = {(*known)[i], false};
    }
  } else {
    int64_t count = is_attr_set(context, "num_outputs") ? context.int_attr("num_outputs") : outputs;
    if (count != outputs)
      return bad_attr("num_outputs", fmt::format("is {}, the node has {} outputs", count, outputs));
    parts.assign(at(outputs), Dim{ceil_div(whole.bound, outputs), whole.dynamic});
    if (!whole.dynamic) parts.back().bound = whole.bound - parts[0].bound * (outputs - 1);
    if (parts.back().bound < 0)
      return bad_attr("num_outputs", fmt::format("is {} for a dimension of {}", outputs, whole.bound));
  }
  std::vector<TensorType> types;
  for (const Dim& part : parts) {
    dims[axis] = part;
    types.push_back(type_of(x.elem, dims, x.elements()));
  }
  return types;
}

Status emit_dynamic_split(EmitContext& context) {
  size_t axis = axis_of(context), outputs = context.node().outputs.size();
  Texts dims = in_dims(context, 0);
  std::string whole = dims[axis];
  context.line(fmt::format("int64_t n[{}], left = {};", outputs, whole));
  context.open(fmt::format("for (int j = 0; j < {}; ++j)", outputs));
  if (context.has(1)) {
    context.line(fmt::format("n[j] = {}[j];", context.in(1)));
  } else {
    context.line(fmt::format("n[j] = ({} + {}) / {};", whole, outputs - 1, outputs));
    context.line(fmt::format("if (j == {}) n[j] = left;", outputs - 1));
  }
  context.fail_if("n[j] < 0 || n[j] > left");
  context.line("left -= n[j];");
  context.close();
  context.fail_if("left != 0");
  for (size_t i = 0; i < outputs; ++i) {
    dims[axis] = fmt::format("n[{}]", i);
    context.set_dims(i, dims);
  }
  dims[axis] = whole;
  context.line(fmt::format("const int64_t rows = {};", product_text(dims, 0, axis)));
  context.line(fmt::format("const int64_t width = {};",
                           bytes_text(product_text(dims, axis + 1, dims.size()), context)));
  context.line(fmt::format("const char* from = (const char*){};", context.in(0)));
  for (size_t i = 0; i < outputs; ++i) {
    context.line(fmt::format("{0}({1}, n[{2}] * width, from, {3} * width, rows, n[{2}] * width);",
                             context.helper("dynamic_rows"), context.out(i), i, whole));
    if (i + 1 < outputs) context.line(fmt::format("from += n[{}] * width;", i));
  }
  return {};
}

}  // namespace mrvlc::ops
