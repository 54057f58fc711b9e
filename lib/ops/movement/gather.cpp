// Gather (ONNX Gather-13), GatherElements (-13), GatherND (-13). Indices count from the end when negative.
// One out of range is an error: at compile time where it is known then, else at run time (index_util.h).
#include "common/index_util.h"
#include "common/lanes.h"
#include "common/slices.h"

namespace mrvlc::ops {
namespace {

using namespace spec;

Result<std::vector<TensorType>> infer_gather(const InferContext& context) {
  MRVLC_TRY(check_tensors(context));
  MRVLC_TRY(check_rank(context, 0, 1));
  MRVLC_TRY(check_elem(context, 1, kIndices));
  const TensorType &x = context.type(0), &indices = context.type(1);
  MRVLC_ASSIGN(int64_t axis, normalize_axis(context.int_attr("axis"), x.rank()));
  Dims dims = dims_of(x), middle = dims_of(indices);
  if (is_empty(dims[at(axis)]) && indices.is_static() && indices.elements() > 0)
    return bad_operands("nothing can be taken from an empty dimension");
  MRVLC_TRY(check_known_indices(context, 1, dims[at(axis)]));
  dims.erase(dims.begin() + axis);
  dims.insert(dims.begin() + axis, middle.begin(), middle.end());
  return one_type(x.elem, dims, all_pairs(x.elements(), indices.elements()));
}

Status eval_gather(const EvalContext& context) {
  const Shape& x = context.in(0).shape();
  MRVLC_ASSIGN(int64_t axis,
               normalize_axis(context.infer_view().int_attr("axis"), context.in(0).type().rank()));
  const AxisSizes sizes = axis_sizes(x, axis);
  MRVLC_ASSIGN(auto index, read_indices(context.in(1), sizes.dim));
  take_slices(sizes, index, context.in(0), context.out());
  return {};
}

Status emit_gather(EmitContext& context) {
  const Texts x = in_dims(context, 0), indices = in_dims(context, 1);
  MRVLC_ASSIGN(int64_t axis, axis_attr(context));
  Texts dims = x;
  dims.erase(dims.begin() + axis);
  dims.insert(dims.begin() + axis, indices.begin(), indices.end());
  context.set_dims(0, dims);
  // Indices that are used once are looked at then, but for those of longer runs.
  const bool once = product_text(x, 0, at(axis)) == "1" && product_text(x, at(axis) + 1, x.size()) == "1";
  MRVLC_ASSIGN(const RangeCheck check,
               once ? require_each_index(context, 1, x[at(axis)]) : require_indices(context, 1, x[at(axis)]));
  if (context.out_type(0).elements() == 0) return {};
  const AxisText view(context, 0, axis);
  const std::string count = named_size(context, "count", product_text(indices));
  // The index outermost where sizes are not known: it is checked even when there is nothing to copy.
  const bool dynamic = is_dynamic(context);
  if (!dynamic) open_loop(context, "o", view.outer);
  open_loop(context, "i", count);
  emit_index(context, "at", fmt::format("{}[i]", context.in(1)), view.n, check);
  if (dynamic) open_loop(context, "o", view.outer);
  const std::string from = fmt::format("(o * {} + at) * {}", view.n, view.inner),
                    to = fmt::format("(o * {} + i) * {}", count, view.inner);
  if (view.inner == "1") {
    context.line(fmt::format("{}[{}] = {}[{}];", context.out(0), to, context.in(0), from));
  } else {
    context.line(fmt::format("memcpy({} + {}, {} + {}, {});", context.out(0), to, context.in(0), from,
                             bytes_text(context.in_type(0).elem, view.inner)));
  }
  context.close();
  context.close();
  return {};
}

Result<std::vector<TensorType>> infer_gather_elements(const InferContext& context) {
  MRVLC_TRY(check_along_axis(context));
  return std::vector<TensorType>{context.type(1).with_elem(context.type(0).elem)};
}

Status eval_gather_elements(const EvalContext& context) {
  MRVLC_ASSIGN(AlongAxis a, along_axis(context.infer_view()));
  MRVLC_ASSIGN(auto index, read_indices(context.in(1), a.dim));
  ElementBytes bytes(context.in(0), context.out());
  a.for_each([&](int64_t i, int64_t base) { bytes.copy(base + index[at(i)] * a.stride, i, 1); });
  return {};
}

Status emit_gather_elements(EmitContext& context) {
  context.set_dims(0, in_dims(context, 1));
  if (context.out_type(0).elements() == 0) return {};
  MRVLC_ASSIGN(const std::string from, open_along_axis(context));
  context.line(fmt::format("{}[n] = {}[{}];", context.out(0), context.in(0), from));
  close_along_axis(context);
  return {};
}

Result<std::vector<TensorType>> infer_gather_nd(const InferContext& context) {
  MRVLC_ASSIGN(Dims dims, selected_dims(context, context.int_attr("batch_dims")));
  return one_type(context.type(0).elem, dims,
                  all_pairs(context.type(0).elements(), context.type(1).elements()));
}

Status eval_gather_nd(const EvalContext& context) {
  InferContext view = context.infer_view();
  const TupleIndices t = tuple_indices(view, view.int_attr("batch_dims"));
  MRVLC_ASSIGN(auto offsets, t.offsets(context.in(1)));
  ElementBytes bytes(context.in(0), context.out());
  for (size_t i = 0; i < offsets.size(); ++i)
    bytes.copy(offsets[i], static_cast<int64_t>(i) * t.slice, t.slice);
  return {};
}

Status emit_gather_nd(EmitContext& context) {
  const int64_t batch_dims = context.node().int_attr("batch_dims");
  context.set_dims(0, selected_texts(context, batch_dims));
  if (context.out_type(0).elements() == 0) return require_tuples(context, batch_dims);
  MRVLC_ASSIGN(const std::string slice, open_tuples(context, batch_dims));
  context.line(fmt::format("memcpy({} + n * {}, {} + at, {});", context.out(0), slice, context.in(0),
                           bytes_text(context.in_type(0).elem, slice)));
  context.close();
  return {};
}

OpDef gather_def(std::string_view name, ir::AttrSpec attr) {
  OpDef d;
  d.name = name;
  d.attrs = {std::move(attr)};
  d.min_inputs = d.max_inputs = 2;
  d.types = kMovable;
  d.declined = "the accelerator has no reads at computed addresses";
  return d;
}

}  // namespace

const OpDef& def_Gather() {
  static const OpDef def = [] {
    OpDef d = gather_def("Gather", with_int("axis", 0));
    d.infer = d.infer_dynamic = infer_gather;
    d.eval = eval_gather;
    d.emit = d.emit_dynamic = emit_gather;
    d.traits = {.moves = Moves::Copied, .work = Work::Results};
    return d;
  }();
  return def;
}

const OpDef& def_GatherElements() {
  static const OpDef def = [] {
    OpDef d = gather_def("GatherElements", with_int("axis", 0));
    d.since_min = 11;
    d.infer = d.infer_dynamic = infer_gather_elements;
    d.eval = eval_gather_elements;
    d.emit = d.emit_dynamic = emit_gather_elements;
    d.traits = {.moves = Moves::Copied, .work = Work::Results};
    return d;
  }();
  return def;
}

const OpDef& def_GatherND() {
  static const OpDef def = [] {
    OpDef d = gather_def("GatherND", with_int("batch_dims", 0));
    d.since_min = 11;
    d.infer = d.infer_dynamic = infer_gather_nd;
    d.eval = eval_gather_nd;
    d.emit = d.emit_dynamic = emit_gather_nd;
    d.traits = {.moves = Moves::Copied, .work = Work::Results};
    return d;
  }();
  return def;
}

}  // namespace mrvlc::ops
