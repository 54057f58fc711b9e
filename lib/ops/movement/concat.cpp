// Concat (ONNX Concat-13) and Split (ONNX Split-18).
#include <numeric>

#include "common/lanes.h"
#include "common/slices.h"
#include "common/text_copy.h"
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

// Where a piece lies in the joined tensor: rows of `width` elements for each position along the axis.
struct JoinedTexts {
  Texts joined;
  size_t axis;
  std::string begin = "0";  // of the next piece, along the axis

  // Copy between the next piece (dense) of `length` positions and its place; `joining`: from the piece.
  TextCopy piece(const std::string& length, bool joining) const {
    const std::string rows = product_text(joined, 0, axis), run = run_text(length);
    const Texts dense = {run, "1"}, apart = {run_text(joined[axis]), "1"};
    const std::string offset = run_text(begin);
    if (joining) return {{rows, run}, dense, apart, "0", offset};
    return {{rows, run}, apart, dense, offset, "0"};
  }

 private:
  // Elements of so many positions.
  std::string run_text(const std::string& positions) const {
    Texts factors(joined.begin() + static_cast<std::ptrdiff_t>(axis), joined.end());
    factors[0] = positions;
    return product_text(factors);
  }
};

// Counts what was copied: a number, or a variable of the C function.
void advance(EmitContext& context, JoinedTexts& j, const std::string& length) {
  if (is_number(j.begin) && is_number(length)) {
    j.begin = sum_text({j.begin, length});
  } else if (j.begin == "begin") {
    context.line(fmt::format("begin += {};", length));
  } else {
    context.line(fmt::format("int64_t begin = {};", sum_text({j.begin, length})));
    j.begin = "begin";
  }
}

Status emit_concat(EmitContext& context) {
  MRVLC_ASSIGN(const int64_t axis, axis_attr(context));
  const size_t count = context.node().inputs.size();
  Texts first = in_dims(context, 0), along, joined = first;
  for (size_t i = 0; i < count; ++i) {
    const Texts dims = in_dims(context, i);
    along.push_back(dims[at(axis)]);
    for (size_t d = 0; d < dims.size(); ++d) {
      if (d != at(axis)) require_equal(context, dims[d], first[d]);
    }
  }
  joined[at(axis)] = sum_text(along);
  context.set_dims(0, joined);
  JoinedTexts j{out_dims(context), at(axis)};
  for (size_t i = 0; i < count; ++i) {
    emit_copy(context, j.piece(along[i], true), i, 0);
    if (i + 1 < count) advance(context, j, along[i]);
  }
  return {};
}

// The array `n` of the parts' sizes, which add up to `whole`.
Texts read_sizes(EmitContext& context, const std::string& whole) {
  const size_t outputs = context.node().outputs.size();
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
  return elements_of("n", static_cast<int64_t>(outputs));
}

Texts known_sizes(const EmitContext& context, size_t axis) {
  Texts sizes;
  for (size_t i = 0; i < context.node().outputs.size(); ++i)
    sizes.push_back(context.out_dim(i, static_cast<int64_t>(axis)));
  return sizes;
}

Status emit_split(EmitContext& context) {
  MRVLC_ASSIGN(const int64_t axis, axis_attr(context));
  Texts dims = in_dims(context, 0);
  JoinedTexts j{dims, at(axis)};
  const Texts sizes =
      is_dynamic(context) ? read_sizes(context, dims[at(axis)]) : known_sizes(context, at(axis));
  for (size_t i = 0; i < sizes.size(); ++i) {
    dims[at(axis)] = sizes[i];
    context.set_dims(i, dims);
  }
  for (size_t i = 0; i < sizes.size(); ++i) {
    emit_copy(context, j.piece(sizes[i], false), 0, i);
    if (i + 1 < sizes.size()) advance(context, j, sizes[i]);
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
    d.emit = d.emit_dynamic = emit_concat;
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
    d.emit = d.emit_dynamic = emit_split;
    d.accel = {LayerKind::Move};
    return d;
  }();
  return def;
}

}  // namespace mrvlc::ops
