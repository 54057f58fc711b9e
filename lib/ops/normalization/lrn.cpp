// LRN: y = x / (bias + alpha / size * sum of squares over `size` neighbouring channels)^beta.
#include <algorithm>
#include <cmath>

#include "common/bulk.h"
#include "common/emit_util.h"
#include "common/lanes.h"

namespace mrvlc::ops {
namespace {

// Channels [first, last) around channel c: (size - 1) / 2 before, rounded down, and after, rounded up.
struct Window {
  int64_t first, last;
};
Window window_at(int64_t channel, int64_t size, int64_t channels) {
  return {std::max<int64_t>(0, channel - (size - 1) / 2), std::min(channels, channel + size / 2 + 1)};
}

Result<std::vector<TensorType>> infer_lrn(const InferContext& c) {
  MRVLC_TRY(check_rank(c, 0, 2));
  int64_t size = c.int_attr("size");
  if (size < 1 || size > kMaxExtent) return bad_attr("size", "must be at least 1");
  return std::vector<TensorType>{c.type(0)};
}

// Sums of the squares of windows. Prefix sums keep a wide window linear; infinities and NaN are counted, as
// differences of them would be NaN for the windows behind.
class SquareSums {
 public:
  explicit SquareSums(const std::vector<double>& x) : before_(x.size() + 1) {
    for (size_t k = 0; k < x.size(); ++k) {
      const double square = x[k] * x[k];
      before_[k + 1] = before_[k];
      if (std::isfinite(square)) before_[k + 1].finite += square;
      before_[k + 1].infinite += std::isinf(square) ? 1 : 0;
      before_[k + 1].nan += std::isnan(square) ? 1 : 0;
    }
  }
  double of(const Window& w) const {
    const Sums &past = before_[at(w.last)], &first = before_[at(w.first)];
    if (past.nan != first.nan) return NAN;
    return past.infinite != first.infinite ? INFINITY : past.finite - first.finite;
  }

 private:
  struct Sums {
    double finite = 0;
    int64_t infinite = 0, nan = 0;
  };
  std::vector<Sums> before_;
};

Status eval_lrn(const EvalContext& c) {
  InferContext v = c.infer_view();
  int64_t size = v.int_attr("size");
  double scale = static_cast<double>(v.float_attr("alpha")) / static_cast<double>(size);
  auto beta = static_cast<double>(v.float_attr("beta")), bias = static_cast<double>(v.float_attr("bias"));
  map_lanes(c, axis_view(c.in(0).shape(), 1), [&](std::vector<double>& x) {
    const SquareSums sums(x);
    for (size_t k = 0; k < x.size(); ++k)
      x[k] /= std::pow(
          bias + scale * sums.of(window_at(static_cast<int64_t>(k), size, static_cast<int64_t>(x.size()))),
          beta);
  });
  return {};
}

// base^beta of a base that is no less than zero; roots are vector code where pow is a call.
std::string power_text(const std::string& base, double beta, ElementType elem) {
  const std::string_view f = elem == ElementType::F64 ? "" : "f";
  if (beta == 1) return base;
  if (beta == 0.5) return fmt::format("sqrt{}({})", f, base);
  if (beta == 0.75) return fmt::format("(sqrt{0}({1}) * sqrt{0}(sqrt{0}({1})))", f, base);
  return fmt::format("pow{}({}, {})", f, base, c_literal(beta, elem));
}

// Sums of squares are made in the result, channel by channel of the window.
Status emit_lrn(EmitContext& c) {
  MRVLC_TRY(require_widened(c));
  set_same_dims(c);
  if (c.out_type(0).elements() == 0) return {};
  const AxisText view(c, 0, 1);
  const ElementType elem = c.in_type(0).elem;
  const ir::Node& node = c.node();
  const int64_t size = node.int_attr("size");
  auto literal = [&](double value) { return c_literal(value, elem); };
  const std::string base =
      fmt::format("({} + {} * y[i])", literal(static_cast<double>(node.float_attr("bias"))),
                  literal(static_cast<double>(node.float_attr("alpha")) / static_cast<double>(size)));
  auto each = [&](const std::string& statement) {
    c.line(fmt::format("for (ptrdiff_t i = 0; i < {}; ++i) {}", view.inner, statement));
  };
  c.shared_loop("row", times(view.outer, view.n), (size + 20) * c.in_type(0).elements());
  c.line(fmt::format("const ptrdiff_t k = row % {};", view.n));
  c.line(fmt::format("const ptrdiff_t first = k > {0} ? k - {0} : 0;", (size - 1) / 2));
  c.line(fmt::format("const ptrdiff_t last = k + {0} < {1} ? k + {0} : {1};", size / 2 + 1, view.n));
  c.line(fmt::format("const {}* x = {} + row * {};", c_type(elem), c.in(0), view.inner));
  c.line(fmt::format("{}* y = {} + row * {};", c_type(elem), c.out(0), view.inner));
  each("y[i] = 0;");
  c.open("for (ptrdiff_t j = first; j < last; ++j)");
  c.line(fmt::format("const {}* z = x + (j - k) * {};", c_type(elem), view.inner));
  each("y[i] += z[i] * z[i];");
  c.close();
  each(
      fmt::format("y[i] = x[i] / {};", power_text(base, static_cast<double>(node.float_attr("beta")), elem)));
  c.close();
  return {};
}

}  // namespace

const OpDef& def_LRN() {
  static const OpDef op = [] {
    OpDef d;
    d.name = "LRN";
    d.traits = {.work = Work::Counted};
    d.attrs = {spec::with_float("alpha", 1e-4f), spec::with_float("beta", 0.75f), spec::with_float("bias", 1),
               spec::required("size", ir::AttrKind::Int)};
    d.types = spec::kFloats;
    d.infer = infer_lrn;
    d.eval = eval_lrn;
    d.emit = d.emit_dynamic = emit_lrn;
    d.declined = "accelerator: no layer sums over neighbouring channels";
    return d;
  }();
  return op;
}

}  // namespace mrvlc::ops
