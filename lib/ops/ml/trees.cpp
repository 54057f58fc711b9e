// Trees checked (children, features, no cycle), walked row by row, and written as tables with one loop in C.
#include "ml/trees.h"

#include <algorithm>
#include <cmath>

namespace mrvlc::ops::ml {
namespace {

using E = ElementType;

Status check_child(const Trees& trees, int64_t child) {
  if (child >= 0 ? child < static_cast<int64_t>(trees.nodes.size())
                 : -1 - child < static_cast<int64_t>(trees.leaves.size()))
    return {};
  return bad_operands("a tree points to a node that is not there");
}

// Every path ends: depth first, a node on the path must not be met again.
Status check_acyclic(const Trees& trees) {
  enum : uint8_t { kNew, kOnPath, kDone };
  std::vector<uint8_t> state(trees.nodes.size(), kNew);
  std::vector<int64_t> path;
  auto visit = [&](int64_t child) -> Status {
    if (child < 0 || state[at(child)] == kDone) return {};
    if (state[at(child)] == kOnPath) return bad_operands("the nodes of a tree form a cycle");
    path.push_back(child);
    return {};
  };
  for (int64_t root : trees.roots) {
    MRVLC_TRY(visit(root));
    while (!path.empty()) {
      int64_t node = path.back();
      if (state[at(node)] != kNew) {
        state[at(node)] = kDone;
        path.pop_back();
        continue;
      }
      state[at(node)] = kOnPath;
      MRVLC_TRY(visit(trees.nodes[at(node)].if_true));
      MRVLC_TRY(visit(trees.nodes[at(node)].if_false));
    }
  }
  return {};
}

}  // namespace

Status Trees::check(int64_t features) const {
  for (int64_t root : roots) MRVLC_TRY(check_child(*this, root));
  for (const Node& node : nodes) {
    MRVLC_TRY(check_child(*this, node.if_true));
    MRVLC_TRY(check_child(*this, node.if_false));
    if (node.feature < 0 || node.feature >= features)
      return bad_operands(fmt::format("feature {} of a tree is not one of {}", node.feature, features));
  }
  for (const auto& leaf : leaves) {
    for (const Vote& vote : leaf) {
      if (vote.target < 0 || vote.target >= targets)
        return bad_operands("a leaf votes for an unknown target");
    }
  }
  if (!base.empty() && static_cast<int64_t>(base.size()) != targets)
    return bad_attr("base_values", fmt::format("must be {} numbers", targets));
  return check_acyclic(*this);
}

// -- reference

namespace {

bool holds(const Trees& trees, const Trees::Node& node, double v) {
  if (node.missing_is_true && std::isnan(v)) return true;
  switch (node.split) {
    case Split::Leq:
      return v <= node.value;
    case Split::Lt:
      return v < node.value;
    case Split::Gte:
      return v >= node.value;
    case Split::Gt:
      return v > node.value;
    case Split::Eq:
      return v == node.value;
    case Split::Neq:
      return v != node.value;
    case Split::Member:
      break;
  }
  const double* members = trees.members.data();
  return std::find(members + node.set_begin, members + node.set_end, v) != members + node.set_end;
}

void add_vote(const Trees& trees, const Trees::Vote& vote, Scores& scores) {
  double& sum = scores.value[at(vote.target)];
  bool first = scores.has[at(vote.target)] == 0;
  if (first || (trees.aggregate == Aggregate::Min && vote.weight < sum) ||
      (trees.aggregate == Aggregate::Max && vote.weight > sum)) {
    sum = vote.weight;
  } else if (trees.aggregate == Aggregate::Sum || trees.aggregate == Aggregate::Average) {
    sum += vote.weight;
  }
  scores.has[at(vote.target)] = 1;
}

}  // namespace

Scores run_trees(const Trees& trees, const Tensor& x, int64_t row, int64_t features) {
  Scores scores{std::vector<double>(at(trees.targets), 0), std::vector<uint8_t>(at(trees.targets), 0)};
  for (int64_t k : trees.roots) {
    while (k >= 0) {
      const Trees::Node& node = trees.nodes[at(k)];
      k = holds(trees, node, x.as_double(row * features + node.feature)) ? node.if_true : node.if_false;
    }
    for (const Trees::Vote& vote : trees.leaves[at(-1 - k)]) add_vote(trees, vote, scores);
  }
  if (trees.aggregate == Aggregate::Average) {
    for (double& v : scores.value) v /= static_cast<double>(std::max<size_t>(trees.roots.size(), 1));
  }
  return scores;
}

// -- C

namespace {

template <class List, class Get>
std::string table_of(EmitContext& context, ElementType elem, const List& list, Get get) {
  Tensor t(TensorType{elem, {static_cast<int64_t>(list.size())}});
  int64_t i = 0;
  for (const auto& e : list) {
    if constexpr (std::is_floating_point_v<decltype(get(e))>) {
      t.set_double(i++, get(e));
    } else {
      t.set_int(i++, static_cast<int64_t>(get(e)));
    }
  }
  return context.table(t);
}

}  // namespace

TreesText::TreesText(EmitContext& context, const Trees& trees, ElementType x, ElementType elem)
    : context_(context), trees_(trees), elem_(elem) {
  // Both sides are exact in the wider of the two types.
  compare_ = x == E::F32 && trees.value_type == E::F32 ? E::F32 : E::F64;
  for (const auto& n : trees.nodes) {
    one_split_ = one_split_ && n.split == trees.nodes[0].split;
    any_missing_ = any_missing_ || n.missing_is_true;
    any_member_ = any_member_ || n.split == Split::Member;
  }
  using Node = Trees::Node;
  const auto& nodes = trees.nodes;
  features_ = table_of(context, E::I32, nodes, [](const Node& n) { return n.feature; });
  values_ = table_of(context, compare_, nodes, [](const Node& n) { return n.value; });
  yes_ = table_of(context, E::I32, nodes, [](const Node& n) { return n.if_true; });
  no_ = table_of(context, E::I32, nodes, [](const Node& n) { return n.if_false; });
  if (!one_split_)
    splits_ = table_of(context, E::U8, nodes, [](const Node& n) { return static_cast<int>(n.split); });
  if (any_missing_)
    missing_ = table_of(context, E::U8, nodes, [](const Node& n) { return n.missing_is_true; });
  if (any_member_) {
    std::vector<int64_t> bounds;
    for (const Node& n : nodes) bounds.insert(bounds.end(), {n.set_begin, n.set_end});
    set_begin_ = table_of(context, E::I32, bounds, [](int64_t v) { return v; });
    members_ = table_of(context, compare_, trees.members, [](double v) { return v; });
  }
  roots_ = table_of(context, E::I32, trees.roots, [](int64_t r) { return r; });
  std::vector<int64_t> first{0}, targets;
  std::vector<double> weights;
  for (const auto& leaf : trees.leaves) {
    for (const auto& vote : leaf) {
      targets.push_back(vote.target);
      weights.push_back(vote.weight);
    }
    first.push_back(static_cast<int64_t>(targets.size()));
  }
  first_ = table_of(context, E::I32, first, [](int64_t v) { return v; });
  targets_ = table_of(context, E::I32, targets, [](int64_t v) { return v; });
  weights_ = table_of(context, elem, weights, [](double v) { return v; });
}

std::string TreesText::condition(std::string_view v) const {
  constexpr std::string_view kOperators[] = {"<=", "<", ">=", ">", "==", "!="};
  auto compare = [&](Split s) {
    return s == Split::Member ? std::string("member")
                              : fmt::format("{} {} {}[k]", v, kOperators[static_cast<size_t>(s)], values_);
  };
  if (one_split_) return compare(trees_.nodes.empty() ? Split::Leq : trees_.nodes[0].split);
  std::string text;
  for (int s = 0; s < 6; ++s)
    text += fmt::format("{}[k] == {} ? {} : ", splits_, s, compare(static_cast<Split>(s)));
  return text + (any_member_ ? "member" : "0");
}

std::string TreesText::vote(std::string_view y, std::string_view has) const {
  bool sum = trees_.aggregate == Aggregate::Sum || trees_.aggregate == Aggregate::Average;
  std::string target = fmt::format("{}[{}[j]]", y, targets_), weight = weights_ + "[j]";
  if (sum) return fmt::format("{} += {};", target, weight);
  return fmt::format("if (!{}[{}[j]] || {} {} {}) {} = {};", has, targets_, weight,
                     trees_.aggregate == Aggregate::Min ? "<" : ">", target, target, weight);
}

// MIN and MAX need `has`.
void TreesText::emit_row(std::string_view y, std::string_view has) const {
  auto line = [&](const std::string& text) { context_.line(text); };
  line(fmt::format("for (ptrdiff_t j = 0; j < {}; ++j) {}[j] = 0;", trees_.targets, y));
  if (!has.empty()) line(fmt::format("for (ptrdiff_t j = 0; j < {}; ++j) {}[j] = 0;", trees_.targets, has));
  context_.loop("tree", static_cast<int64_t>(trees_.roots.size()));
  line(fmt::format("int32_t k = {}[tree];", roots_));
  context_.open("while (k >= 0)");
  line(fmt::format("const {0} v = ({0})x[{1}[k]];", c_type(compare_), features_));
  if (any_member_) {
    line("int member = 0;");
    line(fmt::format("for (int32_t j = {0}[2 * k]; j < {0}[2 * k + 1]; ++j) member = member || v == {1}[j];",
                     set_begin_, members_));
  }
  std::string missing = any_missing_ ? fmt::format("({}[k] && v != v) || ", missing_) : "";
  line(fmt::format("k = {}({}) ? {}[k] : {}[k];", missing, condition("v"), yes_, no_));
  context_.close();
  context_.open(fmt::format("for (int32_t j = {0}[-1 - k]; j < {0}[-k]; ++j)", first_));
  line(vote(y, has));
  if (!has.empty()) line(fmt::format("{}[{}[j]] = 1;", has, targets_));
  context_.close();
  context_.close();
  if (trees_.aggregate == Aggregate::Average && !trees_.roots.empty())
    line(fmt::format("for (ptrdiff_t j = 0; j < {}; ++j) {}[j] /= {};", trees_.targets, y,
                     c_literal(static_cast<double>(trees_.roots.size()), elem_)));
}

}  // namespace mrvlc::ops::ml
