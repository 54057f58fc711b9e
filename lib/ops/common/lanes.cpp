// Outer, axis and inner sizes as numbers and as C text; sums and maxima of a run in sixteen lanes, for SIMD.
#include "common/lanes.h"

#include "common/bulk.h"
#include "common/dynamic_util.h"

namespace mrvlc::ops {
namespace {

constexpr int64_t kLanes = 16;

// "0", or the first index behind the whole blocks; a number when n is one.
std::string whole_blocks(const std::string& n) {
  if (!is_number(n)) return fmt::format("{} / {} * {}", n, kLanes, kLanes);
  return fmt::format("{}", std::stoll(n) / kLanes * kLanes);
}

void emit_side_by_side(EmitContext& c, const RunReduction& run, ElementType elem, const std::string& n) {
  std::string whole = whole_blocks(n);
  c.line(fmt::format("{} lanes[{}];", c_type(elem), kLanes));
  c.line(fmt::format("for (ptrdiff_t l = 0; l < {}; ++l) lanes[l] = {};", kLanes, run.start));
  c.open(fmt::format("for (ptrdiff_t r = 0; r < {}; r += {})", whole, kLanes));
  c.line(fmt::format("for (ptrdiff_t l = 0; l < {}; ++l) {}", kLanes, run.step("lanes[l]", "(r + l)")));
  c.close();
  if (whole != n)
    c.line(fmt::format("for (ptrdiff_t r = {}; r < {}; ++r) {}", whole, n, run.step("lanes[0]", "r")));
  // By halves: merged one after the other, each would wait for the one before.
  for (int64_t half : {kLanes / 2, kLanes / 4})
    c.line(fmt::format("for (ptrdiff_t l = 0; l < {}; ++l) {}", half,
                       run.merge("lanes[l]", fmt::format("lanes[l + {}]", half))));
  c.line(fmt::format("for (ptrdiff_t l = 0; l < {}; ++l) {}", kLanes / 4, run.merge(run.var, "lanes[l]")));
}

}  // namespace

AxisView axis_view(const Shape& shape, int64_t axis) {
  AxisView view;
  for (size_t d = 0; d < shape.size(); ++d) {
    int64_t& part = static_cast<int64_t>(d) < axis    ? view.outer
                    : static_cast<int64_t>(d) == axis ? view.n
                                                      : view.inner;
    part *= shape[d];
  }
  return view;
}

AxisView flattened_from(const Shape& shape, int64_t axis) {
  AxisView view = axis_view(shape, axis);
  view.n *= view.inner;
  view.inner = 1;
  return view;
}

std::string named_size(EmitContext& c, std::string_view name, const std::string& text) {
  if (is_number(text)) return text;
  c.line(fmt::format("const ptrdiff_t {} = (ptrdiff_t)({});", name, text));
  return std::string(name);
}

AxisText::AxisText(EmitContext& c, size_t i, int64_t axis, bool flatten) {
  Texts dims = in_dims(c, i);
  const size_t at_axis = at(axis), past = flatten ? dims.size() : std::min(at_axis + 1, dims.size());
  outer = named_size(c, "outer_size", product_text(dims, 0, at_axis));
  n = named_size(c, "axis_size", product_text(dims, at_axis, past));
  inner = named_size(c, "inner_size", product_text(dims, past, dims.size()));
}

std::string AxisText::lane() const {
  return times(n, inner);
}

Result<int64_t> axis_attr(const EmitContext& c, std::string_view attr) {
  return normalize_axis(c.node().int_attr(attr), c.in_type(0).rank());
}

std::string times(const std::string& a, const std::string& b) {
  if (is_number(a) && is_number(b)) return fmt::format("{}", std::stoll(a) * std::stoll(b));
  if (a == "1") return b;
  if (b == "1") return a;
  return fmt::format("{} * {}", a, b);
}

std::string plus(const std::string& a, int64_t b) {
  if (is_number(a)) return fmt::format("{}", std::stoll(a) + b);
  return b < 0 ? fmt::format("({} - {})", a, -b) : fmt::format("({} + {})", a, b);
}

std::string turns_unless_empty(const std::string& loops, const std::string& n) {
  return is_number(n) ? loops : fmt::format("({} > 0 ? {} : 0)", n, loops);
}

std::string quotient(const std::string& a, int64_t b) {
  return is_number(a) ? fmt::format("{}", std::stoll(a) / b) : fmt::format("{} / {}", a, b);
}

void open_loop(EmitContext& c, std::string_view var, const std::string& n) {
  c.open(fmt::format("for (ptrdiff_t {0} = 0; {0} < {1}; ++{0})", var, n));
}

void set_same_dims(EmitContext& c, size_t output) {
  c.set_dims(output, in_dims(c, 0));
}

void map_lanes(const EvalContext& c, const AxisView& view,
               const std::function<void(std::vector<double>&)>& f) {
  if (view.n == 0) return;
  std::vector<double> lane(at(view.n));
  for (int64_t k = 0; k < view.lanes(); ++k) {
    load_run(c.in(0), view.first(k), view.inner, view.n, lane.data());
    f(lane);
    store_run(c.out(), view.first(k), view.inner, view.n, lane.data());
  }
}

void emit_run(EmitContext& c, const RunReduction& run, ElementType elem, const std::string& n) {
  c.line(fmt::format("{} {} = {};", c_type(elem), run.var, run.start));
  c.open("");
  // Long sums keep their lanes for what they lose by rounding: each has a part of the terms.
  constexpr int64_t kLong = 1024;
  const int64_t least = c.wants_little_text() && !run.busy ? kLong : 2 * kLanes;
  if (is_float(elem) && (!is_number(n) || std::stoll(n) >= least)) {
    emit_side_by_side(c, run, elem, n);
  } else if (n != "0") {
    c.line(fmt::format("for (ptrdiff_t r = 0; r < {}; ++r) {}", n, run.step(run.var, "r")));
  }
  c.close();
}

void emit_sum(EmitContext& c, const std::string& var, ElementType elem, const std::string& n,
              const std::function<std::string(const std::string& index)>& term, bool busy) {
  RunReduction run;
  run.busy = busy;
  run.var = var;
  run.start = "0";
  run.step = [&](const std::string& v, const std::string& index) {
    return fmt::format("{} += {};", v, term(index));
  };
  run.merge = [](const std::string& v, const std::string& other) {
    return fmt::format("{} += {};", v, other);
  };
  emit_run(c, run, elem, n);
}

}  // namespace mrvlc::ops
