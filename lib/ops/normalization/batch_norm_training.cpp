// BatchNormalization in training mode (ONNX -15): the statistics are those of the batch, and the running ones
// move towards them, running = running * momentum + current * (1 - momentum).
#include "normalization/batch_norm_training.h"

#include <cmath>

#include "common/bulk.h"
#include "common/dynamic_util.h"
#include "common/emit_util.h"
#include "common/lanes.h"

namespace mrvlc::ops {

Status eval_batch_norm_training(const EvalContext& c) {
  const InferContext view_of = c.infer_view();
  const auto epsilon = static_cast<double>(view_of.float_attr("epsilon"));
  const auto momentum = static_cast<double>(view_of.float_attr("momentum"));
  const AxisView view = axis_view(c.in(0).shape(), 1);
  std::vector<double> x(at(view.outer * view.inner));
  for (int64_t channel = 0; channel < view.n && !x.empty(); ++channel) {
    auto runs = [&](auto f) {
      for (int64_t b = 0; b < view.outer; ++b)
        f((b * view.n + channel) * view.inner, x.data() + b * view.inner);
    };
    runs([&](int64_t first, double* to) { load_run(c.in(0), first, 1, view.inner, to); });
    double mean = 0, variance = 0;
    for (double v : x) mean += v / static_cast<double>(x.size());
    for (double v : x) variance += (v - mean) * (v - mean) / static_cast<double>(x.size());
    const double factor = c.in(1).as_double(channel) / std::sqrt(variance + epsilon);
    for (double& v : x) v = (v - mean) * factor + c.in(2).as_double(channel);
    runs([&](int64_t first, const double* from) { store_run(c.out(), first, 1, view.inner, from); });
    const double current[] = {mean, variance};
    for (size_t k = 0; k < 2 && k + 1 < c.outputs->size(); ++k)
      c.out(k + 1).set_double(channel,
                              c.in(3 + k).as_double(channel) * momentum + current[k] * (1 - momentum));
  }
  return {};
}

// The running statistics take the dimensions of the ones that come in.
Status emit_batch_norm_training(EmitContext& c) {
  MRVLC_TRY(require_widened(c));
  c.fail_if(fmt::format("{} == 0", product_text(in_dims(c, 0))));
  set_same_dims(c);
  for (size_t k = 1; k < c.node().outputs.size(); ++k) c.set_dims(k, in_dims(c, 2 + k));
  if (c.out_type(0).elements() == 0) return {};
  const AxisText view(c, 0, 1);
  const ElementType elem = c.in_type(0).elem;
  const std::string_view t = c_type(elem), f = elem == ElementType::F64 ? "" : "f";
  const auto momentum = static_cast<double>(c.node().float_attr("momentum"));
  auto each_run = [&](const std::function<void()>& body) {
    open_loop(c, "b", view.outer);
    c.line(fmt::format("const {}* x = {} + (b * {} + c) * {};", t, c.in(0), view.n, view.inner));
    body();
    c.close();
  };
  c.line(fmt::format("const {0} count = ({0})({1});", t, times(view.outer, view.inner)));
  open_loop(c, "c", view.n);
  c.line(fmt::format("{} mean = 0, variance = 0;", t));
  each_run([&] {
    emit_sum(c, "sum", elem, view.inner, [](const std::string& i) { return fmt::format("x[{}]", i); });
    c.line("mean += sum;");
  });
  c.line("mean /= count;");
  each_run([&] {
    emit_sum(c, "sum", elem, view.inner,
             [](const std::string& i) { return fmt::format("(x[{0}] - mean) * (x[{0}] - mean)", i); });
    c.line("variance += sum;");
  });
  c.line("variance /= count;");
  c.line(fmt::format("const {0} factor = ({0}){1}[c] / sqrt{2}(variance + {3});", t, c.in(1), f,
                     c_literal(static_cast<double>(c.node().float_attr("epsilon")), elem)));
  each_run([&] {
    c.line(fmt::format("{}* y = {} + (b * {} + c) * {};", t, c.out(0), view.n, view.inner));
    c.line(fmt::format("for (ptrdiff_t i = 0; i < {}; ++i) y[i] = (x[i] - mean) * factor + ({}){}[c];",
                       view.inner, t, c.in(2)));
  });
  for (size_t k = 1; k < c.node().outputs.size(); ++k) {
    const std::string_view own = c_type(c.out_type(k).elem);
    c.line(fmt::format("{0}[c] = ({1})(({2}){3}[c] * {4} + {5} * {6});", c.out(k), own, t, c.in(2 + k),
                       c_literal(momentum, elem), k == 1 ? "mean" : "variance",
                       c_literal(1 - momentum, elem)));
  }
  c.close();
  return {};
}

}  // namespace mrvlc::ops
