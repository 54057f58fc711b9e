// The attributes of tree ensembles. TreeEnsembleRegressor and TreeEnsembleClassifier (ai.onnx.ml, versions 1
// and 3), TreeEnsemble (5).
#include <algorithm>
#include <map>

#include "ml/trees.h"

namespace mrvlc::ops::ml {

using namespace spec;

namespace {

// -- attributes of the older two: nodes and votes as rows that name their tree and node

struct Reals {
  std::vector<double> values;
  ElementType elem = E::F32;
};

// ATTR, or ATTR_as_tensor, which is there for double.
Result<Reals> reals(const InferContext& context, const std::string& attr) {
  const auto* tensor = std::get_if<Tensor>(&context.attr(attr + "_as_tensor"));
  const auto& list = floats(context, attr);
  if (tensor == nullptr) return Reals{{list.begin(), list.end()}, E::F32};
  if (!list.empty()) return bad_attr(attr, "is given twice");
  if (!is_float(tensor->elem())) return bad_attr(attr + "_as_tensor", "must be floating point");
  return Reals{tensor->to_doubles(), tensor->elem()};
}

using NodeKey = std::pair<int64_t, int64_t>;  // tree and node

class TreesReader {
 public:
  explicit TreesReader(const InferContext& context) : context_(context) {}

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
    const auto& modes = strings(context_, "nodes_modes");
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
        add_node(i, *split, values.values[i]);
      } else {
        trees_.leaves.emplace_back();
      }
    }
    return {};
  }

  // Its children are not known yet; if_true holds the row.
  void add_node(size_t row, Split split, double value) {
    const auto& missing = ints("nodes_missing_value_tracks_true");
    trees_.nodes.push_back({split, !missing.empty() && missing[row] != 0, ints("nodes_featureids")[row],
                            static_cast<int64_t>(row), 0, value});
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

// -- TreeEnsemble-5: children are numbers of nodes or leaves, sets are separated by NaN

struct NodeLists {
  const std::vector<int64_t>&features, &missing, &if_true, &true_leaf, &if_false, &false_leaf;
  const Tensor &modes, &splits;
};

NodeLists node_lists(const InferContext& context) {
  return {context.ints_attr("nodes_featureids"),         context.ints_attr("nodes_missing_value_tracks_true"),
          context.ints_attr("nodes_truenodeids"),        context.ints_attr("nodes_trueleafs"),
          context.ints_attr("nodes_falsenodeids"),       context.ints_attr("nodes_falseleafs"),
          std::get<Tensor>(context.attr("nodes_modes")), std::get<Tensor>(context.attr("nodes_splits"))};
}

bool fit(const NodeLists& l) {
  size_t n = l.features.size();
  for (const auto* list : {&l.if_true, &l.true_leaf, &l.if_false, &l.false_leaf}) {
    if (list->size() != n) return false;
  }
  auto count = static_cast<int64_t>(n);
  return l.modes.elements() == count && l.splits.elements() == count &&
         (l.missing.empty() || l.missing.size() == n) && is_float(l.splits.elem()) &&
         is_integer(l.modes.elem());
}

int64_t child(int64_t number, int64_t leaf) {
  return leaf != 0 ? -1 - std::max<int64_t>(number, 0) : number;
}

// Numbers the children, and hands the sets of `membership_values` to the nodes that ask for membership.
Status read_nodes(const NodeLists& l, Trees& t) {
  size_t used = 0;
  for (size_t i = 0; i < l.features.size(); ++i) {
    auto row = static_cast<int64_t>(i);
    int64_t mode = l.modes.as_int(row);
    if (mode < 0 || mode > 6) return bad_attr("nodes_modes", "has an unknown mode");
    Trees::Node node{static_cast<Split>(mode),
                     !l.missing.empty() && l.missing[i] != 0,
                     l.features[i],
                     child(l.if_true[i], l.true_leaf[i]),
                     child(l.if_false[i], l.false_leaf[i]),
                     l.splits.as_double(row)};
    if (node.split == Split::Member) {
      node.set_begin = static_cast<int64_t>(used);
      while (used < t.members.size() && t.members[used] == t.members[used]) ++used;
      node.set_end = static_cast<int64_t>(used);
      used += used < t.members.size() ? 1 : 0;
    }
    t.nodes.push_back(node);
  }
  return {};
}

Status read_leaves(const InferContext& context, Trees& trees) {
  const auto& targets = context.ints_attr("leaf_targetids");
  const auto& weights = std::get<Tensor>(context.attr("leaf_weights"));
  if (!is_float(weights.elem()) || weights.elements() != static_cast<int64_t>(targets.size()))
    return bad_attr("leaf_weights", "must be one floating point number for each leaf");
  for (size_t i = 0; i < targets.size(); ++i)
    trees.leaves.push_back({{targets[i], weights.as_double(static_cast<int64_t>(i))}});
  trees.roots = context.ints_attr("tree_roots");
  for (int64_t root : trees.roots) {
    if (root < 0) return bad_attr("tree_roots", "has a negative number");
  }
  return {};
}

}  // namespace

Result<Trees> read_trees(const InferContext& context, const std::string& votes, int64_t targets) {
  return TreesReader(context).read(votes, targets);
}

Result<Trees> read_ensemble(const InferContext& context) {
  Trees t;
  NodeLists lists = node_lists(context);
  const auto* members = std::get_if<Tensor>(&context.attr("membership_values"));
  if (!fit(lists) || (members != nullptr && members->elem() != lists.splits.elem()))
    return bad_operands("the lists of nodes differ in length, or are of the wrong type");
  t.value_type = lists.splits.elem();
  if (members != nullptr) t.members = members->to_doubles();
  MRVLC_TRY(read_nodes(lists, t));
  MRVLC_TRY(read_leaves(context, t));
  return t;
}

}  // namespace mrvlc::ops::ml
