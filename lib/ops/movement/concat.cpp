// Concat (ONNX Concat-13) and Split (ONNX Split-18).
#include <numeric>

#include "common/dynamic_util.h"
#include "common/lanes.h"
#include "common/slices.h"
#include "mrvlc/support/diag/ops.h"

namespace mrvlc::ops {
namespace {

using namespace spec;

Result<int64_t> axis_of(const InferContext& context) {
  MRVLC_TRY(check_tensors(context));
  MRVLC_TRY(check_rank(context, 0, 1));
  return normalize_axis(context.int_attr("axis"), context.type(0).rank());
}

struct Pieces {  // of the joined tensor along one axis
  int64_t axis = 0;
  Shape joined;
  std::vector<int64_t> sizes, begins;

  void add(const Shape& part) {
    begins.push_back(begins.empty() ? 0 : begins.back() + sizes.back());
    sizes.push_back(part[at(axis)]);
  }
};

// Copy between piece i (dense) and its place in the joined tensor; `joining`: from the piece.
StridedCopy piece_copy(const Pieces& p, size_t i, bool joining) {
  Shape part = p.joined;
  part[at(p.axis)] = p.sizes[i];
  return joining ? slices_copy(part, 0, p.joined, p.begins[i], p.axis, p.sizes[i])
                 : slices_copy(p.joined, p.begins[i], part, 0, p.axis, p.sizes[i]);
}

// Before opset 4 the axis could be left out.
Status upgrade_concat(RawNode& node) {
  if (node.opset < 4 && node.find("axis") == nullptr) node.attrs.emplace_back("axis", ir::Attr(int64_t{1}));
  return {};
}

Result<std::vector<TensorType>> infer_concat(const InferContext& context) {
  MRVLC_ASSIGN(int64_t axis, axis_of(context));
  Dims joined = dims_of(context.type(0));
  for (size_t i = 1; i < context.num_inputs(); ++i) {
    MRVLC_TRY(check_same_elem(context, i));
    Dims dims = dims_of(context.type(i));
    bool agree = dims.size() == joined.size();
    for (size_t d = 0; agree && d < dims.size(); ++d) {
      if (d == at(axis)) {
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

Status eval_concat(const EvalContext& context) {
  MRVLC_ASSIGN(int64_t axis, axis_of(context.infer_view()));
  Pieces p{axis, context.out().shape(), {}, {}};
  for (size_t i = 0; i < context.inputs.size(); ++i) {
    p.add(context.in(i).shape());
    run_copy(piece_copy(p, i, true), context.in(i), context.out());
  }
  return {};
}

Status emit_concat(EmitContext& context) {
  MRVLC_ASSIGN(int64_t axis, axis_attr(context));
  Pieces p{axis, context.out_type(0).shape, {}, {}};
  for (size_t i = 0; i < context.node().inputs.size(); ++i) {
    p.add(context.in_type(i).shape);
    emit_copy(context, piece_copy(p, i, true), context.in(i), context.out(0), context.in_type(0).elem);
  }
  return {};
}

// Opsets before 13 give the sizes as an attribute; before 18 the number of parts is that of the outputs.
Status upgrade_split(RawNode& node) {
  if (node.opset < 13) MRVLC_TRY(attr_to_input(node, "split", 1));
  bool sized = node.inputs.size() > 1 && node.inputs[1] != -1;
  if (node.opset < 18 && !sized) {
    node.attrs.emplace_back("num_outputs", ir::Attr(static_cast<int64_t>(node.num_outputs)));
  }
  return {};
}

Result<std::vector<TensorType>> infer_split(const InferContext& context) {
  MRVLC_ASSIGN(int64_t axis, axis_of(context));
  const TensorType& x = context.type(0);
  Dims dims = dims_of(x);
  Dim whole = dims[at(axis)];
  auto outputs = static_cast<int64_t>(context.num_outputs);
  Dims parts(at(outputs), Dim{whole.bound, true});
  if (context.has(1)) {
    MRVLC_TRY(check_elem(context, 1, kIndices));
    MRVLC_TRY(check_rank(context, 1, 0, 1));
    if (!context.type(1).is_static()) return make_diag<DiagCode::MRV0207>("1 (split)");
    const int64_t count = context.type(1).elements();
    if (count != outputs) return bad_operands(fmt::format("{} sizes for {} outputs", count, outputs));
    for (int64_t i = 0; context.constant(1) != nullptr && i < count; ++i) {
      const int64_t size = context.constant(1)->as_int(i);
      if (size < 0 || size > whole.bound)
        return bad_operands(fmt::format("a part of {} of a dimension of at most {}", size, whole.bound));
      parts[at(i)] = {size, false};
    }
    const Dim total = std::accumulate(parts.begin(), parts.end(), Dim{0, false}, sum);
    if (!whole.dynamic && !total.dynamic && total.bound != whole.bound)
      return bad_operands(fmt::format("parts of {} together of a dimension of {}", total.bound, whole.bound));
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
    dims[at(axis)] = part;
    types.push_back(type_of(x.elem, dims, x.elements()));
  }
  return types;
}

Status eval_split(const EvalContext& context) {
  MRVLC_ASSIGN(int64_t axis, axis_of(context.infer_view()));
  Pieces p{axis, context.in(0).shape(), {}, {}};
  for (size_t i = 0; i < context.outputs->size(); ++i) {
    p.add(context.out(i).shape());
    run_copy(piece_copy(p, i, false), context.in(0), context.out(i));
  }
  return {};
}

Status emit_split(EmitContext& context) {
  MRVLC_ASSIGN(int64_t axis, axis_attr(context));
  Pieces p{axis, context.in_type(0).shape, {}, {}};
  for (size_t i = 0; i < context.node().outputs.size(); ++i) {
    p.add(context.out_type(i).shape);
    emit_copy(context, piece_copy(p, i, false), context.in(0), context.out(i), context.in_type(0).elem);
  }
  return {};
}

// -- C of shapes known at run time only: runs of bytes, while copies of static shapes are merged, or single
// elements

// Bytes of `count` elements, a product.
std::string width_text(const std::string& count, const EmitContext& context) {
  return product_text({count, element_bytes(context.in_type(0).elem)});
}

Status emit_dynamic_concat(EmitContext& context) {
  MRVLC_ASSIGN(int64_t given, axis_attr(context));
  const size_t axis = at(given), count = context.node().inputs.size();
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
      fmt::format("const int64_t width = {};", width_text(product_text(out, axis + 1, out.size()), context)));
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

Status emit_dynamic_split(EmitContext& context) {
  MRVLC_ASSIGN(int64_t given, axis_attr(context));
  const size_t axis = at(given), outputs = context.node().outputs.size();
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
                           width_text(product_text(dims, axis + 1, dims.size()), context)));
  context.line(fmt::format("const char* from = (const char*){};", context.in(0)));
  for (size_t i = 0; i < outputs; ++i) {
    context.line(fmt::format("{0}({1}, n[{2}] * width, from, {3} * width, rows, n[{2}] * width);",
                             context.helper("dynamic_rows"), context.out(i), i, whole));
    if (i + 1 < outputs) context.line(fmt::format("from += n[{}] * width;", i));
  }
  return {};
}

}  // namespace

const OpDef& def_Concat() {
  static const OpDef def = [] {
    OpDef d;
    d.name = "Concat";
    d.traits = {.moves = Moves::Rearranged, .work = Work::Linear, .passes_size_on = true};
    d.attrs = {required("axis", ir::AttrKind::Int)};
    d.max_inputs = -1;
    d.types = kMovable;
    d.upgrade = upgrade_concat;
    d.infer = d.infer_dynamic = infer_concat;
    d.eval = eval_concat;
    d.emit = emit_concat;
    d.emit_dynamic = emit_dynamic_concat;
    d.accel = {LayerKind::Concat};
    return d;
  }();
  return def;
}

const OpDef& def_Split() {
  static const OpDef def = [] {
    OpDef d;
    d.name = "Split";
    d.traits = {.moves = Moves::Selected, .work = Work::Linear, .passes_size_on = true};
    d.since_min = 2;
    d.attrs = {with_int("axis", 0), optional("num_outputs", ir::AttrKind::Int)};
    d.max_inputs = 2;
    d.max_outputs = -1;
    d.types = kMovable;
    d.upgrade = upgrade_split;
    d.infer = d.infer_dynamic = infer_split;
    d.eval = eval_split;
    d.emit = emit_split;
    d.emit_dynamic = emit_dynamic_split;
    d.accel = {LayerKind::Move};
    return d;
  }();
  return def;
}

}  // namespace mrvlc::ops
