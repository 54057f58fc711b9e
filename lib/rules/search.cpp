// The order of a search: tasks, repetitions, alternatives, what is left out.
#include "search.h"

#include <algorithm>

namespace mrvlc::rules {
namespace {

constexpr size_t kWidest = 256;  // readers of a value inside of a match, where the pattern has no fixed size

bool unlimited(const std::vector<Item>& items, const Rule& rule) {
  return std::ranges::any_of(items, [&](const Item& i) {
    if (!i.is_choice()) return rule.pattern[i.element].several;
    return i.repeat == Repeat::Many ||
           std::ranges::any_of(i.alternatives, [&](const auto& a) { return unlimited(a, rule); });
  });
}

const Item& first_item(const std::vector<Item>& items) {
  const Item& i = items.front();
  return i.is_choice() ? first_item(i.alternatives.front()) : i;
}
const Item& last_item(const std::vector<Item>& items) {
  const Item& i = items.back();
  return i.is_choice() ? last_item(i.alternatives.front()) : i;
}

template <class T>
std::vector<T> without(const std::vector<T>& all, size_t at) {
  std::vector<T> out = all;
  out.erase(out.begin() + static_cast<std::ptrdiff_t>(at));
  return out;
}

template <class T>
std::pair<std::vector<T>, std::vector<T>> around(const std::vector<T>& all, size_t at) {
  const auto split = all.begin() + static_cast<std::ptrdiff_t>(at);
  return {{all.begin(), split}, {split + 1, all.end()}};
}

}  // namespace

MatchSearch::MatchSearch(const Rule& rule, const ir::Graph& graph, const MatchOptions& options)
    : rule_(rule), graph_(graph), options_(options) {
  match_.rule = &rule;
  widest_ = unlimited(rule.items, rule) ? kWidest : rule.pattern.size();
}

Outcome MatchSearch::run(ir::NodeId anchor) {
  match_.anchor = anchor;
  Tasks tasks;
  tasks.reserve(rule_.items.size());
  for (const Item& i : rule_.items) {
    if (i.is_choice() || i.element != rule_.anchor) tasks.push_back({&i});
  }
  take(rule_.pattern[rule_.anchor], anchor, nullptr, [&] { return solve(tasks); });
  if (!outcome_.match) explain();
  outcome_.stop = stop_;
  return std::move(outcome_);
}

void MatchSearch::undo(Mark m) {
  match_.nodes.resize(m.nodes);
  match_.bindings.resize(m.bindings);
}

void MatchSearch::bind_absent(const std::string& capture) {
  if (capture.empty() || find(capture) != nullptr) return;
  Binding b;
  b.capture = capture;
  b.absent = true;
  bind(std::move(b));
}

bool MatchSearch::solve(const Tasks& tasks) {
  if (tasks.empty()) return candidate();
  bool tried = false;
  for (bool inside : {true, false}) {
    if (solve_linked(tasks, inside, tried)) return true;
    if (tried) return false;
  }
  // What is left hangs on nothing that matched: it must be something that may be missing.
  for (size_t i = 0; i < tasks.size() && tasks[i].again == nullptr; ++i) {
    const Item& item = *tasks[i].item;
    if (item.repeat == Repeat::One) continue;
    const Tasks rest = without(tasks, i);
    return item.is_choice() ? leave_out_choice(rest, item) : leave_out(rest, tasks[i], nullptr);
  }
  return false;
}

// The first task that is linked to the match: by a value made or read in it, or (not `inside`) by one that
// both read.
bool MatchSearch::solve_linked(const Tasks& tasks, bool inside, bool& tried) {
  for (size_t i = 0; i < tasks.size(); ++i) {
    const Task& t = tasks[i];
    if (t.again != nullptr) {
      const bool busy = std::any_of(tasks.begin(), tasks.begin() + static_cast<std::ptrdiff_t>(i),
                                    [&](const Task& other) { return other.group >= t.group; });
      if (busy) return false;
      tried = true;
      return another_round(tasks, i);
    }
    const std::optional<Link> link = link_of(t);
    if (!link || (inside && !link->inside && !link->upwards)) continue;
    tried = true;
    return t.item->is_choice() ? attempt_choice(tasks, i) : attempt(without(tasks, i), t, *link);
  }
  return false;
}

bool MatchSearch::attempt(Tasks rest, const Task& task, const Link& link) {
  const Element& e = element(*task.item);
  const bool found =
      e.several ? extend_list(rest, e) : task.round < kMaxRepeats && extend(rest, task, e, link);
  return found || (e.repeat != Repeat::One && leave_out(rest, task, &link));
}

bool MatchSearch::extend(const Tasks& rest, const Task& task, const Element& e, const Link& link) {
  bool taken = false;
  std::vector<ir::NodeId> sorted;
  for (ir::NodeId node : candidates(link, sorted)) {
    if (!may_extend(e, node, !link.upwards)) continue;
    const auto then = [&] {
      taken = true;
      return after_take(rest, task, e, link, node);
    };
    if (take(e, node, &link, std::cref(then))) return true;  // by reference: a copy would be on the heap
  }
  if (!taken && e.repeat == Repeat::One && match_.nodes.size() >= stop_.matched)
    stop_ = {match_.nodes.size(), &e, link.value, link.upwards};
  return false;
}

bool MatchSearch::after_take(const Tasks& rest, const Task& task, const Element& e, const Link& link,
                             ir::NodeId node) {
  if (e.repeat != Repeat::Many) return solve(rest);
  Tasks next = {task};
  ++next[0].round;
  if (link.upwards) {
    const auto& inputs = graph_.node(node).inputs;
    const auto first = std::ranges::find(e.operands, PatternOperand::Kind::Capture, &PatternOperand::kind);
    const auto at = static_cast<size_t>(first - e.operands.begin());
    next[0].made = at < inputs.size() ? inputs[at] : ir::ValueId();
    if (!next[0].made.valid()) return solve(rest);
  }
  next.insert(next.end(), rest.begin(), rest.end());
  return solve(next);
}

// Every value of a list, at once.
bool MatchSearch::extend_list(const Tasks& rest, const Element& e) {
  const Mark m = mark();
  Binding all = *find(e.capture);
  all.is_node = true;
  std::vector<std::vector<ir::ValueId>> lists(e.operands.size());
  bool ok = true;
  for (ir::ValueId v : all.values) {
    const ir::NodeId id = graph_.value(v).producer;
    ok = id.valid() && graph_.node(id).outputs[0] == v;
    const bool twice = ok && std::ranges::find(all.nodes, id) != all.nodes.end();
    ok = ok && (twice || may_extend(e, id, false)) && collect(e, graph_.node(id).inputs, lists);
    if (!ok) {
      if (match_.nodes.size() >= stop_.matched) stop_ = {match_.nodes.size(), &e, v, true};
      break;
    }
    all.nodes.push_back(id);
    if (!twice) match_.nodes.push_back(id);
  }
  for (size_t i = 0; ok && i < e.operands.size(); ++i) {
    if (e.operands[i].kind == PatternOperand::Kind::List) ok = list_operand(e.operands[i].capture, lists[i]);
  }
  if (ok) {
    bind(std::move(all));
    if (solve(rest)) return true;
  }
  undo(m);
  return false;
}

bool MatchSearch::leave_out(const Tasks& rest, const Task& task, const Link* link) {
  const Element& e = element(*task.item);
  const Mark m = mark();
  bool ok = true;
  if (link != nullptr && link->upwards && !e.several) {
    ok = pass_upwards(e, link->value);
    if (task.round == 0) bind({e.capture, false, true, {}, link->value});
  } else if (task.round == 0 && link != nullptr) {
    bind({e.capture, link->inside, true, link->node, link->value});
  }
  if (task.round == 0) {
    bind_absent(e.capture);
    for (const PatternOperand& o : e.operands) bind_absent(o.named() ? o.capture : std::string());
    for (const std::string& name : e.further) bind_absent(name);
  }
  if (ok && solve(rest)) return true;
  undo(m);
  return false;
}

bool MatchSearch::pass_upwards(const Element& first, ir::ValueId value) {
  for (const PatternOperand& o : first.operands) {
    if (o.kind != PatternOperand::Kind::Capture) continue;
    if (const Binding* b = find(o.capture)) return b->value == value;
    bind({o.capture, false, !value.valid(), {}, value});
    return true;
  }
  return true;
}

bool MatchSearch::attempt_choice(const Tasks& tasks, size_t at) {
  const Item& item = *tasks[at].item;
  const auto [before, after] = around(tasks, at);
  const Binding entry = entry_of({item}).value_or(Binding());
  if (alternatives(item, 0, entry, before, after)) return true;
  return item.repeat != Repeat::One && leave_out_choice(without(tasks, at), item);
}

bool MatchSearch::alternatives(const Item& item, size_t round, const Binding& entry, const Tasks& before,
                               const Tasks& after) {
  for (const auto& items : item.alternatives) {
    if (++steps_ > kMaxMatchSteps) return false;
    const size_t group = ++groups_;
    Tasks tasks = before;
    for (const Item& i : items) tasks.push_back({&i, 0, group});
    if (item.repeat == Repeat::Many) {
      agains_.push_back(std::make_unique<const Again>(Again{element(last_item(items)).capture, entry}));
      tasks.push_back({&item, round + 1, group, {}, agains_.back().get()});
    }
    tasks.insert(tasks.end(), after.begin(), after.end());
    if (solve(tasks)) return true;
  }
  return false;
}

bool MatchSearch::another_round(const Tasks& tasks, size_t at) {
  const Task& t = tasks[at];
  const Binding& first = t.again->entry;
  const auto [before, after] = around(tasks, at);
  const Mark m = mark();
  const Binding* exit = find(t.again->exit);
  if (exit != nullptr && exit->value.valid() && !first.capture.empty() && t.round < kMaxRepeats) {
    Binding entry = *exit;
    entry.capture = first.capture;
    forget_round(*t.item);
    bind(std::move(entry));
    if (alternatives(*t.item, t.round, first, before, after)) return true;
    undo(m);
  }
  if (!first.capture.empty()) bind(first);
  if (solve(without(tasks, at))) return true;
  undo(m);
  return false;
}

bool MatchSearch::stands_outside(const std::string& name, const std::vector<const Element*>& inside) const {
  return std::ranges::any_of(rule_.pattern, [&](const Element& e) {
    if (std::ranges::find(inside, &e) != inside.end()) return false;
    return e.capture == name || std::ranges::find(e.further, name) != e.further.end() ||
           std::ranges::any_of(e.operands, [&](const PatternOperand& o) { return o.capture == name; });
  });
}

// Names of a round, but for what is read of outside.
void MatchSearch::forget_round(const Item& item) {
  std::vector<const Element*> inside;
  for_each_element(rule_, {item}, [&](const Element& e) { inside.push_back(&e); });
  auto forget = [&](const std::string& name) {
    Binding b;
    b.capture = name;
    b.unbound = true;
    bind(std::move(b));
  };
  for (const Element* e : inside) {
    forget(e->capture);
    for (const std::string& name : e->further) forget(name);
    for (const PatternOperand& o : e->operands) {
      if (o.named() && !stands_outside(o.capture, inside)) forget(o.capture);
    }
  }
}

bool MatchSearch::leave_out_choice(const Tasks& rest, const Item& item) {
  const Mark m = mark();
  bool ok = true;
  for (const auto& items : item.alternatives) {
    const std::string& exit = element(last_item(items)).capture;
    const Binding* made = find(exit);
    if (made != nullptr && !made->is_node && !made->absent) {
      const ir::ValueId value = made->value;
      ok = ok && pass_upwards(element(first_item(items)), value);
      bind({exit, false, true, {}, value});
    } else if (const std::optional<Binding> entry = entry_of(items); entry && made == nullptr) {
      bind({exit, entry->is_node, true, entry->node, entry->value});
    }
    for_each_element(rule_, items, [&](const Element& e) { bind_absent(e.capture); });
  }
  if (ok && solve(rest)) return true;
  undo(m);
  return false;
}

// What the items read of what is matched: the first that an element made, or the first at all.
std::optional<Binding> MatchSearch::entry_of(const std::vector<Item>& items) const {
  std::optional<Binding> found;
  for_each_element(rule_, items, [&](const Element& e) {
    for (const PatternOperand& o : e.operands) {
      const Binding* b = o.kind == PatternOperand::Kind::Capture ? find(o.capture) : nullptr;
      if (b != nullptr && b->value.valid() && (!found || (b->is_node && !found->is_node))) found = *b;
    }
  });
  return found;
}

std::optional<MatchSearch::Link> MatchSearch::link_of(const Task& task) const {
  return task.item->is_choice() ? link_of_choice(*task.item) : link_of(element(*task.item), task);
}

std::optional<MatchSearch::Link> MatchSearch::link_of_choice(const Item& item) const {
  std::optional<Link> found;
  for (const auto& items : item.alternatives) {
    for (const Item& i : items) {
      const std::optional<Link> link = link_of({&i});
      if (link && (link->inside || link->upwards)) return link;
      if (!found) found = link;
    }
  }
  return found;
}

std::optional<MatchSearch::Link> MatchSearch::link_of(const Element& e, const Task& task) const {
  const Binding* own = find(e.capture);
  if (e.several)
    return own != nullptr && own->list && !own->is_node ? std::optional(Link{{}, true}) : std::nullopt;
  if (task.made.valid()) return Link{task.made, true};
  if (task.round > 0) return Link{own->value, false, true, own->node};
  if (own != nullptr && !own->is_node) return Link{own->value, true};
  for (const std::string& name : e.further) {
    const Binding* b = name.empty() ? nullptr : find(name);
    if (b != nullptr && !b->is_node) return Link{b->value, true};
  }
  std::optional<Link> shared;
  for (const PatternOperand& o : e.operands) {
    const Binding* b = o.kind == PatternOperand::Kind::Capture ? find(o.capture) : nullptr;
    if (b == nullptr || !b->value.valid()) continue;
    if (b->is_node) return Link{b->value, false, true, b->node};
    if (!shared) shared = Link{b->value};
  }
  return shared;
}

}  // namespace mrvlc::rules
