// TreeEnsembleRegressor and TreeEnsembleClassifier (ai.onnx.ml, versions 1 and 3), TreeEnsemble (5).
#include <algorithm>

#include "ml/trees.h"
#include "mrvlc/ops/op_kind.h"

namespace mrvlc::ops {
namespace {

using namespace spec;
using ml::Aggregate;
using ml::Trees;

constexpr int64_t kMaxTargets = int64_t{1} << 20;

struct Job {
  Trees trees;
  ml::Rows x;
  ml::Post post = ml::Post::None;
};

Status finish(const InferContext& context, Job& job) {
  MRVLC_ASSIGN(job.x, ml::rows_of(context));
  return job.trees.check(job.x.cols);
}

// Adds the base values to the scores `y`.
void emit_base(EmitContext& context, const Trees& trees, std::string_view base, std::string_view y) {
  if (!base.empty())
    context.line(fmt::format("for (ptrdiff_t j = 0; j < {}; ++j) {}[j] += {}[j];", trees.targets, y, base));
}

std::string base_table(EmitContext& context, const Trees& trees, ElementType elem) {
  return trees.base.empty() ? "" : ml::table_of(context, elem, trees.base);
}

std::vector<double> scores_of(const Job& job, const Tensor& x, int64_t row) {
  auto scores = ml::run_trees(job.trees, x, row, job.x.cols).value;
  for (size_t j = 0; j < job.trees.base.size(); ++j) scores[j] += job.trees.base[j];
  return scores;
}

// -- tree_regressor, and TreeEnsemble: scores + base values, transformed

using TreePlan = Result<Job> (*)(const InferContext&);

template <TreePlan Of>
Result<std::vector<TensorType>> infer_scores(const InferContext& context) {
  MRVLC_ASSIGN(Job job, Of(context));
  bool new_form = context.op->kind == Op::TreeEnsemble;
  return one_type(new_form ? context.type(0).elem : E::F32, {job.x.rows, job.trees.targets});
}

template <TreePlan Of>
Status eval_scores(const EvalContext& context) {
  MRVLC_ASSIGN(Job job, Of(context.infer_view()));
  for (int64_t n = 0; n < job.x.rows; ++n) {
    auto scores = scores_of(job, context.in(0), n);
    ml::apply(job.post, scores);
    ml::put_row(context.out(), n, scores);
  }
  return {};
}

template <TreePlan Of>
Status emit_scores(EmitContext& context) {
  ml::set_row_dims(context);
  MRVLC_TRY(require_widened(context));
  MRVLC_ASSIGN(Job job, Of(emit_view(context)));
  if (job.x.rows == 0) return {};
  ElementType elem = context.out_type(0).elem;
  bool extreme = job.trees.aggregate == Aggregate::Min || job.trees.aggregate == Aggregate::Max;
  std::string has;
  if (extreme) {
    context.line(fmt::format("uint8_t* has = (uint8_t*){};", context.scratch(job.trees.targets)));
    has = "has";
  }
  ml::TreesText text(context, job.trees, context.in_type(0).elem, elem);
  std::string base = base_table(context, job.trees, elem);
  ml::open_rows(context, job.x);
  context.line(fmt::format("{}* y = {} + n * {};", c_type(elem), context.out(0), job.trees.targets));
  text.emit_row("y", has);
  emit_base(context, job.trees, base, "y");
  ml::emit_apply(context, job.post, elem, "y", job.trees.targets);
  context.close();
  return {};
}

Result<Job> tree_regressor(const InferContext& context) {
  Job job;
  int64_t targets = context.int_attr("n_targets");
  if (targets < 1 || targets > kMaxTargets) return bad_attr("n_targets", "is out of range");
  MRVLC_ASSIGN(job.trees, ml::read_trees(context, "target", targets));
  MRVLC_ASSIGN(size_t aggregate, ml::choice(context, "aggregate_function", {"AVERAGE", "SUM", "MIN", "MAX"}));
  job.trees.aggregate = static_cast<Aggregate>(aggregate);
  MRVLC_ASSIGN(job.post, ml::post_transform(context));
  MRVLC_TRY(finish(context, job));
  return job;
}

// -- tree_classifier

// Two labels, and all votes are for one of them: ONNX Runtime's reading. Votes for the first are the score of
// the second, and that of the first is made of it.
struct TreeClassifier : Job {
  ml::List labels;
  bool binary = false;
  int64_t voted = 0;      // binary: the number that all votes are for
  bool positive = false;  // no vote is negative
  double threshold() const { return positive ? 0.5 : 0; }
  bool makes_both() const { return binary && voted == 0; }
};

Result<TreeClassifier> tree_classifier(const InferContext& context) {
  TreeClassifier job;
  MRVLC_ASSIGN(job.labels, ml::labels_of(context, "classlabels_int64s", "classlabels_strings"));
  auto classes = static_cast<int64_t>(ml::size_of(job.labels));
  if (classes < 2 || classes > kMaxTargets) return bad_operands("the number of labels is out of range");
  MRVLC_ASSIGN(job.trees, ml::read_trees(context, "class", classes));
  MRVLC_ASSIGN(job.post, ml::post_transform(context));
  const auto& ids = context.ints_attr("class_ids");
  job.binary = classes == 2 && std::all_of(ids.begin(), ids.end(), [&](int64_t id) { return id == ids[0]; });
  job.voted = job.binary && !ids.empty() ? ids[0] : 0;
  job.positive = true;
  for (const auto& leaf : job.trees.leaves) {
    for (const auto& vote : leaf) job.positive = job.positive && vote.weight >= 0;
  }
  auto& base = job.trees.base;
  if (job.makes_both() && base.size() == 2)
    return bad_attr("base_values", "has two numbers for the only score that the trees vote on");
  if (job.makes_both() && base.size() == 1) base.push_back(0);
  if (job.makes_both() && job.post == ml::Post::Probit)
    return bad_attr("post_transform", "is PROBIT of one score for two labels, which has no agreed meaning");
  MRVLC_TRY(finish(context, job));
  return job;
}

Result<std::vector<TensorType>> infer_tree_classifier(const InferContext& context) {
  MRVLC_ASSIGN(TreeClassifier job, tree_classifier(context));
  return std::vector<TensorType>{{ml::label_type(job.labels), {job.x.rows}},
                                 {E::F32, {job.x.rows, job.trees.targets}}};
}

Status eval_tree_classifier(const EvalContext& context) {
  MRVLC_ASSIGN(TreeClassifier job, tree_classifier(context.infer_view()));
  for (int64_t n = 0; n < job.x.rows; ++n) {
    auto scores = scores_of(job, context.in(0), n);
    size_t label = ml::greatest(scores);
    if (job.binary) label = scores[at(job.voted)] > job.threshold() ? 1 : 0;
    if (job.makes_both()) {
      scores = ml::both_scores(scores[0], job.post, job.positive);
    } else {
      ml::apply(job.post, scores);
    }
    ml::set_element(context.out(0), n, job.labels, label);
    if (context.outputs->size() > 1) ml::put_row(context.out(1), n, scores);
  }
  return {};
}

Status emit_tree_classifier(EmitContext& context) {
  ml::set_row_dims(context);
  MRVLC_ASSIGN(TreeClassifier job, tree_classifier(emit_view(context)));
  if (job.x.rows == 0) return {};
  int64_t classes = job.trees.targets;
  std::string scores = context.node().outputs.size() > 1
                           ? fmt::format("{} + n * {}", context.out(1), classes)
                           : fmt::format("(float*){}", context.scratch(classes * 4));
  ml::TreesText text(context, job.trees, context.in_type(0).elem, E::F32);
  ml::ListTable labels(context, job.labels, ml::label_type(job.labels));
  std::string base = base_table(context, job.trees, E::F32);
  ml::open_rows(context, job.x);
  context.line(fmt::format("float* z = {};", scores));
  text.emit_row("z", "");
  emit_base(context, job.trees, base, "z");
  if (job.binary) {
    context.line(
        fmt::format("const ptrdiff_t label = z[{}] > {};", job.voted, c_literal(job.threshold(), E::F32)));
  } else {
    ml::emit_greatest(context, "z", classes);
  }
  if (job.makes_both()) {
    ml::emit_both(context, "z[0]", job.post, job.positive);
  } else {
    ml::emit_apply(context, job.post, E::F32, "z", classes);
  }
  labels.emit_choice(context, fmt::format("{}[n]", context.out(0)), "label");
  context.close();
  return {};
}

// -- TreeEnsemble-5

Result<Job> ensemble(const InferContext& context) {
  Job job;
  MRVLC_TRY(check_elem(context, 0, types_of({E::F32, E::F64, E::F16})));
  MRVLC_ASSIGN(job.trees, ml::read_ensemble(context));
  int64_t aggregate = context.int_attr("aggregate_function"), post = context.int_attr("post_transform");
  if (aggregate < 0 || aggregate > 3) return bad_attr("aggregate_function", "is unknown");
  if (post < 0 || post > 4) return bad_attr("post_transform", "is unknown");
  job.trees.aggregate = static_cast<Aggregate>(aggregate);
  job.post = static_cast<ml::Post>(post);
  job.trees.targets = is_attr_set(context, "n_targets") ? context.int_attr("n_targets") : 1;
  if (job.trees.targets < 1 || job.trees.targets > kMaxTargets)
    return bad_attr("n_targets", "is out of range");
  MRVLC_TRY(finish(context, job));
  return job;
}

OpDef trees_op(std::string_view name, const std::string& votes) {
  OpDef d = ml::op(name);
  static const std::string kReals[] = {"base_values", "nodes_hitrates", "nodes_values", "class_weights",
                                       "target_weights"};
  static const std::string kTensors[] = {"base_values_as_tensor", "nodes_hitrates_as_tensor",
                                         "nodes_values_as_tensor", "class_weights_as_tensor",
                                         "target_weights_as_tensor"};
  for (size_t i = 0; i < 5; ++i) {
    if (i > 2 && !kReals[i].starts_with(votes)) continue;
    d.attrs.push_back(optional(kReals[i], ir::AttrKind::Floats));
    d.attrs.push_back(optional(kTensors[i], ir::AttrKind::Tensor));
  }
  ml::add_attrs(d, ir::AttrKind::Ints,
                {"nodes_falsenodeids", "nodes_featureids", "nodes_missing_value_tracks_true", "nodes_nodeids",
                 "nodes_treeids", "nodes_truenodeids"});
  d.attrs.push_back(optional("nodes_modes", ir::AttrKind::Strings));
  d.attrs.push_back(with_string("post_transform", "NONE"));
  return d;
}

}  // namespace

const OpDef& def_TreeEnsembleRegressor() {
  static const OpDef op = [] {
    OpDef d = trees_op("TreeEnsembleRegressor", "target");
    ml::add_attrs(d, ir::AttrKind::Ints, {"target_ids", "target_nodeids", "target_treeids"});
    d.attrs.push_back(with_string("aggregate_function", "SUM"));
    d.attrs.push_back(required("n_targets", ir::AttrKind::Int));
    d.infer = infer_scores<tree_regressor>;
    d.eval = eval_scores<tree_regressor>;
    d.emit = d.emit_dynamic = emit_scores<tree_regressor>;
    return d;
  }();
  return op;
}

const OpDef& def_TreeEnsembleClassifier() {
  static const OpDef op = [] {
    OpDef d = trees_op("TreeEnsembleClassifier", "class");
    ml::add_attrs(d, ir::AttrKind::Ints, {"class_ids", "class_nodeids", "class_treeids"});
    ml::add_labels(d, "classlabels_int64s");
    d.infer = infer_tree_classifier;
    d.eval = eval_tree_classifier;
    d.emit = d.emit_dynamic = emit_tree_classifier;
    return d;
  }();
  return op;
}

const OpDef& def_TreeEnsemble() {
  static const OpDef op = [] {
    OpDef d = ml::op("TreeEnsemble");
    d.since_min = 5;
    d.types = types_of({E::F32, E::F64, E::F16});
    for (std::string_view ints : {"leaf_targetids", "nodes_falseleafs", "nodes_falsenodeids",
                                  "nodes_featureids", "nodes_trueleafs", "nodes_truenodeids", "tree_roots"})
      d.attrs.push_back(required(ints, ir::AttrKind::Ints));
    for (std::string_view tensor : {"leaf_weights", "nodes_modes", "nodes_splits"})
      d.attrs.push_back(required(tensor, ir::AttrKind::Tensor));
    ml::add_attrs(d, ir::AttrKind::Tensor, {"membership_values", "nodes_hitrates"});
    d.attrs.push_back(optional("nodes_missing_value_tracks_true", ir::AttrKind::Ints));
    d.attrs.push_back(optional("n_targets", ir::AttrKind::Int));
    d.attrs.push_back(with_int("aggregate_function", 1));
    d.attrs.push_back(with_int("post_transform", 0));
    d.infer = infer_scores<ensemble>;
    d.eval = eval_scores<ensemble>;
    d.emit = d.emit_dynamic = emit_scores<ensemble>;
    return d;
  }();
  return op;
}

}  // namespace mrvlc::ops
