// CumProd (ONNX CumProd-26): running products along an axis. The axis may be known at run time only: it does
// not decide about the result's shape. One out of range is clamped in generated code (see gather.cpp).
#include "common/dims.h"

namespace mrvlc::ops {
namespace {

using namespace spec;

Result<std::vector<TensorType>> infer_cum_prod(const InferContext& context) {
  MRVLC_TRY(check_rank(context, 0, 1));
  MRVLC_TRY(check_elem(context, 1, kIndices));
  MRVLC_TRY(check_rank(context, 1, 0, 1));
  if (context.type(1).elements() != 1) return bad_operands("axis must be one number");
  if (context.constant(1) != nullptr)
    MRVLC_TRY(normalize_axis(context.constant(1)->as_int(0), context.type(0).rank()));
  return std::vector<TensorType>{context.type(0)};
}

// T is double, or uint64_t which wraps.
template <class T, class Read, class Write>
void products(const Shape& x, int64_t axis, bool exclusive, bool reverse, Read read, Write write) {
  int64_t dim = x[at(axis)], inner = element_count(Shape(x.begin() + axis + 1, x.end()));
  for (int64_t line = 0; line < element_count(x) / dim; ++line) {
    T total{1};
    for (int64_t j = 0; j < dim; ++j) {
      int64_t i = (line / inner * dim + (reverse ? dim - 1 - j : j)) * inner + line % inner;
      T value = read(i);
      write(i, exclusive ? total : total * value);
      total *= value;
    }
  }
}

Status eval_cum_prod(const EvalContext& context) {
  InferContext view = context.infer_view();
  const Tensor& x = context.in(0);
  Tensor& y = context.out();
  MRVLC_ASSIGN(int64_t axis, normalize_axis(context.in(1).as_int(0), x.type().rank()));
  bool exclusive = view.int_attr("exclusive") != 0, reverse = view.int_attr("reverse") != 0;
  if (x.elements() == 0) return {};
  if (is_float(x.elem())) {
    products<double>(
        x.shape(), axis, exclusive, reverse, [&](int64_t i) { return x.as_double(i); },
        [&](int64_t i, double v) { y.set_double(i, v); });
  } else {
    products<uint64_t>(
        x.shape(), axis, exclusive, reverse, [&](int64_t i) { return static_cast<uint64_t>(x.as_int(i)); },
        [&](int64_t i, uint64_t v) { y.set_int(i, static_cast<int64_t>(v)); });
  }
  return {};
}

// Element after element, from the one before it along the axis.
Status emit_cum_prod(EmitContext& context) {
  MRVLC_TRY(require_widened(context));
  const int64_t rank = context.in_type(0).rank();
  const std::string given = int_operand(context, 1);
  if (context.constant(1) == nullptr) context.fail_if(fmt::format("{0} < -{1} || {0} >= {1}", given, rank));
  context.set_dims(0, in_dims(context, 0));
  ElementType elem = context.in_type(0).elem;
  bool exclusive = context.node().int_attr("exclusive") != 0,
       reverse = context.node().int_attr("reverse") != 0;
  // Signed overflow is undefined in C; products are made in an unsigned type.
  std::string wide = is_float(elem) ? "" : byte_size(elem) == 8 ? "(uint64_t)" : "(uint32_t)";
  Texts dims = in_sizes(context, 0);
  context.line(
      fmt::format("const ptrdiff_t dim[{}] = {}, n = {};", dims.size(), list_text(dims), size_product(dims)));
  context.line(fmt::format("ptrdiff_t axis = {}, inner = 1;", axis_text(given, rank)));
  context.line(fmt::format("if (axis < 0) axis += {};", dims.size()));
  context.line(fmt::format("axis = axis < 0 ? 0 : axis < {0} ? axis : {0};", dims.size() - 1));
  context.line(fmt::format("for (ptrdiff_t d = axis + 1; d < {}; ++d) inner *= dim[d];", dims.size()));
  context.open("for (ptrdiff_t k = 0; k < n; ++k)");
  context.line(fmt::format("const ptrdiff_t i = {};", reverse ? "n - 1 - k" : "k"));
  context.line(
      fmt::format("const int first = i / inner % dim[axis] == {};", reverse ? "dim[axis] - 1" : "0"));
  std::string x = context.in(0), y = context.out(0), before = reverse ? "i + inner" : "i - inner";
  context.line(fmt::format("{0}[i] = first ? {1} : ({2})({3}{0}[{4}] * {3}{5}[{6}]);", y,
                           exclusive ? "1" : x + "[i]", c_type(elem), wide, before, x,
                           exclusive ? before : "i"));
  context.close();
  return {};
}

}  // namespace

const OpDef& def_CumProd() {
  static const OpDef def = [] {
    OpDef d;
    d.name = "CumProd";
    d.traits = {.work = Work::Linear};
    d.since_min = 26;
    d.attrs = {with_int("exclusive", 0), with_int("reverse", 0)};
    d.min_inputs = d.max_inputs = 2;
    d.types = types_of({E::F32, E::F64, E::F16, E::BF16, E::I32, E::I64, E::U32, E::U64});
    d.infer = infer_cum_prod;
    d.eval = eval_cum_prod;
    d.emit = d.emit_dynamic = emit_cum_prod;
    d.declined = "the accelerator has no running products";
    return d;
  }();
  return def;
}

}  // namespace mrvlc::ops
