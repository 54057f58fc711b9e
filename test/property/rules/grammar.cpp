#include "grammar.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "mrvlc/ops/op.h"
#include "mrvlc/partition/rules.h"

namespace mrvlc::rule_trials {
namespace {

using random::Dice;

std::string operator_text(const ir::OpSchema& op) {
  return op.domain.empty() ? std::string(op.name) : fmt::format("{}::{}", op.domain, op.name);
}

// One rule: an anchor of the graph and, more or less, what follows it there.
class RuleText {
 public:
  RuleText(Dice& dice, const ir::Graph& graph, const std::vector<std::string>& groups)
      : dice_(dice), graph_(graph), groups_(groups) {}

  std::string make(int number) {
    const std::vector<ir::NodeId> nodes = graph_.topological_order();
    const ir::Node& anchor = graph_.node(dice_.of(nodes));
    const rules::LayerWord& kind = kind_for(anchor);
    const std::string match = chain(anchor, kind);
    std::vector<std::string> clauses = {
        fmt::format("layer {}", kind.name),
        fmt::format("priority {}", dice_.chance(50) ? dice_.pick(1, 8) : dice_.pick(1, 220)),
        "why \"chance\"", "match {\n" + match + "  }"};
    if (const std::string where = conditions(); !where.empty()) clauses.push_back("where " + where);
    if (dice_.chance(1))
      clauses.erase(clauses.begin() + dice_.pick(0, static_cast<int64_t>(clauses.size()) - 1));
    return fmt::format("rule r{} {{\n  {}\n}}\n", number, fmt::join(clauses, "\n  "));
  }

 private:
  const rules::LayerWord& kind_for(const ir::Node& anchor) {
    const auto& kinds = partition::layer_words();
    if (dice_.chance(10)) return kinds.back();  // cpu
    std::vector<const rules::LayerWord*> fitting;
    for (const rules::LayerWord& k : kinds) {
      if (std::ranges::find(k.anchors, &ops::op_def(anchor)) != k.anchors.end()) fitting.push_back(&k);
    }
    if (fitting.empty()) return dice_.chance(80) ? kinds.back() : dice_.of(kinds);
    return dice_.chance(96) ? *dice_.of(fitting) : dice_.of(kinds);
  }

  std::string fresh(const char* stem) { return fmt::format("%{}{}", stem, ++names_); }

  // The node and up to five that follow it; each element reads the one before it, or at times another one.
  std::string chain(const ir::Node& anchor, const rules::LayerWord& kind) {
    std::string out;
    ir::NodeId at = anchor.id;
    std::string before;
    std::vector<std::string> elements;
    for (int64_t left = dice_.pick(0, 5); at.valid(); --left) {
      const ir::Node& node = graph_.node(at);
      const std::string name = fresh("e");
      if (!elements.empty() && dice_.chance(8)) before = dice_.of(elements);
      out += element(node, name, before, at == anchor.id ? &kind : nullptr);
      elements.push_back(name);
      before = name;
      at = left > 0 ? reader(node) : ir::NodeId();
    }
    return out;
  }

  ir::NodeId reader(const ir::Node& node) {
    if (node.outputs.empty() || !node.outputs[0].valid()) return {};
    const auto& users = graph_.value(node.outputs[0]).users;
    return users.empty() ? ir::NodeId() : dice_.of(users);
  }

  // `kind`: of the layer, when it is the anchor.
  std::string element(const ir::Node& node, const std::string& name, const std::string& before,
                      const rules::LayerWord* kind) {
    const std::string repeat =
        kind != nullptr ? (dice_.chance(1) ? "?" : "") : dice_.of<const char*>({"", "?", "*", "*"});
    const std::string operators = kind != nullptr ? anchors(node, *kind) : alternatives(node);
    const bool several = operators.find_first_of("|@") != std::string::npos && !dice_.chance(4);
    nodes_.push_back({name, several ? nullptr : &ops::op_def(node)});
    return fmt::format("    {} = {}({}){}\n", name, operators,
                       fmt::join(operands(node, before, repeat == "*", several), ", "), repeat);
  }

  std::string anchors(const ir::Node& node, const rules::LayerWord& kind) {
    if (kind.anchors.empty() || dice_.chance(3)) return alternatives(node);
    std::vector<std::string> names = {operator_text(*node.op)};
    while (dice_.chance(25)) names.push_back(operator_text(*dice_.of(kind.anchors)));
    return fmt::format("{}", fmt::join(names, " | "));
  }

  std::string alternatives(const ir::Node& node) {
    if (!groups_.empty() && dice_.chance(15)) return dice_.of(groups_);
    std::vector<std::string> names = {operator_text(*node.op)};
    while (dice_.chance(25)) {
      const ops::OpDef& op = ops::op_def(graph_.node(dice_.of(graph_.topological_order())));
      names.push_back(operator_text(dice_.chance(50) ? op : *dice_.of(ops::all_ops())));
    }
    return fmt::format("{}", fmt::join(names, " | "));
  }

  // `several`: what different operators have in common is that they have operands.
  std::vector<std::string> operands(const ir::Node& node, const std::string& before, bool many,
                                    bool several) {
    std::vector<std::string> out;
    bool linked = before.empty();
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (linked && (several ? !out.empty() : dice_.chance(8))) break;
      const bool reads_before = !linked && (i + 1 == node.inputs.size() || dice_.chance(70));
      linked = linked || reads_before;
      out.push_back(reads_before ? before : leaf(many));
    }
    if (several || dice_.chance(out.size() == node.inputs.size() ? 15 : 97)) out.push_back("...");
    return out;
  }

  std::string leaf(bool many) {
    if (dice_.chance(25)) return dice_.chance(30) ? "_?" : "_";
    if (!values_.empty() && dice_.chance(8)) return dice_.of(values_);
    const std::string name = fresh("v");
    if (!many) values_.push_back(name);
    return dice_.chance(20) ? name + "?" : name;
  }

  std::string conditions() {
    std::vector<std::string> out;
    while (dice_.chance(20)) {
      std::string c = condition();
      if (dice_.chance(10)) c += " or " + condition();
      out.push_back(c);
    }
    return fmt::format("{}", fmt::join(out, ", "));
  }

  std::string any_value() {
    return values_.empty() || dice_.chance(20) ? dice_.of(nodes_).first : dice_.of(values_);
  }

  std::string relation() { return dice_.of<const char*>({"==", "!=", "<", "<=", ">", ">="}); }

  std::string condition() {
    const std::string v = any_value(), e = dice_.of(nodes_).first, no = dice_.chance(15) ? "not " : "";
    switch (dice_.pick(0, 12)) {
      case 0:
        return fmt::format("{}constant({})", no, v);
      case 1:
        return fmt::format("{}activation({})", no, v);
      case 2:
        return fmt::format("rank({}) in {}..{}", v, dice_.pick(0, 3), dice_.pick(2, 6));
      case 3:
        return fmt::format("elem({}) in {{f32, f16{}}}", v, dice_.chance(50) ? ", i64" : "");
      case 4:
        return fmt::format("dim({}, {}) {} {}", v, dice_.pick(-4, 3), relation(), dice_.pick(0, 9));
      case 5:
        return fmt::format("elements({}) {} {}", v, relation(), dice_.pick(0, 200));
      case 6:
        return fmt::format("inputs({}) {} {}", e, relation(), dice_.pick(0, 4));
      case 7:
        return fmt::format("outputs({}) <= {}", e, dice_.pick(1, 3));
      case 8:
        return fmt::format("uses({}) {} {}", v, relation(), dice_.pick(0, 3));
      case 9:
        return fmt::format("{}same_shape({}, {})", no, v, any_value());
      case 10:
        return fmt::format("{}scalar({})", no, v);
      case 11:
        return fmt::format("output_unused({}, {})", e, dice_.pick(0, 3));
      default:
        return attribute();
    }
  }

  std::string attribute() {
    const auto& [name, op] = dice_.of(nodes_);
    if (op == nullptr || op->attrs.empty()) return "rank(" + name + ") >= 0";
    const ir::AttrSpec& spec = dice_.of(op->attrs);
    const std::string value = spec.kind == ir::AttrKind::String  ? "\"NOTSET\""
                              : spec.kind == ir::AttrKind::Float ? "0.5"
                                                                 : std::to_string(dice_.pick(-1, 3));
    return fmt::format("attr({}, \"{}\") {} {}", name, spec.name, dice_.of<const char*>({"==", "!="}), value);
  }

  Dice& dice_;
  const ir::Graph& graph_;
  const std::vector<std::string>& groups_;
  int names_ = 0;
  std::vector<std::pair<std::string, const ops::OpDef*>> nodes_;  // nullptr: of several operators
  std::vector<std::string> values_;
};

}  // namespace

std::string random_rules(Dice& dice, const ir::Graph& graph) {
  std::string out;
  std::vector<std::string> groups;
  while (dice.chance(25)) {
    groups.push_back(fmt::format("@g{}", groups.size()));
    std::vector<std::string> names;
    for (int64_t i = dice.pick(1, 5); i > 0; --i)
      names.push_back(operator_text(*graph.node(dice.of(graph.topological_order())).op));
    out += fmt::format("group g{} = {}\n", groups.size() - 1, fmt::join(names, " | "));
  }
  const int64_t count = dice.pick(1, 4);
  for (int i = 0; i < count; ++i) out += RuleText(dice, graph, groups).make(i);
  return out;
}

}  // namespace mrvlc::rule_trials
