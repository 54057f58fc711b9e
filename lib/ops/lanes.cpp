#include "lanes.h"

#include "bulk.h"

namespace mrvlc::ops {
namespace {

constexpr int64_t kLanes = 16;

void emit_side_by_side(EmitContext& c, const RunReduction& run, ElementType elem, int64_t n) {
  int64_t whole = n / kLanes * kLanes;
  c.line(fmt::format("{} lanes[{}];", c_type(elem), kLanes));
  c.line(fmt::format("for (ptrdiff_t l = 0; l < {}; ++l) lanes[l] = {};", kLanes, run.start));
  c.open(fmt::format("for (ptrdiff_t r = 0; r < {}; r += {})", whole, kLanes));
  c.line(fmt::format("for (ptrdiff_t l = 0; l < {}; ++l) {}", kLanes, run.step("lanes[l]", "(r + l)")));
  c.close();
  if (whole != n)
    c.line(fmt::format("for (ptrdiff_t r = {}; r < {}; ++r) {}", whole, n, run.step("lanes[0]", "r")));
  c.line(fmt::format("for (ptrdiff_t l = 0; l < {}; ++l) {}", kLanes, run.merge(run.var, "lanes[l]")));
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

void emit_run(EmitContext& c, const RunReduction& run, ElementType elem, int64_t n) {
  c.line(fmt::format("{} {} = {};", c_type(elem), run.var, run.start));
  c.open("");
  if (is_float(elem) && n >= 2 * kLanes) {
    emit_side_by_side(c, run, elem, n);
  } else if (n > 0) {
    c.line(fmt::format("for (ptrdiff_t r = 0; r < {}; ++r) {}", n, run.step(run.var, "r")));
  }
  c.close();
}

void emit_sum(EmitContext& c, const std::string& var, ElementType elem, int64_t n,
              const std::function<std::string(const std::string& index)>& term) {
  RunReduction run;
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
