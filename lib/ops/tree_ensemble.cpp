// TreeEnsembleRegressor and TreeEnsembleClassifier (ai.onnx.ml, versions 1 and 3), TreeEnsemble (5).
#include <algorithm>
#include <map>

#include "trees.h"

namespace mrvlc::ops {
namespace {

using namespace spec;
using ml::Aggregate;
using ml::Split;
using ml::Trees;

// -- attributes of the older two: nodes and votes as rows that name their tree and node

struct Reals {
  std::vector<double> values;
  ElementType elem = E::F32;
};

// ATTR, or ATTR_as_tensor, which is there for double.
Result<Reals> reals(const InferContext& context, const std::string& attr) {
  const auto* tensor = std::get_if<Tensor>(&context.attr(attr + "_as_tensor"));
  const auto& list = ml::floats(context, attr);
  if (tensor == nullptr) return Reals{{list.begin(), list.end()}, E::F32};
  if (!list.empty()) return bad_attr(attr, "is given twice");
  if (!is_float(tensor->elem())) return bad_attr(attr + "_as_tensor", "must be floating point");
  return Reals{tensor->to_doubles(), tensor->elem()};
}

using NodeKey = std::pair<int64_t, int64_t>;  // tree and node

class Reader {
 public:
  explicit Reader(const InferContext& context) : context_(context) {}

  // `votes`: "target" or "class"
  Result<Trees> read(const std::string& votes, int64_t targets) {
    trees_.targets = targets;
    MRVLC_TRY(read_nodes());
    MRVLC_TRY(link());
    MRVLC_TRY(read_votes(votes));
    MRVLC_ASSIGN(Reals base, reals(context_, "base_values"));
    trees_.base = std::move(base.values);
    return std::move(trees_);
  }

 private:
  const std::vector<int64_t>& ints(std::string_view attr) const { return context_.ints_attr(attr); }

  Status same_length(std::string_view attr, size_t length, bool may_miss = false) const {
    if (length == rows_ || (may_miss && length == 0)) return {};
    return bad_attr(attr, fmt::format("has {} entries, nodes_nodeids {}", length, rows_));
  }

  Result<std::optional<Split>> mode(const std::string& name) const {
    constexpr std::string_view kNames[] = {"BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE",
                                           "BRANCH_GT",  "BRANCH_EQ", "BRANCH_NEQ"};
    if (name == "LEAF") return std::optional<Split>();
    const auto* it = std::find(std::begin(kNames), std::end(kNames), name);
    if (it == std::end(kNames)) return bad_attr("nodes_modes", "has an unknown mode");
    return std::optional(static_cast<Split>(it - std::begin(kNames)));
  }

  // Numbers every row, as a node or as a leaf (-1 - n).
  Status read_nodes() {
    rows_ = ints("nodes_nodeids").size();
    for (std::string_view attr :
         {"nodes_treeids", "nodes_featureids", "nodes_truenodeids", "nodes_falsenodeids"})
      MRVLC_TRY(same_length(attr, ints(attr).size()));
    const auto& modes = ml::strings(context_, "nodes_modes");
    MRVLC_TRY(same_length("nodes_modes", modes.size()));
    MRVLC_TRY(
        same_length("nodes_missing_value_tracks_true", ints("nodes_missing_value_tracks_true").size(), true));
    MRVLC_ASSIGN(Reals values, reals(context_, "nodes_values"));
    MRVLC_TRY(same_length("nodes_values", values.values.size()));
    trees_.value_type = values.elem;
    for (size_t i = 0; i < rows_; ++i) {
      MRVLC_ASSIGN(auto split, mode(modes[i]));
      int64_t number =
          split ? static_cast<int64_t>(trees_.nodes.size()) : -1 - static_cast<int64_t>(trees_.leaves.size());
      if (!numbers_.emplace(key(i), number).second) return bad_operands("a node of a tree is given twice");
      if (split) {
        const auto& missing = ints("nodes_missing_value_tracks_true");
        trees_.nodes.push_back({*split, !missing.empty() && missing[i] != 0, ints("nodes_featureids")[i],
                                static_cast<int64_t>(i), 0, values.values[i]});
      } else {
        trees_.leaves.emplace_back();
      }
    }
    return {};
  }

  NodeKey key(size_t row) const { return {ints("nodes_treeids")[row], ints("nodes_nodeids")[row]}; }

  // Children by their numbers; the first row of a tree is its root.
  Status link() {
    for (auto& node : trees_.nodes) {
      size_t row = at(node.if_true);
      auto yes = numbers_.find({key(row).first, ints("nodes_truenodeids")[row]});
      auto no = numbers_.find({key(row).first, ints("nodes_falsenodeids")[row]});
      if (yes == numbers_.end() || no == numbers_.end())
        return bad_operands("a tree points to a node that is not there");
      node.if_true = yes->second;
      node.if_false = no->second;
    }
    std::map<int64_t, size_t> seen;
    for (size_t i = 0; i < rows_; ++i) {
      if (seen.emplace(key(i).first, i).second) trees_.roots.push_back(numbers_.at(key(i)));
    }
    return {};
  }

  Status read_votes(const std::string& kind) {
    const auto &trees = ints(kind + "_treeids"), &nodes = ints(kind + "_nodeids"), &ids = ints(kind + "_ids");
    MRVLC_ASSIGN(Reals weights, reals(context_, kind + "_weights"));
    if (trees.size() != ids.size() || nodes.size() != ids.size() || weights.values.size() != ids.size())
      return bad_attr(kind + "_ids", "and the lists that belong to it differ in length");
    for (size_t i = 0; i < ids.size(); ++i) {
      auto it = numbers_.find({trees[i], nodes[i]});
      if (it == numbers_.end()) return bad_attr(kind + "_nodeids", "names a node that is not there");
      if (it->second < 0) trees_.leaves[at(-1 - it->second)].push_back({ids[i], weights.values[i]});
    }
    return {};
  }

  const InferContext& context_;
  Trees trees_;
  size_t rows_ = 0;
  std::map<NodeKey, int64_t> numbers_;
};

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

void put_row(Tensor& out, int64_t row, const std::vector<double>& values) {
  for (size_t j = 0; j < values.size(); ++j)
    out.set_double(row * static_cast<int64_t>(values.size()) + static_cast<int64_t>(j), values[j]);
}

// -- regressor, and TreeEnsemble: scores + base values, transformed

using Plan = Result<Job> (*)(const InferContext&);

template <Plan Of>
Result<std::vector<TensorType>> infer_scores(const InferContext& context) {
  MRVLC_ASSIGN(Job job, Of(context));
  bool new_form = context.op->name == "TreeEnsemble";
  return one_type(new_form ? context.type(0).elem : E::F32, {job.x.rows, job.trees.targets});
}

template <Plan Of>
Status eval_scores(const EvalContext& context) {
  MRVLC_ASSIGN(Job job, Of(context.infer_view()));
  for (int64_t n = 0; n < job.x.rows; ++n) {
    auto scores = ml::run_trees(job.trees, context.in(0), n, job.x.cols).value;
    for (size_t j = 0; j < job.trees.base.size(); ++j) scores[j] += job.trees.base[j];
    ml::apply(job.post, scores);
    put_row(context.out(), n, scores);
  }
  return {};
}

void open_rows(EmitContext& context, const Job& job) {
  context.loop("n", job.x.rows);
  context.line(
      fmt::format("const {}* x = {} + n * {};", c_type(context.in_type(0).elem), context.in(0), job.x.cols));
}

std::string base_table(EmitContext& context, const Trees& trees, ElementType elem) {
  return context.table(Tensor::of(elem, {static_cast<int64_t>(trees.base.size())}, trees.base));
}

template <Plan Of>
Status emit_scores(EmitContext& context) {
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
  std::string base = job.trees.base.empty() ? "" : base_table(context, job.trees, elem);
  open_rows(context, job);
  context.line(fmt::format("{}* y = {} + n * {};", c_type(elem), context.out(0), job.trees.targets));
  text.emit_row("y", has);
  if (!base.empty())
    context.line(fmt::format("for (ptrdiff_t j = 0; j < {}; ++j) y[j] += {}[j];", job.trees.targets, base));
  ml::emit_apply(context, job.post, elem, "y", job.trees.targets);
  context.close();
  return {};
}

Result<Job> regressor(const InferContext& context) {
  Job job;
  int64_t targets = context.int_attr("n_targets");
  if (targets < 1 || targets > kMaxTargets) return bad_attr("n_targets", "is out of range");
  MRVLC_ASSIGN(job.trees, Reader(context).read("target", targets));
  constexpr std::string_view kNames[] = {"AVERAGE", "SUM", "MIN", "MAX"};
  const auto* it = std::find(std::begin(kNames), std::end(kNames), context.string_attr("aggregate_function"));
  if (it == std::end(kNames)) return bad_attr("aggregate_function", "is unknown");
  job.trees.aggregate = static_cast<Aggregate>(it - std::begin(kNames));
  MRVLC_ASSIGN(job.post, ml::post_transform(context));
  MRVLC_TRY(finish(context, job));
  return job;
}

// -- classifier

// Two labels, and all votes are for one of them: ONNX Runtime's reading. Votes for the first are the score of
// the second, and that of the first is made of it.
struct Classifier : Job {
  ml::List labels;
  bool binary = false;
  int64_t voted = 0;      // binary: the number that all votes are for
  bool positive = false;  // no vote is negative
  double threshold() const { return positive ? 0.5 : 0; }
  bool makes_both() const { return binary && voted == 0; }
};

Result<Classifier> classifier(const InferContext& context) {
  Classifier job;
  MRVLC_ASSIGN(job.labels, ml::labels_of(context, "classlabels_int64s", "classlabels_strings"));
  auto classes = static_cast<int64_t>(ml::size_of(job.labels));
  if (classes < 2 || classes > kMaxTargets) return bad_operands("the number of labels is out of range");
  MRVLC_ASSIGN(job.trees, Reader(context).read("class", classes));
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

Result<std::vector<TensorType>> infer_classifier(const InferContext& context) {
  MRVLC_ASSIGN(Classifier job, classifier(context));
  return std::vector<TensorType>{{ml::label_type(job.labels), {job.x.rows}},
                                 {E::F32, {job.x.rows, job.trees.targets}}};
}

// Both scores from the only one.
std::vector<double> both_scores(double score, const Classifier& job) {
  if (job.post == ml::Post::Logistic) return {ml::logistic(-score), ml::logistic(score)};
  return {job.positive ? 1 - score : -score, score};
}

Status eval_classifier(const EvalContext& context) {
  MRVLC_ASSIGN(Classifier job, classifier(context.infer_view()));
  for (int64_t n = 0; n < job.x.rows; ++n) {
    auto scores = ml::run_trees(job.trees, context.in(0), n, job.x.cols).value;
    for (size_t j = 0; j < job.trees.base.size(); ++j) scores[j] += job.trees.base[j];
    auto label = static_cast<size_t>(std::max_element(scores.begin(), scores.end()) - scores.begin());
    if (job.binary) label = scores[at(job.voted)] > job.threshold() ? 1 : 0;
    if (job.makes_both()) {
      scores = both_scores(scores[0], job);
    } else {
      ml::apply(job.post, scores);
    }
    ml::set_element(context.out(0), n, job.labels, label);
    if (context.outputs->size() > 1) put_row(context.out(1), n, scores);
  }
  return {};
}

void emit_both(EmitContext& context, const Classifier& job) {
  std::string first = job.positive ? "1.0f - score" : "-score", second = "score";
  if (job.post == ml::Post::Logistic) {
    first = ml::logistic_text("-score", E::F32);
    second = ml::logistic_text("score", E::F32);
  }
  context.line("const float score = z[0];");
  context.line(fmt::format("z[1] = {};", second));
  context.line(fmt::format("z[0] = {};", first));
}

Status emit_classifier(EmitContext& context) {
  MRVLC_ASSIGN(Classifier job, classifier(emit_view(context)));
  if (job.x.rows == 0) return {};
  int64_t classes = job.trees.targets;
  std::string scores = context.node().outputs.size() > 1
                           ? fmt::format("{} + n * {}", context.out(1), classes)
                           : fmt::format("(float*){}", context.scratch(classes * 4));
  ml::TreesText text(context, job.trees, context.in_type(0).elem, E::F32);
  ml::ListTable labels(context, job.labels, ml::label_type(job.labels));
  std::string base = job.trees.base.empty() ? "" : base_table(context, job.trees, E::F32);
  open_rows(context, job);
  context.line(fmt::format("float* z = {};", scores));
  context.line("ptrdiff_t label = 0;");
  text.emit_row("z", "");
  if (!base.empty())
    context.line(fmt::format("for (ptrdiff_t j = 0; j < {}; ++j) z[j] += {}[j];", classes, base));
  if (job.binary) {
    context.line(fmt::format("label = z[{}] > {};", job.voted, c_literal(job.threshold(), E::F32)));
  } else {
    context.line(
        fmt::format("for (ptrdiff_t j = 1; j < {}; ++j) label = z[j] > z[label] ? j : label;", classes));
  }
  if (job.makes_both()) {
    emit_both(context, job);
  } else {
    ml::emit_apply(context, job.post, E::F32, "z", classes);
  }
  labels.emit_choice(context, fmt::format("{}[n]", context.out(0)), "label");
  context.close();
  return {};
}

// -- TreeEnsemble-5: children are numbers of nodes or leaves, sets are separated by NaN

// Numbers the children, and hands the sets of `membership_values` to the nodes that ask for membership.
Result<Trees> read_ensemble(const InferContext& context) {
  Trees t;
  const auto& features = context.ints_attr("nodes_featureids");
  const auto& modes = std::get<Tensor>(context.attr("nodes_modes"));
  const auto& splits = std::get<Tensor>(context.attr("nodes_splits"));
  const auto& missing = context.ints_attr("nodes_missing_value_tracks_true");
  const auto* members = std::get_if<Tensor>(&context.attr("membership_values"));
  const std::vector<int64_t>* lists[] = {
      &context.ints_attr("nodes_truenodeids"), &context.ints_attr("nodes_trueleafs"),
      &context.ints_attr("nodes_falsenodeids"), &context.ints_attr("nodes_falseleafs")};
  size_t n = features.size();
  bool fit = modes.elements() == static_cast<int64_t>(n) && splits.elements() == static_cast<int64_t>(n) &&
             (missing.empty() || missing.size() == n) && is_float(splits.elem()) &&
             is_integer(modes.elem()) && (members == nullptr || members->elem() == splits.elem());
  for (const auto* list : lists) fit = fit && list->size() == n;
  if (!fit) return bad_operands("the lists of nodes differ in length, or are of the wrong type");
  t.value_type = splits.elem();
  if (members != nullptr) t.members = members->to_doubles();
  auto child = [](int64_t number, int64_t leaf) {
    return leaf != 0 ? -1 - std::max<int64_t>(number, 0) : number;
  };
  size_t used = 0;
  for (size_t i = 0; i < n; ++i) {
    int64_t mode = modes.as_int(static_cast<int64_t>(i));
    if (mode < 0 || mode > 6) return bad_attr("nodes_modes", "has an unknown mode");
    Trees::Node node{static_cast<Split>(mode),
                     !missing.empty() && missing[i] != 0,
                     features[i],
                     child((*lists[0])[i], (*lists[1])[i]),
                     child((*lists[2])[i], (*lists[3])[i]),
                     splits.as_double(static_cast<int64_t>(i))};
    if (node.split == Split::Member) {
      node.set_begin = static_cast<int64_t>(used);
      while (used < t.members.size() && t.members[used] == t.members[used]) ++used;
      node.set_end = static_cast<int64_t>(used);
      used += used < t.members.size() ? 1 : 0;
    }
    t.nodes.push_back(node);
  }
  return t;
}

Result<Job> ensemble(const InferContext& context) {
  Job job;
  MRVLC_TRY(check_elem(context, 0, types_of({E::F32, E::F64, E::F16})));
  MRVLC_ASSIGN(job.trees, read_ensemble(context));
  const auto& targets = context.ints_attr("leaf_targetids");
  const auto& weights = std::get<Tensor>(context.attr("leaf_weights"));
  if (!is_float(weights.elem()) || weights.elements() != static_cast<int64_t>(targets.size()))
    return bad_attr("leaf_weights", "must be one floating point number for each leaf");
  for (size_t i = 0; i < targets.size(); ++i)
    job.trees.leaves.push_back({{targets[i], weights.as_double(static_cast<int64_t>(i))}});
  job.trees.roots = context.ints_attr("tree_roots");
  for (int64_t root : job.trees.roots) {
    if (root < 0) return bad_attr("tree_roots", "has a negative number");
  }
  int64_t aggregate = context.int_attr("aggregate_function"), post = context.int_attr("post_transform");
  if (aggregate < 0 || aggregate > 3) return bad_attr("aggregate_function", "is unknown");
  if (post < 0 || post > 4) return bad_attr("post_transform", "is unknown");
  constexpr ml::Post kPosts[] = {ml::Post::None, ml::Post::Softmax, ml::Post::Logistic, ml::Post::SoftmaxZero,
                                 ml::Post::Probit};
  job.trees.aggregate = static_cast<Aggregate>(aggregate);
  job.post = kPosts[at(post)];
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
  for (std::string_view ints : {"nodes_falsenodeids", "nodes_featureids", "nodes_missing_value_tracks_true",
                                "nodes_nodeids", "nodes_treeids", "nodes_truenodeids"})
    d.attrs.push_back(optional(ints, ir::AttrKind::Ints));
  d.attrs.push_back(optional("nodes_modes", ir::AttrKind::Strings));
  d.attrs.push_back(with_string("post_transform", "NONE"));
  return d;
}

}  // namespace

const OpDef& def_TreeEnsembleRegressor() {
  static const OpDef op = [] {
    OpDef d = trees_op("TreeEnsembleRegressor", "target");
    for (std::string_view ints : {"target_ids", "target_nodeids", "target_treeids"})
      d.attrs.push_back(optional(ints, ir::AttrKind::Ints));
    d.attrs.push_back(with_string("aggregate_function", "SUM"));
    d.attrs.push_back(required("n_targets", ir::AttrKind::Int));
    d.infer = infer_scores<regressor>;
    d.eval = eval_scores<regressor>;
    d.emit = emit_scores<regressor>;
    return d;
  }();
  return op;
}

const OpDef& def_TreeEnsembleClassifier() {
  static const OpDef op = [] {
    OpDef d = trees_op("TreeEnsembleClassifier", "class");
    for (std::string_view ints : {"class_ids", "class_nodeids", "class_treeids", "classlabels_int64s"})
      d.attrs.push_back(optional(ints, ir::AttrKind::Ints));
    d.attrs.push_back(optional("classlabels_strings", ir::AttrKind::Strings));
    d.max_outputs = 2;
    d.infer = infer_classifier;
    d.eval = eval_classifier;
    d.emit = emit_classifier;
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
    for (std::string_view tensor : {"membership_values", "nodes_hitrates"})
      d.attrs.push_back(optional(tensor, ir::AttrKind::Tensor));
    d.attrs.push_back(optional("nodes_missing_value_tracks_true", ir::AttrKind::Ints));
    d.attrs.push_back(optional("n_targets", ir::AttrKind::Int));
    d.attrs.push_back(with_int("aggregate_function", 1));
    d.attrs.push_back(with_int("post_transform", 0));
    d.infer = infer_scores<ensemble>;
    d.eval = eval_scores<ensemble>;
    d.emit = emit_scores<ensemble>;
    return d;
  }();
  return op;
}

}  // namespace mrvlc::ops
