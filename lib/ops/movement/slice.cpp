// Slice (ONNX Slice-13), Expand (Expand-13) and Tile (Tile-13).
#include "common/dynamic_facets.h"
#include "common/strided_copy.h"
#include "mrvlc/ops/work.h"
#include "mrvlc/support/diag/ops.h"

namespace mrvlc::ops {
namespace {

using namespace spec;

// Before opset 10 everything is an attribute.
Status upgrade_slice(RawNode& node) {
  if (node.opset >= 10) return {};
  MRVLC_TRY(attr_to_input(node, "starts", 1));
  MRVLC_TRY(attr_to_input(node, "ends", 2));
  return attr_to_input(node, "axes", 3);
}

Result<StridedCopy> slice_plan(const InferContext& context) {
  MRVLC_ASSIGN(SliceParams p, slice_params(context));
  Shape strides = row_major_strides(context.type(0).shape);
  StridedCopy copy{p.size, strides, row_major_strides(p.size), 0, 0};
  for (size_t d = 0; d < p.size.size(); ++d) {
    copy.in_offset += p.start[d] * strides[d];
    copy.in[d] = p.size[d] > 1 ? strides[d] * p.step[d] : 0;
  }
  return copy;
}

Result<std::vector<TensorType>> infer_slice(const InferContext& context) {
  MRVLC_ASSIGN(SliceParams p, slice_params(context));
  return one_type(context.type(0).elem, p.size);
}

Result<Shape> expanded_shape(const InferContext& context) {
  MRVLC_ASSIGN(auto shape, known_ints(context, 1, "shape", kMaxRank));
  for (int64_t dim : shape) MRVLC_TRY(check_dim(dim, "a dimension of the result"));
  auto result = broadcast_shapes(context.type(0).shape, shape);
  if (!result) {
    return make_diag<DiagCode::MRV0205>(to_string(context.type(0).shape), to_string(shape),
                                        "they do not broadcast");
  }
  return *result;
}

Result<StridedCopy> expand_plan(const InferContext& context) {
  MRVLC_ASSIGN(Shape shape, expanded_shape(context));
  return StridedCopy{shape, broadcast_strides(context.type(0).shape, shape), row_major_strides(shape), 0, 0};
}

Result<std::vector<TensorType>> infer_expand(const InferContext& context) {
  MRVLC_ASSIGN(Shape shape, expanded_shape(context));
  return one_type(context.type(0).elem, shape);
}

Result<std::vector<int64_t>> repeats(const InferContext& context) {
  MRVLC_ASSIGN(auto counts, known_ints(context, 1, "repeats", kMaxRank));
  const Shape& shape = context.type(0).shape;
  if (counts.size() != shape.size())
    return bad_operands(fmt::format("{} repeats for rank {}", counts.size(), shape.size()));
  for (size_t d = 0; d < counts.size(); ++d) {
    auto size = checked_mul(shape[d], counts[d]);
    if (counts[d] < 0) return bad_operands(fmt::format("{} repeats of dimension {}", counts[d], d));
    if (!size) return too_large();
    MRVLC_TRY(check_dim(*size, "a dimension of the result"));
  }
  return counts;
}

Result<std::vector<TensorType>> infer_tile(const InferContext& context) {
  MRVLC_ASSIGN(auto counts, repeats(context));
  TensorType type = context.type(0);
  for (size_t d = 0; d < counts.size(); ++d) type.shape[d] *= counts[d];
  return std::vector<TensorType>{type};
}

// Every dimension becomes a pair: the repetition, and the dimension itself.
Result<StridedCopy> tile_plan(const InferContext& context) {
  MRVLC_ASSIGN(auto counts, repeats(context));
  const Shape& shape = context.type(0).shape;
  Shape result = shape, in = row_major_strides(shape);
  for (size_t d = 0; d < counts.size(); ++d) result[d] *= counts[d];
  Shape out = row_major_strides(result);
  StridedCopy copy;
  for (size_t d = 0; d < counts.size(); ++d) {
    copy.size.insert(copy.size.end(), {counts[d], shape[d]});
    copy.in.insert(copy.in.end(), {0, in[d]});
    copy.out.insert(copy.out.end(), {out[d] * shape[d], out[d]});
  }
  return copy;
}

template <CopyPlan Plan>
OpDef move_def(std::string_view name, Result<std::vector<TensorType>> (*infer)(const InferContext&),
               int inputs, int max_inputs) {
  OpDef d;
  d.name = name;
  d.min_inputs = inputs;
  d.max_inputs = max_inputs;
  d.types = kMovable;
  d.infer = infer;
  d.eval = eval_copy<Plan>;
  d.accel = {LayerKind::Move};
  return d;
}

}  // namespace

const OpDef& def_Slice() {
  static const OpDef def = [] {
    OpDef d = move_def<slice_plan>("Slice", infer_slice, 3, 5);
    d.upgrade = upgrade_slice;
    d.infer_dynamic = infer_dynamic_slice;
    d.emit = d.emit_dynamic = emit_slice;
    d.traits = {.moves = Moves::Selected, .work = Work::Linear, .passes_size_on = true};
    return d;
  }();
  return def;
}

const OpDef& def_Expand() {
  static const OpDef def = [] {
    OpDef d = move_def<expand_plan>("Expand", infer_expand, 2, 2);
    d.infer_dynamic = infer_dynamic_expand;
    d.emit = d.emit_dynamic = emit_expand;
    d.traits = {.moves = Moves::Copied, .work = Work::Linear, .passes_size_on = true};
    return d;
  }();
  return def;
}

const OpDef& def_Tile() {
  static const OpDef def = [] {
    OpDef d = move_def<tile_plan>("Tile", infer_tile, 2, 2);
    d.since_min = 6;
    d.infer_dynamic = infer_dynamic_tile;
    d.emit = d.emit_dynamic = emit_tile;
    d.traits = {.moves = Moves::Copied, .work = Work::Linear, .passes_size_on = true};
    return d;
  }();
  return def;
}

}  // namespace mrvlc::ops
