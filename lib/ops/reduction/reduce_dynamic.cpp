// Reductions of shapes known at run time only, or along axes that are values of the model. What is reduced is
// a set of bits, one a dimension; the C piece dynamic_reduce turns it into loops.
#include <algorithm>

#include "common/bulk.h"
#include "common/dynamic_util.h"
#include "common/lanes.h"
#include "common/sample_loop.h"
#include "mrvlc/support/diag/ops.h"
#include "reduction/reduce_emit.h"

namespace mrvlc::ops {
namespace {

bool axes_known(const InferContext& c) {
  if (!c.has(1)) return true;
  return c.constant(1) != nullptr || (c.type(1).is_static() && c.type(1).elements() == 0);
}

Dims kept_dims(const Dims& data, const std::vector<int64_t>& axes, bool keep) {
  Dims dims;
  for (size_t d = 0; d < data.size(); ++d) {
    bool reduced = std::find(axes.begin(), axes.end(), static_cast<int64_t>(d)) != axes.end();
    if (!reduced || keep) dims.push_back(reduced ? Dim{} : data[d]);
  }
  return dims;
}

Dim either(Dim a, Dim b) {
  if (a.bound == kNoBound || b.bound == kNoBound) return kAnyDim;
  return {std::max(a.bound, b.bound), a.dynamic || b.dynamic || a.bound != b.bound};
}

// Any `count` dimensions may go: dimension d of the result is one of data[d .. d + count].
Dims any_kept(const Dims& data, size_t count) {
  Dims dims;
  for (size_t d = 0; d + count < data.size(); ++d) {
    Dim dim = data[d];
    for (size_t k = 1; k <= count; ++k) dim = either(dim, data[d + k]);
    dims.push_back(dim);
  }
  return dims;
}

// -- C

// Declares `axes`, the set of what is reduced, from the operand's values.
void declare_axes(EmitContext& c, int64_t rank) {
  std::string count = c.in_type(1).rank() == 0 ? "1" : c.in_dim(1, 0);
  c.line("uint32_t axes = 0;");
  c.open(fmt::format("for (int64_t i = 0; i < {}; ++i)", count));
  c.line(fmt::format("const int64_t given = {0}[i], axis = given < 0 ? given + {1} : given;", c.in(1), rank));
  c.fail_if(fmt::format("axis < 0 || axis >= {} || (axes >> axis & 1u)", rank));
  c.line("axes |= UINT32_C(1) << axis;");
  c.close();
  bool all = c.node().int_attr("noop_with_empty_axes") == 0;
  if (!is_number(count) && all) c.line(fmt::format("if ({} == 0) axes = {}u;", count, (1u << rank) - 1u));
}

// Of axes that are values of the model.
void set_result_dims(EmitContext& c) {
  const int64_t rank = c.in_type(0).rank(), kept = c.out_type(0).rank();
  Texts dims;
  if (c.node().int_attr("keepdims") != 0) {
    for (int64_t d = 0; d < rank; ++d) dims.push_back(fmt::format("axes >> {0} & 1u ? 1 : dims[{0}]", d));
  } else if (kept > 0) {
    c.line(fmt::format("int64_t kept[{}];", rank));
    c.line("int count = 0;");
    c.open(fmt::format("for (int d = 0; d < {}; ++d)", rank));
    c.line("if (!(axes >> d & 1u)) kept[count++] = dims[d];");
    c.close();
    c.fail_if(fmt::format("count != {}", kept));
    dims = elements_of("kept", kept);
  }
  c.set_dims(0, dims);
}

// The set of what is reduced as a C expression; sets the dimensions of the result.
Result<std::string> axes_text(EmitContext& c) {
  InferContext view = emit_view(c);
  const int64_t rank = c.in_type(0).rank();
  bool keep = c.node().int_attr("keepdims") != 0;
  if (!axes_known(view)) {
    declare_axes(c, rank);
    set_result_dims(c);
    return std::string("axes");
  }
  uint32_t bits = 0;
  MRVLC_ASSIGN(std::vector<int64_t> axes, reduce_axes(view));
  for (int64_t axis : axes) bits |= 1u << axis;
  Texts dims;
  for (int64_t d = 0; d < rank; ++d) {
    bool reduced = (bits >> d & 1u) != 0;
    if (!reduced || keep) dims.push_back(reduced ? "1" : c.in_dim(0, d));
  }
  c.set_dims(0, dims);
  return fmt::format("{}u", bits);
}

// One accumulator over the run of element `i` of `x` at a step.
void emit_accumulation(EmitContext& c, const ReductionText& text, const std::string& var,
                       const std::string& start, std::string_view step, std::string_view merge) {
  c.line(fmt::format("{} {} = {};", c_type(text.elem), var, start));
  c.open("for (ptrdiff_t o = 0; o < p.outer; ++o)");
  c.line(fmt::format("const {}* const x = {} + base + {}_at(o, p.reduced - 1, p.n + 9, p.s + 9);",
                     c_type(c.in_type(0).elem), c.in(0), c.helper("dynamic_reduce")));
  RunReduction run;
  run.var = "part_of_" + var;
  run.start = start;
  run.step = [&](const std::string& v, const std::string& i) {
    return text.expand(step, v, fmt::format("x[{} * p.step]", i));
  };
  run.merge = [&](const std::string& v, const std::string& other) { return text.expand(merge, v, other); };
  emit_run(c, run, text.elem, "p.run");
  c.line(text.expand(merge, var, run.var));
  c.close();
}

void emit_results(EmitContext& c, const Reduction& r) {
  ReductionText text(r, c.in_type(0).elem);
  std::string_view type = c_type(text.elem);
  if (r.mean) {
    c.line(fmt::format("const {} count_all = ({})(p.outer * p.run);", type, type));
  }
  c.open("for (ptrdiff_t k = 0; k < p.results; ++k)");
  c.line(fmt::format("const ptrdiff_t base = {}_at(k, p.kept, p.n, p.s);", c.helper("dynamic_reduce")));
  if (r.shift) {
    constexpr std::string_view kLarger = "{v} = {x} > {v} ? {x} : {v};";
    emit_accumulation(c, text, "peak", "-INFINITY", kLarger, kLarger);
    c.line("if (isinf(peak)) peak = 0;");
  }
  emit_accumulation(c, text, "v", text.start(), text.step(), text.merge());
  // Of no elements there is no mean; of integers any number will do.
  std::string count = is_float(text.elem) ? "count_all" : "(count_all == 0 ? 1 : count_all)";
  text.store(c, c.out(0) + "[k]", text.finished("v", count));
  c.close();
}

// Samples are reduced each for itself.
bool within_samples(const EmitContext& c) {
  InferContext view = emit_view(c);
  if (!has_dynamic_samples(c) || !axes_known(view)) return false;
  auto axes = reduce_axes(view);
  return axes.ok() && (axes->empty() || axes->front() != 0);
}

}  // namespace

Result<std::vector<TensorType>> infer_dynamic_reduce(const InferContext& c) {
  MRVLC_TRY(check_tensors(c));
  if (c.has(1)) MRVLC_TRY(check_elem(c, 1, spec::kIndices));
  Dims data = dims_of(c.type(0));
  bool keep = c.int_attr("keepdims") != 0;
  if (axes_known(c)) {
    MRVLC_ASSIGN(std::vector<int64_t> axes, reduce_axes(c));
    return one_type(c.type(0).elem, kept_dims(data, axes, keep));
  }
  if (keep) {
    MRVLC_TRY(check_rank(c, 1, 0, 1));
    for (Dim& dim : data) dim = either(dim, Dim{});
    return one_type(c.type(0).elem, data);
  }
  MRVLC_ASSIGN(int64_t count, known_length(c, 1, "axes"));
  if (count > c.type(0).rank())
    return bad_operands(fmt::format("{} axes of {} dimensions", count, c.type(0).rank()));
  return one_type(c.type(0).elem, any_kept(data, at(count)));
}

Status emit_dynamic_reduction(EmitContext& c, const Reduction& reduction) {
  MRVLC_TRY(require_widened(c));
  if (within_samples(c)) {
    return emit_by_sample(c, [&](EmitContext& sample) { return emit_reduction(sample, reduction); });
  }
  declare_list(c, "dims", in_dims(c, 0));
  MRVLC_ASSIGN(std::string axes, axes_text(c));
  std::string plan = c.helper("dynamic_reduce");
  c.line(fmt::format("{}_loops p;", plan));
  c.line(fmt::format("{}(&p, {}, dims, {});", plan, c.in_type(0).rank(), axes));
  emit_results(c, reduction);
  return {};
}

}  // namespace mrvlc::ops
