// CumSum (ONNX CumSum-14) and Trilu (Trilu-14).
#include <algorithm>

#include "common/emit_util.h"
#include "common/index_util.h"
#include "common/lanes.h"
#include "common/slices.h"

namespace mrvlc::ops {
namespace {

using namespace spec;

struct ScanSizes : AxisSizes {
  bool exclusive = false, reverse = false;
};

Result<ScanSizes> scan_sizes(const InferContext& context) {
  MRVLC_ASSIGN(int64_t axis, known_int(context, 1, "axis"));
  MRVLC_ASSIGN(axis, normalize_axis(axis, context.type(0).rank()));
  return ScanSizes{axis_sizes(context.type(0).shape, axis), context.int_attr("exclusive") != 0,
                   context.int_attr("reverse") != 0};
}

Result<std::vector<TensorType>> infer_dynamic_cum_sum(const InferContext& context) {
  MRVLC_TRY(check_tensors(context));
  MRVLC_TRY(check_rank(context, 0, 1));
  MRVLC_TRY(check_one_integer(context, 1, "axis"));
  if (context.constant(1) != nullptr)
    MRVLC_TRY(normalize_axis(context.constant(1)->as_int(0), context.type(0).rank()));
  return std::vector<TensorType>{context.type(0)};
}

// An axis known at run time only is checked then.
Result<std::vector<TensorType>> infer_cum_sum(const InferContext& context) {
  MRVLC_TRY(known_int(context, 1, "axis"));
  return infer_dynamic_cum_sum(context);
}

// Running sum of one line; T is double, or uint64_t which wraps.
template <class T, class Read, class Write>
void scan(const ScanSizes& s, int64_t row, Read read, Write write) {
  T sum{};
  int64_t base = row / s.inner * s.dim * s.inner + row % s.inner;
  for (int64_t j = 0; j < s.dim; ++j) {
    int64_t i = base + (s.reverse ? s.dim - 1 - j : j) * s.inner;
    T value = read(i);
    write(i, s.exclusive ? sum : sum + value);
    sum += value;
  }
}

Status eval_cum_sum(const EvalContext& context) {
  MRVLC_ASSIGN(ScanSizes s, scan_sizes(context.infer_view()));
  const Tensor& x = context.in(0);
  Tensor& y = context.out();
  for (int64_t row = 0; row < s.outer * s.inner; ++row) {
    if (is_float(x.elem())) {
      scan<double>(
          s, row, [&](int64_t i) { return x.as_double(i); },
          [&](int64_t i, double v) { y.set_double(i, v); });
    } else {
      scan<uint64_t>(
          s, row, [&](int64_t i) { return static_cast<uint64_t>(x.as_int(i)); },
          [&](int64_t i, uint64_t v) { y.set_int(i, static_cast<int64_t>(v)); });
    }
  }
  return {};
}

// The result's dimensions, and the sizes around the axis that operand 1 says, which are read at run time when
// it is no constant. Sizes come last: products of the dimensions of an empty tensor may overflow.
Result<AxisText> axis_operand(EmitContext& context) {
  const Texts dims = in_dims(context, 0);
  const auto rank = static_cast<int64_t>(dims.size());
  if (const Tensor* known = context.constant(1)) {
    MRVLC_ASSIGN(int64_t axis, normalize_axis(known->as_int(0), rank));
    context.set_dims(0, dims);
    return AxisText(context, 0, axis);
  }
  declare_list(context, "dim", dims);
  context.line(fmt::format("const int64_t axis = {}({}[0], {});", context.helper("dynamic_axis"),
                           context.in(1), rank));
  context.fail_if("axis < 0");
  context.set_dims(0, dims);
  context.line("ptrdiff_t outer_size = 1, inner_size = 1;");
  context.line("for (int64_t d = 0; d < axis; ++d) outer_size *= (ptrdiff_t)dim[d];");
  context.line(fmt::format("for (int64_t d = axis + 1; d < {}; ++d) inner_size *= (ptrdiff_t)dim[d];", rank));
  AxisText view;
  view.outer = "outer_size", view.n = named_size(context, "axis_size", "dim[axis]"),
  view.inner = "inner_size";
  return view;
}

// Line j from line j - 1, so that the loop over the inner dimensions vectorises.
Status emit_cum_sum(EmitContext& context) {
  MRVLC_TRY(require_widened(context));
  if (context.out_type(0).elements() == 0) {
    context.set_dims(0, in_dims(context, 0));
    return {};
  }
  MRVLC_ASSIGN(AxisText s, axis_operand(context));
  const ElementType elem = context.in_type(0).elem;
  const bool exclusive = context.node().int_attr("exclusive") != 0,
             reverse = context.node().int_attr("reverse") != 0;
  const std::string first = reverse ? times(plus(s.n, -1), s.inner) : "0",
                    step = reverse ? fmt::format("(-{})", s.inner) : s.inner;
  // Signed overflow is undefined in C; the sum is made in the unsigned type.
  const std::string wide = is_float(elem) ? "" : byte_size(elem) == 8 ? "(uint64_t)" : "(uint32_t)";
  open_loop(context, "o", turns_unless_empty(s.outer, s.n));
  context.line(fmt::format("const {}* x = {} + o * {} + {};", c_type(elem), context.in(0), s.lane(), first));
  context.line(fmt::format("{}* y = {} + o * {} + {};", c_type(elem), context.out(0), s.lane(), first));
  context.line(
      fmt::format("for (ptrdiff_t i = 0; i < {}; ++i) y[i] = {};", s.inner, exclusive ? "0" : "x[i]"));
  context.open(fmt::format("for (ptrdiff_t j = 1; j < {}; ++j)", s.n));
  context.line(fmt::format("const {}* xj = x + {} * {};", c_type(elem), exclusive ? "(j - 1)" : "j", step));
  context.line(fmt::format("{}* yj = y + j * {};", c_type(elem), step));
  context.line(fmt::format("for (ptrdiff_t i = 0; i < {0}; ++i) yj[i] = ({1})({2}yj[i - {3}] + {2}xj[i]);",
                           s.inner, c_type(elem), wide, step));
  context.close();
  context.close();
  return {};
}

Result<int64_t> diagonal(const InferContext& context) {
  if (!context.has(1)) return int64_t{0};
  MRVLC_ASSIGN(int64_t k, known_int(context, 1, "k"));
  return std::clamp(k, -kMaxElements, kMaxElements);
}

Result<std::vector<TensorType>> infer_dynamic_trilu(const InferContext& context) {
  MRVLC_TRY(check_tensors(context));
  MRVLC_TRY(check_rank(context, 0, 2));
  if (context.has(1)) MRVLC_TRY(check_one_integer(context, 1, "k"));
  return std::vector<TensorType>{context.type(0)};
}

Result<std::vector<TensorType>> infer_trilu(const InferContext& context) {
  MRVLC_TRY(diagonal(context));
  return infer_dynamic_trilu(context);
}

Status eval_trilu(const EvalContext& context) {
  InferContext view = context.infer_view();
  MRVLC_ASSIGN(int64_t k, diagonal(view));
  const Shape& shape = context.in(0).shape();
  int64_t rows = shape[shape.size() - 2], cols = shape.back();
  bool upper = view.int_attr("upper") != 0;
  if (context.out().elements() == 0) return {};
  ElementBytes bytes(context.in(0), context.out());
  for (int64_t line = 0; line < context.out().elements() / cols; ++line) {
    int64_t edge = line % rows + k;  // the diagonal's column
    int64_t low = upper ? std::clamp<int64_t>(edge, 0, cols) : 0;
    int64_t high = upper ? cols : std::clamp<int64_t>(edge + 1, 0, cols);
    bytes.copy(line * cols + low, line * cols + low, high - low);
  }
  return {};
}

// What a row's number is moved by to be the first column behind the lower part. Beyond the matrix all are
// alike, and a ptrdiff_t may have fewer bits.
Result<std::string> split_text(EmitContext& context, const std::string& rows, const std::string& cols) {
  const int64_t added = context.node().int_attr("upper") != 0 ? 0 : 1;
  if (!context.has(1) || context.constant(1) != nullptr) {
    MRVLC_ASSIGN(int64_t k, diagonal(emit_view(context)));
    return signed_text(k + added);
  }
  context.line(fmt::format("int64_t k = {}[0];", context.in(1)));
  context.line(fmt::format("k = k < -{0} ? -{0} : k > {1} ? {1} : k;", rows, cols));
  return fmt::format("(ptrdiff_t)k + {}", added);
}

Status emit_trilu(EmitContext& context) {
  context.set_dims(0, in_dims(context, 0));
  if (context.out_type(0).elements() == 0) return {};
  const AxisText view(context, 0, context.in_type(0).rank() - 2);
  const std::string &rows = view.n, &cols = view.inner;
  MRVLC_ASSIGN(std::string moved, split_text(context, rows, cols));
  const bool upper = context.node().int_attr("upper") != 0;
  std::string x = context.in(0), y = context.out(0);
  open_loop(context, "n", view.outer);
  open_loop(context, "r", rows);
  context.line(fmt::format("const ptrdiff_t edge = r + {};", moved));
  context.line(fmt::format("const ptrdiff_t split = edge < 0 ? 0 : edge < {0} ? edge : {0};", cols));
  context.line(fmt::format("const ptrdiff_t line = (n * {} + r) * {};", rows, cols));
  std::string low = upper ? "0" : fmt::format("{}[line + c]", x),
              high = upper ? fmt::format("{}[line + c]", x) : "0";
  context.line(fmt::format("for (ptrdiff_t c = 0; c < split; ++c) {}[line + c] = {};", y, low));
  context.line(fmt::format("for (ptrdiff_t c = split; c < {}; ++c) {}[line + c] = {};", cols, y, high));
  context.close();
  context.close();
  return {};
}

}  // namespace

const OpDef& def_CumSum() {
  static const OpDef def = [] {
    OpDef d;
    d.name = "CumSum";
    d.traits = {.work = Work::Linear};
    d.since_min = 11;
    d.attrs = {with_int("exclusive", 0), with_int("reverse", 0)};
    d.min_inputs = d.max_inputs = 2;
    d.types = types_of({E::F32, E::F64, E::F16, E::BF16, E::I32, E::I64, E::U32, E::U64});
    d.infer = infer_cum_sum;
    d.eval = eval_cum_sum;
    d.infer_dynamic = infer_dynamic_cum_sum;
    d.emit = d.emit_dynamic = emit_cum_sum;
    d.declined = "the accelerator has no running sums";
    return d;
  }();
  return def;
}

const OpDef& def_Trilu() {
  static const OpDef def = [] {
    OpDef d;
    d.name = "Trilu";
    d.traits = {.moves = Moves::Copied, .work = Work::Linear};
    d.since_min = 14;
    d.attrs = {with_int("upper", 1)};
    d.max_inputs = 2;
    d.types = kFixedSize;
    d.infer = infer_trilu;
    d.eval = eval_trilu;
    d.infer_dynamic = infer_dynamic_trilu;
    d.emit = d.emit_dynamic = emit_trilu;
    d.declined = "the accelerator has no masked copies";
    return d;
  }();
  return def;
}

}  // namespace mrvlc::ops
