#include "faithful.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "mrvlc/ops/op.h"
#include "mrvlc/ops/op_kind.h"
#include "mrvlc/partition/rules.h"
#include "truths.h"

namespace mrvlc::rule_trials {
namespace {

using random::Dice;

std::string operator_text(const ir::OpSchema& op) {
  return op.domain.empty() ? std::string(op.name) : fmt::format("{}::{}", op.domain, op.name);
}

bool begins_product(const ir::Node& node) {
  return std::ranges::any_of(
      kLayerKinds, [&](LayerKind kind) { return multiplies(kind) && ops::op_def(node).accel.has(kind); });
}

// A connected part of the graph as a pattern, with some of its elements optional, repeated, in parentheses,
// in groups, or as lists.
class Faithful {
 public:
  Faithful(Dice& dice, const ir::Graph& graph, rules::Stage stage, int number)
      : dice_(dice), graph_(graph), stage_(stage), number_(number) {}

  std::string make() {
    choose_members();
    for (ir::NodeId n : members_) name_results(graph_.node(n));
    std::vector<std::string> lines;
    for (ir::NodeId n : members_) lines.push_back(element(graph_.node(n), n == members_.front()));
    bind_parentheses(lines);
    for (std::string& line : beside_) lines.push_back(std::move(line));
    const std::string where = true_conditions(dice_, graph_, bound_);
    return fmt::format(
        "{}rule f{} {{\n  layer {}\n  priority {}\n  why \"chance\"\n{}  match {{\n    {}\n  }}\n{}}}\n",
        groups_, number_, kind(), 1000 + 7 * dice_.pick(0, 40) + number_,
        stage_ == rules::Stage::Source ? "  stage source\n" : "", fmt::join(lines, "\n    "),
        where.empty() ? "" : "  where " + where + "\n");
  }

 private:
  ir::NodeId first() {
    const std::vector<ir::NodeId> nodes = graph_.topological_order();
    std::vector<ir::NodeId> products;
    for (ir::NodeId n : nodes)
      if (begins_product(graph_.node(n))) products.push_back(n);
    return !products.empty() && dice_.chance(70) ? dice_.of(products) : dice_.of(nodes);
  }

  // Epilogues follow their product; what stands in front of it is for the imported graph.
  void choose_members() {
    members_ = {first()};
    const int readers = stage_ == rules::Stage::Source ? 65 : 92;
    for (int64_t left = dice_.pick(0, 7); left > 0; --left) {
      const ir::NodeId from = dice_.chance(70) ? members_.back() : dice_.of(members_);
      const ir::NodeId n = neighbour(graph_.node(from), dice_.chance(readers));
      if (n.valid() && std::ranges::find(members_, n) == members_.end()) members_.push_back(n);
    }
    if (members_.size() > 2 && dice_.chance(15)) std::swap(members_[0], members_[1]);
  }

  ir::NodeId neighbour(const ir::Node& node, bool reader) {
    std::vector<ir::NodeId> found;
    if (reader) {
      for (ir::ValueId v : node.outputs)
        found.insert(found.end(), graph_.value(v).users.begin(), graph_.value(v).users.end());
    } else {
      for (ir::ValueId v : node.inputs)
        if (v.valid() && graph_.value(v).producer.valid()) found.push_back(graph_.value(v).producer);
    }
    std::ranges::sort(found);
    return found.empty() ? ir::NodeId() : dice_.of(found);
  }

  std::string fresh(const char* stem) { return fmt::format("%{}{}", stem, ++count_); }

  void name_results(const ir::Node& node) {
    bound_.nodes.emplace_back(fresh("n"), node.id);
    for (size_t i = 0; i < node.outputs.size(); ++i)
      names_[node.outputs[i]] = i == 0 ? bound_.nodes.back().first : fresh("o");
    if (!node.outputs.empty()) made_.insert(node.outputs[0]);
  }

  std::string results(const ir::Node& node) const {
    std::string out = names_.at(node.outputs[0]);
    size_t last = node.outputs.size();
    while (last > 1 && graph_.value(node.outputs[last - 1]).users.empty()) --last;
    for (size_t i = 1; i < last; ++i) out += ", " + names_.at(node.outputs[i]);
    return out;
  }

  std::string element(const ir::Node& node, bool anchor) {
    const char* repeat = "";
    if (!anchor && reads_member(node)) repeat = dice_.chance(20) ? "?" : dice_.chance(8) ? "*" : "";
    return fmt::format("{} = {}({}){}", results(node), operators(node, anchor), operands(node), repeat);
  }

  bool reads_member(const ir::Node& node) const {
    return std::ranges::any_of(node.inputs, [&](ir::ValueId v) { return made_.contains(v); });
  }

  // Operators that take as many operands can stand for each other.
  std::string operators(const ir::Node& node, bool anchor) {
    if (!dice_.chance(anchor ? 2 : 20)) return operator_text(*node.op);
    std::set<std::string> all = {operator_text(*node.op)};
    for (ir::NodeId n : graph_.topological_order()) {
      const ir::Node& other = graph_.node(n);
      if (other.inputs.size() == node.inputs.size() && other.outputs.size() == node.outputs.size() &&
          dice_.chance(50))
        all.insert(operator_text(*other.op));
    }
    if (dice_.chance(50)) return fmt::format("{}", fmt::join(all, " | "));
    const std::string group = fmt::format("set{}_{}", number_, ++count_);
    groups_ += fmt::format("group {} = {}\n", group, fmt::join(all, " | "));
    return "@" + group;
  }

  std::string operands(const ir::Node& node) {
    if (node.inputs.size() > 1 && listable(node) && dice_.chance(60)) return list(node);
    std::vector<std::string> out;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (i > 0 && dice_.chance(10) && none_from(node, i)) {
        out.push_back("...");
        break;
      }
      out.push_back(operand(node.inputs[i]));
    }
    return fmt::format("{}", fmt::join(out, ", "));
  }

  std::string operand(ir::ValueId v) {
    if (!v.valid()) return "_?";
    if (auto it = names_.find(v); it != names_.end()) return it->second;
    if (dice_.chance(15)) return "_";
    const std::string name = fresh("v");
    names_[v] = name;
    bound_.values.emplace_back(name, v);
    return name;
  }

  bool none_from(const ir::Node& node, size_t at) const {
    return std::none_of(node.inputs.begin() + static_cast<long>(at), node.inputs.end(),
                        [&](ir::ValueId v) { return v.valid() && names_.contains(v); });
  }

  bool listable(const ir::Node& node) const {
    return node.is(Op::Concat, Op::Sum, Op::Max, Op::Min, Op::Mean) && none_from(node, 0);
  }

  // `%l...`, and at times what makes its values.
  std::string list(const ir::Node& node) {
    const std::string name = fresh("l");
    const ir::NodeId maker = node.inputs[0].valid() ? graph_.value(node.inputs[0]).producer : ir::NodeId();
    if (maker.valid() && dice_.chance(60))
      beside_.push_back(
          fmt::format("{}... = {}({}...)", name, operator_text(*graph_.node(maker).op), fresh("l")));
    return name + "...";
  }

  // The last elements become one item: optional, repeated, or one of two.
  void bind_parentheses(std::vector<std::string>& lines) {
    if (lines.size() < 2 || !dice_.chance(25)) return;
    const auto from = dice_.pick(1, static_cast<int64_t>(lines.size()) - 1);
    const std::string inside = fmt::format("{}", fmt::join(lines.begin() + from, lines.end(), " "));
    lines.resize(static_cast<size_t>(from));
    const std::string again = dice_.chance(30) ? " | " + inside : "";
    lines.push_back(fmt::format("( {}{} ){}", inside, again, dice_.of<const char*>({"", "?", "?", "*"})));
  }

  // What the passes leave of imported nodes has a kind of its own: any of the members' will do.
  std::string kind() {
    if (dice_.chance(8)) return std::string(partition::kCpuKind);
    std::set<std::string_view> fitting;
    for (ir::NodeId n : members_) {
      for (const rules::LayerWord& k : partition::layer_words()) {
        if (std::ranges::find(k.anchors, &ops::op_def(graph_.node(n))) != k.anchors.end())
          fitting.insert(k.name);
      }
      if (stage_ == rules::Stage::Canonical) break;  // of its anchor
    }
    if (stage_ == rules::Stage::Source && (fitting.empty() || dice_.chance(25)))
      return std::string(dice_.of<const char*>({"conv", "fc", "norm", "elementwise", "softmax"}));
    if (fitting.empty()) return std::string(partition::kCpuKind);
    return std::string(dice_.of(std::vector(fitting.begin(), fitting.end())));
  }

  Dice& dice_;
  const ir::Graph& graph_;
  const rules::Stage stage_;
  const int number_;
  int count_ = 0;
  std::vector<ir::NodeId> members_;  // the anchor first
  std::map<ir::ValueId, std::string> names_;
  std::set<ir::ValueId> made_;  // by members
  Bound bound_;
  std::string groups_;
  std::vector<std::string> beside_;
};

}  // namespace

std::string faithful_rule(Dice& dice, const ir::Graph& graph, rules::Stage stage, int number) {
  return Faithful(dice, graph, stage, number).make();
}

}  // namespace mrvlc::rule_trials
