// Activations of the recurrent operators (ONNX RNN-22).
#include <algorithm>
#include <cmath>

#include "common/emit_util.h"
#include "mrvlc/support/diag/ops.h"
#include "recurrent/recurrent.h"

namespace mrvlc::ops {
namespace {

struct Form {
  std::string_view name;
  bool has_alpha, has_beta;
  double alpha, beta;  // by default; NaN: there is none
  double (*apply)(double x, double a, double b);
  std::string_view c_text;  // of {x}, {a}, {b}, {f} and functions
};

double sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}

constexpr Form kForms[] = {
    {"relu", false, false, 0, 0, [](double x, double, double) { return std::max(x, 0.0); },
     "{x} > 0 ? {x} : 0"},
    {"tanh", false, false, 0, 0, [](double x, double, double) { return std::tanh(x); }, "{tanh}({x})"},
    {"sigmoid", false, false, 0, 0, [](double x, double, double) { return sigmoid(x); },
     "1.0{f} / (1.0{f} + {exp}(-{x}))"},
    {"affine", true, true, 1, 0, [](double x, double a, double b) { return a * x + b; }, "{a} * {x} + {b}"},
    {"leakyrelu", true, false, static_cast<double>(0.01f), 0,
     [](double x, double a, double) { return x >= 0 ? x : a * x; }, "{x} >= 0 ? {x} : {a} * {x}"},
    {"thresholdedrelu", true, false, 1, 0, [](double x, double a, double) { return x >= a ? x : 0; },
     "{x} >= {a} ? {x} : 0"},
    {"scaledtanh", true, true, NAN, NAN, [](double x, double a, double b) { return a * std::tanh(b * x); },
     "{a} * {tanh}({b} * {x})"},
    {"hardsigmoid", true, true, static_cast<double>(0.2f), 0.5,
     [](double x, double a, double b) { return std::min(std::max(a * x + b, 0.0), 1.0); },
     "fmin{f}(fmax{f}({a} * {x} + {b}, 0), 1)"},
    {"elu", true, false, 1, 0, [](double x, double a, double) { return x >= 0 ? x : a * std::expm1(x); },
     "{x} >= 0 ? {x} : {a} * {expm1}({x})"},
    {"softsign", false, false, 0, 0, [](double x, double, double) { return x / (1 + std::fabs(x)); },
     "{x} / (1 + fabs{f}({x}))"},
    {"softplus", false, false, 0, 0,
     [](double x, double, double) { return std::max(x, 0.0) + std::log1p(std::exp(-std::fabs(x))); },
     "({x} > 0 ? {x} : 0) + {log1p}({exp}(-fabs{f}({x})))"},
};

const Form* find_form(std::string_view name) {
  for (const Form& f : kForms) {
    if (f.name == name) return &f;
  }
  return nullptr;
}

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  return text;
}

// The next value of a list of parameters, the default behind its end.
double next(const std::vector<float>& values, size_t& used, double fallback) {
  return used < values.size() ? static_cast<double>(values[used++]) : fallback;
}

std::vector<float> floats(const InferContext& context, std::string_view attr) {
  return is_attr_set(context, attr) ? std::get<std::vector<float>>(context.attr(attr)) : std::vector<float>();
}

}  // namespace

double Activation::apply(double x) const {
  return find_form(name)->apply(x, alpha, beta);
}

std::string Activation::text(EmitContext& context, std::string_view x, ElementType elem) const {
  const std::string_view text = find_form(name)->c_text;
  auto function = [&](const char* f) {  // only those that are called are made
    return text.find(fmt::format("{{{}}}", f)) == text.npos ? std::string() : math_function(context, f, elem);
  };
  return fmt::format(fmt::runtime(text), fmt::arg("x", x), fmt::arg("a", c_literal(alpha, elem)),
                     fmt::arg("b", c_literal(beta, elem)), fmt::arg("f", elem == ElementType::F64 ? "" : "f"),
                     fmt::arg("exp", function("exp")), fmt::arg("expm1", function("expm1")),
                     fmt::arg("log1p", function("log1p")), fmt::arg("tanh", function("tanh")));
}

// Values of activation_alpha and activation_beta go to the activations that have such a parameter, in order.
Result<std::vector<Activation>> recurrent_activations(const InferContext& context,
                                                      const std::vector<std::string_view>& defaults,
                                                      int64_t directions) {
  std::vector<std::string> names;
  if (is_attr_set(context, "activations")) {
    names = std::get<std::vector<std::string>>(context.attr("activations"));
  } else {
    for (int64_t d = 0; d < directions; ++d) names.insert(names.end(), defaults.begin(), defaults.end());
  }
  if (names.size() != defaults.size() * at(directions)) {
    return bad_attr("activations", fmt::format("has {} entries, expected {}", names.size(),
                                               defaults.size() * at(directions)));
  }
  const std::vector<float> alphas = floats(context, "activation_alpha");
  const std::vector<float> betas = floats(context, "activation_beta");
  std::vector<Activation> out;
  size_t alphas_used = 0, betas_used = 0;
  for (const std::string& name : names) {
    const Form* form = find_form(lower(name));
    if (form == nullptr)
      return bad_attr("activations", fmt::format("names the unknown '{}'", printable(name)));
    Activation a{std::string(form->name), form->alpha, form->beta};
    if (form->has_alpha) a.alpha = next(alphas, alphas_used, a.alpha);
    if (form->has_beta) a.beta = next(betas, betas_used, a.beta);
    if (std::isnan(a.alpha + a.beta))
      return bad_attr("activations", "names ScaledTanh, but gives it no parameters");
    out.push_back(std::move(a));
  }
  return out;
}

}  // namespace mrvlc::ops
