// TopK (ONNX TopK-11): the k greatest or least elements along an axis, in order, the lower index first among
// equals. NaN is greater than all numbers.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "common/dynamic_util.h"
#include "common/emit_util.h"
#include "common/lanes.h"
#include "common/slices.h"

namespace mrvlc::ops {
namespace {

using namespace spec;

// Opset 1 has k as an attribute.
Status upgrade_top_k(RawNode& node) {
  ir::Attr k = node.take("k");
  if (!ir::is_set(k)) return {};
  const auto* value = std::get_if<int64_t>(&k);
  if (value == nullptr) return bad_attr("k", "must be an integer");
  node.add_constant_input(1, Tensor::of<int64_t>(E::I64, {1}, {*value}));
  return {};
}

Result<std::vector<TensorType>> infer_top_k(const InferContext& context) {
  MRVLC_TRY(check_tensors(context));
  MRVLC_TRY(check_rank(context, 0, 1));
  MRVLC_TRY(check_one_integer(context, 1, "K"));
  const TensorType& x = context.type(0);
  MRVLC_ASSIGN(int64_t axis, normalize_axis(context.int_attr("axis"), x.rank()));
  Dims dims = dims_of(x);
  Dim& dim = dims[at(axis)];
  if (const Tensor* known = context.constant(1)) {
    const int64_t k = known->as_int(0);
    if (k < 0 || k > dim.bound)
      return bad_operands(fmt::format("k is {} for a dimension of {}", k, dim.bound));
    dim = {k, false};
  } else {
    dim.dynamic = true;
  }
  return std::vector<TensorType>{type_of(x.elem, dims, x.elements()), type_of(E::I64, dims, x.elements())};
}

bool less(const Tensor& x, int64_t a, int64_t b) {
  if (is_float(x.elem())) {
    const double v = x.as_double(a), w = x.as_double(b);
    return v < w || (std::isnan(w) && !std::isnan(v));
  }
  if (x.elem() == E::U64) return static_cast<uint64_t>(x.as_int(a)) < static_cast<uint64_t>(x.as_int(b));
  return x.as_int(a) < x.as_int(b);
}

Status eval_top_k(const EvalContext& context) {
  InferContext view = context.infer_view();
  MRVLC_ASSIGN(int64_t axis, normalize_axis(view.int_attr("axis"), view.type(0).rank()));
  const AxisSizes s = axis_sizes(view.type(0).shape, axis);
  const int64_t k = context.in(1).as_int(0);
  bool largest = view.int_attr("largest") != 0;
  const Tensor& x = context.in(0);
  std::vector<int64_t> order(at(s.dim));
  for (int64_t row = 0; row < s.outer * s.inner; ++row) {
    int64_t base = row / s.inner * s.dim * s.inner + row % s.inner;
    std::iota(order.begin(), order.end(), int64_t{0});
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
      int64_t i = base + a * s.inner, j = base + b * s.inner;
      return largest ? less(x, j, i) : less(x, i, j);
    });
    for (int64_t i = 0; i < k; ++i) {
      int64_t to = (row / s.inner * k + i) * s.inner + row % s.inner, from = base + order[at(i)] * s.inner;
      is_float(x.elem()) ? context.out(0).set_double(to, x.as_double(from))
                         : context.out(0).set_int(to, x.as_int(from));
      context.out(1).set_int(to, order[at(i)]);
    }
  }
  return {};
}

// C condition that v comes before an element of the result.
std::string comes_before(const EmitContext& context, const std::string& y) {
  const bool largest = context.node().int_attr("largest") != 0;
  const std::string order = fmt::format("v {} {}", largest ? ">" : "<", y);
  if (!is_float(context.in_type(0).elem)) return order;
  return largest ? fmt::format("({0} || (isnan(v) && !isnan({1})))", order, y)
                 : fmt::format("({0} || (isnan({1}) && !isnan(v)))", order, y);
}

struct TopLanes {
  AxisText s;
  std::string k;  // a number, or the name of what is known at run time only
};

// Leaves x, y and at, the first elements of a lane.
void open_lanes(EmitContext& context, const TopLanes& t) {
  const std::string_view type = c_type(context.in_type(0).elem);
  const std::string lane = times(t.k, t.s.inner);
  open_loop(context, "o", turns_unless_empty(t.s.outer, t.k));
  open_loop(context, "i", t.s.inner);
  context.line(fmt::format("const {}* x = {} + o * {} + i;", type, context.in(0), t.s.lane()));
  context.line(fmt::format("{}* y = {} + o * {} + i;", type, context.out(0), lane));
  context.line(fmt::format("int64_t* at = {} + o * {} + i;", context.out(1), lane));
}

// Insertion into the sorted list of the best so far; most elements fail the comparison with its last.
void insert_elements(EmitContext& context, const TopLanes& t) {
  const auto& [s, k] = t;
  const std::string last = plus(k, -1);
  open_loop(context, "j", s.n);
  context.line(fmt::format("const {} v = x[j * {}];", c_type(context.in_type(0).elem), s.inner));
  context.line(fmt::format("ptrdiff_t k = j < {0} ? j : {0};", k));
  // One comparison for most; what it leaves is NaN, or comes before.
  const std::string least = fmt::format("y[{}]", times(last, s.inner));
  const bool largest = context.node().int_attr("largest") != 0;
  context.line(fmt::format("if (k == {} && v {} {}) continue;", k, largest ? "<=" : ">=", least));
  if (is_float(context.in_type(0).elem))
    context.line(fmt::format("if (k == {} && !{}) continue;", k, comes_before(context, least)));
  context.line(fmt::format("if (k == {0}) k = {1};", k, last));
  context.open(fmt::format("for (; k > 0 && {}; --k)",
                           comes_before(context, fmt::format("y[(k - 1) * {}]", s.inner))));
  context.line(fmt::format("y[k * {0}] = y[(k - 1) * {0}];", s.inner));
  context.line(fmt::format("at[k * {0}] = at[(k - 1) * {0}];", s.inner));
  context.close();
  context.line(fmt::format("y[k * {}] = v;", s.inner));
  context.line(fmt::format("at[k * {}] = j;", s.inner));
  context.close();
}

// C expression of an unsigned key of v: the less it is, the earlier v comes.
std::string key_text(EmitContext& context) {
  const ElementType elem = context.in_type(0).elem;
  const bool largest = context.node().int_attr("largest") != 0, wide = byte_size(elem) == 8;
  const std::string type = wide ? "uint64_t" : "uint32_t";
  if (is_float(elem))
    return fmt::format("{}{}(v)", largest ? "" : "~",
                       context.helper(wide ? "falling_key_64" : "falling_key"));
  const std::string sign = !is_signed_integer(elem) ? ""
                           : wide                   ? " ^ UINT64_C(0x8000000000000000)"
                                                    : " ^ 0x80000000u";
  return fmt::format("{}(({})v{})", largest ? "~" : "", type, sign);
}

// Elements that come before the last of the k best so far are collected until there is no more room; then
// they are sorted, and k of them stay. So no order of elements takes many steps.
void collect_elements(EmitContext& context, const TopLanes& t, const std::string& order) {
  const auto& [s, k] = t;
  const bool wide = byte_size(context.in_type(0).elem) == 8;
  const std::string key = wide ? "uint64_t" : "uint32_t",
                    sort = fmt::format("{}(order, n, {});",
                                       context.helper(wide ? "sort_keys_64" : "sort_keys"), order);
  context.line("ptrdiff_t n = 0;");
  context.line(fmt::format("{} last = {};", key, wide ? "UINT64_MAX" : "UINT32_MAX"));
  open_loop(context, "j", s.n);
  context.line(fmt::format("const {} v = x[j * {}];", c_type(context.in_type(0).elem), s.inner));
  context.line(fmt::format("const {} key = {};", key, key_text(context)));
  context.line(fmt::format("if (n >= {} && key >= last) continue;", k));
  context.line("order[n].key = key;");
  context.line("order[n++].at = (uint32_t)j;");
  context.line("if (n < room) continue;");
  context.line(sort);
  context.line(fmt::format("n = {};", k));
  context.line("last = order[n - 1].key;");
  context.close();
  context.line(sort);
  open_loop(context, "j", k);
  context.line(fmt::format("y[j * {0}] = x[(ptrdiff_t)order[j].at * {0}];", s.inner));
  context.line(fmt::format("at[j * {}] = order[j].at;", s.inner));
  context.close();
}

// Elements that are collected beyond k at least, and the greatest k for which insertion is as fast.
constexpr int64_t kCollected = 256, kInserted = 32;

bool suits_insertion(const EmitContext& context, int64_t dim) {
  const Tensor* known = context.constant(1);
  return context.wants_little_text() || dim > std::numeric_limits<uint32_t>::max() ||
         std::min(dim, known != nullptr ? known->as_int(0) : dim) <= kInserted;
}

// Declares `order` and its `room`.
void declare_order(EmitContext& context, const TopLanes& t, int64_t dim) {
  const bool wide = byte_size(context.in_type(0).elem) == 8;
  const std::string keyed = context.helper(wide ? "keyed_64" : "keyed");
  const Tensor* known = context.constant(1);
  const int64_t k = known != nullptr ? known->as_int(0) : dim,
                room = std::min(dim, k + std::max(k, kCollected));
  context.line(fmt::format("{0}* order = ({0}*){1};", keyed, context.scratch(2 * room * (wide ? 16 : 8))));
  context.line(fmt::format("const ptrdiff_t most = {0} > {1} ? 2 * {0} : {0} + {1};", t.k, kCollected));
  context.line(fmt::format("const ptrdiff_t room = most < {0} ? most : {0};", t.s.n));
}

Status emit_top_k(EmitContext& context) {
  MRVLC_TRY(require_widened(context));
  MRVLC_ASSIGN(int64_t axis, axis_attr(context));
  const AxisText s(context, 0, axis);
  const Tensor* known = context.constant(1);
  const std::string k = known != nullptr ? fmt::format("{}", known->as_int(0))
                                         : named_size(context, "kept", context.in(1) + "[0]");
  context.fail_if(fmt::format("{0} < 0 || {0} > {1}", k, s.n));
  Texts dims = in_dims(context, 0);
  dims[at(axis)] = k;
  for (size_t i : {size_t{0}, size_t{1}}) context.set_dims(i, dims);
  if (context.out_type(0).elements() == 0) return {};
  const TopLanes lanes{s, k};
  const int64_t dim = context.in_type(0).shape[at(axis)];
  const bool inserts = suits_insertion(context, dim);
  if (!inserts) declare_order(context, lanes, dim);
  open_lanes(context, lanes);
  inserts ? insert_elements(context, lanes) : collect_elements(context, lanes, "order + room");
  context.close();
  context.close();
  return {};
}

}  // namespace

const OpDef& def_TopK() {
  static const OpDef def = [] {
    OpDef d;
    d.name = "TopK";
    d.traits = {.work = Work::Sorted, .jumps = true};
    d.attrs = {with_int("axis", -1), with_int("largest", 1), with_int("sorted", 1)};
    d.min_inputs = d.max_inputs = 2;
    d.min_outputs = d.max_outputs = 2;
    d.types = kNumeric;
    d.upgrade = upgrade_top_k;
    d.infer = d.infer_dynamic = infer_top_k;
    d.eval = eval_top_k;
    d.emit = d.emit_dynamic = emit_top_k;
    d.declined = "the accelerator does not sort";
    return d;
  }();
  return def;
}

}  // namespace mrvlc::ops
