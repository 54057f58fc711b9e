// Gather (ONNX Gather-13), GatherElements (-13), GatherND (-13). Indices count from the end when negative.
// One out of range is an error in the reference; generated code clamps it, so that no input can make it read
// outside its operands.
#include "common/dynamic_facets.h"
#include "common/index_util.h"
#include "common/slices.h"

namespace mrvlc::ops {
namespace {

using namespace spec;

struct GatherSizes : AxisSizes {
  int64_t indices = 1;
};

Result<GatherSizes> gather_sizes(const InferContext& context) {
  MRVLC_TRY(check_rank(context, 0, 1));
  MRVLC_TRY(check_elem(context, 1, kIndices));
  MRVLC_ASSIGN(int64_t axis, normalize_axis(context.int_attr("axis"), context.type(0).rank()));
  GatherSizes s{axis_sizes(context.type(0).shape, axis), context.type(1).elements()};
  if (s.dim == 0 && s.indices > 0) return bad_operands("nothing can be taken from an empty dimension");
  return s;
}

Result<std::vector<TensorType>> infer_gather(const InferContext& context) {
  MRVLC_TRY(gather_sizes(context));
  const Shape &x = context.type(0).shape, &indices = context.type(1).shape;
  MRVLC_ASSIGN(int64_t axis, normalize_axis(context.int_attr("axis"), context.type(0).rank()));
  Shape shape(x.begin(), x.begin() + axis);
  shape.insert(shape.end(), indices.begin(), indices.end());
  shape.insert(shape.end(), x.begin() + axis + 1, x.end());
  return one_type(context.type(0).elem, shape);
}

Status eval_gather(const EvalContext& context) {
  MRVLC_ASSIGN(GatherSizes s, gather_sizes(context.infer_view()));
  MRVLC_ASSIGN(auto index, read_indices(context.in(1), s.dim));
  take_slices(s, index, context.in(0), context.out());
  return {};
}

Status emit_gather(EmitContext& context) {
  MRVLC_ASSIGN(GatherSizes s, gather_sizes(emit_view(context)));
  if (context.out_type(0).elements() == 0) return {};
  context.loop("o", s.outer);
  context.loop("i", s.indices);
  emit_index(context, "at", fmt::format("{}[i]", context.in(1)), s.dim);
  std::string from = fmt::format("(o * {} + at) * {}", s.dim, s.inner),
              to = fmt::format("(o * {} + i) * {}", s.indices, s.inner);
  if (s.inner == 1) {
    context.line(fmt::format("{}[{}] = {}[{}];", context.out(0), to, context.in(0), from));
  } else {
    std::string bytes = element_bytes(context.in_type(0).elem, s.inner);
    context.line(
        fmt::format("memcpy({} + {}, {} + {}, {});", context.out(0), to, context.in(0), from, bytes));
  }
  context.close();
  context.close();
  return {};
}

Result<std::vector<TensorType>> infer_gather_elements(const InferContext& context) {
  MRVLC_TRY(check_elem(context, 1, kIndices));
  MRVLC_ASSIGN(AlongAxis a, along_axis(context));
  if (a.dim == 0 && context.type(1).elements() > 0)
    return bad_operands("nothing can be taken from an empty dimension");
  return one_type(context.type(0).elem, context.type(1).shape);
}

Status eval_gather_elements(const EvalContext& context) {
  MRVLC_ASSIGN(AlongAxis a, along_axis(context.infer_view()));
  MRVLC_ASSIGN(auto index, read_indices(context.in(1), a.dim));
  ElementBytes bytes(context.in(0), context.out());
  a.for_each([&](int64_t i, int64_t base) { bytes.copy(base + index[at(i)] * a.stride, i, 1); });
  return {};
}

Status emit_gather_elements(EmitContext& context) {
  MRVLC_ASSIGN(AlongAxis a, along_axis(emit_view(context)));
  if (context.out_type(0).elements() == 0) return {};
  a.dynamic_loops(context);
  emit_index(context, "at", fmt::format("{}[n]", context.in(1)), a.dim);
  context.line(fmt::format("{}[n] = {}[base + at * {}];", context.out(0), context.in(0), a.stride));
  a.close_loops(context);
  return {};
}

Result<std::vector<TensorType>> infer_gather_nd(const InferContext& context) {
  MRVLC_ASSIGN(TupleIndices t, tuple_indices(context, context.int_attr("batch_dims")));
  return one_type(context.type(0).elem, t.result);
}

Status eval_gather_nd(const EvalContext& context) {
  InferContext view = context.infer_view();
  MRVLC_ASSIGN(TupleIndices t, tuple_indices(view, view.int_attr("batch_dims")));
  MRVLC_ASSIGN(auto offsets, t.offsets(context.in(1)));
  ElementBytes bytes(context.in(0), context.out());
  for (size_t i = 0; i < offsets.size(); ++i)
    bytes.copy(offsets[i], static_cast<int64_t>(i) * t.slice, t.slice);
  return {};
}

Status emit_gather_nd(EmitContext& context) {
  InferContext view = emit_view(context);
  MRVLC_ASSIGN(TupleIndices t, tuple_indices(view, view.int_attr("batch_dims")));
  if (context.out_type(0).elements() == 0) return {};
  t.dynamic_loops(context, context.in(1));
  std::string bytes = element_bytes(context.in_type(0).elem, t.slice);
  context.line(
      fmt::format("memcpy({} + n * {}, {} + at, {});", context.out(0), t.slice, context.in(0), bytes));
  t.close_loops(context);
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
    d.infer = infer_gather;
    d.eval = eval_gather;
    d.emit = emit_gather;
    d.infer_dynamic = infer_dynamic_gather;
    d.emit_dynamic = emit_dynamic_gather;
    d.traits = {.moves = Moves::Copied, .work = Work::Linear};
    return d;
  }();
  return def;
}

const OpDef& def_GatherElements() {
  static const OpDef def = [] {
    OpDef d = gather_def("GatherElements", with_int("axis", 0));
    d.since_min = 11;
    d.infer = infer_gather_elements;
    d.eval = eval_gather_elements;
    d.emit = emit_gather_elements;
    d.infer_dynamic = infer_dynamic_gather_elements;
    d.emit_dynamic = emit_dynamic_gather_elements;
    d.traits = {.moves = Moves::Copied, .work = Work::Linear};
    return d;
  }();
  return def;
}

const OpDef& def_GatherND() {
  static const OpDef def = [] {
    OpDef d = gather_def("GatherND", with_int("batch_dims", 0));
    d.since_min = 11;
    d.infer = infer_gather_nd;
    d.eval = eval_gather_nd;
    d.emit = emit_gather_nd;
    d.infer_dynamic = infer_dynamic_gather_nd;
    d.emit_dynamic = emit_dynamic_gather_nd;
    d.traits = {.moves = Moves::Copied, .work = Work::Linear};
    return d;
  }();
  return def;
}

}  // namespace mrvlc::ops
