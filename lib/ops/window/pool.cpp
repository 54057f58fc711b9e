// MaxPool, AveragePool, LpPool (the p-norm of a window) and their global forms: definitions, inference and
// reference semantics.
#include "window/pool.h"

#include <algorithm>
#include <cmath>

#include "mrvlc/ops/op_kind.h"
#include "product/ref_gemm.h"
#include "window/ref_window.h"

namespace mrvlc::ops {
namespace {

using namespace spec;

Result<std::vector<TensorType>> infer_pool(const InferContext& context) {
  MRVLC_ASSIGN(PoolParams p, pool_params(context));
  if (context.op->attr_index("p") >= 0 && context.int_attr("p") < 1) return bad_attr("p", "must be positive");
  TensorType type{context.type(0).elem, {p.batch, p.channels}};
  type.shape.insert(type.shape.end(), p.output.begin(), p.output.end());
  std::vector<TensorType> types{type};
  if (context.num_outputs > 1) types.push_back({ElementType::I64, type.shape});
  return types;
}

// Index of an input element within its plane; storage_order 1 counts the first spatial dimension fastest.
int64_t stored_index(const PoolParams& p, int64_t index, bool column_major) {
  if (!column_major) return index;
  int64_t out = 0;
  Shape strides(p.input.size(), 1);
  for (size_t d = 1; d < strides.size(); ++d) strides[d] = strides[d - 1] * p.input[d - 1];
  for (size_t d = p.input.size(); d-- > 0; index /= p.input[d]) out += index % p.input[d] * strides[d];
  return out;
}

void max_plane(const WindowGather& gather, const double* x, double* y, int64_t* where) {
  std::fill_n(y, gather.positions(), -INFINITY);
  std::fill_n(where, gather.positions(), int64_t{-1});
  gather.for_each(0, gather.positions(), [&](int64_t, int64_t i, int64_t index) {
    const bool first_nan = std::isnan(x[index]) && !std::isnan(y[i]);
    if (where[i] >= 0 && !(x[index] > y[i]) && !first_nan) return;
    y[i] = x[index];
    where[i] = index;
  });
}

void average_plane(const WindowGather& gather, const PoolParams& p, const double* x, double* y) {
  std::fill_n(y, gather.positions(), 0.0);
  gather.for_each(0, gather.positions(), [&](int64_t, int64_t i, int64_t index) { y[i] += x[index]; });
  for (int64_t i = 0; i < gather.positions(); ++i) {
    int64_t count = 1, rest = i;
    for (size_t d = p.output.size(); d-- > 0; rest /= p.output[d])
      count *= pool_count(p, d, rest % p.output[d]);
    y[i] /= static_cast<double>(count);
  }
}

void norm_plane(const WindowGather& gather, int64_t p, const double* x, double* y) {
  std::fill_n(y, gather.positions(), 0.0);
  const auto power = static_cast<double>(p);
  gather.for_each(0, gather.positions(),
                  [&](int64_t, int64_t i, int64_t index) { y[i] += std::pow(std::fabs(x[index]), power); });
  for (int64_t i = 0; i < gather.positions(); ++i) y[i] = std::pow(y[i], 1 / power);
}

Status eval_pool(const EvalContext& context) {
  InferContext view = context.infer_view();
  MRVLC_ASSIGN(PoolParams p, pool_params(view));
  if (context.out().elements() == 0) return {};
  WindowGather gather(p);
  std::vector<double> x(at(gather.plane())), y(at(gather.positions()));
  std::vector<int64_t> where(y.size());
  bool column_major = context.op->kind == Op::MaxPool && view.int_attr("storage_order") != 0;
  for (int64_t n = 0; n < p.batch * p.channels; ++n) {
    load_doubles(context.in(0), n * gather.plane(), gather.plane(), x.data());
    if (p.is_max) {
      max_plane(gather, x.data(), y.data(), where.data());
    } else if (const int64_t norm = pool_norm(view); norm != 0) {
      norm_plane(gather, norm, x.data(), y.data());
    } else {
      average_plane(gather, p, x.data(), y.data());
    }
    store_doubles(context.out(), n * gather.positions(), gather.positions(), y.data());
    if (context.outputs->size() < 2) continue;
    for (int64_t i = 0; i < gather.positions(); ++i) {
      int64_t index = n * gather.plane() + stored_index(p, where[at(i)], column_major);
      context.out(1).set_int(n * gather.positions() + i, where[at(i)] < 0 ? -1 : index);
    }
  }
  return {};
}

OpDef pool_def(std::string_view name, std::vector<ir::AttrSpec> attrs, TypeSet types, bool global) {
  OpDef d;
  d.name = name;
  d.attrs = std::move(attrs);
  d.types = types;
  d.infer = infer_pool;
  d.eval = eval_pool;
  d.emit = global ? emit_global_pool : emit_pool;
  d.emit_dynamic = global ? emit_global_pool : emit_dynamic_pool;
  d.accel = {LayerKind::Pool};
  return d;
}

// Opset 1 had p as a number with a fraction.
Status upgrade_lp_pool(RawNode& node) {
  const ir::Attr* given = node.find("p");
  const auto* p = given != nullptr ? std::get_if<float>(given) : nullptr;
  if (p == nullptr) return {};
  const float value = *p;
  if (!(value >= 1 && value < 65536 && value == std::floor(value)))
    return bad_attr("p", fmt::format("is {}; whole numbers are supported", value));
  node.take("p");
  node.attrs.emplace_back("p", static_cast<int64_t>(value));
  return {};
}

std::vector<ir::AttrSpec> window_attrs() {
  return {with_string("auto_pad", "NOTSET"),         with_int("ceil_mode", 0),
          optional("dilations", ir::AttrKind::Ints), required("kernel_shape", ir::AttrKind::Ints),
          optional("pads", ir::AttrKind::Ints),      optional("strides", ir::AttrKind::Ints)};
}

OpDef norm_pool(std::string_view name, std::vector<ir::AttrSpec> attrs, bool global) {
  OpDef d = pool_def(name, std::move(attrs), kFloats, global);
  d.upgrade = upgrade_lp_pool;
  d.accel = {};
  d.declined = "accelerator: the pooling unit takes maxima and averages only";
  return d;
}

}  // namespace

int64_t pool_norm(const InferContext& context) {
  return context.op->attr_index("p") >= 0 ? context.int_attr("p") : 0;
}

PoolSpan pool_span(const PoolParams& p, size_t d) {
  if (!p.count_include_pad) return {0, p.input[d]};
  return {-p.pads_begin[d], p.input[d] + p.pads_end[d]};
}

int64_t pool_count(const PoolParams& p, size_t d, int64_t output) {
  const auto [low, high] = pool_span(p, d);
  int64_t begin = output * p.strides[d] - p.pads_begin[d], step = p.dilations[d];
  int64_t first = begin >= low ? 0 : ceil_div(low - begin, step);
  int64_t past = begin >= high ? 0 : std::min(p.kernel[d], ceil_div(high - begin, step));
  return std::max<int64_t>(1, past - first);
}

const OpDef& def_MaxPool() {
  static const OpDef def = [] {
    auto attrs = window_attrs();
    attrs.push_back(with_int("storage_order", 0));
    TypeSet types = types_of({E::F32, E::F16, E::F64, E::BF16, E::I8, E::U8});
    OpDef d = pool_def("MaxPool", std::move(attrs), types, false);
    d.max_outputs = 2;
    d.traits = {.passes_size_on = true, .by_channel = true};
    return d;
  }();
  return def;
}

const OpDef& def_AveragePool() {
  static const OpDef def = [] {
    auto attrs = window_attrs();
    attrs.push_back(with_int("count_include_pad", 0));
    return with_traits(pool_def("AveragePool", std::move(attrs), kFloats, false),
                       {.passes_size_on = true, .by_channel = true});
  }();
  return def;
}

const OpDef& def_LpPool() {
  static const OpDef def = [] {
    auto attrs = window_attrs();
    attrs.push_back(with_int("p", 2));
    return norm_pool("LpPool", std::move(attrs), false);
  }();
  return def;
}

const OpDef& def_GlobalLpPool() {
  static const OpDef def = norm_pool("GlobalLpPool", {with_int("p", 2)}, true);
  return def;
}

const OpDef& def_GlobalMaxPool() {
  static const OpDef def =
      with_traits(pool_def("GlobalMaxPool", {}, kFloats, true), {.work = Work::Linear, .by_channel = true});
  return def;
}

const OpDef& def_GlobalAveragePool() {
  static const OpDef def = with_traits(pool_def("GlobalAveragePool", {}, kFloats, true),
                                       {.work = Work::Linear, .by_channel = true});
  return def;
}

}  // namespace mrvlc::ops
