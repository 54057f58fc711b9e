#include "mrvlc/rules/matcher.h"

#include <algorithm>

namespace mrvlc::rules {
namespace {

bool is_operator(const Element& element, const ir::OpSchema& op) {
  return std::any_of(element.operators.begin(), element.operators.end(),
                     [&](const Operator& o) { return o.def == &op; });
}

bool commutative(const ir::Node& node) {
  return node.inputs.size() == 2 && ops::traits(node).commutative;
}

class Search {
 public:
  Search(const Rule& rule, const ir::Graph& graph, const MatchOptions& options)
      : rule_(rule), graph_(graph), options_(options) {
    match_.rule = &rule;
  }

  Outcome run(ir::NodeId anchor) {
    match_.anchor = anchor;
    const Element& first = rule_.pattern.front();
    note_structure(0);
    if (take(first, anchor, nullptr)) next(1, 0);
    return std::move(outcome_);
  }

 private:
  // The operand of an element that ties it to what is matched already.
  const Binding* link_of(const Element& e) const {
    for (const PatternOperand& o : e.operands) {
      if (o.kind != PatternOperand::Kind::Capture) continue;
      const Binding* b = match_.find(o.capture);
      if (b != nullptr && b->is_node) return b;
    }
    return nullptr;
  }

  // True: accepted, the search is over.
  bool next(size_t index, size_t repeats) {
    if (index == rule_.pattern.size()) return candidate();
    const Element& e = rule_.pattern[index];
    const Binding* link = repeats > 0 ? match_.find(e.capture) : link_of(e);
    if (link == nullptr) return false;
    Binding from = *link;
    if (repeats < kMaxRepeats && extend(e, index, from, repeats)) return true;
    if (e.repeat == Element::Repeat::One) return false;
    return skip(e, index, from, repeats);
  }

  bool extend(const Element& e, size_t index, const Binding& link, size_t repeats) {
    if (!link.value.valid()) return false;
    const ir::Value& value = graph_.value(link.value);
    // An interior value may only have matched users, so one with more users than elements cannot be one.
    if (value.users.size() > rule_.pattern.size() || graph_.is_output(link.value)) return false;
    for (size_t i = 0; i < value.users.size(); ++i) {
      ir::NodeId user = value.users[i];
      if (std::find(value.users.begin(), value.users.begin() + static_cast<std::ptrdiff_t>(i), user) !=
          value.users.begin() + static_cast<std::ptrdiff_t>(i)) {
        continue;
      }
      if (!may_extend(e, user)) continue;
      size_t nodes = match_.nodes.size(), bindings = match_.bindings.size();
      if (take(e, user, &link) && after_take(e, index, repeats)) return true;
      match_.nodes.resize(nodes);
      match_.bindings.resize(bindings);
    }
    return false;
  }

  bool after_take(const Element& e, size_t index, size_t repeats) {
    if (e.repeat == Element::Repeat::Many) return next(index, repeats + 1);
    return next(index + 1, 0);
  }

  bool may_extend(const Element& e, ir::NodeId user) {
    if (++steps_ > kMaxMatchSteps) return false;
    if (!is_operator(e, *graph_.node(user).op)) return false;
    if (std::find(match_.nodes.begin(), match_.nodes.end(), user) != match_.nodes.end()) return false;
    if (options_.available && !options_.available(user)) return false;
    return !(options_.starts_region && options_.starts_region(user));
  }

  // Leaves the element out, or ends its repetition: its name then stands for what it would have read.
  bool skip(const Element& e, size_t index, const Binding& link, size_t repeats) {
    size_t bindings = match_.bindings.size();
    if (repeats == 0) {
      for (const PatternOperand& o : e.operands) {
        if (o.kind == PatternOperand::Kind::Capture && match_.find(o.capture) == nullptr) {
          match_.bindings.push_back({o.capture, false, true, {}, {}});
        }
      }
      match_.bindings.push_back({e.capture, true, true, link.node, link.value});
    }
    bool found = next(index + 1, 0);
    match_.bindings.resize(bindings);
    return found;
  }

  bool take(const Element& e, ir::NodeId id, const Binding* link) {
    const ir::Node& node = graph_.node(id);
    size_t bindings = match_.bindings.size();
    bool ok = operands(e, node.inputs, link);
    if (!ok && commutative(node)) {
      match_.bindings.resize(bindings);
      ok = operands(e, {node.inputs[1], node.inputs[0]}, link);
    }
    if (!ok) return false;
    ir::ValueId output = node.outputs.empty() ? ir::ValueId() : node.outputs[0];
    match_.bindings.push_back({e.capture, true, false, id, output});
    match_.nodes.push_back(id);
    return true;
  }

  bool operands(const Element& e, const std::vector<ir::ValueId>& inputs, const Binding* link) {
    for (size_t i = 0; i < e.operands.size(); ++i) {
      const PatternOperand& o = e.operands[i];
      if (o.kind == PatternOperand::Kind::Rest) return true;
      if (!operand(e, o, i < inputs.size() ? inputs[i] : ir::ValueId(), link)) return false;
    }
    return std::none_of(
        inputs.begin() + static_cast<std::ptrdiff_t>(std::min(inputs.size(), e.operands.size())),
        inputs.end(), [](ir::ValueId v) { return v.valid(); });
  }

  bool operand(const Element& e, const PatternOperand& o, ir::ValueId value, const Binding* link) {
    const Binding* bound = o.kind == PatternOperand::Kind::Capture ? match_.find(o.capture) : nullptr;
    if (bound != nullptr && bound->is_node) {
      // In a repetition the name of the element read stands for the previous one.
      ir::ValueId expected =
          e.repeat == Element::Repeat::Many && link != nullptr ? link->value : bound->value;
      return value == expected;
    }
    if (bound != nullptr) return value == bound->value;
    if (!value.valid() && !o.optional) return false;
    if (o.kind == PatternOperand::Kind::Capture && e.repeat != Element::Repeat::Many) {
      match_.bindings.push_back({o.capture, false, !value.valid(), {}, value});
    }
    return true;
  }

  // The chain is complete: nothing inside may be read outside, then the conditions decide, then legality.
  bool candidate() {
    if (!inside_only()) return false;
    Context context{graph_, match_};
    for (size_t i = 0; i < rule_.where.size(); ++i) {
      Verdict v = evaluate(rule_.where[i], context);
      if (!v.ok) return refused(std::move(v), i);
    }
    Verdict v = options_.legal ? options_.legal(match_) : Verdict();
    if (!v.ok) return refused(std::move(v), rule_.where.size());
    outcome_ = {};
    outcome_.match = match_;
    return true;
  }

  bool refused(Verdict v, size_t conditions_held) {
    outcome_ = {std::nullopt,       std::move(v.condition), std::move(v.actual),
                std::move(v.limit), std::move(v.reason),    1000 + conditions_held};
    return false;
  }

  bool inside_only() {
    for (size_t i = 0; i + 1 < match_.nodes.size(); ++i) {
      for (ir::ValueId out : graph_.node(match_.nodes[i]).outputs) {
        if (out.valid() && !used_inside(out)) return false;
      }
    }
    return true;
  }

  bool used_inside(ir::ValueId value) const {
    const auto& users = graph_.value(value).users;
    if (users.size() > 2 * match_.nodes.size() || graph_.is_output(value)) return false;
    return std::all_of(users.begin(), users.end(), [&](ir::NodeId u) {
      return std::find(match_.nodes.begin(), match_.nodes.end(), u) != match_.nodes.end();
    });
  }

  // What to say when no candidate was complete: the first element that has to be there after the anchor.
  void note_structure(size_t index) {
    for (size_t i = index + 1; i < rule_.pattern.size(); ++i) {
      const Element& e = rule_.pattern[i];
      if (e.repeat != Element::Repeat::One) continue;
      outcome_ = {
          std::nullopt,
          e.text,
          "no such chain",
          operators_text(e),
          fmt::format("no chain of operators follows as in '{}', each result read inside it only.", e.text),
          i};
      return;
    }
    const Element& first = rule_.pattern.front();
    outcome_ = {std::nullopt,
                first.text,
                "other operands",
                first.text,
                fmt::format("the operands are not those of '{}'.", first.text),
                0};
  }

  const Rule& rule_;
  const ir::Graph& graph_;
  const MatchOptions& options_;
  Match match_;
  Outcome outcome_;
  size_t steps_ = 0;
};

}  // namespace

bool anchors(const Rule& rule, const ir::Node& node) {
  return is_operator(rule.pattern.front(), *node.op);
}

Outcome try_rule(const Rule& rule, const ir::Graph& graph, ir::NodeId anchor, const MatchOptions& options) {
  return Search(rule, graph, options).run(anchor);
}

}  // namespace mrvlc::rules
