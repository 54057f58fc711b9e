// NegativeLogLikelihoodLoss and SoftmaxCrossEntropyLoss (ONNX -22 and -13): for each position, with c its
// label, l = -y[c] * weight[c], 0 where the label is ignore_index; y is the input or the logarithm of its
// softmax over the classes. `mean` divides the sum by that of the weights that took part, 1 without weights.
#include <algorithm>
#include <cmath>

#include "common/bulk.h"
#include "common/emit_util.h"
#include "common/index_util.h"
#include "common/lanes.h"
#include "mrvlc/ops/op_kind.h"
#include "mrvlc/support/diag/ops.h"

namespace mrvlc::ops {
namespace {

using namespace spec;

enum class Reduction { None, Sum, Mean };

struct LossParams {
  AxisView view;  // n: the classes
  Reduction reduction = Reduction::Mean;
  std::optional<int64_t> ignored;
  bool from_scores = false;  // SoftmaxCrossEntropyLoss
};

Result<Reduction> reduction_of(const InferContext& context) {
  const std::string& text = context.string_attr("reduction");
  if (text == "none") return Reduction::None;
  if (text == "sum") return Reduction::Sum;
  if (text == "mean") return Reduction::Mean;
  return bad_attr("reduction", fmt::format("has the unknown value '{}'", printable(text)));
}

Status check_operands(const InferContext& context, const LossParams& p) {
  MRVLC_TRY(check_elem(context, 1, kIndices));
  Shape labels = context.type(0).shape;
  labels.erase(labels.begin() + 1);
  if (context.type(1).shape != labels) {
    return make_diag<DiagCode::MRV0205>(to_string(context.type(0).shape), to_string(context.type(1).shape),
                                        "one label a position is expected");
  }
  if (p.view.n == 0 && p.view.lanes() != 0) return bad_operands("there are no classes");
  if (!context.has(2)) return {};
  MRVLC_TRY(check_same_elem(context, 2));
  if (context.type(2).shape == Shape{p.view.n}) return {};
  return make_diag<DiagCode::MRV0205>(to_string(context.type(0).shape), to_string(context.type(2).shape),
                                      "one weight a class is expected");
}

Result<LossParams> loss_params(const InferContext& context) {
  MRVLC_TRY(check_rank(context, 0, 2));
  LossParams p;
  p.view = axis_view(context.type(0).shape, 1);
  p.from_scores = context.op->kind == Op::SoftmaxCrossEntropyLoss;
  if (is_attr_set(context, "ignore_index")) p.ignored = context.int_attr("ignore_index");
  MRVLC_ASSIGN(p.reduction, reduction_of(context));
  MRVLC_TRY(check_operands(context, p));
  return p;
}

ElementRange label_range(const InferContext& context, const LossParams& p) {
  ElementRange labels = index_range(context, 1, p.view.n);
  labels.but = p.ignored;
  return labels;
}

Result<std::vector<TensorType>> infer_loss(const InferContext& context) {
  MRVLC_ASSIGN(LossParams p, loss_params(context));
  MRVLC_TRY(check_known(context, label_range(context, p)));
  const ElementType elem = context.type(0).elem;
  std::vector<TensorType> types{{elem, p.reduction == Reduction::None ? context.type(1).shape : Shape{}}};
  if (context.num_outputs > 1) types.push_back(context.type(0));
  return types;
}

void log_softmax(std::vector<double>& x) {
  double peak = *std::max_element(x.begin(), x.end()), sum = 0;
  for (double v : x) sum += std::exp(v - peak);
  const double log_sum = std::log(sum);
  for (double& v : x) v = v - peak - log_sum;
}

Status eval_loss(const EvalContext& context) {
  MRVLC_ASSIGN(LossParams p, loss_params(context.infer_view()));
  std::vector<double> y(at(p.view.n));
  double total = 0, weights = 0;
  for (int64_t k = 0; k < p.view.lanes(); ++k) {
    load_run(context.in(0), p.view.first(k), p.view.inner, p.view.n, y.data());
    if (p.from_scores) log_softmax(y);
    if (context.outputs->size() > 1)
      store_run(context.out(1), p.view.first(k), p.view.inner, p.view.n, y.data());
    int64_t label = context.in(1).as_int(k);
    if (label == p.ignored) continue;
    if (label < -p.view.n || label >= p.view.n)
      return bad_operands(fmt::format("label {} is out of range for {} classes", label, p.view.n));
    if (label < 0) label += p.view.n;
    double weight = context.has(2) ? context.in(2).as_double(label) : 1, loss = -y[at(label)] * weight;
    if (p.reduction == Reduction::None) context.out().set_double(k, loss);
    total += loss;
    weights += weight;
  }
  if (p.reduction == Reduction::Sum) context.out().set_double(0, total);
  if (p.reduction == Reduction::Mean) context.out().set_double(0, total / weights);
  return {};
}

struct Code {
  EmitContext& c;
  const LossParams& p;
  ElementType elem;
  std::string_view t, f;
  RangeCheck check;  // of the labels
};

// Declares `peak` and `sum`, the logarithm of a score being x - peak - sum; writes all when they are asked
// for.
void emit_log_softmax(Code& code) {
  auto each = [&](const std::string& statement) {
    code.c.line(fmt::format("for (ptrdiff_t k = 0; k < {}; ++k) {}", code.p.view.n, statement));
  };
  const std::string x = fmt::format("x[k * {}]", code.p.view.inner);
  code.c.line(fmt::format("{} peak = -INFINITY, sum = 0;", code.t));
  each(fmt::format("peak = {0} > peak ? {0} : peak;", x));
  each(fmt::format("sum += exp{}({} - peak);", code.f, x));
  code.c.line(fmt::format("sum = log{}(sum);", code.f));
  if (code.c.node().outputs.size() < 2) return;
  code.c.line(
      fmt::format("{}* y = {} + o * {} + i;", code.t, code.c.out(1), code.p.view.n * code.p.view.inner));
  each(fmt::format("y[k * {0}] = {1} - peak - sum;", code.p.view.inner, x));
}

void emit_position(Code& code) {
  const LossParams& p = code.p;
  code.c.line(fmt::format("const {}* x = {} + o * {} + i;", code.t, code.c.in(0), p.view.n * p.view.inner));
  if (p.from_scores) emit_log_softmax(code);
  const std::string label = fmt::format("{}[o * {} + i]", code.c.in(1), p.view.inner);
  code.c.line(fmt::format("{} loss = 0;", code.t));
  code.c.open(p.ignored ? fmt::format("if ({} != {})", label, c_literal(*p.ignored, ElementType::I64)) : "");
  emit_index(code.c, "label", label, fmt::format("{}", p.view.n), code.check);
  const std::string score = fmt::format("x[label * {}]", p.view.inner);
  code.c.line(fmt::format("loss = {};", p.from_scores ? "peak - " + score + " + sum" : "-" + score));
  if (code.c.has(2)) code.c.line(fmt::format("loss *= {}[label];", code.c.in(2)));
  if (p.reduction == Reduction::Mean)
    code.c.line(code.c.has(2) ? fmt::format("weights += {}[label];", code.c.in(2)) : "weights += 1;");
  code.c.close();
  code.c.line(p.reduction == Reduction::None
                  ? fmt::format("{}[o * {} + i] = loss;", code.c.out(0), p.view.inner)
                  : "total += loss;");
}

Status emit_loss(EmitContext& context) {
  MRVLC_TRY(require_widened(context));
  MRVLC_ASSIGN(LossParams p, loss_params(emit_view(context)));
  const ElementType elem = context.in_type(0).elem;
  MRVLC_ASSIGN(const RangeCheck check, require_range(context, label_range(emit_view(context), p)));
  Code code{context, p, elem, c_type(elem), elem == E::F64 ? "" : "f", check};
  if (p.reduction != Reduction::None) context.line(fmt::format("{} total = 0;", code.t));
  if (p.reduction == Reduction::Mean) context.line(fmt::format("{} weights = 0;", code.t));
  context.loop("o", p.view.outer);
  context.loop("i", p.view.inner);
  emit_position(code);
  context.close();
  context.close();
  if (p.reduction == Reduction::Sum) context.line(fmt::format("{}[0] = total;", context.out(0)));
  if (p.reduction == Reduction::Mean) context.line(fmt::format("{}[0] = total / weights;", context.out(0)));
  return {};
}

OpDef loss_def(std::string_view name, int since, int max_outputs) {
  OpDef d;
  d.name = name;
  d.since_min = since;
  d.attrs = {optional("ignore_index", ir::AttrKind::Int), with_string("reduction", "mean")};
  d.min_inputs = 2;
  d.max_inputs = 3;
  d.max_outputs = max_outputs;
  d.types = kFloats;
  d.infer = infer_loss;
  d.eval = eval_loss;
  d.emit = emit_loss;
  d.declined = "accelerator: losses belong to training; they stay on the host";
  return d;
}

}  // namespace

const OpDef& def_NegativeLogLikelihoodLoss() {
  static const OpDef def = loss_def("NegativeLogLikelihoodLoss", 12, 1);
  return def;
}

const OpDef& def_SoftmaxCrossEntropyLoss() {
  static const OpDef def = loss_def("SoftmaxCrossEntropyLoss", 12, 2);
  return def;
}

}  // namespace mrvlc::ops
