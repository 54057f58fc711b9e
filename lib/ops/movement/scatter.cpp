// ScatterElements and ScatterND (ONNX -18): a copy of the data with updates written, or combined by
// `reduction`, at indices. Indices out of range are errors (see gather.cpp).
#include <algorithm>

#include "common/index_util.h"
#include "common/lanes.h"
#include "mrvlc/support/diag/ops.h"

namespace mrvlc::ops {
namespace {

using namespace spec;

enum class Reduction { None, Add, Mul, Max, Min };

Result<Reduction> reduction(const InferContext& context) {
  if (context.op->attr_index("reduction") < 0) return Reduction::None;
  const std::string& text = context.string_attr("reduction");
  constexpr std::string_view kNames[] = {"none", "add", "mul", "max", "min"};
  const auto* found = std::find(std::begin(kNames), std::end(kNames), text);
  if (found == std::end(kNames))
    return bad_attr("reduction", fmt::format("has the unknown value '{}'", printable(text)));
  auto r = static_cast<Reduction>(found - std::begin(kNames));
  bool number = is_float(context.type(0).elem) || is_integer(context.type(0).elem);
  if (r != Reduction::None && !number)
    return make_diag<DiagCode::MRV0202>(0, name(context.type(0).elem), context.op->name);
  return r;
}

double combine(Reduction r, double a, double b) {
  switch (r) {
    case Reduction::Add:
      return a + b;
    case Reduction::Mul:
      return a * b;
    case Reduction::Max:
      return larger_or_nan(a, b);
    case Reduction::Min:
      return smaller_or_nan(a, b);
    default:
      return b;
  }
}

int64_t combine(Reduction r, int64_t a, int64_t b, bool is_signed) {
  auto ua = static_cast<uint64_t>(a), ub = static_cast<uint64_t>(b);
  bool less = is_signed ? a < b : ua < ub;
  switch (r) {
    case Reduction::Add:
      return static_cast<int64_t>(ua + ub);
    case Reduction::Mul:
      return static_cast<int64_t>(ua * ub);
    case Reduction::Max:
      return less ? b : a;
    case Reduction::Min:
      return less ? a : b;
    default:
      return b;
  }
}

void update(Reduction r, Tensor& out, int64_t position, const Tensor& updates, int64_t i) {
  if (is_float(out.elem())) {
    out.set_double(position, combine(r, out.as_double(position), updates.as_double(i)));
  } else {
    out.set_int(position, combine(r, out.as_int(position), updates.as_int(i), is_signed_integer(out.elem())));
  }
}

// y[at] combined with an update, C of all element types; small integers are promoted to int, hence the cast.
std::string update_text(Reduction r, ElementType elem, const std::string& y, const std::string& u) {
  auto cast = fmt::format("({})", c_type(elem));
  // Unsigned arithmetic wraps where signed overflow is undefined.
  std::string wide = is_float(elem) ? std::string() : byte_size(elem) == 8 ? "(uint64_t)" : "(uint32_t)";
  const std::string or_nan = is_float(elem) ? fmt::format(" || isnan({})", u) : std::string();
  switch (r) {
    case Reduction::Add:
      return fmt::format("{0} = {2}({3}{0} + {3}{1});", y, u, cast, wide);
    case Reduction::Mul:
      return fmt::format("{0} = {2}({3}{0} * {3}{1});", y, u, cast, wide);
    case Reduction::Max:
      return fmt::format("if ({1} > {0}{2}) {0} = {1};", y, u, or_nan);
    case Reduction::Min:
      return fmt::format("if ({1} < {0}{2}) {0} = {1};", y, u, or_nan);
    default:
      return fmt::format("{} = {};", y, u);
  }
}

// The result, where the updates fill what is selected.
Result<std::vector<TensorType>> infer_scatter(const InferContext& context, const Dims& expected) {
  MRVLC_TRY(check_same_elem(context, 2));
  MRVLC_TRY(reduction(context));
  Dims updates = dims_of(context.type(2));
  bool agree = updates.size() == expected.size();
  for (size_t d = 0; agree && d < updates.size(); ++d)
    agree = updates[d].dynamic || expected[d].dynamic || updates[d].bound == expected[d].bound;
  if (agree) return std::vector<TensorType>{context.type(0)};
  return make_diag<DiagCode::MRV0205>(to_string(context.type(2)), to_string(type_of(E::F32, expected)),
                                      "the updates must fill the indices");
}

// The data, and the checks of the updates' shape.
Result<Reduction> begin_scatter(EmitContext& context, const Texts& expected) {
  MRVLC_ASSIGN(Reduction r, reduction(emit_view(context)));
  if (r != Reduction::None) MRVLC_TRY(require_widened(context));
  const Texts updates = in_dims(context, 2);
  for (size_t d = 0; d < updates.size(); ++d) require_equal(context, updates[d], expected[d]);
  context.set_dims(0, in_dims(context, 0));
  emit_operand_to_update(context);
  return r;
}

Result<std::vector<TensorType>> infer_scatter_elements(const InferContext& context) {
  MRVLC_TRY(check_along_axis(context));
  return infer_scatter(context, dims_of(context.type(1)));
}

Status eval_scatter_elements(const EvalContext& context) {
  InferContext view = context.infer_view();
  MRVLC_ASSIGN(AlongAxis a, along_axis(view));
  MRVLC_ASSIGN(Reduction r, reduction(view));
  MRVLC_ASSIGN(auto index, read_indices(context.in(1), a.dim));
  context.out() = context.in(0);
  a.for_each([&](int64_t n, int64_t base) {
    update(r, context.out(), base + index[at(n)] * a.stride, context.in(2), n);
  });
  return {};
}

Status emit_scatter_elements(EmitContext& context) {
  MRVLC_ASSIGN(Reduction r, begin_scatter(context, in_dims(context, 1)));
  if (context.in_type(1).elements() == 0) return {};
  MRVLC_ASSIGN(const std::string place, open_along_axis(context));
  const std::string y = fmt::format("{}[{}]", context.out(0), place);
  context.line(update_text(r, context.in_type(0).elem, y, fmt::format("{}[n]", context.in(2))));
  close_along_axis(context);
  return {};
}

Result<std::vector<TensorType>> infer_scatter_nd(const InferContext& context) {
  MRVLC_ASSIGN(Dims expected, selected_dims(context, 0));
  return infer_scatter(context, expected);
}

Status eval_scatter_nd(const EvalContext& context) {
  InferContext view = context.infer_view();
  const TupleIndices t = tuple_indices(view, 0);
  MRVLC_ASSIGN(Reduction r, reduction(view));
  MRVLC_ASSIGN(auto offsets, t.offsets(context.in(1)));
  context.out() = context.in(0);
  for (size_t n = 0; n < offsets.size(); ++n) {
    for (int64_t j = 0; j < t.slice; ++j) {
      update(r, context.out(), offsets[n] + j, context.in(2), static_cast<int64_t>(n) * t.slice + j);
    }
  }
  return {};
}

Status emit_scatter_nd(EmitContext& context) {
  MRVLC_ASSIGN(Reduction r, begin_scatter(context, selected_texts(context, 0)));
  if (context.in_type(2).elements() == 0) return require_tuples(context, 0);
  MRVLC_ASSIGN(const std::string slice, open_tuples(context, 0));
  open_loop(context, "j", slice);
  context.line(update_text(r, context.in_type(0).elem, fmt::format("{}[at + j]", context.out(0)),
                           fmt::format("{}[n * {} + j]", context.in(2), slice)));
  context.close();
  context.close();
  return {};
}

OpDef scatter_def(std::string_view name, std::vector<ir::AttrSpec> attrs) {
  OpDef d;
  d.name = name;
  d.attrs = std::move(attrs);
  d.since_min = 11;
  d.min_inputs = d.max_inputs = 3;
  d.types = kOrdinary;
  d.declined = "the accelerator has no writes at computed addresses";
  return d;
}

OpDef scatter_elements_def(std::string_view name, std::vector<ir::AttrSpec> attrs) {
  OpDef d = scatter_def(name, std::move(attrs));
  d.infer = d.infer_dynamic = infer_scatter_elements;
  d.eval = eval_scatter_elements;
  d.emit = d.emit_dynamic = emit_scatter_elements;
  return d;
}

}  // namespace

// Renamed to ScatterElements in opset 11.
const OpDef& def_Scatter() {
  static const OpDef def = [] {
    OpDef d = scatter_elements_def("Scatter", {with_int("axis", 0)});
    d.since_min = 9;
    d.since_max = 10;
    d.traits = {.work = Work::Linear, .updates = true};
    return d;
  }();
  return def;
}

const OpDef& def_ScatterElements() {
  static const OpDef def = [] {
    return with_traits(
        scatter_elements_def("ScatterElements", {with_int("axis", 0), with_string("reduction", "none")}),
        {.work = Work::Linear, .updates = true});
  }();
  return def;
}

const OpDef& def_ScatterND() {
  static const OpDef def = [] {
    OpDef d = scatter_def("ScatterND", {with_string("reduction", "none")});
    d.infer = d.infer_dynamic = infer_scatter_nd;
    d.eval = eval_scatter_nd;
    d.emit = d.emit_dynamic = emit_scatter_nd;
    d.traits = {.work = Work::Linear, .updates = true};
    return d;
  }();
  return def;
}

}  // namespace mrvlc::ops
