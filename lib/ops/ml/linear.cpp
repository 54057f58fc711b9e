// LinearRegressor and LinearClassifier (ai.onnx.ml, version 1).
#include "ml/ml.h"

namespace mrvlc::ops {
namespace {

using namespace spec;

// scores[n][r] = x[n] . coefficients[r] + intercepts[r]
struct Linear {
  ml::Rows x;
  int64_t rows = 1;  // of coefficients
  std::vector<float> coefficients, intercepts;
  ml::Post post = ml::Post::None;
};

Result<Linear> linear(const InferContext& context) {
  Linear p;
  MRVLC_ASSIGN(p.x, ml::rows_of(context));
  MRVLC_ASSIGN(p.post, ml::post_transform(context));
  p.coefficients = ml::floats(context, "coefficients");
  p.intercepts = ml::floats(context, "intercepts");
  return p;
}

Status complete(Linear& p, int64_t rows) {
  p.rows = rows;
  if (p.x.cols == 0) return bad_operands("there are no features");
  if (rows < 1 || static_cast<int64_t>(p.coefficients.size()) / rows != p.x.cols ||
      static_cast<int64_t>(p.coefficients.size()) % rows != 0)
    return bad_attr("coefficients", fmt::format("has {} numbers, which are not {} times {} features",
                                                p.coefficients.size(), rows, p.x.cols));
  if (p.intercepts.empty()) p.intercepts.resize(at(rows));
  if (static_cast<int64_t>(p.intercepts.size()) != rows)
    return bad_attr("intercepts", fmt::format("must be {} numbers", rows));
  return {};
}

std::vector<double> scores_of(const Linear& p, const Tensor& x, int64_t n) {
  std::vector<double> scores;
  for (int64_t r = 0; r < p.rows; ++r) {
    double sum = static_cast<double>(p.intercepts[at(r)]);
    for (int64_t c = 0; c < p.x.cols; ++c)
      sum += x.as_double(n * p.x.cols + c) * static_cast<double>(p.coefficients[at(r * p.x.cols + c)]);
    scores.push_back(sum);
  }
  return scores;
}

// float* NAME = the scores of the row at x.
void emit_scores(EmitContext& context, const Linear& p, std::string_view name) {
  std::string coefficients = ml::table_of(context, E::F32, p.coefficients),
              intercepts = ml::table_of(context, E::F32, p.intercepts);
  context.loop("r", p.rows);
  context.line(fmt::format("const float* w = {} + r * {};", coefficients, p.x.cols));
  context.line(fmt::format("float sum = {}[r];", intercepts));
  context.line(fmt::format("for (ptrdiff_t c = 0; c < {}; ++c) sum += (float)x[c] * w[c];", p.x.cols));
  context.line(fmt::format("{}[r] = sum;", name));
  context.close();
}

// -- LinearRegressor

Result<Linear> regressor(const InferContext& context) {
  MRVLC_ASSIGN(Linear p, linear(context));
  MRVLC_TRY(complete(p, context.int_attr("targets")));
  return p;
}

Result<std::vector<TensorType>> infer_regressor(const InferContext& context) {
  MRVLC_ASSIGN(Linear p, regressor(context));
  return one_type(E::F32, {p.x.rows, p.rows});
}

Status eval_regressor(const EvalContext& context) {
  MRVLC_ASSIGN(Linear p, regressor(context.infer_view()));
  for (int64_t n = 0; n < p.x.rows; ++n) {
    auto scores = scores_of(p, context.in(0), n);
    ml::apply(p.post, scores);
    ml::put_row(context.out(), n, scores);
  }
  return {};
}

Status emit_regressor(EmitContext& context) {
  ml::set_row_dims(context);
  MRVLC_ASSIGN(Linear p, regressor(emit_view(context)));
  if (p.x.rows == 0) return {};
  ml::open_rows(context, p.x);
  context.line(fmt::format("float* y = {} + n * {};", context.out(0), p.rows));
  emit_scores(context, p, "y");
  ml::emit_apply(context, p.post, E::F32, "y", p.rows);
  context.close();
  return {};
}

// -- LinearClassifier: the label of the greatest score; two labels may share one row of coefficients, whose
// score is that of the second label

struct Classifier {
  Linear linear;
  ml::List labels;
  bool shared() const { return linear.rows == 1; }
  int64_t classes() const { return static_cast<int64_t>(ml::size_of(labels)); }
};

Result<Classifier> classifier(const InferContext& context) {
  Classifier p;
  MRVLC_ASSIGN(p.linear, linear(context));
  MRVLC_ASSIGN(p.labels, ml::labels_of(context, "classlabels_ints", "classlabels_strings"));
  bool one_row = static_cast<int64_t>(p.linear.coefficients.size()) == p.linear.x.cols;
  if (p.classes() < 2) return bad_operands("there must be two labels at least");
  MRVLC_TRY(complete(p.linear, p.classes() == 2 && one_row ? 1 : p.classes()));
  if (p.shared() && p.linear.post == ml::Post::Probit)
    return bad_attr("post_transform", "is PROBIT of one score for two labels, which has no agreed meaning");
  return p;
}

Result<std::vector<TensorType>> infer_classifier(const InferContext& context) {
  MRVLC_ASSIGN(Classifier p, classifier(context));
  return std::vector<TensorType>{{ml::label_type(p.labels), {p.linear.x.rows}},
                                 {E::F32, {p.linear.x.rows, p.classes()}}};
}

Status eval_classifier(const EvalContext& context) {
  MRVLC_ASSIGN(Classifier p, classifier(context.infer_view()));
  for (int64_t n = 0; n < p.linear.x.rows; ++n) {
    auto scores = scores_of(p.linear, context.in(0), n);
    size_t label = p.shared() ? scores[0] > 0 : ml::greatest(scores);
    ml::set_element(context.out(0), n, p.labels, label);
    if (p.shared()) {
      scores = ml::both_scores(scores[0], p.linear.post, true);
    } else {
      ml::apply(p.linear.post, scores);
    }
    if (context.outputs->size() > 1) ml::put_row(context.out(1), n, scores);
  }
  return {};
}

Status emit_classifier(EmitContext& context) {
  ml::set_row_dims(context);
  MRVLC_ASSIGN(Classifier p, classifier(emit_view(context)));
  if (p.linear.x.rows == 0) return {};
  bool wants_scores = context.node().outputs.size() > 1;
  std::string scores = wants_scores ? fmt::format("{} + n * {}", context.out(1), p.classes())
                                    : fmt::format("(float*){}", context.scratch(p.classes() * 4));
  ml::ListTable labels(context, p.labels, ml::label_type(p.labels));
  ml::open_rows(context, p.linear.x);
  context.line(fmt::format("float* z = {};", scores));
  emit_scores(context, p.linear, "z");
  if (p.shared()) {
    context.line("const ptrdiff_t label = z[0] > 0.0f;");
    ml::emit_both(context, "z[0]", p.linear.post, true);
  } else {
    ml::emit_greatest(context, "z", p.classes());
    ml::emit_apply(context, p.linear.post, E::F32, "z", p.classes());
  }
  labels.emit_choice(context, fmt::format("{}[n]", context.out(0)), "label");
  context.close();
  return {};
}

}  // namespace

const OpDef& def_LinearRegressor() {
  static const OpDef op = [] {
    OpDef d = ml::op("LinearRegressor");
    d.attrs = {optional("coefficients", ir::AttrKind::Floats), optional("intercepts", ir::AttrKind::Floats),
               with_string("post_transform", "NONE"), with_int("targets", 1)};
    d.infer = infer_regressor;
    d.eval = eval_regressor;
    d.emit = d.emit_dynamic = emit_regressor;
    return d;
  }();
  return op;
}

const OpDef& def_LinearClassifier() {
  static const OpDef op = [] {
    OpDef d = ml::op("LinearClassifier");
    d.attrs = {required("coefficients", ir::AttrKind::Floats), optional("intercepts", ir::AttrKind::Floats),
               with_string("post_transform", "NONE"), with_int("multi_class", 0)};
    ml::add_labels(d, "classlabels_ints");
    d.infer = infer_classifier;
    d.eval = eval_classifier;
    d.emit = d.emit_dynamic = emit_classifier;
    return d;
  }();
  return op;
}

}  // namespace mrvlc::ops
