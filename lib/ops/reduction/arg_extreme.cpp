// ArgMax and ArgMin along one axis.
#include "common/bulk.h"
#include "common/dynamic_util.h"
#include "common/lanes.h"

namespace mrvlc::ops {
namespace {

Result<int64_t> axis_of(const ir::OpSchema& op, const std::vector<ir::Attr>& attrs, int64_t rank) {
  return normalize_axis(std::get<int64_t>(attrs[at(op.attr_index("axis"))]), rank);
}

Result<std::vector<TensorType>> infer_arg(const InferContext& c) {
  MRVLC_TRY(check_rank(c, 0, 1));
  MRVLC_ASSIGN(int64_t axis, axis_of(*c.op, *c.attrs, c.type(0).rank()));
  Shape shape = c.type(0).shape;
  if (shape[at(axis)] == 0) return bad_operands("an empty axis has no extreme");
  if (c.int_attr("keepdims") != 0) {
    shape[at(axis)] = 1;
  } else {
    shape.erase(shape.begin() + axis);
  }
  return one_type(ElementType::I64, std::move(shape));
}

// Position of the extreme; of several, the first or the last. A NaN is one, of ArgMax and of ArgMin.
template <bool Max, class T>
int64_t position(const std::vector<T>& lane, bool last) {
  size_t best = 0;
  for (size_t k = 1; k < lane.size(); ++k) {
    const bool is_nan = lane[k] != lane[k], was_nan = lane[best] != lane[best];
    const bool better = (Max ? lane[k] > lane[best] : lane[k] < lane[best]) || (is_nan && !was_nan);
    const bool equal = lane[k] == lane[best] || (is_nan && was_nan);
    if (better || (last && equal)) best = k;
  }
  return static_cast<int64_t>(best);
}

template <bool Max, class T>
void eval_lanes(const EvalContext& c, const AxisView& view, bool last) {
  std::vector<T> lane(at(view.n));
  auto out = c.out().mutable_data<int64_t>();
  for (int64_t k = 0; k < view.lanes(); ++k) {
    load_run(c.in(0), view.first(k), view.inner, view.n, lane.data());
    out[at(k)] = position<Max>(lane, last);
  }
}

template <bool Max>
Status eval_arg(const EvalContext& c) {
  InferContext view_of = c.infer_view();
  MRVLC_ASSIGN(int64_t axis, axis_of(*c.op, *c.attrs, c.in(0).type().rank()));
  AxisView view = axis_view(c.in(0).shape(), axis);
  bool last = view_of.int_attr("select_last_index") != 0;
  if (is_float(c.in(0).elem())) {
    eval_lanes<Max, double>(c, view, last);
  } else if (c.in(0).elem() == ElementType::U64) {
    eval_lanes<Max, uint64_t>(c, view, last);
  } else {
    eval_lanes<Max, int64_t>(c, view, last);
  }
  return {};
}

// Most elements fail one comparison, which NaN passes.
void put_search(EmitContext& c, const AxisText& view, bool max, bool last) {
  const std::string_view fails = max ? (last ? "<" : "<=") : (last ? ">" : ">=");
  const std::string x = fmt::format("x[k * {}]", view.inner),
                    extreme = fmt::format("x[best * {}]", view.inner);
  c.open(fmt::format("for (ptrdiff_t k = 1; k < {}; ++k)", view.n));
  c.line(fmt::format("if ({} {} {}) continue;", x, fails, extreme));
  if (is_float(c.in_type(0).elem))
    c.line(last ? fmt::format("if (isnan({}) && !isnan({})) continue;", extreme, x)
                : fmt::format("if (isnan({})) break;", extreme));
  c.line("best = k;");
  c.close();
}

template <bool Max>
Status emit_arg(EmitContext& c) {
  MRVLC_ASSIGN(int64_t axis, axis_attr(c));
  Texts dims = in_dims(c, 0);
  if (c.in_type(0).is_dynamic(axis)) c.fail_if(dims[at(axis)] + " == 0");
  dims[at(axis)] = "1";
  if (c.node().int_attr("keepdims") == 0) dims.erase(dims.begin() + axis);
  c.set_dims(0, dims);
  if (c.out_type(0).elements() == 0) return {};
  const AxisText view(c, 0, axis);
  bool last = c.node().int_attr("select_last_index") != 0;
  open_loop(c, "o", view.outer);
  open_loop(c, "i", view.inner);
  c.line(fmt::format("const {}* x = {} + o * {} + i;", c_type(c.in_type(0).elem), c.in(0), view.lane()));
  c.line("ptrdiff_t best = 0;");
  put_search(c, view, Max, last);
  c.line(fmt::format("{}[o * {} + i] = (int64_t)best;", c.out(0), view.inner));
  c.close();
  c.close();
  return {};
}

template <bool Max>
OpDef arg_extreme(std::string_view name) {
  OpDef op;
  op.name = name;
  op.traits = {.work = Work::Linear, .jumps = true};
  op.attrs = {spec::with_int("axis", 0), spec::with_int("keepdims", 1),
              spec::with_int("select_last_index", 0)};
  op.types = spec::kNumeric;
  op.infer = infer_arg;
  op.eval = eval_arg<Max>;
  op.emit = op.emit_dynamic = emit_arg<Max>;
  op.declined = "accelerator: no unit finds positions of extremes";
  return op;
}

}  // namespace

const OpDef& def_ArgMax() {
  static const OpDef op = arg_extreme<true>("ArgMax");
  return op;
}

const OpDef& def_ArgMin() {
  static const OpDef op = arg_extreme<false>("ArgMin");
  return op;
}

}  // namespace mrvlc::ops
