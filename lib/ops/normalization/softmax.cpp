// Softmax, LogSoftmax, Hardmax. Before opset 13 they were over all dimensions from `axis` on, which was 1 by
// default.
#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "common/emit_util.h"
#include "common/lanes.h"

namespace mrvlc::ops {
namespace {

// The only dimension from `axis` on that is not 1, where there is no other: over it alone is over them all.
std::optional<int64_t> only_dimension(const TensorType& type, int64_t axis) {
  std::optional<int64_t> found;
  for (int64_t d = axis; d < type.rank(); ++d) {
    if (!type.is_dynamic(d) && type.shape[at(d)] == 1) continue;
    if (found) return std::nullopt;
    found = d;
  }
  return found.value_or(axis);
}

Status upgrade_softmax(RawNode& node) {
  if (node.opset >= 13) return {};
  ir::Attr given = node.take("axis");
  const auto* value = std::get_if<int64_t>(&given);
  if (ir::is_set(given) && value == nullptr) return bad_attr("axis", "must be an integer");
  int64_t axis = value != nullptr ? *value : 1;
  const TensorType* type = node.input_type(0);
  if (type != nullptr && type->rank() > 0 && type->has_rank()) {
    MRVLC_ASSIGN(axis, normalize_axis(axis, type->rank()));
    if (auto only = only_dimension(*type, axis)) {
      axis = *only;
    } else {
      node.rows_from = std::exchange(axis, -1);
    }
  }
  node.attrs.emplace_back("axis", axis);
  return {};
}

Result<AxisView> softmax_view(const ir::OpSchema& op, const std::vector<ir::Attr>& attrs,
                              const Shape& shape) {
  auto rank = static_cast<int64_t>(shape.size());
  auto axis = std::get<int64_t>(attrs[at(op.attr_index("axis"))]);
  if (rank == 0 && (axis == 0 || axis == -1)) return AxisView{};
  MRVLC_ASSIGN(axis, normalize_axis(axis, rank));
  return axis_view(shape, axis);
}

Result<std::vector<TensorType>> infer_softmax(const InferContext& c) {
  auto view = softmax_view(*c.op, *c.attrs, c.type(0).shape);
  if (!view.ok()) return std::move(view).error();
  return std::vector<TensorType>{c.type(0)};
}

// x - max(x), and the sum of its exponentials.
double shift_by_peak(std::vector<double>& x) {
  double peak = *std::max_element(x.begin(), x.end()), sum = 0;
  for (double& v : x) {
    v -= peak;
    sum += std::exp(v);
  }
  return sum;
}

void softmax(std::vector<double>& x) {
  double sum = shift_by_peak(x);
  for (double& v : x) v = std::exp(v) / sum;
}

void log_softmax(std::vector<double>& x) {
  double log_sum = std::log(shift_by_peak(x));
  for (double& v : x) v -= log_sum;
}

// 1 at the first maximum, 0 elsewhere; a NaN is one, as for ArgMax.
void hardmax(std::vector<double>& x) {
  auto less = [](double a, double b) { return a < b || (std::isnan(b) && !std::isnan(a)); };
  auto peak = std::max_element(x.begin(), x.end(), less) - x.begin();
  std::ranges::fill(x, 0.0);
  x[at(peak)] = 1;
}

template <auto F>
Status eval_lanes(const EvalContext& c) {
  MRVLC_ASSIGN(AxisView view, softmax_view(*c.op, *c.attrs, c.in(0).shape()));
  map_lanes(c, view, F);
  return {};
}

class SoftmaxEmitter {
 public:
  SoftmaxEmitter(EmitContext& c, const AxisText& view)
      : c_(c),
        view_(view),
        elem_(c.in_type(0).elem),
        f_(elem_ == ElementType::F64 ? "" : "f"),
        exp_(elem_ == ElementType::F32 && !c.wants_little_text() ? c.helper("exp_below")
                                                                 : math_function(c, "exp", elem_)) {}

  // Opens the loops over lanes: x and y are the lane's first elements, `peak` its maximum.
  void begin() {
    constexpr int64_t kWork = 20;  // of an element; most of it the exponential
    c_.shared_loop("o", view_.outer, kWork * c_.in_type(0).elements());
    open_loop(c_, "i", view_.inner);
    c_.line(fmt::format("const {}* x = {} + o * {} + i;", c_type(elem_), c_.in(0), view_.lane()));
    c_.line(fmt::format("{}* y = {} + o * {} + i;", c_type(elem_), c_.out(0), view_.lane()));
    find_peak();
  }
  // Along memory, lanes side by side make vector code.
  void find_peak() {
    auto larger = [](const std::string& v, const std::string& other) {
      return fmt::format("{0} = {1} > {0} ? {1} : {0};", v, other);
    };
    if (view_.inner != "1") {
      c_.line(fmt::format("{} peak = -INFINITY;", c_type(elem_)));
      return each(larger("peak", x()));
    }
    RunReduction run;
    run.var = "peak";
    run.start = "-INFINITY";
    run.step = [&](const std::string& v, const std::string& i) { return larger(v, fmt::format("x[{}]", i)); };
    run.merge = larger;
    emit_run(c_, run, elem_, view_.n);
  }
  // `term`: of the element [k] or [k * inner] of x or y.
  void sum_up(const std::function<std::string(const std::string& index)>& term) {
    if (view_.inner == "1") return emit_sum(c_, "sum", elem_, view_.n, term);
    c_.line(fmt::format("{} sum = 0;", c_type(elem_)));
    each(fmt::format("sum += {};", term(fmt::format("k * {}", view_.inner))));
  }
  void end() {
    c_.close();
    c_.close();
  }
  void each(const std::string& statement) {
    c_.line(fmt::format("for (ptrdiff_t k = 0; k < {}; ++k) {}", view_.n, statement));
  }
  std::string x() const { return element("x"); }
  std::string y() const { return element("y"); }
  std::string exp(const std::string& v) const { return fmt::format("{}({})", exp_, v); }

  void emit_softmax() {
    begin();
    each(fmt::format("{} = {};", y(), exp(x() + " - peak")));
    sum_up([](const std::string& i) { return fmt::format("y[{}]", i); });
    each(fmt::format("{} /= sum;", y()));
    end();
  }
  void emit_log_softmax() {
    begin();
    sum_up([&](const std::string& i) { return exp(fmt::format("x[{}] - peak", i)); });
    // Not x - (peak + log), which would round away the logarithm beside a large peak.
    c_.line(fmt::format("sum = log{}(sum);", f_));
    each(fmt::format("{} = {} - peak - sum;", y(), x()));
    end();
  }
  void emit_hardmax() {
    begin();
    c_.line("ptrdiff_t first = 0;");
    c_.line(fmt::format("while (first < {0} && !isnan(x[first * {1}])) ++first;", view_.n, view_.inner));
    c_.line(fmt::format("if (first == {}) first = 0;", view_.n));
    c_.line(fmt::format("while (first + 1 < {0} && x[first * {1}] < peak) ++first;", view_.n, view_.inner));
    each(fmt::format("{} = k == first ? 1 : 0;", y()));
    end();
  }

 private:
  std::string element(std::string_view pointer) const {
    return view_.inner == "1" ? fmt::format("{}[k]", pointer)
                              : fmt::format("{}[k * {}]", pointer, view_.inner);
  }
  EmitContext& c_;
  const AxisText& view_;
  ElementType elem_;
  std::string_view f_;
  std::string exp_;
};

template <auto Member>
Status emit_lanes(EmitContext& c) {
  MRVLC_TRY(require_widened(c));
  set_same_dims(c);
  if (c.out_type(0).elements() == 0) return {};
  AxisText view;
  if (c.in_type(0).rank() > 0) {
    MRVLC_ASSIGN(int64_t axis, axis_attr(c));
    view = AxisText(c, 0, axis);
  }
  (SoftmaxEmitter(c, view).*Member)();
  return {};
}

template <auto Eval, auto Emit>
OpDef lane_operator(std::string_view name) {
  OpDef op;
  op.name = name;
  op.traits = {.work = Work::Linear};
  op.attrs = {spec::with_int("axis", -1)};
  op.types = spec::kFloats;
  op.upgrade = upgrade_softmax;
  op.infer = infer_softmax;
  op.eval = eval_lanes<Eval>;
  op.emit = op.emit_dynamic = emit_lanes<Emit>;
  op.accel = {LayerKind::Softmax};
  return op;
}

}  // namespace

const OpDef& def_Softmax() {
  static const OpDef op = lane_operator<softmax, &SoftmaxEmitter::emit_softmax>("Softmax");
  return op;
}

const OpDef& def_LogSoftmax() {
  static const OpDef op = lane_operator<log_softmax, &SoftmaxEmitter::emit_log_softmax>("LogSoftmax");
  return op;
}

const OpDef& def_Hardmax() {
  static const OpDef op = [] {
    OpDef d = lane_operator<hardmax, &SoftmaxEmitter::emit_hardmax>("Hardmax");
    d.accel = {};
    d.declined = "accelerator: no unit finds positions of maxima";
    return d;
  }();
  return op;
}

}  // namespace mrvlc::ops
