// SVMRegressor and SVMClassifier (ai.onnx.ml, version 1). ONNX says little about them; the arrangement of
// coefficients, votes and probabilities is that of LIBSVM (C.-C. Chang and C.-J. Lin, 2011), from whose
// models such nodes are made.
#include <algorithm>
#include <cmath>

#include "ml/ml.h"

namespace mrvlc::ops {
namespace {

using namespace spec;

enum class Kernel : uint8_t { Linear, Poly, Rbf, Sigmoid };

struct Machine {
  ml::Rows x;
  Kernel kernel = Kernel::Linear;
  double gamma = 0, coef0 = 0, degree = 0;
  int64_t vectors = 0;  // 0: the coefficients are weights of the features
  std::vector<float> support, coefficients, rho;
  ml::Post post = ml::Post::None;
};

Result<Machine> machine(const InferContext& context, int64_t vectors) {
  Machine m;
  MRVLC_ASSIGN(m.x, ml::rows_of(context));
  MRVLC_ASSIGN(m.post, ml::post_transform(context));
  MRVLC_ASSIGN(size_t kernel, ml::choice(context, "kernel_type", {"LINEAR", "POLY", "RBF", "SIGMOID"}));
  m.kernel = static_cast<Kernel>(kernel);
  const auto& params = ml::floats(context, "kernel_params");
  if (!params.empty() && params.size() != 3) return bad_attr("kernel_params", "must be three numbers");
  if (!params.empty()) {
    m.gamma = static_cast<double>(params[0]);
    m.coef0 = static_cast<double>(params[1]);
    m.degree = static_cast<double>(params[2]);
  }
  m.vectors = vectors;
  m.support = ml::floats(context, "support_vectors");
  m.coefficients = ml::floats(context, "coefficients");
  m.rho = ml::floats(context, "rho");
  if (m.x.cols == 0) return bad_operands("there are no features");
  const bool few = vectors >= 0 && vectors <= kMaxExtent;
  if (!few || checked_mul(vectors, m.x.cols) != static_cast<int64_t>(m.support.size()))
    return bad_attr("support_vectors", fmt::format("must be {} vectors of {} features", vectors, m.x.cols));
  return m;
}

Status need_count(const std::vector<float>& v, std::string_view attr, int64_t count) {
  if (static_cast<int64_t>(v.size()) == count) return {};
  return bad_attr(attr, fmt::format("has {} numbers, expected {}", v.size(), count));
}

double kernel_value(const Machine& m, const Tensor& x, int64_t n, const float* v) {
  double sum = 0;
  for (int64_t c = 0; c < m.x.cols; ++c) {
    double a = x.as_double(n * m.x.cols + c), b = static_cast<double>(v[c]);
    sum += m.kernel == Kernel::Rbf ? (a - b) * (a - b) : a * b;
  }
  if (m.kernel == Kernel::Poly) return std::pow(m.gamma * sum + m.coef0, m.degree);
  if (m.kernel == Kernel::Rbf) return std::exp(-m.gamma * sum);
  return m.kernel == Kernel::Sigmoid ? std::tanh(m.gamma * sum + m.coef0) : sum;
}

std::string f32(double v) {
  return c_literal(v, E::F32);
}

// float TARGET = kernel of x and the C pointer `v`; leaves a block of its own.
void emit_kernel(EmitContext& context, const Machine& m, std::string_view target, std::string_view v) {
  context.open("");
  context.line(fmt::format("const float* v = {};", v));
  context.line("float dot = 0.0f;");
  context.line(fmt::format(
      "for (ptrdiff_t c = 0; c < {}; ++c) dot += {};", m.x.cols,
      m.kernel == Kernel::Rbf ? "((float)x[c] - v[c]) * ((float)x[c] - v[c])" : "(float)x[c] * v[c]"));
  std::string affine = fmt::format("{} * dot + {}", f32(m.gamma), f32(m.coef0)), value = "dot";
  if (m.kernel == Kernel::Poly) value = fmt::format("powf({}, {})", affine, f32(m.degree));
  if (m.kernel == Kernel::Rbf) value = fmt::format("expf({} * dot)", f32(-m.gamma));
  if (m.kernel == Kernel::Sigmoid) value = fmt::format("tanhf({})", affine);
  context.line(fmt::format("{} = {};", target, value));
  context.close();
}

// -- SVMRegressor

Result<Machine> svm_regressor(const InferContext& context) {
  int64_t vectors = ml::floats(context, "support_vectors").empty() ? 0 : context.int_attr("n_supports");
  MRVLC_ASSIGN(Machine m, machine(context, vectors));
  MRVLC_TRY(need_count(m.coefficients, "coefficients", vectors > 0 ? vectors : m.x.cols));
  MRVLC_TRY(need_count(m.rho, "rho", 1));
  if (vectors == 0) m.kernel = Kernel::Linear;
  return m;
}

Result<std::vector<TensorType>> infer_svm_regressor(const InferContext& context) {
  MRVLC_ASSIGN(Machine m, svm_regressor(context));
  return one_type(E::F32, {m.x.rows, 1});
}

double regression(const Machine& m, const Tensor& x, int64_t n) {
  double sum = static_cast<double>(m.rho[0]);
  if (m.vectors == 0) return sum + kernel_value(m, x, n, m.coefficients.data());
  for (int64_t v = 0; v < m.vectors; ++v)
    sum +=
        static_cast<double>(m.coefficients[at(v)]) * kernel_value(m, x, n, m.support.data() + v * m.x.cols);
  return sum;
}

Status eval_svm_regressor(const EvalContext& context) {
  MRVLC_ASSIGN(Machine m, svm_regressor(context.infer_view()));
  bool one_class = context.infer_view().int_attr("one_class") != 0;
  for (int64_t n = 0; n < m.x.rows; ++n) {
    std::vector<double> score{regression(m, context.in(0), n)};
    if (one_class) score[0] = score[0] > 0 ? 1 : -1;
    ml::apply(m.post, score);
    context.out().set_double(n, score[0]);
  }
  return {};
}

Status emit_svm_regressor(EmitContext& context) {
  ml::set_row_dims(context);
  MRVLC_ASSIGN(Machine m, svm_regressor(emit_view(context)));
  if (m.x.rows == 0) return {};
  std::string coefficients = ml::table_of(context, E::F32, m.coefficients);
  std::string support = m.vectors > 0 ? ml::table_of(context, E::F32, m.support) : "";
  ml::open_rows(context, m.x);
  context.line(fmt::format("float sum = {}, k;", f32(static_cast<double>(m.rho[0]))));
  if (m.vectors == 0) {
    emit_kernel(context, m, "k", coefficients);
    context.line("sum += k;");
  } else {
    context.loop("i", m.vectors);
    emit_kernel(context, m, "k", fmt::format("{} + i * {}", support, m.x.cols));
    context.line(fmt::format("sum += {}[i] * k;", coefficients));
    context.close();
  }
  bool one_class = emit_view(context).int_attr("one_class") != 0;
  context.line(fmt::format("{}[n] = {};", context.out(0), one_class ? "sum > 0.0f ? 1.0f : -1.0f" : "sum"));
  ml::emit_apply(context, m.post, E::F32, fmt::format("({} + n)", context.out(0)), 1);
  context.close();
  return {};
}

// -- SVMClassifier: one against one; without support vectors one linear score a class

struct SvmClassifier {
  Machine m;
  ml::List labels;
  std::vector<int64_t> first;         // support vectors of class i: [first[i], first[i + 1])
  std::vector<float> prob_a, prob_b;  // of each pair; empty: scores are raw
  int64_t classes() const { return static_cast<int64_t>(ml::size_of(labels)); }
  int64_t pairs() const { return classes() * (classes() - 1) / 2; }
  bool voting() const { return m.vectors > 0; }
  bool probabilities() const { return !prob_a.empty(); }
  // Two linear scores: ONNX Runtime takes the second label as soon as one of them is above this.
  bool thresholded() const { return !voting() && classes() == 2; }
  double threshold() const {
    bool positive = std::all_of(m.coefficients.begin(), m.coefficients.end(), [](float c) { return c >= 0; });
    return positive ? std::nextafterf(0.5F, 0) : 0;
  }
  bool complement() const { return m.post != ml::Post::None; }
  // Scores before those of two classes are made of one.
  int64_t scores() const { return voting() && !probabilities() ? pairs() : classes(); }
  int64_t columns() const { return std::max<int64_t>(scores(), 2); }
};

Result<SvmClassifier> svm_classifier(const InferContext& context) {
  SvmClassifier p;
  MRVLC_ASSIGN(p.labels, ml::labels_of(context, "classlabels_ints", "classlabels_strings"));
  if (p.classes() < 2 || p.classes() > 4096) return bad_operands("there must be 2 to 4096 labels");
  int64_t vectors = 0;
  p.first = {0};
  for (int64_t count : context.ints_attr("vectors_per_class")) {
    if (count < 0 || count > kMaxExtent || vectors > kMaxExtent)
      return bad_attr("vectors_per_class", "has an impossible number");
    p.first.push_back(vectors += count);
  }
  MRVLC_ASSIGN(p.m, machine(context, vectors));
  p.prob_a = ml::floats(context, "prob_a");
  p.prob_b = ml::floats(context, "prob_b");
  if (!p.voting()) {
    p.m.kernel = Kernel::Linear;
    if (p.probabilities()) return bad_attr("prob_a", "needs support vectors");
    MRVLC_TRY(need_count(p.m.coefficients, "coefficients", p.classes() * p.m.x.cols));
    MRVLC_TRY(need_count(p.m.rho, "rho", 1));
    return p;
  }
  if (static_cast<int64_t>(p.first.size()) != p.classes() + 1)
    return bad_attr("vectors_per_class", "must be one number for each label");
  MRVLC_TRY(need_count(p.m.coefficients, "coefficients", (p.classes() - 1) * vectors));
  MRVLC_TRY(need_count(p.m.rho, "rho", p.pairs()));
  MRVLC_TRY(need_count(p.prob_a, "prob_a", p.probabilities() ? p.pairs() : 0));
  MRVLC_TRY(need_count(p.prob_b, "prob_b", p.probabilities() ? p.pairs() : 0));
  if (p.scores() == 1 && p.m.post == ml::Post::Probit)
    return bad_attr("post_transform", "is PROBIT of one score for two labels, which has no agreed meaning");
  return p;
}

Result<std::vector<TensorType>> infer_svm_classifier(const InferContext& context) {
  MRVLC_ASSIGN(SvmClassifier p, svm_classifier(context));
  return std::vector<TensorType>{{ml::label_type(p.labels), {p.m.x.rows}},
                                 {E::F32, {p.m.x.rows, p.columns()}}};
}

// Decision values of all pairs (i, j), i < j; votes for the winner of each.
std::vector<double> decisions(const SvmClassifier& p, const Tensor& x, int64_t n,
                              std::vector<double>& votes) {
  std::vector<double> kernels, out;
  for (int64_t v = 0; v < p.m.vectors; ++v)
    kernels.push_back(kernel_value(p.m, x, n, p.m.support.data() + v * p.m.x.cols));
  votes.assign(at(p.classes()), 0);
  auto part = [&](int64_t of, int64_t row) {
    double sum = 0;
    for (int64_t v = p.first[at(of)]; v < p.first[at(of + 1)]; ++v)
      sum += static_cast<double>(p.m.coefficients[at(row * p.m.vectors + v)]) * kernels[at(v)];
    return sum;
  };
  for (int64_t i = 0; i < p.classes(); ++i) {
    for (int64_t j = i + 1; j < p.classes(); ++j) {
      double sum = static_cast<double>(p.m.rho[out.size()]) + part(i, j - 1) + part(j, i);
      out.push_back(sum);
      votes[at(sum > 0 ? i : j)] += 1;
    }
  }
  return out;
}

// Probabilities of the classes from those of the pairs: the second method of T.-F. Wu, C.-J. Lin and R. Weng,
// "Probability estimates for multi-class classification by pairwise coupling", 2004, iterated as in LIBSVM.
std::vector<double> couple(const std::vector<double>& r, size_t k) {
  std::vector<double> q(k * k, 0), prob(k, 1.0 / static_cast<double>(k)), qp(k);
  for (size_t t = 0; t < k; ++t) {
    for (size_t j = 0; j < k; ++j) {
      if (j == t) continue;
      q[t * k + t] += r[j * k + t] * r[j * k + t];
      q[t * k + j] = -r[j * k + t] * r[t * k + j];
    }
  }
  double eps = 0.005 / static_cast<double>(k);
  for (size_t iter = 0; iter < std::max<size_t>(100, k); ++iter) {
    double pqp = 0, worst = 0;
    for (size_t t = 0; t < k; ++t) {
      qp[t] = 0;
      for (size_t j = 0; j < k; ++j) qp[t] += q[t * k + j] * prob[j];
      pqp += prob[t] * qp[t];
    }
    for (double v : qp) worst = std::max(worst, std::abs(v - pqp));
    if (worst < eps) break;
    for (size_t t = 0; t < k; ++t) {
      double diff = (pqp - qp[t]) / q[t * k + t];
      prob[t] += diff;
      pqp = (pqp + diff * (diff * q[t * k + t] + 2 * qp[t])) / (1 + diff) / (1 + diff);
      for (size_t j = 0; j < k; ++j) {
        qp[j] = (qp[j] + diff * q[t * k + j]) / (1 + diff);
        prob[j] /= 1 + diff;
      }
    }
  }
  return prob;
}

std::vector<double> probabilities(const SvmClassifier& p, const std::vector<double>& values) {
  auto k = at(p.classes());
  std::vector<double> r(k * k, 0);
  size_t pair = 0;
  for (size_t i = 0; i < k; ++i) {
    for (size_t j = i + 1; j < k; ++j, ++pair) {
      double logit = values[pair] * static_cast<double>(p.prob_a[pair]) + static_cast<double>(p.prob_b[pair]);
      r[i * k + j] = std::clamp(1 - ml::logistic(logit), 1e-7, 1 - 1e-7);
      r[j * k + i] = 1 - r[i * k + j];
    }
  }
  return couple(r, k);
}

Status eval_svm_classifier(const EvalContext& context) {
  MRVLC_ASSIGN(SvmClassifier p, svm_classifier(context.infer_view()));
  for (int64_t n = 0; n < p.m.x.rows; ++n) {
    std::vector<double> votes, scores;
    if (p.voting()) {
      scores = decisions(p, context.in(0), n, votes);
      if (p.probabilities()) scores = probabilities(p, scores);
    } else {
      for (int64_t k = 0; k < p.classes(); ++k)
        scores.push_back(kernel_value(p.m, context.in(0), n, p.m.coefficients.data() + k * p.m.x.cols) +
                         static_cast<double>(p.m.rho[0]));
      votes = scores;
    }
    size_t best = ml::greatest(votes);
    if (p.thresholded() && votes[best] > p.threshold()) best = 1;
    ml::set_element(context.out(0), n, p.labels, best);
    if (scores.size() == 1) {
      scores = ml::both_scores(scores[0], p.m.post, p.complement());
    } else {
      ml::apply(p.m.post, scores);
    }
    for (int64_t j = 0; context.outputs->size() > 1 && j < p.columns(); ++j)
      context.out(1).set_double(n * p.columns() + j, scores[at(j)]);
  }
  return {};
}

// float values[] = kernels of the support vectors, then the decision values; int32_t votes[].
void emit_decisions(EmitContext& context, const SvmClassifier& p) {
  std::string support = ml::table_of(context, E::F32, p.m.support),
              coefficients = ml::table_of(context, E::F32, p.m.coefficients);
  std::string first = ml::table_of(context, E::I64, p.first);
  std::string rho = ml::table_of(context, E::F32, p.m.rho);
  context.loop("i", p.m.vectors);
  emit_kernel(context, p.m, "kernels[i]", fmt::format("{} + i * {}", support, p.m.x.cols));
  context.close();
  context.line(fmt::format("for (ptrdiff_t i = 0; i < {}; ++i) votes[i] = 0;", p.classes()));
  context.line("ptrdiff_t pair = 0;");
  context.loop("i", p.classes());
  context.open(fmt::format("for (ptrdiff_t j = i + 1; j < {}; ++j, ++pair)", p.classes()));
  context.line(fmt::format("float sum = {}[pair];", rho));
  auto part = [&](std::string_view of, std::string_view row) {
    context.line(fmt::format(
        "for (int64_t v = {0}[{1}]; v < {0}[{1} + 1]; ++v) sum += {2}[{3} * {4} + v] * kernels[v];", first,
        of, coefficients, row, p.m.vectors));
  };
  part("i", "(j - 1)");
  part("j", "i");
  context.line("values[pair] = sum;");
  context.line("++votes[sum > 0.0f ? i : j];");
  context.close();
  context.close();
}

void emit_probabilities(EmitContext& context, const SvmClassifier& p) {
  std::string a = ml::table_of(context, E::F32, p.prob_a), b = ml::table_of(context, E::F32, p.prob_b);
  int64_t k = p.classes();
  context.line(fmt::format("double* r = (double*){};", context.scratch(8 * (2 * k * k + 2 * k))));
  context.open(fmt::format("for (ptrdiff_t i = 0, at = 0; i < {}; ++i)", k));
  context.open(fmt::format("for (ptrdiff_t j = i + 1; j < {}; ++j, ++at)", k));
  context.line(fmt::format(
      "const double q = 1.0 / (1.0 + exp((double)values[at] * (double){}[at] + (double){}[at]));", a, b));
  context.line(fmt::format("r[i * {} + j] = q < 1e-7 ? 1e-7 : q > 1 - 1e-7 ? 1 - 1e-7 : q;", k));
  context.line(fmt::format("r[j * {0} + i] = 1.0 - r[i * {0} + j];", k));
  context.close();
  context.close();
  context.line(fmt::format("{}(r, {}, z);", context.helper("couple"), k));
}

// Values of the classes themselves.
void emit_linear(EmitContext& context, const SvmClassifier& p) {
  std::string coefficients = ml::table_of(context, E::F32, p.m.coefficients);
  context.loop("i", p.classes());
  emit_kernel(context, p.m, "values[i]", fmt::format("{} + i * {}", coefficients, p.m.x.cols));
  context.line(fmt::format("values[i] += {};", f32(static_cast<double>(p.m.rho[0]))));
  context.close();
}

Status emit_svm_classifier(EmitContext& context) {
  ml::set_row_dims(context);
  MRVLC_ASSIGN(SvmClassifier p, svm_classifier(emit_view(context)));
  if (p.m.x.rows == 0) return {};
  int64_t values = p.voting() ? p.pairs() : p.classes();
  bool wants_scores = context.node().outputs.size() > 1;
  ml::ListTable labels(context, p.labels, ml::label_type(p.labels));
  context.line(fmt::format("float* values = (float*){};", context.scratch(values * 4)));
  if (p.voting()) {
    context.line(fmt::format("float* kernels = (float*){};", context.scratch(p.m.vectors * 4)));
    context.line(fmt::format("int32_t* votes = (int32_t*){};", context.scratch(p.classes() * 4)));
  }
  ml::open_rows(context, p.m.x);
  p.voting() ? emit_decisions(context, p) : emit_linear(context, p);
  ml::emit_greatest(context, p.voting() ? "votes" : "values", p.classes());
  if (p.thresholded())
    context.line(fmt::format("if (values[label] > {}) label = 1;", c_literal(p.threshold(), E::F32)));
  labels.emit_choice(context, fmt::format("{}[n]", context.out(0)), "label");
  if (wants_scores) {
    context.line(fmt::format("float* z = {} + n * {};", context.out(1), p.columns()));
    if (p.scores() == 1) {
      ml::emit_both(context, "values[0]", p.m.post, p.complement());
    } else {
      if (p.probabilities()) {
        emit_probabilities(context, p);
      } else {
        context.line(fmt::format("for (ptrdiff_t j = 0; j < {}; ++j) z[j] = values[j];", p.scores()));
      }
      ml::emit_apply(context, p.m.post, E::F32, "z", p.scores());
    }
  }
  context.close();
  return {};
}

OpDef machine_op(std::string_view name) {
  OpDef d = ml::op(name);
  d.attrs = {
      optional("coefficients", ir::AttrKind::Floats), optional("kernel_params", ir::AttrKind::Floats),
      with_string("kernel_type", "LINEAR"),           with_string("post_transform", "NONE"),
      optional("rho", ir::AttrKind::Floats),          optional("support_vectors", ir::AttrKind::Floats)};
  return d;
}

}  // namespace

const OpDef& def_SVMRegressor() {
  static const OpDef op = [] {
    OpDef d = machine_op("SVMRegressor");
    d.attrs.push_back(with_int("n_supports", 0));
    d.attrs.push_back(with_int("one_class", 0));
    d.infer = infer_svm_regressor;
    d.eval = eval_svm_regressor;
    d.emit = d.emit_dynamic = emit_svm_regressor;
    return d;
  }();
  return op;
}

const OpDef& def_SVMClassifier() {
  static const OpDef op = [] {
    OpDef d = machine_op("SVMClassifier");
    ml::add_attrs(d, ir::AttrKind::Floats, {"prob_a", "prob_b"});
    ml::add_attrs(d, ir::AttrKind::Ints, {"vectors_per_class"});
    ml::add_labels(d, "classlabels_ints");
    d.infer = infer_svm_classifier;
    d.eval = eval_svm_classifier;
    d.emit = d.emit_dynamic = emit_svm_classifier;
    return d;
  }();
  return op;
}

}  // namespace mrvlc::ops
