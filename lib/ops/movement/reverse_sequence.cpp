// ReverseSequence (ONNX ReverseSequence-10): reverses the first elements of every sequence of a batch.
// Lengths out of range are errors (see index_util.h).
#include "common/dims.h"
#include "common/index_util.h"

namespace mrvlc::ops {
namespace {

using namespace spec;

// The batch and time axes are the first two dimensions, in either order.
Result<bool> time_first(const InferContext& context) {
  MRVLC_TRY(check_rank(context, 0, 2));
  MRVLC_TRY(check_rank(context, 1, 1, 1));
  MRVLC_TRY(check_elem(context, 1, types_of({E::I64})));
  int64_t batch = context.int_attr("batch_axis"), time = context.int_attr("time_axis");
  if (!(batch == 0 && time == 1) && !(batch == 1 && time == 0))
    return bad_operands(fmt::format("batch_axis {} and time_axis {} must be 0 and 1", batch, time));
  return time == 0;
}

ElementRange length_range(const InferContext& context, int64_t time) {
  return {1, context.type(1).elements(), 0, time};
}

Result<std::vector<TensorType>> infer_reverse(const InferContext& context) {
  MRVLC_ASSIGN(bool first, time_first(context));
  const Shape& x = context.type(0).shape;
  if (context.type(1).shape[0] != x[first ? 1 : 0])
    return bad_operands(fmt::format("{} lengths for data of {}", context.type(1).shape[0], to_string(x)));
  MRVLC_TRY(check_known(context, length_range(context, x[first ? 0 : 1])));
  return std::vector<TensorType>{context.type(0)};
}

Status eval_reverse(const EvalContext& context) {
  MRVLC_ASSIGN(bool first, time_first(context.infer_view()));
  const Shape& x = context.in(0).shape();
  int64_t inner = element_count(Shape(x.begin() + 2, x.end())), time = x[first ? 0 : 1];
  if (inner == 0) return {};
  ElementBytes bytes(context.in(0), context.out());
  for (int64_t i = 0; i < x[0] * x[1]; ++i) {
    int64_t b = first ? i % x[1] : i / x[1], t = first ? i / x[1] : i % x[1];
    int64_t length = context.in(1).as_int(b);
    if (length < 0 || length > time) return bad_operands(fmt::format("a length of {} of {}", length, time));
    int64_t from = t < length ? length - 1 - t : t;
    bytes.copy((first ? from * x[1] + b : b * x[1] + from) * inner, i * inner, inner);
  }
  return {};
}

Status emit_reverse(EmitContext& context) {
  MRVLC_ASSIGN(bool first, time_first(emit_view(context)));
  const Texts x = in_sizes(context, 0);
  const std::string time = x[first ? 0 : 1];
  require_equal(context, context.in_dim(1, 0), context.in_dim(0, first ? 1 : 0));
  fail_if_any(context, 1, fmt::format("v < 0 || v > {}", time));
  RangeCheck check = RangeCheck::None;
  if (is_number(time)) {
    MRVLC_ASSIGN(check, require_range(context, length_range(emit_view(context), std::stoll(time))));
  }
  context.set_dims(0, in_dims(context, 0));
  if (context.out_type(0).elements() == 0) return {};
  context.line(fmt::format("const ptrdiff_t inner = {};", size_product(x, 2, x.size())));
  context.open(fmt::format("for (ptrdiff_t i = 0; i < {}; ++i)", size_product(x, 0, 2)));
  context.line(fmt::format("const ptrdiff_t p = i / {0}, q = i % {0};", x[1]));
  std::string b = first ? "q" : "p", t = first ? "p" : "q";
  const std::string given = fmt::format("{}[{}]", context.in(1), b);
  // Before it is made a ptrdiff_t, which may have fewer bits.
  context.line(fmt::format("const ptrdiff_t length = (ptrdiff_t){};",
                           check == RangeCheck::Before
                               ? given
                               : fmt::format("({0} < 0 ? 0 : {0} < {1} ? {0} : {1})", given, time)));
  context.line(fmt::format("const ptrdiff_t from = {0} < length ? length - 1 - {0} : {0};", t));
  std::string place = first ? fmt::format("from * {} + q", x[1]) : fmt::format("p * {} + from", x[1]);
  context.line(fmt::format("memcpy({0} + i * inner, {1} + ({2}) * inner, (size_t)inner * sizeof *{0});",
                           context.out(0), context.in(0), place));
  context.close();
  return {};
}

}  // namespace

const OpDef& def_ReverseSequence() {
  static const OpDef def = [] {
    OpDef d;
    d.name = "ReverseSequence";
    d.traits = {.moves = Moves::Rearranged, .work = Work::Linear};
    d.since_min = 10;
    d.attrs = {with_int("batch_axis", 1), with_int("time_axis", 0)};
    d.min_inputs = d.max_inputs = 2;
    d.types = kFixedSize;
    d.infer = infer_reverse;
    d.eval = eval_reverse;
    d.emit = d.emit_dynamic = emit_reverse;
    d.declined = "the accelerator has no reads at computed addresses";
    return d;
  }();
  return def;
}

}  // namespace mrvlc::ops
