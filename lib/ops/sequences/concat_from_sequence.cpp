// ConcatFromSequence (ONNX ConcatFromSequence-11).
#include "common/slices.h"
#include "sequences/sequence_emit.h"

namespace mrvlc::ops {

using namespace spec;

namespace {

Result<int64_t> concat_axis(const InferContext& context, bool new_axis) {
  const TensorType& type = context.type(0);
  if (!type.has_rank()) return bad_operands("the tensors of the sequence have different ranks");
  if (new_axis && type.rank() >= kMaxRank) return bad_operands("the result has too high a rank");
  return normalize_axis(context.int_attr("axis"), type.rank() + (new_axis ? 1 : 0));
}

Result<std::vector<TensorType>> infer_concat(const InferContext& context) {
  MRVLC_TRY(check_sequence(context, 0));
  const bool new_axis = context.int_attr("new_axis") != 0;
  MRVLC_ASSIGN(int64_t axis, concat_axis(context, new_axis));
  TensorType out = item_type(context.type(0));
  const int64_t length = context.type(0).length;
  if (new_axis) {
    out = with_dim(out, axis, length, true);
  } else {
    auto total = checked_mul(out.shape[at(axis)], length);
    if (!total) return bad_operands("the result is too large");
    out.shape[at(axis)] = *total;
    out.dynamic |= 1u << axis;
  }
  if (out.capacity >= 0) out.capacity = checked_mul(out.capacity, length).value_or(kMaxElements);
  return std::vector<TensorType>{out};
}

Status eval_concat(const EvalContext& context) {
  InferContext view = context.infer_view();
  const bool new_axis = view.int_attr("new_axis") != 0;
  const auto& items = context.in(0).items();
  if (items.empty()) return bad_operands("there is nothing to concatenate");
  MRVLC_ASSIGN(int64_t axis, concat_axis(view, new_axis));
  auto all = new_axis ? stack(items, axis) : join(items, axis);
  if (!all) return bad_operands("the tensors of the sequence do not fit each other");
  context.out() = *std::move(all);
  return {};
}

// The result's dimensions, of the tensors' rows in memory; `total` along the axis.
Texts joined_dims(int64_t rank, int64_t axis, bool new_axis) {
  Texts dims;
  for (int64_t d = 0; d < rank; ++d)
    dims.push_back(d == axis ? "total" : fmt::format("rows[{}]", new_axis && d > axis ? d - 1 : d));
  return dims;
}

// Declares `total`. Fails unless the tensors agree but for the axis.
void emit_total(EmitContext& context, int64_t axis, bool new_axis) {
  const int64_t rank = context.in_type(0).rank();
  std::string check = fmt::format("row[7] != {}", rank);
  for (int64_t d = 0; d < rank; ++d) {
    if (new_axis || d != axis) check += fmt::format(" || row[{0}] != rows[{0}]", d);
  }
  context.line("int64_t total = 0;");
  context.open(fmt::format("for (int64_t i = 0; i < {}; ++i)", context.in_dim(0, 0)));
  context.line("const int64_t* const row = rows + i * 8;");
  context.fail_if(check);
  context.line(fmt::format("total += {};", new_axis ? "1" : fmt::format("row[{}]", axis)));
  context.close();
}

Status emit_concat(EmitContext& context) {
  InferContext view = emit_view(context);
  const bool new_axis = view.int_attr("new_axis") != 0;
  const TensorType &in = context.in_type(0), &out = context.out_type(0);
  MRVLC_ASSIGN(int64_t axis, normalize_axis(view.int_attr("axis"), out.rank()));
  const std::string count = context.in_dim(0, 0);
  context.fail_if(fmt::format("{} < 1", count));
  context.line(fmt::format("const int64_t* const rows = (const int64_t*)(const void*){};", context.in(0)));
  emit_total(context, axis, new_axis);
  const Texts dims = joined_dims(out.rank(), axis, new_axis);
  context.set_dims(0, dims);
  Texts run(dims.begin() + axis + 1, dims.end());
  run.push_back(fmt::format("{}", memory_bytes(TensorType{in.elem, {}})));
  context.line(fmt::format("const int64_t inner = {};", product_text(run)));
  context.line("int64_t begin = 0;");
  context.open(fmt::format("for (int64_t i = 0; i < {}; ++i)", count));
  context.line(
      fmt::format("const int64_t size = {};", new_axis ? "1" : fmt::format("rows[i * 8 + {}]", axis)));
  context.line(
      fmt::format("{}((unsigned char*){} + begin * inner, total * inner, (const unsigned char*){} + "
                  "{}, size * inner, {}, size * inner);",
                  context.helper("dynamic_rows"), context.out(0), context.in(0), slot_offset(in, "i"),
                  product_text(dims, 0, at(axis))));
  context.line("begin += size;");
  context.close();
  return {};
}

}  // namespace

const OpDef& def_ConcatFromSequence() {
  static const OpDef def = [] {
    OpDef d = sequence_def("ConcatFromSequence", 11, 1, 1, infer_concat, eval_concat, emit_concat);
    d.attrs = {required("axis", ir::AttrKind::Int), with_int("new_axis", 0)};
    return d;
  }();
  return def;
}

}  // namespace mrvlc::ops
