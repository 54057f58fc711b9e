// Which node an element takes, and what a complete match must fulfil.
#include "mrvlc/rules/matcher.h"

#include <algorithm>

#include "search.h"

namespace mrvlc::rules {
namespace {

bool contains(const std::vector<ir::NodeId>& nodes, ir::NodeId id) {
  return std::ranges::find(nodes, id) != nodes.end();
}

// Whether something reads what the node makes, and all that do are among the nodes.
bool read_inside(const ir::Graph& graph, ir::NodeId id, const std::vector<ir::NodeId>& nodes) {
  bool read = false;
  for (ir::ValueId out : graph.node(id).outputs) {
    if (!out.valid()) continue;
    const ir::Value& value = graph.value(out);
    if (graph.is_output(out) || value.users.size() > 16 * nodes.size()) return false;
    read = read || !value.users.empty();
    if (!std::ranges::all_of(value.users, [&](ir::NodeId u) { return contains(nodes, u); })) return false;
  }
  return read;
}

// The node among `nodes` that makes the value; invalid: none of them.
ir::NodeId maker(const ir::Graph& graph, ir::ValueId value, const std::vector<ir::NodeId>& nodes) {
  if (!value.valid()) return {};
  const ir::NodeId id = graph.value(value).producer;
  return id.valid() && contains(nodes, id) ? id : ir::NodeId();
}

bool none_given(const std::vector<ir::ValueId>& inputs, size_t from) {
  return std::none_of(inputs.begin() + static_cast<std::ptrdiff_t>(std::min(inputs.size(), from)),
                      inputs.end(), [](ir::ValueId v) { return v.valid(); });
}

ir::ValueId at_or_none(const std::vector<ir::ValueId>& values, size_t i) {
  return i < values.size() ? values[i] : ir::ValueId();
}

}  // namespace

bool is_operator(const Element& element, const ir::OpSchema& op) {
  return std::any_of(element.operators.begin(), element.operators.end(),
                     [&](const Operator& o) { return o.def == &op; });
}

bool commutative(const ir::Node& node) {
  return node.inputs.size() == 2 && ops::traits(node).commutative;
}

bool one_result(const ir::Graph& graph, const std::vector<ir::NodeId>& nodes) {
  if (nodes.size() <= 1) return true;
  size_t read_outside = 0;
  for (ir::NodeId n : nodes) {
    if (!read_inside(graph, n, nodes) && ++read_outside > 1) return false;
  }
  return true;
}

void sort_nodes(const ir::Graph& graph, std::vector<ir::NodeId>& nodes) {
  std::vector<ir::NodeId> out, pending;
  for (ir::NodeId first : nodes) {
    if (!contains(out, first)) pending.push_back(first);
    while (!pending.empty()) {
      const ir::NodeId n = pending.back();
      ir::NodeId before;
      for (ir::ValueId in : graph.node(n).inputs) {
        const ir::NodeId producer = maker(graph, in, nodes);
        if (!before.valid() && producer.valid() && !contains(out, producer)) before = producer;
      }
      if (before.valid()) {
        pending.push_back(before);
        continue;
      }
      pending.pop_back();
      if (!contains(out, n)) out.push_back(n);
    }
  }
  nodes = std::move(out);
}

std::span<const ir::NodeId> MatchSearch::candidates(const Link& link, std::vector<ir::NodeId>& sorted) const {
  if (!link.value.valid()) return {};
  const ir::Value& value = graph_.value(link.value);
  if (link.upwards) return {&value.producer, value.producer.valid() ? size_t{1} : 0};
  // What is made inside may only be read by nodes of the match, so more readers than elements rule it out.
  if (link.inside && (value.users.size() > widest_ || graph_.is_output(link.value))) return {};
  if (value.users.size() < 2) return value.users;
  sorted = value.users;
  std::ranges::sort(sorted, {}, [&](ir::NodeId n) { return std::pair(graph_.node(n).position, n); });
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  return sorted;
}

bool MatchSearch::may_extend(const Element& e, ir::NodeId node, bool reads_match) {
  if (++steps_ > kMaxMatchSteps) return false;
  if (!is_operator(e, *graph_.node(node).op) || contains(match_.nodes, node)) return false;
  if (options_.available && !options_.available(node)) return false;
  return !(reads_match && options_.starts_region && options_.starts_region(node));
}

bool MatchSearch::take(const Element& e, ir::NodeId id, const Link* link, const std::function<bool()>& then) {
  const ir::Node& node = graph_.node(id);
  const Mark m = mark();
  for (bool swapped : {false, true}) {
    if (swapped && (!commutative(node) || node.inputs[0] == node.inputs[1] || ++steps_ > kMaxMatchSteps))
      return false;
    const bool ok =
        swapped ? operands(e, {node.inputs[1], node.inputs[0]}, link) : operands(e, node.inputs, link);
    if (ok && outputs(e, id, link)) {
      match_.nodes.push_back(id);
      if (then()) return true;
    }
    undo(m);
  }
  return false;
}

bool MatchSearch::output(const std::string& name, ir::NodeId id, size_t index) {
  const ir::ValueId value = at_or_none(graph_.node(id).outputs, index);
  if (index > 0 && !value.valid()) return false;
  const Binding* read = find(name);
  if (read != nullptr && !read->is_node && read->value != value) return false;
  bind({name, true, false, id, value});
  return true;
}

bool MatchSearch::outputs(const Element& e, ir::NodeId id, const Link* link) {
  const bool upwards = e.repeat == Repeat::Many && link != nullptr && link->upwards;
  if (upwards && at_or_none(graph_.node(id).outputs, 0) != link->value) return false;
  // Repeated upwards, the name stands for what the rest of the pattern reads: the result of the first round.
  const Binding* own = upwards ? find(e.capture) : nullptr;
  if ((own == nullptr || !own->is_node) && !output(e.capture, id, 0)) return false;
  for (size_t i = 0; i < e.further.size(); ++i) {
    if (!e.further[i].empty() && !output(e.further[i], id, i + 1)) return false;
  }
  return true;
}

bool MatchSearch::operands(const Element& e, const std::vector<ir::ValueId>& inputs, const Link* link) {
  for (size_t i = 0; i < e.operands.size(); ++i) {
    const PatternOperand& o = e.operands[i];
    if (o.kind == PatternOperand::Kind::Rest) return true;
    if (o.kind == PatternOperand::Kind::List) {
      std::vector<ir::ValueId> rest;
      for (size_t k = i; k < inputs.size(); ++k) {
        if (inputs[k].valid()) rest.push_back(inputs[k]);
      }
      return list_operand(o.capture, std::move(rest));
    }
    if (!operand(e, o, at_or_none(inputs, i), link)) return false;
  }
  return none_given(inputs, e.operands.size());
}

bool MatchSearch::operand(const Element& e, const PatternOperand& o, ir::ValueId value, const Link* link) {
  const Binding* bound = o.kind == PatternOperand::Kind::Capture ? find(o.capture) : nullptr;
  if (bound != nullptr && bound->is_node) {
    // In a repetition the name of the element read stands for the previous one.
    const bool previous = e.repeat == Repeat::Many && link != nullptr && !link->upwards;
    return value == (previous ? link->value : bound->value);
  }
  if (bound != nullptr) return value == bound->value;
  if (!value.valid() && !o.optional) return false;
  if (o.kind == PatternOperand::Kind::Capture && e.repeat != Repeat::Many)
    bind({o.capture, false, !value.valid(), {}, value});
  return true;
}

bool MatchSearch::list_operand(const std::string& capture, std::vector<ir::ValueId> values) {
  if (const Binding* bound = find(capture)) return bound->list && bound->values == values;
  Binding b;
  b.capture = capture;
  b.list = true;
  b.values = std::move(values);
  bind(std::move(b));
  return true;
}

// The operands of one operator of several; each `%x...` gathers one value of it.
bool MatchSearch::collect(const Element& e, const std::vector<ir::ValueId>& inputs,
                          std::vector<std::vector<ir::ValueId>>& lists) {
  for (size_t i = 0; i < e.operands.size(); ++i) {
    const PatternOperand& o = e.operands[i];
    if (o.kind == PatternOperand::Kind::Rest) return true;
    const ir::ValueId value = at_or_none(inputs, i);
    if (o.kind != PatternOperand::Kind::List) {
      if (!operand(e, o, value, nullptr)) return false;
      continue;
    }
    if (!value.valid()) return false;
    lists[i].push_back(value);
  }
  return none_given(inputs, e.operands.size());
}

// Nothing inside may be read outside, then the conditions decide, then legality.
bool MatchSearch::candidate() {
  if (!one_result(graph_, match_.nodes)) return read_outside();
  if (begins_region_inside()) return false;
  std::vector<ir::NodeId> as_matched;
  if (match_.nodes.size() > 1) {
    as_matched = match_.nodes;
    sort_nodes(graph_, match_.nodes);
  }
  const bool same = match_.nodes == refused_;
  const Context context{graph_, match_, options_.machine, options_.known};
  Verdict v;
  size_t held = 0;
  for (; v.ok && held < rule_.where.size(); held += v.ok ? 1 : 0) v = evaluate(rule_.where[held], context);
  const bool conditions = v.ok;
  const bool asked = same && illegal_;  // the same layer, reached by another order of operands
  if (conditions && !asked && options_.legal) v = options_.legal(match_);
  if (v.ok && !asked) {
    outcome_ = {};
    outcome_.match = match_;
    stop_ = {match_.nodes.size(), nullptr, {}, false};
    return true;
  }
  // Of the same nodes what came furthest is worth telling.
  if (!asked && (!same || 1000 + held > outcome_.progress)) refused(std::move(v), held);
  illegal_ = asked || conditions;
  refused_ = match_.nodes;
  stop_ = {match_.nodes.size(), nullptr, {}, false};
  if (match_.nodes.size() > 1) match_.nodes = std::move(as_matched);
  return false;
}

// What the match makes is read elsewhere, and not its last result alone.
bool MatchSearch::read_outside() {
  if (!outcome_.reason.empty()) return false;
  auto first =
      std::ranges::find_if(match_.nodes, [&](ir::NodeId n) { return !read_inside(graph_, n, match_.nodes); });
  const ir::Node& node = graph_.node(*first);
  outcome_.condition = "one result";
  outcome_.actual = fmt::format("{} is read outside", node.op->name);
  outcome_.limit = "each result but the last is read inside only";
  outcome_.reason =
      fmt::format("the result of {} '{}' is read outside of the match, which another of its operators ends.",
                  node.op->name, printable(node.name, 80));
  outcome_.progress = match_.nodes.size();
  stop_ = {match_.nodes.size(), nullptr, {}, false};
  return false;
}

// A region must not begin in the middle.
bool MatchSearch::begins_region_inside() const {
  if (!options_.starts_region || match_.nodes.size() == 1) return false;
  return std::ranges::any_of(match_.nodes, [&](ir::NodeId n) {
    if (!options_.starts_region(n)) return false;
    return std::ranges::any_of(graph_.node(n).inputs,
                               [&](ir::ValueId in) { return maker(graph_, in, match_.nodes).valid(); });
  });
}

void MatchSearch::refused(Verdict v, size_t conditions_held) {
  outcome_ = {};
  outcome_.condition = std::move(v.condition);
  outcome_.actual = std::move(v.actual);
  outcome_.limit = std::move(v.limit);
  outcome_.reason = std::move(v.reason);
  outcome_.progress = 1000 + conditions_held;
}

// What to say when no candidate was complete.
void MatchSearch::explain() {
  if (!outcome_.reason.empty()) return;
  if (const Element* e = stop_.element) {
    outcome_.condition = e->text;
    outcome_.actual = "no such chain";
    outcome_.limit = operators_text(*e);
    outcome_.reason =
        fmt::format("no chain of operators follows as in '{}', each result read inside it only.", e->text);
    outcome_.progress = stop_.matched;
    return;
  }
  const Element& first = rule_.pattern[rule_.anchor];
  outcome_.condition = outcome_.limit = first.text;
  outcome_.actual = "other operands";
  outcome_.reason = fmt::format("the operands are not those of '{}'.", first.text);
}

bool anchors(const Rule& rule, const ir::Node& node) {
  return is_operator(rule.pattern[rule.anchor], *node.op);
}

Outcome try_rule(const Rule& rule, const ir::Graph& graph, ir::NodeId anchor, const MatchOptions& options) {
  return MatchSearch(rule, graph, options).run(anchor);
}

}  // namespace mrvlc::rules
