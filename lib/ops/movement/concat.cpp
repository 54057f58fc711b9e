// Concat (ONNX Concat-13) and Split (ONNX Split-18).
#include "common/dynamic_facets.h"
#include "common/slices.h"
#include "mrvlc/support/diag/ops.h"

namespace mrvlc::ops {
namespace {

using namespace spec;

struct Pieces {  // of the joined tensor along one axis
  int64_t axis = 0;
  Shape joined;
  std::vector<int64_t> sizes, begins;
};

// Copy between piece i (dense) and its place in the joined tensor; `joining`: from the piece.
StridedCopy piece_copy(const Pieces& p, size_t i, bool joining) {
  Shape part = p.joined;
  part[at(p.axis)] = p.sizes[i];
  return joining ? slices_copy(part, 0, p.joined, p.begins[i], p.axis, p.sizes[i])
                 : slices_copy(p.joined, p.begins[i], part, 0, p.axis, p.sizes[i]);
}

Result<Pieces> concat_pieces(const InferContext& context) {
  MRVLC_TRY(check_rank(context, 0, 1));
  MRVLC_ASSIGN(int64_t axis, normalize_axis(context.int_attr("axis"), context.type(0).rank()));
  Pieces p{axis, context.type(0).shape, {}, {}};
  int64_t total = 0;
  for (size_t i = 0; i < context.num_inputs(); ++i) {
    MRVLC_TRY(check_same_elem(context, i));
    Shape shape = context.type(i).shape;
    bool agree = shape.size() == p.joined.size();
    if (agree) {
      p.sizes.push_back(shape[at(axis)]);
      shape[at(axis)] = p.joined[at(axis)];
    }
    if (!agree || shape != p.joined) {
      return make_diag<DiagCode::MRV0205>(to_string(context.type(0).shape), to_string(context.type(i).shape),
                                          fmt::format("only axis {} may differ", axis));
    }
    p.begins.push_back(total);
    auto sum = checked_add(total, p.sizes.back());
    if (!sum) return bad_operands("the joined dimension is too large");
    total = *sum;
  }
  p.joined[at(axis)] = total;
  return p;
}

// Before opset 4 the axis could be left out.
Status upgrade_concat(RawNode& node) {
  if (node.opset < 4 && node.find("axis") == nullptr) node.attrs.emplace_back("axis", ir::Attr(int64_t{1}));
  return {};
}

Result<std::vector<TensorType>> infer_concat(const InferContext& context) {
  MRVLC_ASSIGN(Pieces p, concat_pieces(context));
  return one_type(context.type(0).elem, p.joined);
}

Status eval_concat(const EvalContext& context) {
  MRVLC_ASSIGN(Pieces p, concat_pieces(context.infer_view()));
  for (size_t i = 0; i < p.sizes.size(); ++i) run_copy(piece_copy(p, i, true), context.in(i), context.out());
  return {};
}

Status emit_concat(EmitContext& context) {
  MRVLC_ASSIGN(Pieces p, concat_pieces(emit_view(context)));
  for (size_t i = 0; i < p.sizes.size(); ++i) {
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

// Sizes without an explicit list: all equal, the last one smaller when they do not divide.
Result<std::vector<int64_t>> equal_parts(const InferContext& context, int64_t dim) {
  auto outputs = static_cast<int64_t>(context.num_outputs);
  int64_t parts = is_attr_set(context, "num_outputs") ? context.int_attr("num_outputs") : outputs;
  if (parts != outputs)
    return bad_attr("num_outputs", fmt::format("is {}, the node has {} outputs", parts, outputs));
  int64_t size = ceil_div(dim, parts);
  if (size * (parts - 1) > dim)
    return bad_attr("num_outputs", fmt::format("is {} for a dimension of {}", parts, dim));
  std::vector<int64_t> sizes(at(parts), size);
  sizes.back() = dim - size * (parts - 1);
  return sizes;
}

Result<Pieces> split_pieces(const InferContext& context) {
  MRVLC_TRY(check_rank(context, 0, 1));
  MRVLC_ASSIGN(int64_t axis, normalize_axis(context.int_attr("axis"), context.type(0).rank()));
  Pieces p{axis, context.type(0).shape, {}, {}};
  int64_t dim = p.joined[at(axis)], total = 0;
  MRVLC_TRY(check_dim(dim, "the split dimension"));
  if (context.has(1)) {
    MRVLC_ASSIGN(p.sizes, known_ints(context, 1, "split", static_cast<int64_t>(context.num_outputs)));
  } else {
    MRVLC_ASSIGN(p.sizes, equal_parts(context, dim));
  }
  for (int64_t size : p.sizes) {
    if (size < 0 || size > dim)
      return bad_operands(fmt::format("a part of {} of a dimension of {}", size, dim));
    p.begins.push_back(total);
    total += size;
  }
  if (total != dim || p.sizes.size() != context.num_outputs) {
    return bad_operands(fmt::format("{} parts of {} together, for {} outputs and a dimension of {}",
                                    p.sizes.size(), total, context.num_outputs, dim));
  }
  return p;
}

Result<std::vector<TensorType>> infer_split(const InferContext& context) {
  MRVLC_ASSIGN(Pieces p, split_pieces(context));
  std::vector<TensorType> types;
  for (int64_t size : p.sizes) {
    types.push_back(context.type(0));
    types.back().shape[at(p.axis)] = size;
  }
  return types;
}

Status eval_split(const EvalContext& context) {
  InferContext view = context.infer_view();
  MRVLC_ASSIGN(Pieces p, split_pieces(view));
  for (size_t i = 0; i < p.sizes.size(); ++i)
    run_copy(piece_copy(p, i, false), context.in(0), context.out(i));
  return {};
}

Status emit_split(EmitContext& context) {
  MRVLC_ASSIGN(Pieces p, split_pieces(emit_view(context)));
  for (size_t i = 0; i < p.sizes.size(); ++i) {
    emit_copy(context, piece_copy(p, i, false), context.in(0), context.out(i), context.in_type(0).elem);
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
    d.infer = infer_concat;
    d.eval = eval_concat;
    d.emit = emit_concat;
    d.infer_dynamic = infer_dynamic_concat;
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
    d.infer = infer_split;
    d.eval = eval_split;
    d.emit = emit_split;
    d.infer_dynamic = infer_dynamic_split;
    d.emit_dynamic = emit_dynamic_split;
    d.accel = {LayerKind::Move};
    return d;
  }();
  return def;
}

}  // namespace mrvlc::ops
