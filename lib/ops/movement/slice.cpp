// Slice (ONNX Slice-13), Expand (Expand-13) and Tile (Tile-13).
#include "common/dynamic_facets.h"
#include "common/element_bytes.h"
#include "common/text_copy.h"
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

// -- the copies

// int64_t NAME = operand i at [j], or what stands for it.
std::string value_text(const EmitContext& context, size_t i, std::string_view missing) {
  return context.has(i) ? fmt::format("{}[j]", context.in(i)) : std::string(missing);
}

// Element k of an operand that counts: a number when it is known.
std::string count_text(EmitContext& context, size_t i, size_t k) {
  const Tensor* known = context.constant(i);
  const auto element = static_cast<int64_t>(k);
  return known != nullptr ? fmt::format("{}", known->as_int(element))
                          : fmt::format("{}[{}]", context.in(i), k);
}

// Number of elements of a vector or scalar.
std::string length_text(const EmitContext& context, size_t i) {
  return product_text(in_dims(context, i));
}

// Of every dimension the first element that is taken, the step between elements, and their number.
struct SliceTexts {
  Texts first, step, size;
};

SliceTexts known_texts(const SliceParams& p) {
  SliceTexts t;
  for (size_t d = 0; d < p.size.size(); ++d) {
    t.first.push_back(fmt::format("{}", p.start[d]));
    t.step.push_back(fmt::format("{}", p.size[d] > 1 ? p.step[d] : 0));
    t.size.push_back(fmt::format("{}", p.size[d]));
  }
  return t;
}

// Arrays first, step and n from the operands, which are read when it runs.
SliceTexts read_slices(EmitContext& context) {
  const Texts dims = in_dims(context, 0);
  const auto rank = static_cast<int64_t>(dims.size());
  const std::string count = length_text(context, 1);
  for (size_t i = 2; i < 5; ++i) {
    if (context.has(i)) require_equal(context, length_text(context, i), count);
  }
  if (rank == 0) {
    require_equal(context, count, "0");
    return {};
  }
  declare_list(context, "dim", dims);
  declare_list(context, "n", dims, false);
  declare_list(context, "step", Texts(dims.size(), "1"), false);
  context.line(fmt::format("int64_t first[{}] = {{0}};", rank));
  context.line("unsigned seen = 0;");
  context.open(fmt::format("for (int64_t j = 0; j < {}; ++j)", count));
  context.line(fmt::format("const int64_t d = {}({}, {});", context.helper("dynamic_axis"),
                           value_text(context, 3, "j"), rank));
  context.fail_if("d < 0 || (seen >> d & 1u)");
  context.line("seen |= 1u << d;");
  if (context.has(4)) context.line(fmt::format("step[d] = {};", value_text(context, 4, "1")));
  context.line(fmt::format("n[d] = {}(dim[d], {}[j], {}[j], step + d, first + d);",
                           context.helper("dynamic_slice"), context.in(1), context.in(2)));
  context.fail_if("n[d] < 0");
  context.close();
  return {elements_of("first", rank), elements_of("step", rank), elements_of("n", rank)};
}

TextCopy slice_copy(const SliceTexts& slices, const Texts& own) {
  const Texts strides = stride_texts(own);
  TextCopy copy{slices.size, {}, stride_texts(slices.size)};
  Texts offset;
  for (size_t d = 0; d < own.size(); ++d) {
    copy.in.push_back(product_text({slices.step[d], strides[d]}));
    offset.push_back(product_text({slices.first[d], strides[d]}));
  }
  copy.in_offset = sum_text(offset);
  return copy;
}

Status eval_slice(const EvalContext& context) {
  MRVLC_ASSIGN(SliceParams p, slice_params(context.infer_view()));
  run_copy(slice_copy(known_texts(p), texts_of(context.in(0).shape())), context.in(0), context.out());
  return {};
}

Status emit_slice(EmitContext& context) {
  SliceTexts slices;
  if (is_dynamic(context)) {
    slices = read_slices(context);
    context.set_dims(0, slices.size);
  } else {
    MRVLC_ASSIGN(SliceParams p, slice_params(emit_view(context)));
    slices = known_texts(p);
  }
  emit_copy(context, slice_copy(slices, in_dims(context, 0)));
  return {};
}

// Of the operand and the shape that is asked for.
Texts expanded_dims(EmitContext& context) {
  const Texts own = in_dims(context, 0);
  const size_t rank = context.out_type(0).shape.size(), asked = at(context.in_type(1).elements());
  Texts dims;
  for (size_t d = 0; d < rank; ++d) {
    const std::string a = d + own.size() < rank ? "1" : own[d + own.size() - rank];
    const std::string b = d + asked < rank ? "1" : fmt::format("{}[{}]", context.in(1), d + asked - rank);
    dims.push_back(b == "1"   ? a
                   : a == "1" ? b
                              : fmt::format("{}({}, {})", context.helper("dynamic_both"), a, b));
  }
  return dims;
}

// To the dimensions `dims`, of which the last are `own` or repeat a 1 of it.
TextCopy expand_copy(const Texts& own, const Texts& dims) {
  const Texts strides = stride_texts(own);
  TextCopy copy{dims, Texts(dims.size() - own.size(), "0"), stride_texts(dims)};
  for (size_t d = 0; d < own.size(); ++d) {
    const bool known = is_number(own[d]);
    copy.in.push_back(!known          ? fmt::format("({} == 1 ? 0 : {})", own[d], strides[d])
                      : own[d] == "1" ? "0"
                                      : strides[d]);
  }
  return copy;
}

Status eval_expand(const EvalContext& context) {
  run_copy(expand_copy(texts_of(context.in(0).shape()), texts_of(context.out().shape())), context.in(0),
           context.out());
  return {};
}

Status emit_expand(EmitContext& context) {
  if (is_dynamic(context)) context.set_dims(0, expanded_dims(context));
  emit_copy(context, expand_copy(in_dims(context, 0), out_dims(context)));
  return {};
}

// Every dimension becomes a pair: the repetition, and the dimension itself.
TextCopy tile_copy(const Texts& own, const Texts& counts, const Texts& dims) {
  const Texts in = stride_texts(own), out = stride_texts(dims);
  TextCopy copy;
  for (size_t d = 0; d < own.size(); ++d) {
    copy.size.insert(copy.size.end(), {counts[d], own[d]});
    copy.in.insert(copy.in.end(), {"0", in[d]});
    copy.out.insert(copy.out.end(), {product_text({out[d], own[d]}), out[d]});
  }
  return copy;
}

Status eval_tile(const EvalContext& context) {
  MRVLC_ASSIGN(auto counts, repeats(context.infer_view()));
  const Texts own = texts_of(context.in(0).shape()), dims = texts_of(context.out().shape());
  run_copy(tile_copy(own, texts_of(counts), dims), context.in(0), context.out());
  return {};
}

Status emit_tile(EmitContext& context) {
  const Texts own = in_dims(context, 0);
  Texts counts, dims;
  for (size_t d = 0; d < own.size(); ++d) {
    counts.push_back(count_text(context, 1, d));
    const bool known = is_number(own[d]) && is_number(counts[d]);
    dims.push_back(known ? product_text({own[d], counts[d]})
                         : fmt::format("{}({}, {})", context.helper("dynamic_mul"), own[d], counts[d]));
  }
  context.set_dims(0, dims);
  emit_copy(context, tile_copy(own, counts, out_dims(context)));
  return {};
}

OpDef move_def(std::string_view name, Result<std::vector<TensorType>> (*infer)(const InferContext&),
               Status (*eval)(const EvalContext&), Status (*emit)(EmitContext&), int inputs, int max_inputs) {
  OpDef d;
  d.name = name;
  d.min_inputs = inputs;
  d.max_inputs = max_inputs;
  d.types = kMovable;
  d.infer = infer;
  d.eval = eval;
  d.emit = d.emit_dynamic = emit;
  d.accel = {LayerKind::Move};
  return d;
}

}  // namespace

const OpDef& def_Slice() {
  static const OpDef def = [] {
    OpDef d = move_def("Slice", infer_slice, eval_slice, emit_slice, 3, 5);
    d.upgrade = upgrade_slice;
    d.infer_dynamic = infer_dynamic_slice;
    d.traits = {.moves = Moves::Selected, .work = Work::Results, .passes_size_on = true};
    return d;
  }();
  return def;
}

const OpDef& def_Expand() {
  static const OpDef def = [] {
    OpDef d = move_def("Expand", infer_expand, eval_expand, emit_expand, 2, 2);
    d.infer_dynamic = infer_dynamic_expand;
    d.traits = {.moves = Moves::Copied, .work = Work::Linear, .passes_size_on = true};
    return d;
  }();
  return def;
}

const OpDef& def_Tile() {
  static const OpDef def = [] {
    OpDef d = move_def("Tile", infer_tile, eval_tile, emit_tile, 2, 2);
    d.since_min = 6;
    d.infer_dynamic = infer_dynamic_tile;
    d.traits = {.moves = Moves::Copied, .work = Work::Linear, .passes_size_on = true};
    return d;
  }();
  return def;
}

}  // namespace mrvlc::ops
