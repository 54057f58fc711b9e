// Adagrad, Adam and Momentum (ai.onnx.preview.training -1): one step of training. After the learning rate R
// and the number of steps T come the tensors to optimise, then their gradients, then each of their states;
// results are the new tensors, then the new states. With g = norm_coefficient * x + gradient:
//   Adagrad   h += g * g    x -= R / (1 + T * decay_factor) * g / (sqrt(h) + epsilon)
//   Adam      v = alpha v + (1 - alpha) g    h = beta h + (1 - beta) g * g
//             x = (1 - norm_coefficient_post) * (x - r * v / (sqrt(h) + epsilon)),
//             r = R * sqrt(1 - beta^T) / (1 - alpha^T) for T > 0, else R
//   Momentum  v = alpha v + (T > 0 ? beta : 1) * g    x -= R * v, or with Nesterov's R * (g + alpha v)
#include <cmath>

#include "common/emit_util.h"
#include "elementwise/elementwise.h"
#include "mrvlc/ops/op_kind.h"
#include "mrvlc/support/diag/ops.h"

namespace mrvlc::ops {
namespace {

using namespace spec;

// One element with its gradient, regularised, and its states.
struct Element {
  double x = 0, g = 0;
  double state[2] = {0, 0};
};

struct Rule {
  size_t states;
  // What the learning rate becomes at step T.
  double (*factor)(double rate, double step, const Attrs& attrs);
  void (*update)(Element& e, double factor, double step, const Attrs& attrs);
  // The same in C: an expression of `rate` and `step`, in double; statements on the element's x, gradient g,
  // results y, and states old0, new0 (and old1, new1). {NAME} is an attribute, {t} and {f} as in
  // elementwise.h.
  std::string_view c_factor;
  std::vector<std::string_view> c_update;
};

// Attributes by their slots, in the order of the definitions below.
const Rule& adagrad() {
  static const Rule rule{
      1,
      [](double rate, double step, const Attrs& a) { return rate / (1 + step * float_slot(a, 0)); },
      [](Element& e, double factor, double, const Attrs& a) {
        e.state[0] += e.g * e.g;
        e.x -= factor * e.g / (std::sqrt(e.state[0]) + float_slot(a, 1));
      },
      "rate / (1 + step * {decay_factor})",
      {"new0[i] = old0[i] + g * g;", "y[i] = x[i] - factor * g / (sqrt{f}(new0[i]) + {epsilon});"}};
  return rule;
}

const Rule& adam() {
  static const Rule rule{
      2,
      [](double rate, double step, const Attrs& a) {
        if (!(step > 0)) return rate;
        return rate * std::sqrt(1 - std::pow(float_slot(a, 1), step)) /
               (1 - std::pow(float_slot(a, 0), step));
      },
      [](Element& e, double factor, double, const Attrs& a) {
        const double alpha = float_slot(a, 0), beta = float_slot(a, 1);
        e.state[0] = alpha * e.state[0] + (1 - alpha) * e.g;
        e.state[1] = beta * e.state[1] + (1 - beta) * e.g * e.g;
        e.x -= factor * e.state[0] / (std::sqrt(e.state[1]) + float_slot(a, 2));
        e.x *= 1 - float_slot(a, 4);
      },
      "step > 0 ? rate * sqrt(1 - pow({beta}, step)) / (1 - pow({alpha}, step)) : rate",
      {"new0[i] = {alpha} * old0[i] + (1 - {alpha}) * g;",
       "new1[i] = {beta} * old1[i] + (1 - {beta}) * g * g;",
       "y[i] = (1 - {norm_coefficient_post}) * (x[i] - factor * new0[i] / (sqrt{f}(new1[i]) + {epsilon}));"}};
  return rule;
}

void move_velocity(Element& e, double step, const Attrs& a) {
  e.state[0] = float_slot(a, 0) * e.state[0] + (step > 0 ? float_slot(a, 1) : 1) * e.g;
}

const Rule& momentum(bool nesterov) {
  static const auto plain = [](double rate, double, const Attrs&) { return rate; };
  static const Rule standard_rule{
      1,
      plain,
      [](Element& e, double factor, double step, const Attrs& a) {
        move_velocity(e, step, a);
        e.x -= factor * e.state[0];
      },
      "rate",
      {"new0[i] = {alpha} * old0[i] + (step > 0 ? {beta} : 1) * g;", "y[i] = x[i] - factor * new0[i];"}};
  static const Rule nesterov_rule{1,
                                  plain,
                                  [](Element& e, double factor, double step, const Attrs& a) {
                                    move_velocity(e, step, a);
                                    e.x -= factor * (e.g + float_slot(a, 0) * e.state[0]);
                                  },
                                  "rate",
                                  {"new0[i] = {alpha} * old0[i] + (step > 0 ? {beta} : 1) * g;",
                                   "y[i] = x[i] - factor * (g + {alpha} * new0[i]);"}};
  return nesterov ? nesterov_rule : standard_rule;
}

Result<const Rule*> rule_of(const InferContext& context) {
  if (context.op->kind == Op::Adagrad) return &adagrad();
  if (context.op->kind == Op::Adam) return &adam();
  const std::string& mode = context.string_attr("mode");
  if (mode != "standard" && mode != "nesterov")
    return bad_attr("mode", fmt::format("has the unknown value '{}'", printable(mode)));
  return &momentum(mode == "nesterov");
}

constexpr size_t kFirst = 2;  // R and T come before the tensors

// How many tensors are optimised.
size_t tensors(size_t inputs, const Rule& rule) {
  return (inputs - kFirst) / (2 + rule.states);
}

Result<std::vector<TensorType>> infer_optimizer(const InferContext& context) {
  MRVLC_ASSIGN(const Rule* rule, rule_of(context));
  const size_t inputs = context.num_inputs(), groups = 2 + rule->states;
  if (inputs <= kFirst || (inputs - kFirst) % groups != 0)
    return bad_operands(fmt::format("{} operands are not R, T and {} for each tensor", inputs, groups));
  MRVLC_TRY(check_elem(context, 1, types_of({E::I64})));
  if (context.type(0).elements() != 1 || context.type(1).elements() != 1)
    return bad_operands("the learning rate and the number of steps are one number each");
  const size_t n = tensors(inputs, *rule);
  std::vector<TensorType> types;
  for (size_t i = kFirst; i < inputs; ++i) {
    const TensorType& x = context.type(kFirst + (i - kFirst) % n);
    MRVLC_TRY(check_elem(context, i, types_of({E::F32, E::F64})));
    if (context.type(i) != x)
      return make_diag<DiagCode::MRV0205>(to_string(x.shape), to_string(context.type(i).shape),
                                          fmt::format("input {} must have the first", i));
    if (i < kFirst + n || i >= kFirst + 2 * n) types.push_back(x);
  }
  if (context.num_outputs > types.size()) return bad_operands("there are more results than new values");
  return types;
}

// The slot of the attribute that regularises.
double norm_coefficient(const ir::OpSchema& op, const Attrs& attrs) {
  return float_slot(attrs, at(op.attr_index("norm_coefficient")));
}

Status eval_optimizer(const EvalContext& context) {
  MRVLC_ASSIGN(const Rule* rule, rule_of(context.infer_view()));
  const size_t n = tensors(context.inputs.size(), *rule);
  const double step = context.in(1).as_double(0), norm = norm_coefficient(*context.op, *context.attrs);
  const double factor = rule->factor(context.in(0).as_double(0), step, *context.attrs);
  for (size_t k = 0; k < n; ++k) {
    for (int64_t i = 0; i < context.in(kFirst + k).elements(); ++i) {
      Element e{context.in(kFirst + k).as_double(i), context.in(kFirst + n + k).as_double(i), {}};
      e.g += norm * e.x;
      for (size_t s = 0; s < rule->states; ++s)
        e.state[s] = context.in(kFirst + (2 + s) * n + k).as_double(i);
      rule->update(e, factor, step, *context.attrs);
      auto store = [&](size_t output, double v) {
        if (output < context.outputs->size()) context.out(output).set_double(i, v);
      };
      store(k, e.x);
      for (size_t s = 0; s < rule->states; ++s) store((1 + s) * n + k, e.state[s]);
    }
  }
  return {};
}

Status emit_optimizer(EmitContext& context) {
  MRVLC_ASSIGN(const Rule* rule, rule_of(emit_view(context)));
  const size_t n = tensors(context.node().inputs.size(), *rule);
  if (context.node().outputs.size() != (1 + rule->states) * n)
    return bad_operands("C is emitted for all results of an optimiser together");
  auto expand = [&](std::string_view text, ElementType elem) {
    return expand_pattern(text, context, {}, elem);
  };
  context.line(
      fmt::format("const double rate = (double){}[0], step = (double){}[0];", context.in(0), context.in(1)));
  context.line(fmt::format("const double r = {};", expand(rule->c_factor, E::F64)));
  for (size_t k = 0; k < n; ++k) {
    const ElementType elem = context.in_type(kFirst + k).elem;
    const std::string_view t = c_type(elem);
    if (context.in_type(kFirst + k).elements() == 0) continue;
    context.open("");
    context.line(fmt::format("const {0} factor = ({0})r, *x = {1}, *gradient = {2};", t,
                             context.in(kFirst + k), context.in(kFirst + n + k)));
    context.line(fmt::format("{}* y = {};", t, context.out(k)));
    for (size_t s = 0; s < rule->states; ++s) {
      context.line(fmt::format("const {}* old{} = {};", t, s, context.in(kFirst + (2 + s) * n + k)));
      context.line(fmt::format("{}* new{} = {};", t, s, context.out((1 + s) * n + k)));
    }
    context.loop("i", context.in_type(kFirst + k).elements());
    context.line(expand("const {t} g = gradient[i] + {norm_coefficient} * x[i];", elem));
    for (std::string_view statement : rule->c_update) context.line(expand(statement, elem));
    context.close();
    context.close();
  }
  return {};
}

OpDef optimizer(std::string_view name, std::vector<ir::AttrSpec> attrs) {
  OpDef d;
  d.name = name;
  d.domain = "ai.onnx.preview.training";
  d.since_max = 1;
  d.attrs = std::move(attrs);
  d.min_inputs = 3;
  d.max_inputs = d.max_outputs = -1;
  d.types = types_of({E::F32, E::F64});
  d.infer = infer_optimizer;
  d.eval = eval_optimizer;
  d.emit = emit_optimizer;
  d.declined = "accelerator: steps of training stay on the host";
  return d;
}

}  // namespace

const OpDef& def_Adagrad() {
  static const OpDef def = optimizer("Adagrad", {with_float("decay_factor", 0), with_float("epsilon", 1e-6f),
                                                 with_float("norm_coefficient", 0)});
  return def;
}

const OpDef& def_Adam() {
  static const OpDef def =
      optimizer("Adam", {with_float("alpha", 0.9f), with_float("beta", 0.999f), with_float("epsilon", 1e-6f),
                         with_float("norm_coefficient", 0), with_float("norm_coefficient_post", 0)});
  return def;
}

const OpDef& def_Momentum() {
  static const OpDef def =
      optimizer("Momentum",
                {required("alpha", ir::AttrKind::Float), required("beta", ir::AttrKind::Float),
                 required("mode", ir::AttrKind::String), required("norm_coefficient", ir::AttrKind::Float)});
  return def;
}

}  // namespace mrvlc::ops
