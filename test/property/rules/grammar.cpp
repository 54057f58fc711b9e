#include "grammar.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "conditions.h"
#include "faithful.h"
#include "mrvlc/partition/rules.h"

namespace mrvlc::rule_trials {
namespace {

using random::Dice;

std::string operator_text(const ir::OpSchema& op) {
  return op.domain.empty() ? std::string(op.name) : fmt::format("{}::{}", op.domain, op.name);
}

// One rule: an anchor of the graph and, more or less, what stands around it there.
class RuleText {
 public:
  RuleText(Dice& dice, const ir::Graph& graph, rules::Stage stage, const std::vector<std::string>& groups)
      : dice_(dice), graph_(graph), stage_(stage), groups_(groups) {}

  std::string make(int number) {
    const std::vector<ir::NodeId> nodes = graph_.topological_order();
    const ir::Node& anchor = graph_.node(dice_.of(nodes));
    const rules::LayerWord& kind = kind_for(anchor);
    const std::string match = pattern(anchor, kind);
    std::vector<std::string> clauses = {
        fmt::format("layer {}", kind.name),
        fmt::format("priority {}", dice_.chance(50) ? dice_.pick(1, 8) : dice_.pick(1, 220)),
        "why \"chance\"", "match {\n" + match + "  }"};
    if (const std::string where = random_conditions(dice_, names_); !where.empty())
      clauses.push_back("where " + where);
    if (stage_ == rules::Stage::Source) clauses.push_back("stage source");
    if (stage_ == rules::Stage::Canonical && dice_.chance(3)) clauses.push_back("stage canonical");
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

  std::string fresh(const char* stem) { return fmt::format("%{}{}", stem, ++count_); }

  std::string pattern(const ir::Node& anchor, const rules::LayerWord& kind) {
    std::vector<std::string> lines = chain(anchor, kind);
    if (lines.size() > 1 && dice_.chance(20)) together(lines);
    for (std::string& line : beside_) lines.push_back(std::move(line));
    if (dice_.chance(10)) add_sibling(anchor, lines);
    std::string out;
    for (const std::string& line : lines) out += "    " + line + "\n";
    return out;
  }

  // The node and up to five that follow it; each element reads the one before it, or at times another one.
  std::vector<std::string> chain(const ir::Node& anchor, const rules::LayerWord& kind) {
    std::vector<std::string> lines;
    ir::NodeId at = anchor.id;
    std::string before;
    std::vector<std::string> elements;
    for (int64_t left = dice_.pick(0, 5); at.valid(); --left) {
      const ir::Node& node = graph_.node(at);
      const std::string name = fresh("e");
      if (!elements.empty() && dice_.chance(8)) before = dice_.of(elements);
      lines.push_back(element(node, name, before, at == anchor.id ? &kind : nullptr));
      elements.push_back(name);
      before = name;
      at = left > 0 ? reader(node) : ir::NodeId();
    }
    return lines;
  }

  // The last elements as one that is optional, repeated, or has an alternative.
  void together(std::vector<std::string>& lines) {
    const auto from = static_cast<size_t>(dice_.pick(1, static_cast<int64_t>(lines.size()) - 1));
    std::string inside =
        fmt::format("{}", fmt::join(lines.begin() + static_cast<long>(from), lines.end(), " "));
    if (dice_.chance(40)) {
      const std::string& last = lines.back();
      const std::string name = last.substr(0, last.find_first_of(" ,"));
      const std::string operands = last.substr(last.find('('));
      inside += fmt::format(" | {} = {}{}", name, operator_text(*dice_.of(ops::all_ops())), operands);
    }
    lines.resize(from);
    lines.push_back(fmt::format("( {} ){}", inside, dice_.of<const char*>({"", "?", "*"})));
  }

  // Another operator that reads what the anchor reads.
  void add_sibling(const ir::Node& anchor, std::vector<std::string>& lines) {
    if (names_.values.empty() || anchor.inputs.empty() || !anchor.inputs[0].valid()) return;
    const ir::Node& other = graph_.node(dice_.of(graph_.value(anchor.inputs[0]).users));
    lines.push_back(fmt::format("{} = {}({}, ...){}", fresh("s"), operator_text(*other.op),
                                names_.values.front(), dice_.chance(50) ? "?" : ""));
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
    names_.nodes.push_back({name, several ? nullptr : &ops::op_def(node)});
    return fmt::format("{} = {}({}){}", results(node, name), operators,
                       fmt::join(operands(node, before, repeat == "*", several, kind != nullptr), ", "),
                       repeat);
  }

  // By their place, where there are several.
  std::string results(const ir::Node& node, const std::string& name) {
    std::string out = name;
    if (node.outputs.size() < 2 || dice_.chance(30)) return out;
    for (size_t i = 1; i < node.outputs.size(); ++i) {
      if (dice_.chance(10)) break;
      out += ", " + (dice_.chance(50) ? std::string("_") : fresh("o"));
    }
    return out;
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
  std::vector<std::string> operands(const ir::Node& node, const std::string& before, bool many, bool several,
                                    bool is_anchor) {
    std::vector<std::string> out;
    bool linked = before.empty();
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (linked && (several ? !out.empty() : dice_.chance(8))) break;
      const bool reads_before = !linked && (i + 1 == node.inputs.size() || dice_.chance(70));
      linked = linked || reads_before;
      out.push_back(reads_before ? before : is_anchor ? above(node.inputs[i], many) : leaf(many));
    }
    if (several || dice_.chance(out.size() == node.inputs.size() ? 15 : 97)) out.push_back(rest(node, many));
    return out;
  }

  // An operand, or the operator that makes it as one more element of the pattern.
  std::string above(ir::ValueId value, bool many) {
    const ir::NodeId maker = value.valid() ? graph_.value(value).producer : ir::NodeId();
    if (!maker.valid() || !dice_.chance(20)) return leaf(many);
    const ir::Node& node = graph_.node(maker);
    const std::string name = fresh("p");
    names_.nodes.push_back({name, &ops::op_def(node)});
    beside_.push_back(fmt::format("{} = {}({}){}", name, operator_text(*node.op),
                                  fmt::join(operands(node, "", false, false, false), ", "),
                                  dice_.chance(50) ? "?" : ""));
    return name;
  }

  // All further operands, at times as a list, and what makes each of them.
  std::string rest(const ir::Node& node, bool many) {
    if (many || !dice_.chance(25)) return "...";
    const std::string list = fresh("l");
    names_.lists.push_back(list);
    const ir::NodeId maker = node.inputs.empty() || !node.inputs.back().valid()
                                 ? ir::NodeId()
                                 : graph_.value(node.inputs.back()).producer;
    if (maker.valid() && dice_.chance(50)) {
      const std::string sources = fresh("l");
      beside_.push_back(
          fmt::format("{}... = {}({}..., ...)", list, operator_text(*graph_.node(maker).op), sources));
      names_.lists.push_back(sources);
    }
    return list + "...";
  }

  std::string leaf(bool many) {
    if (dice_.chance(25)) return dice_.chance(30) ? "_?" : "_";
    if (!names_.values.empty() && dice_.chance(8)) return dice_.of(names_.values);
    const std::string name = fresh("v");
    if (!many) names_.values.push_back(name);
    return dice_.chance(20) ? name + "?" : name;
  }

  Dice& dice_;
  const ir::Graph& graph_;
  const rules::Stage stage_;
  const std::vector<std::string>& groups_;
  int count_ = 0;
  Names names_;
  std::vector<std::string> beside_;  // elements that are not of the chain
};

}  // namespace

std::string random_rules(Dice& dice, const ir::Graph& graph, const ir::Graph& imported,
                         const ir::Graph& integers) {
  std::string out;
  std::vector<std::string> groups;
  while (dice.chance(25)) {
    groups.push_back(fmt::format("@g{}", groups.size()));
    std::vector<std::string> names;
    for (int64_t i = dice.pick(1, 5); i > 0; --i)
      names.push_back(operator_text(*graph.node(dice.of(graph.topological_order())).op));
    out += fmt::format("group g{} = {}\n", groups.size() - 1, fmt::join(names, " | "));
  }
  out += named_conditions(dice);
  const int64_t count = dice.pick(1, 4);
  for (int i = 0; i < count; ++i) {
    const rules::Stage stage = dice.chance(35) ? rules::Stage::Source : rules::Stage::Canonical;
    const ir::Graph& seen = stage == rules::Stage::Source ? imported : dice.chance(25) ? integers : graph;
    out +=
        dice.chance(60) ? faithful_rule(dice, seen, stage, i) : RuleText(dice, seen, stage, groups).make(i);
  }
  return out;
}

}  // namespace mrvlc::rule_trials
