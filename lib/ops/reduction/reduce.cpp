// Reduce*: every reduction is a start, a step over the elements and a finish. Integers sum exactly and wrap.
#include <algorithm>

#include "common/bulk.h"
#include "elementwise/elementwise.h"
#include "reduction/reduce_emit.h"

namespace mrvlc::ops {
namespace {

Result<std::vector<TensorType>> infer_reduce(const InferContext& c) {
  if (c.has(1)) MRVLC_TRY(check_elem(c, 1, spec::kIndices));
  MRVLC_ASSIGN(std::vector<int64_t> axes, reduce_axes(c));
  bool keep = c.int_attr("keepdims") != 0;
  Shape shape;
  for (int64_t d = 0; d < c.type(0).rank(); ++d) {
    bool reduced = std::binary_search(axes.begin(), axes.end(), d);
    if (!reduced || keep) shape.push_back(reduced ? 1 : c.type(0).shape[at(d)]);
  }
  return one_type(c.type(0).elem, std::move(shape));
}

Status upgrade_reduce(RawNode& node) {
  return attr_to_input(node, "axes", 1);
}

// Accumulators of all results at once, so that the data is read in order whatever the axes.
template <class T>
std::vector<T> accumulate(const Tensor& data, const BroadcastLoops& loops, int64_t results, T start,
                          T (*step)(T acc, T x)) {
  std::vector<T> acc(at(results), start);
  int64_t inner = loops.size.back(), stride = loops.strides[1].back();
  std::vector<T> run(at(inner));
  Shape index(loops.size.size(), 0);
  std::vector<int64_t> base(2, 0);
  for (int64_t first = 0; first < data.elements(); first += inner) {
    load_run(data, first, 1, inner, run.data());
    T* to = acc.data() + base[1];
    for (int64_t k = 0; k < inner; ++k) to[k * stride] = step(to[k * stride], run[at(k)]);
    next_run(loops, index, base);
  }
  return acc;
}

// Subtracts the maximum first, as sum(exp(x)) overflows.
std::vector<double> log_sum_exp(const Tensor& data, const BroadcastLoops& loops, int64_t results) {
  auto peak = accumulate<double>(data, loops, results, -INFINITY, larger_or_nan);
  std::vector<double> acc(at(results), 0);
  Shape index(loops.size.size(), 0);
  std::vector<int64_t> base(2, 0);
  int64_t inner = loops.size.back(), stride = loops.strides[1].back();
  std::vector<double> run(at(inner));
  for (int64_t first = 0; first < data.elements(); first += inner) {
    load_run(data, first, 1, inner, run.data());
    for (int64_t k = 0; k < inner; ++k) {
      auto to = at(base[1] + k * stride);
      if (std::isfinite(peak[to])) acc[to] += std::exp(run[at(k)] - peak[to]);
    }
    next_run(loops, index, base);
  }
  for (size_t i = 0; i < acc.size(); ++i)
    acc[i] = std::isfinite(peak[i]) ? peak[i] + std::log(acc[i]) : peak[i];
  return acc;
}

// What a reduction runs over.
struct Extent {
  BroadcastLoops loops;
  int64_t results = 0, count = 0;  // results, and elements that go into each
};

void reduce_unsigned(const EvalContext& c, const Reduction& r, const Extent& e) {
  uint64_t start = r.extreme < 0 ? UINT64_MAX : 0;
  auto acc = accumulate<uint64_t>(c.in(0), e.loops, e.results, start, r.step_uint);
  store_run(c.out(), 0, 1, e.results, acc.data());
}

void reduce_integers(const EvalContext& c, const Reduction& r, const Extent& e) {
  ElementType elem = c.in(0).elem();
  int64_t start = r.extreme == 0 ? r.start_int : extreme_value(elem, r.extreme < 0).as_int(0);
  auto acc = accumulate<int64_t>(c.in(0), e.loops, e.results, start, r.step_int);
  for (int64_t& v : acc) {
    if (!r.mean || e.count == 0) continue;
    bool as_unsigned = elem == ElementType::U64;
    v = as_unsigned ? static_cast<int64_t>(static_cast<uint64_t>(v) / static_cast<uint64_t>(e.count))
                    : v / e.count;
  }
  store_run(c.out(), 0, 1, e.results, acc.data());
}

void reduce_doubles(const EvalContext& c, const Reduction& r, const Extent& e) {
  auto acc = r.shift ? log_sum_exp(c.in(0), e.loops, e.results)
                     : accumulate<double>(c.in(0), e.loops, e.results, r.start, r.step);
  const ElementType elem = c.out().elem();  // of integers: truncated, and saturated
  const double low = extreme_value(elem, false).as_double(0), high = extreme_value(elem, true).as_double(0);
  for (double& v : acc) {
    if (r.mean) v /= static_cast<double>(e.count);
    if (r.finish != nullptr) v = r.finish(v);
    if (!is_float(elem) && !std::isnan(v)) v = std::clamp(v, low, high);
  }
  store_run(c.out(), 0, 1, e.results, acc.data());
}

template <const Reduction& R>
Status eval_reduce(const EvalContext& c) {
  MRVLC_ASSIGN(std::vector<int64_t> axes, reduce_axes(c.infer_view()));
  ElementType elem = c.in(0).elem();
  Extent extent{reduce_loops(c.in(0).shape(), axes), c.out().elements(), 0};
  if (extent.results == 0) return {};
  extent.count = c.in(0).elements() / extent.results;
  if (elem == ElementType::U64 && R.step_uint != nullptr) {
    reduce_unsigned(c, R, extent);
  } else if (!is_float(elem) && R.step_int != nullptr) {
    reduce_integers(c, R, extent);
  } else {
    reduce_doubles(c, R, extent);
  }
  return {};
}

template <const Reduction& R>
Status emit_reduce(EmitContext& c) {
  return emit_reduction(c, R);
}

template <const Reduction& R>
Status emit_dynamic_reduce(EmitContext& c) {
  return emit_dynamic_reduction(c, R);
}

constexpr TypeSet kReducible = types_of({spec::E::F32, spec::E::F16, spec::E::F64, spec::E::BF16,
                                         spec::E::I32, spec::E::I64, spec::E::U32, spec::E::U64});

template <const Reduction& R>
OpDef reduction(std::string_view name, LayerKinds accel) {
  OpDef op;
  op.name = name;
  op.traits = {.work = Work::Linear};
  op.attrs = {spec::with_int("keepdims", 1), spec::with_int("noop_with_empty_axes", 0)};
  op.max_inputs = 2;
  op.types = R.extreme != 0 ? spec::kOrdinary : kReducible;
  op.upgrade = upgrade_reduce;
  op.infer = infer_reduce;
  op.eval = eval_reduce<R>;
  op.infer_dynamic = infer_dynamic_reduce;
  op.emit = emit_reduce<R>;
  op.emit_dynamic = emit_dynamic_reduce<R>;
  op.accel = accel;
  if (accel.empty())
    op.declined = "accelerator: norms and logarithms of sums are no reductions of the vector unit";
  return op;
}

double add(double acc, double x) {
  return acc + x;
}
int64_t add_int(int64_t acc, int64_t x) {
  return wrap_add(acc, x);
}
double square_add(double acc, double x) {
  return acc + x * x;
}

constexpr Reduction kSum{.step = add, .step_int = add_int};
constexpr Reduction kMean{.step = add, .step_int = add_int, .mean = true};
constexpr Reduction kMax{.start = -INFINITY,
                         .step = [](double a, double x) { return x > a || std::isnan(x) ? x : a; },
                         .step_int = [](int64_t a, int64_t x) { return std::max(a, x); },
                         .step_uint = [](uint64_t a, uint64_t x) { return std::max(a, x); },
                         .extreme = 1,
                         .c_step = "{v} = {x} > {v} || isnan({x}) ? {x} : {v};",
                         .c_step_int = "{v} = {x} > {v} ? {x} : {v};",
                         .c_merge = "{v} = {x} > {v} || isnan({x}) ? {x} : {v};"};
constexpr Reduction kMin{.start = INFINITY,
                         .step = [](double a, double x) { return x < a || std::isnan(x) ? x : a; },
                         .step_int = [](int64_t a, int64_t x) { return std::min(a, x); },
                         .step_uint = [](uint64_t a, uint64_t x) { return std::min(a, x); },
                         .extreme = -1,
                         .c_step = "{v} = {x} < {v} || isnan({x}) ? {x} : {v};",
                         .c_step_int = "{v} = {x} < {v} ? {x} : {v};",
                         .c_merge = "{v} = {x} < {v} || isnan({x}) ? {x} : {v};"};
constexpr Reduction kProd{.start = 1,
                          .start_int = 1,
                          .step = [](double a, double x) { return a * x; },
                          .step_int = [](int64_t a, int64_t x) { return wrap_mul(a, x); },
                          .c_step = "{v} *= {x};",
                          .c_step_int = "{v} = ({t})(({u}){v} * ({u}){x});",
                          .c_merge = "{v} *= {x};"};
constexpr Reduction kL1{.step = [](double a, double x) { return a + std::fabs(x); },
                        .step_int = [](int64_t a, int64_t x) { return wrap_add(a, x < 0 ? wrap_neg(x) : x); },
                        .step_uint = [](uint64_t a, uint64_t x) { return a + x; },
                        .c_step = "{v} += fabs{f}({x});",
                        .c_step_int = "{v} = ({t})({x} > 0 ? ({u}){v} + ({u}){x} : ({u}){v} - ({u}){x});"};
constexpr Reduction kL2{.step = square_add,
                        .finish = [](double v) { return std::sqrt(v); },
                        .c_step = "{v} += {x} * {x};",
                        .c_step_int = {},
                        .c_finish = "sqrt{f}({v})"};
constexpr Reduction kLogSum{
    .step = add, .finish = [](double v) { return std::log(v); }, .c_step_int = {}, .c_finish = "log{f}({v})"};
constexpr Reduction kLogSumExp{.step = add,
                               .shift = true,
                               .c_step = "{v} += exp{f}({x} - peak);",
                               .c_step_int = {},
                               .c_finish = "peak + log{f}({v})"};
constexpr Reduction kSumSquare{.step = square_add,
                               .step_int = [](int64_t a, int64_t x) { return wrap_add(a, wrap_mul(x, x)); },
                               .c_step = "{v} += {x} * {x};",
                               .c_step_int = "{v} = ({t})(({u}){v} + ({u}){x} * ({u}){x});"};

}  // namespace

const OpDef& def_ReduceSum() {
  static const OpDef op = reduction<kSum>("ReduceSum", {LayerKind::Reduce});
  return op;
}
const OpDef& def_ReduceMean() {
  static const OpDef op = reduction<kMean>("ReduceMean", {LayerKind::Reduce});
  return op;
}
const OpDef& def_ReduceMax() {
  static const OpDef op = reduction<kMax>("ReduceMax", {LayerKind::Reduce});
  return op;
}
const OpDef& def_ReduceMin() {
  static const OpDef op = reduction<kMin>("ReduceMin", {LayerKind::Reduce});
  return op;
}
const OpDef& def_ReduceProd() {
  static const OpDef op = reduction<kProd>("ReduceProd", {LayerKind::Reduce});
  return op;
}
const OpDef& def_ReduceL1() {
  static const OpDef op = reduction<kL1>("ReduceL1", {});
  return op;
}
const OpDef& def_ReduceL2() {
  static const OpDef op = reduction<kL2>("ReduceL2", {});
  return op;
}
const OpDef& def_ReduceLogSum() {
  static const OpDef op = reduction<kLogSum>("ReduceLogSum", {});
  return op;
}
const OpDef& def_ReduceLogSumExp() {
  static const OpDef op = reduction<kLogSumExp>("ReduceLogSumExp", {LayerKind::Softmax});
  return op;
}
const OpDef& def_ReduceSumSquare() {
  static const OpDef op = reduction<kSumSquare>("ReduceSumSquare", {LayerKind::Reduce});
  return op;
}

}  // namespace mrvlc::ops
