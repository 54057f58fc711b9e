// GroupNormalization (ONNX -21): groups of channels of each image brought to mean 0 and variance 1, then
// scaled:
//   y = (x - mean) / sqrt(variance + epsilon) * scale + bias
#include <cmath>

#include "common/bulk.h"
#include "common/dynamic_util.h"
#include "common/emit_util.h"
#include "common/lanes.h"
#include "mrvlc/support/diag/ops.h"
#include "normalization/row_norm.h"

namespace mrvlc::ops {
namespace {

// Opset 18 had one scale and bias a group, later ones have one a channel.
Status upgrade_group_norm(RawNode& node) {
  const TensorType *x = node.input_type(0), *scale = node.input_type(1);
  if (node.opset < 21 || x == nullptr || scale == nullptr || x->rank() < 2 || x->is_dynamic(1)) return {};
  if (scale->shape == Shape{x->shape[1]}) return {};
  return make_diag<DiagCode::MRV0205>(to_string(x->shape), to_string(scale->shape),
                                      "one scale a channel is expected");
}

struct GroupSizes {
  AxisView rows;                     // n: elements of a row
  int64_t groups = 1, channels = 1;  // channels of one group
  int64_t inner = 1;                 // elements of one channel
  bool per_group = false;            // scale and bias
};

Result<GroupSizes> group_sizes(const InferContext& c) {
  MRVLC_TRY(check_rank(c, 0, 2));
  AxisView view = axis_view(c.type(0).shape, 1);
  GroupSizes g;
  g.groups = c.int_attr("num_groups");
  if (g.groups < 1 || view.n % g.groups != 0)
    return bad_attr("num_groups", fmt::format("of {} does not divide {} channels", g.groups, view.n));
  g.channels = view.n / g.groups;
  g.inner = view.inner;
  g.rows.outer = view.outer * g.groups;
  g.rows.n = g.channels * g.inner;
  g.per_group = c.type(1).shape != Shape{view.n};
  for (size_t i : {size_t{1}, size_t{2}}) {
    MRVLC_TRY(check_same_elem(c, i));
    if (c.type(i).shape == Shape{g.per_group ? g.groups : view.n}) continue;
    return make_diag<DiagCode::MRV0205>(to_string(c.type(0).shape), to_string(c.type(i).shape),
                                        fmt::format("input {} must be a vector over the channels", i));
  }
  return g;
}

Result<std::vector<TensorType>> infer_group_norm(const InferContext& c) {
  auto sizes = group_sizes(c);
  if (!sizes.ok()) return std::move(sizes).error();
  return std::vector<TensorType>{c.type(0)};
}

Status eval_group_norm(const EvalContext& c) {
  InferContext view_of = c.infer_view();
  MRVLC_ASSIGN(GroupSizes g, group_sizes(view_of));
  auto epsilon = static_cast<double>(view_of.float_attr("epsilon"));
  std::vector<double> row(at(g.rows.n));
  for (int64_t k = 0; k < g.rows.outer && g.rows.n != 0; ++k) {
    load_run(c.in(0), k * g.rows.n, 1, g.rows.n, row.data());
    Moments m = moments_of(row, epsilon);
    for (int64_t i = 0; i < g.rows.n; ++i) {
      int64_t group = k % g.groups, scale = g.per_group ? group : group * g.channels + i / g.inner;
      row[at(i)] =
          (row[at(i)] - m.mean) * m.inverse_deviation * c.in(1).as_double(scale) + c.in(2).as_double(scale);
    }
    store_run(c.out(), k * g.rows.n, 1, g.rows.n, row.data());
  }
  return {};
}

// One scale and bias a channel, or one a group where a vector is as long.
std::string scale_index(EmitContext& c, int64_t groups, const std::string& channels) {
  const std::string own = c.in_dim(1, 0), all = c.in_dim(0, 1), group = fmt::format("row % {}", groups),
                    channel = fmt::format("{} * {} + k", group, channels);
  if (own == all) return channel;
  if (is_number(own) && is_number(all)) return group;
  c.fail_if(fmt::format("{0} != {1} && {0} != {2}", own, all, groups));
  return fmt::format("({} == {} ? {} : {})", own, groups, group, channel);
}

Status emit_group_norm(EmitContext& c) {
  MRVLC_TRY(require_widened(c));
  MRVLC_TRY(check_rank(emit_view(c), 0, 2));
  const ElementType elem = c.in_type(0).elem;
  const int64_t groups = c.node().int_attr("num_groups");
  set_same_dims(c);
  if (c.out_type(0).elements() == 0) return {};
  const AxisText view(c, 0, 1);
  c.fail_if(fmt::format("{} % {} != 0", view.n, groups));
  require_equal(c, c.in_dim(1, 0), c.in_dim(2, 0));
  const std::string channels = named_size(c, "channels", quotient(view.n, groups)),
                    count = named_size(c, "count", times(channels, view.inner));
  const std::string index = scale_index(c, groups, channels);
  c.shared_loop("row", times(view.outer, fmt::format("{}", groups)), kRowWork * c.in_type(0).elements());
  emit_row_pointers(c, elem, count);
  emit_moments(c, elem, count, c.node().float_attr("epsilon"));
  open_loop(c, "k", channels);
  c.line(fmt::format("const {} factor = inverse * {}[{}];", c_type(elem), c.in(1), index));
  c.line(fmt::format("const {} offset = {}[{}] - mean * factor;", c_type(elem), c.in(2), index));
  c.open(fmt::format("for (ptrdiff_t i = k * {0}; i < (k + 1) * {0}; ++i)", view.inner));
  c.line("y[i] = x[i] * factor + offset;");
  for (int i = 0; i < 3; ++i) c.close();
  return {};
}

}  // namespace

const OpDef& def_GroupNormalization() {
  static const OpDef op = [] {
    OpDef d;
    d.name = "GroupNormalization";
    d.traits = {.work = Work::Linear, .by_channel = true};
    d.since_min = 18;
    d.attrs = {spec::with_float("epsilon", 1e-5f), spec::required("num_groups", ir::AttrKind::Int),
               spec::with_int("stash_type", 1)};
    d.min_inputs = d.max_inputs = 3;
    d.types = spec::kFloats;
    d.upgrade = upgrade_group_norm;
    d.infer = infer_group_norm;
    d.eval = eval_group_norm;
    d.emit = d.emit_dynamic = emit_group_norm;
    d.declined = "accelerator: rows span channels; the layer normalises within one";
    return d;
  }();
  return op;
}

}  // namespace mrvlc::ops
